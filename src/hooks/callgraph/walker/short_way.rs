//! The short way from block to block: control goes as it went the last time, which takes a few
//! comparisons to know. All else is [`Walker::begin`].

use crate::hooks::callgraph::batch::Change;
use crate::hooks::callgraph::costs::BlockId;
use crate::hooks::callgraph::graph::{CallArc, Step, Way};
use crate::hooks::callgraph::walker::{Frame, Level, MOST_FRAMES, Thread, Walker};
use crate::hooks::record::{Header, PlanId};

impl Walker<'_> {
    /// Follows jumps that are no calls, as far as they go the way that they have gone before, and
    /// adds their records to the batch. Returns the number of their instructions and the words that
    /// are left. Many records are such, and all that this needs is in registers.
    #[inline(always)]
    pub(in crate::hooks::callgraph) fn stay<'w>(&mut self, words: &'w [u64]) -> (u64, &'w [u64]) {
        if self.thread.now.toggled == self.rules.collect_at_start {
            return (0, words);
        }
        let Thread { now, frames, sp, ledger, .. } = &mut *self.thread;
        let steps = self.graph.steps();
        let Some(mut last) = now.block.and_then(|block| steps.get(block as usize)) else { return (0, words) };
        let top = frames.last().map_or(u64::MAX, |top| top.sp);
        let highest =
            top.min(now.interrupts_at.map_or(u64::MAX, |interrupted| interrupted.saturating_sub(1)));
        let (mut block, mut after, mut instructions, mut rest) = (now.block, *sp, 0, words);
        let mut recent = *ledger.recent();
        for _ in 0..self.batch.room() {
            if last.way != Way::Stays || after > highest {
                break;
            }
            let Some((&word, tail)) = rest.split_first() else { break };
            let header = Header::of(word);
            let mut next = last.next;
            let Some(mut step) = steps.get(next as usize) else { break };
            if step.plan != header.plan {
                next = last.other;
                let Some(other) = steps.get(next as usize) else { break };
                step = other;
            }
            let Some((slots, tail)) = tail.split_at_checked(header.slots) else { break };
            if step.plan != header.plan || step.varies {
                break;
            }
            after = step.sp.after(after, slots);
            recent.add(&step.references);
            self.batch.add(next);
            (block, last, rest) = (Some(next), step, tail);
            instructions += header.instructions;
        }
        (now.block, *sp, *ledger.recent()) = (block, after, recent);
        (instructions, rest)
    }

    /// Follows control to the next block of a plan as [`Self::begin`], if it comes the way that it
    /// came last. That is the usual case.
    #[inline(always)]
    pub(in crate::hooks::callgraph) fn follow(&mut self, plan: PlanId) -> Option<BlockId> {
        let Thread { now, frames, sp, .. } = &*self.thread;
        let step = self.graph.step(now.block?)?;
        if now.toggled == self.rules.collect_at_start {
            return None;
        }
        if step.way == Way::Returns {
            return self.follow_return(plan);
        }
        let is_usual = step.way != Way::Other && self.graph.step(step.next)?.plan == plan;
        if !is_usual || frames.last().is_some_and(|top| top.sp < *sp) || now.is_below(*sp) {
            return None;
        }
        let next = step.next;
        match step.way {
            Way::Stays => {}
            Way::Skips => self.follow_skip()?,
            way => self.follow_call(next, way)?,
        }
        self.thread.now.block = Some(next);
        Some(next)
    }

    /// Follows a call that is skipped, as it was the last time.
    fn follow_skip(&mut self) -> Option<()> {
        let Thread { now, frames, sp, .. } = &mut *self.thread;
        let returns_to = self.graph.blocks.get(now.block? as usize)?.returns_to();
        if now.nonskipped.is_some() || frames.len() >= MOST_FRAMES {
            return None;
        }
        let &mut Level { context, depth, .. } = now;
        frames.push(Frame { arc: None, sp: *sp, returns_to, times: 1, nonskipped: None, context, depth });
        now.nonskipped = now.block;
        self.note(Change::None);
        Some(())
    }

    /// Follows a call to the block that it led to the last time.
    fn follow_call(&mut self, to: BlockId, way: Way) -> Option<()> {
        let Thread { now, frames, active, sp, .. } = &mut *self.thread;
        let &mut Level { block, nonskipped, context, depth, .. } = now;
        let &Step { context: entered, recursion, .. } = self.graph.step(to)?;
        let active = active.get_mut(entered as usize)?;
        let is_usual = (nonskipped.is_none() || way == Way::Jumps)
            && frames.len() < MOST_FRAMES
            && depth > 0
            && (*active + 1).clamp(1, self.rules.recursions.max(1)) - 1 == recursion;
        let sp = frames.last().filter(|_| way == Way::Jumps).map_or(*sp, |top| top.sp);
        let (arc, known) = self.graph.last_arc(nonskipped.or(block)?, to).filter(|_| is_usual)?;
        let returns_to = Some(known.returns_to).filter(|&returns_to| returns_to != 0)?;
        known.calls += 1;
        *active = active.saturating_add(1);
        now.depth += u32::from(context != Some(entered));
        (now.context, now.nonskipped) = (Some(entered), None);
        frames.push(Frame { arc: Some(arc), sp, returns_to, times: 1, nonskipped, context, depth });
        self.note(Change::Push(arc));
        Some(())
    }

    /// Follows a return from one call, which may have been skipped at first, to the block that came
    /// last when it had returned.
    fn follow_return(&mut self, plan: PlanId) -> Option<BlockId> {
        if self.rules.apart {
            return None;
        }
        let Thread { now, frames, sp, active, .. } = &mut *self.thread;
        let (top, mut below) = frames.split_last()?;
        let &Frame { arc, times, mut nonskipped, context, depth, .. } = top;
        if let Some((skips, others)) =
            below.split_last().filter(|(skips, _)| skips.arc.is_none() && skips.sp < *sp)
        {
            (nonskipped, below) = (skips.nonskipped, others);
        }
        let is_one = top.sp < *sp && below.last().is_none_or(|below| below.sp >= *sp);
        let is_usual = times == 1 && nonskipped.is_none() && now.depth != 1 && below.len() >= now.bottom;
        let arc = arc.filter(|_| is_one && is_usual)?;
        let &CallArc { from, to, .. } = self.graph.arcs.get(arc as usize)?;
        let left = self.graph.step(to).filter(|left| left.is_plain)?.context;
        let block = self.graph.step(from)?.returned;
        let next = self.graph.step(block)?;
        let still = active.get(context? as usize)?.saturating_sub(u32::from(context == Some(left)));
        let recursion = still.clamp(1, self.rules.recursions.max(1)) - 1;
        if (next.plan, Some(next.context), next.recursion, next.skipped) != (plan, context, recursion, false)
        {
            return None;
        }
        let left = active.get_mut(left as usize)?;
        *left = left.saturating_sub(1);
        let remaining = below.len();
        frames.truncate(remaining);
        (now.context, now.depth, now.nonskipped, now.block) = (context, depth, None, Some(block));
        self.note(Change::Pop { arc, times: 1 });
        Some(block)
    }
}
