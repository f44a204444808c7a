//! Accounts of the recorder: opened, begun anew, ended, and counting switched on and off.

use crate::hooks::callgraph::dumps::Collection;
use crate::hooks::control::{AccountId, ByAccount as _, Control, Opening};
use crate::hooks::executions::Executions;
use crate::hooks::filter::{Drain, Place};
use crate::hooks::recorder::Recorder;

/// Accounts after which what they take is measured. That waits for the consumers.
const MEASURED: usize = 16;

impl Recorder {
    /// Opens an account. Its task begins with [`Recorder::switch_task`]. With `counting`, counting
    /// is on, else it waits for Cachegrind's START request; a copy is as its original.
    pub(crate) fn new_account(&mut self, opening: Opening, counting: bool) -> AccountId {
        self.decide();
        let account = self.tasks.last.next();
        self.tasks.last = account;
        let original = match opening {
            Opening::Empty => None,
            Opening::Copy { of, .. } => Some(of),
            Opening::Shared { with } => Some(with),
        };
        self.control(Control::Open(account, opening));
        if original.is_none() {
            self.filter.open(account);
        }
        if let Some(original) = original {
            let process = self.tasks.process(original);
            match opening {
                Opening::Shared { .. } => drop(self.tasks.threads.insert(account, process)),
                _ => {
                    self.filter.copy(account, process);
                    if let Some(code) = &mut self.code {
                        code.copy(account, process);
                    }
                    if self.tasks.stopped.contains(&process) {
                        self.tasks.stopped.insert(account);
                    }
                }
            }
        } else if !counting {
            self.tasks.stopped.insert(account);
            let current = self.tasks.account;
            self.control(Control::Switch(account));
            self.control(Control::Count(false));
            self.control(Control::Switch(current));
        }
        self.tasks.opened += 1;
        if self.tasks.opened.is_multiple_of(MEASURED) {
            let mut bytes = self.executions.as_ref().map_or(0, Executions::resting_bytes);
            self.link.visit(|_, consumer| bytes += consumer.resting_bytes());
            self.resting_bytes = bytes;
        }
        account
    }

    /// Bytes that accounts took of processes that did not run, when they were last measured.
    pub(crate) fn resting_bytes(&self) -> u64 {
        self.resting_bytes
    }

    /// The account of the current task.
    pub(crate) fn account(&self) -> AccountId {
        self.tasks.account
    }

    fn end_account(&mut self, account: AccountId, control: Control) {
        if !account.is_counted() {
            return;
        }
        self.decide();
        let current = (self.tasks.task, self.tasks.account);
        let parked = self.tasks.parked.iter().filter(|(_, parked)| parked.account == account);
        let parked: Vec<u32> = parked.map(|(&task, _)| task).collect();
        for task in parked.iter().copied() {
            self.enter(task, account);
            self.decide();
        }
        if !parked.is_empty() {
            self.enter(current.0, current.1);
        }
        let process = self.tasks.end(account);
        if self.tasks.has_ended(process) {
            self.filter.forget(process);
            self.tasks.stopped.remove(&process);
        }
        self.control(control);
        if account == self.tasks.account {
            // What follows until the next switch is nobody's.
            self.tasks.account = AccountId::NONE;
            self.filter.enter(AccountId::NONE, Place::default());
        }
    }

    /// Ends an account, and keeps its counts for [`Recorder::visit`] and [`Recorder::finish`].
    pub(crate) fn close_account(&mut self, account: AccountId) {
        self.end_account(account, Control::Close(account));
    }

    /// Ends an account and drops its counts.
    pub(crate) fn drop_account(&mut self, account: AccountId) {
        self.end_account(account, Control::Drop(account));
    }

    /// Begins the program that execve(2) has started: caches and predictors are empty. Its counts
    /// begin at zero, or with `counts` go on.
    pub(crate) fn reset_account(&mut self, account: AccountId, counts: bool) {
        if !account.is_counted() {
            return;
        }
        self.decide();
        let process = self.tasks.process(account);
        self.tasks.drop_parked(process);
        self.filter.forget(process);
        if let Some(code) = self.code.as_mut().filter(|_| !counts) {
            code.forget(process);
        }
        self.control(Control::Reset(account, counts));
    }

    /// Switches counting of the current process on or off from here on, where control is at `pc`.
    /// Returns false if it was so already.
    pub(crate) fn set_counting(&mut self, counting: bool, pc: u64) -> bool {
        let account = self.tasks.account;
        if !account.is_counted() {
            // It makes no difference, and is none.
            return true;
        }
        let process = self.tasks.process(account);
        let stopped = &mut self.tasks.stopped;
        let changed = if counting { stopped.remove(&process) } else { stopped.insert(process) };
        if changed {
            // `pc` decides the last branch that is counted, and then precedes the first one.
            self.point(pc);
            self.decide();
            self.control(Control::Count(counting));
            self.point(pc);
        }
        changed
    }

    /// Switches counting of all processes with these accounts from here on, where control is at
    /// `pc`.
    pub(crate) fn set_counting_of(&mut self, accounts: &[AccountId], counting: bool, pc: u64) {
        self.point(pc);
        self.hand_over(Drain::All);
        self.link.visit(|_, consumer| consumer.set_counting(accounts, counting));
        for &account in accounts {
            let process = self.tasks.process(account);
            if counting {
                self.tasks.stopped.remove(&process);
            } else {
                self.tasks.stopped.insert(process);
            }
        }
        let (current, counted) = (self.tasks.account, self.counts(self.tasks.account));
        if let Some(predictors) = self.executions.as_mut().and_then(|its| its.predictors.as_mut()) {
            predictors.switch(current, counted);
        }
        if let Some(caches) = self.inline_caches() {
            caches.switch(current, counted);
        }
        self.point(pc);
    }

    /// Tells if what the process with this account executes is counted now.
    pub(crate) fn counts(&self, account: AccountId) -> bool {
        !self.tasks.stopped.contains(&self.tasks.process(account))
    }

    /// Makes a part of what the calls of these accounts have cost.
    pub(crate) fn dump(&mut self, accounts: &[AccountId]) {
        self.hand_over(Drain::All);
        self.link.visit(|_, consumer| consumer.dump(accounts));
    }

    /// Does something with the costs of the current account's calls, where control is at `pc`.
    pub(crate) fn collect(&mut self, what: Collection, pc: u64) {
        self.point(pc);
        self.decide();
        self.control(Control::Collect(what));
        self.point(pc);
    }
}
