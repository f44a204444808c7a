//! Copies inside the kernel, sendfile(2), copy_file_range(2), splice(2), tee(2), and what concerns
//! a file's extent and its way to the disk: ftruncate(2), fallocate(2), fsync(2), fadvise(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::resource::Resource;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::description::Descriptions;
use crate::kernel::file::operations::{FileContext, FileError};
use crate::kernel::file::regular::check_len;
use crate::kernel::file::splice::Side;
use crate::kernel::uaccess::{get_u64, put_u64};
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::node::Body;
use crate::kernel::vfs::pipe::PipeId;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::fs::{get_path, nameless_is};
use crate::syscalls::iovec::{access_ok, get_iovec};
use crate::syscalls::lock::break_leases;
use crate::syscalls::row::{Row, full, partial};
use crate::syscalls::transfer::{extend_text, failed, operate, seekable};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(40, "sendfile", sendfile),
    full(326, "copy_file_range", copy_file_range),
    full(275, "splice", splice),
    full(276, "tee", tee),
    partial(278, "vmsplice", vmsplice, "bytes go into the pipe as they are when the call is made"),
    full(76, "truncate", truncate),
    full(77, "ftruncate", ftruncate),
    full(285, "fallocate", fallocate),
    full(74, "fsync", fsync),
    full(75, "fdatasync", fsync),
    full(162, "sync", sync),
    full(306, "syncfs", syncfs),
    full(277, "sync_file_range", sync_file_range),
    full(221, "fadvise64", fadvise64),
    full(187, "readahead", readahead),
];

/// Checks that one end of a copy may be read and the other written; EBADF.
fn ends(ctx: &Ctx, from: FileNo, to: FileNo) -> Result<(), Errno> {
    let files = &ctx.kernel.files;
    if files.get(from).readable() && files.get(to).writable() { Ok(()) } else { Err(Errno::EBADF) }
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
        Some(at) => put_u64(ctx.mem, addr, at.wrapping_add(done)),
        None => Ok(()),
    }
}

/// Tells if a description is of a regular file; EISDIR for directories.
fn is_regular(ctx: &Ctx, file: FileNo) -> Result<bool, Errno> {
    let inode = ctx.kernel.files.get(file).ops.inode();
    if ctx.kernel.files.get(file).ops.looks_regular() {
        return Ok(true);
    }
    match inode.map(|ino| &ctx.kernel.fs.node(ino).body) {
        Some(Body::File(_) | Body::Proc(_)) => Ok(true),
        Some(Body::Dir(_)) => Err(Errno::EISDIR),
        _ => Ok(false),
    }
}

/// Runs a copy.
fn copy(
    ctx: &mut Ctx,
    sides: [FileNo; 2],
    copy: impl FnOnce(&mut Descriptions, &mut FileContext) -> Result<u64, FileError>,
) -> SysResult {
    if ctx.kernel.task().call.done == 0 {
        ctx.kernel.renew_text(sides[0], None, ctx.cpu, ctx.mem)?;
        extend_text(ctx, sides[0], u64::MAX, 0)?;
    }
    let (files, mut cx) = ctx.file_ops();
    let result = copy(files, &mut cx);
    if let Some(signo) = cx.late_signal {
        ctx.kernel.raise(signo);
    }
    result.map_err(|error| failed(ctx, &sides, error))
}

/// The pipe of a description, if it is one.
fn pipe_of(ctx: &Ctx, file: FileNo) -> Option<PipeId> {
    ctx.kernel.files.get(file).ops.pipe()
}

/// The flags of a description that copies look at.
fn flags_of(ctx: &Ctx, file: FileNo) -> u32 {
    ctx.kernel.files.get(file).flags
}

/// EINVAL for a length, a place or an end behind the largest offset, `rw_verify_area`.
fn verify_area(ctx: &Ctx, side: Side, len: u64) -> Result<(), Errno> {
    let end = ctx.kernel.files.side_offset(side).unwrap_or(0).checked_add(len);
    let holds = len <= i64::MAX as u64 && end.is_some_and(|end| end <= i64::MAX as u64);
    if holds { Ok(()) } else { Err(Errno::EINVAL) }
}

/// sendfile(2). The offset is written after an error too.
fn sendfile(ctx: &mut Ctx, [to, from, at, count, ..]: [u64; 6]) -> SysResult {
    let start = if at == 0 { None } else { Some(get_u64(ctx.mem, at)?) };
    let result = send(ctx, to, from, start, count);
    if let Ok(_) | Err(Break::Errno(_)) = result {
        put_offset(ctx, at, start, *result.as_ref().unwrap_or(&0))?;
    }
    result
}

/// Sends bytes from `start` of a file, or from its offset.
fn send(ctx: &mut Ctx, to: u64, from: u64, start: Option<u64>, count: u64) -> SysResult {
    let from = ctx.kernel.pin(from as i32)?;
    if !ctx.kernel.files.get(from).readable() {
        return Err(Errno::EBADF.into());
    }
    if start.is_some() && !seekable(ctx, from) {
        return Err(Errno::ESPIPE.into());
    }
    let source = Side { file: from, at: start };
    verify_area(ctx, source, count)?;
    let to = ctx.kernel.pin(to as i32)?;
    if !ctx.kernel.files.get(to).writable() {
        return Err(Errno::EBADF.into());
    }
    let (into, flags) = (pipe_of(ctx, to), flags_of(ctx, to));
    let (input, output) = (&ctx.kernel.files.get(from).ops, &ctx.kernel.files.get(to).ops);
    // A pipe is no source: what it has may not fit.
    let able = input.can_splice_out() && input.pipe().is_none() && output.can_splice();
    if !able || into.is_none() && (flags & O_APPEND != 0 || !seekable(ctx, from)) {
        return Err(Errno::EINVAL.into());
    }
    let before = ctx.kernel.task().call.done;
    let done = copy(ctx, [from, to], |files, cx| match into {
        Some(pipe) => files.file_to_pipe(cx, source, pipe, count.min(MAX_RW_COUNT), flags & O_NONBLOCK != 0),
        None => files.copy_bytes(cx, source, Side { file: to, at: None }, count, before),
    })?;
    Ok(done)
}

/// copy_file_range(2), between regular files.
fn copy_file_range(ctx: &mut Ctx, [from, from_at, to, to_at, len, flags]: [u64; 6]) -> SysResult {
    let (from, to) = (ctx.pin_opened(from as i32)?, ctx.pin_opened(to as i32)?);
    let at = |ctx: &mut Ctx, addr: u64| if addr == 0 { Ok(None) } else { get_u64(ctx.mem, addr).map(Some) };
    let (from_start, to_start) = (at(ctx, from_at)?, at(ctx, to_at)?);
    if flags as u32 != 0 {
        return Err(Errno::EINVAL.into());
    }
    if !is_regular(ctx, from)? | !is_regular(ctx, to)? {
        return Err(Errno::EINVAL.into());
    }
    ends(ctx, from, to)?;
    if flags_of(ctx, to) & O_APPEND != 0 {
        return Err(Errno::EBADF.into());
    }
    let device = |file: FileNo| ctx.kernel.files.get(file).ops.inode().map(|ino| ctx.kernel.fs.node(ino).dev);
    if device(from) != device(to) {
        return Err(Errno::EXDEV.into());
    }
    let (source, target) = (Side { file: from, at: from_start }, Side { file: to, at: to_start });
    let files = &ctx.kernel.files;
    let starts = (files.side_offset(source).unwrap_or(0), files.side_offset(target).unwrap_or(0));
    if starts.0.checked_add(len).is_none() || starts.1.checked_add(len).is_none() {
        return Err(Errno::EOVERFLOW.into());
    }
    let inodes = (files.get(from).ops.inode(), files.get(to).ops.inode());
    let size = inodes.0.map_or(0, |ino| ctx.kernel.fs.meta(ino).size);
    let call = &ctx.kernel.task().call;
    // Broken off it may have made the file longer.
    let (before, decided) = (call.done, call.decided.first().copied());
    let mut len = decided.unwrap_or(len.min(size.saturating_sub(starts.0)));
    if inodes.0 == inodes.1 && starts.0 < starts.1 + len && starts.1 < starts.0 + len {
        return Err(Errno::EINVAL.into());
    }
    if starts.0 > i64::MAX as u64 || starts.1 > i64::MAX as u64 {
        return Err(Errno::EINVAL.into());
    }
    let limit = ctx.kernel.process().limits.soft(Resource::Fsize);
    if decided.is_none() && starts.1 < limit {
        len = len.min(limit - starts.1); // what goes beyond is not tried, and no signal tells of it
    }
    ctx.kernel.task_mut().call.decided = vec![len];
    let done = copy(ctx, [from, to], |files, cx| files.copy_bytes(cx, source, target, len, before))?;
    put_offset(ctx, from_at, from_start, done)?;
    put_offset(ctx, to_at, to_start, done)?;
    Ok(done)
}

/// splice(2): one side is a pipe.
fn splice(ctx: &mut Ctx, [from, from_at, to, to_at, len, flags]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if len == 0 {
        return Ok(0);
    }
    if flags & !SPLICE_F_ALL != 0 {
        return Err(Errno::EINVAL.into());
    }
    let (from, to) = (ctx.pin_opened(from as i32)?, ctx.pin_opened(to as i32)?);
    if (pipe_of(ctx, from).is_some() && from_at != 0) || (pipe_of(ctx, to).is_some() && to_at != 0) {
        return Err(Errno::ESPIPE.into());
    }
    let starts = (get_offset(ctx, from_at)?, get_offset(ctx, to_at)?);
    let done = splice_between(ctx, (from, to), starts, len, flags)?;
    put_offset(ctx, from_at, starts.0, done)?;
    put_offset(ctx, to_at, starts.1, done)?;
    Ok(done)
}

/// Moves bytes between two descriptions, one of which is a pipe, from these offsets on.
pub(super) fn splice_between(
    ctx: &mut Ctx,
    (from, to): (FileNo, FileNo),
    (from_start, to_start): (Option<u64>, Option<u64>),
    len: u64,
    flags: u32,
) -> SysResult {
    let pipes = (pipe_of(ctx, from), pipe_of(ctx, to));
    if (pipes.0.is_some() && from_start.is_some()) || (pipes.1.is_some() && to_start.is_some()) {
        return Err(Errno::ESPIPE.into());
    }
    ends(ctx, from, to)?;
    let nonblocking =
        |ctx: &Ctx, file| flags & SPLICE_F_NONBLOCK != 0 || flags_of(ctx, file) & O_NONBLOCK != 0;
    let (source, target) = (Side { file: from, at: from_start }, Side { file: to, at: to_start });
    match pipes {
        (Some(a), Some(b)) if a == b => Err(Errno::EINVAL.into()),
        (Some(a), Some(b)) => {
            let nonblocking = nonblocking(ctx, from) || nonblocking(ctx, to);
            copy(ctx, [from, to], |files, cx| files.pipe_to_pipe(cx, a, b, len, nonblocking))
        }
        (Some(pipe), None) => {
            let able = to_start.is_none() || seekable(ctx, to);
            if !able || flags_of(ctx, to) & O_APPEND != 0 || !ctx.kernel.files.get(to).ops.can_splice() {
                return Err(Errno::EINVAL.into());
            }
            verify_area(ctx, target, len)?;
            let nonblocking = nonblocking(ctx, from);
            copy(ctx, [from, to], |files, cx| files.pipe_to_file(cx, pipe, target, len, nonblocking))
        }
        (None, Some(pipe)) => {
            let able = from_start.is_none() || seekable(ctx, from);
            if !able || !ctx.kernel.files.get(from).ops.can_splice_out() {
                return Err(Errno::EINVAL.into());
            }
            verify_area(ctx, source, len)?;
            let nonblocking = nonblocking(ctx, to);
            copy(ctx, [from, to], |files, cx| files.file_to_pipe(cx, source, pipe, len, nonblocking))
        }
        (None, None) => Err(Errno::EINVAL.into()),
    }
}

/// tee(2): copies from pipe to pipe and takes nothing out.
pub(super) fn tee(ctx: &mut Ctx, [from, to, len, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !SPLICE_F_ALL != 0 {
        return Err(Errno::EINVAL.into());
    }
    if len == 0 {
        return Ok(0);
    }
    let (from, to) = (ctx.pin_opened(from as i32)?, ctx.pin_opened(to as i32)?);
    ends(ctx, from, to)?;
    match (pipe_of(ctx, from), pipe_of(ctx, to)) {
        (Some(a), Some(b)) if a != b => {
            let both = flags_of(ctx, from) | flags_of(ctx, to);
            let nonblocking = flags & SPLICE_F_NONBLOCK != 0 || both & O_NONBLOCK != 0;
            copy(ctx, [from, to], |files, cx| files.tee(cx, a, b, len, nonblocking))
        }
        _ => Err(Errno::EINVAL.into()),
    }
}

/// vmsplice(2): between memory and a pipe, as its end is for writing or reading.
fn vmsplice(ctx: &mut Ctx, [fd, iov, count, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !SPLICE_F_ALL != 0 {
        return Err(Errno::EINVAL.into());
    }
    let file = ctx.opened(fd as i32)?;
    let writes = ctx.kernel.files.get(file).writable();
    let pieces = get_iovec(ctx.mem, iov, count)?;
    access_ok(&pieces)?;
    if pieces.iter().all(|(_, len)| *len == 0) {
        return Ok(0);
    }
    let pipe = pipe_of(ctx, file).ok_or(Errno::EBADF)?;
    let nonblocking = flags & SPLICE_F_NONBLOCK != 0;
    copy(ctx, [file, file], |files, cx| match writes {
        true => files.memory_to_pipe(cx, &pieces, pipe, nonblocking),
        false => files.pipe_to_memory(cx, pipe, &pieces, nonblocking),
    })
}

/// truncate(2).
fn truncate(ctx: &mut Ctx, [path, len, ..]: [u64; 6]) -> SysResult {
    let path = get_path(ctx.mem, path)?;
    let limit = ctx.kernel.process().limits.soft(Resource::Fsize);
    if len > i64::MAX as u64 {
        return Err(Errno::EINVAL.into());
    }
    let (fs, caller, _) = ctx.paths_now();
    let found = fs.locate(&caller, AT_FDCWD, &path, true).map_err(nameless_is(Errno::EINVAL));
    let At { mount, ino } = found?.there()?;
    match fs.node(ino).body {
        Body::Dir(_) => return Err(Errno::EISDIR.into()),
        Body::Proc(_) => {
            caller.may(fs.node(ino), W_OK)?;
            return Ok(0);
        }
        Body::File(_) => {
            fs.writable(mount)?;
            caller.may(fs.node(ino), W_OK)?;
            fs.may_become_other(&caller, ino)?;
        }
        _ => return Err(Errno::EINVAL.into()),
    }
    while ctx.kernel.files.leases.conflict(ino, true) {
        break_leases(ctx, ino, true, false)?;
    }
    let size = ctx.kernel.fs.node(ino).size();
    check_len(len, size, limit).map_err(|error| failed(ctx, &[], error))?;
    let (fs, caller, mem) = ctx.paths_now();
    fs.drop_set_id(caller.cred, ino);
    fs.truncate(caller.now, ino, len, mem)?;
    fs.forget_if_unused(ino, mem);
    Ok(0)
}

/// ftruncate(2).
pub(super) fn ftruncate(ctx: &mut Ctx, [fd, len, ..]: [u64; 6]) -> SysResult {
    if len > i64::MAX as u64 {
        return Err(Errno::EINVAL.into());
    }
    let file = ctx.opened(fd as i32)?;
    if !ctx.kernel.files.get(file).writable() {
        return Err(Errno::EINVAL.into());
    }
    operate(ctx, file, |open, cx| open.ops.truncate(cx, len))?;
    Ok(0)
}

/// fallocate(2).
pub(super) fn fallocate(ctx: &mut Ctx, [fd, mode, at, len, ..]: [u64; 6]) -> SysResult {
    let (file, mode) = (ctx.opened(fd as i32)?, mode as u32);
    if at > i64::MAX as u64 || len > i64::MAX as u64 || len == 0 {
        return Err(Errno::EINVAL.into());
    }
    let keeps = mode & FALLOC_FL_KEEP_SIZE != 0;
    match mode & !FALLOC_FL_KEEP_SIZE {
        0 | FALLOC_FL_ZERO_RANGE | FALLOC_FL_UNSHARE_RANGE => {}
        FALLOC_FL_PUNCH_HOLE if keeps => {}
        FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE if !keeps => {}
        _ => return Err(Errno::EOPNOTSUPP.into()),
    }
    if !ctx.kernel.files.get(file).writable() {
        return Err(Errno::EBADF.into());
    }
    operate(ctx, file, |open, cx| open.ops.allocate(cx, mode, at, len))?;
    Ok(0)
}

/// fsync(2), fdatasync(2).
pub(super) fn fsync(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    let file = ctx.opened(fd as i32)?;
    operate(ctx, file, |open, cx| Ok(open.ops.sync(cx)?))?;
    Ok(0)
}

/// syncfs(2): every descriptor belongs to some file system.
fn syncfs(ctx: &mut Ctx, [fd, ..]: [u64; 6]) -> SysResult {
    ctx.opened(fd as i32)?;
    ctx.kernel.fs.write_back(ctx.mem)?;
    Ok(0)
}

/// sync_file_range(2).
pub(super) fn sync_file_range(ctx: &mut Ctx, [fd, at, len, flags, ..]: [u64; 6]) -> SysResult {
    const ALL: u32 = 7;
    let file = ctx.opened(fd as i32)?;
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
pub(super) fn fadvise64(ctx: &mut Ctx, [fd, _, len, advice, ..]: [u64; 6]) -> SysResult {
    let file = ctx.opened(fd as i32)?;
    operate(ctx, file, |open, cx| Ok(open.ops.advise(cx)?))?;
    if advice as u32 > 5 || (len as i64) < 0 {
        return Err(Errno::EINVAL.into());
    }
    Ok(0)
}

/// readahead(2).
fn readahead(ctx: &mut Ctx, [fd, _, len, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if !ctx.kernel.files.get(file).readable() {
        return Err(Errno::EBADF.into());
    }
    if len > i64::MAX as u64 {
        return Err(Errno::EINVAL.into());
    }
    let process = ctx.kernel.files.get(file).ops.process().is_some();
    if !process && is_regular(ctx, file) == Ok(true) { Ok(0) } else { Err(Errno::EINVAL.into()) }
}
