//! The accounts of the processes: which of them are counted, and what is known of each.

use std::collections::BTreeMap;

use crate::hooks::control::{AccountId, Opening};
use crate::hooks::recorder::Recorder;
use crate::kernel::Kernel;
use crate::kernel::arena::{ProcessId, TaskId};
use crate::session::config::Children;

/// A process that is counted.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub account: AccountId,
    pub pid: i32,
    pub ppid: i32,
    /// Program and arguments, joined by blanks.
    pub command: Vec<u8>,
}

/// Accounts by process.
#[derive(Clone, Debug)]
pub(super) struct Accounts {
    rules: Children,
    /// Accounts of the processes that run, by their ids.
    running: BTreeMap<i32, AccountId>,
    /// Every counted process, in the order of the accounts.
    counted: Vec<Counted>,
}

impl Accounts {
    /// Accounts of a run that begins with this process.
    pub(super) fn new(rules: Children, kernel: &Kernel, command: Vec<u8>) -> Accounts {
        let (pid, ppid) = (kernel.process().pid, kernel.process().ppid);
        Accounts {
            rules,
            running: BTreeMap::from([(pid, AccountId::FIRST)]),
            counted: vec![Counted { account: AccountId::FIRST, pid, ppid, command }],
        }
    }

    /// Every counted process, the first one first.
    pub(super) fn counted(&self) -> &[Counted] {
        &self.counted
    }

    /// The account of the task that the kernel runs.
    pub(super) fn current(&self, kernel: &Kernel) -> AccountId {
        self.running.get(&kernel.process().pid).copied().unwrap_or(AccountId::NONE)
    }

    /// Opens an account for a task that is a process of its own. A child is counted as its parent
    /// is, with its parent's caches and predictors.
    pub(super) fn spawned(&mut self, kernel: &Kernel, task: TaskId, recorder: &mut Recorder) {
        let process = kernel.other_task(task).shared.process;
        if process == kernel.task().shared.process {
            return;
        }
        let (parent, child) = (kernel.process().pid, kernel.other_process(process));
        let of = self.current(kernel);
        let mut account = AccountId::NONE;
        if of.is_counted() {
            // One profile of all has them already.
            let counts = self.rules.inherit && !self.rules.merged;
            account = recorder.new_account(Opening::Copy { of, counts }, true);
            let command = self.counted.iter().find(|counted| counted.account == of);
            let command = command.map(|counted| counted.command.clone()).unwrap_or_default();
            self.counted.push(Counted { account, pid: child.pid, ppid: parent, command });
        }
        self.running.insert(child.pid, account);
    }

    /// Begins another program in the current process: it is counted from zero and with empty caches
    /// if it is the first process, or children are traced, and not at all otherwise.
    pub(super) fn executed(&mut self, kernel: &Kernel, command: Vec<u8>, recorder: &mut Recorder) {
        let account = self.current(kernel);
        if account != AccountId::FIRST && !self.rules.trace {
            self.running.insert(kernel.process().pid, AccountId::NONE);
            self.counted.retain(|counted| counted.account != account);
            recorder.drop_account(account);
            return;
        }
        recorder.reset_account(account, false);
        for counted in self.counted.iter_mut().filter(|counted| counted.account == account) {
            counted.command.clone_from(&command);
        }
    }

    /// Closes the account of a process if it has ended.
    pub(super) fn left(&mut self, kernel: &Kernel, process: ProcessId, pid: i32, recorder: &mut Recorder) {
        if kernel.has_process(process) && kernel.other_process(process).ended.is_none() {
            return;
        }
        if let Some(account) = self.running.remove(&pid) {
            recorder.close_account(account);
        }
    }
}
