//! Files of `/proc` and `/sys`.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::{SEEK_CUR, SEEK_SET};
use crate::guest::SpaceId;
use crate::kernel::file::operations::{
    FileContext, FileError, FileOperations, Mode, READABLE, WRITABLE, seek_within,
};
use crate::kernel::mm::space_of;
use crate::kernel::streams::Streams;
use crate::kernel::vfs::node::Ino;
use crate::kernel::vfs::proc_file::{ProcFile, ProcSource};

/// A file of `/proc` or `/sys`. Its text is made when it is first read, and anew whenever it is
/// read from the beginning.
#[derive(Clone, Debug)]
pub(crate) struct ProcText {
    ino: Ino,
    source: ProcSource,
    text: Arc<Vec<u8>>,
}

impl ProcText {
    pub(crate) fn new(ino: Ino, source: ProcSource) -> ProcText {
        ProcText { ino, source, text: Arc::default() }
    }
}

impl FileOperations for ProcText {
    fn kind(&self) -> &'static str {
        "proc"
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn link_target(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn proc_source(&self) -> Option<ProcSource> {
        Some(self.source)
    }

    fn address_space(&self) -> Option<SpaceId> {
        self.source.mm.map(space_of)
    }

    fn add_text(&mut self, first: bool, part: Vec<u8>, next: Option<u64>) {
        match first {
            true => self.text = Arc::new(part),
            false => Arc::make_mut(&mut self.text).extend(part),
        }
        (self.source.len, self.source.next) = (self.text.len(), next);
    }

    fn can_splice(&self) -> bool {
        true
    }

    /// Not those of a process, which are read by `seq_read` alone, but for the tables of mounts.
    fn can_splice_out(&self) -> bool {
        let mounts =
            matches!(self.source.file, ProcFile::Mounts | ProcFile::MountInfo | ProcFile::MountStats);
        self.source.subject.is_none() || mounts
    }

    /// Only the tables of mounts tell of changes.
    fn can_be_watched(&self, _streams: &Streams) -> bool {
        matches!(self.source.file, ProcFile::Mounts | ProcFile::MountInfo)
    }

    fn poll(&self, cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        let writable = if self.can_be_watched(cx.streams) { 0 } else { WRITABLE };
        Ok(READABLE | writable)
    }

    fn has_offset(&self) -> bool {
        true
    }

    fn write_error(&self) -> Option<Errno> {
        (!self.source.file.is_written()).then_some(Errno::EINVAL)
    }

    fn is_written_at(&self) -> bool {
        !self.source.file.is_sequential()
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

    /// A text has no end before it is made, `seq_lseek`.
    fn seek(&self, _cx: &mut FileContext, offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        match whence {
            SEEK_SET | SEEK_CUR => seek_within(offset, 0, by, whence, |_| Err(Errno::EINVAL)),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Nothing, as the size is.
    fn readable_bytes(&self, _cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Ok(0)
    }

    fn truncate(&mut self, _cx: &mut FileContext, _len: u64) -> Result<(), FileError> {
        Ok(())
    }

    fn sync_range(&mut self) -> Result<(), Errno> {
        Ok(())
    }
}
