//! Ends of pipes, pipe(7), and named pipes, fifo(7).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::signal::signo::SIGPIPE;
use crate::guest::GuestMemory;
use crate::kernel::file::operations::{
    FileContext, FileError, FileOperations, Mode, READABLE, WRITABLE, anonymous,
};
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::node::{Body, Ino, PIPE_DEV};
use crate::kernel::vfs::pipe::{PIPE_BUF, PipeId};
use crate::kernel::vfs::tree::FileSystem;

/// An end of a pipe, or both.
#[derive(Clone, Debug)]
pub(crate) struct PipeEnd {
    pub(crate) pipe: PipeId,
    /// The inode of a pipe with a name.
    pub(crate) ino: Option<Ino>,
}

impl FileOperations for PipeEnd {
    fn kind(&self) -> &'static str {
        "pipe"
    }

    fn inode(&self) -> Option<Ino> {
        self.ino
    }

    fn pipe(&self) -> Option<PipeId> {
        Some(self.pipe)
    }

    fn writes_whole(&self) -> bool {
        true
    }

    fn has_more(&self, cx: &FileContext) -> bool {
        cx.fs.pipes.get(self.pipe).is_some_and(|pipe| !pipe.buf.is_empty())
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        let pipe = cx.fs.pipes.get_mut(self.pipe).ok_or(Errno::EIO)?;
        match (pipe.take(buf), pipe.writers) {
            (0, 0) => Ok(0),
            (0, _) if buf.is_empty() => Ok(0),
            (0, _) if mode.nonblocking => Err(Errno::EAGAIN.into()),
            (0, _) => Err(FileError::WouldBlock("read from an empty pipe")),
            (count, _) => Ok(count),
        }
    }

    fn write(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let pipe = cx.fs.pipes.get_mut(self.pipe).ok_or(Errno::EIO)?;
        if pipe.readers == 0 {
            return Err(FileError::Signal(SIGPIPE, Errno::EPIPE));
        }
        let room = pipe.room();
        let whole = bytes.len() <= PIPE_BUF;
        if room >= bytes.len() || (mode.nonblocking && !whole && room > 0) {
            let count = room.min(bytes.len());
            pipe.buf.extend(&bytes[..count]);
            return Ok(count);
        }
        if mode.nonblocking {
            return Err(Errno::EAGAIN.into());
        }
        Err(FileError::WouldBlock("write to a full pipe"))
    }

    fn poll(&self, cx: &mut FileContext, mode: Mode, _wait: bool) -> Result<u16, Errno> {
        let Some(pipe) = cx.fs.pipes.get(self.pipe) else { return Ok(POLLERR) };
        let mut events = 0;
        if mode.readable {
            events |= if pipe.buf.is_empty() { 0 } else { READABLE };
            events |= if pipe.writers == 0 { POLLHUP } else { 0 };
        }
        if mode.writable {
            events |= if pipe.room() >= PIPE_BUF { WRITABLE } else { 0 };
            events |= if pipe.readers == 0 { POLLERR } else { 0 };
        }
        Ok(events)
    }

    fn readable_bytes(&self, cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Ok(cx.fs.pipes.get(self.pipe).map_or(0, |pipe| pipe.buf.len() as u64))
    }

    fn attributes(&self, cx: &mut FileContext) -> Result<Meta, Errno> {
        if let Some(ino) = self.ino {
            return Ok(cx.fs.meta(ino));
        }
        let ino = cx.fs.pipes.get(self.pipe).map_or(0, |pipe| pipe.number);
        Ok(Meta { dev: PIPE_DEV, ino, mode: S_IFIFO | 0o600, ..anonymous(cx) })
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
        let gone = fs.pipes.close(self.pipe, mode.readable, mode.writable);
        if let Some(ino) = self.ino {
            if gone {
                fs.node_mut(ino).body = Body::Fifo(None);
            }
            fs.let_go(ino, mem);
        }
    }
}
