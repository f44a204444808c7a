//! Numbers of tasks as the running one has them, and the first process of a PID namespace,
//! pid_namespaces(7).

use crate::abi::signal::{SIG_DFL, UNBLOCKABLE, bit, si_code, signo::SIGKILL};
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::process::Status;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::state::Kernel;

impl Kernel {
    /// The PID namespace of a process.
    pub(crate) fn pid_ns(&self, process: ProcessId) -> NsId {
        self.tasks[self.processes[process].leader].namespaces.pid
    }

    /// The running task's number for one of a task, process, group or session; 0 if it does not
    /// see it.
    pub(crate) fn shown_pid(&self, number: i32) -> i32 {
        self.pids.shown(self.task().namespaces.pid, number)
    }

    /// The number of what the running task calls so; `NOBODY` if nothing is.
    pub(crate) fn global_pid(&self, number: i32) -> i32 {
        self.pids.global(self.task().namespaces.pid, number)
    }

    /// A task's own number in its namespace.
    pub(crate) fn own_tid(&self, task: TaskId) -> u32 {
        let task = &self.tasks[task];
        self.pids.shown(task.namespaces.pid, task.tid) as u32
    }

    /// The task that the running one calls by a number.
    pub(crate) fn named_task(&self, number: i32) -> Option<TaskId> {
        self.find_task(self.global_pid(number))
    }

    /// The process that the running task calls by a number.
    pub(crate) fn named_process(&self, number: i32) -> Option<ProcessId> {
        self.find_process(self.global_pid(number))
    }

    /// The processes of the group that the running task calls by a number.
    pub(crate) fn named_group(&self, number: i32) -> Vec<ProcessId> {
        self.group(self.global_pid(number))
    }

    /// A process's number for that of another one.
    pub(in crate::kernel) fn pid_for(&self, process: ProcessId, number: i32) -> i32 {
        self.pids.shown(self.pid_ns(process), number)
    }

    /// Tells if a process is the first of its PID namespace, and so the parent of its orphans.
    pub(in crate::kernel) fn is_init(&self, process: ProcessId) -> bool {
        let namespace = self.pid_ns(process);
        namespace != Kind::Pid.first() && self.pids.shown(namespace, self.processes[process].pid) == 1
    }

    /// The first process of the PID namespace of another one, if that lives.
    pub(in crate::kernel) fn init_of(&self, process: ProcessId) -> Option<ProcessId> {
        let namespace = self.pid_ns(process);
        if namespace == Kind::Pid.first() {
            return None;
        }
        let init = self.find_process(self.pids.global(namespace, 1))?;
        self.processes[init].ended.is_none().then_some(init)
    }

    /// A signal with the number of its sender as the receiver has it.
    pub(in crate::kernel) fn with_shown_sender(&self, task: TaskId, info: SigInfo) -> SigInfo {
        let namespace = self.tasks[task].namespaces.pid;
        match info.code() {
            si_code::SI_USER | si_code::SI_TKILL | si_code::SI_MESGQ if namespace != Kind::Pid.first() => {
                info.with_pid(self.pids.shown(namespace, info.pid() as i32))
            }
            si_code::SI_QUEUE if self.pids.shown(namespace, self.process().pid) == 0 => info.with_pid(0),
            _ => info,
        }
    }

    /// Tells if a signal does not reach the first process of a PID namespace, `sig_task_ignored`:
    /// it has no handler, and is none of those that stop and kill from above.
    pub(in crate::kernel) fn init_ignores(&self, task: TaskId, info: &SigInfo) -> bool {
        let held = &self.tasks[task];
        let process = held.shared.process;
        if held.namespaces.pid == Kind::Pid.first() || !self.is_init(process) {
            return false;
        }
        let signo = info.signo();
        let of_task = info.code() <= 0;
        let from_above = !of_task || self.pids.shown(held.namespaces.pid, self.process().pid) == 0;
        let default = self.handlers[held.shared.handlers].get(signo).handler == SIG_DFL;
        let blocked = held.signals.blocked & bit(signo) != 0;
        default && !blocked && !(from_above && bit(signo) & UNBLOCKABLE != 0)
    }

    /// Takes back the number of a task that is gone.
    pub(in crate::kernel) fn remove_number(&mut self, number: i32) {
        let Kernel { pids, processes, .. } = self;
        pids.remove(number, |id| processes.iter().any(|(_, held)| held.pgid == id || held.sid == id));
    }

    /// The processes of a PID namespace and those below it that have not ended.
    fn living_within(&self, namespace: NsId) -> Vec<ProcessId> {
        let lives = |id: &ProcessId| {
            self.processes[*id].ended.is_none() && self.pids.is_within(self.pid_ns(*id), namespace)
        };
        self.processes.iter().map(|(id, _)| id).filter(lives).collect()
    }

    /// Ends a PID namespace with its first process, `zap_pid_ns_processes`: everybody in it is
    /// killed. True if it has to wait for them.
    pub(in crate::kernel) fn end_pid_namespace(&mut self, init: ProcessId) -> bool {
        let namespace = self.pid_ns(init);
        self.pids.end_space(namespace);
        let others = self.living_within(namespace);
        for process in &others {
            self.send_to(*process, SigInfo::kernel(SIGKILL));
        }
        if !others.is_empty() {
            self.pids.set_waits(namespace, Some(init));
        }
        !others.is_empty()
    }

    /// Lets the first process of a PID namespace be waited for, if the last of the others has ended
    /// with this one.
    pub(in crate::kernel) fn release_init(&mut self, process: ProcessId) -> Vec<(ProcessId, Status)> {
        let mut released = Vec::new();
        for namespace in self.pids.waiting(self.pid_ns(process)) {
            if !self.living_within(namespace).is_empty() {
                continue;
            }
            if let Some(init) = self.pids.set_waits(namespace, None)
                && let Some(held) = self.processes.get(init)
                && let Some(status) = held.ended
            {
                released.push((init, status));
            }
        }
        released
    }
}
