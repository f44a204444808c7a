//! Copies inside the kernel: splice(2), tee(2), sendfile(2), copy_file_range(2). What was moved
//! before an error counts.

use crate::abi::errno::Errno;
use crate::abi::fs::MAX_RW_COUNT;
use crate::abi::signal::signo::SIGPIPE;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::description::Descriptions;
use crate::kernel::file::operations::{FileContext, FileError, READABLE, WRITABLE};
use crate::kernel::uaccess::{copy_from_user, copy_to_user};
use crate::kernel::vfs::pipe::{PIPE_PAGE, Page, Pipe, PipeId};

/// Bytes copied at a time between files.
const PIECE: u64 = 256 * 1024;

/// One side of a copy: the description, and the offset if the call brought one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) file: FileNo,
    pub(crate) at: Option<u64>,
}

/// The bytes that were moved, or an error if there are none.
fn outcome(cx: &mut FileContext, done: u64, failed: Option<FileError>) -> Result<u64, FileError> {
    match failed {
        Some(error) if done == 0 => Err(error),
        Some(FileError::Signal(signo, _)) => {
            cx.late_signal = Some(signo);
            Ok(done)
        }
        _ => Ok(done),
    }
}

/// EAGAIN, or a wait if the caller allows it.
fn wait(nonblocking: bool, what: &'static str) -> FileError {
    if nonblocking { Errno::EAGAIN.into() } else { FileError::WouldBlock(what) }
}

fn held<'a>(cx: &'a mut FileContext, pipe: PipeId) -> Result<&'a mut Pipe, Errno> {
    cx.fs.pipes.get_mut(pipe).ok_or(Errno::EIO)
}

/// Checks that a pipe can take something: EPIPE with SIGPIPE without a reader, and a wait if full.
fn has_room(cx: &mut FileContext, pipe: PipeId, nonblocking: bool) -> Result<(), FileError> {
    let pipe = held(cx, pipe)?;
    match (pipe.readers, pipe.is_full()) {
        (0, _) => Err(FileError::Signal(SIGPIPE, Errno::EPIPE)),
        (_, true) => Err(wait(nonblocking, "splice into a full pipe")),
        _ => Ok(()),
    }
}

/// Checks that there is something in a pipe; false at its end.
fn has_bytes(cx: &mut FileContext, pipe: PipeId, nonblocking: bool) -> Result<bool, FileError> {
    let pipe = held(cx, pipe)?;
    match (pipe.is_empty(), pipe.writers) {
        (false, _) => Ok(true),
        (true, 0) => Ok(false),
        _ => Err(wait(nonblocking, "splice from an empty pipe")),
    }
}

/// Checks that pages can go from one pipe to another; false at the end of the first.
fn can_move(cx: &mut FileContext, from: PipeId, to: PipeId, nonblocking: bool) -> Result<bool, FileError> {
    let bytes = has_bytes(cx, from, nonblocking)?;
    if bytes {
        has_room(cx, to, nonblocking)?;
    }
    Ok(bytes)
}

/// Tells those who wait at a pipe's ends that its content changed.
fn wake(cx: &mut FileContext, pipe: PipeId, events: u16) {
    if let Some(queue) = cx.fs.pipes.get(pipe).map(|pipe| pipe.queue) {
        cx.fs.queues.wake(queue, events);
    }
}

impl Descriptions {
    /// The offset of a side: the call's or the description's; `None` for kinds without offsets.
    pub(crate) fn side_offset(&self, side: Side) -> Option<u64> {
        let open = self.get(side.file);
        side.at.or(open.ops.has_offset().then_some(open.offset))
    }

    /// Moves the offset of a side's description behind the bytes that were copied.
    fn advance(&mut self, side: Side, done: u64) {
        let open = self.get_mut(side.file);
        if side.at.is_none() && open.ops.has_offset() {
            open.offset += done;
        }
    }

    /// Copies up to `len` bytes from a file to something that is no pipe; so many were copied
    /// before the call was broken off.
    pub(crate) fn copy_bytes(
        &mut self,
        cx: &mut FileContext,
        from: Side,
        to: Side,
        len: u64,
        before: u64,
    ) -> Result<u64, FileError> {
        let (source, target) = (self.side_offset(from), self.side_offset(to));
        let mut done = before;
        let mut failed = None;
        let mut buf = vec![0; len.min(PIECE) as usize];
        while done < len.min(MAX_RW_COUNT) {
            if done > before && cx.streams.is_asked() {
                return Err(FileError::Pause(done));
            }
            let room = (len - done).min(PIECE) as usize;
            let at = source.map(|at| at + done);
            let read = self.get_mut(from.file).read(cx, at, &mut buf[..room]);
            let result = read.and_then(|count| match count {
                0 => Ok(0),
                count => {
                    let at = target.map(|at| at.saturating_add(done));
                    self.get_mut(to.file).write(cx, at, &buf[..count])
                }
            });
            match result {
                Ok(0) => break,
                Ok(count) => done += count as u64,
                Err(_) if done > 0 && cx.streams.has_given_up() => return Err(FileError::Pause(done)),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        self.advance(from, done);
        self.advance(to, done);
        outcome(cx, done, failed)
    }

    /// Copies up to `len` bytes from a file into a pipe. What is not in the pipe is not taken out.
    pub(crate) fn file_to_pipe(
        &mut self,
        cx: &mut FileContext,
        from: Side,
        to: PipeId,
        len: u64,
        nonblocking: bool,
    ) -> Result<u64, FileError> {
        has_room(cx, to, nonblocking)?;
        let at = self.side_offset(from);
        // As in the page cache a page of the pipe never spans two of the file.
        let first = PIPE_PAGE - at.map_or(0, |at| at as usize % PIPE_PAGE);
        let free = held(cx, to)?.free_pages();
        let room = (free - 1) * PIPE_PAGE + first;
        let mut buf = vec![0; len.min(room as u64) as usize];
        let count = self.get_mut(from.file).read(cx, at, &mut buf)?;
        let (head, rest) = buf[..count].split_at(first.min(count));
        let pipe = held(cx, to)?;
        for page in std::iter::once(head).chain(rest.chunks(PIPE_PAGE)) {
            pipe.put_page(Page::spliced(page.to_vec()));
        }
        if count > 0 {
            wake(cx, to, READABLE);
        }
        self.advance(from, count as u64);
        Ok(count as u64)
    }

    /// Puts bytes into a pipe as pages of their own, vmsplice(2); returns how many there was room
    /// for.
    pub(crate) fn memory_to_pipe(
        &mut self,
        cx: &mut FileContext,
        pieces: &[(u64, u64)],
        to: PipeId,
        nonblocking: bool,
    ) -> Result<u64, FileError> {
        has_room(cx, to, nonblocking)?;
        let mut done = 0;
        let mut failed = None;
        'pieces: for (addr, len) in pieces {
            let mut at = 0;
            while at < *len {
                if held(cx, to)?.is_full() {
                    break 'pieces;
                }
                let from = addr.wrapping_add(at);
                let count = (PIPE_PAGE - from as usize % PIPE_PAGE).min((*len - at) as usize);
                let mut page = vec![0; count];
                if let Err(errno) = copy_from_user(cx.mem, from, &mut page) {
                    failed = Some(errno.into());
                    break 'pieces;
                }
                held(cx, to)?.put_page(Page::spliced(page));
                (done, at) = (done + count as u64, at + count as u64);
            }
        }
        if done > 0 {
            wake(cx, to, READABLE);
        }
        outcome(cx, done, failed)
    }

    /// Moves bytes from a pipe to memory, vmsplice(2).
    pub(crate) fn pipe_to_memory(
        &mut self,
        cx: &mut FileContext,
        from: PipeId,
        pieces: &[(u64, u64)],
        nonblocking: bool,
    ) -> Result<u64, FileError> {
        if !has_bytes(cx, from, nonblocking)? {
            return Ok(0);
        }
        let mut done = 0;
        let mut failed = None;
        'pieces: for (addr, len) in pieces {
            let mut at = 0;
            while at < *len {
                let most = usize::try_from(len - at).unwrap_or(usize::MAX).min(PIPE_PAGE);
                let Some(page) = held(cx, from)?.copies(most).into_iter().next() else { break 'pieces };
                let to = addr.wrapping_add(at);
                if let Err(errno) = copy_to_user(cx.mem, to, page.rest()) {
                    failed = Some(errno.into());
                    break 'pieces;
                }
                let count = page.rest().len();
                held(cx, from)?.take_page(count);
                (done, at) = (done + count as u64, at + count as u64);
            }
        }
        wake(cx, from, WRITABLE);
        outcome(cx, done, failed)
    }

    /// Moves up to `len` bytes from a pipe to something that is none.
    pub(crate) fn pipe_to_file(
        &mut self,
        cx: &mut FileContext,
        from: PipeId,
        to: Side,
        len: u64,
        nonblocking: bool,
    ) -> Result<u64, FileError> {
        has_bytes(cx, from, nonblocking)?;
        let target = self.side_offset(to);
        let mut done = 0;
        let mut failed = None;
        while done < len {
            let max = usize::try_from(len - done).unwrap_or(usize::MAX);
            let Some(page) = held(cx, from)?.copies(max.min(PIPE_PAGE)).into_iter().next() else { break };
            let at = target.map(|at| at.saturating_add(done));
            match self.get_mut(to.file).write(cx, at, page.rest()) {
                Ok(0) => break,
                Ok(count) => {
                    held(cx, from)?.take_page(count);
                    done += count as u64;
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if done > 0 {
            wake(cx, from, WRITABLE);
        }
        self.advance(to, done);
        outcome(cx, done, failed)
    }

    /// Moves up to `len` bytes from one pipe to another, whole pages as they are.
    pub(crate) fn pipe_to_pipe(
        &mut self,
        cx: &mut FileContext,
        from: PipeId,
        to: PipeId,
        len: u64,
        nonblocking: bool,
    ) -> Result<u64, FileError> {
        if !can_move(cx, from, to, nonblocking)? {
            return Ok(0);
        }
        let mut done = 0;
        while done < len && !held(cx, to)?.is_full() {
            let max = usize::try_from(len - done).unwrap_or(usize::MAX);
            let Some(page) = held(cx, from)?.take_page(max) else { break };
            done += page.rest().len() as u64;
            held(cx, to)?.put_page(page);
        }
        wake(cx, from, WRITABLE);
        wake(cx, to, READABLE);
        Ok(done)
    }

    /// Copies up to `len` bytes from one pipe to another and takes nothing out, tee(2).
    pub(crate) fn tee(
        &mut self,
        cx: &mut FileContext,
        from: PipeId,
        to: PipeId,
        len: u64,
        nonblocking: bool,
    ) -> Result<u64, FileError> {
        if !can_move(cx, from, to, nonblocking)? {
            return Ok(0);
        }
        let max = usize::try_from(len).unwrap_or(usize::MAX);
        let copies = held(cx, from)?.copies(max);
        let target = held(cx, to)?;
        let mut done = 0;
        for page in copies.into_iter().take(target.free_pages()) {
            done += page.rest().len() as u64;
            target.put_page(page);
        }
        wake(cx, to, READABLE);
        Ok(done)
    }
}
