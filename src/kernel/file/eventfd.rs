//! Event counters, eventfd(2).

use crate::abi::errno::Errno;
use crate::abi::fs::{POLLERR, POLLIN, POLLOUT};
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode};
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// An event counter.
#[derive(Clone, Debug)]
pub(crate) struct EventFd {
    pub(crate) count: u64,
    /// EFD_SEMAPHORE: reads take one at a time.
    pub(crate) semaphore: bool,
    /// Queue of those who wait for it.
    pub(crate) queue: QueueId,
}

impl FileOperations for EventFd {
    fn kind(&self) -> &'static str {
        "eventfd"
    }

    fn counts_events(&self) -> bool {
        true
    }

    fn can_be_hasty(&self) -> bool {
        true
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.queue)
    }

    fn details(&self, _fs: &FileSystem, _now: u64) -> String {
        format!("eventfd-count: {:16x}\neventfd-semaphore: {}\n", self.count, u8::from(self.semaphore))
    }

    fn moves_whole(&self) -> bool {
        true
    }

    fn gathers(&self) -> bool {
        false // each piece of a vector is a number of its own
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        let Some(out) = buf.get_mut(..8) else { return Err(Errno::EINVAL.into()) };
        if self.count == 0 {
            return Err(match mode.nonblocking {
                true => Errno::EAGAIN.into(),
                false => FileError::WouldBlock("read from an eventfd"),
            });
        }
        let taken = if self.semaphore { 1 } else { self.count };
        out.copy_from_slice(&taken.to_le_bytes());
        self.count -= taken;
        cx.fs.queues.wake(self.queue, POLLOUT);
        Ok(8)
    }

    fn write(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let value = u64::from_le_bytes(bytes.try_into().map_err(|_| Errno::EINVAL)?);
        if value == u64::MAX {
            return Err(Errno::EINVAL.into());
        }
        match self.count.checked_add(value).filter(|sum| *sum < u64::MAX) {
            Some(sum) => {
                self.count = sum;
                cx.fs.queues.wake(self.queue, POLLIN);
                Ok(8)
            }
            None if mode.nonblocking => Err(Errno::EAGAIN.into()),
            None => Err(FileError::WouldBlock("write to a full eventfd")),
        }
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn poll(&self, _cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        let readable = if self.count > 0 { POLLIN } else { 0 };
        let writable = if self.count < u64::MAX - 1 { POLLOUT } else { 0 };
        let overflown = if self.count == u64::MAX { POLLERR } else { 0 };
        Ok(readable | writable | overflown)
    }
}
