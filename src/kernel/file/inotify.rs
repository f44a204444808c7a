//! Instances of inotify(7) as descriptions. `Notify` has their watches and events.

use crate::abi::errno::Errno;
use crate::guest::GuestMemory;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, READABLE};
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// An instance.
#[derive(Clone, Debug)]
pub(crate) struct Inotify(pub(crate) QueueId);

impl FileOperations for Inotify {
    fn kind(&self) -> &'static str {
        "inotify"
    }

    fn details(&self, fs: &FileSystem, _now: u64) -> String {
        fs.notify.describe(self.0, |ino| (fs.node(ino).dev, fs.number_if_shown(ino).unwrap_or(0)))
    }

    fn inotify(&self) -> Option<QueueId> {
        Some(self.0)
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.0)
    }

    fn sends_signals(&self) -> bool {
        true
    }

    fn moves_whole(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        match cx.fs.notify.read(self.0, buf)? {
            0 if mode.nonblocking => Err(Errno::EAGAIN.into()),
            0 => Err(FileError::WouldBlock("read from an inotify instance")),
            count => Ok(count),
        }
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(if cx.fs.notify.len(self.0) > 0 { READABLE } else { 0 })
    }

    fn readable_bytes(&self, cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Ok(cx.fs.notify.len(self.0) as u64)
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, _mem: &mut dyn GuestMemory) {
        fs.notify.remove(self.0);
    }
}
