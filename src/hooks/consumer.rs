//! Consumers of the trace. Each walks plans and records together and drives one simulator for each
//! account.

mod orders;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::hooks::account::{Account, Book, SavedAccount};
use crate::hooks::buffer::{Full, Handed};
use crate::hooks::callgraph::costs::CallCosts;
use crate::hooks::callgraph::dumps::Dumps;
use crate::hooks::callgraph::walker::CallRules;
use crate::hooks::control::{AccountId, Control, Opening};
use crate::hooks::counts::Counted;
use crate::hooks::deferred::{Deferred, Reading};
use crate::hooks::executions::Tally;
use crate::hooks::lookout::Lookout;
pub(crate) use crate::hooks::lookout::{Miss, Sighting, Target, Watched};
use crate::hooks::part::Part;
pub(crate) use crate::hooks::part::{Told, ToldLevels};
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::PlanIndex;
pub(crate) use crate::hooks::predictors::Predictors;
use crate::hooks::record::{Header, PlanId};
use crate::hooks::saved_caches::SavedLevels;
use crate::sim::Hierarchy;

/// One part of the simulation of a run: caches, predictors or both, or only counts.
#[derive(Clone, Debug)]
pub(crate) struct Consumer {
    /// All plans by id.
    plans: Vec<Arc<Plan>>,
    /// The simulator in its initial state, without plans.
    initial: Part,
    /// Rules for the call graph, if there is to be one.
    calls: Option<CallRules>,
    /// Programs begin without being counted, until a plan is executed that begins counts.
    waits: bool,
    /// Accounts that have run lately.
    accounts: BTreeMap<AccountId, Account>,
    /// The others, in few bytes.
    asleep: BTreeMap<AccountId, Arc<SavedAccount>>,
    /// Processes that have run lately, the last one at the end.
    lately: Vec<AccountId>,
    /// Accounts of processes that have ended.
    closed: BTreeMap<AccountId, Arc<Book>>,
    /// The account of the next record.
    current: AccountId,
    /// The accounts that have the simulators in use, by the process, where threads are counted
    /// apart.
    holders: BTreeMap<AccountId, AccountId>,
    lookout: Option<Box<Lookout>>,
}

/// State of a consumer for a checkpoint. Plans are facts about code and not part of it.
#[derive(Clone, Debug)]
pub(crate) struct SavedConsumer {
    accounts: BTreeMap<AccountId, Arc<SavedAccount>>,
    closed: BTreeMap<AccountId, Arc<Book>>,
    current: AccountId,
    holders: BTreeMap<AccountId, AccountId>,
}

/// Processes that are ready to run at a time. Waking one costs about as much as its start.
const AWAKE: usize = if cfg!(test) { 2 } else { 16 };

/// CPUs from which on caches and predictors have consumers of their own: the two take more time
/// than one, but not as long.
const CPUS_FOR_TWO: usize = 4;

impl Consumer {
    /// Creates the consumers of a run: one with all simulators or, if there is a CPU to spare for
    /// it, one for the caches and one for the predictors. Every consumer counts references.
    pub(crate) fn parts(
        caches: Option<Hierarchy>,
        predictors: Option<Predictors>,
        calls: Option<CallRules>,
        cpus: usize,
    ) -> Vec<Consumer> {
        if cpus >= CPUS_FOR_TWO && caches.is_some() && predictors.is_some() {
            return vec![
                Consumer::of(Part::new(caches, None), calls),
                Consumer::of(Part::new(None, predictors), calls),
            ];
        }
        vec![Consumer::of(Part::new(caches, predictors), calls)]
    }

    fn of(part: Part, calls: Option<CallRules>) -> Consumer {
        let initial = part.emptied();
        let first = Account::new(part, Default::default(), AccountId::FIRST).following(calls);
        Consumer {
            plans: Vec::new(),
            initial,
            calls,
            waits: false,
            accounts: BTreeMap::from([(AccountId::FIRST, first)]),
            asleep: BTreeMap::new(),
            lately: vec![AccountId::FIRST],
            closed: BTreeMap::new(),
            current: AccountId::FIRST,
            holders: BTreeMap::new(),
            lookout: None,
        }
    }

    /// The consumer, which has seen nothing; it does not simulate what it is told of.
    pub(crate) fn told(mut self, told: Told) -> Consumer {
        self.simulate(told);
        self
    }

    /// Simulates everything from here on that it is not told of.
    pub(super) fn simulate(&mut self, told: Told) {
        self.initial.set_told(told);
        self.accounts.values_mut().for_each(|account| account.set_told(told));
    }

    /// The consumer, which has seen nothing; with `waits` it counts a program only from the first
    /// plan on that begins counts.
    pub(crate) fn waiting(mut self, waits: bool) -> Consumer {
        self.waits = waits;
        self.accounts.values_mut().for_each(|account| account.waits = waits);
        self
    }

    /// Saves counts and simulators.
    pub(crate) fn save(&self) -> SavedConsumer {
        let awake = self.accounts.iter().map(|(&id, account)| (id, Arc::new(account.save())));
        SavedConsumer {
            accounts: awake.chain(self.asleep.iter().map(|(&id, saved)| (id, Arc::clone(saved)))).collect(),
            closed: self.closed.clone(),
            current: self.current,
            holders: self.holders.clone(),
        }
    }

    /// Restores what was saved of this consumer. It looks out for nothing then.
    pub(crate) fn restore(&mut self, saved: &SavedConsumer) {
        self.lookout = None;
        let mut before = std::mem::take(&mut self.accounts);
        let held = std::mem::replace(&mut self.holders, saved.holders.clone());
        let mut others: BTreeSet<AccountId> = BTreeSet::new();
        for (id, then) in &saved.accounts {
            let process = then.book.process;
            let like = before.get(id).is_some_and(|account| account.is_like(then));
            if !like || held.get(&process) != saved.holders.get(&process) {
                others.insert(process);
            }
        }
        self.asleep.clear();
        for (&id, then) in &saved.accounts {
            match before.remove(&id).filter(|_| !others.contains(&then.book.process)) {
                Some(mut account) => {
                    account.restore(then);
                    self.accounts.insert(id, account);
                }
                None => drop(self.asleep.insert(id, Arc::clone(then))),
            }
        }
        self.closed.clone_from(&saved.closed);
        self.current = saved.current;
        self.lately = self.accounts.values().map(|account| account.process).collect();
        self.lately.dedup();
        self.wake(self.current);
    }

    /// Makes an account ready to run, with all of its process.
    fn wake(&mut self, id: AccountId) {
        let known = self.accounts.get(&id).map(|account| account.process);
        let Some(process) = known.or_else(|| self.asleep.get(&id).map(|saved| saved.book.process)) else {
            return;
        };
        if known.is_none() {
            let holder = self.holders.get(&process).copied();
            let all = self.asleep.extract_if(.., |_, saved| saved.book.process == process);
            let mut all: Vec<(AccountId, Arc<SavedAccount>)> = all.collect();
            // Where threads share a simulator, the one that has it comes first.
            all.sort_by_key(|(id, _)| holder != Some(*id));
            for (id, saved) in all {
                let mut account = Account::new(self.initial.emptied(), Default::default(), process);
                if holder.is_some_and(|holder| holder != id) {
                    account = account.thread();
                }
                account.restore(&saved);
                self.accounts.insert(id, account);
                self.hand_simulator(holder.unwrap_or(id), id);
                if let Some(account) = self.accounts.get_mut(&id) {
                    account.renumber(&saved, &self.plans);
                }
                self.hand_simulator(id, holder.unwrap_or(id));
            }
        }
        self.lately.retain(|&lately| lately != process);
        self.lately.push(process);
        while self.lately.len() > AWAKE {
            let process = self.lately.remove(0);
            let resting = self.accounts.extract_if(.., |_, account| account.process == process);
            self.asleep.extend(resting.map(|(id, account)| (id, Arc::new(account.save()))));
        }
    }

    /// Bytes that the accounts take of processes that do not run.
    pub(crate) fn resting_bytes(&self) -> u64 {
        let asleep: u64 = self.asleep.values().map(|saved| saved.bytes() + saved.call_bytes()).sum();
        asleep + self.closed.values().map(|book| book.bytes()).sum::<u64>()
    }

    /// Adds new plans, whose ids count up, then consumes a buffer of records. Returns the number of
    /// their instructions.
    pub(crate) fn consume(&mut self, words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        self.consume_words(words, plans, None)
    }

    /// Consumes a buffer, and what was counted with it. The simulation of the current account may
    /// be put off until [`Self::recall`]. Returns the number of instructions.
    pub(super) fn consume_buffer(&mut self, full: &Arc<Full>, deferred: Option<&Deferred>) -> u64 {
        let Handed { plans, tallies, .. } = &full.handed;
        let reading = Reading { full, deferred };
        let instructions = self.consume_words(full.records(), plans, Some(reading));
        if let Some(deferred) = deferred.filter(|_| !tallies.is_empty()) {
            self.recall(deferred);
        }
        tallies.iter().for_each(|(account, tally)| self.add_executions(*account, tally));
        instructions
    }

    fn consume_words(&mut self, mut words: &[u64], plans: &[Arc<Plan>], reading: Option<Reading>) -> u64 {
        self.add_plans(plans);
        if self.lookout.is_some() {
            return self.consume_noting(words, plans);
        }
        let mut instructions = 0;
        loop {
            let (walked, rest) = match self.accounts.get_mut(&self.current) {
                Some(account) if account.waits => pass(words, |plan| begins_counts(&self.plans, plan)),
                Some(account) if account.counting => account.walk(words, &self.plans, reading),
                _ => pass(words, |_| false),
            };
            instructions += walked;
            let ends = |&word: &u64| self.calls.is_some() || Control::is(Header::of(word));
            let deferred = reading.and_then(|reading| reading.deferred);
            if let Some(deferred) = deferred.filter(|_| rest.first().is_some_and(ends)) {
                self.recall(deferred);
            }
            match self.after(rest) {
                Some(rest) => words = rest,
                None => return instructions,
            }
        }
    }

    /// Ends the simulation that was put off.
    pub(super) fn recall(&mut self, deferred: &Deferred) {
        if let Some(account) = self.accounts.get_mut(&self.current) {
            account.recall(deferred);
        }
    }

    /// Tells if there is simulation that may be put off.
    pub(super) fn may_defer(&self) -> bool {
        self.calls.is_some() || self.initial.has_caches()
    }

    /// Adds what generated code has counted for an account.
    pub(super) fn add_executions(&mut self, id: AccountId, tally: &Tally) {
        self.wake(id);
        if let Some(account) = self.accounts.get_mut(&id).filter(|account| account.counting) {
            account.add_executions(tally, &self.plans);
        }
        self.wake(self.current);
    }

    /// Gives an account copies of predictors.
    pub(super) fn set_predictors(&mut self, id: AccountId, predictors: &Predictors) {
        self.wake(id);
        if let Some(account) = self.accounts.get_mut(&id) {
            account.set_predictors(predictors);
        }
        self.wake(self.current);
    }

    /// Gives the caches of accounts these contents.
    pub(super) fn set_caches(&mut self, all: &SavedLevels) {
        for (&id, saved) in all {
            self.wake(id);
            if let Some(account) = self.accounts.get_mut(&id) {
                account.part.set_caches(saved);
            }
        }
        self.wake(self.current);
    }

    fn add_plans(&mut self, plans: &[Arc<Plan>]) {
        if plans.is_empty() {
            return;
        }
        self.plans.extend(plans.iter().cloned());
        // Only the first account may number all.
        if let Some(account) = self.accounts.get_mut(&AccountId::FIRST) {
            account.add_all(plans);
        }
    }

    /// Obeys the record that ended a walk, or makes its plan known. Returns the words to walk next.
    #[inline(never)]
    fn after<'w>(&mut self, words: &'w [u64]) -> Option<&'w [u64]> {
        let header = Header::of(*words.first()?);
        if Control::is(header) {
            let (record, rest) = words.split_at_checked(1 + header.slots)?;
            self.obey(Control::of(record.get(1..)?)?);
            return Some(rest);
        }
        (self.begin_counts(header.plan) || self.learn(header.plan)).then_some(words)
    }

    /// Counts the current process from here on if it waits for this plan. Returns whether it did.
    fn begin_counts(&mut self, plan: PlanId) -> bool {
        let waiting = self.accounts.get(&self.current).filter(|account| account.waits);
        let Some(process) = waiting.map(|account| account.process) else { return false };
        let begins = begins_counts(&self.plans, plan);
        if begins {
            // Threads that are counted apart begin together.
            for account in self.accounts.values_mut().filter(|account| account.process == process) {
                account.waits = false;
            }
        }
        begins
    }

    /// Makes a plan known to the current account. Returns false if that changes nothing.
    fn learn(&mut self, plan: PlanId) -> bool {
        self.accounts.get_mut(&self.current).is_some_and(|account| account.learn(plan, &self.plans))
    }

    /// Consumes a buffer record by record, and notes what the lookout wants.
    fn consume_noting(&mut self, mut words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        let Some(mut lookout) = self.lookout.take() else { return 0 };
        lookout.add_plans(plans);
        let mut instructions = 0;
        while let Some(&word) = words.first() {
            let header = Header::of(word);
            let Some((record, next)) = words.split_at_checked(1 + header.slots) else { break };
            words = next;
            let slots = record.get(1..).unwrap_or_default();
            if Control::is(header) {
                if let Some(control) = Control::of(slots) {
                    lookout.obey(control);
                    self.obey(control);
                }
                continue;
            }
            instructions += header.instructions;
            lookout.accesses(header, slots);
            self.begin_counts(header.plan);
            self.learn(header.plan);
            let counted = |account: &&mut Account| account.counting && !account.waits;
            if let Some(account) = self.accounts.get_mut(&self.current).filter(counted) {
                if lookout.wants_misses() {
                    let mut note = |index, pc, miss| lookout.miss(header, index, pc, miss);
                    account.walk_noting(record, &self.plans, &mut note);
                } else {
                    account.walk(record, &self.plans, None);
                }
            }
            lookout.pass(header);
        }
        self.lookout = Some(lookout);
        instructions
    }

    #[cold]
    fn obey(&mut self, control: Control) {
        match control {
            Control::Switch(account) => {
                self.current = account;
                self.wake(account);
                self.claim_simulator(account);
            }
            Control::Open(account, opening) => self.open(account, opening),
            Control::Close(account) => {
                self.release_simulator(account);
                if self.calls.is_some() {
                    self.wake(account);
                }
                let ended = self.accounts.remove(&account).map(|account| account.close(&self.plans));
                let asleep = self.asleep.remove(&account).map(|saved| saved.book.clone());
                if let Some(book) = ended.or(asleep) {
                    self.closed.insert(account, Arc::new(book));
                }
            }
            Control::Drop(account) => {
                self.release_simulator(account);
                self.accounts.remove(&account);
                self.asleep.remove(&account);
                self.closed.remove(&account);
            }
            Control::Reset(account, counts) => {
                self.wake(account);
                if let Some(account) = self.accounts.get_mut(&account) {
                    account.reset(counts, &self.plans);
                    account.waits = self.waits;
                }
            }
            Control::Count(counting) => {
                let process = self.accounts.get(&self.current).map(|account| account.process);
                // Threads that are counted apart are switched together.
                for account in self.accounts.values_mut().filter(|account| Some(account.process) == process) {
                    account.set_counting(counting);
                }
            }
            Control::Task(task) => {
                let account = self.accounts.get_mut(&self.current);
                if let Some(calls) = account.and_then(|account| account.calls.as_mut()) {
                    calls.switch(task);
                }
            }
            Control::Collect(what) => {
                if let Some(account) = self.accounts.get_mut(&self.current) {
                    account.collect(what, &self.plans);
                }
            }
            // Only the order of moments changes.
            Control::Hold(..) | Control::Resume(..) => {}
        }
    }

    fn open(&mut self, id: AccountId, opening: Opening) {
        let count = self.plans.len();
        self.accounts.values_mut().for_each(|account| account.number_own(count));
        match opening {
            Opening::Empty => {}
            Opening::Copy { of, .. } => self.wake(of),
            Opening::Shared { with } => self.wake(with),
        }
        let fresh = || Account::new(self.initial.emptied(), Default::default(), id).following(self.calls);
        let account = match opening {
            Opening::Empty => fresh(),
            Opening::Copy { of, counts } => {
                self.claim_simulator(of);
                match self.accounts.get(&of) {
                    Some(parent) => {
                        let inherited = if counts { self.books(parent.process) } else { Vec::new() };
                        parent.child(id, inherited, &self.plans)
                    }
                    None => {
                        Account::new(self.initial.emptied(), Default::default(), id).following(self.calls)
                    }
                }
            }
            Opening::Shared { with } => match self.accounts.get(&with) {
                Some(other) => {
                    let process = other.process;
                    self.holders.entry(process).or_insert(with);
                    other.thread()
                }
                None => fresh(),
            },
        };
        self.accounts.insert(id, account);
        if let Some(account) = self.accounts.get_mut(&id) {
            account.number_own(0);
        }
        self.wake(id);
        self.wake(self.current);
    }

    /// The counts of all threads of a process so far.
    fn books(&self, process: AccountId) -> Vec<Arc<Book>> {
        let closed = self.closed.values().filter(|book| book.process == process).map(Arc::clone);
        let open = self.accounts.values().filter(|account| account.process == process);
        closed.chain(open.map(|account| Arc::new(account.book(&self.plans)))).collect()
    }

    /// Gives an account the simulator of its process, which another thread's account may have.
    fn claim_simulator(&mut self, id: AccountId) {
        let Some(process) = self.accounts.get(&id).map(|account| account.process) else { return };
        let Some(holder) = self.holders.get_mut(&process) else { return };
        let before = std::mem::replace(holder, id);
        self.hand_simulator(before, id);
    }

    /// Gives the simulator that an account has to another thread's.
    fn release_simulator(&mut self, id: AccountId) {
        if self.holders.values().any(|&holder| holder == id) {
            self.wake(id);
        }
        let Some(process) = self.accounts.get(&id).map(|account| account.process) else { return };
        if self.holders.get(&process) != Some(&id) {
            return;
        }
        let other = self.accounts.iter().find(|(other, account)| **other != id && account.process == process);
        match other.map(|(&other, _)| other) {
            Some(other) => self.claim_simulator(other),
            None => drop(self.holders.remove(&process)),
        }
    }

    fn hand_simulator(&mut self, from: AccountId, to: AccountId) {
        if from == to {
            return;
        }
        let Some(mut giving) = self.accounts.remove(&from) else { return };
        if let Some(taking) = self.accounts.get_mut(&to) {
            giving.part.swap_simulators(&mut taking.part);
        }
        self.accounts.insert(from, giving);
    }

    /// The caches of the current account, if this part simulates them or LL.
    pub(crate) fn caches(&self) -> Option<&Hierarchy> {
        self.accounts.get(&self.current).and_then(|account| account.part.simulated_caches())
    }

    /// The accounts of all processes, those that have ended included, in the order in which they
    /// were opened.
    #[cfg(test)]
    pub(super) fn accounts(&self) -> Vec<AccountId> {
        let open = self.accounts.keys().chain(self.asleep.keys());
        let mut all: Vec<AccountId> = open.chain(self.closed.keys()).copied().collect();
        all.sort_unstable();
        all
    }

    /// Calls `f` with each set of counts of an account and the plans that it is by.
    pub(super) fn each(&self, account: AccountId, f: &mut dyn FnMut(&PlanIndex, &Counted)) {
        if let Some(account) = self.accounts.get(&account) {
            account.each(&self.plans, f);
        } else if let Some(saved) = self.asleep.get(&account) {
            saved.book.each(&self.plans, f);
        } else if let Some(book) = self.closed.get(&account) {
            book.each(&self.plans, f);
        }
    }

    /// The call graph of an account with its costs, if calls are followed.
    pub(crate) fn calls(&self, account: AccountId) -> Option<CallCosts> {
        self.calls?;
        let mut all = CallCosts::default();
        if let Some(account) = self.accounts.get(&account) {
            account.add_calls(&self.plans, &mut all);
        } else if let Some(book) = self.closed.get(&account) {
            book.add_calls(&mut all);
        } else if self.asleep.contains_key(&account) {
            let mut awake = self.clone();
            awake.wake(account);
            awake.accounts.get(&account)?.add_calls(&self.plans, &mut all);
        }
        Some(all)
    }

    /// Ends the calls that have not returned, as nothing runs any more: to put the call graphs
    /// together takes less memory then.
    pub(crate) fn unwind(&mut self) {
        self.accounts.values_mut().for_each(Account::unwind);
    }

    /// The parts of the call graph of an account that have been dumped.
    pub(crate) fn dumps(&self, account: AccountId) -> Dumps {
        let mut all = Dumps::default();
        if let Some(account) = self.accounts.get(&account) {
            account.add_dumps(&mut all);
        } else if let Some(saved) = self.asleep.get(&account) {
            saved.book.add_dumps(&mut all);
        } else if let Some(book) = self.closed.get(&account) {
            book.add_dumps(&mut all);
        }
        all
    }

    /// Looks out for these targets and no others after the moment `since`; the next record begins
    /// at the moment `now`.
    pub(crate) fn look_out(&mut self, targets: Vec<Target>, now: u64, since: u64) {
        let lookout = || Box::new(Lookout::new(targets.clone(), self.plans.clone(), now, since));
        self.lookout = (!targets.is_empty()).then(lookout);
    }

    /// The sightings, and the moment until which everything is known; `None` if nothing is looked
    /// out for.
    pub(crate) fn seen(&self) -> Option<(&[Sighting], u64)> {
        self.lookout.as_ref().map(|lookout| lookout.seen())
    }
}

/// Tests whether executing a plan begins the counts of a process that waits for that.
fn begins_counts(plans: &[Arc<Plan>], plan: PlanId) -> bool {
    plans.get(plan.0 as usize).is_some_and(|plan| plan.begins_counts)
}

/// Passes records that are not counted, to the next instruction or one of a plan that `ends` them.
/// Returns the number of their instructions and the words that are left.
fn pass(mut words: &[u64], ends: impl Fn(PlanId) -> bool) -> (u64, &[u64]) {
    let mut instructions = 0;
    while let Some(&word) = words.first() {
        let header = Header::of(word);
        let Some(next) = words.get(1 + header.slots..) else { break };
        if Control::is(header) || ends(header.plan) {
            break;
        }
        instructions += header.instructions;
        words = next;
    }
    (instructions, words)
}
