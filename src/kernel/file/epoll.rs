//! Epoll instances, epoll(7), as descriptions. `WaitQueues` has their lists, and `Descriptions`
//! polls what they watch.

use crate::abi::errno::Errno;
use crate::guest::GuestMemory;
use crate::kernel::file::operations::{FileOperations, Mode};
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// An epoll instance.
#[derive(Clone, Debug)]
pub(crate) struct Epoll(pub(crate) QueueId);

impl FileOperations for Epoll {
    fn kind(&self) -> &'static str {
        "epoll"
    }

    fn read_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn write_error(&self) -> Option<Errno> {
        Some(Errno::EINVAL)
    }

    fn epoll(&self) -> Option<QueueId> {
        Some(self.0)
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.0)
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, _mem: &mut dyn GuestMemory) {
        fs.queues.remove_epoll(self.0);
    }
}
