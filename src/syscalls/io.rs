//! read(2), write(2), lseek(2) and their variants.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::fdtable::FileNo;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::iovec::{access_ok, get_iovec};
use crate::syscalls::row::{Row, full};
use crate::syscalls::transfer::{PIECE, is_empty, operate, read_to, start, write_from};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(0, "read", read),
    full(1, "write", write),
    full(17, "pread64", pread64),
    full(18, "pwrite64", pwrite64),
    full(19, "readv", readv),
    full(20, "writev", writev),
    full(295, "preadv", preadv),
    full(296, "pwritev", pwritev),
    full(327, "preadv2", preadv2),
    full(328, "pwritev2", pwritev2),
    full(8, "lseek", lseek),
];

/// `get_iovec` for a call that stores to the pieces: it is not read again when the call is made
/// again, since the words may be among what was stored to.
fn get_iovec_once(ctx: &mut Ctx, addr: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
    if let decided @ [_, ..] = &ctx.kernel.task().call.decided[..] {
        return Ok(decided.as_chunks().0.iter().map(|[addr, len]| (*addr, *len)).collect());
    }
    let pieces = get_iovec(ctx.mem, addr, count)?;
    if pieces.iter().map(|(_, len)| *len).sum::<u64>() > PIECE {
        ctx.kernel.task_mut().call.decided = pieces.iter().flat_map(|(addr, len)| [*addr, *len]).collect();
    }
    Ok(pieces)
}

/// EISDIR for a directory that is open for reading: even nothing is not read from it. EFAULT.
fn not_a_directory(ctx: &mut Ctx, fd: u64, piece: (u64, u64)) -> Result<(), Errno> {
    let file = ctx.kernel.pin(fd as i32)?;
    let open = ctx.kernel.files.get(file);
    let directory = open.ops.inode().is_some_and(|ino| ctx.kernel.fs.node(ino).is_dir());
    if directory && open.readable() {
        access_ok(&[piece])?;
        return Err(Errno::EISDIR);
    }
    Ok(())
}

/// read(2).
fn read(ctx: &mut Ctx, [fd, buf, count, ..]: [u64; 6]) -> SysResult {
    not_a_directory(ctx, fd, (buf, count))?;
    let read = read_to(ctx, fd, None, &[(buf, count)], 0)?;
    if let Some(file) = of_records(ctx, fd, count)? {
        operate(ctx, file, |open, cx| open.read(cx, None, &mut []))?;
    }
    Ok(read)
}

/// The description of a call that moves nothing, if it is of a kind that looks at the size even so.
fn of_records(ctx: &mut Ctx, fd: u64, count: u64) -> Result<Option<FileNo>, Errno> {
    let file = ctx.kernel.pin(fd as i32)?;
    Ok((count == 0 && ctx.kernel.files.get(file).ops.moves_whole()).then_some(file))
}

/// write(2).
fn write(ctx: &mut Ctx, [fd, buf, count, ..]: [u64; 6]) -> SysResult {
    let written = write_from(ctx, fd, None, &[(buf, count)], 0)?;
    if let Some(file) = of_records(ctx, fd, count)? {
        operate(ctx, file, |open, cx| open.write(cx, None, &[]))?;
    }
    Ok(written)
}

/// pread(2).
fn pread64(ctx: &mut Ctx, [fd, buf, count, offset, ..]: [u64; 6]) -> SysResult {
    if offset <= i64::MAX as u64 {
        not_a_directory(ctx, fd, (buf, count))?;
    }
    read_to(ctx, fd, Some(offset), &[(buf, count)], 0)
}

/// pwrite(2).
fn pwrite64(ctx: &mut Ctx, [fd, buf, count, offset, ..]: [u64; 6]) -> SysResult {
    write_from(ctx, fd, Some(offset), &[(buf, count)], 0)
}

/// Reads into a vector.
fn read_vector(ctx: &mut Ctx, fd: u64, at: Option<u64>, (iov, count): (u64, u64), flags: u32) -> SysResult {
    let (file, _) = start(ctx, fd, at)?;
    let open = ctx.kernel.files.get(file);
    if !open.readable() {
        return Err(Errno::EBADF.into());
    }
    if let Some(errno) = open.ops.read_error() {
        return Err(errno.into());
    }
    let pieces = get_iovec_once(ctx, iov, count)?;
    access_ok(&pieces)?;
    if is_empty(&pieces) { Ok(0) } else { read_to(ctx, fd, at, &pieces, flags) }
}

/// Writes from a vector.
fn write_vector(ctx: &mut Ctx, fd: u64, at: Option<u64>, (iov, count): (u64, u64), flags: u32) -> SysResult {
    let (file, _) = start(ctx, fd, at)?;
    let open = ctx.kernel.files.get(file);
    if at.is_some() && !open.ops.is_written_at() {
        return Err(Errno::ESPIPE.into());
    }
    if !open.writable() {
        return Err(Errno::EBADF.into());
    }
    if open.ops.write_error() == Some(Errno::EINVAL) {
        return Err(Errno::EINVAL.into());
    }
    let pieces = get_iovec(ctx.mem, iov, count)?;
    access_ok(&pieces)?;
    if is_empty(&pieces) { Ok(0) } else { write_from(ctx, fd, at, &pieces, flags) }
}

/// readv(2).
fn readv(ctx: &mut Ctx, [fd, iov, count, ..]: [u64; 6]) -> SysResult {
    read_vector(ctx, fd, None, (iov, count), 0)
}

/// writev(2).
fn writev(ctx: &mut Ctx, [fd, iov, count, ..]: [u64; 6]) -> SysResult {
    write_vector(ctx, fd, None, (iov, count), 0)
}

/// preadv(2).
fn preadv(ctx: &mut Ctx, [fd, iov, count, offset, ..]: [u64; 6]) -> SysResult {
    read_vector(ctx, fd, Some(offset), (iov, count), 0)
}

/// pwritev(2).
fn pwritev(ctx: &mut Ctx, [fd, iov, count, offset, ..]: [u64; 6]) -> SysResult {
    write_vector(ctx, fd, Some(offset), (iov, count), 0)
}

/// The place of preadv2(2) and pwritev2(2): -1 is the current offset. Linux looks at it before the
/// descriptor; EINVAL.
fn offset_of(offset: u64) -> Result<Option<u64>, Errno> {
    match offset {
        u64::MAX => Ok(None),
        _ if offset > i64::MAX as u64 => Err(Errno::EINVAL),
        _ => Ok(Some(offset)),
    }
}

/// preadv2(2).
fn preadv2(ctx: &mut Ctx, [fd, iov, count, offset, _, flags]: [u64; 6]) -> SysResult {
    let at = offset_of(offset)?;
    read_vector(ctx, fd, at, (iov, count), flags as u32)
}

/// pwritev2(2).
fn pwritev2(ctx: &mut Ctx, [fd, iov, count, offset, _, flags]: [u64; 6]) -> SysResult {
    let at = offset_of(offset)?;
    write_vector(ctx, fd, at, (iov, count), flags as u32)
}

/// lseek(2).
fn lseek(ctx: &mut Ctx, [fd, offset, whence, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if ctx.kernel.files.get(file).is_path() {
        return Err(Errno::EBADF.into());
    }
    let whence = whence & 0xffff_ffff;
    if whence > SEEK_HOLE {
        return Err(Errno::EINVAL.into());
    }
    operate(ctx, file, |open, cx| Ok(open.seek(cx, offset, whence)?))
}

#[cfg(test)]
mod tests;
