//! Epoll instances, epoll(7), as descriptions. `WaitQueues` has their lists, and `Descriptions`
//! polls what they watch.

use crate::abi::errno::Errno;
use crate::abi::fs::{EPIOCGPARAMS, EPIOCSPARAMS};
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

    fn readable_bytes(&self, _cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Err(Errno::EINVAL)
    }

    /// Parameters of busy polling, as in a kernel without CONFIG_NET_RX_BUSY_POLL.
    fn ioctl(&mut self, _cx: &mut FileContext, command: u64, _arg: u64) -> Result<u64, Errno> {
        Err(if matches!(command, EPIOCSPARAMS | EPIOCGPARAMS) { Errno::EOPNOTSUPP } else { Errno::EINVAL })
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, _mem: &mut dyn GuestMemory) {
        fs.queues.remove_epoll(self.0);
    }
}
