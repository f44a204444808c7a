//! Descriptors: dup(2), close(2), fcntl(2).

use crate::abi::capability::CAP_FOWNER;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::DN_MULTISHOT;
use crate::abi::resource::Resource;
use crate::abi::signal::signo::SIGRTMAX;
use crate::kernel::fasync::Owner;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::description::Description;
use crate::kernel::file::operations::{READABLE, WRITABLE};
use crate::kernel::state::Parts;
use crate::kernel::uaccess::{copy_to_user, get_u32, get_u64, put_u32, put_u64};
use crate::kernel::vfs::node::{Body, MEMFD_DEV};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::lock;
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(3, "close", close),
    full(32, "dup", dup),
    full(33, "dup2", dup2),
    full(292, "dup3", dup3),
    full(72, "fcntl", fcntl),
    full(436, "close_range", close_range),
];

const CLOSE_RANGE_UNSHARE: u64 = 2;
const CLOSE_RANGE_CLOEXEC: u64 = 4;

/// The limit on descriptor numbers, RLIMIT_NOFILE.
pub(super) fn limit(ctx: &Ctx) -> u64 {
    ctx.kernel.process().limits.soft(Resource::Nofile)
}

/// Gives a new description a descriptor, or gives the description up again.
pub(super) fn install(ctx: &mut Ctx, open: Description, cloexec: bool) -> SysResult {
    let file = ctx.kernel.files.add(open);
    install_file(ctx, file, cloexec)
}

/// Gives a description that has none a descriptor, or gives the description up.
pub(super) fn install_file(ctx: &mut Ctx, file: FileNo, cloexec: bool) -> SysResult {
    let limit = limit(ctx);
    match ctx.kernel.fds_mut().install(file, cloexec, 0, limit) {
        Ok(fd) => Ok(fd as u64),
        Err(errno) => {
            drop_file(ctx, file);
            Err(errno.into())
        }
    }
}

/// Gives up a description that has no descriptor.
pub(super) fn drop_file(ctx: &mut Ctx, file: FileNo) {
    let Parts { files, fs, .. } = ctx.kernel.parts();
    files.put(file, fs, ctx.mem);
}

/// Says once that something was refused, and answers EINVAL.
pub(super) fn refuse(ctx: &mut Ctx, what: String) -> Break {
    ctx.kernel.notices.count("refused with EINVAL: ", &what);
    Break::Errno(Errno::EINVAL)
}

fn duplicate(ctx: &mut Ctx, fd: i32, cloexec: bool, min: u64) -> SysResult {
    let file = ctx.kernel.fds().get(fd)?;
    let limit = limit(ctx);
    let new = ctx.kernel.fds_mut().install(file, cloexec, min, limit)?;
    ctx.kernel.files.hold(file);
    Ok(new as u64)
}

/// close(2).
pub(super) fn close(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.close(fd as i32, ctx.mem)?;
    Ok(0)
}

/// dup(2).
fn dup(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    duplicate(ctx, fd as i32, false, 0)
}

fn dup_to(ctx: &mut Ctx, old: i32, new: i32, cloexec: bool) -> SysResult {
    let limit = limit(ctx);
    let Parts { fds, files, fs, .. } = ctx.kernel.parts();
    let file = fds.get(old)?;
    let at = usize::try_from(new).ok().filter(|at| (*at as u64) < limit).ok_or(Errno::EBADF)?;
    files.hold(file);
    if let Some(replaced) = fds.replace(at, file, cloexec) {
        files.release(replaced, fds.owner(), fs, ctx.mem);
    }
    Ok(new as u64)
}

/// dup2(2): does nothing if both are the same.
fn dup2(ctx: &mut Ctx, [old, new, ..]: [u64; 6]) -> SysResult {
    if old as i32 == new as i32 {
        ctx.kernel.fds().get(old as i32)?;
        return Ok(old as u32 as u64);
    }
    dup_to(ctx, old as i32, new as i32, false)
}

/// dup3(2): O_CLOEXEC is its only flag.
fn dup3(ctx: &mut Ctx, [old, new, flags, ..]: [u64; 6]) -> SysResult {
    if flags as u32 & !O_CLOEXEC != 0 || old as i32 == new as i32 {
        return Err(Errno::EINVAL.into());
    }
    dup_to(ctx, old as i32, new as i32, flags as u32 & O_CLOEXEC != 0)
}

/// close_range(2).
fn close_range(ctx: &mut Ctx, [first, last, flags, ..]: [u64; 6]) -> SysResult {
    let (first, last, flags) = (first as u32, last as u32, u64::from(flags as u32));
    if flags & !(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) != 0 || first > last {
        return Err(Errno::EINVAL.into());
    }
    if flags & CLOSE_RANGE_UNSHARE != 0 {
        ctx.kernel.unshare_files();
    }
    let fds: Vec<i32> = ctx.kernel.fds().numbers_in(first, last).collect();
    for fd in fds {
        if flags & CLOSE_RANGE_CLOEXEC == 0 {
            ctx.kernel.close(fd, ctx.mem)?;
        } else {
            ctx.kernel.fds_mut().set_cloexec(fd, true)?;
        }
    }
    Ok(0)
}

/// fcntl(2). As in Linux the command and small arguments are 32 bits wide.
fn fcntl(ctx: &mut Ctx, [fd, command, arg, ..]: [u64; 6]) -> SysResult {
    let (fd, command, word) = (fd as i32, u64::from(command as u32), arg as u32);
    let slot = ctx.kernel.fds().slot(fd)?;
    let file = slot.file;
    let open = ctx.kernel.files.get_mut(file);
    let allowed = [F_DUPFD, F_DUPFD_CLOEXEC, F_DUPFD_QUERY, F_GETFD, F_SETFD, F_GETFL];
    if open.is_path() && !allowed.contains(&command) {
        return Err(Errno::EBADF.into());
    }
    match command {
        F_DUPFD | F_DUPFD_CLOEXEC => {
            if u64::from(word) >= limit(ctx) {
                return Err(Errno::EINVAL.into());
            }
            duplicate(ctx, fd, command == F_DUPFD_CLOEXEC, word.into())
        }
        F_DUPFD_QUERY => Ok(u64::from(ctx.kernel.fds().get(word as i32)? == file)),
        F_GETFD => Ok(u64::from(slot.cloexec)),
        F_SETFD => {
            ctx.kernel.fds_mut().set_cloexec(fd, arg & FD_CLOEXEC != 0)?;
            Ok(0)
        }
        F_GETFL => Ok(u64::from(open.flags)),
        F_SETFL => set_flags(ctx, fd, file, word),
        F_GETLK | F_OFD_GETLK => lock::get(ctx, file, arg, command == F_OFD_GETLK),
        F_SETLK => lock::set(ctx, file, arg, false, false),
        F_SETLKW => lock::set(ctx, file, arg, false, true),
        F_OFD_SETLK => lock::set(ctx, file, arg, true, false),
        F_OFD_SETLKW => lock::set(ctx, file, arg, true, true),
        F_SETOWN | F_GETOWN | F_SETSIG | F_GETSIG | F_SETOWN_EX | F_GETOWN_EX | F_GETOWNER_UIDS => {
            owner(ctx, file, command, arg)
        }
        F_SETLEASE => lock::set_lease(ctx, file, fd, arg),
        F_GETLEASE => lock::get_lease(ctx, file),
        F_GETPIPE_SZ | F_SETPIPE_SZ => {
            let pipe = open.ops.pipe().ok_or(Errno::EBADF)?;
            let pipes = &mut ctx.kernel.fs.pipes;
            if command == F_SETPIPE_SZ {
                pipes.set_capacity(pipe, word as usize)?;
            }
            Ok(pipes.get(pipe).ok_or(Errno::EBADF)?.capacity() as u64)
        }
        F_GET_SEALS => Ok(u64::from(ctx.kernel.fs.seals(open.ops.inode().ok_or(Errno::EINVAL)?)?)),
        F_ADD_SEALS => {
            let (inode, writable) = (open.ops.inode(), open.writable());
            if !writable {
                return Err(Errno::EPERM.into());
            }
            let (inode, memory) = (inode.ok_or(Errno::EINVAL)?, &*ctx.mem);
            ctx.kernel.fs.add_seals(inode, word, writable, memory)?;
            Ok(0)
        }
        F_CREATED_QUERY => Ok(u64::from(open.created)),
        F_GET_RW_HINT | F_SET_RW_HINT => write_hint(ctx, file, command == F_SET_RW_HINT, arg),
        F_NOTIFY => watch_directory(ctx, fd, file, word),
        other => Err(refuse(ctx, format!("fcntl command {other}"))),
    }
}

/// F_GET_RW_HINT and F_SET_RW_HINT: how long what is written to a file is expected to live.
fn write_hint(ctx: &mut Ctx, file: FileNo, set: bool, arg: u64) -> SysResult {
    let ino = ctx.kernel.files.get(file).ops.inode();
    if !set {
        put_u64(ctx.mem, arg, ino.map_or(0, |ino| ctx.kernel.fs.node(ino).write_hint.into()))?;
        return Ok(0);
    }
    let ops = &ctx.kernel.files.get(file).ops;
    // What has no name belongs to root; pipes and sockets to who made them.
    let of_root = ino.is_none() && ops.pipe().is_none() && ops.socket().is_none();
    let cred = &ctx.kernel.task().cred;
    if of_root && cred.uid.fs != 0 && !cred.capable(CAP_FOWNER) {
        return Err(Errno::EPERM.into());
    }
    let (fs, caller, mem) = ctx.paths();
    if let Some(ino) = ino {
        caller.owns(fs.node(ino))?;
    }
    let hint = get_u64(mem, arg)?;
    if hint > RWH_WRITE_LIFE_EXTREME {
        return Err(Errno::EINVAL.into());
    }
    if let Some(ino) = ino {
        fs.node_mut(ino).write_hint = hint as u8;
    }
    Ok(0)
}

/// F_NOTIFY: signals for what happens in a directory. The description's receiver becomes the
/// caller.
fn watch_directory(ctx: &mut Ctx, fd: i32, file: FileNo, events: u32) -> SysResult {
    let (id, uids) = (ctx.kernel.process().pid, own_uids(ctx));
    let open = ctx.kernel.files.get_mut(file);
    let ino = open.ops.inode();
    let events_only = events & !DN_MULTISHOT;
    if events_only == 0 {
        if let Some(ino) = ino {
            ctx.kernel.fs.notify.unwatch_directory(ino, file);
        }
        return Ok(0);
    }
    let ino = ino.filter(|ino| ctx.kernel.fs.node(*ino).is_dir()).ok_or(Errno::ENOTDIR)?;
    open.owner = Owner { kind: F_OWNER_PID, id, uids, ..open.owner };
    ctx.kernel.fs.notify.watch_directory(ino, file, fd, events);
    Ok(0)
}

/// F_SETFL. O_ASYNC stays clear where nothing would send the signal, and O_DIRECT is for regular
/// files and pipes.
pub(super) fn set_flags(ctx: &mut Ctx, fd: i32, file: FileNo, flags: u32) -> SysResult {
    const SETTABLE: u32 = O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME;
    let open = ctx.kernel.files.get(file);
    if (flags ^ open.flags) & O_ASYNC != 0 && ctx.kernel.is_hung_up(file) {
        return Err(Errno::ENOTTY.into());
    }
    let (held, ino, is_pipe) = (open.flags, open.ops.inode(), open.ops.pipe().is_some());
    let (fs, caller, _) = ctx.paths();
    if let (true, Some(ino)) = (flags & !held & O_NOATIME != 0, ino) {
        caller.owns(fs.node(ino))?;
    }
    let direct = is_pipe
        || ino.is_some_and(|ino| matches!(fs.node(ino).body, Body::File(_)) && fs.node(ino).dev != MEMFD_DEV);
    if flags & O_DIRECT != 0 && !direct {
        return Err(Errno::EINVAL.into());
    }
    let open = ctx.kernel.files.get_mut(file);
    open.flags = held & !SETTABLE | flags & SETTABLE;
    if (flags ^ held) & O_ASYNC != 0 && open.ops.sends_signals() {
        open.flags ^= O_ASYNC;
        let mode = open.mode();
        let queues = &mut ctx.kernel.fs.queues;
        queues.fasync.remove(file);
        let queue = open.ops.wait_queue(&ctx.kernel.fs);
        if let (true, Some(queue)) = (flags & O_ASYNC != 0, queue) {
            let events = if mode.readable { READABLE } else { 0 } | if mode.writable { WRITABLE } else { 0 };
            ctx.kernel.fs.queues.fasync.add(queue, file, fd, events);
        }
    }
    Ok(0)
}

/// Real and effective user of the caller.
fn own_uids(ctx: &Ctx) -> [u32; 2] {
    let uid = ctx.kernel.task().cred.uid;
    [uid.real, uid.effective]
}

/// The commands of fcntl(2) about the receiver of a description's signals.
pub(super) fn owner(ctx: &mut Ctx, file: FileNo, command: u64, arg: u64) -> SysResult {
    let known = |ctx: &Ctx, kind: u32, id: i32| match kind {
        F_OWNER_TID => ctx.kernel.named_task(id).is_some(),
        F_OWNER_PID => ctx.kernel.named_process(id).is_some(),
        // Any number in use may become that of a group.
        _ if ctx.kernel.named_task(id).is_some() => true,
        _ => !ctx.kernel.named_group(id).is_empty(),
    };
    let Owner { kind, id, signo, uids } = ctx.kernel.files.get(file).owner;
    let (new_kind, new_id) = match command {
        F_GETSIG => return Ok(signo as u64),
        F_SETSIG => {
            let signo =
                Some(arg as i32).filter(|signo| (0..=SIGRTMAX).contains(signo)).ok_or(Errno::EINVAL)?;
            ctx.kernel.files.get_mut(file).owner.signo = signo;
            return Ok(0);
        }
        F_GETOWN if kind == F_OWNER_PGRP => return Ok((-i64::from(ctx.kernel.shown_pid(id))) as u64),
        F_GETOWN => return Ok(ctx.kernel.shown_pid(id) as u64),
        F_GETOWN_EX => {
            put_u32(ctx.mem, arg, kind)?;
            put_u32(ctx.mem, arg + 4, ctx.kernel.shown_pid(id) as u32)?;
            return Ok(0);
        }
        F_GETOWNER_UIDS => {
            copy_to_user(ctx.mem, arg, uids.map(u32::to_le_bytes).as_flattened())?;
            return Ok(0);
        }
        F_SETOWN_EX => {
            let [kind, id] = [get_u32(ctx.mem, arg)?, get_u32(ctx.mem, arg.wrapping_add(4))?];
            if kind > F_OWNER_PGRP {
                return Err(Errno::EINVAL.into());
            }
            (kind, id as i32)
        }
        _ if (arg as i32) < 0 => (F_OWNER_PGRP, (arg as i32).checked_neg().ok_or(Errno::EINVAL)?),
        _ => (F_OWNER_PID, arg as i32),
    };
    if new_id != 0 && !known(ctx, new_kind, new_id) {
        return Err(Errno::ESRCH.into());
    }
    let uids = own_uids(ctx);
    let id = if new_id == 0 { 0 } else { ctx.kernel.global_pid(new_id) };
    ctx.kernel.files.get_mut(file).owner = Owner { kind: new_kind, id, signo, uids };
    Ok(0)
}
