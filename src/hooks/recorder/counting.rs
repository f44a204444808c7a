//! Generated code that drives branch predictors and caches, and counts executions of blocks itself,
//! in place of the trace.

use crate::hooks::buffer::Handed;
use crate::hooks::consumer::{Told, ToldLevels};
use crate::hooks::control::{ByAccount as _, Control};
use crate::hooks::data_table::LineEntry;
use crate::hooks::executions::{Count, Executions};
use crate::hooks::filter::Drain;
use crate::hooks::inline_caches::{FetchedLine, InlineCaches};
use crate::hooks::inline_predictors::InlinePredictors;
use crate::hooks::misses_below::{LlOwner, Origin};
use crate::hooks::plan::End;
use crate::hooks::plan_table::{Facts, PlanTable};
use crate::hooks::predictors::Predictors;
use crate::hooks::record::{Header, MISSED, Mispredicted, PlanId, Running};
use crate::hooks::recorder::Recorder;
use crate::hooks::successors::Successors;
use crate::sim::Hierarchy;
use crate::x86::cost::Repeat;

/// Work that generated code does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inline {
    /// It drives the branch predictors, for consumers that are told of mispredictions.
    pub(crate) predicts: bool,
    /// It drives I1 and D1, if generated code can drive those that are simulated, and who has LL
    /// then.
    pub(crate) caches: Option<LlOwner>,
    /// It writes a trace; else it counts executions.
    pub(crate) traces: bool,
    /// It joins blocks that mostly follow each other.
    pub(crate) joins: bool,
}

impl Inline {
    /// The most that is of use where caches and branches are simulated, or not, and calls followed,
    /// or not: with blocks joined if it `joins`, and so many CPUs. Calls are followed in a trace,
    /// by a consumer that then has LL.
    pub(crate) fn most(
        (caches, branches): (Option<&Hierarchy>, bool),
        calls: bool,
        joins: bool,
        cpus: usize,
    ) -> Inline {
        let owner = match calls {
            true => LlOwner::Consumer,
            false if cpus > 1 => LlOwner::Thread,
            false => LlOwner::Recorder,
        };
        let drives = caches.is_some_and(InlineCaches::can_have);
        Inline {
            predicts: branches,
            caches: drives.then_some(owner),
            traces: calls || caches.is_some() && !drives,
            joins,
        }
    }

    /// The simulators that the consumers are told of then.
    pub(crate) fn tells(self) -> Told {
        let levels = match self.caches {
            None => ToldLevels::None,
            Some(LlOwner::Consumer) => ToldLevels::First,
            Some(_) => ToldLevels::All,
        };
        Told { levels, branches: self.predicts }
    }
}

impl Recorder {
    /// Lets generated code do by itself what `inline` says, from the first instruction on. For a
    /// recorder whose consumers count by the model `arch`, and that knows if they follow calls.
    /// Caches are shaped as these.
    pub(crate) fn work_inline(&mut self, inline: Inline, caches: Option<&Hierarchy>) {
        self.successors = inline.joins.then(Successors::default);
        self.records_all = !self.follows_calls || caches.is_some() && inline.caches.is_none();
        if inline.traces && !inline.predicts && inline.caches.is_none() {
            return;
        }
        let account = self.tasks.account;
        let predictors = inline.predicts.then(|| InlinePredictors::new(account));
        let caches = inline.caches.zip(caches);
        let caches = caches.map(|(owner, caches)| InlineCaches::new(account, caches, owner));
        self.executions = Some(Executions::new(account, predictors, caches));
        self.traces = inline.traces;
    }

    /// True if a trace is to have the addresses of all accesses, and not only what a call graph
    /// needs.
    pub(crate) fn records_all_accesses(&self) -> bool {
        self.records_all
    }

    /// True if generated code counts executions itself.
    pub(crate) fn counts_executions(&self) -> bool {
        self.executions.is_some() && !self.traces
    }

    /// The counts by plan, where generated code adds to them: for every plan that there is, until
    /// there is another or anything else of the recorder is used.
    pub(crate) fn executions(&mut self) -> &mut [Count] {
        let plans = self.plans.len();
        self.executions.as_mut().map_or(&mut [], |executions| executions.counts(plans))
    }

    /// The predictors that generated code drives, if it does. They do not move.
    pub(crate) fn inline_predictors(&mut self) -> Option<&mut Predictors> {
        Some(self.executions.as_mut()?.predictors.as_mut()?.live())
    }

    /// The caches that generated code drives, if it does.
    pub(crate) fn inline_caches(&mut self) -> Option<&mut InlineCaches> {
        self.executions.as_mut()?.caches.as_mut()
    }

    /// The caches of the current account, as far as generated code drives them; the rest of them is
    /// as `simulated` by a consumer.
    pub(crate) fn current_caches(&mut self, simulated: Option<Hierarchy>) -> Option<Hierarchy> {
        self.settle();
        let process = self.tasks.process(self.tasks.account);
        let Some(caches) = self.inline_caches() else { return simulated };
        let mut all = simulated.unwrap_or_else(|| caches.hierarchy());
        caches.saved(process)?.restore(&mut all);
        Some(all)
    }

    /// Fetches the instruction at an index in the block that runs from a line that generated code
    /// has not found.
    pub(crate) fn fetched(&mut self, running: Running, insn: u16, mut line: FetchedLine, clock: u32) {
        let Some((caches, _)) = self.caches_with_room(running, clock) else { return };
        let is_recorded = caches.records_misses();
        if is_recorded {
            line.counter = Origin::Fetch(insn).pack();
        }
        if caches.fetch(clock, line) && is_recorded {
            self.note_missed(running);
        }
    }

    /// Notes in the record of the block that runs that something of it has missed.
    fn note_missed(&mut self, running: Running) {
        if let Some(header) = self.words.get_mut(running.at) {
            *header |= MISSED;
        }
    }

    /// Accesses data, an event of the block that runs by its index, which generated code has not
    /// found: at an address, of so many bytes. With `undoable` its instruction may yet fault.
    /// `clock` is the time of the block. Returns the entry of the line, if it is one.
    #[inline]
    pub(crate) fn accessed(
        &mut self,
        running: Running,
        index: u16,
        (addr, size): (u64, u16),
        (clock, undoable): (u32, bool),
    ) -> Option<LineEntry<'_>> {
        let (caches, plans) = self.caches_with_room(running, clock)?;
        let Facts { times, data, .. } = plans.facts(running.plan);
        let access = (clock - times.wrapping_sub(1 + u32::from(index)), addr, size);
        let is_recorded = caches.records_misses();
        let counter = if is_recorded { Origin::Data(index).pack() } else { data + u32::from(index) };
        let is_one = match undoable {
            true => caches.data_apart(access, counter, Some((clock, index))),
            false => caches.data(access, counter),
        };
        if caches.record_missed() {
            self.note_missed(running);
        }
        if is_one { self.inline_caches().map(|caches| caches.entry(addr)) } else { None }
    }

    /// The caches that generated code drives, if it does, with room for one more access to LL in
    /// the block with this time, and the plans.
    #[inline]
    fn caches_with_room(&mut self, running: Running, clock: u32) -> Option<(&mut InlineCaches, &PlanTable)> {
        let Recorder { executions: Some(executions), plans, .. } = self else { return None };
        let Executions { caches: Some(caches), tally, .. } = executions else { return None };
        caches.set_record(running.at);
        if caches.is_to_settle(clock) {
            caches.make(&mut tally.missed);
        }
        Some((caches, plans))
    }

    /// Takes the accesses of the last block back that are of events from an index on.
    pub(super) fn take_accesses_back(&mut self, first: usize) {
        if let Some(caches) = self.inline_caches() {
            caches.take_back(caches.clock(), first as u16);
        }
    }

    /// Makes the accesses to LL that wait, if generated code drives the caches.
    pub(super) fn settle(&mut self) {
        if let Some(executions) = &mut self.executions {
            executions.settle();
        }
    }

    /// Plan of the last block, while a fault may take it back.
    pub(crate) fn last_executed(&self) -> Option<PlanId> {
        self.executions.as_ref()?.last
    }

    /// Learns how many instructions were executed, and in which block the last of them.
    pub(crate) fn executed(&mut self, instructions: u64, last: Option<PlanId>) {
        self.tasks.unrecorded += instructions;
        if let Some(executions) = &mut self.executions {
            executions.add_untold(instructions);
            executions.last = last;
        }
    }

    /// Feeds the predictors a conditional branch at the end of a plan.
    pub(crate) fn branch(&mut self, plan: PlanId, taken: bool) {
        let Some(pc) = self.plans.get(plan).and_then(|plan| plan.insns.last()).map(|insn| insn.pc()) else {
            return;
        };
        let Some(predictors) = self.inline_predictors() else { return };
        if predictors.conditional.record(pc, taken) {
            self.mispredicted(plan);
        }
    }

    /// Counts a misprediction of the branch at the end of a plan, which is the last.
    fn mispredicted(&mut self, plan: PlanId) {
        if self.follows_calls {
            return self.change_last_header(plan, Mispredicted::one_more);
        }
        if let Some(executions) = &mut self.executions {
            executions.add_mispredicted(plan);
        }
    }

    /// Changes the header of the last record, which is of a plan.
    fn change_last_header(&mut self, plan: PlanId, change: impl FnOnce(u64) -> u64) {
        let words = self.plans.get(plan).map(|plan| 1 + usize::from(plan.slots));
        let at = words.and_then(|words| self.len.checked_sub(words));
        let header = at.and_then(|at| self.words.get_mut(at));
        if let Some(header) = header.filter(|header| Header::of(**header).plan == plan) {
            *header = change(*header);
        }
    }

    /// Records that the indirect branch at the end of the last block leads to `pc`, where generated
    /// code has not been left by it.
    pub(crate) fn leads_to(&mut self, pc: u64) {
        let last = self.last_record().map(|(_, plan)| plan);
        let branch = last.and_then(|plan| Some((plan, self.plans.get(plan)?.insns.last()?.pc())));
        if let Some((plan, branch)) = branch
            && let Some(predictors) = self.inline_predictors()
            && predictors.indirect.record(branch, pc)
        {
            self.mispredicted(plan);
        }
        self.point(pc);
    }

    /// Feeds the predictors the retry of the locked operation at an index in a plan, which is never
    /// taken.
    pub(crate) fn retry(&mut self, plan: PlanId, insn: u16) {
        let insns = self.plans.get(plan).map(|plan| &plan.insns);
        let Some(pc) = insns.and_then(|insns| insns.get(usize::from(insn))).map(|insn| insn.pc()) else {
            return;
        };
        let Some(predictors) = self.inline_predictors() else { return };
        if !predictors.conditional.record(pc, false) {
            return;
        }
        if self.follows_calls {
            let inside = self.plans.get(plan).map(|plan| &plan.inside);
            let index = inside.and_then(|inside| inside.iter().position(|branch| branch.insn == insn));
            let Some(index) = index else { return };
            return self.change_last_header(plan, |word| Mispredicted::with_inside(word, index));
        }
        if let Some(executions) = &mut self.executions {
            *executions.tally.inner.entry((plan, insn)).or_default() += 1;
        }
    }

    /// Counts an execution of the repeated string instruction at the end of a plan: whether it
    /// iterates, and whether it is repeated then.
    pub(crate) fn repeat(&mut self, plan: PlanId, iterates: bool, again: bool) {
        let compares = match self.plans.get(plan).map(|plan| plan.end) {
            Some(End::Repeat(repeat, _)) => repeat == Repeat::Compare,
            _ => return,
        };
        // Else the records tell.
        if let Some(executions) = self.executions.as_mut().filter(|_| !self.traces) {
            let repeated = executions.tally.repeated(plan);
            repeated.iterations += u64::from(iterates);
            repeated.branches += 1 + u64::from(iterates && compares);
        }
        self.branch(plan, iterates);
        if iterates && compares {
            self.branch(plan, again);
        }
    }

    /// Decides the branch of an instruction that has faulted, if there is one, since control is at
    /// `pc` next.
    pub(crate) fn decide_branch(&mut self, pc: u64) {
        let Some(plan) = self.executions.as_mut().and_then(|executions| executions.waits.take()) else {
            return;
        };
        let next = self.plans.get(plan).map(|plan| plan.fall_through());
        self.branch(plan, next != Some(pc));
    }

    /// Has a prefix of the last block wait for where control goes, if that decides its branch.
    pub(super) fn await_branch(&mut self, prefix: PlanId) {
        let decides = self.plans.get(prefix).is_some_and(|plan| plan.end == End::Conditional);
        if let Some(executions) = self.executions.as_mut().filter(|_| decides) {
            executions.waits = Some(prefix);
        }
    }

    /// Prepares what generated code does itself for what this instruction to the consumers says.
    pub(super) fn count_from_here(&mut self, control: Control) {
        let counted = match control {
            Control::Switch(account) => account.is_counted() && self.counts(account),
            Control::Count(on) => on,
            _ => true,
        };
        self.settle();
        let Some(executions) = &mut self.executions else { return };
        executions.waits = None;
        let tells = match control {
            Control::Switch(account) => executions.switch(account),
            _ => true,
        };
        let current = executions.account();
        if let Some(predictors) = &mut executions.predictors {
            predictors.follow(control, current, counted);
        }
        if let Some(caches) = &mut executions.caches {
            caches.follow(control, current, counted);
        }
        if tells {
            self.tell_executions();
        }
    }

    /// Tells the consumers what was executed before a count overflows.
    pub(crate) fn tell_if_many(&mut self) {
        if self.executions.as_ref().is_some_and(Executions::are_many) {
            self.tell_executions();
        }
    }

    /// Tells the consumers what was executed since they were last told.
    pub(super) fn tell_executions(&mut self) {
        self.settle();
        let Some(executions) = &mut self.executions else { return };
        let tallies = executions.take();
        if !tallies.is_empty() {
            // Records before it may open an account that it is of.
            self.send_words(Drain::All);
            let words = self.link.buffer();
            let plans = self.plans.take_new();
            self.link.send(Handed { words, plans, tallies, ..Handed::default() });
        }
    }

    /// Records a whole trace from here on, for consumers that simulate. Returns true if generated
    /// code has counted until now, simulated or joined blocks, or not recorded all accesses.
    pub(super) fn begin_trace(&mut self) -> bool {
        self.hand_over(Drain::All);
        let joined = self.successors.take().is_some();
        let is_partial = !std::mem::replace(&mut self.records_all, true);
        let Some(executions) = self.executions.take() else { return joined || is_partial };
        self.traces = true;
        let Executions { predictors, caches, .. } = executions;
        let predictors = predictors.map(|predictors| predictors.save());
        let caches = caches.map(|mut caches| caches.save());
        self.link.visit(|_, consumer| {
            consumer.simulate(Told::default());
            predictors.iter().flatten().for_each(|(&account, its)| consumer.set_predictors(account, its));
            caches.iter().for_each(|caches| consumer.set_caches(caches));
        });
        true
    }

    /// Tests whether a consumer should simulate the caches in place of generated code.
    pub(crate) fn misses_much(&mut self) -> bool {
        let instructions = self.instructions_seen();
        self.inline_caches().is_some_and(|caches| caches.miss_much(instructions))
    }

    /// Records a trace from here on, for a consumer that simulates the caches in place of generated
    /// code.
    pub(crate) fn trace_caches(&mut self) {
        self.hand_over(Drain::All);
        let Some(executions) = &mut self.executions else { return };
        let Some(mut caches) = executions.caches.take() else { return };
        let (branches, caches) = (executions.predictors.is_some(), caches.save());
        if !branches {
            self.executions = None;
        }
        self.traces = true;
        self.link.start_threads();
        self.link.visit(|_, consumer| {
            consumer.simulate(Told { branches, levels: ToldLevels::None });
            consumer.set_caches(&caches);
        });
    }
}
