//! The clock, made of executed instructions, of calls and turns, and of time slept. One instruction
//! takes one nanosecond.

use crate::abi::errno::Errno;
use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::ntp::Ntp;

/// CLOCK_REALTIME at the first instruction: 2028-01-01T00:00:00Z in nanoseconds. Later than the
/// files of hosts, so that they have their true times (`vfs/time.rs`): programs keep them and
/// compare, as Python does in its `.pyc` files.
pub(crate) const REALTIME_START: u64 = 1_830_297_600 * NSEC_PER_SEC;
/// CLOCK_MONOTONIC and CLOCK_BOOTTIME at the first instruction: the machine has been up for 1000 s.
pub(crate) const MONOTONIC_START: u64 = 1000 * NSEC_PER_SEC;

/// Nanoseconds that a system call takes: about what a short one takes on a CPU of today. Were they
/// free, a program that makes calls until some time has passed would make millions for each tenth
/// of a second.
pub(crate) const CALL_NS: u64 = 200;
/// Nanoseconds that a call takes longer that makes a task.
pub(crate) const SPAWN_NS: u64 = 30_000;
/// Nanoseconds that a call takes longer that executes a program.
pub(crate) const EXEC_NS: u64 = 200_000;
/// Nanoseconds that a switch to another task takes at most.
pub(crate) const SWITCH_NS: u64 = 1000;

/// Resolution of the coarse clocks, a tick at 250 Hz.
const TICK: u64 = 4_000_000;

/// A clock of CPU time, clock_getcpuclockid(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuClock {
    /// The time of all tasks of a process.
    Process(ProcessId),
    /// The time of one task.
    Task(TaskId),
}

/// A clock of clock_gettime(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockId {
    /// CLOCK_REALTIME.
    Realtime,
    /// CLOCK_TAI.
    Tai,
    /// CLOCK_MONOTONIC, CLOCK_BOOTTIME.
    Monotonic,
    /// CLOCK_MONOTONIC_RAW, which nothing can wait for.
    Raw,
    /// CLOCK_REALTIME_COARSE.
    RealtimeCoarse,
    /// CLOCK_MONOTONIC_COARSE.
    MonotonicCoarse,
    /// CLOCK_PROCESS_CPUTIME_ID.
    ProcessCpu,
    /// CLOCK_THREAD_CPUTIME_ID.
    ThreadCpu,
}

impl ClockId {
    /// The clock of an id; EINVAL for one that is not there. Negative ids name a process or thread,
    /// clock_getcpuclockid(3).
    pub fn find(id: u64, own_pid: i32) -> Result<ClockId, Errno> {
        let id = id as i32;
        Ok(match id {
            0 => ClockId::Realtime,
            11 => ClockId::Tai,
            1 | 7 => ClockId::Monotonic,
            2 => ClockId::ProcessCpu,
            3 => ClockId::ThreadCpu,
            4 => ClockId::Raw,
            5 => ClockId::RealtimeCoarse,
            6 => ClockId::MonotonicCoarse,
            id if id < 0 && id & 3 != 3 => match !(id >> 3) {
                pid if pid != 0 && pid != own_pid => return Err(Errno::EINVAL),
                _ if id & 4 == 0 => ClockId::ProcessCpu,
                _ => ClockId::ThreadCpu,
            },
            _ => return Err(Errno::EINVAL),
        })
    }

    /// The clock at the program's start, in nanoseconds.
    fn start(self) -> u64 {
        match self {
            ClockId::Realtime | ClockId::Tai | ClockId::RealtimeCoarse => REALTIME_START,
            ClockId::Monotonic | ClockId::MonotonicCoarse | ClockId::Raw => MONOTONIC_START,
            ClockId::ProcessCpu | ClockId::ThreadCpu => 0,
        }
    }

    /// Resolution in nanoseconds.
    pub fn resolution(self) -> u64 {
        if matches!(self, ClockId::RealtimeCoarse | ClockId::MonotonicCoarse) { TICK } else { 1 }
    }
}

/// The clock. All values are nanoseconds; `instructions` is the count of `GuestCpu::instructions`.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Time slept.
    slept: u64,
    /// Time in which the kernel worked.
    worked: u64,
    /// Nanoseconds by which CLOCK_REALTIME was set forward.
    set: i64,
    /// State of adjtimex(2).
    pub(crate) ntp: Ntp,
}

impl Clock {
    /// Time since the program's first instruction.
    pub fn now_ns(&self, instructions: u64) -> u64 {
        self.ahead().saturating_add(instructions)
    }

    /// CLOCK_REALTIME.
    pub fn realtime_ns(&self, instructions: u64) -> u64 {
        self.start(ClockId::Realtime).saturating_add(self.now_ns(instructions))
    }

    /// A clock at the program's start, in nanoseconds, as it has been set since.
    pub fn start(&self, id: ClockId) -> u64 {
        let set = match id {
            ClockId::Realtime | ClockId::RealtimeCoarse => self.set,
            ClockId::Tai => self.set.saturating_add(i64::from(self.ntp.tai) * NSEC_PER_SEC as i64),
            _ => 0,
        };
        id.start().saturating_add_signed(set)
    }

    /// Sets CLOCK_REALTIME, in nanoseconds since the epoch.
    pub fn set_realtime(&mut self, ns: u64, instructions: u64) {
        let now = self.realtime_ns(instructions);
        self.set = self.set.saturating_add_unsigned(ns).saturating_sub_unsigned(now);
    }

    /// CLOCK_MONOTONIC.
    pub fn monotonic_ns(&self, instructions: u64) -> u64 {
        MONOTONIC_START.saturating_add(self.now_ns(instructions))
    }

    /// A clock but those of CPU time, in steps of its resolution.
    pub fn read(&self, id: ClockId, instructions: u64) -> u64 {
        let ns = self.start(id).saturating_add(self.now_ns(instructions));
        ns - ns % id.resolution()
    }

    /// Time by which the clock is ahead of the instructions.
    pub(super) fn ahead(&self) -> u64 {
        self.slept.saturating_add(self.worked)
    }

    /// Time so far in which the kernel worked for the program.
    pub(super) fn worked(&self) -> u64 {
        self.worked
    }

    /// Lets time pass in which the kernel works.
    pub(super) fn work(&mut self, ns: u64) {
        self.worked = self.worked.saturating_add(ns);
    }

    /// Takes back time in which the kernel was to work.
    pub(super) fn take_back(&mut self, ns: u64) {
        self.worked = self.worked.saturating_sub(ns);
    }

    /// Lets time pass in which the program does nothing.
    pub(super) fn advance(&mut self, ns: u64) {
        self.slept = self.slept.saturating_add(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::process::PID;

    #[test]
    fn the_clocks_run_together() {
        let mut clock = Clock::default();
        assert_eq!(clock.realtime_ns(0), 1_830_297_600_000_000_000);
        clock.advance(5 * NSEC_PER_SEC);
        assert_eq!(clock.now_ns(7), 5_000_000_007);
        assert_eq!(clock.monotonic_ns(7), 1_005_000_000_007);
        assert_eq!(clock.realtime_ns(7) - REALTIME_START, clock.monotonic_ns(7) - MONOTONIC_START);
    }

    #[test]
    fn the_clock_stops_at_its_end() {
        let mut clock = Clock::default();
        clock.advance(u64::MAX);
        clock.advance(u64::MAX);
        assert_eq!(clock.realtime_ns(u64::MAX), u64::MAX);
    }

    /// Ids and answers as a native Linux gave them.
    #[test]
    fn clock_ids() {
        let find = |id: i64| ClockId::find(id as u64, PID);
        assert_eq!(find(-6), Ok(ClockId::ProcessCpu));
        assert_eq!(find(-2), Ok(ClockId::ThreadCpu));
        assert_eq!(find(-1), Err(Errno::EINVAL));
        assert_eq!(find((!i64::from(PID)) << 3 | 2), Ok(ClockId::ProcessCpu));
        assert_eq!(find((!i64::from(PID + 1)) << 3 | 2), Err(Errno::EINVAL));
        for id in [8, 9, 10, 12, 99] {
            assert_eq!(find(id), Err(Errno::EINVAL));
        }
        assert_eq!(find(5).map(ClockId::resolution), Ok(4_000_000));
    }
}
