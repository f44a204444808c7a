//! Processes: the state that the tasks of a thread group share, `struct signal_struct`.

use crate::kernel::limits::Limits;
use crate::kernel::signal::queue::Queue;
use crate::kernel::timers::Timers;

/// Id of the first process and of its first task. Fixed, so that a program that prints it repeats.
pub(crate) const PID: i32 = 1000;
/// Id of its parent, which is not there to be seen: sending to it fails with ESRCH.
const PPID: i32 = 999;

/// A thread group (CLONE_THREAD).
#[derive(Clone, Debug)]
pub struct Process {
    /// Thread group id, getpid(2).
    pub pid: i32,
    /// Parent's process id.
    pub ppid: i32,
    /// Process group.
    pub pgid: i32,
    /// Session.
    pub sid: i32,
    /// Resource limits.
    pub limits: Limits,
    /// Signals pending for the process.
    pub pending: Queue,
    /// Interval timers and POSIX timers.
    pub timers: Timers,
    /// prctl(2) PR_SET_CHILD_SUBREAPER.
    pub child_subreaper: bool,
    /// Counters of bytes and calls.
    pub io: IoCounters,
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
    pub(super) fn first() -> Process {
        Process {
            pid: PID,
            ppid: PPID,
            pgid: PID,
            sid: PPID,
            limits: Limits::default(),
            pending: Queue::default(),
            timers: Timers::default(),
            child_subreaper: false,
            io: IoCounters::default(),
        }
    }

    /// Returns whether a process id names this process; 0 is the caller.
    pub fn is_self(&self, pid: u64) -> bool {
        pid as i32 == 0 || pid as i32 == self.pid
    }
}
