//! The short way from block to block: jumps that are no calls, calls that lead to where they led
//! the last time, and their returns, each known by a few comparisons; a call of a function that is
//! one block together with its return; and a call that was summarised with all that it does. All
//! else is [`Walker::begin`].

use rustc_hash::FxHashMap;

use crate::hooks::callgraph::batch::{Batch, POP, PUSH, SKIP};
use crate::hooks::callgraph::costs::{BlockId, ContextId};
use crate::hooks::callgraph::facts::Leave;
use crate::hooks::callgraph::graph::{CallArc, Graph, last_arc, recursion_of};
use crate::hooks::callgraph::step::{Step, Varying, Way};
use crate::hooks::callgraph::summaries::{Beginning, MOST_WORDS, Summaries};
use crate::hooks::callgraph::sums::{Growing, Packed, References};
use crate::hooks::callgraph::walker::{Frame, Level, MOST_FRAMES, Thread, Walker};
use crate::hooks::record::{Header, PlanId, is_noted, plan_of};
use crate::hooks::sparse::Sparse;

/// The way so far. A call that begins and returns on it is charged once, when it returns; those
/// that have not returned at its end are charged then as the ledger has it.
struct ShortWay<'a, 'w> {
    steps: &'a [Step],
    here: &'a [BlockId],
    arcs: &'a mut [CallArc],
    skipped: &'a mut Sparse<References>,
    varying: &'a FxHashMap<BlockId, Varying>,
    frames: &'a mut Vec<Frame>,
    active: &'a mut [u32],
    batch: &'a mut Batch,
    spent: &'a Growing,
    /// Levels of recursion that are told apart.
    recursions: u32,
    /// Only records that something is noted in can miss.
    only_noted_miss: bool,
    /// Frames below the handler that runs.
    bottom: usize,
    /// The highest stack pointer that is not in what it has interrupted.
    below_handler: u64,
    /// The last block.
    block: BlockId,
    last: &'a Step,
    /// The stack pointer behind it.
    sp: u64,
    /// The highest stack pointer that leaves no frame.
    top: u64,
    /// References since they were settled.
    recent: Packed,
    context: ContextId,
    depth: u32,
    nonskipped: Option<BlockId>,
    /// References when skipping began, or was charged.
    skips_since: Packed,
    /// Frames from this one on have begun here.
    begun: usize,
    /// Summaries of calls, where they may be used.
    summaries: Option<&'a mut Summaries>,
    /// The call that is to be summarised when it returns, and the frames below it.
    summarising: Option<(Beginning<'w>, usize)>,
}

impl Walker<'_> {
    /// Follows control as far as it goes the usual way, and adds at most so many records to the
    /// batch. With `only_noted_miss`, only records that something is noted in can miss. Returns the
    /// number of their instructions, and the words that are left.
    pub(in crate::hooks::callgraph) fn go_on<'w>(
        &mut self,
        mut words: &'w [u64],
        most: usize,
        only_noted_miss: bool,
    ) -> (u64, &'w [u64]) {
        let Walker { rules, graph, thread, batch, .. } = self;
        let collects = thread.now.toggled != rules.collect_at_start;
        let may_go = collects && !rules.jumps && !rules.apart && !graph.is_full();
        let (Some(block), Some(context)) = (thread.now.block, thread.now.context) else { return (0, words) };
        if !may_go {
            return (0, words);
        }
        let Thread { now, frames, sp, active, ledger, .. } = &mut **thread;
        let &mut Level { depth, nonskipped, bottom, interrupts_at, .. } = now;
        ledger.charge_skipped(graph);
        let spent = ledger.references();
        let Graph { steps, arcs, here, skipped, varying, summaries, .. } = &mut **graph;
        let Some(last) = steps.get(block as usize) else { return (0, words) };
        let mut way = ShortWay {
            steps,
            here,
            arcs,
            skipped,
            varying,
            begun: frames.len(),
            frames,
            active,
            batch,
            spent,
            recursions: rules.recursions.max(1),
            only_noted_miss,
            bottom,
            below_handler: interrupts_at.map_or(u64::MAX, |interrupted| interrupted.saturating_sub(1)),
            block,
            last,
            sp: *sp,
            top: 0,
            recent: spent.recent,
            context,
            depth,
            nonskipped,
            skips_since: spent.recent,
            summaries: Some(summaries).filter(|summaries| only_noted_miss && summaries.pay()),
            summarising: None,
        };
        way.find_top();
        let end = way.batch.room().saturating_sub(most);
        loop {
            // Where it was a call the last time, that comes first.
            if way.last.leave == Leave::Jump && way.last.way == Way::Other {
                words = way.stay(words, end);
            }
            let Some(&word) = words.first().filter(|_| way.batch.room() > end) else { break };
            let plan = plan_of(word);
            let next = match way.last.leave {
                Leave::Return => {
                    let next = way.leave(plan);
                    if let Some((returned, _)) = next {
                        way.summarise(words, returned);
                    }
                    next
                }
                Leave::Call => match way.call_again(words, end).or_else(|| way.call_leaf(words, end)) {
                    Some((returned, rest)) => {
                        words = rest;
                        Some(returned)
                    }
                    None => way.call(plan, false),
                },
                Leave::Jump => way.call(plan, true).or_else(|| way.jump(plan)),
            };
            let Some((next, (record, rest))) = next.zip(split(words)) else { break };
            way.pass(next, (record, words.len()));
            words = rest;
        }
        way.charge();
        let ShortWay { block, sp: after, recent, context, depth, nonskipped, .. } = way;
        let before = std::mem::replace(&mut ledger.references().recent, recent);
        ledger.go_on_skipping(nonskipped);
        *sp = after;
        (now.block, now.context, now.depth, now.nonskipped) = (Some(block), Some(context), depth, nonskipped);
        (recent.since(&before).instructions(), words)
    }
}

/// The first record of these words, and those behind it.
#[inline(always)]
fn split(words: &[u64]) -> Option<(&[u64], &[u64])> {
    words.split_at_checked(1 + Header::of(*words.first()?).slots)
}

impl<'a, 'w> ShortWay<'a, 'w> {
    fn find_top(&mut self) {
        self.top = self.frames.last().map_or(u64::MAX, |top| top.sp).min(self.below_handler);
    }

    /// Follows jumps that are no calls, while the batch has more than so many places.
    #[inline(always)]
    fn stay(&mut self, words: &'w [u64], end: usize) -> &'w [u64] {
        let ShortWay { steps, here, top, .. } = *self;
        let (mut block, mut last, mut sp, mut recent) = (self.block, self.last, self.sp, self.recent);
        let (mut rest, mut passed) = (words, 0);
        let most = self.batch.room().saturating_sub(end);
        let (blocks, mut notes) = self.batch.places();
        for place in blocks.iter_mut().take(most) {
            let Some(&word) = rest.first() else { break };
            let Some((record, tail)) = split(rest) else { break };
            let Some(&next) = here.get(plan_of(word).0 as usize) else { break };
            let Some(step) = steps.get(next as usize) else { break };
            if step.lands != last.stays || sp > top {
                break;
            }
            sp = step.sp_after(sp, record);
            recent.add(&step.references);
            *place = next;
            notes.note(passed, rest.len(), is_noted(word));
            passed += 1;
            (block, last, rest) = (next, step, tail);
        }
        let notes = notes.count;
        self.batch.fill(passed, notes);
        (self.block, self.last, self.sp, self.recent) = (block, last, sp, recent);
        rest
    }

    /// Passes the record of a block that control has reached, from which on so many words are left.
    #[inline(always)]
    fn pass(&mut self, (block, step): (BlockId, &'a Step), (record, left): (&[u64], usize)) {
        self.recent.add(step.referenced(block, self.varying, record));
        self.sp = step.sp_after(self.sp, record);
        self.batch.add(block, left, step.varies || record.first().is_some_and(|&word| is_noted(word)));
        (self.block, self.last) = (block, step);
    }

    /// Follows a jump to a block that varies.
    #[inline(always)]
    fn jump(&self, plan: PlanId) -> Option<(BlockId, &'a Step)> {
        let &next = self.here.get(plan.0 as usize)?;
        let step = self.steps.get(next as usize)?;
        let stays = step.lands_where(self.last) && self.sp <= self.top;
        stays.then_some((next, step))
    }

    /// Follows a call, or with `by_jump` a jump that is one, to the block that it led to the last
    /// time.
    #[inline(always)]
    fn call(&mut self, plan: PlanId, by_jump: bool) -> Option<(BlockId, &'a Step)> {
        let ShortWay { last, block, context, depth, nonskipped, recent: since, .. } = *self;
        let next = last.called;
        let step = self.steps.get(next as usize).filter(|step| step.plan == plan)?;
        if self.sp > self.top || self.frames.len() >= MOST_FRAMES {
            return None;
        }
        let top = self.frames.last();
        let sp = top.filter(|_| by_jump).map_or(self.sp, |top| top.sp);
        let from = nonskipped.unwrap_or(block);
        let arc = match last.way {
            Way::Calls => {
                let id = last_arc(self.steps, self.arcs, from, next)?;
                let may_be_jump = by_jump || nonskipped.is_some();
                let is_jump = may_be_jump && self.steps.get(from as usize)?.leave != Leave::Call;
                // A jump that is the call on top once more is no other frame.
                let is_again = is_jump && top.is_some_and(|top| top.arc == Some(id));
                let active = self.active.get_mut(step.context as usize)?;
                let recursion = recursion_of(active.saturating_add(1), self.recursions);
                if is_again || depth == 0 || recursion != step.recursion {
                    return None;
                }
                *active = active.saturating_add(1);
                self.charge_skipped();
                self.nonskipped = None;
                self.batch.note(PUSH | id);
                self.depth += u32::from(context != step.context);
                self.context = step.context;
                Some(id)
            }
            Way::Skips if nonskipped.is_none() => {
                (self.nonskipped, self.skips_since) = (Some(block), since);
                self.batch.note(SKIP | block);
                None
            }
            _ => return None,
        };
        let (context, entered) = (Some(context), step.context);
        let (is_once, times) = (true, 1);
        self.frames.push(Frame { arc, from, entered, is_once, sp, times, since, nonskipped, context, depth });
        self.top = sp.min(self.below_handler);
        Some((next, step))
    }

    /// Follows a call that is as one that was summarised, and its return, or has it summarised when
    /// it returns. Returns the block that is returned to, which there is a record of, and the words
    /// from there on.
    #[inline(always)]
    fn call_again(&mut self, words: &'w [u64], end: usize) -> Option<((BlockId, &'a Step), &'w [u64])> {
        let ShortWay { steps, block, sp: before, top, depth, .. } = *self;
        let summaries = self.summaries.as_deref_mut()?;
        if let Some((begun, _)) = &self.summarising {
            if begun.words.len() - words.len() <= MOST_WORDS {
                return None;
            }
            self.summarising = None;
        }
        let may_go = self.nonskipped.is_none()
            && before <= top
            && (self.bottom..MOST_FRAMES - MOST_WORDS).contains(&self.frames.len());
        if !may_go {
            return None;
        }
        let Some((id, summary)) = summaries.find(block, words, before) else {
            if summaries.lacks(block) {
                let (records, events) = (self.batch.blocks().len(), self.batch.events.len());
                let begun = Beginning { block, words, sp: before, records, events };
                self.summarising = Some((begun, self.frames.len()));
            }
            return None;
        };
        let (sp, records) = (before.wrapping_add(summary.sp), usize::from(summary.records));
        if sp > top
            || depth <= u32::from(summary.is_recursive)
            || !summary.is_at_level(self.active, self.recursions)
            || self.batch.room() <= end + records
        {
            return None;
        }
        let returned = steps.get(summary.returned as usize)?;
        self.recent.add(&summary.references);
        self.batch.summarise(records);
        self.sp = sp;
        let back = ((summary.returned, returned), summary.behind(words));
        summaries.count(id);
        Some(back)
    }

    /// Summarises the call that was to be, if the return to this block was its.
    #[inline(always)]
    fn summarise(&mut self, words: &[u64], returned: BlockId) {
        let Some((_, frames)) = &self.summarising else { return };
        if self.frames.len() <= *frames {
            self.end_summary(words, returned);
        }
    }

    #[cold]
    fn end_summary(&mut self, words: &[u64], returned: BlockId) {
        let Some((begun, frames)) = self.summarising.take() else { return };
        if let Some(summaries) = self.summaries.as_deref_mut().filter(|_| self.frames.len() == frames) {
            let stack = (&*self.active, self.recursions);
            summaries.add(begun, (words, self.sp), returned, stack, (self.steps, self.batch));
        }
    }

    /// Follows a call of a function that is one block, or of an entry of the procedure linkage
    /// table that leads to one, and its return, if all lead to where they led the last time.
    /// Returns the block that is returned to, which there is a record of, and the words from there
    /// on.
    #[inline(always)]
    fn call_leaf(&mut self, words: &'w [u64], end: usize) -> Option<((BlockId, &'a Step), &'w [u64])> {
        let ShortWay { steps, last, block, context, top, sp: before, .. } = *self;
        let called = steps.get(last.called as usize)?;
        let (entry, leaf_block) = match last.way {
            Way::Calls => (None, last.called),
            Way::Skips => (Some(called), called.called),
            Way::Other => return None,
        };
        let leaf = steps.get(leaf_block as usize).filter(|leaf| leaf.leave == Leave::Return)?;
        let returned = steps.get(last.returned as usize)?;
        last_arc(steps, self.arcs, block, leaf_block)?;
        let arc = self.arcs.get_mut(last.arc as usize)?;
        let may_go = self.summarising.is_none()
            && (returned.context, returned.skipped) == (context, false)
            && self.nonskipped.is_none()
            && before <= top
            && self.depth > 0
            && self.depth + u32::from(context != leaf.context) > 1
            && (self.bottom..MOST_FRAMES - 1).contains(&self.frames.len())
            && self.batch.room() > end + 3
            && !leaf.varies;
        if !may_go {
            return None;
        }
        if self.recursions > 1 {
            let level = |active: u32| recursion_of(active, self.recursions);
            let entered = self.active.get(leaf.context as usize)?.saturating_add(1);
            let still = *self.active.get(context as usize)?;
            if (level(entered), level(still)) != (leaf.recursion, returned.recursion) {
                return None;
            }
        }
        let (mut record, mut rest) = split(words)?;
        let mut sp = before;
        if let Some(entry) = entry {
            sp = entry.sp_after(sp, record);
            let goes_on = (entry.leave, entry.way, entry.varies) == (Leave::Jump, Way::Calls, false);
            if !goes_on || plan_of(*record.first()?) != entry.plan || sp > before {
                return None;
            }
            (record, rest) = split(rest)?;
        }
        sp = leaf.sp_after(sp, record);
        let (word, next) = (*record.first()?, split(rest)?.0);
        if (plan_of(word), plan_of(*next.first()?)) != (leaf.plan, returned.plan) {
            return None;
        }
        if sp <= before || sp > top {
            return None;
        }
        // What has missed nothing is charged with nothing.
        let entry_is_noted = entry.is_some() && is_noted(*words.first()?);
        let is_charged = !self.only_noted_miss || entry_is_noted || is_noted(word);
        let note = |batch: &mut Batch, event| {
            if is_charged {
                batch.note(event);
            }
        };
        if let Some(Step { references, .. }) = entry {
            self.recent.add(references);
            self.skipped.at(block as usize).add_recent(references);
            note(self.batch, SKIP | block);
            self.batch.add(last.called, words.len(), entry_is_noted);
        }
        self.recent.add(&leaf.references);
        arc.calls += 1;
        arc.references.add_recent(&leaf.references);
        note(self.batch, PUSH | last.arc);
        self.batch.add(leaf_block, record.len() + rest.len(), is_noted(word));
        note(self.batch, POP | last.arc);
        self.sp = sp;
        Some(((last.returned, returned), rest))
    }

    /// Follows a return to the block that came last after it.
    #[inline(always)]
    fn leave(&mut self, plan: PlanId) -> Option<(BlockId, &'a Step)> {
        let (mut lowest, mut first) = (None, self.frames.len());
        while let Some(frame) = first.checked_sub(1).and_then(|at| self.frames.get(at)) {
            if frame.sp >= self.sp {
                break;
            }
            if !frame.is_once {
                return None;
            }
            lowest = if frame.arc.is_some() { Some(frame) } else { lowest };
            first -= 1;
        }
        let &Frame { from, context, depth, .. } = lowest?;
        let left = self.frames.get(first..).unwrap_or_default();
        let skips_on = left.first()?.nonskipped.is_some();
        let (context, caller) = (context?, self.steps.get(from as usize)?);
        // Nobody may be seen to call a function that has only jumped to others.
        let is_outermost = first < self.bottom || first == self.bottom && caller.leave != Leave::Call;
        if is_outermost || skips_on || self.nonskipped.is_some() || self.depth == 1 {
            return None;
        }
        let next = caller.returned;
        let step = self.steps.get(next as usize)?;
        if (step.plan, step.context, step.skipped) != (plan, context, false) {
            return None;
        }
        if self.recursions > 1 {
            let mut still = *self.active.get(context as usize)?;
            for frame in left {
                still = still.saturating_sub(u32::from(frame.arc.is_some() && frame.entered == context));
            }
            if recursion_of(still, self.recursions) != step.recursion {
                return None;
            }
        }
        for (at, frame) in left.iter().enumerate().rev() {
            let Some(id) = frame.arc else { continue };
            if let Some(active) = self.active.get_mut(frame.entered as usize) {
                *active = active.saturating_sub(1);
            }
            self.batch.note(POP | id);
            if let Some(arc) = self.arcs.get_mut(id as usize) {
                if first + at < self.begun {
                    arc.references.add(&self.spent.at(&self.recent), 1);
                } else {
                    arc.calls += 1;
                    arc.references.add_recent(&self.recent.since(&frame.since));
                }
            }
        }
        self.frames.truncate(first);
        self.begun = self.begun.min(first);
        (self.context, self.depth) = (context, depth);
        self.find_top();
        Some((next, step))
    }

    /// Charges the call that is skipped with what was spent since it began.
    #[inline(always)]
    fn charge_skipped(&mut self) {
        let Some(block) = self.nonskipped else { return };
        self.skipped.at(block as usize).add_recent(&self.recent.since(&self.skips_since));
    }

    /// Charges the calls that have begun.
    #[inline(never)]
    fn charge(&mut self) {
        self.charge_skipped();
        for Frame { arc, since, .. } in self.frames.get(self.begun..).unwrap_or_default() {
            if let Some(arc) = arc.and_then(|id| self.arcs.get_mut(id as usize)) {
                arc.calls += 1;
                arc.references.subtract(&self.spent.at(since));
            }
        }
    }
}
