//! Bytes between pieces of the guest's memory and descriptions: what reads and writes of every kind
//! have in common.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::signal::signo::SIGTTIN;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::description::Description;
use crate::kernel::file::operations::{FileContext, FileError};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::copy_from_user;
use crate::kernel::vfs::node::HOST_DEV;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::iovec::{access_ok, storable};

/// Bytes moved at a time.
pub(super) const PIECE: u64 = 256 * 1024;
/// Most bytes of a vector that is moved as one message.
const MESSAGE: u64 = 1 << 20;
const RWF_NOWAIT: u32 = 8;
const RWF_APPEND: u32 = 16;
const RWF_NOAPPEND: u32 = 32;
const RWF_NOSIGNAL: u32 = 256;
/// The flags of preadv2(2) and pwritev2(2): these, and RWF_HIPRI, RWF_DSYNC and RWF_SYNC, which
/// change nothing here.
const RWF_KNOWN: u32 = 7 | RWF_NOWAIT | RWF_APPEND | RWF_NOAPPEND | RWF_NOSIGNAL;

/// Waits without end until a key wakes; a signal ends the call.
pub(super) fn block(ctx: &mut Ctx, what: &'static str, keys: &[WaitKey]) -> Break {
    match ctx.sleep(what, keys, None) {
        Ok(Wake::Signal) => ctx.interrupted(Restart::WithFlag),
        Ok(Wake::Timeout | Wake::Event) => Break::Sleep,
        Err(why) => why,
    }
}

/// The break of a call whose operation on files failed.
pub(super) fn failed(ctx: &mut Ctx, files: &[FileNo], error: FileError) -> Break {
    match error {
        FileError::Errno(errno) => errno.into(),
        FileError::Pause(done) => ctx.pause(done),
        FileError::Signal(signo, errno) => {
            ctx.kernel.raise(signo);
            errno.into()
        }
        FileError::WouldBlock(_) | FileError::Fewer { .. } => {
            let what = if let FileError::WouldBlock(what) = error { what } else { "read from a terminal" };
            let mut keys = Vec::new();
            for file in files {
                ctx.kernel.await_file(*file, &mut keys);
            }
            block(ctx, what, &keys)
        }
        FileError::Wait(wait) => {
            let mut keys: Vec<WaitKey> = wait.queue.map(WaitKey::Queue).into_iter().collect();
            for file in files {
                ctx.kernel.await_file(*file, &mut keys);
            }
            let deadline = wait.timeout.map(|ns| ctx.deadline(ns));
            match ctx.sleep(wait.what, &keys, deadline) {
                Ok(Wake::Timeout) => wait.late.into(),
                // As in Linux a call with a timeout of its own is not started again.
                Ok(Wake::Signal) if wait.timeout.is_some() => ctx.interrupted(Restart::Never),
                Ok(Wake::Signal) => ctx.interrupted(Restart::WithFlag),
                Ok(Wake::Event) => Break::Sleep,
                Err(why) => why,
            }
        }
    }
}

/// Runs an operation of a description.
pub(super) fn operate<R>(
    ctx: &mut Ctx,
    file: FileNo,
    operation: impl FnOnce(&mut Description, &mut FileContext) -> Result<R, FileError>,
) -> Result<R, Break> {
    let (files, mut cx) = ctx.file_ops();
    operation(files.get_mut(file), &mut cx).map_err(|error| failed(ctx, &[file], error))
}

/// Tells if reads and writes at an offset make sense; ESPIPE is the answer if not.
pub(super) fn seekable(ctx: &Ctx, file: FileNo) -> bool {
    ctx.kernel.files.get(file).ops.is_seekable(&ctx.kernel.streams)
}

/// The description of a call and its offset: the call's own or the description's; `None` for kinds
/// without offsets. An offset of its own is looked at before the description's mode, but not
/// where nothing can be open at all.
pub(super) fn start(ctx: &mut Ctx, fd: u64, at: Option<u64>) -> Result<(FileNo, Option<u64>), Errno> {
    if at.is_some_and(|at| at > i64::MAX as u64) {
        return Err(Errno::EINVAL);
    }
    let file = ctx.kernel.pin(fd as i32)?;
    let open = ctx.kernel.files.get(file);
    match at {
        _ if open.is_path() => Err(Errno::EBADF),
        Some(_) if !seekable(ctx, file) => Err(Errno::ESPIPE),
        Some(at) => Ok((file, Some(at))),
        None => Ok((file, open.ops.has_offset().then_some(open.offset))),
    }
}

/// Checks that a transfer from an offset on ends where a file can; EINVAL.
fn within_file(offset: Option<u64>, pieces: &[(u64, u64)]) -> Result<(), Errno> {
    let len = pieces.iter().fold(0u64, |sum, (_, len)| sum.saturating_add(*len));
    let fits = |at: u64| at.checked_add(len).is_some_and(|end| end <= i64::MAX as u64);
    if offset.is_none_or(fits) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// Reads into pieces of the guest's memory. What was read before an error or a bad address counts.
pub(super) fn read_to(
    ctx: &mut Ctx,
    fd: u64,
    at: Option<u64>,
    pieces: &[(u64, u64)],
    flags: u32,
) -> SysResult {
    let result = read_pieces(ctx, fd, at, pieces, flags);
    if !matches!(result, Err(Break::Sleep | Break::Pause)) {
        let io = &mut ctx.kernel.process_mut().io;
        io.reads += 1;
        io.bytes_read += *result.as_ref().unwrap_or(&0);
    }
    result
}

fn read_pieces(ctx: &mut Ctx, fd: u64, at: Option<u64>, pieces: &[(u64, u64)], flags: u32) -> SysResult {
    let (file, offset) = start(ctx, fd, at)?;
    if !ctx.kernel.files.get(file).readable() {
        return Err(Errno::EBADF.into());
    }
    if let Some(errno) = ctx.kernel.files.get(file).ops.read_error() {
        return Err(errno.into());
    }
    if ctx.kernel.is_in_background(file, SIGTTIN)? {
        return Err(ctx.interrupted(Restart::WithFlag));
    }
    access_ok(pieces)?;
    within_file(offset, pieces)?;
    check_flags(ctx, file, pieces, flags, false)?;
    // What the call read before it was broken off stays read.
    let mut done = ctx.kernel.task().call.done;
    if ctx.kernel.task().call.number.is_none() {
        ctx.kernel.renew_text(file, offset, ctx.cpu, ctx.mem)?;
    }
    let nowait = flags & RWF_NOWAIT != 0;
    if pieces.len() > 1 && ctx.kernel.files.get(file).ops.moves_whole() {
        return read_scattered(ctx, file, pieces, nowait);
    }
    // On files a read goes on after a full piece, but not where bytes come as they come.
    let on = seekable(ctx, file);
    let (mut skip, before) = (done, done);
    let mut failed = None;
    'pieces: for (addr, len) in pieces {
        let len = &(*len).min(MAX_RW_COUNT);
        let mut within = skip.min(*len);
        skip -= within;
        while within < *len {
            if done > before {
                ctx.pause_if_asked(done)?;
            }
            let mut buf = vec![0; (*len - within).min(PIECE) as usize];
            let from = offset.map(|offset| offset + done);
            let end = from.unwrap_or(0).saturating_add(buf.len() as u64);
            let text = extend_text(ctx, file, end, done);
            let count = match text
                .and_then(|()| read_piece(ctx, file, from, (addr.wrapping_add(within), &mut buf), nowait))
            {
                Ok(count) => count,
                Err(Break::Pause) => return Err(Break::Pause),
                Err(_) if done > 0 && ctx.kernel.streams.has_given_up() => return Err(ctx.pause(done)),
                Err(why) => {
                    failed = Some(why);
                    break 'pieces;
                }
            };
            if let Err(copied) = ctx.mem.write(addr.wrapping_add(within), &buf[..count]) {
                done += keep(ctx, file, &buf[..count], copied);
                failed = Some(Errno::EFAULT.into());
                break 'pieces;
            }
            done += count as u64;
            within += count as u64;
            if count < buf.len() || !on {
                break 'pieces; // a stream gives what it has
            }
        }
    }
    finish(ctx, file, at, offset, done, failed)
}

/// The bytes that count as read when no more than `copied` could be stored. A pipe keeps the rest.
fn keep(ctx: &mut Ctx, file: FileNo, read: &[u8], copied: usize) -> u64 {
    let ops = &ctx.kernel.files.get(file).ops;
    let kept = copied - copied % ops.chunk();
    if let Some(pipe) = ops.pipe() {
        ctx.kernel.fs.pipes.give_back(pipe, &read[kept..]);
    }
    kept as u64
}

/// Bytes of pieces that a socket may give, `FileContext::reach`.
fn reach(ctx: &Ctx, file: FileNo, pieces: &[(u64, u64)]) -> usize {
    match ctx.kernel.files.get(file).ops.socket() {
        Some(_) => usize::try_from(storable(ctx.mem, pieces)).unwrap_or(usize::MAX),
        None => usize::MAX,
    }
}

/// Makes as much of the text of a file of `/proc` as is to be read, up to `end`; `done` is read
/// already.
pub(super) fn extend_text(ctx: &mut Ctx, file: FileNo, end: u64, done: u64) -> Result<(), Break> {
    while ctx.kernel.extend_text(file, end, ctx.cpu, ctx.mem)? {
        ctx.pause_if_asked(done)?;
    }
    Ok(())
}

/// Reads once, for an address. A terminal that gives fewer bytes than VMIN gives them when its
/// timer has run out or a signal comes.
fn read_piece(
    ctx: &mut Ctx,
    file: FileNo,
    from: Option<u64>,
    (addr, buf): (u64, &mut [u8]),
    nowait: bool,
) -> Result<usize, Break> {
    let reach = reach(ctx, file, &[(addr, buf.len() as u64)]);
    let mut read = |ctx: &mut Ctx, nowait: bool| {
        let (files, mut cx) = ctx.file_ops();
        cx.reach = reach;
        files.get_mut(file).patiently(nowait, |open| open.read(&mut cx, from, buf))
    };
    let (there, timer) = match read(ctx, nowait) {
        Err(FileError::Fewer { there, timer }) => (there, timer),
        result => return result.map_err(|error| failed(ctx, &[file], error)),
    };
    let call = &mut ctx.kernel.task_mut().call;
    if call.there != there as u64 {
        (call.there, call.deadline) = (there as u64, None); // a byte came
    }
    let deadline = timer.map(|ns| ctx.deadline(ns));
    let mut keys = Vec::new();
    ctx.kernel.await_file(file, &mut keys);
    match ctx.sleep("read from a terminal", &keys, deadline)? {
        Wake::Signal if there == 0 => Err(ctx.interrupted(Restart::WithFlag)),
        Wake::Signal | Wake::Timeout => match read(ctx, true) {
            Err(FileError::Errno(Errno::EAGAIN)) => Ok(0),
            result => result.map_err(|error| failed(ctx, &[file], error)),
        },
        Wake::Event => Err(Break::Sleep),
    }
}

/// Reads one message into a vector.
fn read_scattered(ctx: &mut Ctx, file: FileNo, pieces: &[(u64, u64)], nowait: bool) -> SysResult {
    let room = pieces.iter().map(|(_, len)| *len).sum::<u64>().min(MESSAGE);
    let mut buf = vec![0; room as usize];
    let reach = reach(ctx, file, pieces);
    let count = operate(ctx, file, |open, cx| {
        cx.reach = reach;
        open.patiently(nowait, |open| open.read(cx, None, &mut buf))
    })?;
    let mut rest = &buf[..count];
    for (addr, len) in pieces {
        let (piece, after) = rest.split_at(rest.len().min(usize::try_from(*len).unwrap_or(usize::MAX)));
        if let Err(copied) = ctx.mem.write(*addr, piece) {
            let copied = count - rest.len() + copied;
            let kept = keep(ctx, file, &buf[..count], copied);
            return if kept > 0 { Ok(kept) } else { Err(Errno::EFAULT.into()) };
        }
        rest = after;
    }
    Ok(count as u64)
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
        ctx.kernel.files.get_mut(file).offset = offset + done;
    }
    match failed {
        Some(why @ Break::Refuse(_)) => Err(why),
        Some(why) if done == 0 => Err(why),
        _ => {
            ctx.kernel.task_mut().signals.interrupted = None; // a call that did something ends
            Ok(done)
        }
    }
}

/// Writes from pieces of the guest's memory. What was written before an error or a bad address
/// counts.
pub(super) fn write_from(
    ctx: &mut Ctx,
    fd: u64,
    at: Option<u64>,
    pieces: &[(u64, u64)],
    flags: u32,
) -> SysResult {
    let result = write_pieces(ctx, fd, at, pieces, flags);
    if !matches!(result, Err(Break::Sleep | Break::Pause)) {
        let io = &mut ctx.kernel.process_mut().io;
        io.writes += 1;
        io.bytes_written += *result.as_ref().unwrap_or(&0);
    }
    result
}

fn write_pieces(ctx: &mut Ctx, fd: u64, at: Option<u64>, pieces: &[(u64, u64)], flags: u32) -> SysResult {
    let (file, mut offset) = start(ctx, fd, at)?;
    if at.is_some() && !ctx.kernel.files.get(file).ops.is_written_at() {
        return Err(Errno::ESPIPE.into());
    }
    if !ctx.kernel.files.get(file).writable() {
        return Err(Errno::EBADF.into());
    }
    let refused = ctx.kernel.files.get(file).ops.write_error();
    if refused == Some(Errno::EINVAL) {
        return Err(Errno::EINVAL.into());
    }
    if ctx.kernel.writes_in_background(file)? {
        return Err(ctx.interrupted(Restart::WithFlag));
    }
    access_ok(pieces)?;
    within_file(offset, pieces)?;
    check_flags(ctx, file, pieces, flags, true)?;
    if let Some(errno) = refused {
        return Err(errno.into());
    }
    let nowait = flags & RWF_NOWAIT != 0;
    let open = ctx.kernel.files.get(file);
    if open.ops.discards() {
        return Ok(pieces.iter().fold(0u64, |sum, (_, len)| sum.saturating_add(*len)).min(MAX_RW_COUNT));
    }
    if let Some(source) = open.ops.proc_source() {
        let bytes = gather(ctx, pieces)?;
        let done = ctx.kernel.proc_write(source, &bytes)?;
        return finish(ctx, file, at, offset, done as u64, None);
    }
    // What the call wrote before it slept or was broken off is not written again.
    let mut done = ctx.kernel.task().call.done;
    if flags & RWF_APPEND != 0 || open.flags & O_APPEND != 0 && flags & RWF_NOAPPEND == 0 {
        let (files, mut cx) = ctx.file_ops();
        let end = files.get(file).ops.end(&mut cx).map(|end| end.saturating_sub(done));
        offset = end.or(offset); // pwrite(2) appends too
    }
    let whole = ctx.kernel.files.get(file).ops.moves_whole();
    if pieces.len() > 1 && ctx.kernel.files.get(file).ops.gathers() {
        return write_gathered(ctx, file, pieces, flags);
    }
    let (mut skip, before) = (done, done);
    let mut failed = None;
    'pieces: for (addr, len) in pieces {
        let len = &(*len).min(MAX_RW_COUNT);
        let mut within = skip.min(*len);
        skip -= within;
        while within < *len {
            if done > before {
                ctx.pause_if_asked(done)?;
            }
            let mut buf = vec![0; (*len - within).min(PIECE) as usize];
            let fault = ctx.mem.read(addr.wrapping_add(within), &mut buf).err();
            if let Some(good) = fault {
                buf.truncate(good - good % ctx.kernel.files.get(file).ops.chunk());
                failed = Some(Errno::EFAULT.into());
                if buf.is_empty() {
                    break 'pieces;
                }
            }
            let to = offset.map(|offset| offset.saturating_add(done));
            match operate(ctx, file, |open, cx| {
                quietly(flags, open.patiently(nowait, |open| open.write(cx, to, &buf)))
            }) {
                Ok(count) => {
                    done += count as u64;
                    within += count as u64;
                    let waits =
                        whole && count > 0 && !nowait && !ctx.kernel.files.get(file).mode().nonblocking;
                    if count < buf.len() && !waits || fault.is_some() {
                        break 'pieces;
                    }
                }
                Err(_) if done > 0 && ctx.kernel.streams.has_given_up() => return Err(ctx.pause(done)),
                Err(why) => {
                    failed = Some(why);
                    break 'pieces;
                }
            }
        }
    }
    if let Some(Break::Sleep) = failed {
        ctx.kernel.task_mut().call.done = done;
        return Err(Break::Sleep);
    }
    finish(ctx, file, at, offset, done, failed)
}

/// The bytes of a vector; EFAULT.
fn gather(ctx: &mut Ctx, pieces: &[(u64, u64)]) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    for (addr, len) in pieces {
        let mut buf = vec![0; (*len).min(MESSAGE) as usize];
        copy_from_user(ctx.mem, *addr, &mut buf)?;
        bytes.append(&mut buf);
    }
    Ok(bytes)
}

/// Leaves the signal of an error away, RWF_NOSIGNAL.
fn quietly(flags: u32, result: Result<usize, FileError>) -> Result<usize, FileError> {
    match result {
        Err(FileError::Signal(_, errno)) if flags & RWF_NOSIGNAL != 0 => Err(FileError::Errno(errno)),
        other => other,
    }
}

/// Writes a vector as one message.
fn write_gathered(ctx: &mut Ctx, file: FileNo, pieces: &[(u64, u64)], flags: u32) -> SysResult {
    let nowait = flags & RWF_NOWAIT != 0;
    let bytes = gather(ctx, pieces)?;
    let mut done = ctx.kernel.task().call.done as usize;
    let mut failed = None;
    while done < bytes.len() && failed.is_none() {
        let rest = &bytes[done..];
        match operate(ctx, file, |open, cx| {
            quietly(flags, open.patiently(nowait, |open| open.write(cx, None, rest)))
        }) {
            Ok(count) => done += count,
            Err(why) => failed = Some(why),
        }
    }
    if let Some(Break::Sleep) = failed {
        ctx.kernel.task_mut().call.done = done as u64;
        return Err(Break::Sleep);
    }
    finish(ctx, file, None, None, done as u64, failed)
}

/// Checks the flags of preadv2(2) and pwritev2(2), as Linux does where there are bytes to move;
/// EOPNOTSUPP, EINVAL.
pub(super) fn check_flags(
    ctx: &Ctx,
    file: FileNo,
    pieces: &[(u64, u64)],
    flags: u32,
    write: bool,
) -> Result<(), Errno> {
    if flags == 0 || is_empty(pieces) {
        return Ok(());
    }
    if flags & !RWF_KNOWN != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    if flags & RWF_APPEND != 0 && flags & RWF_NOAPPEND != 0 {
        return Err(Errno::EINVAL);
    }
    let ops = &ctx.kernel.files.get(file).ops;
    // Reads of a disk's files find everything in memory; writes to them always may wait.
    let disk = ops.inode().is_some_and(|ino| ctx.kernel.fs.node(ino).dev == HOST_DEV);
    let able = ops.can_be_hasty() || disk && ops.has_offset() && !write;
    if flags & RWF_NOWAIT != 0 && !able { Err(Errno::EOPNOTSUPP) } else { Ok(()) }
}

/// Tells if a vector has no bytes. Unlike read(2) of nothing, such a call does not reach the file.
pub(super) fn is_empty(pieces: &[(u64, u64)]) -> bool {
    pieces.iter().all(|(_, len)| *len == 0)
}
