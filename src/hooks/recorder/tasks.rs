//! What the recorder knows of tasks and their accounts. It is a value, and part of a checkpoint.

use std::collections::{BTreeMap, BTreeSet};

use crate::hooks::control::AccountId;
use crate::hooks::filter::Place;
use crate::hooks::record::instructions;

/// Accounts and tasks as the producer needs them.
#[derive(Clone, Debug)]
pub(super) struct Tasks {
    /// The current task.
    pub(super) task: u32,
    /// Its account.
    pub(super) account: AccountId,
    /// The account opened last.
    pub(super) last: AccountId,
    /// Accounts of threads that are counted apart, with that of their process, which has the
    /// memory.
    pub(super) threads: BTreeMap<AccountId, AccountId>,
    /// Processes with threads that are counted apart, of which the account has been ended.
    pub(super) headless: BTreeSet<AccountId>,
    /// Accounts opened so far.
    pub(super) opened: usize,
    /// Processes between Cachegrind's STOP and START requests, by the account that has the memory.
    pub(super) stopped: BTreeSet<AccountId>,
    /// The others, where the filter follows anything.
    pub(super) parked: BTreeMap<u32, Parked>,
    /// Instructions of the records that are parked.
    pub(super) held: u64,
    /// Instructions that no consumer sees: of tasks without an account, and those that generated
    /// code counts itself.
    pub(super) unrecorded: u64,
}

impl Tasks {
    /// The first task alone, which is counted.
    pub(super) fn first() -> Tasks {
        Tasks {
            task: 0,
            account: AccountId::FIRST,
            last: AccountId::FIRST,
            opened: 0,
            threads: BTreeMap::new(),
            headless: BTreeSet::new(),
            stopped: BTreeSet::new(),
            parked: BTreeMap::new(),
            held: 0,
            unrecorded: 0,
        }
    }

    /// Instructions that neither consumers nor the buffer have.
    pub(super) fn unseen(&self) -> u64 {
        self.unrecorded + self.held
    }

    /// Forgets an account that has ended. Returns the one whose memory it had.
    pub(super) fn end(&mut self, account: AccountId) -> AccountId {
        let process = self.threads.remove(&account);
        if process.is_none() {
            self.headless.insert(account);
        }
        process.unwrap_or(account)
    }

    /// Drops what the threads of a process have left undecided that ended with its program.
    pub(super) fn drop_parked(&mut self, process: AccountId) {
        let threads = &self.threads;
        let its = |parked: &Parked| threads.get(&parked.account).unwrap_or(&parked.account) == &process;
        for (_, parked) in self.parked.extract_if(.., |_, parked| its(parked)) {
            let dropped = instructions(&parked.tail);
            self.held -= dropped;
            self.unrecorded += dropped;
        }
    }

    /// Tells if the accounts of all threads of a process have ended, the first one included.
    pub(super) fn has_ended(&mut self, process: AccountId) -> bool {
        !self.threads.values().any(|&of| of == process) && self.headless.remove(&process)
    }

    /// The account whose memory a task of this account has.
    pub(super) fn process(&self, account: AccountId) -> AccountId {
        self.threads.get(&account).copied().unwrap_or(account)
    }
}

/// Task that does not run.
#[derive(Clone, Debug)]
pub(super) struct Parked {
    pub(super) account: AccountId,
    pub(super) place: Place,
    /// Records that a fault of the task may still take back.
    pub(super) tail: Vec<u64>,
}
