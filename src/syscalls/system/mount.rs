//! mount(2), umount(2), pivot_root(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::PAGE_SIZE;
use crate::kernel::uaccess::{copy_from_user, strncpy_from_user};
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::resolve::Found;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fs::{FDCWD, get_path, nameless_is};
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(155, "pivot_root", pivot_root),
    partial(165, "mount", mount, "tmpfs, proc, sysfs, devpts and parts of the tree; nothing propagates"),
    full(166, "umount2", umount2),
];

/// The place that a path leads to, and how it got there.
fn find(ctx: &mut Ctx, path: &[u8]) -> Result<Found, Errno> {
    let (fs, caller, _) = ctx.paths();
    let found = fs.locate(&caller, FDCWD as i32, path, true)?;
    found.exists()?;
    Ok(found)
}

/// The place that a path leads to.
fn place(ctx: &mut Ctx, path: &[u8], follow: bool) -> Result<At, Errno> {
    let (fs, caller, _) = ctx.paths();
    fs.locate(&caller, FDCWD as i32, path, follow)?.there()
}

/// The error of a call whose path leads to something without a name, which is asked for privilege
/// first.
fn of_nameless(ctx: &Ctx, found: Errno, error: Errno) -> Errno {
    if found == Errno::ENXIO { ctx.kernel.may_mount().err().unwrap_or(error) } else { found }
}

/// A string of at most a page, or nothing for a null pointer, `copy_mount_string`.
fn text(ctx: &mut Ctx, addr: u64) -> Result<Vec<u8>, Errno> {
    match addr {
        0 => Ok(Vec::new()),
        addr => strncpy_from_user(ctx.mem, addr, PAGE_SIZE as usize)?.ok_or(Errno::EINVAL),
    }
}

/// The options of a file system: as much of a page as there is, up to a NUL, `copy_mount_options`.
fn options(ctx: &mut Ctx, addr: u64) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    if addr != 0 {
        for at in 0..PAGE_SIZE {
            let mut byte = [0];
            match copy_from_user(ctx.mem, addr.wrapping_add(at), &mut byte) {
                Ok(()) if byte[0] != 0 => bytes.push(byte[0]),
                Err(errno) if at == 0 => return Err(errno),
                _ => break,
            }
        }
    }
    Ok(bytes)
}

/// mount(2): the strings, the mount point, and then who asks.
fn mount(ctx: &mut Ctx, [source, target, kind, flags, data, _]: [u64; 6]) -> SysResult {
    const PROPAGATION: u64 = MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE;
    let (no_kind, no_source) = (kind == 0, source == 0);
    let kind = text(ctx, kind)?;
    let source = text(ctx, source)?;
    let data = options(ctx, data)?;
    let target = get_path(ctx.mem, target)?;
    let target = find(ctx, &target).map_err(|error| of_nameless(ctx, error, Errno::ENOENT))?;
    let at = target.there()?;
    // Old programs mark the flags with a number above them.
    let flags = if flags & MS_MGC_MSK == MS_MGC_VAL { flags & !MS_MGC_MSK } else { flags };
    if flags & MS_NOUSER != 0 {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.may_mount()?;
    ctx.kernel.collect_mounts(ctx.mem);
    if flags & MS_REMOUNT != 0 {
        ctx.kernel.mount_remount(at, flags, &data, ctx.mem)?;
    } else if flags & MS_BIND != 0 || flags & MS_MOVE != 0 && flags & PROPAGATION == 0 {
        if no_source || source.is_empty() {
            return Err(if no_source { Errno::EINVAL } else { Errno::ENOENT }.into());
        }
        let source = find(ctx, &source)?;
        match flags & MS_BIND != 0 {
            true => ctx.kernel.mount_bind(&source, &target, flags & MS_REC != 0)?,
            false => ctx.kernel.mount_move(source.there()?, &target)?,
        }
    } else if flags & PROPAGATION != 0 {
        ctx.kernel.mount_propagation(at, flags)?;
    } else {
        if no_kind {
            return Err(Errno::EINVAL.into());
        }
        let now = ctx.kernel.real_time(ctx.cpu);
        ctx.kernel.mount_new(&target, (&source, &kind, &data), flags, now)?;
    }
    Ok(0)
}

/// umount2(2).
fn umount2(ctx: &mut Ctx, [target, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, target)?;
    let at = place(ctx, &path, flags & UMOUNT_NOFOLLOW == 0);
    let at = at.map_err(|error| of_nameless(ctx, error, Errno::EINVAL))?;
    ctx.kernel.may_mount()?;
    if flags & MNT_EXPIRE != 0 && flags & (MNT_FORCE | MNT_DETACH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.unmount(at, flags)?;
    ctx.kernel.collect_mounts(ctx.mem);
    Ok(0)
}

/// pivot_root(2).
fn pivot_root(ctx: &mut Ctx, [new, old, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.may_mount()?;
    let new = get_path(ctx.mem, new)?;
    let new = place(ctx, &new, true).map_err(nameless_is(Errno::ENOTDIR))?;
    let old = get_path(ctx.mem, old)?;
    let old = place(ctx, &old, true).map_err(nameless_is(Errno::ENOTDIR))?;
    ctx.kernel.pivot_root(new, old)?;
    Ok(0)
}
