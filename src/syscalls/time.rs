//! The calls that read clocks, sleep and arm timers.

use crate::abi::capability::CAP_SYS_TIME;
use crate::abi::errno::Errno;
use crate::abi::resource::CpuTime;
use crate::abi::signal::{bit, signo::SIGALRM};
use crate::abi::time::*;
use crate::kernel::arena::TaskId;
use crate::kernel::clock::{ClockId, CpuClock};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::timers::{Alarm, Base, INTERVAL_TIMERS, PosixTimer};
use crate::kernel::uaccess::{
    get_timespec, get_timeval, get_u32, get_words, put_timespec, put_u32, put_u64, put_words,
};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

const LATE: &str = "its signal is delivered when a system call ends, not in the middle of computing";

/// Clock and timer calls.
pub(super) const ROWS: &[Row] = &[
    full(35, "nanosleep", nanosleep),
    full(96, "gettimeofday", gettimeofday),
    full(100, "times", times).noted("no system time"),
    full(201, "time", time),
    full(228, "clock_gettime", clock_gettime),
    full(229, "clock_getres", clock_getres),
    full(230, "clock_nanosleep", clock_nanosleep),
    full(36, "getitimer", getitimer),
    partial(37, "alarm", alarm, LATE),
    partial(38, "setitimer", setitimer, LATE),
    partial(222, "timer_create", timer_create, LATE),
    full(223, "timer_settime", timer_settime),
    full(224, "timer_gettime", timer_gettime),
    full(225, "timer_getoverrun", timer_getoverrun),
    full(226, "timer_delete", timer_delete),
    full(164, "settimeofday", settimeofday).noted("the time zone stays UTC"),
    full(227, "clock_settime", clock_settime),
];

/// The clock of CPU time of an id, `pid_for_clock`: that of the caller, of any process, or of a
/// thread of the caller's; `reading` allows the caller's process also by the id of a thread. `None`
/// for other clocks; EINVAL.
fn cpu_clock(ctx: &Ctx, id: u64, reading: bool) -> Result<Option<CpuClock>, Errno> {
    let (here, number) = (ctx.kernel.current(), id as i32);
    let own = ctx.kernel.task().shared.process;
    let named = if number < 0 { !(number >> 3) } else { 0 };
    let clock = ClockId::find(id, named)?;
    let task = if named == 0 { here } else { ctx.kernel.named_task(named).ok_or(Errno::EINVAL)? };
    let process = ctx.kernel.other_task(task).shared.process;
    Ok(match clock {
        ClockId::ThreadCpu if process == own => Some(CpuClock::Task(task)),
        ClockId::ThreadCpu => return Err(Errno::EINVAL),
        ClockId::ProcessCpu => {
            let leads = named == 0 || ctx.kernel.named_process(named).is_some();
            if !(leads || reading && task == here) {
                return Err(Errno::EINVAL);
            }
            Some(CpuClock::Process(process))
        }
        _ => None,
    })
}

/// Tells if a clock would wake the machine, for which it has no device: EOPNOTSUPP for its timers.
fn is_of_alarms(id: u64) -> bool {
    matches!(id as i32, CLOCK_REALTIME_ALARM | CLOCK_BOOTTIME_ALARM)
}

/// Tells if a clock would be that of a device by a descriptor, `CLOCKFD`, of which there is none.
pub(super) fn is_of_device(id: u64) -> bool {
    (id as i32) < 0 && id & 7 == 3
}

/// The clock of an id; EINVAL also where it would be of a task that is not there or not to be seen.
fn clock(ctx: &Ctx, id: u64) -> Result<ClockId, Errno> {
    cpu_clock(ctx, id, true)?;
    ClockId::find(id, if (id as i32) < 0 { !(id as i32 >> 3) } else { 0 })
}

/// clock_gettime(2).
fn clock_gettime(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    let cpu = cpu_clock(ctx, id, true)?;
    let instructions = ctx.cpu.instructions();
    let ns = match cpu {
        Some(cpu) => ctx.kernel.cpu_time(cpu, instructions),
        None => ctx.kernel.clock.read(ClockId::find(id, 0)?, instructions),
    };
    put_timespec(ctx.mem, addr, ns)?;
    Ok(0)
}

/// clock_getres(2).
fn clock_getres(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    let resolution = clock(ctx, id)?.resolution();
    if addr != 0 {
        put_timespec(ctx.mem, addr, resolution)?;
    }
    Ok(0)
}

/// gettimeofday(2). The time zone is UTC.
fn gettimeofday(ctx: &mut Ctx, [tv, tz, ..]: [u64; 6]) -> SysResult {
    if tv != 0 {
        let ns = ctx.kernel.clock.realtime_ns(ctx.cpu.instructions());
        put_words(ctx.mem, tv, &timeval(ns))?;
    }
    if tz != 0 {
        put_u64(ctx.mem, tz, 0)?;
    }
    Ok(0)
}

/// time(2).
fn time(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    let seconds = ctx.kernel.clock.realtime_ns(ctx.cpu.instructions()) / NSEC_PER_SEC;
    if addr != 0 {
        put_u64(ctx.mem, addr, seconds)?;
    }
    Ok(seconds)
}

/// times(2).
fn times(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    let instructions = ctx.cpu.instructions();
    if addr != 0 {
        let ran = ctx.kernel.process_cpu(instructions);
        let of_children = ctx.kernel.process().of_children.cpu;
        put_words(ctx.mem, addr, &[ran, of_children].map(CpuTime::ticks).concat())?;
    }
    Ok(ctx.kernel.clock.monotonic_ns(instructions) / CLK_TCK_NS)
}

/// Sleeps until `deadline`; the time left goes to `rem` if a signal comes first.
fn sleep(ctx: &mut Ctx, deadline: u64, rem: u64) -> SysResult {
    match ctx.sleep("nanosleep", &[], Some(deadline))? {
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
        Wake::Timeout | Wake::Event => Ok(0),
    }
}

/// nanosleep(2).
fn nanosleep(ctx: &mut Ctx, [req, rem, ..]: [u64; 6]) -> SysResult {
    let ns = get_timespec(ctx.mem, req)?;
    let deadline = ctx.deadline(ns);
    sleep(ctx, deadline, rem)
}

/// Sleeps until a clock of CPU time, which others move on, shows a time; `posix_cpu_nsleep`.
fn sleep_by_cpu(ctx: &mut Ctx, clock: CpuClock, ns: u64, absolute: bool, rem: u64) -> SysResult {
    if clock == CpuClock::Task(ctx.kernel.current()) {
        return Err(Errno::EINVAL.into()); // only of another thread
    }
    let now = ctx.kernel.cpu_time(clock, ctx.cpu.instructions());
    let at = match ctx.kernel.task().call.done {
        0 if absolute => ns,
        0 if ns == 0 => return Ok(0),
        0 => now.saturating_add(ns),
        at => at,
    };
    if at <= now || !ctx.kernel.has_clock(clock) {
        return Ok(0);
    }
    ctx.kernel.task_mut().call.done = at;
    match ctx.sleep("clock_nanosleep by CPU time", &[WaitKey::Cpu(clock)], None) {
        Ok(Wake::Signal) if absolute => Err(ctx.interrupted(Restart::Never)),
        Ok(Wake::Signal) => {
            if rem != 0 {
                put_timespec(ctx.mem, rem, at - now)?;
            }
            Err(ctx.interrupted(Restart::Never))
        }
        Ok(Wake::Timeout | Wake::Event) => Ok(0),
        Err(sleep) => {
            ctx.kernel.wake_at_cpu_time(clock, at);
            Err(sleep)
        }
    }
}

/// clock_nanosleep(2).
fn clock_nanosleep(ctx: &mut Ctx, [id, flags, req, rem, ..]: [u64; 6]) -> SysResult {
    let (named, number) = ((id as i32) < 0, id);
    if is_of_device(id) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    if is_of_alarms(id) {
        get_timespec(ctx.mem, req)?;
        return Err(Errno::EOPNOTSUPP.into());
    }
    let id = clock(ctx, number)?;
    if matches!(id, ClockId::Raw | ClockId::RealtimeCoarse | ClockId::MonotonicCoarse)
        || id == ClockId::ThreadCpu && !named
    {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let ns = get_timespec(ctx.mem, req)?;
    if let Some(cpu) = cpu_clock(ctx, number, false)? {
        return sleep_by_cpu(ctx, cpu, ns, flags & TIMER_ABSTIME != 0, rem);
    }
    if flags & TIMER_ABSTIME == 0 {
        let deadline = ctx.deadline(ns);
        return sleep(ctx, deadline, rem);
    }
    sleep(ctx, ns.saturating_sub(ctx.kernel.clock.start(id)), 0)
}

/// The present moment in the time that an interval timer follows.
fn now(ctx: &mut Ctx, base: Base) -> u64 {
    let instructions = ctx.cpu.instructions();
    match base {
        Base::Wall => ctx.kernel.clock.now_ns(instructions),
        Base::Cpu => ctx.kernel.process_cpu(instructions).total(),
    }
}

/// The present moment in the time that a timer of timer_create(2) follows.
fn now_of(ctx: &mut Ctx, timer: &PosixTimer) -> u64 {
    match timer.cpu {
        Some(clock) => ctx.kernel.cpu_time(clock, ctx.cpu.instructions()),
        None => now(ctx, Base::Wall),
    }
}

/// Tells the scheduler that a timer was set.
fn timers_changed(ctx: &mut Ctx) {
    ctx.kernel.timers_changed(ctx.kernel.task().shared.process);
}

/// An interval timer by its number; EINVAL.
fn which(index: u64) -> Result<(usize, Base), Errno> {
    let index = index as u32 as usize;
    let (base, _) = INTERVAL_TIMERS.get(index).ok_or(Errno::EINVAL)?;
    Ok((index, *base))
}

/// The words of a `struct itimerval`. An armed timer never looks off: it has a microsecond left at
/// least.
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
    put_words(ctx.mem, addr, &itimerval(&ctx.kernel.process().timers.interval(index), now))?;
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
    let before = ctx.kernel.process_mut().timers.set_interval(index, now, first, interval);
    timers_changed(ctx);
    if old != 0 {
        put_words(ctx.mem, old, &itimerval(&before, now))?;
    }
    Ok(0)
}

/// alarm(2). What is left is rounded to the nearest second, but not to 0.
fn alarm(ctx: &mut Ctx, [seconds, ..]: [u64; 6]) -> SysResult {
    let ns = u64::from(seconds as u32).saturating_mul(NSEC_PER_SEC);
    let now = now(ctx, Base::Wall);
    let left = ctx.kernel.process_mut().timers.set_interval(0, now, ns, 0).left(now);
    timers_changed(ctx);
    Ok(if left == 0 { 0 } else { (left.saturating_add(NSEC_PER_SEC / 2) / NSEC_PER_SEC).max(1) })
}

/// The thread of the caller's process with an id; EINVAL.
fn sibling(ctx: &Ctx, tid: i32) -> Result<TaskId, Errno> {
    let task = ctx.kernel.named_task(tid).ok_or(Errno::EINVAL)?;
    let same = ctx.kernel.other_task(task).shared.process == ctx.kernel.task().shared.process;
    if same { Ok(task) } else { Err(Errno::EINVAL) }
}

/// timer_create(2).
fn timer_create(ctx: &mut Ctx, [clock, event, id_addr, ..]: [u64; 6]) -> SysResult {
    let event = if event == 0 { None } else { Some(get_words::<8>(ctx.mem, event)?) };
    if is_of_device(clock) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let alarms = is_of_alarms(clock);
    let clock = if alarms { CLOCK_REALTIME as u64 } else { clock };
    let cpu = cpu_clock(ctx, clock, false)?;
    let clock = match cpu {
        Some(CpuClock::Process(_)) => ClockId::ProcessCpu,
        Some(CpuClock::Task(_)) => ClockId::ThreadCpu,
        None => ClockId::find(clock, 0)?,
    };
    if cpu.is_none() && !matches!(clock, ClockId::Realtime | ClockId::Tai | ClockId::Monotonic) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let wanted = match ctx.kernel.process().timers.restore_ids {
        true => Some(i32::try_from(get_u32(ctx.mem, id_addr)?).map_err(|_| Errno::EINVAL)?),
        false => None,
    };
    let id = ctx.kernel.process_mut().timers.take_id(wanted)?;
    let (value, signo, task) = match event {
        None => (id as u64, Some(SIGALRM), None),
        Some([value, signo_notify, tid, ..]) => {
            let (signo, notify) = (signo_notify as i32, (signo_notify >> 32) as i32);
            let task = match notify {
                SIGEV_SIGNAL | SIGEV_THREAD | SIGEV_NONE => None,
                SIGEV_THREAD_ID => Some(sibling(ctx, tid as i32)?),
                _ => return Err(Errno::EINVAL.into()),
            };
            if notify != SIGEV_NONE && bit(signo) == 0 {
                return Err(Errno::EINVAL.into());
            }
            (value, (notify != SIGEV_NONE).then_some(signo), task)
        }
    };
    if alarms {
        return Err(Errno::EOPNOTSUPP.into());
    }
    put_u32(ctx.mem, id_addr, id as u32)?;
    let alarm = Alarm::default();
    let timer = PosixTimer {
        cpu,
        offset: ctx.kernel.clock.start(clock),
        realtime: matches!(clock, ClockId::Realtime | ClockId::Tai),
        absolute: false,
        alarm,
        signo,
        value,
        task,
        overrun: 0,
    };
    ctx.kernel.process_mut().timers.create(id, timer);
    Ok(0)
}

/// A timer by its id; EINVAL.
fn find(ctx: &Ctx, id: u64) -> Result<PosixTimer, Errno> {
    ctx.kernel.process().timers.posix(id as i32).copied()
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
    let timer = find(ctx, id)?;
    let now = now_of(ctx, &timer);
    let expires = match value {
        0 => None,
        _ if flags & TIMER_ABSTIME != 0 => Some(value.saturating_sub(timer.offset)),
        _ => Some(now.saturating_add(value)),
    };
    let alarm = Alarm { expires, interval };
    let before = ctx.kernel.set_timer(id as i32, alarm, flags & TIMER_ABSTIME != 0)?;
    if old != 0 {
        put_itimerspec(ctx, old, &before, now)?;
    }
    Ok(0)
}

/// timer_gettime(2).
fn timer_gettime(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    let timer = find(ctx, id)?;
    let now = now_of(ctx, &timer);
    put_itimerspec(ctx, addr, &timer.alarm, now)?;
    Ok(0)
}

/// timer_getoverrun(2).
fn timer_getoverrun(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    Ok(find(ctx, id)?.overrun as u64)
}

/// timer_delete(2).
fn timer_delete(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.delete_timer(id as i32)?;
    Ok(0)
}

/// EPERM: the clock goes by instructions; its real time can be set, but not its pace.
fn fixed(ctx: &mut Ctx, call: &str) -> SysResult {
    ctx.kernel.notices.once(format!("{call}: the clock cannot be changed: answered with EPERM"));
    Err(Errno::EPERM.into())
}

/// Sets CLOCK_REALTIME to a valid time; EINVAL beyond what the clock can reach in 30 more years.
pub(super) fn set_realtime(ctx: &mut Ctx, sec: u64, nsec: u64) -> SysResult {
    const LAST: u64 = u64::MAX / 2 / NSEC_PER_SEC - 30 * 365 * 86_400;
    if sec > i64::MAX as u64 / NSEC_PER_SEC {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.task().cred.require(CAP_SYS_TIME)?;
    // The machine was started after 1970.
    if sec >= LAST || sec == 0 {
        return Err(Errno::EINVAL.into());
    }
    let instructions = ctx.cpu.instructions();
    let before = ctx.kernel.clock.start(ClockId::Realtime);
    ctx.kernel.clock.set_realtime(sec * NSEC_PER_SEC + nsec, instructions);
    let by = ctx.kernel.clock.start(ClockId::Realtime).wrapping_sub(before) as i64;
    ctx.kernel.clock_was_set(by);
    Ok(0)
}

/// settimeofday(2).
fn settimeofday(ctx: &mut Ctx, [tv, tz, ..]: [u64; 6]) -> SysResult {
    let time = match tv {
        0 => None,
        tv => Some(get_words::<2>(ctx.mem, tv)?),
    };
    if time.is_some_and(|[_, usec]| usec > USEC_PER_SEC) {
        return Err(Errno::EINVAL.into());
    }
    let west = match tz {
        0 => 0,
        tz => get_words::<1>(ctx.mem, tz)?[0] as i32,
    };
    if time.is_some_and(|[sec, usec]| (sec as i64) < 0 || usec == USEC_PER_SEC) {
        return Err(Errno::EINVAL.into());
    }
    if west.abs() > 15 * 60 {
        ctx.kernel.task().cred.require(CAP_SYS_TIME)?;
        return Err(Errno::EINVAL.into());
    }
    match time {
        Some([sec, usec]) => set_realtime(ctx, sec, usec * 1000),
        None => ctx.kernel.task().cred.require(CAP_SYS_TIME).map(|()| 0).map_err(Into::into),
    }
}

/// clock_settime(2).
fn clock_settime(ctx: &mut Ctx, [id, addr, ..]: [u64; 6]) -> SysResult {
    // Only the real-time clock can be set, and the clocks of processes in their named form.
    if id as i32 > 0 || is_of_device(id) {
        return Err(Errno::EINVAL.into());
    }
    let [sec, nsec] = get_words(ctx.mem, addr)?;
    if id as i32 != 0 {
        cpu_clock(ctx, id, false)?;
        return fixed(ctx, "clock_settime of a process");
    }
    if (sec as i64) < 0 || nsec >= NSEC_PER_SEC {
        return Err(Errno::EINVAL.into());
    }
    set_realtime(ctx, sec, nsec)
}
