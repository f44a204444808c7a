//! Consumers of the trace. Each walks plans and records together and drives one simulator for each
//! account.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::hooks::account::{Account, Book, SavedAccount};
pub(crate) use crate::hooks::branches::Predictors;
use crate::hooks::control::{AccountId, Control, Opening};
use crate::hooks::counts::Counted;
use crate::hooks::lookout::Lookout;
pub(crate) use crate::hooks::lookout::{Miss, Sighting, Target, Watched};
use crate::hooks::part::Part;
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::record::{Header, PlanId};
use crate::sim::Hierarchy;

/// One part of the simulation of a run: caches or predictors, or only counts.
#[derive(Clone, Debug)]
pub(crate) struct Consumer {
    /// All plans by id.
    plans: Vec<Arc<Plan>>,
    /// The simulator in its initial state, without plans.
    initial: Part,
    accounts: BTreeMap<AccountId, Account>,
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
    accounts: Vec<(AccountId, SavedAccount)>,
    closed: BTreeMap<AccountId, Arc<Book>>,
    current: AccountId,
    holders: BTreeMap<AccountId, AccountId>,
}

impl Consumer {
    /// Creates a consumer for each simulator. Every consumer counts references; without a simulator
    /// there is one for them.
    pub(crate) fn parts(caches: Option<Hierarchy>, predictors: Option<Predictors>) -> Vec<Consumer> {
        let parts = caches.map(Part::caches).into_iter().chain(predictors.map(Part::branches));
        let mut parts: Vec<Consumer> = parts.map(Consumer::of).collect();
        if parts.is_empty() {
            parts.push(Consumer::of(Part::references()));
        }
        parts
    }

    fn of(part: Part) -> Consumer {
        let initial = part.emptied();
        let first = Account::new(part, Default::default(), AccountId::FIRST);
        Consumer {
            plans: Vec::new(),
            initial,
            accounts: BTreeMap::from([(AccountId::FIRST, first)]),
            closed: BTreeMap::new(),
            current: AccountId::FIRST,
            holders: BTreeMap::new(),
            lookout: None,
        }
    }

    /// Saves counts and simulators.
    pub(crate) fn save(&self) -> SavedConsumer {
        SavedConsumer {
            accounts: self.accounts.iter().map(|(&id, account)| (id, account.save())).collect(),
            closed: self.closed.clone(),
            current: self.current,
            holders: self.holders.clone(),
        }
    }

    /// Restores what was saved of this consumer. It looks out for nothing then.
    pub(crate) fn restore(&mut self, saved: &SavedConsumer) {
        self.lookout = None;
        let mut before = std::mem::take(&mut self.accounts);
        let held = std::mem::take(&mut self.holders);
        // Processes whose simulator numbers its lines otherwise now.
        let mut others: BTreeSet<AccountId> = BTreeSet::new();
        // Where threads share a simulator, the one that has it comes first.
        let holds = |id: AccountId| saved.holders.values().any(|&holder| holder == id);
        let (first, rest): (Vec<_>, Vec<_>) = saved.accounts.iter().partition(|(id, _)| holds(*id));
        for (id, then) in first.into_iter().chain(rest) {
            let shared = saved.holders.get(&then.process).copied();
            let same = shared == held.get(&then.process).copied() && !others.contains(&then.process);
            let like = before.remove(id).filter(|account| same && account.is_like(then));
            let (mut account, is_like) = match like {
                Some(account) => (account, true),
                None => (Account::new(self.initial.emptied(), Default::default(), then.process), false),
            };
            account.restore(then);
            self.accounts.insert(*id, account);
            if is_like {
                continue;
            }
            others.insert(then.process);
            if let Some(holder) = shared {
                self.hand_simulator(holder, *id);
            }
            if let Some(account) = self.accounts.get_mut(id) {
                account.renumber(then, &self.plans);
                account.set_counted(then);
            }
            if let Some(holder) = shared {
                self.hand_simulator(*id, holder);
            }
        }
        self.closed.clone_from(&saved.closed);
        self.holders.clone_from(&saved.holders);
        self.current = saved.current;
    }

    /// Adds new plans, whose ids count up, then consumes a buffer of records. Returns the number of
    /// their instructions.
    pub(crate) fn consume(&mut self, mut words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        self.add_plans(plans);
        if self.lookout.is_some() {
            return self.consume_noting(words, plans);
        }
        let mut instructions = 0;
        loop {
            let (walked, rest) = match self.accounts.get_mut(&self.current) {
                Some(account) if account.counting => account.walk(words),
                _ => pass(words),
            };
            instructions += walked;
            match self.after(rest) {
                Some(rest) => words = rest,
                None => return instructions,
            }
        }
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
        self.learn(header.plan).then_some(words)
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
                Control::of(slots).into_iter().for_each(|control| self.obey(control));
                continue;
            }
            instructions += header.instructions;
            lookout.accesses(header, slots);
            self.learn(header.plan);
            if let Some(account) = self.accounts.get_mut(&self.current).filter(|account| account.counting) {
                if lookout.wants_misses() {
                    account.walk_noting(record, &mut |index, pc, miss| lookout.miss(header, index, pc, miss));
                } else {
                    account.walk(record);
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
                self.claim_simulator(account);
            }
            Control::Open(account, opening) => self.open(account, opening),
            Control::Close(account) => {
                self.release_simulator(account);
                if let Some(ended) = self.accounts.remove(&account) {
                    self.closed.insert(account, Arc::new(ended.book()));
                }
            }
            Control::Drop(account) => {
                self.release_simulator(account);
                self.accounts.remove(&account);
            }
            Control::Reset(account, counts) => {
                if let Some(account) = self.accounts.get_mut(&account) {
                    account.reset(counts, &self.plans);
                }
            }
            Control::Count(counting) => {
                if let Some(account) = self.accounts.get_mut(&self.current) {
                    account.counting = counting;
                }
            }
        }
    }

    fn open(&mut self, id: AccountId, opening: Opening) {
        let count = self.plans.len();
        self.accounts.values_mut().for_each(|account| account.number_own(count));
        let account = match opening {
            Opening::Empty => Account::new(self.initial.emptied(), Default::default(), id),
            Opening::Copy { of, counts } => {
                self.claim_simulator(of);
                match self.accounts.get(&of) {
                    Some(parent) => parent.child(id, counts),
                    None => Account::new(self.initial.emptied(), Default::default(), id),
                }
            }
            Opening::Shared { with } => match self.accounts.get(&with) {
                Some(other) => {
                    let process = other.process;
                    self.holders.entry(process).or_insert(with);
                    other.thread()
                }
                None => Account::new(self.initial.emptied(), Default::default(), id),
            },
        };
        self.accounts.insert(id, account);
        if let Some(account) = self.accounts.get_mut(&id) {
            account.number_own(0);
        }
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

    /// Sets the counts of the current account to zero. The simulators keep their contents.
    pub(crate) fn zero(&mut self) {
        if let Some(account) = self.accounts.get_mut(&self.current) {
            account.zero();
        }
    }

    /// The caches of the current account, if this part simulates them.
    pub(crate) fn caches(&self) -> Option<&Hierarchy> {
        self.accounts.get(&self.current).and_then(|account| account.part.simulated_caches())
    }

    /// The accounts of all processes, those that have ended included, in the order in which they
    /// were opened.
    #[cfg(test)]
    pub(super) fn accounts(&self) -> Vec<AccountId> {
        let mut all: Vec<AccountId> = self.accounts.keys().chain(self.closed.keys()).copied().collect();
        all.sort_unstable();
        all
    }

    /// Calls `f` with each set of counts of an account and the plans that it is by.
    pub(super) fn each(&self, account: AccountId, f: &mut dyn FnMut(&PlanIndex, &Counted)) {
        if let Some(account) = self.accounts.get(&account) {
            account.each(&self.plans, f);
        } else if let Some(book) = self.closed.get(&account) {
            book.each(&self.plans, f);
        }
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

/// Passes records that are not counted, to the next instruction. Returns the number of their
/// instructions and the words that are left.
fn pass(mut words: &[u64]) -> (u64, &[u64]) {
    let mut instructions = 0;
    while let Some(&word) = words.first() {
        let header = Header::of(word);
        let Some(next) = words.get(1 + header.slots..) else { break };
        if Control::is(header) {
            break;
        }
        instructions += header.instructions;
        words = next;
    }
    (instructions, words)
}
