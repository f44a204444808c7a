//! chmod(2), chown(2), utimensat(2) and the extended attributes.

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::fdtable::FileNo;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_words, strncpy_from_user};
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::nameless::Nameless;
use crate::kernel::vfs::node::{ANON_DEV, PIPE_DEV, SOCK_DEV};
use crate::kernel::vfs::{FileSystem, Ino, Time};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fs::{FDCWD, get_path, look_at};
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

/// The object of a call.
#[derive(Clone, Copy, Debug)]
enum Object {
    /// A place in the tree.
    At(At),
    /// A pipe, a socket or the like, to which only descriptors lead.
    Nameless(FileNo),
}

/// The object behind a descriptor. EBADF for O_PATH unless `path_too`.
fn of_fd(caller: &Caller, fd: u64, path_too: bool) -> Result<Object, Errno> {
    let link = caller.fd_link(fd as i32)?;
    if link.is_path && !path_too {
        return Err(Errno::EBADF);
    }
    Ok(match link.inode {
        Some(ino) => Object::At(At { mount: link.mount, ino }),
        None => Object::Nameless(caller.fds.get(fd as i32)?),
    })
}

/// The same for reading and setting an extended attribute, where AT_FDCWD is the working directory
/// since Linux 6.13.
fn of_fd_or_cwd(caller: &Caller, fd: u64) -> Result<Object, Errno> {
    if fd as i32 == AT_FDCWD { Ok(Object::At(caller.context.cwd)) } else { of_fd(caller, fd, false) }
}

/// Changes attributes: `inode` those at a place whose mount may be written to, `nameless` those of
/// what has none. EROFS; EOPNOTSUPP for what has no inode of its own, whose attributes nobody may
/// change, `anon_inode_setattr`; `touches`: all times are to be set to now.
fn change(
    ctx: &mut Ctx,
    object: Object,
    touches: bool,
    inode: impl FnOnce(&mut FileSystem, &Caller, Ino) -> Result<(), Errno>,
    nameless: impl FnOnce(&mut Nameless, &Caller) -> Result<(), Errno>,
) -> SysResult {
    let file = match object {
        Object::At(at) => {
            let (fs, caller, _) = ctx.paths_now();
            fs.writable(at.mount)?;
            inode(fs, &caller, at.ino)?;
            return Ok(0);
        }
        Object::Nameless(file) => file,
    };
    let Meta { dev, ino, mode, uid, gid, times, .. } = look_at(ctx, file)?;
    let mut held = Nameless { mode, uid, gid, times };
    let queue = ctx.kernel.files.get(file).ops.mqueue();
    let (fs, caller, _) = ctx.paths_now();
    match (dev, queue) {
        (PIPE_DEV | SOCK_DEV, _) => {
            nameless(&mut held, &caller)?;
            fs.nameless.insert(ino, held);
        }
        (_, Some(queue)) => {
            nameless(&mut held, &caller)?;
            let queue = fs.mqueues.get_mut(queue).ok_or(Errno::EIO)?;
            (queue.mode, queue.uid, queue.gid) = (held.mode & 0o7777, held.uid, held.gid);
            queue.times = held.times;
        }
        (ANON_DEV, _) => {
            if touches {
                held.may_touch(&caller)?;
            }
            return Err(Errno::EOPNOTSUPP.into());
        }
        _ => {} // a stream of the host's keeps what it has
    }
    Ok(0)
}

/// The place that a path, or with AT_EMPTY_PATH a descriptor, names.
fn target(
    fs: &mut FileSystem,
    caller: &Caller,
    dirfd: u64,
    path: &[u8],
    flags: u32,
) -> Result<Object, Errno> {
    if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
        if dirfd as i32 == AT_FDCWD {
            return Ok(Object::At(caller.context.cwd));
        }
        return of_fd(caller, dirfd, true);
    }
    match fs.locate(caller, dirfd as i32, path, flags & AT_SYMLINK_NOFOLLOW == 0) {
        Err(Errno::ENXIO) => fs.nameless(caller, dirfd as i32, path).map(Object::Nameless),
        found => Ok(Object::At(found?.there()?)),
    }
}

/// chmod(2).
fn chmod(ctx: &mut Ctx, [path, mode, ..]: [u64; 6]) -> SysResult {
    fchmodat2(ctx, [FDCWD, path, mode, 0, 0, 0])
}

/// fchmod(2).
fn fchmod(ctx: &mut Ctx, [fd, mode, ..]: [u64; 6]) -> SysResult {
    let (_, caller, _) = ctx.paths();
    let object = of_fd(&caller, fd, false)?;
    set_mode(ctx, object, mode as u32)
}

fn set_mode(ctx: &mut Ctx, object: Object, mode: u32) -> SysResult {
    let inode = |fs: &mut FileSystem, caller: &Caller, ino| fs.chmod(caller, ino, mode);
    change(ctx, object, false, inode, |held, caller| held.chmod(caller, mode))
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
    let (fs, caller, _) = ctx.paths();
    let object = target(fs, &caller, dirfd, &path, flags)?;
    set_mode(ctx, object, mode as u32)
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
    let (_, caller, _) = ctx.paths();
    let object = of_fd(&caller, fd, false)?;
    set_owner(ctx, object, id(uid), id(gid))
}

fn set_owner(ctx: &mut Ctx, object: Object, uid: Option<u32>, gid: Option<u32>) -> SysResult {
    let inode = |fs: &mut FileSystem, caller: &Caller, ino| fs.chown(caller, ino, uid, gid);
    change(ctx, object, false, inode, |held, caller| held.chown(caller, uid, gid))
}

/// fchownat(2).
fn fchownat(ctx: &mut Ctx, [dirfd, path, uid, gid, flags, _]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    let object = target(fs, &caller, dirfd, &path, flags)?;
    set_owner(ctx, object, id(uid), id(gid))
}

/// Reads two times, which are now at a null pointer; the words are seconds and `unit`ths of a
/// second.
fn get_times(ctx: &mut Ctx, addr: u64, unit: u64) -> Result<[When; 2], Errno> {
    let mut times = [When::Now; 2];
    if addr == 0 {
        return Ok(times);
    }
    let words: [u64; 4] = get_words(ctx.mem, addr)?;
    for (time, pair) in times.iter_mut().zip(words.chunks(2)) {
        if pair[1] >= unit {
            return Err(Errno::EINVAL);
        }
        *time = When::At(Time { sec: pair[0] as i64, nsec: (pair[1] * (1_000_000_000 / unit)) as u32 });
    }
    Ok(times)
}

fn set_times(ctx: &mut Ctx, dirfd: u64, path: u64, times: [When; 2]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    let object = target(fs, &caller, dirfd, &path, 0)?;
    change_times(ctx, object, times)
}

/// A time that is to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Now,
    /// UTIME_OMIT.
    Never,
    At(Time),
}

fn change_times(ctx: &mut Ctx, object: Object, times: [When; 2]) -> SysResult {
    let explicit = times != [When::Now; 2];
    let given = |caller: &Caller| {
        times.map(|time| match time {
            When::Now => Some(caller.now),
            When::Never => None,
            When::At(time) => Some(time),
        })
    };
    let inode = |fs: &mut FileSystem, caller: &Caller, ino| {
        let [access, modify] = given(caller);
        fs.set_times(caller, ino, access, modify, explicit)
    };
    let nameless = |held: &mut Nameless, caller: &Caller| {
        let [access, modify] = given(caller);
        held.set_times(caller, access, modify, explicit)
    };
    change(ctx, object, !explicit, inode, nameless)
}

/// utime(2).
fn utime(ctx: &mut Ctx, [path, times, ..]: [u64; 6]) -> SysResult {
    let times = if times == 0 {
        [When::Now; 2]
    } else {
        let words: [u64; 2] = get_words(ctx.mem, times)?;
        words.map(|sec| When::At(Time { sec: sec as i64, nsec: 0 }))
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
        let (_, caller, _) = ctx.paths();
        let object = of_fd(&caller, dirfd, false)?;
        return change_times(ctx, object, times);
    }
    set_times(ctx, dirfd, path, times)
}

/// utimensat(2). A null path names the descriptor itself. Nothing at all is checked where neither
/// time is to change, and the times only where the file is there.
fn utimensat(ctx: &mut Ctx, [dirfd, path, times, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    let words: [u64; 4] = if times == 0 { [0, UTIME_NOW, 0, UTIME_NOW] } else { get_words(ctx.mem, times)? };
    if words[1] == UTIME_OMIT && words[3] == UTIME_OMIT {
        return Ok(0);
    }
    let by_fd = path == 0 && dirfd as i32 != AT_FDCWD;
    if by_fd && flags != 0 || flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let text = if by_fd { Vec::new() } else { get_path(ctx.mem, path)? };
    let (fs, caller, _) = ctx.paths();
    let object = match by_fd {
        true => of_fd(&caller, dirfd, false)?,
        false => target(fs, &caller, dirfd, &text, flags)?,
    };
    let time = |sec: u64, nsec: u64| match nsec {
        UTIME_NOW => Ok(When::Now),
        UTIME_OMIT => Ok(When::Never),
        _ if nsec < 1_000_000_000 => Ok(When::At(Time { sec: sec as i64, nsec: nsec as u32 })),
        _ => Err(Errno::EINVAL),
    };
    let times = [time(words[0], words[1])?, time(words[2], words[3])?];
    change_times(ctx, object, times)
}

/// The error for what has no attributes: EOPNOTSUPP but where already the namespace is not for it,
/// or not for the caller, `xattr_permission`. Nobody guards what has no inode of its own.
fn without_attributes(ctx: &Ctx, file: FileNo, name: &[u8], changes: bool) -> Errno {
    let ops = &ctx.kernel.files.get(file).ops;
    let own = ops.pipe().is_some() || ops.socket().is_some();
    let guarded = name.starts_with(b"trusted.") || changes && own && name.starts_with(b"security.");
    let refused = guarded && !ctx.kernel.task().cred.capable(CAP_SYS_ADMIN);
    match name.starts_with(b"user.") || refused {
        true if changes => Errno::EPERM,
        true => Errno::ENODATA,
        false => Errno::EOPNOTSUPP,
    }
}

fn get_attribute(
    ctx: &mut Ctx,
    name: u64,
    (buf, size): (u64, u64),
    find: impl Fn(&mut FileSystem, &Caller) -> Result<Object, Errno>,
) -> SysResult {
    let name = attribute_name(ctx, name)?;
    let (fs, caller, _) = ctx.paths();
    let ino = match find(fs, &caller)? {
        Object::At(at) => at.ino,
        Object::Nameless(file) => return Err(without_attributes(ctx, file, &name, false).into()),
    };
    let (fs, caller, mem) = ctx.paths();
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
pub(super) fn getxattr(ctx: &mut Ctx, [path, name, buf, size, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    get_attribute(ctx, name, (buf, size), |fs, caller| target(fs, caller, FDCWD, &path, 0))
}

/// lgetxattr(2).
fn lgetxattr(ctx: &mut Ctx, [path, name, buf, size, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    get_attribute(ctx, name, (buf, size), |fs, caller| target(fs, caller, FDCWD, &path, AT_SYMLINK_NOFOLLOW))
}

/// fgetxattr(2).
pub(super) fn fgetxattr(ctx: &mut Ctx, [fd, name, buf, size, ..]: [u64; 6]) -> SysResult {
    get_attribute(ctx, name, (buf, size), |_, caller| of_fd_or_cwd(caller, fd))
}

fn list_attributes(
    ctx: &mut Ctx,
    (buf, size): (u64, u64),
    find: impl Fn(&mut FileSystem, &Caller) -> Result<Object, Errno>,
) -> SysResult {
    let (fs, caller, _) = ctx.paths();
    let names = match find(fs, &caller)? {
        Object::At(at) => fs.listxattr(&caller, at.ino)?,
        Object::Nameless(file) if ctx.kernel.files.get(file).ops.socket().is_some() => {
            b"system.sockprotoname\0".to_vec()
        }
        Object::Nameless(_) => Vec::new(),
    };
    if size > 0 {
        if size < names.len() as u64 {
            return Err(Errno::ERANGE.into());
        }
        copy_to_user(ctx.mem, buf, &names)?;
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
    find: impl Fn(&mut FileSystem, &Caller) -> Result<Object, Errno>,
) -> SysResult {
    let (fs, caller, _) = ctx.paths();
    let at = match find(fs, &caller)? {
        Object::At(at) => at,
        Object::Nameless(file) => return Err(without_attributes(ctx, file, name, true).into()),
    };
    let (fs, caller, mem) = ctx.paths_now();
    fs.writable(at.mount)?;
    fs.setxattr(&caller, at.ino, name, value, flags, mem)?;
    Ok(0)
}

/// setxattr(2).
pub(super) fn setxattr(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
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
pub(super) fn fsetxattr(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let (name, value, flags) = new_attribute(ctx, args)?;
    change_attribute(ctx, &name, Some(&value), flags, |_, caller| of_fd_or_cwd(caller, args[0]))
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
    let name = attribute_name(ctx, name)?;
    change_attribute(ctx, &name, None, 0, |_, caller| of_fd(caller, fd, false))
}
