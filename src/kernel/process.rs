//! Processes: the state that the tasks of a thread group share, `struct signal_struct`, and their
//! place in the tree of processes.

use crate::abi::process::{CLD_DUMPED, CLD_EXITED, CLD_KILLED};
use crate::abi::resource::CpuTime;
use crate::abi::signal::signo::SIGCHLD;
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::limits::Limits;
use crate::kernel::signal::queue::Queue;
use crate::kernel::timers::Timers;
use crate::kernel::wait_queue::QueueId;

/// Id of the first process and of its first task. Fixed, so that a program that prints it repeats.
pub(crate) const PID: i32 = 1000;
/// Id of its parent, the leader of its session, of the same user. It does nothing: what is sent to
/// it is lost, and of its state only what everybody has can be asked for.
pub(crate) const PPID: i32 = 999;
/// Id of the process that adopts orphans, and waits for them at once. It is not there either.
pub(crate) const INIT: i32 = 1;

/// A status as wait(2) gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u32);

impl Status {
    /// Ended by _exit(2) or exit_group(2).
    pub(crate) fn exited(code: i32) -> Status {
        Status((code as u32 & 0xff) << 8)
    }

    /// Ended by a signal, perhaps with a core dump.
    pub(crate) fn killed(signo: i32, core: bool) -> Status {
        Status(signo as u32 & 0x7f | u32::from(core) << 7)
    }

    /// The signal that ended the process, WTERMSIG.
    pub fn signal(self) -> Option<i32> {
        Some(self.0 as i32 & 0x7f).filter(|signo| *signo != 0)
    }

    /// The status that it ended with, WEXITSTATUS.
    pub fn code(self) -> i32 {
        (self.0 >> 8 & 0xff) as i32
    }

    /// `si_code` and `si_status` of SIGCHLD and waitid(2).
    pub(crate) fn code_and_value(self) -> (i32, i32) {
        match self.signal() {
            None => (CLD_EXITED, self.code()),
            Some(signo) if self.0 & 0x80 != 0 => (CLD_DUMPED, signo),
            Some(signo) => (CLD_KILLED, signo),
        }
    }
}

/// Change of a process's state that its parent has not asked for yet, wait(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobNews {
    /// A signal has stopped it.
    Stopped(i32),
    /// SIGCONT has continued it.
    Continued,
}

/// A process that has ended, for those who write its profile.
#[derive(Clone, Debug)]
pub struct EndedProcess {
    /// The process.
    pub process: ProcessId,
    /// Its number.
    pub pid: i32,
    /// The number of its parent.
    pub ppid: i32,
    /// Its status, as wait(2) gives it.
    pub status: Status,
    /// The path of its program.
    pub exe: String,
    /// Its arguments.
    pub argv: Vec<Vec<u8>>,
}

/// Usage of processes, getrusage(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// CPU time.
    pub(crate) cpu: CpuTime,
    /// Most memory of one process in bytes.
    pub(crate) resident: u64,
}

impl Usage {
    /// Adds what a child has used.
    pub(crate) fn add(&mut self, child: Usage) {
        self.cpu.add(child.cpu);
        self.resident = self.resident.max(child.resident);
    }
}

/// A thread group (CLONE_THREAD).
#[derive(Clone, Debug)]
pub struct Process {
    /// Thread group id, getpid(2).
    pub pid: i32,
    /// Parent's process id.
    pub ppid: i32,
    /// The parent; `None` for the first process and for orphans, whose parents are not emulated.
    pub(crate) parent: Option<ProcessId>,
    /// The parent's task that made it, or another one after that one's end.
    pub(crate) creator: TaskId,
    /// Children, in the order in which they came; those that have ended too, until they are waited
    /// for.
    pub(crate) children: Vec<ProcessId>,
    /// The task whose id is the process id. It stays, perhaps dead, as long as the process.
    pub(crate) leader: TaskId,
    /// Tasks that have not ended, in the order in which they came.
    pub(crate) tasks: Vec<TaskId>,
    /// Process group.
    pub pgid: i32,
    /// Session.
    pub sid: i32,
    /// Controlling terminal: the number of a pseudo-terminal.
    pub(crate) terminal: Option<u32>,
    /// Signal to the parent at the end; 0 for none.
    pub(crate) exit_signal: i32,
    /// The status with which it has ended: a zombie, until its parent waits for it.
    pub(crate) ended: Option<Status>,
    /// It has ended, but others of the PID namespace that it began have not.
    pub(crate) waits_for_namespace: bool,
    /// Threads that have ended, of which their tracers are yet to be told by wait(2).
    pub(crate) zombies: Vec<TaskId>,
    /// The signal that has stopped it, while it is stopped.
    pub(crate) stopped: Option<i32>,
    /// News for its parent beside its end.
    pub(crate) news: Option<JobNews>,
    /// Queue of those who wait at its pidfds.
    pub(crate) queue: Option<QueueId>,
    /// It runs another program than its parent did.
    pub(crate) executed: bool,
    /// Resource limits.
    pub limits: Limits,
    /// Signals pending for the process.
    pub pending: Queue,
    /// Signals sent to the process that this task of it takes before those that came earlier.
    pub(super) directed: Option<(TaskId, u64)>,
    /// Interval timers and POSIX timers.
    pub timers: Timers,
    /// Moment of the earliest wall timer, as the scheduler has noted it.
    pub(super) alarm: Option<u64>,
    /// CPU time of its tasks: their instructions until the last turn of one began, and their calls.
    pub cpu: CpuTime,
    /// `/proc/PID/oom_score_adj`, and the least that it may have without privilege.
    pub(crate) oom_score_adj: (i32, i32),
    /// prctl(2) PR_SET_CHILD_SUBREAPER.
    pub child_subreaper: bool,
    /// Most bytes that programs before the present one had in memory, getrusage(2).
    pub max_rss: u64,
    /// Counters of bytes and calls.
    pub io: IoCounters,
    /// Usage of the children that it has waited for.
    pub(crate) of_children: Usage,
}

/// Counters of `/proc/PID/io`.
#[derive(Clone, Copy, Debug, Default)]
pub struct IoCounters {
    /// Bytes that calls have read.
    pub bytes_read: u64,
    /// Bytes that calls have written.
    pub bytes_written: u64,
    /// Calls that read.
    pub reads: u64,
    /// Calls that wrote.
    pub writes: u64,
}

impl Process {
    /// The first process: leader of its group in the parent's session.
    pub(super) fn first(leader: TaskId) -> Process {
        Process {
            pid: PID,
            ppid: PPID,
            parent: None,
            creator: leader,
            children: Vec::new(),
            leader,
            tasks: vec![leader],
            pgid: PID,
            sid: PPID,
            terminal: None,
            exit_signal: SIGCHLD,
            ended: None,
            waits_for_namespace: false,
            zombies: Vec::new(),
            stopped: None,
            news: None,
            queue: None,
            executed: false,
            limits: Limits::default(),
            pending: Queue::default(),
            directed: None,
            timers: Timers::default(),
            alarm: None,
            cpu: CpuTime::default(),
            oom_score_adj: (0, 0),
            child_subreaper: false,
            max_rss: 0,
            io: IoCounters::default(),
            of_children: Usage::default(),
        }
    }

    /// A child that a task of this process makes, fork(2): timers, pending signals and counters are
    /// not inherited.
    pub(super) fn child(&self, pid: i32, leader: TaskId, exit_signal: i32) -> Process {
        Process {
            pid,
            leader,
            pgid: self.pgid,
            sid: self.sid,
            terminal: self.terminal,
            exit_signal,
            limits: self.limits.clone(),
            oom_score_adj: self.oom_score_adj,
            tasks: vec![leader],
            ..Process::first(leader)
        }
    }

    /// Returns whether a process id names this process; 0 is the caller.
    pub fn is_self(&self, pid: u64) -> bool {
        pid as i32 == 0 || pid as i32 == self.pid
    }
}
