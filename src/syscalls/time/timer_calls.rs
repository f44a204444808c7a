//! The calls that arm timers.

use crate::abi::errno::Errno;
use crate::abi::signal::{bit, signo::SIGALRM};
use crate::abi::time::{NSEC_PER_SEC, TIMER_ABSTIME, timeval};
use crate::kernel::timers::{Alarm, Base, INTERVAL_TIMERS, PosixTimer};
use crate::kernel::uaccess::{get_timespec, get_timeval, get_words, put_timespec, put_u32, put_words};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

use super::calls::ClockId;

const LATE: &str = "its signal is delivered when a system call ends, not in the middle of computing";
/// Most timers a process has (RLIMIT_SIGPENDING bounds them in Linux).
const TIMERS_MAX: usize = 16_384;

/// Timer calls.
pub const ROWS: &[Row] = &[
    full(36, "getitimer", getitimer),
    partial(37, "alarm", alarm, LATE),
    partial(38, "setitimer", setitimer, LATE),
    partial(222, "timer_create", timer_create, LATE),
    full(223, "timer_settime", timer_settime),
    full(224, "timer_gettime", timer_gettime),
    full(225, "timer_getoverrun", timer_getoverrun),
    full(226, "timer_delete", timer_delete),
];

/// The present moment in the time that a timer follows.
fn now(ctx: &mut Ctx, base: Base) -> u64 {
    let instructions = ctx.cpu.instructions();
    match base {
        Base::Wall => ctx.kernel.clock.now_ns(instructions),
        Base::Cpu => instructions,
    }
}

fn which(index: u64) -> Result<(usize, Base), Errno> {
    let index = index as u32 as usize;
    let (base, _) = INTERVAL_TIMERS.get(index).ok_or(Errno::EINVAL)?;
    Ok((index, *base))
}

/// The words of a `struct itimerval`. An armed timer never looks off: it has a microsecond left at least.
fn itimerval(alarm: &Alarm, now: u64) -> [u64; 4] {
    let [interval_sec, interval_usec] = timeval(alarm.interval);
    let left = if alarm.expires.is_some() { alarm.left(now).max(1000) } else { 0 };
    let [sec, usec] = timeval(left);
    [interval_sec, interval_usec, sec, usec]
}

/// getitimer(2).
fn getitimer(ctx: &mut Ctx, [index, addr, ..]: [u64; 6]) -> SysResult {
    let (index, base) = which(index)?;
    let now = now(ctx, base);
    put_words(ctx.mem, addr, &itimerval(&ctx.kernel.process().timers.interval[index], now))?;
    Ok(0)
}

/// setitimer(2). A null `value` disarms the timer, as Linux has it.
fn setitimer(ctx: &mut Ctx, [index, value, old, ..]: [u64; 6]) -> SysResult {
    let (interval, first) = match value {
        0 => (0, 0),
        value => (get_timeval(ctx.mem, value)?, get_timeval(ctx.mem, value.wrapping_add(16))?),
    };
    let (index, base) = which(index)?;
    let now = now(ctx, base);
    let expires = (first != 0).then(|| now.saturating_add(first));
    let slot = &mut ctx.kernel.process_mut().timers.interval[index];
    let interval = if expires.is_some() { interval } else { 0 };
    let before = std::mem::replace(slot, Alarm { expires, interval });
    if old != 0 {
        put_words(ctx.mem, old, &itimerval(&before, now))?;
    }
    Ok(0)
}

/// alarm(2). What is left is rounded to the nearest second, but not to 0.
fn alarm(ctx: &mut Ctx, [seconds, ..]: [u64; 6]) -> SysResult {
    let seconds = u64::from(seconds as u32);
    let now = now(ctx, Base::Wall);
    let expires = (seconds != 0).then(|| now.saturating_add(seconds.saturating_mul(NSEC_PER_SEC)));
    let slot = &mut ctx.kernel.process_mut().timers.interval[0];
    let left = std::mem::replace(slot, Alarm { expires, interval: 0 }).left(now);
    Ok(if left == 0 { 0 } else { (left.saturating_add(NSEC_PER_SEC / 2) / NSEC_PER_SEC).max(1) })
}

/// timer_create(2).
fn timer_create(ctx: &mut Ctx, [clock, event, id_addr, ..]: [u64; 6]) -> SysResult {
    const SIGEV_SIGNAL: i32 = 0;
    const SIGEV_NONE: i32 = 1;
    const SIGEV_THREAD: i32 = 2;
    const SIGEV_THREAD_ID: i32 = 4;
    let clock = ClockId::find(clock, ctx.kernel.process().pid)?;
    let base = match clock {
        ClockId::Realtime | ClockId::Monotonic => Base::Wall,
        ClockId::ProcessCpu | ClockId::ThreadCpu => Base::Cpu,
        _ => return Err(Errno::EOPNOTSUPP.into()),
    };
    if ctx.kernel.process().timers.posix.len() >= TIMERS_MAX {
        return Err(Errno::EAGAIN.into());
    }
    let id = ctx.kernel.process().timers.next_id;
    let (value, signo, task) = if event == 0 {
        (id as u64, Some(SIGALRM), None)
    } else {
        let [value, signo_notify, tid] = get_words(ctx.mem, event)?;
        let (signo, notify) = (signo_notify as i32, (signo_notify >> 32) as i32);
        let task = match notify {
            SIGEV_SIGNAL | SIGEV_THREAD | SIGEV_NONE => None,
            SIGEV_THREAD_ID => Some(ctx.kernel.find_task(tid as i32).ok_or(Errno::EINVAL)?),
            _ => return Err(Errno::EINVAL.into()),
        };
        if notify != SIGEV_NONE && bit(signo) == 0 {
            return Err(Errno::EINVAL.into());
        }
        (value, (notify != SIGEV_NONE).then_some(signo), task)
    };
    put_u32(ctx.mem, id_addr, id as u32)?;
    let alarm = Alarm::default();
    let timer = PosixTimer { base, offset: clock.start(), alarm, signo, value, task, overrun: 0 };
    let timers = &mut ctx.kernel.process_mut().timers;
    timers.posix.insert(id, timer);
    timers.next_id = id.checked_add(1).ok_or(Errno::EAGAIN)?;
    Ok(0)
}

fn find(ctx: &Ctx, id: u64) -> Result<PosixTimer, Errno> {
    ctx.kernel.process().timers.posix.get(&(id as i32)).copied().ok_or(Errno::EINVAL)
}

fn put_itimerspec(ctx: &mut Ctx, addr: u64, alarm: &Alarm, now: u64) -> Result<(), Errno> {
    put_timespec(ctx.mem, addr, alarm.interval)?;
    put_timespec(ctx.mem, addr.wrapping_add(16), alarm.left(now))
}

/// timer_settime(2).
fn timer_settime(ctx: &mut Ctx, [id, flags, new, old, ..]: [u64; 6]) -> SysResult {
    if new == 0 {
        return Err(Errno::EINVAL.into());
    }
    let interval = get_timespec(ctx.mem, new)?;
    let value = get_timespec(ctx.mem, new.wrapping_add(16))?;
    let mut timer = find(ctx, id)?;
    let now = now(ctx, timer.base);
    let before = timer.alarm;
    let expires = match value {
        0 => None,
        _ if flags & TIMER_ABSTIME != 0 => Some(value.saturating_sub(timer.offset)),
        _ => Some(now.saturating_add(value)),
    };
    timer.alarm = Alarm { expires, interval };
    timer.overrun = 0;
    ctx.kernel.process_mut().timers.posix.insert(id as i32, timer);
    if old != 0 {
        put_itimerspec(ctx, old, &before, now)?;
    }
    Ok(0)
}

/// timer_gettime(2).
fn timer_gettime(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    let timer = find(ctx, id)?;
    let now = now(ctx, timer.base);
    put_itimerspec(ctx, addr, &timer.alarm, now)?;
    Ok(0)
}

/// timer_getoverrun(2).
fn timer_getoverrun(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    Ok(find(ctx, id)?.overrun as u64)
}

/// timer_delete(2).
fn timer_delete(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.process_mut().timers.posix.remove(&(id as i32)).ok_or(Errno::EINVAL)?;
    Ok(0)
}
