//! getdents64(2) and the older getdents(2).

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::inotify::IN_ACCESS;
use crate::kernel::uaccess::copy_to_user;
use crate::kernel::vfs::list::{DirEntry, Listing};
use crate::kernel::vfs::node::Ino;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[full(78, "getdents", getdents), full(217, "getdents64", getdents64)];

/// `struct linux_dirent64`: the type comes before the name.
fn new_entry(entry: &DirEntry, next: u64) -> Vec<u8> {
    let len = (19 + entry.name.len() + 1).next_multiple_of(8);
    let mut bytes = Vec::with_capacity(len);
    bytes.extend_from_slice(&entry.number.to_le_bytes());
    bytes.extend_from_slice(&next.to_le_bytes());
    bytes.extend_from_slice(&(len as u16).to_le_bytes());
    bytes.push(entry.kind);
    bytes.extend_from_slice(&entry.name);
    bytes.resize(len, 0);
    bytes
}

/// `struct linux_dirent`: the type is the last byte.
fn old_entry(entry: &DirEntry, next: u64) -> Vec<u8> {
    let len = (18 + entry.name.len() + 2).next_multiple_of(8);
    let mut bytes = Vec::with_capacity(len);
    bytes.extend_from_slice(&entry.number.to_le_bytes());
    bytes.extend_from_slice(&next.to_le_bytes());
    bytes.extend_from_slice(&(len as u16).to_le_bytes());
    bytes.extend_from_slice(&entry.name);
    bytes.resize(len - 1, 0);
    bytes.push(entry.kind);
    bytes
}

/// Looks names up until the listing is whole, or the user asks for something.
fn look_up(ctx: &mut Ctx, dir: Ino, listing: Option<Arc<Listing>>) -> Result<(Arc<Listing>, bool), Errno> {
    let (fs, caller, _) = ctx.paths();
    let mut listing = match listing {
        Some(listing) => listing,
        None => Arc::new(fs.list(&caller, dir)?),
    };
    while !listing.is_whole() {
        let (fs, caller, _) = ctx.paths();
        fs.list_on(&caller, dir, Arc::make_mut(&mut listing));
        if ctx.kernel.streams.is_asked() {
            break;
        }
    }
    let whole = listing.is_whole();
    Ok((listing, whole))
}

/// Reads on from the offset, which counts entries. The listing is made anew at the beginning
/// (rewinddir).
fn list(ctx: &mut Ctx, fd: u64, buf: u64, size: u64, encode: fn(&DirEntry, u64) -> Vec<u8>) -> SysResult {
    let open = ctx.kernel.file(fd as i32)?;
    if open.is_path() {
        return Err(Errno::EBADF.into());
    }
    let (ino, offset) = (open.ops.inode(), open.offset);
    let fs = &ctx.kernel.fs;
    let ino = ino.filter(|ino| fs.node(*ino).is_dir()).ok_or(Errno::ENOTDIR)?;
    if fs.node(ino).unlinked() {
        return Err(Errno::ENOENT.into());
    }
    let file = ctx.kernel.fds().get(fd as i32)?;
    // What the call listed before it was broken off stays listed.
    let on = offset > 0 || ctx.kernel.task().call.done > 0;
    let listing = ctx.kernel.files.get_mut(file).listing.take().filter(|_| on);
    let (listing, whole) = look_up(ctx, ino, listing)?;
    ctx.kernel.files.get_mut(file).listing = Some(Arc::clone(&listing));
    if !whole {
        return Err(ctx.pause(listing.len() as u64));
    }
    let room = u64::try_from(size as i32).unwrap_or(0);
    let mut out = Vec::new();
    let mut at = usize::try_from(offset).unwrap_or(usize::MAX);
    while let Some(entry) = listing.get(at) {
        let bytes = encode(entry, at as u64 + 1);
        if (out.len() + bytes.len()) as u64 > room {
            if out.is_empty() {
                return Err(Errno::EINVAL.into());
            }
            break;
        }
        out.extend_from_slice(&bytes);
        at += 1;
    }
    copy_to_user(ctx.mem, buf, &out)?;
    let open = ctx.kernel.files.get_mut(file);
    open.offset = at.max(usize::try_from(offset).unwrap_or(0)) as u64;
    ctx.kernel.fs.notify(ino, IN_ACCESS);
    Ok(out.len() as u64)
}

/// getdents(2).
fn getdents(ctx: &mut Ctx, [fd, buf, size, ..]: [u64; 6]) -> SysResult {
    list(ctx, fd, buf, size, old_entry)
}

/// getdents64(2).
fn getdents64(ctx: &mut Ctx, [fd, buf, size, ..]: [u64; 6]) -> SysResult {
    list(ctx, fd, buf, size, new_entry)
}
