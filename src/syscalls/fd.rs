//! Descriptors: dup(2), close(2), fcntl(2), flock(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::resource::Resource;
use crate::kernel::file::description::Description;
use crate::kernel::state::Parts;
use crate::kernel::uaccess::{copy_from_user, copy_to_user};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(3, "close", close),
    full(32, "dup", dup),
    full(33, "dup2", dup2),
    full(292, "dup3", dup3),
    partial(72, "fcntl", fcntl, "locks always succeed; no leases, no F_NOTIFY"),
    full(73, "flock", flock).noted("one process: never waits"),
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
    let limit = limit(ctx);
    let Parts { fds, files, fs, .. } = ctx.kernel.parts();
    let file = files.add(open);
    match fds.install(file, cloexec, 0, limit) {
        Ok(fd) => Ok(fd as u64),
        Err(errno) => {
            files.release(file, fs, ctx.mem);
            Err(errno.into())
        }
    }
}

/// Says once that something was refused, and answers EINVAL.
pub(super) fn refuse(ctx: &mut Ctx, what: String) -> Break {
    ctx.kernel.notices.once(format!("{what}: refused with EINVAL"));
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
fn close(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
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
        files.release(replaced, fs, ctx.mem);
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
    let (first, last) = (first as u32, last as u32);
    if flags & !(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) != 0 || first > last {
        return Err(Errno::EINVAL.into());
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

/// fcntl(2).
fn fcntl(ctx: &mut Ctx, [fd, command, arg, ..]: [u64; 6]) -> SysResult {
    let fd = fd as i32;
    let slot = ctx.kernel.fds().slot(fd)?;
    let open = ctx.kernel.files.get_mut(slot.file);
    let allowed = [F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL];
    if open.is_path() && !allowed.contains(&(command & 0xffff_ffff)) {
        return Err(Errno::EBADF.into());
    }
    match command & 0xffff_ffff {
        F_DUPFD | F_DUPFD_CLOEXEC => {
            if arg >= limit(ctx) {
                return Err(Errno::EINVAL.into());
            }
            duplicate(ctx, fd, command == F_DUPFD_CLOEXEC, arg)
        }
        F_GETFD => Ok(u64::from(slot.cloexec)),
        F_SETFD => {
            ctx.kernel.fds_mut().set_cloexec(fd, arg & FD_CLOEXEC != 0)?;
            Ok(0)
        }
        F_GETFL => Ok(u64::from(open.flags)),
        F_SETFL => {
            let settable = O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME;
            open.flags = open.flags & !settable | arg as u32 & settable;
            Ok(0)
        }
        F_GETLK | F_OFD_GETLK => {
            // Nobody else holds a lock: the type becomes F_UNLCK and the rest stays.
            let mut lock = [0; 2];
            copy_from_user(ctx.mem, arg, &mut lock)?;
            if u16::from_le_bytes(lock) > F_UNLCK {
                return Err(Errno::EINVAL.into());
            }
            copy_to_user(ctx.mem, arg, &F_UNLCK.to_le_bytes())?;
            Ok(0)
        }
        F_SETLK | F_SETLKW | F_OFD_SETLK | F_OFD_SETLKW => {
            let (readable, writable) = (open.readable(), open.writable());
            let mut lock = [0; 2];
            copy_from_user(ctx.mem, arg, &mut lock)?;
            match u16::from_le_bytes(lock) {
                0 if !readable => Err(Errno::EBADF.into()),
                1 if !writable => Err(Errno::EBADF.into()),
                0..=F_UNLCK => Ok(0),
                _ => Err(Errno::EINVAL.into()),
            }
        }
        F_SETOWN => Ok(0),
        F_GETOWN => Ok(0),
        F_GETPIPE_SZ | F_SETPIPE_SZ => {
            let pipe = open.ops.pipe().and_then(|pipe| ctx.kernel.fs.pipes.get_mut(pipe));
            let pipe = pipe.ok_or(Errno::EBADF)?;
            if command == F_SETPIPE_SZ {
                pipe.set_capacity(arg as u32 as usize)?;
            }
            Ok(pipe.capacity() as u64)
        }
        F_GET_SEALS => Ok(u64::from(ctx.kernel.fs.seals(open.ops.inode().ok_or(Errno::EINVAL)?)?)),
        F_ADD_SEALS => {
            let (inode, writable) = (open.ops.inode(), open.writable());
            ctx.kernel.fs.add_seals(inode.ok_or(Errno::EINVAL)?, arg as u32, writable)?;
            Ok(0)
        }
        other => Err(refuse(ctx, format!("fcntl command {other}"))),
    }
}

/// flock(2): with one process a lock is always free.
fn flock(ctx: &mut Ctx, [fd, operation, ..]: [u64; 6]) -> SysResult {
    if ctx.kernel.file(fd as i32)?.is_path() {
        return Err(Errno::EBADF.into());
    }
    match operation & !4 {
        1 | 2 | 8 => Ok(0),
        _ => Err(Errno::EINVAL.into()),
    }
}
