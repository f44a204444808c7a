//! chmod(2), chown(2), utimensat(2) and the extended attributes.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_words, strncpy_from_user};
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::{FileSystem, Ino, Time};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fs::{FDCWD, get_path};
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(90, "chmod", chmod),
    full(91, "fchmod", fchmod),
    full(268, "fchmodat", fchmodat),
    full(452, "fchmodat2", fchmodat2),
    full(92, "chown", chown),
    full(93, "fchown", fchown),
    full(94, "lchown", lchown),
    full(260, "fchownat", fchownat),
    full(132, "utime", utime),
    full(235, "utimes", utimes),
    full(261, "futimesat", futimesat),
    full(280, "utimensat", utimensat),
    full(188, "setxattr", setxattr),
    full(189, "lsetxattr", lsetxattr),
    full(190, "fsetxattr", fsetxattr),
    full(191, "getxattr", getxattr),
    full(192, "lgetxattr", lgetxattr),
    full(193, "fgetxattr", fgetxattr),
    full(194, "listxattr", listxattr),
    full(195, "llistxattr", llistxattr),
    full(196, "flistxattr", flistxattr),
    full(197, "removexattr", removexattr),
    full(198, "lremovexattr", lremovexattr),
    full(199, "fremovexattr", fremovexattr),
];

const XATTR_NAME_MAX: usize = 256;

/// The place behind a descriptor, if it has one. EBADF for O_PATH unless `path_too`.
fn of_fd(caller: &Caller, fd: u64, path_too: bool) -> Result<Option<At>, Errno> {
    let link = caller.fd_link(fd as i32)?;
    if link.is_path && !path_too {
        return Err(Errno::EBADF);
    }
    Ok(link.inode.map(|ino| At { mount: link.mount, ino }))
}

/// The inode at a place whose mount may be written to, if it has one; EROFS.
fn changed(fs: &FileSystem, at: Option<At>) -> Result<Option<Ino>, Errno> {
    at.map(|at| fs.writable(at.mount).map(|()| at.ino)).transpose()
}

/// The place that a path, or with AT_EMPTY_PATH a descriptor, names.
fn target(
    fs: &mut FileSystem,
    caller: &Caller,
    dirfd: u64,
    path: &[u8],
    flags: u32,
) -> Result<Option<At>, Errno> {
    if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
        if dirfd as i32 == AT_FDCWD {
            return Ok(Some(caller.context.cwd));
        }
        return of_fd(caller, dirfd, true);
    }
    match fs.locate(caller, dirfd as i32, path, flags & AT_SYMLINK_NOFOLLOW == 0) {
        // Something without a name, which keeps what it has.
        Err(Errno::ENXIO) => Ok(None),
        found => Ok(Some(found?.there()?)),
    }
}

/// chmod(2).
fn chmod(ctx: &mut Ctx, [path, mode, ..]: [u64; 6]) -> SysResult {
    fchmodat2(ctx, [FDCWD, path, mode, 0, 0, 0])
}

/// fchmod(2).
fn fchmod(ctx: &mut Ctx, [fd, mode, ..]: [u64; 6]) -> SysResult {
    let (fs, caller, _) = ctx.paths_now();
    if let Some(ino) = changed(fs, of_fd(&caller, fd, false)?)? {
        fs.chmod(&caller, ino, mode as u32)?;
    }
    Ok(0)
}

/// fchmodat(2), the system call, which has no flags.
fn fchmodat(ctx: &mut Ctx, [dirfd, path, mode, ..]: [u64; 6]) -> SysResult {
    fchmodat2(ctx, [dirfd, path, mode, 0, 0, 0])
}

/// fchmodat2(2).
fn fchmodat2(ctx: &mut Ctx, [dirfd, path, mode, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths_now();
    let at = target(fs, &caller, dirfd, &path, flags)?;
    if let Some(ino) = changed(fs, at)? {
        fs.chmod(&caller, ino, mode as u32)?;
    }
    Ok(0)
}

/// An id argument: -1 leaves the id alone.
fn id(value: u64) -> Option<u32> {
    (value as u32 != u32::MAX).then_some(value as u32)
}

/// chown(2).
fn chown(ctx: &mut Ctx, [path, uid, gid, ..]: [u64; 6]) -> SysResult {
    fchownat(ctx, [FDCWD, path, uid, gid, 0, 0])
}

/// lchown(2).
fn lchown(ctx: &mut Ctx, [path, uid, gid, ..]: [u64; 6]) -> SysResult {
    fchownat(ctx, [FDCWD, path, uid, gid, u64::from(AT_SYMLINK_NOFOLLOW), 0])
}

/// fchown(2).
fn fchown(ctx: &mut Ctx, [fd, uid, gid, ..]: [u64; 6]) -> SysResult {
    let (fs, caller, _) = ctx.paths_now();
    if let Some(ino) = changed(fs, of_fd(&caller, fd, false)?)? {
        fs.chown(&caller, ino, id(uid), id(gid))?;
    }
    Ok(0)
}

/// fchownat(2).
fn fchownat(ctx: &mut Ctx, [dirfd, path, uid, gid, flags, _]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths_now();
    let at = target(fs, &caller, dirfd, &path, flags)?;
    if let Some(ino) = changed(fs, at)? {
        fs.chown(&caller, ino, id(uid), id(gid))?;
    }
    Ok(0)
}

/// Reads two times, or none at a null pointer; the words are seconds and `unit`ths of a second.
fn get_times(ctx: &mut Ctx, addr: u64, unit: u64) -> Result<Option<[Time; 2]>, Errno> {
    if addr == 0 {
        return Ok(None);
    }
    let words: [u64; 4] = get_words(ctx.mem, addr)?;
    let mut times = [Time::default(); 2];
    for (time, pair) in times.iter_mut().zip(words.chunks(2)) {
        if pair[1] >= unit {
            return Err(Errno::EINVAL);
        }
        *time = Time { sec: pair[0] as i64, nsec: (pair[1] * (1_000_000_000 / unit)) as u32 };
    }
    Ok(Some(times))
}

fn set_times(ctx: &mut Ctx, dirfd: u64, path: u64, times: Option<[Time; 2]>) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths_now();
    let at = target(fs, &caller, dirfd, &path, 0)?;
    let Some(ino) = changed(fs, at)? else { return Ok(0) };
    let [access, modify] = times.unwrap_or([caller.now; 2]);
    fs.set_times(&caller, ino, Some(access), Some(modify), times.is_some())?;
    Ok(0)
}

/// utime(2).
fn utime(ctx: &mut Ctx, [path, times, ..]: [u64; 6]) -> SysResult {
    let times = if times == 0 {
        None
    } else {
        let words: [u64; 2] = get_words(ctx.mem, times)?;
        Some(words.map(|sec| Time { sec: sec as i64, nsec: 0 }))
    };
    set_times(ctx, FDCWD, path, times)
}

/// utimes(2).
fn utimes(ctx: &mut Ctx, [path, times, ..]: [u64; 6]) -> SysResult {
    futimesat(ctx, [FDCWD, path, times, 0, 0, 0])
}

/// futimesat(2). A null path names the descriptor itself.
fn futimesat(ctx: &mut Ctx, [dirfd, path, times, ..]: [u64; 6]) -> SysResult {
    let times = get_times(ctx, times, 1_000_000)?;
    if path == 0 && dirfd as i32 != AT_FDCWD {
        let (fs, caller, _) = ctx.paths_now();
        if let Some(ino) = changed(fs, of_fd(&caller, dirfd, false)?)? {
            let [access, modify] = times.unwrap_or([caller.now; 2]);
            fs.set_times(&caller, ino, Some(access), Some(modify), times.is_some())?;
        }
        return Ok(0);
    }
    set_times(ctx, dirfd, path, times)
}

/// utimensat(2). A null path names the descriptor itself.
fn utimensat(ctx: &mut Ctx, [dirfd, path, times, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let words: [u64; 4] = if times == 0 { [0, UTIME_NOW, 0, UTIME_NOW] } else { get_words(ctx.mem, times)? };
    let valid = |nsec: u64| nsec < 1_000_000_000 || nsec == UTIME_NOW || nsec == UTIME_OMIT;
    if !valid(words[1]) || !valid(words[3]) {
        return Err(Errno::EINVAL.into());
    }
    if words[1] == UTIME_OMIT && words[3] == UTIME_OMIT {
        return Ok(0);
    }
    let text = if path == 0 { Vec::new() } else { get_path(ctx.mem, path)? };
    let (fs, caller, _) = ctx.paths_now();
    let at = if path == 0 {
        if dirfd as i32 == AT_FDCWD {
            return Err(Errno::EFAULT.into());
        }
        if flags & AT_SYMLINK_NOFOLLOW != 0 {
            return Err(Errno::EINVAL.into());
        }
        of_fd(&caller, dirfd, false)?
    } else {
        target(fs, &caller, dirfd, &text, flags)?
    };
    let Some(ino) = changed(fs, at)? else { return Ok(0) };
    let time = |sec: u64, nsec: u64| match nsec {
        UTIME_NOW => Some(caller.now),
        UTIME_OMIT => None,
        _ => Some(Time { sec: sec as i64, nsec: nsec as u32 }),
    };
    let explicit = words[1] != UTIME_NOW || words[3] != UTIME_NOW;
    fs.set_times(&caller, ino, time(words[0], words[1]), time(words[2], words[3]), explicit)?;
    Ok(0)
}

/// The error for pipes and sockets: EOPNOTSUPP but for the `user` namespace.
fn without_attributes(name: &[u8], user: Errno) -> Errno {
    if name.starts_with(b"user.") { user } else { Errno::EOPNOTSUPP }
}

fn get_attribute(
    ctx: &mut Ctx,
    name: u64,
    (buf, size): (u64, u64),
    find: impl Fn(&mut FileSystem, &Caller) -> Result<Option<At>, Errno>,
) -> SysResult {
    let name = attribute_name(ctx, name)?;
    let (fs, caller, mem) = ctx.paths();
    let ino = find(fs, &caller)?.ok_or(without_attributes(&name, Errno::ENODATA))?.ino;
    let value = fs.getxattr(&caller, ino, &name)?;
    if size == 0 {
        return Ok(value.len() as u64);
    }
    if size < value.len() as u64 {
        return Err(Errno::ERANGE.into());
    }
    copy_to_user(mem, buf, &value)?;
    Ok(value.len() as u64)
}

/// getxattr(2).
fn getxattr(ctx: &mut Ctx, [path, name, buf, size, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    get_attribute(ctx, name, (buf, size), |fs, caller| target(fs, caller, FDCWD, &path, 0))
}

/// lgetxattr(2).
fn lgetxattr(ctx: &mut Ctx, [path, name, buf, size, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    get_attribute(ctx, name, (buf, size), |fs, caller| target(fs, caller, FDCWD, &path, AT_SYMLINK_NOFOLLOW))
}

/// fgetxattr(2).
fn fgetxattr(ctx: &mut Ctx, [fd, name, buf, size, ..]: [u64; 6]) -> SysResult {
    get_attribute(ctx, name, (buf, size), |_, caller| of_fd(caller, fd, false))
}

fn list_attributes(
    ctx: &mut Ctx,
    (buf, size): (u64, u64),
    find: impl Fn(&mut FileSystem, &Caller) -> Result<Option<At>, Errno>,
) -> SysResult {
    let (fs, caller, mem) = ctx.paths();
    let names = match find(fs, &caller)? {
        Some(at) => fs.listxattr(&caller, at.ino)?,
        None => Vec::new(),
    };
    if size > 0 {
        if size < names.len() as u64 {
            return Err(Errno::ERANGE.into());
        }
        copy_to_user(mem, buf, &names)?;
    }
    Ok(names.len() as u64)
}

/// listxattr(2).
fn listxattr(ctx: &mut Ctx, [path, buf, size, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    list_attributes(ctx, (buf, size), |fs, caller| target(fs, caller, FDCWD, &path, 0))
}

/// llistxattr(2).
fn llistxattr(ctx: &mut Ctx, [path, buf, size, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    list_attributes(ctx, (buf, size), |fs, caller| target(fs, caller, FDCWD, &path, AT_SYMLINK_NOFOLLOW))
}

/// flistxattr(2).
fn flistxattr(ctx: &mut Ctx, [fd, buf, size, ..]: [u64; 6]) -> SysResult {
    list_attributes(ctx, (buf, size), |_, caller| of_fd(caller, fd, false))
}

/// Reads an attribute's name; EFAULT, ERANGE.
fn attribute_name(ctx: &mut Ctx, name: u64) -> Result<Vec<u8>, Errno> {
    let name = strncpy_from_user(ctx.mem, name, XATTR_NAME_MAX)?;
    name.filter(|name| !name.is_empty()).ok_or(Errno::ERANGE)
}

/// Reads the name, the value and the flags of setxattr(2).
fn new_attribute(
    ctx: &mut Ctx,
    [_, name, value, size, flags, _]: [u64; 6],
) -> Result<(Vec<u8>, Vec<u8>, u32), Errno> {
    const XATTR_SIZE_MAX: u64 = 65_536;
    if flags as u32 & !(XATTR_CREATE | XATTR_REPLACE) != 0 {
        return Err(Errno::EINVAL);
    }
    let name = attribute_name(ctx, name)?;
    if size > XATTR_SIZE_MAX {
        return Err(Errno::E2BIG);
    }
    let mut bytes = vec![0; size as usize];
    copy_from_user(ctx.mem, value, &mut bytes)?;
    Ok((name, bytes, flags as u32))
}

fn change_attribute(
    ctx: &mut Ctx,
    name: &[u8],
    value: Option<&[u8]>,
    flags: u32,
    find: impl Fn(&mut FileSystem, &Caller) -> Result<Option<At>, Errno>,
) -> SysResult {
    let (fs, caller, mem) = ctx.paths_now();
    let at = find(fs, &caller)?;
    let ino = changed(fs, at)?.ok_or(without_attributes(name, Errno::EPERM))?;
    fs.setxattr(&caller, ino, name, value, flags, mem)?;
    Ok(0)
}

/// setxattr(2).
fn setxattr(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let (name, value, flags) = new_attribute(ctx, args)?;
    let path = get_path(ctx.mem, args[0])?;
    change_attribute(ctx, &name, Some(&value), flags, |fs, caller| target(fs, caller, FDCWD, &path, 0))
}

/// lsetxattr(2).
fn lsetxattr(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let (name, value, flags) = new_attribute(ctx, args)?;
    let path = get_path(ctx.mem, args[0])?;
    change_attribute(ctx, &name, Some(&value), flags, |fs, caller| {
        target(fs, caller, FDCWD, &path, AT_SYMLINK_NOFOLLOW)
    })
}

/// fsetxattr(2).
fn fsetxattr(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    ctx.opened(args[0] as i32)?;
    let (name, value, flags) = new_attribute(ctx, args)?;
    change_attribute(ctx, &name, Some(&value), flags, |_, caller| of_fd(caller, args[0], false))
}

/// removexattr(2).
fn removexattr(ctx: &mut Ctx, [path, name, ..]: [u64; 6]) -> SysResult {
    let name = attribute_name(ctx, name)?;
    let path = get_path(ctx.mem, path)?;
    change_attribute(ctx, &name, None, 0, |fs, caller| target(fs, caller, FDCWD, &path, 0))
}

/// lremovexattr(2).
fn lremovexattr(ctx: &mut Ctx, [path, name, ..]: [u64; 6]) -> SysResult {
    let name = attribute_name(ctx, name)?;
    let path = get_path(ctx.mem, path)?;
    change_attribute(ctx, &name, None, 0, |fs, caller| target(fs, caller, FDCWD, &path, AT_SYMLINK_NOFOLLOW))
}

/// fremovexattr(2).
fn fremovexattr(ctx: &mut Ctx, [fd, name, ..]: [u64; 6]) -> SysResult {
    ctx.opened(fd as i32)?;
    let name = attribute_name(ctx, name)?;
    change_attribute(ctx, &name, None, 0, |_, caller| of_fd(caller, fd, false))
}
