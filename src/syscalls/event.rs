//! Descriptors that tell of events: timerfd_create(2), signalfd(2), inotify(7).

use crate::abi::capability::CAP_WAKE_ALARM;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::*;
use crate::abi::signal::{SIGSET_SIZE, UNBLOCKABLE};
use crate::abi::time::*;
use crate::kernel::clock::ClockId;
use crate::kernel::file::description::Description;
use crate::kernel::file::inotify::Inotify;
use crate::kernel::file::signalfd::SignalFile;
use crate::kernel::file::timerfd::TimerFile;
use crate::kernel::timerfd::TimerFd;
use crate::kernel::timers::Alarm;
use crate::kernel::uaccess::{get_u64, get_words, put_timespec};
use crate::kernel::wait_queue::QueueId;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::install;
use crate::syscalls::fs::get_path;
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(283, "timerfd_create", timerfd_create),
    full(286, "timerfd_settime", timerfd_settime),
    full(287, "timerfd_gettime", timerfd_gettime),
    full(282, "signalfd", signalfd),
    full(289, "signalfd4", signalfd4),
    full(253, "inotify_init", inotify_init),
    full(294, "inotify_init1", inotify_init1),
    full(254, "inotify_add_watch", inotify_add_watch),
    full(255, "inotify_rm_watch", inotify_rm_watch),
];

/// The clock that a timer of timerfd_create(2) follows; EINVAL.
fn timer_clock(id: i32) -> Result<ClockId, Errno> {
    match id {
        CLOCK_REALTIME | CLOCK_REALTIME_ALARM => Ok(ClockId::Realtime),
        CLOCK_MONOTONIC | CLOCK_BOOTTIME | CLOCK_BOOTTIME_ALARM => Ok(ClockId::Monotonic),
        _ => Err(Errno::EINVAL),
    }
}

/// Checks that the caller may have a timer that wakes the machine; EPERM.
fn may_wake(ctx: &Ctx, id: i32) -> Result<(), Errno> {
    match id {
        CLOCK_REALTIME_ALARM | CLOCK_BOOTTIME_ALARM => ctx.kernel.task().cred.require(CAP_WAKE_ALARM),
        _ => Ok(()),
    }
}

/// timerfd_create(2).
fn timerfd_create(ctx: &mut Ctx, [clock, flags, ..]: [u64; 6]) -> SysResult {
    let (id, flags) = (clock as i32, flags as u32);
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let realtime = timer_clock(id)? == ClockId::Realtime;
    may_wake(ctx, id)?;
    let fs = &mut ctx.kernel.fs;
    let queue = fs.queues.add();
    fs.timer_fds.add(queue, TimerFd::new(id, realtime));
    let open = Description::new(TimerFile(queue), O_RDWR | flags & O_NONBLOCK, b"anon_inode:[timerfd]");
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// The timer of a descriptor; EBADF, EINVAL.
fn timer(ctx: &Ctx, fd: u64) -> Result<QueueId, Errno> {
    let file = ctx.opened(fd as i32)?;
    ctx.kernel.files.get(file).ops.timer().ok_or(Errno::EINVAL)
}

fn put_itimerspec(ctx: &mut Ctx, addr: u64, alarm: Alarm, now: u64) -> Result<(), Errno> {
    put_timespec(ctx.mem, addr, alarm.interval)?;
    put_timespec(ctx.mem, addr.wrapping_add(16), alarm.left(now))
}

/// timerfd_settime(2).
fn timerfd_settime(ctx: &mut Ctx, [fd, flags, new, old, ..]: [u64; 6]) -> SysResult {
    let words: [u64; 4] = get_words(ctx.mem, new)?;
    let time = |at: usize| match words[at..at + 2] {
        [sec, nsec] if (sec as i64) >= 0 && nsec < NSEC_PER_SEC => {
            Ok(sec.saturating_mul(NSEC_PER_SEC).saturating_add(nsec))
        }
        _ => Err(Errno::EINVAL),
    };
    let (interval, value) = (time(0)?, time(2)?);
    let flags = flags as u32;
    if flags & !(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let queue = timer(ctx, fd)?;
    let id = ctx.kernel.fs.timer_fds.get(queue).map_or(0, |timer| timer.clock);
    may_wake(ctx, id)?;
    let now = ctx.now();
    let expires = match value {
        0 => None,
        _ if flags & TFD_TIMER_ABSTIME != 0 => {
            Some(value.saturating_sub(ctx.kernel.clock.start(timer_clock(id)?)))
        }
        _ => Some(now.saturating_add(value)),
    };
    let (before, result) = ctx.kernel.fs.timer_fds.set(queue, now, Alarm { expires, interval }, flags);
    result?;
    ctx.kernel.fs.expire_timer_fds(now);
    if old != 0 {
        put_itimerspec(ctx, old, before, now)?;
    }
    Ok(0)
}

/// timerfd_gettime(2).
fn timerfd_gettime(ctx: &mut Ctx, [fd, addr, ..]: [u64; 6]) -> SysResult {
    let queue = timer(ctx, fd)?;
    let now = ctx.now();
    let alarm = ctx.kernel.fs.timer_fds.look(queue, now);
    put_itimerspec(ctx, addr, alarm, now)?;
    Ok(0)
}

/// signalfd(2), the first system call, which has no flags.
fn signalfd(ctx: &mut Ctx, [fd, mask, size, ..]: [u64; 6]) -> SysResult {
    signalfd4(ctx, [fd, mask, size, 0, 0, 0])
}

/// signalfd(2).
fn signalfd4(ctx: &mut Ctx, [fd, mask, size, flags, ..]: [u64; 6]) -> SysResult {
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let mask = get_u64(ctx.mem, mask)? & !UNBLOCKABLE;
    let flags = flags as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(Errno::EINVAL.into());
    }
    if fd as i32 != -1 {
        let file = ctx.opened(fd as i32)?;
        *ctx.kernel.files.get_mut(file).ops.signals().ok_or(Errno::EINVAL)? = mask;
        return Ok(u64::from(fd as u32));
    }
    let flagged = O_RDWR | flags & O_NONBLOCK;
    let open = Description::new(SignalFile { mask }, flagged, b"anon_inode:[signalfd]");
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// inotify_init(2), the first system call, which has no flags.
fn inotify_init(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    inotify_init1(ctx, [0; 6])
}

/// inotify_init(2).
fn inotify_init1(ctx: &mut Ctx, [flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let fs = &mut ctx.kernel.fs;
    let queue = fs.queues.add();
    fs.notify.add(queue)?;
    let open = Description::new(Inotify(queue), flags & O_NONBLOCK, b"anon_inode:inotify");
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// inotify_add_watch(2).
fn inotify_add_watch(ctx: &mut Ctx, [fd, path, mask, ..]: [u64; 6]) -> SysResult {
    let mask = mask as u32;
    if mask & !IN_ALL_BITS != 0 || mask == 0 {
        return Err(Errno::EINVAL.into());
    }
    let file = ctx.opened(fd as i32)?;
    if mask & IN_MASK_ADD != 0 && mask & IN_MASK_CREATE != 0 {
        return Err(Errno::EINVAL.into());
    }
    let queue = ctx.kernel.files.get(file).ops.inotify().ok_or(Errno::EINVAL)?;
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    let ino = fs.locate(&caller, AT_FDCWD, &path, mask & IN_DONT_FOLLOW == 0)?.exists()?;
    if mask & IN_ONLYDIR != 0 && !fs.node(ino).is_dir() {
        return Err(Errno::ENOTDIR.into());
    }
    caller.may(fs.node(ino), R_OK)?;
    let watch = fs.notify.watch(queue, ino, mask)?;
    Ok(watch as u64)
}

/// inotify_rm_watch(2).
fn inotify_rm_watch(ctx: &mut Ctx, [fd, watch, ..]: [u64; 6]) -> SysResult {
    let file = ctx.opened(fd as i32)?;
    let queue = ctx.kernel.files.get(file).ops.inotify().ok_or(Errno::EINVAL)?;
    let fs = &mut ctx.kernel.fs;
    fs.notify.unwatch(queue, watch as i32, &mut fs.queues)?;
    Ok(0)
}
