//! Rings as descriptions, io_uring_setup(2). `Rings` has their state.

use crate::abi::errno::Errno;
use crate::guest::{GuestMemory, ObjectId};
use crate::kernel::file::operations::{FileContext, FileOperations, Mode};
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

/// A ring.
#[derive(Clone, Debug)]
pub(crate) struct IoUring(pub(crate) QueueId);

impl FileOperations for IoUring {
    fn kind(&self) -> &'static str {
        "io_uring"
    }

    fn ring(&self) -> Option<QueueId> {
        Some(self.0)
    }

    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        Some(self.0)
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(cx.fs.rings.get(self.0).map_or(0, |ring| ring.ready(cx.mem)))
    }

    fn map_ring(&self, cx: &mut FileContext, offset: u64, len: u64) -> Option<Result<ObjectId, Errno>> {
        let ring = cx.fs.rings.get(self.0)?;
        Some(ring.mapped(cx.mem, offset, len))
    }

    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, mem: &mut dyn GuestMemory) {
        let files = fs.rings.close(self.0, mem);
        fs.net.drop_files(files);
    }
}
