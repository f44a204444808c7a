//! Executions of blocks as generated code counts them itself: in place of the trace where nothing
//! but instructions is counted.

use std::collections::BTreeMap;

use crate::hooks::control::AccountId;
use crate::hooks::record::PlanId;

/// Accounts with counts of their own before the consumers are told of them.
const ACCOUNTS: usize = 16;

/// Counts of executions since the consumers were last told.
#[derive(Debug)]
pub(super) struct Executions {
    /// Those of the current account, by plan.
    counts: Vec<u64>,
    account: AccountId,
    /// Those of other accounts.
    others: BTreeMap<AccountId, Vec<u64>>,
    /// Plan of the last block, while a fault may take it back.
    pub(super) last: Option<PlanId>,
}

impl Executions {
    /// Begins to count for an account.
    pub(super) fn new(account: AccountId) -> Executions {
        Executions { counts: Vec::new(), account, others: BTreeMap::new(), last: None }
    }

    /// The counts of the current account, with room for so many plans.
    pub(super) fn counts(&mut self, plans: usize) -> &mut [u64] {
        if self.counts.len() < plans {
            self.counts.resize(plans, 0);
        }
        &mut self.counts
    }

    /// Counts an execution of a plan, which is then the last.
    pub(super) fn add(&mut self, plan: PlanId) {
        if let Some(count) = self.counts(plan.0 as usize + 1).get_mut(plan.0 as usize) {
            *count += 1;
        }
        self.last = Some(plan);
    }

    /// Counts one of a prefix in place of the last execution, which was of a plan.
    pub(super) fn shorten(&mut self, plan: PlanId, prefix: PlanId) {
        if let Some(count) = self.counts.get_mut(plan.0 as usize) {
            *count -= 1;
        }
        self.add(prefix);
    }

    /// Goes on with another account. Returns true if the consumers should be told.
    pub(super) fn switch(&mut self, account: AccountId) -> bool {
        self.last = None;
        if account != self.account {
            let next = self.others.remove(&account).unwrap_or_default();
            let before = std::mem::replace(&mut self.counts, next);
            self.others.insert(std::mem::replace(&mut self.account, account), before);
        }
        self.others.len() >= ACCOUNTS
    }

    /// Calls `f` with each account and its counts, and sets them to zero.
    pub(super) fn take(&mut self, mut f: impl FnMut(AccountId, &[u64])) {
        self.last = None;
        f(self.account, &self.counts);
        self.counts.fill(0);
        std::mem::take(&mut self.others).into_iter().for_each(|(account, counts)| f(account, &counts));
    }

    /// Forgets all counts, and goes on with an account.
    pub(super) fn restart(&mut self, account: AccountId) {
        self.take(|_, _| {});
        self.account = account;
    }
}
