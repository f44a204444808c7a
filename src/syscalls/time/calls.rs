//! The calls that read clocks and sleep.

use crate::abi::errno::Errno;
use crate::abi::time::{CLK_TCK, NSEC_PER_SEC, TIMER_ABSTIME, timeval};
use crate::kernel::clock::{MONOTONIC_START, REALTIME_START};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{get_timespec, put_timespec, put_u64, put_words};
use crate::kernel::wait::Wake;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, full};

/// Resolution of the coarse clocks, a tick at 250 Hz.
const TICK: u64 = 4_000_000;
/// Nanoseconds in a tick of times(2).
const CLK_TCK_NS: u64 = NSEC_PER_SEC / CLK_TCK;

/// Clock calls.
pub const ROWS: &[Row] = &[
    full(35, "nanosleep", nanosleep),
    full(96, "gettimeofday", gettimeofday),
    full(100, "times", times).noted("no system time"),
    full(201, "time", time),
    full(228, "clock_gettime", clock_gettime),
    full(229, "clock_getres", clock_getres),
    full(230, "clock_nanosleep", clock_nanosleep),
];

/// The clocks of clock_gettime(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockId {
    /// CLOCK_REALTIME and CLOCK_TAI.
    Realtime,
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
    /// The clock of an id; EINVAL for one that is not there. Negative ids name a process or thread, see
    /// clock_getcpuclockid(3).
    pub fn find(id: u64, own_pid: i32) -> Result<ClockId, Errno> {
        let id = id as i32;
        Ok(match id {
            0 | 11 => ClockId::Realtime,
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

    /// What the clock showed at the program's start, in nanoseconds.
    pub fn start(self) -> u64 {
        match self {
            ClockId::Realtime | ClockId::RealtimeCoarse => REALTIME_START,
            ClockId::Monotonic | ClockId::MonotonicCoarse | ClockId::Raw => MONOTONIC_START,
            ClockId::ProcessCpu | ClockId::ThreadCpu => 0,
        }
    }

    /// Resolution in nanoseconds.
    fn resolution(self) -> u64 {
        if matches!(self, ClockId::RealtimeCoarse | ClockId::MonotonicCoarse) { TICK } else { 1 }
    }
}

/// clock_gettime(2).
fn clock_gettime(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    let id = ClockId::find(id, ctx.kernel.process().pid)?;
    let instructions = ctx.cpu.instructions();
    let since = match id {
        ClockId::ProcessCpu | ClockId::ThreadCpu => instructions,
        _ => ctx.kernel.clock.now_ns(instructions),
    };
    let ns = id.start().saturating_add(since);
    put_timespec(ctx.mem, addr, ns - ns % id.resolution())?;
    Ok(0)
}

/// clock_getres(2).
fn clock_getres(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    let resolution = ClockId::find(id, ctx.kernel.process().pid)?.resolution();
    if addr != 0 {
        put_timespec(ctx.mem, addr, resolution)?;
    }
    Ok(0)
}

/// gettimeofday(2). The time zone is UTC.
fn gettimeofday(ctx: &mut Ctx, [tv, tz, ..]: [u64; 6]) -> SysResult {
    if tv != 0 {
        let ns = REALTIME_START.saturating_add(ctx.now());
        put_words(ctx.mem, tv, &timeval(ns))?;
    }
    if tz != 0 {
        put_u64(ctx.mem, tz, 0)?;
    }
    Ok(0)
}

/// time(2).
fn time(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    let seconds = REALTIME_START.saturating_add(ctx.now()) / NSEC_PER_SEC;
    if addr != 0 {
        put_u64(ctx.mem, addr, seconds)?;
    }
    Ok(seconds)
}

/// times(2).
fn times(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    let instructions = ctx.cpu.instructions();
    if addr != 0 {
        put_words(ctx.mem, addr, &[instructions / CLK_TCK_NS, 0, 0, 0])?;
    }
    Ok(ctx.kernel.clock.monotonic_ns(instructions) / CLK_TCK_NS)
}

/// Sleeps until `deadline`; the time left goes to `rem` if a signal comes first.
fn sleep(ctx: &mut Ctx, deadline: u64, rem: u64) -> SysResult {
    match ctx.kernel.wait(ctx.cpu, Some(deadline), 0) {
        Wake::Signal => {
            let left = deadline.saturating_sub(ctx.now());
            if left == 0 {
                return Ok(0);
            }
            if rem != 0 {
                put_timespec(ctx.mem, rem, left)?;
            }
            Err(ctx.interrupted(Restart::Never))
        }
        Wake::Timeout | Wake::Never => Ok(0),
    }
}

/// nanosleep(2).
fn nanosleep(ctx: &mut Ctx, [req, rem, ..]: [u64; 6]) -> SysResult {
    let ns = get_timespec(ctx.mem, req)?;
    let deadline = ctx.now().saturating_add(ns);
    sleep(ctx, deadline, rem)
}

/// clock_nanosleep(2).
fn clock_nanosleep(ctx: &mut Ctx, [id, flags, req, rem, ..]: [u64; 6]) -> SysResult {
    let id = ClockId::find(id, ctx.kernel.process().pid)?;
    if !matches!(id, ClockId::Realtime | ClockId::Monotonic | ClockId::ProcessCpu) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let ns = get_timespec(ctx.mem, req)?;
    if id == ClockId::ProcessCpu {
        let done = flags & TIMER_ABSTIME != 0 && ns <= ctx.cpu.instructions();
        if ns == 0 || done {
            return Ok(0);
        }
        let text = "clock_nanosleep: waits for CPU time of its own process, which only passes while it runs";
        return Err(Break::Refuse(text.into()));
    }
    if flags & TIMER_ABSTIME == 0 {
        let deadline = ctx.now().saturating_add(ns);
        return sleep(ctx, deadline, rem);
    }
    sleep(ctx, ns.saturating_sub(id.start()), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::process::PID;

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
