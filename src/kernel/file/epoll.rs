//! Epoll instances, epoll(7), as descriptions. `WaitQueues` has their lists, and `Descriptions`
//! polls what they watch.

use crate::abi::errno::Errno;
use crate::guest::GuestMemory;
use crate::kernel::file::operations::{FileContext, FileOperations, Mode};
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// An epoll instance.
#[derive(Clone, Debug)]
pub(crate) struct Epoll(pub(crate) QueueId);

impl FileOperations for Epoll {
    fn kind(&self) -> &'static str {
        "epoll"
    }

    fn epoll(&self) -> Option<QueueId> {
        Some(self.0)
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.0)
    }

    /// Linux accepts the call and moves nothing.
    fn seek(&self, _cx: &mut FileContext, _offset: &mut u64, _by: u64, _whence: u64) -> Result<u64, Errno> {
        Ok(0)
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, _mem: &mut dyn GuestMemory) {
        fs.queues.remove_epoll(self.0);
    }
}
