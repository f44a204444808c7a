//! Directories. getdents64(2) lists them through their inode.

use crate::abi::errno::Errno;
use crate::abi::fs::SEEK_CUR;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, seek_within};
use crate::kernel::streams::Streams;
use crate::kernel::vfs::node::{Ino, PROC_DEV, SYS_DEV};

/// A directory that is open.
#[derive(Clone, Debug)]
pub(crate) struct Directory(pub(crate) Ino);

impl FileOperations for Directory {
    fn kind(&self) -> &'static str {
        "file"
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.0)
    }

    fn link_target(&self) -> Option<Ino> {
        Some(self.0)
    }

    fn can_be_watched(&self, _streams: &Streams) -> bool {
        false
    }

    fn has_offset(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        _buf: &mut [u8],
    ) -> Result<usize, FileError> {
        Err(Errno::EISDIR.into())
    }

    fn seek(&self, cx: &mut FileContext, offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        if whence > SEEK_CUR && cx.fs.is_in_memory(self.0) {
            return Err(Errno::EINVAL); // only those of a disk have a size
        }
        let size = cx.fs.meta(self.0).size;
        seek_within(offset, size, by, whence, |data| cx.fs.seek_file(self.0, by, data, cx.mem))
    }

    fn sync(&mut self, cx: &mut FileContext) -> Result<(), Errno> {
        if [PROC_DEV, SYS_DEV].contains(&cx.fs.node(self.0).dev) {
            return Err(Errno::EINVAL);
        }
        cx.fs.write_back(cx.mem)
    }

    fn sync_range(&mut self) -> Result<(), Errno> {
        Ok(())
    }
}
