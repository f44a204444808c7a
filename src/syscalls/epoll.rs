//! epoll(7), level- and edge-triggered, and kinds of descriptor that are missing: timerfd,
//! signalfd, inotify, fanotify, io_uring.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::file::description::Description;
use crate::kernel::file::epoll::Epoll;
use crate::kernel::file::interest::Watch;
use crate::kernel::uaccess::{copy_to_user, get_array, get_timeout};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::install;
use crate::syscalls::poll::{milliseconds, swap_mask, until_ready};
use crate::syscalls::row::{Row, full, partial, refused};

const EDGES: &str = "EPOLLET reports again only after the descriptor was not ready";

const fn absent(number: u16, name: &'static str) -> Row {
    refused(number, name, no_such_call, "ENOSYS")
}

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(213, "epoll_create", epoll_create),
    full(291, "epoll_create1", epoll_create1),
    partial(233, "epoll_ctl", epoll_ctl, "one epoll instance cannot watch another: EINVAL"),
    partial(232, "epoll_wait", epoll_wait, EDGES),
    partial(281, "epoll_pwait", epoll_pwait, EDGES),
    partial(441, "epoll_pwait2", epoll_pwait2, EDGES),
    absent(282, "signalfd"),
    absent(289, "signalfd4"),
    absent(283, "timerfd_create"),
    absent(286, "timerfd_settime"),
    absent(287, "timerfd_gettime"),
    absent(253, "inotify_init"),
    absent(294, "inotify_init1"),
    absent(254, "inotify_add_watch"),
    absent(255, "inotify_rm_watch"),
    absent(300, "fanotify_init"),
    absent(301, "fanotify_mark"),
    absent(425, "io_uring_setup"),
    absent(426, "io_uring_enter"),
    absent(427, "io_uring_register"),
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
    let open = Description::new(Epoll::default(), O_RDWR, b"anon_inode:[eventpoll]");
    install(ctx, open, flags as u32 & O_CLOEXEC != 0)
}

/// epoll_ctl(2). Regular files and directories are EPERM; an epoll instance cannot watch another.
fn epoll_ctl(ctx: &mut Ctx, [epfd, op, fd, event, ..]: [u64; 6]) -> SysResult {
    let epoll = ctx.kernel.fds().get(epfd as i32)?;
    let file = ctx.kernel.fds().get(fd as i32)?;
    let event: [u8; EVENT] = if op == EPOLL_CTL_DEL { [0; EVENT] } else { get_array(ctx.mem, event)? };
    let [e0, e1, e2, e3, data @ ..] = event;
    let (files, cx) = ctx.file_ops();
    if !files.get(file).ops.can_be_watched(cx.fs) {
        return Err(Errno::EPERM.into());
    }
    if epoll == file || files.interest_list(file).is_ok() {
        return Err(Errno::EINVAL.into());
    }
    let watch = Watch::new(file, u32::from_le_bytes([e0, e1, e2, e3]), u64::from_le_bytes(data));
    files.interest_list(epoll)?.control(op, fd as i32, watch)?;
    Ok(0)
}

fn wait_events(ctx: &mut Ctx, epfd: u64, buf: u64, max: u64, timeout: Option<u64>) -> SysResult {
    let epoll = ctx.kernel.fds().get(epfd as i32)?;
    ctx.kernel.files.interest_list(epoll)?;
    let max = u64::try_from(max as i32).unwrap_or(0);
    if max == 0 || max > MAX_EVENTS {
        return Err(Errno::EINVAL.into());
    }
    let mut found = Vec::new();
    until_ready(ctx, timeout, "epoll_wait", |ctx, wait| {
        let (files, mut cx) = ctx.file_ops();
        found = files.watched_events(epoll, &mut cx, wait)?;
        Ok(found.len() as u64)
    })?;
    found.truncate(max as usize);
    let list = ctx.kernel.files.interest_list(epoll)?;
    let mut bytes = Vec::new();
    for (fd, events) in &found {
        if let Some(data) = list.report(*fd, *events) {
            bytes.extend_from_slice(&events.to_le_bytes());
            bytes.extend_from_slice(&data.to_le_bytes());
        }
    }
    copy_to_user(ctx.mem, buf, &bytes)?;
    Ok(found.len() as u64)
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

fn no_such_call(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let number = ctx.cpu.gpr(crate::guest::Gpr::Rax);
    let name = ROWS.iter().find(|row| u64::from(row.number) == number).map_or("call", |row| row.name);
    ctx.kernel.notices.once(format!("{name}: not there, answered with ENOSYS"));
    Err(Errno::ENOSYS.into())
}
