//! Copies inside the kernel, sendfile(2), copy_file_range(2), splice(2), tee(2), and what concerns
//! a file's extent and its way to the disk: ftruncate(2), fallocate(2), fsync(2), fadvise(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::resource::Resource;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::regular::check_len;
use crate::kernel::uaccess::{get_u64, put_u64};
use crate::kernel::vfs::node::Body;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::fs::get_path;
use crate::syscalls::io::{PIECE, block, failed, operate, seekable};
use crate::syscalls::row::{Row, full, partial, refused};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(40, "sendfile", sendfile),
    full(326, "copy_file_range", copy_file_range),
    full(275, "splice", splice),
    full(276, "tee", tee),
    refused(278, "vmsplice", vmsplice, "EINVAL"),
    full(76, "truncate", truncate),
    full(77, "ftruncate", ftruncate),
    partial(
        285,
        "fallocate",
        fallocate,
        "modes 0, KEEP_SIZE, PUNCH_HOLE and ZERO_RANGE; others are EOPNOTSUPP",
    ),
    full(74, "fsync", fsync),
    full(75, "fdatasync", fsync),
    full(162, "sync", sync),
    full(306, "syncfs", fsync),
    full(277, "sync_file_range", sync_file_range),
    full(221, "fadvise64", fadvise64),
    full(187, "readahead", readahead),
];

/// One side of a copy: the description, and the offset if the call brought one.
struct Side {
    file: FileNo,
    at: Option<u64>,
}

/// The offset of a side: the call's or the description's; `None` for kinds without offsets.
fn offset(ctx: &Ctx, side: &Side) -> Option<u64> {
    let open = ctx.kernel.files.get(side.file);
    side.at.or(open.ops.has_offset().then_some(open.offset))
}

/// Moves the offset of a side's description behind the bytes that were copied.
fn advance(ctx: &mut Ctx, side: &Side, start: Option<u64>, done: u64) {
    if let (None, Some(start)) = (side.at, start) {
        ctx.kernel.files.get_mut(side.file).offset = start + done;
    }
}

/// Moves up to `len` bytes. What was moved before an error counts.
fn pump(ctx: &mut Ctx, from: &Side, to: &Side, len: u64) -> Result<u64, Break> {
    let (from_start, to_start) = (offset(ctx, from), offset(ctx, to));
    let mut done = 0;
    let mut failed = None;
    while done < len.min(MAX_RW_COUNT) {
        let mut room = (len - done).min(PIECE);
        if let Some(pipe) = ctx.kernel.files.get(to.file).ops.pipe() {
            // Nothing is taken out that cannot be put in.
            let free = ctx.kernel.fs.pipes.get(pipe).map_or(0, |pipe| pipe.room()) as u64;
            room = if free == 0 { room.min(1) } else { room.min(free) };
            if free == 0 && done > 0 {
                break;
            }
        }
        let mut buf = vec![0; room as usize];
        let (source, target) = (from_start.map(|at| at + done), to_start.map(|at| at.saturating_add(done)));
        let read = operate(ctx, from.file, |open, cx| open.read(cx, source, &mut buf));
        let result = read.and_then(|count| match count {
            0 => Ok(0),
            count => operate(ctx, to.file, |open, cx| open.write(cx, target, &buf[..count])),
        });
        match result {
            Ok(0) => break,
            Ok(count) => done += count as u64,
            Err(why) => {
                failed = Some(why);
                break;
            }
        }
        if from_start.is_none() {
            break; // a stream gives what it has
        }
    }
    advance(ctx, from, from_start, done);
    advance(ctx, to, to_start, done);
    match failed {
        Some(why) if done == 0 => Err(why),
        _ => Ok(done),
    }
}

/// The descriptions of both ends of a copy, with the right access; EBADF.
fn ends(ctx: &Ctx, from: u64, to: u64) -> Result<(FileNo, FileNo), Errno> {
    let (from, to) = (ctx.kernel.fds().get(from as i32)?, ctx.kernel.fds().get(to as i32)?);
    if !ctx.kernel.files.get(from).readable() || !ctx.kernel.files.get(to).writable() {
        return Err(Errno::EBADF);
    }
    Ok((from, to))
}

/// Reads an optional offset; EINVAL if it is negative.
fn get_offset(ctx: &mut Ctx, addr: u64) -> Result<Option<u64>, Errno> {
    if addr == 0 {
        return Ok(None);
    }
    let at = get_u64(ctx.mem, addr)?;
    if at > i64::MAX as u64 { Err(Errno::EINVAL) } else { Ok(Some(at)) }
}

fn put_offset(ctx: &mut Ctx, addr: u64, at: Option<u64>, done: u64) -> Result<(), Errno> {
    match at {
        Some(at) => put_u64(ctx.mem, addr, at + done),
        None => Ok(()),
    }
}

fn is_pipe(ctx: &Ctx, file: FileNo) -> bool {
    ctx.kernel.files.get(file).ops.pipe().is_some()
}

/// Tells if a description is of a regular file; EISDIR for directories.
fn is_regular(ctx: &Ctx, file: FileNo) -> Result<bool, Errno> {
    let inode = ctx.kernel.files.get(file).ops.inode();
    match inode.map(|ino| &ctx.kernel.fs.node(ino).body) {
        Some(Body::File(_)) => Ok(true),
        Some(Body::Dir(_)) => Err(Errno::EISDIR),
        _ => Ok(false),
    }
}

/// sendfile(2).
fn sendfile(ctx: &mut Ctx, [to, from, at, count, ..]: [u64; 6]) -> SysResult {
    let (from, to) = ends(ctx, from, to)?;
    let directory = is_regular(ctx, from).is_err();
    if ctx.kernel.files.get(to).flags & O_APPEND != 0 || directory || !seekable(ctx, from) {
        return Err(Errno::EINVAL.into());
    }
    let start = get_offset(ctx, at)?;
    let done = pump(ctx, &Side { file: from, at: start }, &Side { file: to, at: None }, count)?;
    put_offset(ctx, at, start, done)?;
    Ok(done)
}

/// copy_file_range(2), between regular files.
fn copy_file_range(ctx: &mut Ctx, [from, from_at, to, to_at, len, flags]: [u64; 6]) -> SysResult {
    if flags != 0 {
        return Err(Errno::EINVAL.into());
    }
    let (from, to) = ends(ctx, from, to)?;
    if ctx.kernel.files.get(to).flags & O_APPEND != 0 {
        return Err(Errno::EBADF.into());
    }
    if !is_regular(ctx, from)? || !is_regular(ctx, to)? {
        return Err(Errno::EINVAL.into());
    }
    let from = Side { file: from, at: get_offset(ctx, from_at)? };
    let to = Side { file: to, at: get_offset(ctx, to_at)? };
    let (starts, inos) = (
        (offset(ctx, &from), offset(ctx, &to)),
        (ctx.kernel.files.get(from.file).ops.inode(), ctx.kernel.files.get(to.file).ops.inode()),
    );
    if let (true, (Some(a), Some(b))) = (inos.0 == inos.1, starts)
        && a < b.saturating_add(len)
        && b < a.saturating_add(len)
    {
        return Err(Errno::EINVAL.into());
    }
    let done = pump(ctx, &from, &to, len)?;
    put_offset(ctx, from_at, from.at, done)?;
    put_offset(ctx, to_at, to.at, done)?;
    Ok(done)
}

/// splice(2): one side is a pipe.
fn splice(ctx: &mut Ctx, [from, from_at, to, to_at, len, flags]: [u64; 6]) -> SysResult {
    if flags & !15 != 0 {
        return Err(Errno::EINVAL.into());
    }
    let (from, to) = ends(ctx, from, to)?;
    let pipes = (is_pipe(ctx, from), is_pipe(ctx, to));
    if pipes == (false, false) || ctx.kernel.files.get(to).flags & O_APPEND != 0 {
        return Err(Errno::EINVAL.into());
    }
    if (pipes.0 && from_at != 0) || (pipes.1 && to_at != 0) {
        return Err(Errno::ESPIPE.into());
    }
    let from = Side { file: from, at: get_offset(ctx, from_at)? };
    let to = Side { file: to, at: get_offset(ctx, to_at)? };
    let done = pump(ctx, &from, &to, len)?;
    put_offset(ctx, from_at, from.at, done)?;
    put_offset(ctx, to_at, to.at, done)?;
    Ok(done)
}

/// tee(2): copies from pipe to pipe and takes nothing out.
fn tee(ctx: &mut Ctx, [from, to, len, flags, ..]: [u64; 6]) -> SysResult {
    if flags & !15 != 0 {
        return Err(Errno::EINVAL.into());
    }
    let (from, to) = ends(ctx, from, to)?;
    let pipes = (ctx.kernel.files.get(from).ops.pipe(), ctx.kernel.files.get(to).ops.pipe());
    let (Some(from), Some(to_pipe)) = pipes else { return Err(Errno::EINVAL.into()) };
    if from == to_pipe {
        return Err(Errno::EINVAL.into());
    }
    let (source, target) = (ctx.kernel.fs.pipes.get(from), ctx.kernel.fs.pipes.get(to_pipe));
    let (Some(source), Some(target)) = (source, target) else { return Err(Errno::EBADF.into()) };
    let count = usize::try_from(len).unwrap_or(usize::MAX).min(source.buf.len()).min(target.room());
    if count == 0 && len > 0 && source.writers > 0 {
        return Err(if flags & 2 != 0 {
            Errno::EAGAIN.into()
        } else {
            block(ctx, "tee of an empty or into a full pipe")
        });
    }
    let bytes: Vec<u8> = source.buf.iter().take(count).copied().collect();
    if bytes.is_empty() {
        return Ok(0);
    }
    Ok(operate(ctx, to, |open, cx| open.write(cx, None, &bytes))? as u64)
}

fn vmsplice(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::EINVAL.into())
}

/// truncate(2).
fn truncate(ctx: &mut Ctx, [path, len, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    let limit = ctx.kernel.process().limits.soft(Resource::Fsize);
    check_len(len, limit).map_err(|error| failed(ctx, error))?;
    let (fs, caller, mem) = ctx.paths_now();
    let ino = fs.locate(&caller, AT_FDCWD, &path, true)?.exists()?;
    match fs.node(ino).body {
        Body::Dir(_) => return Err(Errno::EISDIR.into()),
        Body::File(_) => caller.may(fs.node(ino), W_OK)?,
        _ => return Err(Errno::EINVAL.into()),
    }
    fs.truncate(caller.now, ino, len, mem)?;
    fs.forget_if_unused(ino, mem);
    Ok(0)
}

/// ftruncate(2).
fn ftruncate(ctx: &mut Ctx, [fd, len, ..]: [u64; 6]) -> SysResult {
    let file = file_beyond_path(ctx, fd)?;
    if !ctx.kernel.files.get(file).writable() {
        return Err(Errno::EINVAL.into());
    }
    operate(ctx, file, |open, cx| open.ops.truncate(cx, len))?;
    Ok(0)
}

/// fallocate(2).
fn fallocate(ctx: &mut Ctx, [fd, mode, at, len, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if !ctx.kernel.files.get(file).writable() {
        return Err(Errno::EBADF.into());
    }
    operate(ctx, file, |open, cx| open.ops.allocate(cx, mode as u32, at, len))?;
    Ok(0)
}

/// The description of a descriptor; EBADF if it was opened with O_PATH.
fn file_beyond_path(ctx: &Ctx, fd: u64) -> Result<FileNo, Errno> {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if ctx.kernel.files.get(file).is_path() { Err(Errno::EBADF) } else { Ok(file) }
}

/// fsync(2), fdatasync(2), syncfs(2).
fn fsync(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    let file = file_beyond_path(ctx, fd)?;
    operate(ctx, file, |open, cx| Ok(open.ops.sync(cx)?))?;
    Ok(0)
}

/// sync_file_range(2).
fn sync_file_range(ctx: &mut Ctx, [fd, at, len, flags, ..]: [u64; 6]) -> SysResult {
    const ALL: u32 = 7;
    let file = file_beyond_path(ctx, fd)?;
    let end = (at as i64).checked_add(len as i64);
    if flags as u32 & !ALL != 0 || (at as i64) < 0 || end.is_none_or(|end| end < at as i64) {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.files.get_mut(file).ops.sync_range()?;
    Ok(0)
}

/// sync(2).
fn sync(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(0)
}

/// posix_fadvise(2): advice is checked and not taken.
fn fadvise64(ctx: &mut Ctx, [fd, _, len, advice, ..]: [u64; 6]) -> SysResult {
    let file = file_beyond_path(ctx, fd)?;
    operate(ctx, file, |open, cx| Ok(open.ops.advise(cx)?))?;
    if advice as u32 > 5 || (len as i64) < 0 {
        return Err(Errno::EINVAL.into());
    }
    Ok(0)
}

/// readahead(2).
fn readahead(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if !ctx.kernel.files.get(file).readable() {
        return Err(Errno::EBADF.into());
    }
    if is_regular(ctx, file) == Ok(true) { Ok(0) } else { Err(Errno::EINVAL.into()) }
}
