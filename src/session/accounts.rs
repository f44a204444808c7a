//! The accounts of processes and threads: which of them are counted, and what is known of each.

use std::collections::BTreeMap;

use crate::hooks::control::{AccountId, Opening};
use crate::hooks::recorder::Recorder;
use crate::kernel::Kernel;
use crate::kernel::arena::TaskId;
use crate::session::config::Children;
use crate::session::skip::Skip;

/// A process that is counted.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub pid: i32,
    pub ppid: i32,
    /// Program and arguments, joined by blanks.
    pub command: Vec<u8>,
    /// It has executed a program since it began.
    pub executed: bool,
    /// Its threads that are counted apart, in the order in which they began; else one that stands
    /// for all.
    pub threads: Vec<CountedThread>,
}

/// Thread of a process that is counted.
#[derive(Clone, Debug)]
pub(super) struct CountedThread {
    /// Number in its process, from 1 on.
    pub number: u32,
    pub account: AccountId,
}

/// Accounts by task.
#[derive(Clone, Debug)]
pub(super) struct Accounts {
    rules: Children,
    skip: Skip,
    /// Accounts of what runs: by the ids of processes, or of tasks if threads are counted apart.
    running: BTreeMap<i32, AccountId>,
    /// Every counted process, the first one first.
    counted: Vec<Counted>,
}

/// A task that gives way to another one, and may have ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub tid: i32,
    pub pid: i32,
    /// The task has ended.
    pub task_ended: bool,
    /// The whole process has.
    pub process_ended: bool,
}

impl Accounts {
    /// Accounts of a run that begins with this process.
    pub(super) fn new(rules: Children, skip: Skip, kernel: &Kernel, command: Vec<u8>) -> Accounts {
        let (pid, ppid) = (kernel.process().pid, kernel.process().ppid);
        let threads = vec![CountedThread { number: 1, account: AccountId::FIRST }];
        Accounts {
            rules,
            skip,
            // Both ids of the first task are the same.
            running: BTreeMap::from([(pid, AccountId::FIRST)]),
            counted: vec![Counted { pid, ppid, command, executed: false, threads }],
        }
    }

    /// Every counted process, the first one first.
    pub(super) fn counted(&self) -> &[Counted] {
        &self.counted
    }

    /// The counts that a process has had until now, if it is counted.
    pub(super) fn of(&self, pid: i32) -> Option<&Counted> {
        self.counted.iter().find(|counted| counted.pid == pid)
    }

    /// The account of the task that the kernel runs.
    pub(super) fn current(&self, kernel: &Kernel) -> AccountId {
        let id = if self.rules.threads { kernel.task().tid } else { kernel.process().pid };
        self.running.get(&id).copied().unwrap_or(AccountId::NONE)
    }

    /// Opens an account for a task that is a process of its own, or a thread that is counted apart.
    /// A child is counted as its parent is, with its parent's caches and predictors.
    pub(super) fn spawned(&mut self, kernel: &Kernel, task: TaskId, recorder: &mut Recorder) {
        let of = self.current(kernel);
        let new = kernel.other_task(task);
        let pid = kernel.process().pid;
        if new.shared.process == kernel.task().shared.process {
            if self.rules.threads && of.is_counted() {
                let account = recorder.new_account(Opening::Shared { with: of }, true);
                if let Some(counted) = self.counted.iter_mut().find(|counted| counted.pid == pid) {
                    let number = counted.threads.last().map_or(1, |last| last.number + 1);
                    counted.threads.push(CountedThread { number, account });
                }
                self.running.insert(new.tid, account);
            }
            return;
        }
        let child = kernel.other_process(new.shared.process);
        let mut account = AccountId::NONE;
        if of.is_counted() {
            // One profile of all has them already.
            let counts = self.rules.inherit && !self.rules.merged;
            account = recorder.new_account(Opening::Copy { of, counts }, true);
            let command = self.of(pid).map(|counted| counted.command.clone()).unwrap_or_default();
            let threads = vec![CountedThread { number: 1, account }];
            self.counted.push(Counted { pid: child.pid, ppid: pid, command, executed: false, threads });
        }
        // Both ids are the same.
        self.running.insert(child.pid, account);
    }

    /// Begins another program in the current process, where its other threads have ended. It is
    /// counted from zero and with empty caches if it is the first process, or children are traced,
    /// and not at all otherwise. `name` and `argv` are what execve(2) was given.
    pub(super) fn executed(
        &mut self,
        kernel: &Kernel,
        name: &[u8],
        argv: &[Vec<u8>],
        recorder: &mut Recorder,
    ) {
        let pid = kernel.process().pid;
        let Some(at) = self.counted.iter().position(|counted| counted.pid == pid) else { return };
        // The task may have got another id.
        let account = recorder.account();
        if !account.is_counted() {
            return;
        }
        let is_first = at == 0;
        let traced = self.rules.trace && !self.skip.skips(name, argv);
        if is_first && self.rules.trace && !traced {
            // Its profile stays that of the program before.
            self.leave_uncounted(at);
            recorder.close_account(account);
            return;
        }
        let Some(counted) = self.counted.get_mut(at) else { return };
        for thread in counted.threads.extract_if(.., |thread| thread.account != account) {
            recorder.drop_account(thread.account);
        }
        if !is_first && !traced {
            self.leave_uncounted(at);
            self.counted.remove(at);
            recorder.drop_account(account);
            return;
        }
        (counted.command, counted.executed) = (argv.join(&b' '), true);
        counted.threads.iter_mut().for_each(|thread| thread.number = 1);
        recorder.reset_account(account, false);
        self.leave_uncounted(at);
        // The task that is left has the process's id.
        self.running.insert(pid, account);
    }

    /// Counts nothing of a process any more.
    fn leave_uncounted(&mut self, at: usize) {
        let Some(counted) = self.counted.get(at) else { return };
        self.running.retain(|_, account| counted.threads.iter().all(|thread| thread.account != *account));
    }

    /// Closes the account of a process that has ended, or of a thread that is counted apart.
    pub(super) fn left(&mut self, leaving: Leaving, recorder: &mut Recorder) {
        let Leaving { tid, pid, task_ended, process_ended } = leaving;
        let closed =
            if self.rules.threads { task_ended.then_some(tid) } else { process_ended.then_some(pid) };
        if let Some(account) = closed.and_then(|id| self.running.remove(&id)) {
            recorder.close_account(account);
        }
    }
}
