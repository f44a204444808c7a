//! File handles: name_to_handle_at(2), open_by_handle_at(2).

use crate::abi::capability::CAP_DAC_READ_SEARCH;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::file::open::Opened;
use crate::kernel::procfs::machine::mount_of;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array, put_u32, put_u64};
use crate::kernel::vfs::mount::At;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::limit;
use crate::syscalls::fs::{get_path, install_opened, wait_for_partner};
use crate::syscalls::lock::break_leases;
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(super) const ROWS: &[Row] =
    &[full(303, "name_to_handle_at", name_to_handle_at), full(304, "open_by_handle_at", open_by_handle_at)];

/// Most bytes of a handle, `MAX_HANDLE_SZ`.
const MAX_HANDLE: u32 = 128;
/// Bytes of ours: the number of an inode.
const HANDLE: u32 = 8;
/// Type of ours, `FILEID_INO32_GEN`.
const KIND: u32 = 1;

/// The bits of a type that the caller sets, and those of them that there are.
const FILEID_USER_FLAGS_MASK: u32 = 0xffff_0000;
const FILEID_VALID_USER_FLAGS: u32 = 0x3_0000;

/// AT_HANDLE_CONNECTABLE: a handle with its directory, which nothing in memory gives.
const CONNECTABLE: u32 = 2;
/// AT_HANDLE_FID: a handle that is only to be compared.
const FID: u32 = 0x200;
/// AT_HANDLE_MNT_ID_UNIQUE: a mount's number has 64 bits.
const MNT_ID_UNIQUE: u32 = 1;

/// name_to_handle_at(2).
fn name_to_handle_at(ctx: &mut Ctx, [dirfd, path, handle, mount_id, flags, _]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    let known = AT_SYMLINK_FOLLOW | AT_EMPTY_PATH | FID | MNT_ID_UNIQUE | CONNECTABLE;
    if flags & !known != 0 || flags & CONNECTABLE != 0 && flags & (FID | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let path = get_path(ctx.mem, path)?;
    let (fs, caller, _) = ctx.paths();
    let ino = match path.is_empty() && flags & AT_EMPTY_PATH != 0 && dirfd as i32 != AT_FDCWD {
        true => caller.fd_link(dirfd as i32)?.inode.ok_or(Errno::EOPNOTSUPP)?,
        false if path.is_empty() && flags & AT_EMPTY_PATH != 0 => caller.context.cwd.ino,
        false => fs.locate(&caller, dirfd as i32, &path, flags & AT_SYMLINK_FOLLOW != 0)?.exists()?,
    };
    if flags & CONNECTABLE != 0 {
        return Err(if fs.is_in_memory(ino) { Errno::EOPNOTSUPP } else { Errno::EINVAL }.into());
    }
    let number = fs.handle_of(ino).ok_or(Errno::EOPNOTSUPP)?;
    let mount = mount_of(fs.node(ino).dev);
    let room = u32::from_le_bytes(get_array(ctx.mem, handle)?);
    if room > MAX_HANDLE {
        return Err(Errno::EINVAL.into());
    }
    match flags & MNT_ID_UNIQUE != 0 {
        true => put_u64(ctx.mem, mount_id, mount)?,
        false => put_u32(ctx.mem, mount_id, mount as u32)?,
    }
    put_u32(ctx.mem, handle, HANDLE)?;
    if room < HANDLE {
        return Err(Errno::EOVERFLOW.into());
    }
    put_u32(ctx.mem, handle.wrapping_add(4), KIND)?;
    copy_to_user(ctx.mem, handle.wrapping_add(8), &number.to_le_bytes())?;
    Ok(0)
}

/// The inode of a handle on the file system of a descriptor; EBADF, EPERM, EFAULT, EINVAL, ESTALE.
fn decode(ctx: &mut Ctx, mount: u64, handle: u64) -> Result<At, Errno> {
    let (fs, caller, _) = ctx.paths();
    let (mount, within) = match mount as i32 {
        AT_FDCWD => (caller.context.cwd.mount, Some(caller.context.cwd.ino)),
        fd => {
            let link = caller.fd_link(fd)?;
            if link.is_path {
                return Err(Errno::EBADF);
            }
            (link.mount, link.inode)
        }
    };
    let device = within.map(|ino| fs.node(ino).dev);
    let head: [u8; 8] = get_array(ctx.mem, handle)?;
    let (bytes, kind) = (u32::from_le_bytes([head[0], head[1], head[2], head[3]]), &head[4..]);
    let flags = u32::from_le_bytes([kind[0], kind[1], kind[2], kind[3]]) & FILEID_USER_FLAGS_MASK;
    if bytes == 0 || bytes > MAX_HANDLE || flags & !FILEID_VALID_USER_FLAGS != 0 {
        return Err(Errno::EINVAL);
    }
    ctx.kernel.task().cred.require(CAP_DAC_READ_SEARCH)?;
    let mut held = vec![0; bytes as usize];
    copy_from_user(ctx.mem, handle.wrapping_add(8), &mut held)?;
    let number = held.first_chunk().filter(|_| bytes == HANDLE && *kind == KIND.to_le_bytes());
    let number = u64::from_le_bytes(*number.ok_or(Errno::ESTALE)?);
    let ino = device.and_then(|device| ctx.kernel.fs.by_handle(device, number)).ok_or(Errno::ESTALE)?;
    Ok(At { mount, ino })
}

/// open_by_handle_at(2).
fn open_by_handle_at(ctx: &mut Ctx, [mount, handle, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32 & !(O_CREAT | O_EXCL);
    if let Some(file) = ctx.kernel.task().call.opening {
        return wait_for_partner(ctx, file, b"a handle", flags);
    }
    let at = decode(ctx, mount, handle)?;
    ctx.kernel.fds().has_room(limit(ctx))?;
    let now = ctx.kernel.real_time(ctx.cpu);
    let mut opener = ctx.kernel.opener(now, ctx.mem);
    match opener.open_handle(at, flags)? {
        Opened::Leased(ino, write) => {
            break_leases(ctx, ino, write, flags & O_NONBLOCK != 0)?;
            open_by_handle_at(ctx, [mount, handle, flags.into(), 0, 0, 0])
        }
        opened => install_opened(ctx, opened, b"a handle", flags),
    }
}
