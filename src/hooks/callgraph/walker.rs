//! Follows calls and returns from block to block, by the rules by which Callgrind 3.19 does it
//! (observed): calls push a frame, the stack pointer pops them, and a jump is a call where it
//! leads to the beginning of a function, to another section or to another object.

mod short_way;

use crate::hooks::callgraph::batch::{Batch, Change, Spending};
use crate::hooks::callgraph::costs::{ArcId, BlockId, ContextId};
use crate::hooks::callgraph::dumps::{Demand, Demands, Trigger};
use crate::hooks::callgraph::facts::{Actions, Between, CallFacts, CodePlace, Leave, Section};
use crate::hooks::callgraph::graph::{Block, Graph, Hint, UNSEEN, recursion_of};
use crate::hooks::callgraph::ledger::Ledger;
use crate::hooks::callgraph::step::{Step, Way};
use crate::hooks::callgraph::sums::{Missed, Packed, References};
use crate::hooks::plan::Plan;
use crate::hooks::record::PlanId;

/// Rules that the user chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRules {
    /// Entries of the procedure linkage table belong to their callers.
    pub skip_plt: bool,
    /// Levels of recursion that are told apart.
    pub recursions: u32,
    /// Callers that functions are told apart by.
    pub callers: u32,
    /// Functions are told apart by callers, or some by other levels: calls are looked at in full.
    pub apart: bool,
    /// Jumps are counted.
    pub jumps: bool,
    /// Costs are collected from the beginning of each thread and of each signal's handler on.
    pub collect_at_start: bool,
    /// Costs are dumped whenever so many instructions have been executed; 0 for never.
    pub dump_every: u64,
}

/// Most frames of a stack. A stack that would be deeper has lost its program, or the program its
/// stack.
pub(crate) const MOST_FRAMES: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// Most handlers of a thread, one within the other: as many end only where all of them are lost.
pub(crate) const MOST_HANDLERS: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };

/// Calls that have not returned: one, or several from the same place to the same function at the
/// same stack pointer, as a loop to the beginning of a function makes them.
#[derive(Clone, Debug)]
struct Frame {
    /// `None` if the call is skipped.
    arc: Option<ArcId>,
    /// Start of the arc, or the block whose call is skipped.
    from: u32,
    /// The context that was entered.
    entered: ContextId,
    /// It is one call, and entering and leaving it does nothing to the costs.
    is_once: bool,
    /// The stack pointer after the call.
    sp: u64,
    times: u64,
    /// References when it began, while only the short way has been taken.
    since: Packed,
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
    /// Functions of them, if those are told apart by their callers. There may be more than the
    /// depth says, which were left.
    entered: Vec<ContextId>,
    /// Frames below it.
    bottom: usize,
    /// The stack pointer of what a handler has interrupted, if it runs below that.
    interrupts_at: Option<u64>,
    /// Collection is not as at its beginning.
    toggled: bool,
}

impl Level {
    /// True for a handler if a stack pointer is in what it has interrupted.
    #[inline(always)]
    fn is_below(&self, sp: u64) -> bool {
        self.interrupts_at.is_some_and(|interrupted| sp >= interrupted)
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    frames: Vec<Frame>,
    /// The level that runs.
    now: Level,
    /// Levels that handlers have interrupted, the last one at the end.
    interrupted: Vec<Level>,
    /// Handlers within the level that runs which found no room.
    further: u64,
    /// The stack pointer behind the last block.
    sp: u64,
    /// Times that each context is on the stack.
    active: Vec<u32>,
    pub(super) ledger: Ledger,
}

impl Thread {
    /// Nothing has run.
    pub(super) fn new(rules: CallRules) -> Thread {
        Thread {
            frames: Vec::new(),
            now: Level::default(),
            interrupted: Vec::new(),
            further: 0,
            sp: 0,
            active: Vec::new(),
            ledger: Ledger::new(rules.collect_at_start),
        }
    }

    /// Bytes that it takes, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let frames = self.frames.len() * (size_of::<Frame>() + size_of::<ArcId>());
        let level = size_of::<Level>() + size_of::<References>() + size_of::<Missed>();
        let levels = self.interrupted.len() * level;
        (frames + levels + self.active.len() * 4) as u64
    }

    /// True if it is in no call and no handler, and skips nothing.
    pub(super) fn is_unwound(&self) -> bool {
        self.frames.is_empty() && self.interrupted.is_empty() && self.now.nonskipped.is_none()
    }

    /// The block that was executed last.
    pub(super) fn last_block(&self) -> Option<BlockId> {
        self.now.block
    }

    /// Goes on behind a record of a block.
    pub(super) fn step(&mut self, block: &Step, record: &[u64]) {
        self.sp = block.sp_after(self.sp, record);
    }
}

/// The stack that is walked on, and the graph that its costs go to.
pub(super) struct Walker<'a> {
    pub(super) rules: CallRules,
    pub(super) graph: &'a mut Graph,
    pub(super) thread: &'a mut Thread,
    /// Demands of the functions that are entered and left.
    pub(super) demands: &'a mut Demands,
    /// Records and changes of the stack since costs were settled.
    pub(super) batch: &'a mut Batch,
}

impl Walker<'_> {
    /// Leaves all functions and handlers, as if they returned.
    pub(super) fn leave_all(mut self) {
        while !self.thread.interrupted.is_empty() {
            self.leave_handler();
        }
        while !self.thread.frames.is_empty() {
            self.pop();
        }
        self.thread.now = Level::default();
        self.thread.active.clear();
        self.note(Change::None);
    }

    /// True if costs are collected now.
    #[inline]
    pub(super) fn collects(&self) -> bool {
        self.rules.collect_at_start != self.thread.now.toggled
    }

    /// Switches collection.
    pub(super) fn toggle(mut self) {
        self.thread.now.toggled ^= true;
        self.note(Change::None);
    }

    /// Enters a change of the stack in the ledger. The stack is as it is after it.
    #[inline]
    fn note(&mut self, change: Change) {
        let spending = Spending { collects: self.collects(), skipped: self.thread.now.nonskipped };
        self.thread.ledger.change(self.batch, self.graph, change, spending);
    }

    /// Follows what happens between two blocks, after which the stack pointer is `sp`.
    pub(super) fn between(&mut self, between: Between, sp: u64) {
        let before = std::mem::replace(&mut self.thread.sp, sp);
        match between {
            Between::Signal if self.thread.interrupted.len() >= MOST_HANDLERS => {
                self.thread.further += 1;
                self.graph.disorder.cut += 1;
            }
            Between::Signal => {
                let interrupts_at = Some(before).filter(|before| sp < *before);
                let handler = Level { bottom: self.thread.frames.len(), interrupts_at, ..Level::default() };
                self.thread.interrupted.push(std::mem::replace(&mut self.thread.now, handler));
                self.note(Change::Interrupt);
            }
            Between::SignalReturn if self.thread.further > 0 => self.thread.further -= 1,
            Between::SignalReturn => self.leave_handler(),
        }
    }

    /// Ends the handlers that were left by a jump into what they have interrupted. Returns whether
    /// there were any.
    fn leave_handlers_by_jump(&mut self, sp: u64) -> bool {
        let before = self.thread.interrupted.len();
        while self.thread.now.is_below(sp) {
            self.leave_handler();
        }
        self.thread.interrupted.len() < before
    }

    /// Ends the handler that runs, if one does.
    fn leave_handler(&mut self) {
        let bottom = self.thread.now.bottom;
        if self.thread.interrupted.is_empty() {
            return;
        }
        while self.thread.frames.len() > bottom {
            self.pop();
        }
        let Some(interrupted) = self.thread.interrupted.pop() else { return };
        self.thread.further = 0;
        let handler = std::mem::replace(&mut self.thread.now, interrupted);
        self.note(Change::Resume);
        if let Some(context) = handler.context {
            self.deactivate(context, 1);
        }
    }

    /// Follows control to a block. Returns the number by which it counts, and whether it is
    /// collected.
    pub(super) fn begin(&mut self, (id, plan): (PlanId, &Plan), facts: &CallFacts) -> (BlockId, bool) {
        let rules = self.rules;
        let CodePlace { section, object, entry, .. } = facts.place;
        let mut sp = self.thread.sp;
        let last = self.thread.now.block;
        let last_block = last.and_then(|last| self.graph.blocks.get(last as usize));
        let mut leave = last_block.map_or(Leave::Jump, |last| last.facts.leave);
        let changes = last_block.is_some_and(|last| {
            let place = &last.facts.place;
            entry || place.section != section || place.object != object
        });
        let resolver = last_block.is_some_and(|last| last.facts.place.resolver);
        let mut pops = 1;
        let mut returns_nowhere = false;
        if leave == Leave::Return && !self.thread.frames.is_empty() {
            pops = self.returned(sp, plan.pc);
            if pops == 0 {
                (leave, returns_nowhere) = (Leave::Jump, self.thread.frames.len() < MOST_FRAMES);
                let bottom = self.thread.now.bottom;
                let top = self.thread.frames.last().filter(|_| self.thread.frames.len() > bottom);
                let is_stray = returns_nowhere && top.is_some_and(|top| sp < top.sp);
                self.graph.disorder.stray += u64::from(is_stray);
            }
        }
        let mut is_jump = false;
        if leave == Leave::Jump && (returns_nowhere || changes) {
            let arc = self.thread.frames.last().and_then(|frame| Some((frame.arc?, frame.sp)));
            if let Some((arc, at)) = arc.filter(|_| resolver) {
                // The resolved function is called by what called the resolver.
                let from = self.graph.arcs.get(arc as usize).map(|arc| arc.from);
                sp = at;
                self.pop();
                self.thread.now.block = from;
            }
            (leave, is_jump) = (Leave::Call, true);
        }
        let mut calls = false;
        let mut hint = None;
        let mut stays = false;
        if leave == Leave::Return {
            if self.thread.frames.is_empty() || self.thread.now.depth == 1 {
                self.underflow(plan, &facts.place);
            } else if self.thread.frames.iter().all(|frame| self.is_jump(frame) && frame.sp < sp) {
                // A function that nobody was seen to call jumped to another one before it returns.
                self.thread.now.block = self.unwind(sp, pops).1.or(last);
                self.underflow(plan, &facts.place);
            } else {
                let caller = self.unwind(sp, pops).1;
                hint = caller.map(Hint::Returned);
            }
        } else if (self.leave_handlers_by_jump(sp), self.unwind(sp, 0).0) == (false, 0) {
            calls = leave == Leave::Call && self.thread.frames.len() < MOST_FRAMES;
            self.graph.disorder.cut += u64::from(leave == Leave::Call && !calls);
            stays = leave == Leave::Jump;
            hint = last.map(Hint::Called).filter(|_| calls);
            if let Some(top) = self.thread.frames.last().filter(|_| calls && is_jump) {
                sp = top.sp;
            }
        }
        let skips = calls && section == Section::Plt && rules.skip_plt;
        let saved = (self.thread.now.context, self.thread.now.depth);
        let mut context = self.thread.now.context;
        if calls && !skips || context.is_none() {
            let hint = hint.filter(|_| !rules.apart);
            let entered = self.graph.context(hint, &facts.place, plan.mapping, plan.pc);
            context = Some(self.enter(entered));
        }
        let skipped = if calls { skips } else { self.thread.now.nonskipped.is_some() };
        let context = context.unwrap_or_default();
        let recursions = self.graph.apart(context).recursions.unwrap_or(rules.recursions);
        let active = if recursions > 1 { *self.active(context) + u32::from(calls && !skips) } else { 0 };
        let recursion = recursion_of(active, recursions);
        let block = self.graph.block(hint, (id, plan), (context, recursion), skipped);
        if let Some(last) = last {
            if rules.jumps && stays {
                self.graph.jump(last, block);
            }
            if calls {
                let is_usual = facts.place.actions == Actions::default() && !rules.apart && !resolver;
                self.graph.set_way(
                    last,
                    if !is_usual {
                        Way::Other
                    } else if skips {
                        Way::Skips
                    } else {
                        Way::Calls
                    },
                );
            }
        }
        if calls {
            let nonskipped = self.thread.now.nonskipped.filter(|_| !skips);
            if let Some(from) = nonskipped.or(self.thread.now.block) {
                self.push(from, (block, sp), skips, saved);
            }
        }
        self.thread.now.block = Some(block);
        let collects = self.collects();
        (if collects { block } else { self.graph.uncollected(block) }, collects)
    }

    /// The number of frames that a return to `pc` leaves; 0 if it returns from none.
    fn returned(&self, sp: u64, pc: u64) -> u64 {
        let frames = &self.thread.frames;
        let Some(top) = frames.last() else { return 1 };
        // In a full stack, a call that found no room returns to where the top frame begins.
        if sp != top.sp || frames.len() >= MOST_FRAMES {
            return u64::from(sp > top.sp);
        }
        let mut pops = 0;
        for frame in frames.iter().rev().take_while(|frame| frame.sp == sp) {
            pops += frame.times;
            if self.graph.returns_to(frame.from) == pc {
                return pops;
            }
        }
        0
    }

    /// True if a call was a jump, which returns nowhere.
    fn is_jump(&self, frame: &Frame) -> bool {
        self.graph.returns_to(frame.from) == 0
    }

    /// Enters a function. Returns its context.
    fn enter(&mut self, function: ContextId) -> ContextId {
        let level = &mut self.thread.now;
        if let Some(context) = level.context.filter(|&context| self.graph.function(context) == function)
            && level.depth > 0
        {
            return context;
        }
        let mut context = function;
        if self.rules.apart {
            level.entered.truncate(level.depth as usize);
            level.entered.push(function);
            let callers = self.graph.apart(function).callers.unwrap_or(self.rules.callers);
            let first = level.entered.len().saturating_sub(callers as usize + 1);
            context = self.graph.called_by(level.entered.get(first..).unwrap_or_default());
        }
        level.context = Some(context);
        level.depth += 1;
        if level.depth == 1 {
            *self.active(context) += 1;
        }
        context
    }

    /// Times that the function of a context is on the stack.
    fn active(&mut self, context: ContextId) -> &mut u32 {
        let at = self.graph.function(context) as usize;
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
        let nonskipped = self.thread.now.nonskipped;
        let is_jump = self.graph.returns_to(from) == 0;
        let entered = self.graph.blocks.get(to as usize).map(Block::entered);
        let (entered, actions) = entered.unwrap_or_default();
        let is_once = skips || actions == Actions::default();
        let arc = (!skips).then(|| self.graph.arc(from, to));
        if let Some(id) = arc
            && let Some(arc) = self.graph.arcs.get_mut(id as usize)
        {
            arc.calls += 1;
            self.demands.called(id);
            let active = self.active(entered);
            *active = active.saturating_add(1);
            let is_first = *active == 1;
            self.thread.now.toggled ^= is_first && actions.toggles;
            // As Callgrind, which then does not set to zero as well.
            if is_first && actions.dumps_before {
                let trigger = Trigger::Before(self.graph.code(entered));
                self.demands.add(Demand::Dump(trigger));
            } else if is_first && actions.zeroes_before {
                self.demands.add(Demand::Zero);
            }
        }
        let same = |top: &&mut Frame| {
            arc.is_some()
                && (top.arc, top.sp) == (arc, sp)
                && is_jump
                && (top.nonskipped, top.context, top.depth) == (nonskipped, context, depth)
        };
        let change = match self.thread.frames.last_mut().filter(same) {
            Some(top) => {
                top.times += 1;
                top.is_once = false;
                arc.map_or(Change::None, Change::PushAgain)
            }
            None => {
                let (times, since) = (1, Packed::default());
                let frame =
                    Frame { arc, from, entered, is_once, sp, times, since, nonskipped, context, depth };
                self.thread.frames.push(frame);
                match arc {
                    None => Change::None,
                    Some(arc) if from & UNSEEN == 0 => Change::Push(arc),
                    Some(_) => Change::PushUnseen,
                }
            }
        };
        let level = &mut self.thread.now;
        if !skips {
            level.nonskipped = None;
        } else if level.nonskipped.is_none() {
            level.nonskipped = Some(from);
        }
        self.note(change);
    }

    /// Pops the top frame. Returns the arc of its call.
    fn pop(&mut self) -> Option<ArcId> {
        while !self.thread.interrupted.is_empty() && self.thread.frames.len() <= self.thread.now.bottom {
            // A handler is left by a jump out of it.
            self.leave_handler();
        }
        let frame = self.thread.frames.pop()?;
        let Frame { arc, entered, is_once, times, nonskipped, context, depth, .. } = frame;
        self.thread.now.nonskipped = nonskipped;
        if let Some(arc) = arc {
            (self.thread.now.context, self.thread.now.depth) = (context, depth);
            self.deactivate(entered, times);
            let to = self.graph.arcs.get(arc as usize).filter(|_| !is_once).map(|arc| arc.to as usize);
            if let Some((_, actions)) = to.and_then(|to| self.graph.blocks.get(to)).map(Block::entered) {
                let was_last = *self.active(entered) == 0;
                self.thread.now.toggled ^= was_last && actions.toggles;
                if was_last && actions.dumps_after {
                    let trigger = Trigger::After(self.graph.code(entered));
                    self.demands.add(Demand::Dump(trigger));
                }
            }
        }
        self.note(arc.map_or(Change::None, |arc| Change::Pop { arc, times }));
        arc
    }

    /// Pops frames until the stack pointer is in the top one; up to `least` whose stack pointer it
    /// is. Returns their number, and the block that made the last of their calls.
    fn unwind(&mut self, sp: u64, mut least: u64) -> (u64, Option<BlockId>) {
        let (mut pops, mut caller) = (0, None);
        while let Some(top) = self.thread.frames.last() {
            if !(top.sp < sp || top.sp == sp && least > 0) {
                break;
            }
            least = least.saturating_sub(top.times);
            pops += top.times;
            caller = self.pop().or(caller);
        }
        let caller = caller.and_then(|arc| self.graph.arcs.get(arc as usize)).map(|arc| arc.from);
        (pops, caller)
    }

    /// Returns from the outermost function: its caller becomes known, but not the place of the
    /// call.
    fn underflow(&mut self, plan: &Plan, place: &CodePlace) {
        let Some(block) = self.thread.now.block else { return };
        let left = self.graph.blocks.get(block as usize).map_or(0, |block| block.context);
        let caller = self.graph.context(None, place, plan.mapping, plan.pc);
        let from = self.graph.unseen(caller, plan.mapping, plan.pc);
        let level = &mut self.thread.now;
        level.depth = level.depth.saturating_sub(1);
        (level.context, level.nonskipped) = (None, None);
        self.deactivate(left, 1);
        self.enter(caller);
        let saved = (self.thread.now.context, self.thread.now.depth);
        let left = self.graph.function(left);
        self.enter(left);
        self.push(from, (block, u64::MAX), false, saved);
        self.pop();
    }
}
