//! io_uring_enter(2): entries are submitted, and the program waits for results.

use crate::abi::errno::Errno;
use crate::abi::io_uring::*;
use crate::kernel::clock::ClockId;
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{get_timespec, get_words};
use crate::kernel::wait_queue::QueueId;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::io_uring::register::may_use;
use crate::syscalls::io_uring::setup::ring_of;
use crate::syscalls::io_uring::submit::{ENTER, go_on, submit};
use crate::syscalls::poll::swap_mask;
use crate::syscalls::row::{Row, partial};

/// The call of this file.
pub(in crate::syscalls) const ROWS: &[Row] = &[partial(
    ENTER as u16,
    "io_uring_enter",
    io_uring_enter,
    "an operation that need not wait is done at once; provided buffers, registered rings, direct \
     descriptors, personalities, messages between rings, zero-copy and multishot but for polls are missing",
)];

/// io_uring_enter(2).
fn io_uring_enter(ctx: &mut Ctx, [fd, count, least, flags, arg, size]: [u64; 6]) -> SysResult {
    const KNOWN: u32 = IORING_ENTER_GETEVENTS
        | IORING_ENTER_SQ_WAKEUP
        | IORING_ENTER_SQ_WAIT
        | IORING_ENTER_EXT_ARG
        | IORING_ENTER_ABS_TIMER
        | IORING_ENTER_EXT_ARG_REG
        | IORING_ENTER_NO_IOWAIT;
    let (count, least, flags) = (count as u32, least as i32, flags as u32);
    if flags & !KNOWN != 0 {
        return Err(Errno::EINVAL.into());
    }
    let ring = ring_of(ctx, fd)?;
    if ctx.kernel.fs.rings.get(ring).is_some_and(|held| held.disabled) {
        return Err(Errno::EBADFD.into());
    }
    let (done, finished) = match ctx.kernel.task().call.decided[..] {
        [done, finished] => (done as u32, finished != 0),
        _ => (0, false),
    };
    let done = if finished || count == 0 {
        done
    } else {
        may_use(ctx, ring)?;
        submit(ctx, ring, count, done)?
    };
    if !finished {
        ctx.kernel.task_mut().call.decided = vec![done.into(), 1];
    }
    go_on(ctx)?;
    if done < count || flags & IORING_ENTER_GETEVENTS == 0 {
        return Ok(done.into());
    }
    match await_results(ctx, ring, least, flags, (arg, size)) {
        Ok(()) | Err(Break::Errno(_)) if done > 0 => {
            ctx.kernel.task_mut().signals.interrupted = None; // a call that did something ends
            Ok(done.into())
        }
        result => result.map(|()| 0),
    }
}

/// Waits until so many results are there.
fn await_results(
    ctx: &mut Ctx,
    ring: QueueId,
    least: i32,
    flags: u32,
    (arg, size): (u64, u64),
) -> Result<(), Break> {
    let mut timeout = None;
    let (mut mask, mut mask_size) = (arg, size);
    if flags & IORING_ENTER_EXT_ARG != 0 {
        const GETEVENTS_ARG: u64 = 24;
        // No memory can be registered for it.
        if size != GETEVENTS_ARG || flags & IORING_ENTER_EXT_ARG_REG != 0 {
            return Err(Errno::EINVAL.into());
        }
        let [ext_mask, sizes, time] = get_words(ctx.mem, arg)?;
        if time != 0 {
            timeout = Some(get_timespec(ctx.mem, time)?);
        }
        (mask, mask_size) = (ext_mask, sizes & 0xffff_ffff);
    }
    let Some(held) = ctx.kernel.fs.rings.get_mut(ring) else { return Err(Errno::EBADF.into()) };
    held.flush(ctx.mem);
    let (there, least) = (held.results(ctx.mem), least.min(held.cq_entries as i32));
    // As Linux compares them, so that a number below 0 is no number to wait for.
    if there.wrapping_sub(least as u32) as i32 >= 0 {
        return Ok(());
    }
    if held.has_overflow() {
        return Err(Errno::EBUSY.into());
    }
    swap_mask(ctx, mask, mask_size)?;
    let deadline = match timeout {
        Some(at) if flags & IORING_ENTER_ABS_TIMER != 0 => {
            Some(at.saturating_sub(ctx.kernel.clock.start(ClockId::Monotonic)))
        }
        timeout => timeout.map(|ns| ctx.deadline(ns)),
    };
    match ctx.sleep("io_uring_enter without results", &[WaitKey::Queue(ring)], deadline)? {
        Wake::Event => Err(Break::Sleep),
        _ if there > 0 => Ok(()),
        Wake::Timeout => Err(Errno::ETIME.into()),
        Wake::Signal => Err(ctx.interrupted(Restart::Never)),
    }
}
