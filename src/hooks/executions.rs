//! Counts that generated code makes itself: executions of blocks, in place of a record for each,
//! and mispredictions.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::hooks::control::AccountId;
use crate::hooks::counts::Repeated;
use crate::hooks::inline_caches::InlineCaches;
use crate::hooks::inline_predictors::InlinePredictors;
use crate::hooks::misses_below::Counters;
use crate::hooks::record::PlanId;

/// Accounts with counts of their own before the consumers are told of them.
const ACCOUNTS: usize = 16;

/// Counts of a plan, as generated code adds to them. They are small so that more of them are in the
/// host's caches; the consumers are told of them before one overflows ([`MOST_UNTOLD`]).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Executions.
    pub(crate) executed: u32,
    /// Mispredictions of the branch at its end.
    pub(crate) mispredicted: u32,
}

/// Executions, of all plans together, after which the consumers are told. Each has two
/// mispredictions at most: a repeated string instruction that compares has two branches.
pub(super) const MOST_UNTOLD: u64 = 1 << 30;

/// Counts of an account since the consumers were last told.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// By plan.
    pub(super) counts: Vec<Count>,
    /// Repeated string instructions, by plan.
    pub(super) repeated: Vec<Repeated>,
    /// Mispredictions of branches that do not end a block, by plan and index of the instruction.
    pub(super) inner: FxHashMap<(PlanId, u16), u64>,
    /// Misses of the caches.
    pub(super) missed: Counters,
}

impl Tally {
    /// Tells if there is nothing to tell.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == Count::default())
            && self.inner.is_empty()
            && self.missed.iter().next().is_none()
            && self.repeated.iter().all(|repeated| *repeated == Repeated::default())
    }

    fn clear(&mut self) {
        self.counts.fill(Count::default());
        self.repeated.fill(Repeated::default());
        self.inner.clear();
        self.missed.set(&[]);
    }

    /// The counts of the repeated string instruction at the end of a plan.
    pub(super) fn repeated(&mut self, plan: PlanId) -> &mut Repeated {
        let at = plan.0 as usize;
        if self.repeated.len() <= at {
            self.repeated.resize(at + 1, Repeated::default());
        }
        &mut self.repeated[at]
    }
}

/// Counts of executions since the consumers were last told.
#[derive(Debug)]
pub(super) struct Executions {
    /// Those of the current account.
    pub(super) tally: Tally,
    account: AccountId,
    /// Those of other accounts.
    others: BTreeMap<AccountId, Tally>,
    /// Executions, at most, since the consumers were last told.
    untold: u64,
    /// Plan of the last block, while a fault may take it back.
    pub(super) last: Option<PlanId>,
    /// Prefix of a plan whose branch waits for where control goes.
    pub(super) waits: Option<PlanId>,
    /// Predictors that generated code drives, if branches are simulated.
    pub(super) predictors: Option<InlinePredictors>,
    /// Caches that generated code drives, if it does.
    pub(super) caches: Option<InlineCaches>,
}

impl Executions {
    /// Begins to count for an account.
    pub(super) fn new(
        account: AccountId,
        predictors: Option<InlinePredictors>,
        caches: Option<InlineCaches>,
    ) -> Executions {
        let others = BTreeMap::new();
        let (tally, untold) = (Tally::default(), 0);
        Executions { tally, account, others, untold, last: None, waits: None, predictors, caches }
    }

    /// Bytes that the simulators take of accounts that do not run.
    pub(super) fn resting_bytes(&self) -> u64 {
        let caches = self.caches.as_ref().map_or(0, InlineCaches::resting_bytes);
        caches + self.predictors.as_ref().map_or(0, InlinePredictors::resting_bytes)
    }

    /// Makes the accesses to LL that wait, if generated code drives the caches, and counts what
    /// missed.
    pub(super) fn settle(&mut self) {
        if let Some(caches) = &mut self.caches {
            caches.settle(&mut self.tally.missed);
        }
    }

    /// Learns of at most so many executions.
    pub(super) fn add_untold(&mut self, most: u64) {
        self.untold += most;
    }

    /// Tells if the consumers should be told, as a count might overflow.
    pub(super) fn are_many(&self) -> bool {
        self.untold >= MOST_UNTOLD
    }

    /// The current account.
    pub(super) fn account(&self) -> AccountId {
        self.account
    }

    /// The counts of the current account, with room for so many plans.
    pub(super) fn counts(&mut self, plans: usize) -> &mut [Count] {
        if self.tally.counts.len() < plans {
            self.tally.counts.resize(plans, Count::default());
        }
        &mut self.tally.counts
    }

    /// Counts an execution of a plan, which is then the last.
    pub(super) fn add(&mut self, plan: PlanId) {
        if let Some(count) = self.counts(plan.0 as usize + 1).get_mut(plan.0 as usize) {
            count.executed += 1;
        }
        self.last = Some(plan);
    }

    /// Counts a misprediction of the branch at the end of a plan.
    pub(super) fn add_mispredicted(&mut self, plan: PlanId) {
        if let Some(count) = self.counts(plan.0 as usize + 1).get_mut(plan.0 as usize) {
            count.mispredicted += 1;
        }
    }

    /// Counts one of a prefix in place of the last execution, which was of a plan.
    pub(super) fn shorten(&mut self, plan: PlanId, prefix: PlanId) {
        if let Some(count) = self.tally.counts.get_mut(plan.0 as usize) {
            count.executed -= 1;
        }
        self.add(prefix);
    }

    /// Goes on with another account. Returns true if the consumers should be told.
    pub(super) fn switch(&mut self, account: AccountId) -> bool {
        self.last = None;
        if account != self.account {
            let next = self.others.remove(&account).unwrap_or_default();
            let before = std::mem::replace(&mut self.tally, next);
            self.others.insert(std::mem::replace(&mut self.account, account), before);
        }
        self.others.len() >= ACCOUNTS
    }

    /// Takes the counts of all accounts that have any, and sets them to zero.
    pub(super) fn take(&mut self) -> Vec<(AccountId, Tally)> {
        (self.last, self.untold) = (None, 0);
        let mut all: Vec<(AccountId, Tally)> = std::mem::take(&mut self.others).into_iter().collect();
        if !self.tally.is_empty() {
            all.push((self.account, self.tally.clone()));
            self.tally.clear();
        }
        all.retain(|(_, tally)| !tally.is_empty());
        all
    }

    /// Forgets all counts, and goes on with an account.
    pub(super) fn restart(&mut self, account: AccountId) {
        self.take();
        self.waits = None;
        self.account = account;
    }
}
