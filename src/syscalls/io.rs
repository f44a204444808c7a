//! read(2), write(2), lseek(2) and their kin: bytes between the guest's memory and what is open.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::resource::Resource;
use crate::abi::signal::signo::{SIGPIPE, SIGXFSZ};
use crate::guest::{GuestMemory, USER_END};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::copy_from_user;
use crate::kernel::vfs::file::{FileKind, FileNo};
use crate::kernel::vfs::node::{Body, Device, Ino};
use crate::kernel::vfs::pipe::{PIPE_BUF, PipeId};
use crate::kernel::vfs::streams::Streams;
use crate::kernel::vfs::{parts, parts_now};
use crate::kernel::wait::Wake;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Handler, Row, full, partial};

const fn flagless(number: u16, name: &'static str, handler: Handler) -> Row {
    partial(number, name, handler, "RWF_NOWAIT and RWF_APPEND are EOPNOTSUPP")
}

/// The calls of this file.
pub const ROWS: &[Row] = &[
    full(0, "read", read),
    full(1, "write", write),
    full(17, "pread64", pread64),
    full(18, "pwrite64", pwrite64),
    full(19, "readv", readv),
    full(20, "writev", writev),
    full(295, "preadv", preadv),
    full(296, "pwritev", pwritev),
    flagless(327, "preadv2", preadv2),
    flagless(328, "pwritev2", pwritev2),
    full(8, "lseek", lseek),
];

/// Most bytes one call moves, as in Linux (MAX_RW_COUNT).
const MAX_COUNT: u64 = 0x7fff_f000;
/// Bytes moved at a time.
const PIECE: u64 = 256 * 1024;
const IOV_MAX: u64 = 1024;
/// RWF_HIPRI, RWF_DSYNC and RWF_SYNC, which change nothing here.
const RWF_KNOWN: u32 = 7;

/// Waits for what can never come: a signal ends it, or the run stops with the reason.
pub(crate) fn block(ctx: &mut Ctx, what: &str) -> Break {
    match ctx.kernel.wait(ctx.cpu, None, 0) {
        Wake::Signal | Wake::Timeout => ctx.interrupted(Restart::WithFlag),
        Wake::Never => Break::Refuse(format!(
            "{what} would wait for ever: the program is the only process of the emulated machine"
        )),
    }
}

/// Whether reads and writes at an offset make sense; ESPIPE is the answer if not.
pub(crate) fn seekable(ctx: &Ctx, file: FileNo) -> bool {
    match ctx.kernel.fs.files.get(file).kind {
        FileKind::Inode(_) | FileKind::Text(..) => true,
        FileKind::Host(stream) => ctx.kernel.fs.streams.has_position(stream),
        _ => false,
    }
}

/// Reads once from what is open, at `at` or, where offsets have no meaning, what comes next.
pub(crate) fn read_some(
    ctx: &mut Ctx,
    file: FileNo,
    at: Option<u64>,
    buf: &mut [u8],
) -> Result<usize, Break> {
    let open = ctx.kernel.fs.files.get(file);
    let (offset, nonblocking) = (at.unwrap_or(open.offset), open.nonblocking());
    match &open.kind {
        FileKind::Inode(ino) => {
            let ino = *ino;
            match ctx.kernel.fs.node(ino).body {
                Body::Device(Device::Null) => Ok(0),
                Body::Device(Device::Zero | Device::Full) => {
                    buf.fill(0);
                    Ok(buf.len())
                }
                Body::Device(Device::Random) => {
                    ctx.kernel.random.fill(buf);
                    Ok(buf.len())
                }
                _ => Ok(ctx.kernel.fs.read_file(ino, offset, buf, ctx.mem)?),
            }
        }
        FileKind::Text(_, text) => {
            let rest = usize::try_from(offset).ok().and_then(|offset| text.get(offset..)).unwrap_or_default();
            let count = buf.len().min(rest.len());
            buf[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
        FileKind::Host(stream) => {
            let stream = *stream;
            Ok(ctx.kernel.fs.streams.read(stream, at, buf)?)
        }
        FileKind::Pipe(pipe, _) => {
            let pipe = ctx.kernel.fs.pipes.get_mut(*pipe).ok_or(Errno::EIO)?;
            match (pipe.take(buf), pipe.writers) {
                (0, 0) => Ok(0),
                (0, _) if buf.is_empty() => Ok(0),
                (0, _) if nonblocking => Err(Errno::EAGAIN.into()),
                (0, _) => Err(block(ctx, "read from an empty pipe")),
                (count, _) => Ok(count),
            }
        }
        FileKind::Event(count, one) => {
            let (count, one) = (*count, *one);
            let Some(out) = buf.get_mut(..8) else { return Err(Errno::EINVAL.into()) };
            if count == 0 {
                return Err(if nonblocking {
                    Errno::EAGAIN.into()
                } else {
                    block(ctx, "read from an eventfd")
                });
            }
            let taken = if one { 1 } else { count };
            out.copy_from_slice(&taken.to_le_bytes());
            ctx.kernel.fs.files.get_mut(file).kind = FileKind::Event(count - taken, one);
            Ok(8)
        }
        FileKind::Epoll(_) => Err(Errno::EINVAL.into()),
        FileKind::Socket => Err(Errno::ENOTCONN.into()),
    }
}

fn write_pipe(ctx: &mut Ctx, id: PipeId, nonblocking: bool, bytes: &[u8]) -> Result<usize, Break> {
    let pipe = ctx.kernel.fs.pipes.get_mut(id).ok_or(Errno::EIO)?;
    if pipe.readers == 0 {
        ctx.kernel.raise(SIGPIPE);
        return Err(Errno::EPIPE.into());
    }
    let room = pipe.room();
    let whole = bytes.len() <= PIPE_BUF;
    if room >= bytes.len() || (nonblocking && !whole && room > 0) {
        let count = room.min(bytes.len());
        pipe.buf.extend(&bytes[..count]);
        return Ok(count);
    }
    if nonblocking {
        return Err(Errno::EAGAIN.into());
    }
    Err(block(ctx, "write to a full pipe"))
}

fn write_stream(ctx: &mut Ctx, stream: u8, at: Option<u64>, bytes: &[u8]) -> Result<usize, Break> {
    let written = ctx.kernel.fs.streams.write(stream, at, bytes);
    if written == Err(Errno::EPIPE) {
        ctx.kernel.raise(SIGPIPE);
    }
    Ok(written?)
}

/// Where a write to a file begins, and how much of it RLIMIT_FSIZE allows.
fn file_room(ctx: &mut Ctx, ino: Ino, offset: u64, len: usize) -> Result<usize, Break> {
    let limit = ctx.kernel.process().limits.soft(Resource::Fsize);
    if len > 0 && offset >= limit && matches!(ctx.kernel.fs.node(ino).body, Body::File(_)) {
        ctx.kernel.raise(SIGXFSZ);
        return Err(Errno::EFBIG.into());
    }
    Ok((len as u64).min(limit.saturating_sub(offset)) as usize)
}

/// Writes to what is open, at `at` or, where offsets have no meaning, next.
pub(crate) fn write_some(ctx: &mut Ctx, file: FileNo, at: Option<u64>, bytes: &[u8]) -> Result<usize, Break> {
    let open = ctx.kernel.fs.files.get(file);
    let nonblocking = open.nonblocking();
    match open.kind {
        FileKind::Inode(ino) => match ctx.kernel.fs.node(ino).body {
            Body::Device(Device::Full) => Err(Errno::ENOSPC.into()),
            Body::Device(_) => Ok(bytes.len()),
            _ => {
                let offset = at.unwrap_or(0);
                let count = file_room(ctx, ino, offset, bytes.len())?;
                let (fs, who, mem) = parts_now(ctx);
                Ok(fs.write_file(&who, ino, offset, &bytes[..count], mem)?)
            }
        },
        FileKind::Text(..) => Err(Errno::EBADF.into()),
        FileKind::Host(stream) => write_stream(ctx, stream, at, bytes),
        FileKind::Pipe(pipe, _) => write_pipe(ctx, pipe, nonblocking, bytes),
        FileKind::Event(count, one) => {
            let value = bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).ok_or(Errno::EINVAL)?;
            if value == u64::MAX {
                return Err(Errno::EINVAL.into());
            }
            match count.checked_add(value).filter(|sum| *sum < u64::MAX) {
                Some(sum) => {
                    ctx.kernel.fs.files.get_mut(file).kind = FileKind::Event(sum, one);
                    Ok(8)
                }
                None if nonblocking => Err(Errno::EAGAIN.into()),
                None => Err(block(ctx, "write to a full eventfd")),
            }
        }
        FileKind::Epoll(_) => Err(Errno::EINVAL.into()),
        FileKind::Socket => Err(Errno::ENOTCONN.into()),
    }
}

/// Whether a read or write goes on after a full piece: on files, not where bytes come as they come.
fn goes_on(ctx: &Ctx, file: FileNo, write: bool) -> bool {
    match ctx.kernel.fs.files.get(file).kind {
        FileKind::Inode(_) | FileKind::Text(..) => true,
        FileKind::Host(_) => write || seekable(ctx, file),
        _ => false,
    }
}

/// The offset a call works at: its own, the description's, or none where there are no offsets.
fn start(ctx: &Ctx, file: FileNo, at: Option<u64>) -> Result<Option<u64>, Errno> {
    match (at, &ctx.kernel.fs.files.get(file).kind) {
        (Some(at), _) if at > i64::MAX as u64 => Err(Errno::EINVAL),
        (Some(_), _) if !seekable(ctx, file) => Err(Errno::ESPIPE),
        (Some(at), _) => Ok(Some(at)),
        (None, FileKind::Inode(_) | FileKind::Text(..)) => Ok(Some(ctx.kernel.fs.files.get(file).offset)),
        (None, _) => Ok(None),
    }
}

/// EFAULT if a piece does not lie in the user's half; the kernel looks at that before it does anything.
fn access_ok(pieces: &[(u64, u64)]) -> Result<(), Errno> {
    let inside =
        |(addr, len): &(u64, u64)| *len == 0 || addr.checked_add(*len).is_some_and(|end| end <= USER_END);
    if pieces.iter().all(inside) { Ok(()) } else { Err(Errno::EFAULT) }
}

/// Reads into pieces of the guest's memory. What was read before an error or a bad address counts.
fn read_to(ctx: &mut Ctx, fd: u64, at: Option<u64>, pieces: &[(u64, u64)]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if !ctx.kernel.fs.files.get(file).readable() {
        return Err(Errno::EBADF.into());
    }
    access_ok(pieces)?;
    let offset = start(ctx, file, at)?;
    let on = goes_on(ctx, file, false);
    let mut done = 0;
    let mut failed = None;
    'pieces: for (addr, len) in pieces {
        let len = &(*len).min(MAX_COUNT);
        let mut within = 0;
        while within < *len {
            let mut buf = vec![0; (*len - within).min(PIECE) as usize];
            let count = match read_some(ctx, file, offset.map(|offset| offset + done), &mut buf) {
                Ok(count) => count,
                Err(why) => {
                    failed = Some(why);
                    break 'pieces;
                }
            };
            if let Err(copied) = ctx.mem.write(addr.wrapping_add(within), &buf[..count]) {
                done += copied as u64;
                failed = Some(Errno::EFAULT.into());
                break 'pieces;
            }
            done += count as u64;
            within += count as u64;
            if count < buf.len() || !on {
                // A stream that just filled this piece goes on only into the next one, and only if more is there.
                let more = within == *len && has_bytes(ctx, file);
                if !more {
                    break 'pieces;
                }
            }
        }
    }
    finish(ctx, file, at, offset, done, failed)
}

/// Whether a pipe holds bytes now.
fn has_bytes(ctx: &Ctx, file: FileNo) -> bool {
    match ctx.kernel.fs.files.get(file).kind {
        FileKind::Pipe(pipe, _) => ctx.kernel.fs.pipes.get(pipe).is_some_and(|pipe| !pipe.buf.is_empty()),
        _ => false,
    }
}

fn finish(
    ctx: &mut Ctx,
    file: FileNo,
    at: Option<u64>,
    offset: Option<u64>,
    done: u64,
    failed: Option<Break>,
) -> SysResult {
    if let (None, Some(offset)) = (at, offset) {
        ctx.kernel.fs.files.get_mut(file).offset = offset + done;
    }
    match failed {
        Some(why @ Break::Refuse(_)) => Err(why),
        Some(why) if done == 0 => Err(why),
        _ => Ok(done),
    }
}

/// Writes from pieces of the guest's memory. What was written before an error or a bad address counts.
fn write_from(ctx: &mut Ctx, fd: u64, at: Option<u64>, pieces: &[(u64, u64)]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    let open = ctx.kernel.fs.files.get(file);
    if !open.writable() {
        return Err(Errno::EBADF.into());
    }
    access_ok(pieces)?;
    let append = open.flags & O_APPEND != 0;
    let mut offset = start(ctx, file, at)?;
    if let FileKind::Inode(ino) = ctx.kernel.fs.files.get(file).kind
        && matches!(ctx.kernel.fs.node(ino).body, Body::Device(Device::Null))
    {
        // What goes there is not even looked at.
        return Ok(pieces.iter().fold(0u64, |sum, (_, len)| sum.saturating_add(*len)).min(MAX_COUNT));
    }
    if append && let FileKind::Inode(ino) = ctx.kernel.fs.files.get(file).kind {
        offset = Some(ctx.kernel.fs.meta(ino).size); // pwrite(2) appends too
    }
    let mut done = 0;
    let mut failed = None;
    if let (true, FileKind::Pipe(..) | FileKind::Event(..)) =
        (pieces.len() > 1, &ctx.kernel.fs.files.get(file).kind)
    {
        return write_gathered(ctx, file, pieces);
    }
    'pieces: for (addr, len) in pieces {
        let len = &(*len).min(MAX_COUNT);
        let mut within = 0;
        while within < *len {
            let mut buf = vec![0; (*len - within).min(PIECE) as usize];
            let fault = ctx.mem.read(addr.wrapping_add(within), &mut buf).err();
            if let Some(good) = fault {
                buf.truncate(good);
                failed = Some(Errno::EFAULT.into());
                if good == 0 {
                    break 'pieces;
                }
            }
            match write_some(ctx, file, offset.map(|offset| offset.saturating_add(done)), &buf) {
                Ok(count) => {
                    done += count as u64;
                    within += count as u64;
                    if count < buf.len() || fault.is_some() {
                        break 'pieces;
                    }
                }
                Err(why) => {
                    failed = Some(why);
                    break 'pieces;
                }
            }
        }
    }
    finish(ctx, file, at, offset, done, failed)
}

/// A vector written to a pipe goes in as one.
fn write_gathered(ctx: &mut Ctx, file: FileNo, pieces: &[(u64, u64)]) -> SysResult {
    let mut bytes = Vec::new();
    for (addr, len) in pieces {
        let mut buf = vec![0; (*len).min(1 << 20) as usize];
        copy_from_user(ctx.mem, *addr, &mut buf)?;
        bytes.append(&mut buf);
    }
    Ok(write_some(ctx, file, None, &bytes)? as u64)
}

/// Reads an array of `struct iovec`; EINVAL for too many or too long ones.
pub(crate) fn get_iovec(mem: &mut dyn GuestMemory, addr: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
    let count = count & 0xffff_ffff;
    if count > IOV_MAX {
        return Err(Errno::EINVAL);
    }
    let mut bytes = vec![0; count as usize * 16];
    copy_from_user(mem, addr, &mut bytes)?;
    let mut left = MAX_COUNT;
    let mut pieces = Vec::new();
    let (words, _) = bytes.as_chunks::<8>();
    for pair in words.chunks(2) {
        let (addr, len) = (u64::from_le_bytes(pair[0]), u64::from_le_bytes(pair[1]));
        if len > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        let len = len.min(left);
        left -= len;
        pieces.push((addr, len));
    }
    Ok(pieces)
}

/// read(2).
fn read(ctx: &mut Ctx, [fd, buf, count, ..]: [u64; 6]) -> SysResult {
    let open = ctx.kernel.fs.files.get(ctx.kernel.fds().get(fd as i32)?);
    if let (FileKind::Inode(ino), true) = (&open.kind, open.readable())
        && ctx.kernel.fs.node(*ino).is_dir()
    {
        return Err(Errno::EISDIR.into());
    }
    read_to(ctx, fd, None, &[(buf, count)])
}

/// write(2).
fn write(ctx: &mut Ctx, [fd, buf, count, ..]: [u64; 6]) -> SysResult {
    write_from(ctx, fd, None, &[(buf, count)])
}

/// pread(2).
fn pread64(ctx: &mut Ctx, [fd, buf, count, offset, ..]: [u64; 6]) -> SysResult {
    read_to(ctx, fd, Some(offset), &[(buf, count)])
}

/// pwrite(2).
fn pwrite64(ctx: &mut Ctx, [fd, buf, count, offset, ..]: [u64; 6]) -> SysResult {
    write_from(ctx, fd, Some(offset), &[(buf, count)])
}

/// readv(2).
fn readv(ctx: &mut Ctx, [fd, iov, count, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.fds().get(fd as i32)?;
    let pieces = get_iovec(ctx.mem, iov, count)?;
    read_to(ctx, fd, None, &pieces)
}

/// writev(2).
fn writev(ctx: &mut Ctx, [fd, iov, count, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.fds().get(fd as i32)?;
    let pieces = get_iovec(ctx.mem, iov, count)?;
    write_from(ctx, fd, None, &pieces)
}

/// preadv(2).
fn preadv(ctx: &mut Ctx, [fd, iov, count, offset, ..]: [u64; 6]) -> SysResult {
    let pieces = get_iovec(ctx.mem, iov, count)?;
    read_to(ctx, fd, Some(offset), &pieces)
}

/// pwritev(2).
fn pwritev(ctx: &mut Ctx, [fd, iov, count, offset, ..]: [u64; 6]) -> SysResult {
    let pieces = get_iovec(ctx.mem, iov, count)?;
    write_from(ctx, fd, Some(offset), &pieces)
}

fn known_flags(flags: u64) -> Result<(), Errno> {
    if flags as u32 & !RWF_KNOWN != 0 { Err(Errno::EOPNOTSUPP) } else { Ok(()) }
}

/// preadv2(2): offset -1 is the current one.
fn preadv2(ctx: &mut Ctx, [fd, iov, count, offset, _, flags]: [u64; 6]) -> SysResult {
    known_flags(flags)?;
    let pieces = get_iovec(ctx.mem, iov, count)?;
    read_to(ctx, fd, (offset != u64::MAX).then_some(offset), &pieces)
}

/// pwritev2(2).
fn pwritev2(ctx: &mut Ctx, [fd, iov, count, offset, _, flags]: [u64; 6]) -> SysResult {
    known_flags(flags)?;
    let pieces = get_iovec(ctx.mem, iov, count)?;
    write_from(ctx, fd, (offset != u64::MAX).then_some(offset), &pieces)
}

fn seek_stream(streams: &Streams, stream: u8, offset: u64, whence: u64) -> SysResult {
    use rustix::fs::SeekFrom;
    let from = match whence {
        SEEK_SET if offset > i64::MAX as u64 => return Err(Errno::EINVAL.into()),
        SEEK_SET => SeekFrom::Start(offset),
        SEEK_CUR => SeekFrom::Current(offset as i64),
        SEEK_END => SeekFrom::End(offset as i64),
        SEEK_DATA => SeekFrom::Data(offset),
        SEEK_HOLE => SeekFrom::Hole(offset),
        _ => return Err(Errno::EINVAL.into()),
    };
    Ok(streams.seek(stream, from)?)
}

/// lseek(2).
fn lseek(ctx: &mut Ctx, [fd, offset, whence, ..]: [u64; 6]) -> SysResult {
    let (fs, who, _) = parts(ctx);
    let file = who.fds.get(fd as i32)?;
    let open = fs.files.get(file);
    if open.is_path() {
        return Err(Errno::EBADF.into());
    }
    let whence = whence & 0xffff_ffff;
    if whence > SEEK_HOLE {
        return Err(Errno::EINVAL.into());
    }
    let current = open.offset;
    let (size, ino) = match &open.kind {
        FileKind::Host(stream) => return seek_stream(&fs.streams, *stream, offset, whence),
        FileKind::Text(ino, text) => (text.len() as u64, *ino),
        FileKind::Inode(ino) if matches!(fs.node(*ino).body, Body::Device(_)) => return Ok(0),
        // Linux lets these be asked, and stay where they are.
        FileKind::Event(..) | FileKind::Epoll(_) => return Ok(0),
        FileKind::Inode(ino) => {
            let ino = *ino;
            (fs.meta(ino).size, ino)
        }
        _ => return Err(Errno::ESPIPE.into()),
    };
    let target = match whence {
        SEEK_SET => Some(offset),
        SEEK_CUR => current.checked_add_signed(offset as i64),
        SEEK_END => size.checked_add_signed(offset as i64),
        _ if offset > i64::MAX as u64 => return Err(Errno::ENXIO.into()),
        _ => Some(fs.seek_file(ino, offset, whence == SEEK_DATA)?),
    };
    let target = target.filter(|target| *target <= i64::MAX as u64).ok_or(Errno::EINVAL)?;
    fs.files.get_mut(file).offset = target;
    Ok(target)
}
