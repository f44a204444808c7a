//! The account of a process in one consumer, and what remains of it when the process has ended.

use std::sync::Arc;

use crate::hooks::callgraph::costs::CallCosts;
use crate::hooks::callgraph::dumps::{Collection, Dumps};
use crate::hooks::callgraph::tracker::CallTracker;
use crate::hooks::callgraph::walker::CallRules;
use crate::hooks::control::AccountId;
use crate::hooks::counts::{Counted, Misses, PackedCounts, Repeated};
use crate::hooks::deferred::{Deferred, Reading};
use crate::hooks::executions::{Count, Tally};
use crate::hooks::lookout::Miss;
use crate::hooks::numbering::Numbering;
use crate::hooks::part::{HeldPart, Part, Told, number};
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::predictors::Predictors;
use crate::hooks::record::PlanId;
use crate::sim::PackedList;

/// Counts without a simulator: those of a process that has ended, or of a parent at the moment of
/// the fork.
#[derive(Clone, Debug)]
pub(super) struct Book {
    /// The process that they are of.
    pub(super) process: AccountId,
    /// Ids of the plans by number; `None` for all.
    plans: Option<PackedList<PlanId>>,
    counted: PackedCounts,
    /// A plan may have several numbers.
    contexts: bool,
    /// The call graph, if calls are followed.
    calls: Option<Arc<CallCosts>>,
    /// Parts of the call graph that came before.
    dumps: Dumps,
    /// Counts from before these.
    inherited: Vec<Arc<Book>>,
}

impl Book {
    /// Calls `f` with each set of counts and the plans that it is by.
    pub(super) fn each(&self, plans: &[Arc<Plan>], f: &mut dyn FnMut(&PlanIndex, &Counted)) {
        let mut index = PlanIndex::default();
        let mut add = |plan: &Plan, whole: Option<usize>| {
            index.add(plan, whole, u16::MAX);
        };
        let counted = self.counted.unpack();
        match &self.plans {
            None => {
                let whole = |plan: &Plan| plan.prefix_of.map(|whole| whole.0 as usize);
                let known = plans.iter().take(counted.executed.len());
                known.for_each(|plan| add(plan, whole(plan)));
            }
            Some(ids) if self.contexts => {
                let known = ids.iter().filter_map(|id| plans.get(id.0 as usize));
                known.for_each(|plan| add(plan, None));
            }
            Some(ids) => {
                let mut numbering = Numbering::own();
                for id in ids.iter() {
                    if numbering.get(id, plans.len()).is_none() {
                        number(id, plans, &mut numbering, &mut add);
                    }
                }
            }
        }
        f(&index, &counted);
        self.inherited.iter().for_each(|inherited| inherited.each(plans, f));
    }

    /// Adds the call graph to `all`, if there is one.
    pub(super) fn add_calls(&self, all: &mut CallCosts) {
        self.calls.iter().for_each(|calls| all.append(calls));
        self.inherited.iter().for_each(|inherited| inherited.add_calls(all));
    }

    /// Adds the parts of the call graph that came before to `all`.
    pub(super) fn add_dumps(&self, all: &mut Dumps) {
        self.inherited.iter().for_each(|inherited| inherited.add_dumps(all));
        all.append(&self.dumps);
    }

    /// Bytes that it takes, without what it has inherited.
    pub(super) fn bytes(&self) -> u64 {
        let plans = self.plans.as_ref().map_or(0, PackedList::bytes);
        let calls = self.calls.as_ref().map_or(0, |calls| calls.bytes());
        plans + self.counted.bytes() + calls + self.dumps.bytes()
    }
}

/// Simulator and counts of a process.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) part: Part,
    numbering: Numbering,
    /// Records that are not counted do not reach the simulator either.
    pub(super) counting: bool,
    /// Neither counted nor simulated until a plan is executed that begins counts.
    pub(super) waits: bool,
    inherited: Vec<Arc<Book>>,
    /// Follows calls, if there is to be a call graph.
    pub(super) calls: Option<Box<CallTracker>>,
    /// The account whose simulator this one uses, which is itself unless threads are counted apart.
    pub(super) process: AccountId,
}

/// An account that does not run, in few bytes: for a checkpoint, or while others run.
#[derive(Clone, Debug)]
pub(super) struct SavedAccount {
    pub(super) book: Book,
    held: HeldPart,
    calls: Option<Box<CallTracker>>,
    pub(super) counting: bool,
    waits: bool,
}

impl SavedAccount {
    /// Bytes that its call graph takes, roughly.
    pub(super) fn call_bytes(&self) -> u64 {
        self.calls.as_ref().map_or(0, |calls| calls.bytes())
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.book.bytes() + self.held.bytes()
    }
}

impl Account {
    /// Starts an account of its own without counts.
    pub(super) fn new(part: Part, numbering: Numbering, process: AccountId) -> Account {
        Account { part, numbering, counting: true, waits: false, inherited: Vec::new(), calls: None, process }
    }

    /// The account, which has counted nothing, following calls by `rules` if there are any.
    pub(super) fn following(mut self, rules: Option<CallRules>) -> Account {
        if let Some(rules) = rules {
            self.numbering = Numbering::Contexts { plans: Vec::new() };
            self.calls = Some(Box::new(CallTracker::new(rules)));
        }
        self
    }

    /// A child's account: a copy of the simulator, and the counts that it inherits.
    pub(super) fn child(&self, id: AccountId, inherited: Vec<Arc<Book>>, plans: &[Arc<Plan>]) -> Account {
        let mut child = Account {
            counting: self.counting,
            waits: self.waits,
            inherited,
            ..Account::new(self.part.without_counts(), Numbering::own(), id)
        };
        if let Some(calls) = &self.calls {
            let Account { part, numbering, .. } = &mut child;
            *numbering = Numbering::Contexts { plans: Vec::new() };
            child.calls = Some(Box::new(calls.forked(part, numbering, plans)));
        }
        child
    }

    /// The account of another thread.
    pub(super) fn thread(&self) -> Account {
        let calls = self.calls.as_ref().map(|calls| Box::new(calls.emptied()));
        let numbering =
            if calls.is_some() { Numbering::Contexts { plans: Vec::new() } } else { Numbering::own() };
        Account {
            counting: self.counting,
            waits: self.waits,
            calls,
            ..Account::new(self.part.without_simulators(), numbering, self.process)
        }
    }

    /// Empties the simulator, and the counts unless they go on.
    pub(super) fn reset(&mut self, counts: bool, plans: &[Arc<Plan>]) {
        self.inherited = counts.then(|| Arc::new(self.book(plans))).into_iter().collect();
        self.calls = self.calls.as_ref().map(|calls| Box::new(calls.emptied()));
        self.part = self.part.emptied();
        match self.numbering {
            Numbering::Ids => self.add_all(plans),
            Numbering::Own { .. } => self.numbering = Numbering::own(),
            Numbering::Contexts { .. } => self.numbering = Numbering::Contexts { plans: Vec::new() },
        }
    }

    /// The counts so far.
    pub(super) fn book(&self, plans: &[Arc<Plan>]) -> Book {
        let calls = self.calls.as_ref().map(|calls| Arc::new(calls.costs(&self.part, plans)));
        Book { calls, ..self.book_without_calls() }
    }

    /// The counts, as the account has ended.
    pub(super) fn close(mut self, plans: &[Arc<Plan>]) -> Book {
        self.unwind();
        self.book(plans)
    }

    fn book_without_calls(&self) -> Book {
        Book {
            process: self.process,
            plans: self.numbering.packed(),
            counted: self.part.counted().pack(),
            contexts: self.calls.is_some(),
            calls: None,
            dumps: self.calls.as_ref().map_or_else(Dumps::default, |calls| calls.dumps().clone()),
            inherited: self.inherited.clone(),
        }
    }

    /// Calls `f` with each set of counts and the plans that it is by.
    pub(super) fn each(&self, plans: &[Arc<Plan>], f: &mut dyn FnMut(&PlanIndex, &Counted)) {
        f(self.part.index(), &self.part.counted());
        self.inherited.iter().for_each(|inherited| inherited.each(plans, f));
    }

    /// Adds the call graph to `all`, if there is one.
    pub(super) fn add_calls(&self, plans: &[Arc<Plan>], all: &mut CallCosts) {
        self.calls.iter().for_each(|calls| all.append(&calls.costs(&self.part, plans)));
        self.inherited.iter().for_each(|inherited| inherited.add_calls(all));
    }

    /// Adds the parts of the call graph that came before to `all`.
    pub(super) fn add_dumps(&self, all: &mut Dumps) {
        self.inherited.iter().for_each(|inherited| inherited.add_dumps(all));
        self.calls.iter().for_each(|calls| all.append(calls.dumps()));
    }

    /// Makes a part of what calls have cost so far, if they are followed.
    pub(super) fn dump(&mut self, plans: &[Arc<Plan>]) {
        if let Some(calls) = &mut self.calls {
            calls.dump_as_ordered(&mut self.part, plans);
        }
    }

    /// Switches counting. The calls that have not returned are forgotten while nothing counts.
    pub(super) fn set_counting(&mut self, counting: bool) {
        self.counting = counting;
        if !counting {
            self.unwind();
        }
    }

    /// Forgets the calls that have not returned.
    pub(super) fn unwind(&mut self) {
        self.calls.iter_mut().for_each(|calls| calls.unwind());
    }

    /// Sets the counts to zero. The simulator keeps its contents.
    pub(super) fn zero(&mut self) {
        self.calls.iter_mut().for_each(|calls| calls.zero());
        self.part.set_counted(&Counted::default());
        self.inherited.clear();
    }

    /// Does something with the costs of calls so far, if calls are followed.
    pub(super) fn collect(&mut self, what: Collection, plans: &[Arc<Plan>]) {
        if let Some(calls) = &mut self.calls {
            calls.collect(what, &mut self.part, plans);
        }
    }

    /// Adds these plans if the account numbers all.
    pub(super) fn add_all(&mut self, plans: &[Arc<Plan>]) {
        if let Numbering::Ids = self.numbering {
            for plan in plans {
                self.part.add_plan(plan, plan.prefix_of.map(|whole| whole.0 as usize));
            }
        }
    }

    /// Numbers only the plans that are run from here on, after the first `count`.
    pub(super) fn number_own(&mut self, count: usize) {
        if let Numbering::Ids = self.numbering {
            self.numbering = Numbering::own_after(count);
        }
    }

    /// Makes the plan of a record known. Returns false if that changes nothing.
    pub(super) fn learn(&mut self, id: PlanId, plans: &[Arc<Plan>]) -> bool {
        let Account { part, numbering, .. } = self;
        let learns = (id.0 as usize) < plans.len()
            && matches!(numbering, Numbering::Own { .. })
            && numbering.get(id, plans.len()).is_none();
        if learns {
            number(id, plans, numbering, &mut |plan, whole| part.add_plan(plan, whole));
        }
        learns
    }

    /// Adds what generated code has counted.
    pub(super) fn add_executions(&mut self, tally: &Tally, plans: &[Arc<Plan>]) {
        for (plan, count) in (0..).map(PlanId).zip(&tally.counts).filter(|(_, its)| **its != Count::default())
        {
            if let Some(number) = self.learn_number(plan, plans) {
                self.part.add_executions(number, count);
            }
        }
        let repeated = (0..).map(PlanId).zip(&tally.repeated);
        for (plan, repeated) in repeated.filter(|(_, its)| **its != Repeated::default()) {
            if let Some(number) = self.learn_number(plan, plans) {
                self.part.add_repeated(number, repeated);
            }
        }
        for (&(plan, insn), &count) in &tally.inner {
            if let Some(number) = self.learn_number(plan, plans) {
                self.part.add_mispredicted(number, insn, count);
            }
        }
        let mut missed = tally.missed.iter().peekable();
        let mut first = 0;
        for (id, plan) in (0..).map(PlanId).zip(plans) {
            let end = first + plan.counters();
            while let Some((counter, missed)) = missed.next_if(|(counter, _)| (*counter as usize) < end) {
                if let Some((insn, kind)) = plan.counted(counter as usize - first)
                    && let Some(number) = self.learn_number(id, plans)
                {
                    let misses = Misses::of(kind, missed.first_level, missed.ll);
                    self.part.add_misses(number, insn, &misses);
                }
            }
            first = end;
        }
    }

    /// The number of a plan, which becomes known.
    fn learn_number(&mut self, plan: PlanId, plans: &[Arc<Plan>]) -> Option<usize> {
        self.learn(plan, plans);
        self.numbering.get(plan, plans.len())
    }

    /// The predictors become copies of others.
    pub(super) fn set_predictors(&mut self, predictors: &Predictors) {
        self.part.set_predictors(predictors);
    }

    /// Simulates from here on what it is not told of.
    pub(super) fn set_told(&mut self, told: Told) {
        self.part.set_told(told);
    }

    /// Walks records to the first whose plan is not known. Returns the number of their instructions
    /// and the words that are left. Simulation may be put off until [`Self::recall`].
    pub(super) fn walk<'w>(
        &mut self,
        words: &'w [u64],
        plans: &[Arc<Plan>],
        reading: Option<Reading>,
    ) -> (u64, &'w [u64]) {
        match &mut self.calls {
            None => self.part.walk(words, &self.numbering, reading),
            Some(calls) => calls.walk(&mut self.part, &mut self.numbering, plans, words, reading),
        }
    }

    /// Ends the simulation that was put off.
    pub(super) fn recall(&mut self, deferred: &Deferred) {
        match &mut self.calls {
            None => self.part.recall(deferred),
            Some(calls) => calls.recall(&mut self.part, deferred),
        }
    }

    /// Walks one record; see [`Part::walk_noting`].
    pub(super) fn walk_noting(
        &mut self,
        record: &[u64],
        plans: &[Arc<Plan>],
        note: &mut dyn FnMut(Option<usize>, u64, Miss),
    ) {
        match &mut self.calls {
            None => self.part.walk_noting(record, &self.numbering, note),
            Some(calls) => calls.walk_noting(&mut self.part, &mut self.numbering, plans, record, note),
        }
    }

    /// The account in few bytes.
    pub(super) fn save(&self) -> SavedAccount {
        let (book, held) = (self.book_without_calls(), self.part.held());
        SavedAccount { book, held, calls: self.calls.clone(), counting: self.counting, waits: self.waits }
    }

    /// True if the account can go back to what was saved: its plans have the numbers that they had,
    /// and there are no others, so that all consumers have the same ones.
    pub(super) fn is_like(&self, saved: &SavedAccount) -> bool {
        let Book { process, plans, counted, .. } = &saved.book;
        let same = match (self.numbering.plans(), plans) {
            // What came later has to go.
            _ if self.calls.is_some() => {
                self.calls.iter().zip(&saved.calls).all(|(now, then)| now.numbers_blocks_as(then))
            }
            (Some(now), Some(then)) => then.iter().eq(now.iter().copied()),
            (None, None) => true,
            // It numbered all then.
            (Some(now), None) => (0..counted.plans() as u32).map(PlanId).eq(now.iter().copied()),
            (None, Some(_)) => false,
        };
        same && self.process == *process && self.part.is_like(&saved.held)
    }

    /// Sets what was saved of an account that is like this.
    pub(super) fn restore(&mut self, saved: &SavedAccount) {
        self.part.set_counted(&saved.book.counted.unpack());
        self.part.hold(&saved.held);
        self.counting = saved.counting;
        self.waits = saved.waits;
        self.inherited.clone_from(&saved.book.inherited);
        self.calls.clone_from(&saved.calls);
    }

    /// Numbers the plans as they were when `saved` was made, which is in the place of this account,
    /// and sets their counts.
    pub(super) fn renumber(&mut self, saved: &SavedAccount, plans: &[Arc<Plan>]) {
        let counted = saved.book.counted.unpack();
        if saved.book.contexts {
            self.numbering = Numbering::Contexts { plans: Vec::new() };
            if let Some(calls) = &mut self.calls {
                calls.number_blocks(&mut self.part, &mut self.numbering, plans);
            }
            return self.part.set_counted(&counted);
        }
        self.numbering = Numbering::own();
        let all = (0..counted.executed.len() as u32).map(PlanId);
        let ids: Vec<PlanId> =
            saved.book.plans.as_ref().map_or_else(|| all.collect(), |ids| ids.iter().collect());
        for id in ids {
            self.learn(id, plans);
        }
        self.part.set_counted(&counted);
    }
}
