//! Ends of pipes, pipe(7), and named pipes, fifo(7).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::signal::signo::SIGPIPE;
use crate::guest::GuestMemory;
use crate::kernel::fasync::Reason;
use crate::kernel::file::operations::{
    FileContext, FileError, FileOperations, Mode, READABLE, WRITABLE, numbered,
};
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::node::{Body, Ino, PIPE_DEV};
use crate::kernel::vfs::pipe::{PIPE_PAGE, PipeId};
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// An end of a pipe, or both.
#[derive(Clone, Debug)]
pub(crate) struct PipeEnd {
    pub(crate) pipe: PipeId,
    /// The inode of a pipe with a name.
    pub(crate) ino: Option<Ino>,
    /// A pipe with a name that was opened while nobody wrote: how often it had been opened for
    /// writing until then. It has no end before a writer came and went.
    pub(crate) no_writer_since: Option<u64>,
}

impl PipeEnd {
    /// An end of a pipe without a name.
    pub(crate) fn nameless(pipe: PipeId) -> PipeEnd {
        PipeEnd { pipe, ino: None, no_writer_since: None }
    }
}

impl FileOperations for PipeEnd {
    fn kind(&self) -> &'static str {
        "pipe"
    }

    fn can_be_hasty(&self) -> bool {
        true
    }

    fn inode(&self) -> Option<Ino> {
        self.ino
    }

    fn pipe(&self) -> Option<PipeId> {
        Some(self.pipe)
    }

    fn wait_queue(&self, fs: &FileSystem) -> Option<QueueId> {
        Some(fs.pipes.get(self.pipe)?.queue)
    }

    fn sends_signals(&self) -> bool {
        true
    }

    fn can_splice(&self) -> bool {
        true
    }

    fn moves_whole(&self) -> bool {
        true
    }

    fn chunk(&self) -> usize {
        PIPE_PAGE
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        let pipe = cx.fs.pipes.get_mut(self.pipe).ok_or(Errno::EIO)?;
        if buf.is_empty() {
            return Ok(0);
        }
        let was_full = pipe.is_full();
        cx.fs.queues.fasync.notify(pipe.queue, Reason::Out); // even if nothing is read
        match (pipe.take(buf), pipe.writers) {
            (0, 0) => Ok(0),
            (0, _) if mode.nonblocking => Err(Errno::EAGAIN.into()),
            (0, _) => Err(FileError::WouldBlock("read from an empty pipe")),
            (count, _) => {
                if was_full && !pipe.is_full() {
                    cx.fs.queues.wake(pipe.queue, WRITABLE);
                }
                Ok(count)
            }
        }
    }

    /// Puts in what there is room for. What the caller still has it writes again, and waits then.
    fn write(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let pipe = cx.fs.pipes.get_mut(self.pipe).ok_or(Errno::EIO)?;
        if bytes.is_empty() {
            return Ok(0);
        }
        cx.fs.queues.fasync.notify(pipe.queue, Reason::In);
        if pipe.readers == 0 {
            return Err(FileError::Signal(SIGPIPE, Errno::EPIPE));
        }
        match pipe.put(bytes, mode.direct) {
            0 if mode.nonblocking => Err(Errno::EAGAIN.into()),
            0 => Err(FileError::WouldBlock("write to a full pipe")),
            count => {
                cx.fs.queues.wake(pipe.queue, READABLE);
                Ok(count)
            }
        }
    }

    fn poll(&self, cx: &mut FileContext, mode: Mode, _wait: bool) -> Result<u16, Errno> {
        let Some(pipe) = cx.fs.pipes.get(self.pipe) else { return Ok(POLLERR) };
        let mut events = 0;
        if mode.readable {
            events |= if pipe.is_empty() { 0 } else { READABLE };
            let had_writer = self.no_writer_since != Some(pipe.writer_count);
            events |= if pipe.writers == 0 && had_writer { POLLHUP } else { 0 };
        }
        if mode.writable {
            events |= if pipe.is_full() { 0 } else { WRITABLE };
            events |= if pipe.readers == 0 { POLLERR } else { 0 };
        }
        Ok(events)
    }

    fn readable_bytes(&self, cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Ok(cx.fs.pipes.get(self.pipe).map_or(0, |pipe| pipe.len() as u64))
    }

    fn attributes(&self, cx: &mut FileContext) -> Result<Meta, Errno> {
        if let Some(ino) = self.ino {
            return Ok(cx.fs.meta(ino));
        }
        let ino = cx.fs.pipes.get(self.pipe).map_or(0, |pipe| pipe.number);
        Ok(numbered(cx, PIPE_DEV, ino, S_IFIFO | 0o600))
    }

    fn allocate(
        &mut self,
        _cx: &mut FileContext,
        _mode: u32,
        _offset: u64,
        _len: u64,
    ) -> Result<(), FileError> {
        Err(Errno::ESPIPE.into())
    }

    fn advise(&self, _cx: &mut FileContext) -> Result<(), Errno> {
        Err(Errno::ESPIPE)
    }

    fn reopen(&self, fs: &mut FileSystem, mode: Mode) -> Result<Box<dyn FileOperations>, Errno> {
        fs.pipes.open(self.pipe, mode.readable, mode.writable);
        if let Some(ino) = self.ino {
            fs.hold(ino);
        }
        Ok(Box::new(self.clone()))
    }

    fn release(&mut self, fs: &mut FileSystem, mode: Mode, mem: &mut dyn GuestMemory) {
        let number = fs.pipes.get(self.pipe).map_or(0, |pipe| pipe.number);
        let gone = fs.pipes.close(self.pipe, mode.readable, mode.writable, &mut fs.queues);
        if gone {
            fs.nameless.remove(&number);
        }
        if let Some(ino) = self.ino {
            if gone {
                fs.node_mut(ino).body = Body::Fifo(None);
            }
            fs.let_go(ino, mem);
        }
    }
}
