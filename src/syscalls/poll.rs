//! poll(2), ppoll(2), select(2) and pselect(2). Timeouts run on the guest's clock.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::signal::SIGSET_SIZE;
use crate::abi::time::{NSEC_PER_SEC, timeval};
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::operations::{READABLE, WRITABLE};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{
    copy_from_user, copy_to_user, get_timeout, get_u64, get_words, put_timespec, put_words,
};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::fd;
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(7, "poll", poll),
    full(271, "ppoll", ppoll),
    full(23, "select", select),
    full(270, "pselect6", pselect6),
];

/// Events of poll(2) that are ready on a description. `wait` lets a question about the host's input
/// wait there.
fn ready(ctx: &mut Ctx, file: FileNo, wait: bool) -> Result<u16, Errno> {
    let (files, mut cx) = ctx.file_ops();
    files.poll(file, &mut cx, wait)
}

/// Asks until something is ready, the time is up or a signal comes. `ask` says how much is ready;
/// its flag allows it to wait on the host, which a call without a timeout does.
pub(super) fn until_ready(
    ctx: &mut Ctx,
    timeout: Option<u64>,
    (name, restart): (&'static str, Restart),
    mut ask: impl FnMut(&mut Ctx, bool, &mut Vec<WaitKey>) -> Result<u64, Errno>,
) -> SysResult {
    let mut keys = Vec::new();
    if timeout == Some(0) {
        return Ok(ask(ctx, false, &mut keys)?);
    }
    let deadline = timeout.map(|ns| ctx.deadline(ns));
    let wait = timeout.is_none() && ctx.kernel.is_idle();
    let ready = ask(ctx, wait, &mut keys)?;
    if ready > 0 {
        return Ok(ready);
    }
    ctx.kernel.task_mut().call.frail = restart == Restart::Fails;
    match ctx.sleep(name, &keys, deadline)? {
        Wake::Timeout => Ok(0),
        Wake::Signal => Err(ctx.interrupted(restart)),
        Wake::Event => Err(Break::Sleep),
    }
}

fn poll_all(ctx: &mut Ctx, addr: u64, count: u64, timeout: Option<u64>) -> SysResult {
    let count = count & 0xffff_ffff;
    if count > fd::limit(ctx) {
        return Err(Errno::EINVAL.into());
    }
    let mut bytes = vec![0; count as usize * 8];
    copy_from_user(ctx.mem, addr, &mut bytes)?;
    let result = until_ready(ctx, timeout, ("poll", Restart::Never), |ctx, wait, keys| {
        let mut ready = 0;
        for entry in bytes.as_chunks_mut::<8>().0 {
            let [a, b, c, d, e0, e1, ..] = *entry;
            let wanted = u16::from_le_bytes([e0, e1]);
            let fd = i32::from_le_bytes([a, b, c, d]);
            let found = match ctx.opened(fd) {
                _ if fd < 0 => 0,
                Ok(file) => {
                    ctx.kernel.await_file(file, keys);
                    self::ready(ctx, file, wait)? & (wanted | POLLERR | POLLHUP)
                }
                Err(_) => POLLNVAL,
            };
            entry[6..].copy_from_slice(&found.to_le_bytes());
            ready += u64::from(found != 0);
        }
        Ok(ready)
    });
    // That nothing is ready is written too where a signal has ended the call.
    if !matches!(result, Err(Break::Sleep | Break::Pause)) {
        copy_to_user(ctx.mem, addr, &bytes)?;
    }
    result
}

/// A timeout in milliseconds, negative for none, in nanoseconds.
pub(super) fn milliseconds(timeout: u64) -> Option<u64> {
    u64::try_from(timeout as i32).ok().map(|ms| ms * 1_000_000)
}

/// poll(2).
fn poll(ctx: &mut Ctx, [fds, count, timeout, ..]: [u64; 6]) -> SysResult {
    poll_all(ctx, fds, count, milliseconds(timeout))
}

/// Puts another signal mask in place until the call is over; EINVAL, EFAULT.
pub(super) fn swap_mask(ctx: &mut Ctx, addr: u64, size: u64) -> Result<(), Errno> {
    if addr == 0 {
        return Ok(());
    }
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL);
    }
    let mask = get_u64(ctx.mem, addr)?;
    ctx.mask_for_this_call(mask);
    Ok(())
}

/// ppoll(2): the time that is left is written back.
fn ppoll(ctx: &mut Ctx, [fds, count, timeout, mask, size, _]: [u64; 6]) -> SysResult {
    let wanted = get_timeout(ctx.mem, timeout)?;
    swap_mask(ctx, mask, size)?;
    let deadline = wanted.map(|ns| ctx.deadline(ns));
    let result = poll_all(ctx, fds, count, wanted);
    put_left(ctx, timeout, deadline, &result);
    result
}

/// Writes the time that is left of a timeout; that it cannot be written is no error.
fn put_left(ctx: &mut Ctx, addr: u64, deadline: Option<u64>, result: &SysResult) {
    if let (Some(deadline), false) = (deadline, matches!(result, Err(Break::Sleep))) {
        let left = deadline.saturating_sub(ctx.now());
        let _ = put_timespec(ctx.mem, addr, left);
    }
}

fn select_all(ctx: &mut Ctx, count: u64, sets: [u64; 3], timeout: Option<u64>) -> SysResult {
    // Descriptors beyond the table are left out, select(2) BUGS: they are no EBADF.
    let count = usize::try_from(count as i32).map_err(|_| Errno::EINVAL)?.min(ctx.kernel.fds().size());
    let len = count.div_ceil(64) * 8;
    let mut wanted = Vec::new();
    for addr in sets {
        let mut set = vec![0; len];
        if addr != 0 {
            copy_from_user(ctx.mem, addr, &mut set)?;
        }
        wanted.push(set);
    }
    let mut found = vec![vec![0u8; len]; 3];
    let ready = until_ready(ctx, timeout, ("select", Restart::Never), |ctx, wait, keys| {
        let mut ready = 0;
        for fd in 0..count {
            let (byte, bit) = (fd / 8, 1u8 << (fd % 8));
            if wanted.iter().all(|set| set[byte] & bit == 0) {
                continue;
            }
            ctx.kernel.fds().get(fd as i32)?;
            let wait = wait && wanted[0][byte] & bit != 0;
            let events = match ctx.opened(fd as i32) {
                Ok(file) => {
                    ctx.kernel.await_file(file, keys);
                    self::ready(ctx, file, wait)?
                }
                Err(_) => POLLNVAL, // as every event, do_select()
            };
            let masks =
                [READABLE | POLLHUP | POLLERR | POLLNVAL, WRITABLE | POLLERR | POLLNVAL, POLLPRI | POLLNVAL];
            for (at, mask) in masks.iter().enumerate() {
                if wanted[at][byte] & bit != 0 && events & mask != 0 {
                    found[at][byte] |= bit;
                    ready += 1;
                }
            }
        }
        Ok(ready)
    })?;
    for (addr, set) in sets.iter().zip(&found) {
        if *addr != 0 {
            copy_to_user(ctx.mem, *addr, set)?;
        }
    }
    Ok(ready)
}

/// select(2): the time that is left is written back.
fn select(ctx: &mut Ctx, [count, read, write, except, timeout, _]: [u64; 6]) -> SysResult {
    let wanted = match timeout {
        0 => None,
        addr => {
            let [sec, usec] = get_words(ctx.mem, addr)?;
            if (sec as i64) < 0 || (usec as i64) < 0 {
                return Err(Errno::EINVAL.into());
            }
            Some(sec.saturating_mul(NSEC_PER_SEC).saturating_add(usec.saturating_mul(1000)))
        }
    };
    let deadline = wanted.map(|ns| ctx.deadline(ns));
    let result = select_all(ctx, count, [read, write, except], wanted);
    if let (Some(deadline), false) = (deadline, matches!(result, Err(Break::Sleep))) {
        let left = deadline.saturating_sub(ctx.now());
        // A timeout that cannot be written is no error.
        let _ = put_words(ctx.mem, timeout, &timeval(left));
    }
    result
}

/// pselect(2): the sixth argument points at the mask and its size.
fn pselect6(ctx: &mut Ctx, [count, read, write, except, timeout, mask]: [u64; 6]) -> SysResult {
    let wanted = get_timeout(ctx.mem, timeout)?;
    if mask != 0 {
        let [addr, size] = get_words(ctx.mem, mask)?;
        swap_mask(ctx, addr, size)?;
    }
    let deadline = wanted.map(|ns| ctx.deadline(ns));
    let result = select_all(ctx, count, [read, write, except], wanted);
    put_left(ctx, timeout, deadline, &result);
    result
}
