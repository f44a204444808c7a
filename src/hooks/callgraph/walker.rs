//! Follows calls and returns from block to block, by the rules by which Callgrind 3.19 does it
//! (observed): calls push a frame, the stack pointer pops them, and a jump is a call where it
//! leads to the beginning of a function, to another section or to another object.

use crate::hooks::callgraph::dumps::{Demand, Demands, Trigger};
use crate::hooks::callgraph::facts::{Between, CallFacts, CodePlace, Leave, Section};
use crate::hooks::callgraph::graph::{ArcId, Block, BlockId, ContextId, Graph};
use crate::hooks::counts::Counts;
use crate::hooks::plan::Plan;
use crate::hooks::record::PlanId;

/// Rules that the user chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRules {
    /// Entries of the procedure linkage table belong to their callers.
    pub skip_plt: bool,
    /// Levels of recursion that are told apart.
    pub recursions: u32,
    /// Costs are collected from the beginning of each thread and of each signal's handler on.
    pub collect_at_start: bool,
    /// Costs are dumped whenever so many instructions have been executed; 0 for never.
    pub dump_every: u64,
}

/// Most frames of a stack. A stack that would be deeper has lost its program, or the program its
/// stack.
const MOST_FRAMES: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// Calls that have not returned: one, or several from the same place to the same function at the
/// same stack pointer, as a loop to the beginning of a function makes them.
#[derive(Clone, Debug)]
struct Frame {
    /// `None` if the call is skipped.
    arc: Option<ArcId>,
    /// The stack pointer after the call.
    sp: u64,
    /// The address that it returns to; 0 for a jump.
    returns_to: u64,
    times: u64,
    /// The costs when they began, added up.
    entered: Counts,
    /// The state to go back to.
    nonskipped: Option<BlockId>,
    context: Option<ContextId>,
    depth: u32,
}

/// Execution of a thread, or of a signal's handler in it.
#[derive(Clone, Debug, Default)]
struct Level {
    context: Option<ContextId>,
    /// The block that was executed last.
    block: Option<BlockId>,
    /// The block whose call is skipped.
    nonskipped: Option<BlockId>,
    /// Contexts entered and not left.
    depth: u32,
    /// Frames below it.
    bottom: usize,
    cost: Counts,
    /// Collection is not as at its beginning.
    toggled: bool,
}

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    frames: Vec<Frame>,
    /// The handlers that run, the last one at the end; first what they interrupted.
    levels: Vec<Level>,
    /// The stack pointer behind the last block.
    sp: u64,
    /// Times that each context is on the stack.
    active: Vec<u32>,
}

impl Default for Thread {
    fn default() -> Thread {
        Thread { frames: Vec::new(), levels: vec![Level::default()], sp: 0, active: Vec::new() }
    }
}

impl Thread {
    /// Sets all costs to zero; calls that have not returned cost from here on.
    pub(super) fn zero(&mut self) {
        self.levels.iter_mut().for_each(|level| level.cost = Counts::default());
        self.frames.iter_mut().for_each(|frame| frame.entered = Counts::default());
    }

    /// Goes on behind a block, of which the record has these slots.
    pub(super) fn step(&mut self, facts: &CallFacts, slots: &[u64]) {
        self.sp = facts.sp.after(self.sp, slots);
    }
}

/// The stack that is walked on, and the graph that its costs go to.
pub(super) struct Walker<'a> {
    pub(super) rules: CallRules,
    pub(super) graph: &'a mut Graph,
    pub(super) thread: &'a mut Thread,
    /// Demands of the functions that are entered and left.
    pub(super) demands: &'a mut Demands,
}

impl Walker<'_> {
    fn level(&mut self) -> &mut Level {
        if self.thread.levels.is_empty() {
            self.thread.levels.push(Level::default());
        }
        let last = self.thread.levels.len() - 1;
        &mut self.thread.levels[last]
    }

    /// Leaves all functions and handlers, as if they returned.
    pub(super) fn leave_all(mut self) {
        while self.thread.levels.len() > 1 {
            self.leave_handler();
        }
        while !self.thread.frames.is_empty() {
            self.pop();
        }
        let cost = self.level().cost;
        *self.level() = Level { cost, ..Level::default() };
        self.thread.active.clear();
    }

    /// True if costs are collected now.
    fn collects(&mut self) -> bool {
        self.rules.collect_at_start != self.level().toggled
    }

    /// Adds to the costs of what runs.
    pub(super) fn spend(mut self, cost: &Counts) {
        if !self.collects() {
            return;
        }
        let level = self.level();
        level.cost.add(cost);
        if let Some(block) = level.nonskipped {
            self.graph.skip(block, cost);
        }
    }

    /// Follows what happens between two blocks, after which the stack pointer is `sp`.
    pub(super) fn between(&mut self, between: Between, sp: u64) {
        self.thread.sp = sp;
        match between {
            Between::Signal => {
                let bottom = self.thread.frames.len();
                self.thread.levels.push(Level { bottom, ..Level::default() });
            }
            Between::SignalReturn => self.leave_handler(),
        }
    }

    /// Ends the handler that runs, if one does.
    fn leave_handler(&mut self) {
        let bottom = self.level().bottom;
        if self.thread.levels.len() > 1 {
            while self.thread.frames.len() > bottom {
                self.pop();
            }
            if let Some(Level { context: Some(context), .. }) = self.thread.levels.pop() {
                self.deactivate(context, 1);
            }
        }
    }

    /// Follows control to a block. Returns the number by which it counts.
    pub(super) fn begin(&mut self, (id, plan): (PlanId, &Plan), facts: &CallFacts) -> BlockId {
        let rules = self.rules;
        let CodePlace { section, object, entry, .. } = facts.place;
        let mut sp = self.thread.sp;
        let last = self.level().block;
        let last_facts = last.and_then(|last| self.graph.blocks.get(last as usize)).map(|last| last.facts);
        let mut leave = last_facts.map_or(Leave::Jump, |last| last.leave);
        let mut pops = 1;
        let mut returns_nowhere = false;
        if leave == Leave::Return && !self.thread.frames.is_empty() {
            pops = self.returned(sp, plan.pc);
            if pops == 0 {
                (leave, returns_nowhere) = (Leave::Jump, true);
            }
        }
        let mut is_jump = false;
        if let Some(last) = last_facts.filter(|_| leave == Leave::Jump) {
            let place = last.place;
            if returns_nowhere || entry || place.section != section || place.object != object {
                let arc = self.thread.frames.last().and_then(|frame| Some((frame.arc?, frame.sp)));
                if let Some((arc, at)) = arc.filter(|_| place.resolver) {
                    // The resolved function is called by what called the resolver.
                    let from = self.graph.arcs.get(arc as usize).map(|arc| arc.from);
                    sp = at;
                    self.pop();
                    self.level().block = from;
                }
                (leave, is_jump) = (Leave::Call, true);
            }
        }
        let mut calls = false;
        if leave == Leave::Return {
            if self.thread.frames.is_empty() || self.level().depth == 1 {
                self.underflow(plan, &facts.place);
            } else {
                self.unwind(sp, pops);
            }
        } else if self.unwind(sp, 0) == 0 && leave == Leave::Call {
            calls = self.thread.frames.len() < MOST_FRAMES;
            if let Some(top) = self.thread.frames.last().filter(|_| is_jump) {
                sp = top.sp;
            }
        }
        let skips = calls && section == Section::Plt && rules.skip_plt;
        let saved = (self.level().context, self.level().depth);
        let mut context = self.level().context;
        if calls && !skips || context.is_none() {
            let entered = self.graph.context(&facts.place, plan.mapping, plan.pc);
            self.enter(entered);
            context = Some(entered);
        }
        let skipped = if calls { skips } else { self.level().nonskipped.is_some() };
        let context = context.unwrap_or_default();
        let recursion = if rules.recursions > 1 {
            (*self.active(context) + u32::from(calls && !skips)).clamp(1, rules.recursions) - 1
        } else {
            0
        };
        let block = self.graph.block(last, (id, plan), (context, recursion), skipped);
        if calls {
            let nonskipped = self.level().nonskipped.filter(|_| !skips);
            if let Some(from) = nonskipped.or(self.level().block) {
                self.push(from, (block, sp), skips, saved);
            }
        }
        self.level().block = Some(block);
        if self.collects() { block } else { self.graph.uncollected(block) }
    }

    /// The number of frames that a return to `pc` leaves; 0 if it returns from none.
    fn returned(&self, sp: u64, pc: u64) -> u64 {
        let frames = &self.thread.frames;
        let Some(top) = frames.last() else { return 1 };
        if sp != top.sp {
            return u64::from(sp > top.sp);
        }
        let mut pops = 0;
        for frame in frames.iter().rev().take_while(|frame| frame.sp == sp) {
            pops += frame.times;
            if frame.returns_to == pc {
                return pops;
            }
        }
        0
    }

    /// Enters a context.
    fn enter(&mut self, context: ContextId) {
        let level = self.level();
        if level.context != Some(context) || level.depth == 0 {
            level.context = Some(context);
            level.depth += 1;
            if level.depth == 1 {
                *self.active(context) += 1;
            }
        }
    }

    /// Times that a context is on the stack.
    fn active(&mut self, context: ContextId) -> &mut u32 {
        let at = context as usize;
        if at >= self.thread.active.len() {
            self.thread.active.resize(at + 1, 0);
        }
        &mut self.thread.active[at]
    }

    fn deactivate(&mut self, context: ContextId, times: u64) {
        let active = self.active(context);
        *active = active.saturating_sub(u32::try_from(times).unwrap_or(u32::MAX));
    }

    /// Pushes a call from a block, or from a call that was not seen.
    fn push(
        &mut self,
        from: u32,
        (to, sp): (BlockId, u64),
        skips: bool,
        (context, depth): (Option<ContextId>, u32),
    ) {
        let Level { cost, nonskipped, .. } = *self.level();
        let caller = self.graph.blocks.get(from as usize);
        let returns_to =
            caller.filter(|from| from.facts.leave == Leave::Call).map_or(0, |from| from.fall_through);
        let arc = (!skips).then(|| self.graph.arc(from, to));
        if let Some(id) = arc
            && let Some(arc) = self.graph.arcs.get_mut(id as usize)
        {
            arc.calls += 1;
            self.demands.called(id);
            if let Some(&Block { context, facts, .. }) = self.graph.blocks.get(to as usize) {
                let active = self.active(context);
                *active = active.saturating_add(1);
                let is_first = *active == 1;
                let actions = facts.place.actions;
                self.level().toggled ^= is_first && actions.toggles;
                // As Callgrind, which then does not set to zero as well.
                if is_first && actions.dumps_before {
                    let trigger = Trigger::Before(self.graph.code(context));
                    self.demands.add(Demand::Dump(trigger));
                } else if is_first && actions.zeroes_before {
                    self.demands.add(Demand::Zero);
                }
            }
        }
        let same = |top: &&mut Frame| {
            arc.is_some()
                && (top.arc, top.sp, top.returns_to) == (arc, sp, 0)
                && returns_to == 0
                && (top.nonskipped, top.context, top.depth) == (nonskipped, context, depth)
        };
        match self.thread.frames.last_mut().filter(same) {
            Some(top) => {
                top.times += 1;
                top.entered.add(&cost);
            }
            None => self.thread.frames.push(Frame {
                arc,
                sp,
                returns_to,
                times: 1,
                entered: cost,
                nonskipped,
                context,
                depth,
            }),
        }
        let level = self.level();
        if !skips {
            level.nonskipped = None;
        } else if level.nonskipped.is_none() {
            level.nonskipped = Some(from);
        }
    }

    /// Pops the top frame.
    fn pop(&mut self) {
        if self.thread.levels.len() > 1 && self.thread.frames.len() == self.level().bottom {
            // A handler is left by a jump out of it.
            self.leave_handler();
        }
        let Some(frame) = self.thread.frames.pop() else { return };
        let level = self.level();
        level.nonskipped = frame.nonskipped;
        let Some(arc) = frame.arc else { return };
        (level.context, level.depth) = (frame.context, frame.depth);
        let cost = level.cost;
        if let Some(arc) = self.graph.arcs.get_mut(arc as usize) {
            arc.cost.add(&cost.times(frame.times).since(&frame.entered));
            let to = arc.to;
            if let Some(&Block { context, facts, .. }) = self.graph.blocks.get(to as usize) {
                self.deactivate(context, frame.times);
                let was_last = *self.active(context) == 0;
                self.level().toggled ^= was_last && facts.place.actions.toggles;
                if was_last && facts.place.actions.dumps_after {
                    let trigger = Trigger::After(self.graph.code(context));
                    self.demands.add(Demand::Dump(trigger));
                }
            }
        }
    }

    /// Pops frames until the stack pointer is in the top one; up to `least` whose stack pointer it
    /// is. Returns their number.
    fn unwind(&mut self, sp: u64, mut least: u64) -> u64 {
        let mut pops = 0;
        while let Some(top) = self.thread.frames.last() {
            if !(top.sp < sp || top.sp == sp && least > 0) {
                break;
            }
            least = least.saturating_sub(top.times);
            pops += top.times;
            self.pop();
        }
        pops
    }

    /// Returns from the outermost function: its caller becomes known, but not the place of the
    /// call.
    fn underflow(&mut self, plan: &Plan, place: &CodePlace) {
        let Some(block) = self.level().block else { return };
        let left = self.graph.blocks.get(block as usize).map_or(0, |block| block.context);
        let caller = self.graph.context(place, plan.mapping, plan.pc);
        let from = self.graph.unseen(caller, plan.mapping, plan.pc);
        let level = self.level();
        level.depth = level.depth.saturating_sub(1);
        (level.context, level.nonskipped) = (None, None);
        self.deactivate(left, 1);
        self.enter(caller);
        let saved = (self.level().context, self.level().depth);
        self.enter(left);
        self.push(from, (block, u64::MAX), false, saved);
        if let Some(top) = self.thread.frames.last_mut() {
            top.entered = Counts::default();
        }
        self.pop();
    }
}
