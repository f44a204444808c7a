//! Names: open(2), access(2), mkdir(2), rename(2), link(2), unlink(2), readlink(2), chdir(2).

use crate::abi::capability::CAP_SYS_CHROOT;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::GuestMemory;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::description::Description;
use crate::kernel::file::open::Opened;
use crate::kernel::file::path::PathOfNameless;
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, strncpy_from_user};
use crate::kernel::vfs::Time;
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::change::Make;
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::resolve::Last;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::fd::{drop_file, install, install_file};
use crate::syscalls::lock::break_leases;
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(2, "open", open),
    full(85, "creat", creat),
    full(257, "openat", openat),
    full(437, "openat2", openat2),
    full(21, "access", access),
    full(269, "faccessat", faccessat),
    full(439, "faccessat2", faccessat2),
    full(83, "mkdir", mkdir),
    full(258, "mkdirat", mkdirat),
    partial(133, "mknod", mknod, NO_DEVICE),
    partial(259, "mknodat", mknodat, NO_DEVICE),
    full(84, "rmdir", rmdir),
    full(87, "unlink", unlink),
    full(263, "unlinkat", unlinkat),
    full(82, "rename", rename),
    full(264, "renameat", renameat),
    partial(316, "renameat2", renameat2, "RENAME_WHITEOUT where changes go to the host is EINVAL"),
    full(86, "link", link),
    full(265, "linkat", linkat),
    full(88, "symlink", symlink),
    full(266, "symlinkat", symlinkat),
    full(89, "readlink", readlink),
    full(267, "readlinkat", readlinkat),
    full(79, "getcwd", getcwd),
    full(80, "chdir", chdir),
    full(81, "fchdir", fchdir),
    full(95, "umask", umask),
    full(161, "chroot", chroot),
];

const NO_DEVICE: &str = "devices where changes go to the host are EPERM";

/// AT_FDCWD as an argument of a call.
pub(super) const FDCWD: u64 = AT_FDCWD as i64 as u64;

/// Reads a path; ENAMETOOLONG, EFAULT.
pub(super) fn get_path(mem: &mut dyn GuestMemory, addr: u64) -> Result<Vec<u8>, Errno> {
    strncpy_from_user(mem, addr, PATH_MAX)?.ok_or(Errno::ENAMETOOLONG)
}

/// open(2).
fn open(ctx: &mut Ctx, [path, flags, mode, ..]: [u64; 6]) -> SysResult {
    openat(ctx, [FDCWD, path, flags, mode, 0, 0])
}

/// creat(2).
fn creat(ctx: &mut Ctx, [path, mode, ..]: [u64; 6]) -> SysResult {
    openat(ctx, [FDCWD, path, u64::from(O_CREAT | O_WRONLY | O_TRUNC), mode, 0, 0])
}

/// openat(2).
pub(super) fn openat(ctx: &mut Ctx, [dirfd, path, flags, mode, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    openat_path(ctx, dirfd, &path, flags as u32, mode, 0)
}

/// Opens a path; `how` are the RESOLVE_* flags of openat2(2).
fn openat_path(ctx: &mut Ctx, dirfd: u64, path: &[u8], flags: u32, mode: u64, how: u64) -> SysResult {
    if let Some(file) = ctx.kernel.task().call.opening {
        return wait_for_partner(ctx, file, path, flags);
    }
    // The bit that O_TMPFILE alone has asks for the others, and for writing.
    let nameless = flags & O_TMPFILE & !O_DIRECTORY != 0 && flags & O_PATH == 0;
    let whole = flags & O_TMPFILE == O_TMPFILE && flags & O_CREAT == 0 && flags & O_ACCMODE != 0;
    if nameless && !whole {
        return Err(Errno::EINVAL.into());
    }
    // No file is made or cut where there is no descriptor for it.
    ctx.kernel.fds().has_room(crate::syscalls::fd::limit(ctx))?;
    let changes = flags & (O_CREAT | O_TRUNC) != 0 || flags & O_TMPFILE == O_TMPFILE;
    let now = if changes { ctx.kernel.real_time(ctx.cpu) } else { Time::default() };
    let mut opener = ctx.kernel.opener(now, ctx.mem);
    opener.caller.how = how;
    let base = opener.fs.base(&opener.caller, dirfd as i32, path)?;
    match opener.open(base, path, flags, mode as u32) {
        Ok(Opened::Leased(ino, write)) => {
            break_leases(ctx, ino, write, flags & O_NONBLOCK != 0)?;
            openat_path(ctx, dirfd, path, flags, mode, how)
        }
        Ok(opened) => install_opened(ctx, opened, path, flags),
        Err(Errno::ENXIO) if flags & O_PATH != 0 => open_path_of_nameless(ctx, dirfd, path, flags),
        Err(error) => Err(error.into()),
    }
}

/// Opens a place with O_PATH that `/proc/PID/fd/N` leads to and that has no name.
fn open_path_of_nameless(ctx: &mut Ctx, dirfd: u64, path: &[u8], flags: u32) -> SysResult {
    let (fs, caller, _) = ctx.paths();
    let file = fs.nameless(&caller, dirfd as i32, path)?;
    let meta = look_at(ctx, file)?;
    let path = ctx.kernel.files.get(file).path.clone();
    install(ctx, Description::new(PathOfNameless(meta), O_PATH, &path), flags & O_CLOEXEC != 0)
}

/// Gives what was opened a number, once nobody else need open it too.
pub(super) fn install_opened(ctx: &mut Ctx, opened: Opened, path: &[u8], flags: u32) -> SysResult {
    let file = match opened {
        Opened::File(file) => file,
        Opened::Leased(..) => return Err(Errno::EAGAIN.into()),
        Opened::Waits(file, partners) => {
            let file = ctx.kernel.files.add(file);
            let call = &mut ctx.kernel.task_mut().call;
            (call.opening, call.done) = (Some(file), partners);
            return wait_for_partner(ctx, file, path, flags);
        }
    };
    if let (Some(number), 0) = (file.ops.pty_slave(), flags & O_NOCTTY) {
        // A leader of a session without a controlling terminal gets it, if nobody has it.
        let _ = ctx.kernel.take_terminal(number, false);
    }
    install(ctx, file, flags & O_CLOEXEC != 0)
}

/// Waits until a pipe with a name has been opened at its other end too, `wait_for_partner`. Its own
/// end is open meanwhile, which is what the other side waits for.
pub(super) fn wait_for_partner(ctx: &mut Ctx, file: FileNo, path: &[u8], flags: u32) -> SysResult {
    let open = ctx.kernel.files.get(file);
    let (writes, before) = (open.writable(), ctx.kernel.task().call.done);
    let pipe = open.ops.pipe().and_then(|pipe| ctx.kernel.fs.pipes.get(pipe)).ok_or(Errno::EIO)?;
    let key = WaitKey::Queue(pipe.queue);
    if before == if writes { pipe.reader_count } else { pipe.writer_count } {
        let what = format!("open of the named pipe {}", String::from_utf8_lossy(path));
        if ctx.sleep(what, &[key], None)? != Wake::Signal {
            return Err(Break::Sleep);
        }
        ctx.kernel.task_mut().call.opening = None;
        drop_file(ctx, file);
        return Err(ctx.interrupted(Restart::WithFlag));
    }
    ctx.kernel.task_mut().call.opening = None;
    install_file(ctx, file, flags & O_CLOEXEC != 0)
}

/// Every flag that open(2) knows: openat2(2) refuses the others, which open ignores.
const OPENAT2_FLAGS: u64 = 0o37_777_703;

/// openat2(2).
pub(super) fn openat2(ctx: &mut Ctx, [dirfd, path, how, size, ..]: [u64; 6]) -> SysResult {
    if size < 24 {
        return Err(Errno::EINVAL.into());
    }
    if size > 4096 {
        return Err(Errno::E2BIG.into());
    }
    let mut all = vec![0; size as usize];
    copy_from_user(ctx.mem, how, &mut all)?;
    let (how, rest) = all.split_at(24);
    if rest.iter().any(|byte| *byte != 0) {
        return Err(Errno::E2BIG.into());
    }
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| how[at * 8 + byte]));
    let (flags, mode) = (word(0), word(1));
    let makes = flags & u64::from(O_CREAT) != 0 || flags & u64::from(O_TMPFILE) == u64::from(O_TMPFILE);
    if flags & !OPENAT2_FLAGS != 0 || mode & !0o7777 != 0 || mode != 0 && !makes {
        return Err(Errno::EINVAL.into());
    }
    let how = word(2);
    let scoped = RESOLVE_BENEATH | RESOLVE_IN_ROOT;
    let known = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | scoped | RESOLVE_CACHED;
    if how & !known != 0 || how & scoped == scoped {
        return Err(Errno::EINVAL.into());
    }
    let flags = flags as u32;
    if flags & O_PATH != 0 && flags & !(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) != 0 {
        return Err(Errno::EINVAL.into());
    }
    if how & RESOLVE_CACHED != 0 && (makes || flags & O_TRUNC != 0) {
        return Err(Errno::EAGAIN.into());
    }
    let path = get_path(ctx.mem, path)?;
    openat_path(ctx, dirfd, &path, flags, mode, how)
}

/// access(2).
fn access(ctx: &mut Ctx, [path, mode, ..]: [u64; 6]) -> SysResult {
    faccessat2(ctx, [FDCWD, path, mode, 0, 0, 0])
}

/// faccessat(2), the system call, which has no flags.
fn faccessat(ctx: &mut Ctx, [dirfd, path, mode, ..]: [u64; 6]) -> SysResult {
    faccessat2(ctx, [dirfd, path, mode, 0, 0, 0])
}

/// faccessat2(2).
fn faccessat2(ctx: &mut Ctx, [dirfd, path, mode, flags, ..]: [u64; 6]) -> SysResult {
    let (mode, flags) = (mode as u32, flags as u32);
    if mode & !7 != 0 || flags & !(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, path)?;
    let real = ctx.kernel.task().cred.real();
    let (fs, caller, _) = ctx.paths();
    let cred = if flags & AT_EACCESS != 0 { caller.cred } else { &real };
    let caller = Caller { cred, ..caller };
    let At { mount, ino } = if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
        let link = caller.fd_link(dirfd as i32)?;
        match link.inode {
            Some(ino) => At { mount: link.mount, ino },
            None => {
                let file = ctx.kernel.fds().get(dirfd as i32)?;
                return may_nameless(ctx, file, mode, flags);
            }
        }
    } else {
        match fs.locate(&caller, dirfd as i32, &path, flags & AT_SYMLINK_NOFOLLOW == 0) {
            Err(Errno::ENXIO) => {
                let file = fs.nameless(&caller, dirfd as i32, &path)?;
                return may_nameless(ctx, file, mode, flags);
            }
            found => found?.there()?,
        }
    };
    let (kind, mount_flags) = (fs.node(ino).kind(), fs.mounts.flags(mount));
    if mode & X_OK != 0 && kind == S_IFREG && mount_flags & MS_NOEXEC != 0 {
        return Err(Errno::EACCES.into());
    }
    caller.may(fs.node(ino), mode)?;
    fs.host_allows(ino, mode)?;
    if mode & W_OK != 0 && mount_flags & MS_RDONLY != 0 && matches!(kind, S_IFREG | S_IFDIR | S_IFLNK) {
        return Err(Errno::EROFS.into());
    }
    Ok(0)
}

/// The attributes of a description.
pub(super) fn look_at(ctx: &mut Ctx, file: FileNo) -> Result<Meta, Errno> {
    let (files, mut cx) = ctx.file_ops();
    files.get(file).ops.attributes(&mut cx)
}

/// faccessat2(2) of a description of something without a name.
fn may_nameless(ctx: &mut Ctx, file: FileNo, mode: u32, flags: u32) -> SysResult {
    let meta = look_at(ctx, file)?;
    let real = ctx.kernel.task().cred.real();
    let (_, caller, _) = ctx.paths();
    let cred = if flags & AT_EACCESS != 0 { caller.cred } else { &real };
    Caller { cred, ..caller }.granted((meta.uid, meta.gid), meta.mode, false, mode)?;
    Ok(0)
}

/// `error`, where a path leads to something without a name.
pub(super) fn nameless_is(error: Errno) -> impl Fn(Errno) -> Errno {
    move |found| if found == Errno::ENXIO { error } else { found }
}

/// mkdir(2).
fn mkdir(ctx: &mut Ctx, [path, mode, ..]: [u64; 6]) -> SysResult {
    mkdirat(ctx, [FDCWD, path, mode, 0, 0, 0])
}

fn make(ctx: &mut Ctx, dirfd: u64, path: u64, what: &Make, mode: u64) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, mem) = ctx.paths_now();
    let found = fs.locate(&caller, dirfd as i32, &path, Last::Parent)?;
    let ino = fs.make(&caller, &found, what, mode as u32, mem)?;
    fs.forget_if_unused(ino, mem);
    Ok(0)
}

/// mkdirat(2).
pub(super) fn mkdirat(ctx: &mut Ctx, [dirfd, path, mode, ..]: [u64; 6]) -> SysResult {
    make(ctx, dirfd, path, &Make::Dir, mode)
}

/// mknod(2).
fn mknod(ctx: &mut Ctx, [path, mode, dev, ..]: [u64; 6]) -> SysResult {
    mknodat(ctx, [FDCWD, path, mode, dev, 0, 0])
}

/// mknodat(2).
fn mknodat(ctx: &mut Ctx, [dirfd, path, mode, dev, ..]: [u64; 6]) -> SysResult {
    let kind = mode as u32 & S_IFMT;
    match kind {
        0 | S_IFREG => make(ctx, dirfd, path, &Make::File, mode),
        S_IFIFO => make(ctx, dirfd, path, &Make::Fifo, mode),
        S_IFCHR | S_IFBLK => {
            make(ctx, dirfd, path, &Make::Special { kind, rdev: u64::from(dev as u32) }, mode)
        }
        S_IFSOCK => make(ctx, dirfd, path, &Make::Special { kind, rdev: 0 }, mode),
        S_IFDIR => Err(Errno::EPERM.into()),
        _ => Err(Errno::EINVAL.into()),
    }
}

/// rmdir(2).
fn rmdir(ctx: &mut Ctx, [path, ..]: [u64; 6]) -> SysResult {
    unlinkat(ctx, [FDCWD, path, u64::from(AT_REMOVEDIR), 0, 0, 0])
}

/// unlink(2).
fn unlink(ctx: &mut Ctx, [path, ..]: [u64; 6]) -> SysResult {
    unlinkat(ctx, [FDCWD, path, 0, 0, 0, 0])
}

/// unlinkat(2).
pub(super) fn unlinkat(ctx: &mut Ctx, [dirfd, path, flags, ..]: [u64; 6]) -> SysResult {
    if flags as u32 & !AT_REMOVEDIR != 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, mem) = ctx.paths_now();
    let found = fs.locate(&caller, dirfd as i32, &path, Last::Parent)?;
    if flags as u32 & AT_REMOVEDIR != 0 {
        fs.rmdir(&caller, &found, mem)?;
    } else {
        fs.unlink(&caller, &found, mem)?;
    }
    Ok(0)
}

/// rename(2).
fn rename(ctx: &mut Ctx, [from, to, ..]: [u64; 6]) -> SysResult {
    renameat2(ctx, [FDCWD, from, FDCWD, to, 0, 0])
}

/// renameat(2).
fn renameat(ctx: &mut Ctx, [from_dir, from, to_dir, to, ..]: [u64; 6]) -> SysResult {
    renameat2(ctx, [from_dir, from, to_dir, to, 0, 0])
}

/// renameat2(2).
pub(super) fn renameat2(ctx: &mut Ctx, [from_dir, from, to_dir, to, flags, _]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    let known = RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT;
    let alone = flags & (RENAME_NOREPLACE | RENAME_WHITEOUT) == 0;
    if flags & !known != 0 || flags & RENAME_EXCHANGE != 0 && !alone {
        return Err(Errno::EINVAL.into());
    }
    let (from, to) = (get_path(ctx.mem, from)?, get_path(ctx.mem, to)?);
    let (fs, caller, mem) = ctx.paths_now();
    let from = fs.locate(&caller, from_dir as i32, &from, Last::Parent)?;
    let found = fs.locate(&caller, to_dir as i32, &to, Last::Parent);
    // The new name itself is looked at after the old one.
    let new = to.rsplit(|byte| *byte == b'/').find(|name| !name.is_empty());
    let too_long = found.as_ref().is_err_and(|why| *why == Errno::ENAMETOOLONG);
    if too_long && from.ino.is_none() && new.is_some_and(|name| name.len() > NAME_MAX) {
        return Err(Errno::ENOENT.into());
    }
    let to = found?;
    fs.rename(&caller, &from, &to, flags, mem)?;
    Ok(0)
}

/// link(2).
fn link(ctx: &mut Ctx, [from, to, ..]: [u64; 6]) -> SysResult {
    linkat(ctx, [FDCWD, from, FDCWD, to, 0, 0])
}

/// linkat(2). AT_EMPTY_PATH names the file of a descriptor, so a file without a name can get one.
pub(super) fn linkat(ctx: &mut Ctx, [from_dir, from, to_dir, to, flags, _]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let (from, to) = (get_path(ctx.mem, from)?, get_path(ctx.mem, to)?);
    let (fs, caller, mem) = ctx.paths_now();
    let ino = if from.is_empty() && flags & AT_EMPTY_PATH != 0 {
        match from_dir as i32 {
            AT_FDCWD => caller.context.cwd.ino,
            fd => caller.fd_link(fd)?.inode.ok_or(Errno::EXDEV)?,
        }
    } else {
        let found = fs.locate(&caller, from_dir as i32, &from, flags & AT_SYMLINK_FOLLOW != 0);
        found.map_err(nameless_is(Errno::EXDEV))?.exists()?
    };
    let to = fs.locate(&caller, to_dir as i32, &to, Last::Parent)?;
    fs.link(&caller, ino, &to, mem)?;
    Ok(0)
}

/// symlink(2).
fn symlink(ctx: &mut Ctx, [target, path, ..]: [u64; 6]) -> SysResult {
    symlinkat(ctx, [target, FDCWD, path, 0, 0, 0])
}

/// symlinkat(2).
pub(super) fn symlinkat(ctx: &mut Ctx, [target, dirfd, path, ..]: [u64; 6]) -> SysResult {
    let target = get_path(ctx.mem, target)?;
    if target.is_empty() {
        return Err(Errno::ENOENT.into());
    }
    make(ctx, dirfd, path, &Make::Symlink(&target), 0o777)
}

/// readlink(2).
fn readlink(ctx: &mut Ctx, [path, buf, size, ..]: [u64; 6]) -> SysResult {
    readlinkat(ctx, [FDCWD, path, buf, size, 0, 0])
}

/// readlinkat(2). An empty path names the symbolic link a descriptor refers to.
fn readlinkat(ctx: &mut Ctx, [dirfd, path, buf, size, ..]: [u64; 6]) -> SysResult {
    if size as i32 <= 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, mem) = ctx.paths();
    let ino = if path.is_empty() {
        if dirfd as i32 == AT_FDCWD {
            return Err(Errno::ENOENT.into());
        }
        match caller.fd_link(dirfd as i32)?.inode {
            Some(ino) if fs.node(ino).kind() == S_IFLNK => ino,
            _ => return Err(Errno::ENOENT.into()),
        }
    } else {
        fs.locate(&caller, dirfd as i32, &path, false)?.exists()?
    };
    let target = fs.readlink(&caller, ino)?;
    let count = target.len().min(size as i32 as usize);
    copy_to_user(mem, buf, &target[..count])?;
    Ok(count as u64)
}

/// getcwd(2): the length with the NUL.
fn getcwd(ctx: &mut Ctx, [buf, size, ..]: [u64; 6]) -> SysResult {
    let (fs, cwd) = (&ctx.kernel.fs, ctx.kernel.fs_context().cwd);
    if fs.node(cwd.ino).unlinked() {
        return Err(Errno::ENOENT.into());
    }
    let root = ctx.kernel.fs_context().root;
    let (mut path, beneath) = fs.path_from(root, cwd);
    if !beneath {
        path.splice(..0, *b"(unreachable)");
    }
    path.push(0);
    if path.len() as u64 > size {
        return Err(Errno::ERANGE.into());
    }
    copy_to_user(ctx.mem, buf, &path)?;
    Ok(path.len() as u64)
}

fn change_dir(ctx: &mut Ctx, to: At) -> SysResult {
    let (fs, caller, _) = ctx.paths();
    let ino = to.ino;
    if !fs.node(ino).is_dir() {
        return Err(Errno::ENOTDIR.into());
    }
    caller.may(fs.node(ino), X_OK)?;
    ctx.kernel.fs.hold(ino);
    let before = std::mem::replace(&mut ctx.kernel.fs_context_mut().cwd, to);
    ctx.kernel.fs.let_go(before.ino, ctx.mem);
    Ok(0)
}

/// chdir(2).
fn chdir(ctx: &mut Ctx, [path, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    let found = fs.locate(&caller, FDCWD as i32, &path, true).map_err(nameless_is(Errno::ENOTDIR));
    change_dir(ctx, found?.there()?)
}

/// fchdir(2).
fn fchdir(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    let open = ctx.kernel.file(fd as i32)?;
    let (mount, inode) = (open.mount, open.ops.inode());
    change_dir(ctx, At { mount, ino: inode.ok_or(Errno::ENOTDIR)? })
}

/// umask(2): the mask that held before.
fn umask(ctx: &mut Ctx, [mask, ..]: [u64; 6]) -> SysResult {
    let before = std::mem::replace(&mut ctx.kernel.fs_context_mut().umask, mask as u32 & 0o777);
    Ok(u64::from(before))
}

/// chroot(2). The working directory stays, even outside.
fn chroot(ctx: &mut Ctx, [path, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    let found = fs.locate(&caller, FDCWD as i32, &path, true).map_err(nameless_is(Errno::ENOTDIR));
    let to = found?.there()?;
    if !fs.node(to.ino).is_dir() {
        return Err(Errno::ENOTDIR.into());
    }
    caller.may(fs.node(to.ino), X_OK)?;
    caller.cred.require_here(CAP_SYS_CHROOT)?;
    ctx.kernel.fs.hold(to.ino);
    let before = std::mem::replace(&mut ctx.kernel.fs_context_mut().root, to);
    ctx.kernel.fs.let_go(before.ino, ctx.mem);
    Ok(0)
}

#[cfg(test)]
mod tests;
