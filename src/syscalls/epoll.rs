//! epoll(7).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::file::description::Description;
use crate::kernel::file::epoll::Epoll;
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{copy_to_user, get_array, get_timeout};
use crate::kernel::wait_queue::Watched;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::install;
use crate::syscalls::iovec::access_ok;
use crate::syscalls::poll::{milliseconds, swap_mask, until_ready};
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(213, "epoll_create", epoll_create),
    full(291, "epoll_create1", epoll_create1),
    full(233, "epoll_ctl", epoll_ctl),
    full(232, "epoll_wait", epoll_wait),
    full(281, "epoll_pwait", epoll_pwait),
    full(441, "epoll_pwait2", epoll_pwait2),
];

/// Bytes of `struct epoll_event`, which is packed on x86-64.
const EVENT: usize = 12;
const MAX_EVENTS: u64 = i32::MAX as u64 / EVENT as u64;

/// epoll_create(2).
fn epoll_create(ctx: &mut Ctx, [size, ..]: [u64; 6]) -> SysResult {
    if size as i32 <= 0 {
        return Err(Errno::EINVAL.into());
    }
    epoll_create1(ctx, [0; 6])
}

/// epoll_create1(2).
fn epoll_create1(ctx: &mut Ctx, [flags, ..]: [u64; 6]) -> SysResult {
    if flags as u32 & !O_CLOEXEC != 0 {
        return Err(Errno::EINVAL.into());
    }
    let epoll = Epoll(ctx.kernel.fs.queues.add_epoll());
    let open = Description::new(epoll, O_RDWR, b"anon_inode:[eventpoll]");
    install(ctx, open, flags as u32 & O_CLOEXEC != 0)
}

/// epoll_ctl(2). What never blocks, such as regular files, is EPERM.
pub(super) fn epoll_ctl(ctx: &mut Ctx, [epfd, op, fd, event, ..]: [u64; 6]) -> SysResult {
    let op = u64::from(op as u32);
    let event: [u8; EVENT] = if op == EPOLL_CTL_DEL { [0; EVENT] } else { get_array(ctx.mem, event)? };
    let (outer, file) = (ctx.opened(epfd as i32)?, ctx.opened(fd as i32)?);
    let [e0, e1, e2, e3, data @ ..] = event;
    let (files, mut cx) = ctx.file_ops();
    let open = files.get(file);
    if !open.ops.can_be_watched(cx.streams) {
        return Err(Errno::EPERM.into());
    }
    let queue = open.ops.wait_queue(cx.fs);
    let epoll = files.epoll(outer)?;
    if outer == file {
        return Err(Errno::EINVAL.into());
    }
    let ready = files.poll(file, &mut cx, false)?;
    let what = Watched { key: (file, fd as i32), queue, ready };
    cx.fs.queues.control(epoll, op, u32::from_le_bytes([e0, e1, e2, e3]), u64::from_le_bytes(data), what)?;
    Ok(0)
}

fn wait_events(ctx: &mut Ctx, epfd: u64, buf: u64, max: u64, timeout: Option<u64>) -> SysResult {
    let file = ctx.pin_opened(epfd as i32)?;
    let max = u64::try_from(max as i32).unwrap_or(0);
    if max == 0 || max > MAX_EVENTS {
        return Err(Errno::EINVAL.into());
    }
    access_ok(&[(buf, max * EVENT as u64)])?;
    let epoll = ctx.kernel.files.epoll(file)?;
    until_ready(ctx, timeout, ("epoll_wait", Restart::Fails), |ctx, wait, keys| {
        ctx.kernel.await_file(file, keys);
        let (files, mut cx) = ctx.file_ops();
        Ok(files.has_events(epoll, &mut cx, wait)?.into())
    })?;
    let (files, mut cx) = ctx.file_ops();
    let count = files.report(epoll, &mut cx, max, |cx, at, events, data| {
        let mut event = [0; EVENT];
        event[..4].copy_from_slice(&events.to_le_bytes());
        event[4..].copy_from_slice(&data.to_le_bytes());
        copy_to_user(cx.mem, buf + at * EVENT as u64, &event)
    })?;
    Ok(count)
}

/// epoll_wait(2).
fn epoll_wait(ctx: &mut Ctx, [epfd, buf, max, timeout, ..]: [u64; 6]) -> SysResult {
    wait_events(ctx, epfd, buf, max, milliseconds(timeout))
}

/// epoll_pwait(2).
fn epoll_pwait(ctx: &mut Ctx, [epfd, buf, max, timeout, mask, size]: [u64; 6]) -> SysResult {
    swap_mask(ctx, mask, size)?;
    wait_events(ctx, epfd, buf, max, milliseconds(timeout))
}

/// epoll_pwait2(2): the timeout is a `struct timespec`.
fn epoll_pwait2(ctx: &mut Ctx, [epfd, buf, max, timeout, mask, size]: [u64; 6]) -> SysResult {
    let timeout = get_timeout(ctx.mem, timeout)?;
    swap_mask(ctx, mask, size)?;
    wait_events(ctx, epfd, buf, max, timeout)
}
