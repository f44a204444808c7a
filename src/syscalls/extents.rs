//! FS_IOC_FIEMAP and FIBMAP of ioctl(2): where on the disk the bytes of a file are.

use crate::abi::capability::CAP_SYS_RAWIO;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::GuestMemory;
use crate::kernel::fdtable::FileNo;
use crate::kernel::uaccess::{get_words, put_u32, put_words};
use crate::kernel::vfs::FileSystem;
use crate::kernel::vfs::node::{Body, Ino};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::stat::is_on_disk;

/// Bytes of a block of ext4.
const BLOCK: u64 = 4096;
/// Bytes of a file that ext4 can number the blocks of.
const MAPPED_MOST: u64 = u32::MAX as u64 * BLOCK;
/// Bytes of the disk for each file. There is no disk, so a file lies where its number says: the
/// same place in every run.
const APART: u32 = 36;

/// A run of blocks, `struct fiemap_extent`.
struct Extent {
    start: u64,
    len: u64,
}

/// FS_IOC_FIEMAP: the extents of a file of the disk, as after its bytes were written there.
pub(super) fn fiemap(ctx: &mut Ctx, file: FileNo, arg: u64) -> SysResult {
    let Some(ino) = ctx.kernel.files.get(file).ops.inode() else { return Err(Errno::EOPNOTSUPP.into()) };
    let node = ctx.kernel.fs.node(ino);
    let kind = matches!(node.body, Body::File(_) | Body::Dir(_));
    if !kind || node.synthetic || !is_on_disk(node.dev) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let [start, len, flags_mapped, count_reserved] = get_words::<4>(ctx.mem, arg)?;
    let (flags, count) = (flags_mapped as u32, count_reserved as u32);
    if count > FIEMAP_MAX_EXTENTS {
        return Err(Errno::EINVAL.into());
    }
    let mut told = Told { array: arg + FIEMAP_HEAD, most: count, mapped: 0 };
    let (kept, result) = match check(start, len, flags) {
        Err((kept, errno)) => (kept, Err(errno)),
        Ok(kept) if flags & FIEMAP_FLAG_XATTR != 0 => (kept, Ok(())),
        Ok(kept) => (kept, told.tell(&mut ctx.kernel.fs, ctx.mem, ino, start, len)),
    };
    put_u32(ctx.mem, arg + 16, kept)?;
    put_u32(ctx.mem, arg + 20, told.mapped)?;
    result?;
    Ok(0)
}

/// The flags that are left of those of a call; EINVAL, EFBIG, and EBADR with those that are not
/// known.
fn check(start: u64, len: u64, flags: u32) -> Result<u32, (u32, Errno)> {
    // Extents need not be read ahead, and no attribute has a block of its own.
    let flags = flags & !(FIEMAP_FLAG_CACHE | FIEMAP_FLAG_XATTR);
    if len == 0 {
        return Err((flags, Errno::EINVAL));
    }
    if start >= MAPPED_MOST {
        return Err((flags, Errno::EFBIG));
    }
    match flags & !FIEMAP_FLAG_SYNC {
        0 => Ok(flags),
        unknown => Err((unknown, Errno::EBADR)),
    }
}

/// The extents that the program was told of.
struct Told {
    /// The array for them, and how many it takes: with none they are only counted.
    array: u64,
    most: u32,
    mapped: u32,
}

impl Told {
    /// Tells of the extents in a range, cut to the blocks of it.
    fn tell(
        &mut self,
        fs: &mut FileSystem,
        mem: &mut dyn GuestMemory,
        ino: Ino,
        start: u64,
        len: u64,
    ) -> Result<(), Errno> {
        let place = fs.meta(ino).ino << APART;
        let end = start.saturating_add(len.min(MAPPED_MOST)).min(MAPPED_MOST);
        let mut from = start / BLOCK * BLOCK;
        let mut extent = next_extent(fs, mem, ino, from, end)?;
        while let Some(Extent { start, len }) = extent {
            if self.most > 0 && self.mapped == self.most {
                break;
            }
            from = start + len;
            extent = next_extent(fs, mem, ino, from, end)?;
            if self.most > 0 {
                let flags = if extent.is_none() { FIEMAP_EXTENT_LAST } else { 0 };
                let words = [start, place.wrapping_add(start), len, 0, 0, flags.into(), 0];
                put_words(mem, self.array + u64::from(self.mapped) * FIEMAP_EXTENT, &words)?;
            }
            self.mapped = self.mapped.saturating_add(1);
        }
        Ok(())
    }
}

/// The first extent of a file behind a block, up to the block that `end` is in.
fn next_extent(
    fs: &FileSystem,
    mem: &mut dyn GuestMemory,
    ino: Ino,
    from: u64,
    end: u64,
) -> Result<Option<Extent>, Errno> {
    let end = end.next_multiple_of(BLOCK);
    let start = match fs.seek_file(ino, from, true, mem) {
        Err(Errno::ENXIO) => return Ok(None),
        found => found? / BLOCK * BLOCK,
    };
    if start >= end {
        return Ok(None);
    }
    let hole = fs.seek_file(ino, start, false, mem)?.next_multiple_of(BLOCK);
    Ok(Some(Extent { start, len: hole.min(end) - start }))
}

/// FIBMAP: the disk has no blocks that a program could go to.
pub(super) fn fibmap(ctx: &mut Ctx, file: FileNo) -> SysResult {
    let inode = ctx.kernel.files.get(file).ops.inode();
    if !inode.is_some_and(|ino| matches!(ctx.kernel.fs.node(ino).body, Body::File(_))) {
        return Err(Errno::ENOTTY.into());
    }
    ctx.kernel.task().cred.require(CAP_SYS_RAWIO)?;
    Err(Errno::EINVAL.into())
}
