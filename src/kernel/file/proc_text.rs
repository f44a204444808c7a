//! Files of `/proc` and `/sys`.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, seek_within};
use crate::kernel::vfs::node::Ino;
use crate::kernel::vfs::tree::FileSystem;

/// A file of `/proc` or `/sys` with its text as it was when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct ProcText {
    pub(crate) ino: Ino,
    pub(crate) text: Arc<[u8]>,
}

impl FileOperations for ProcText {
    fn kind(&self) -> &'static str {
        "proc"
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn can_splice(&self) -> bool {
        true
    }

    fn has_offset(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        let rest = usize::try_from(at.unwrap_or(0)).ok().and_then(|offset| self.text.get(offset..));
        let rest = rest.unwrap_or_default();
        let count = buf.len().min(rest.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        _bytes: &[u8],
    ) -> Result<usize, FileError> {
        Err(Errno::EBADF.into())
    }

    fn seek(&self, cx: &mut FileContext, offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        let size = self.text.len() as u64;
        seek_within(offset, size, by, whence, |data| cx.fs.seek_file(self.ino, by, data, cx.mem))
    }

    fn sync_range(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn reopen(&self, fs: &mut FileSystem, _mode: Mode) -> Result<Box<dyn FileOperations>, Errno> {
        fs.hold(self.ino);
        Ok(Box::new(self.clone()))
    }
}
