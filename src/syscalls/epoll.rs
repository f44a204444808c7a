//! epoll(7), level- and edge-triggered, and the kinds of descriptor that are not there: timerfd, signalfd,
//! inotify, fanotify, io_uring.

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::uaccess::{copy_to_user, get_array, get_timespec};
use crate::kernel::vfs::file::{Description, FileKind, FileNo};
use crate::kernel::vfs::node::Body;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::install;
use crate::syscalls::poll::{ready, until_ready};
use crate::syscalls::row::{Row, full, partial, refused};

const EDGES: &str = "EPOLLET reports again only after the descriptor was not ready";

const fn absent(number: u16, name: &'static str) -> Row {
    refused(number, name, no_such_call, "ENOSYS")
}

/// The calls of this file.
pub const ROWS: &[Row] = &[
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

const EPOLL_CTL_ADD: u64 = 1;
const EPOLL_CTL_DEL: u64 = 2;
const EPOLL_CTL_MOD: u64 = 3;
/// Bytes of `struct epoll_event`, which is packed on x86-64.
const EVENT: usize = 12;
const MAX_EVENTS: u64 = i32::MAX as u64 / EVENT as u64;

/// What is watched on one descriptor.
#[derive(Clone, Copy, Debug)]
struct Watch {
    file: FileNo,
    events: u32,
    data: u64,
    /// Disarmed by EPOLLONESHOT.
    spent: bool,
    /// What was ready when it was last reported, for EPOLLET.
    seen: u32,
}

/// The interest list of an epoll instance, by descriptor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epoll {
    watches: BTreeMap<i32, Watch>,
}

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
    let kind = FileKind::Epoll(Epoll::default());
    let file = ctx.kernel.fs.files.add(Description::new(kind, O_RDWR, b"anon_inode:[eventpoll]"));
    install(ctx, file, flags as u32 & O_CLOEXEC != 0)
}

fn list<'c>(ctx: &'c mut Ctx, file: FileNo) -> Result<&'c mut Epoll, Errno> {
    match &mut ctx.kernel.fs.files.get_mut(file).kind {
        FileKind::Epoll(epoll) => Ok(epoll),
        _ => Err(Errno::EINVAL),
    }
}

/// epoll_ctl(2). Regular files and directories are EPERM; an epoll instance cannot watch another.
fn epoll_ctl(ctx: &mut Ctx, [epfd, op, fd, event, ..]: [u64; 6]) -> SysResult {
    let epoll = ctx.kernel.fds().get(epfd as i32)?;
    let file = ctx.kernel.fds().get(fd as i32)?;
    let event: [u8; EVENT] = if op == EPOLL_CTL_DEL { [0; EVENT] } else { get_array(ctx.mem, event)? };
    let [e0, e1, e2, e3, data @ ..] = event;
    if let FileKind::Inode(ino) = ctx.kernel.fs.files.get(file).kind
        && !matches!(ctx.kernel.fs.node(ino).body, Body::Device(_))
    {
        return Err(Errno::EPERM.into());
    }
    if epoll == file || matches!(ctx.kernel.fs.files.get(file).kind, FileKind::Epoll(_)) {
        return Err(Errno::EINVAL.into());
    }
    let watch = Watch {
        file,
        events: u32::from_le_bytes([e0, e1, e2, e3]),
        data: u64::from_le_bytes(data),
        spent: false,
        seen: 0,
    };
    let watches = &mut list(ctx, epoll)?.watches;
    let fd = fd as i32;
    match (op, watches.contains_key(&fd)) {
        (EPOLL_CTL_ADD, true) => return Err(Errno::EEXIST.into()),
        (EPOLL_CTL_DEL | EPOLL_CTL_MOD, false) => return Err(Errno::ENOENT.into()),
        (EPOLL_CTL_ADD | EPOLL_CTL_MOD, _) => {
            watches.insert(fd, watch);
        }
        (EPOLL_CTL_DEL, true) => {
            watches.remove(&fd);
        }
        _ => return Err(Errno::EINVAL.into()),
    }
    Ok(0)
}

/// A closed descriptor leaves the interest lists.
pub(crate) fn forget_closed(ctx: &mut Ctx, fd: i32) {
    for at in ctx.kernel.fds().numbers().collect::<Vec<_>>() {
        if let Ok(file) = ctx.kernel.fds().get(at)
            && let FileKind::Epoll(epoll) = &mut ctx.kernel.fs.files.get_mut(file).kind
        {
            epoll.watches.remove(&fd);
        }
    }
}

/// The watches that have something to report, by descriptor, and what.
fn collect(ctx: &mut Ctx, epoll: FileNo, wait: bool) -> Result<Vec<(i32, u32)>, Errno> {
    let watches: Vec<(i32, Watch)> =
        list(ctx, epoll)?.watches.iter().map(|(fd, watch)| (*fd, *watch)).collect();
    let mut found = Vec::new();
    for (fd, watch) in watches {
        let wait = wait && watch.events & u32::from(POLLIN) != 0;
        let events = u32::from(ready(ctx, watch.file, wait)?);
        let wanted = events & (watch.events | u32::from(POLLERR | POLLHUP));
        let news = if watch.events & EPOLLET != 0 { wanted & !watch.seen } else { wanted };
        if news != 0 && !watch.spent {
            found.push((fd, wanted));
        } else if let Some(watch) = list(ctx, epoll)?.watches.get_mut(&fd) {
            watch.seen &= events; // what went away may come anew
        }
    }
    Ok(found)
}

/// Whether an epoll instance has anything to report.
pub(crate) fn has_ready(ctx: &mut Ctx, epoll: FileNo) -> Result<bool, Errno> {
    Ok(!collect(ctx, epoll, false)?.is_empty())
}

fn wait_events(ctx: &mut Ctx, epfd: u64, buf: u64, max: u64, timeout: Option<u64>) -> SysResult {
    let epoll = ctx.kernel.fds().get(epfd as i32)?;
    list(ctx, epoll)?;
    let max = u64::try_from(max as i32).unwrap_or(0);
    if max == 0 || max > MAX_EVENTS {
        return Err(Errno::EINVAL.into());
    }
    let mut found = Vec::new();
    until_ready(ctx, timeout, "epoll_wait", |ctx, wait| {
        found = collect(ctx, epoll, wait)?;
        Ok(found.len() as u64)
    })?;
    found.truncate(max as usize);
    let mut bytes = Vec::new();
    for (fd, events) in &found {
        if let Some(watch) = list(ctx, epoll)?.watches.get_mut(fd) {
            bytes.extend_from_slice(&events.to_le_bytes());
            bytes.extend_from_slice(&watch.data.to_le_bytes());
            watch.seen = *events;
            watch.spent = watch.events & EPOLLONESHOT != 0;
        }
    }
    copy_to_user(ctx.mem, buf, &bytes)?;
    Ok(found.len() as u64)
}

fn milliseconds(timeout: u64) -> Option<u64> {
    u64::try_from(timeout as i32).ok().map(|ms| ms * 1_000_000)
}

/// epoll_wait(2).
fn epoll_wait(ctx: &mut Ctx, [epfd, buf, max, timeout, ..]: [u64; 6]) -> SysResult {
    wait_events(ctx, epfd, buf, max, milliseconds(timeout))
}

/// epoll_pwait(2).
fn epoll_pwait(ctx: &mut Ctx, [epfd, buf, max, timeout, mask, size]: [u64; 6]) -> SysResult {
    crate::syscalls::poll::swap_mask(ctx, mask, size)?;
    wait_events(ctx, epfd, buf, max, milliseconds(timeout))
}

/// epoll_pwait2(2): the timeout is a `struct timespec`.
fn epoll_pwait2(ctx: &mut Ctx, [epfd, buf, max, timeout, mask, size]: [u64; 6]) -> SysResult {
    let timeout = if timeout == 0 { None } else { Some(get_timespec(ctx.mem, timeout)?) };
    crate::syscalls::poll::swap_mask(ctx, mask, size)?;
    wait_events(ctx, epfd, buf, max, timeout)
}

fn no_such_call(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let number = ctx.cpu.gpr(crate::guest::Gpr::Rax);
    let name = ROWS.iter().find(|row| u64::from(row.number) == number).map_or("call", |row| row.name);
    ctx.kernel.notices.once(format!("{name}: not there, answered with ENOSYS"));
    Err(Errno::ENOSYS.into())
}
