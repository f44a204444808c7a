//! What somebody outside of the run asks for about the counts of accounts.

use std::sync::Arc;

use crate::hooks::account::Account;
use crate::hooks::consumer::{Consumer, SavedConsumer};
use crate::hooks::control::AccountId;
use crate::hooks::plan::Plan;

impl Consumer {
    /// Sets the counts of these accounts to zero. The simulators keep their contents.
    pub(crate) fn zero(&mut self, accounts: &[AccountId]) {
        accounts.iter().for_each(|id| drop(self.closed.remove(id)));
        self.of_each(accounts, |account, _| account.zero());
    }

    /// Makes a part of what the calls of these accounts have cost, if calls are followed.
    pub(crate) fn dump(&mut self, accounts: &[AccountId]) {
        self.of_each(accounts, |account, plans| account.dump(plans));
    }

    /// Switches counting of these accounts.
    pub(crate) fn set_counting(&mut self, accounts: &[AccountId], counting: bool) {
        self.of_each(accounts, |account, _| account.set_counting(counting));
    }

    /// Calls `act` with those of the accounts that have not ended, and all plans.
    fn of_each(&mut self, accounts: &[AccountId], act: impl Fn(&mut Account, &[Arc<Plan>])) {
        for &id in accounts {
            self.wake(id);
            if let Some(account) = self.accounts.get_mut(&id) {
                act(account, &self.plans);
            }
        }
        self.wake(self.current);
    }
}

impl SavedConsumer {
    /// Bytes that its call graphs take, roughly.
    pub(crate) fn call_bytes(&self) -> u64 {
        self.accounts.values().map(|account| account.call_bytes()).sum()
    }
}
