//! Devices of memory: `/dev/null`, `/dev/zero`, `/dev/full`, `/dev/random`. `/dev/tty` opens a
//! stream.

use crate::abi::errno::Errno;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode};
use crate::kernel::streams::Streams;
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::node::{Device as Model, Ino};

/// A device that is open.
#[derive(Clone, Debug)]
pub(crate) struct Device(pub(crate) Ino, pub(crate) Model);

impl FileOperations for Device {
    fn kind(&self) -> &'static str {
        "file"
    }

    fn can_be_hasty(&self) -> bool {
        true
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.0)
    }

    fn link_target(&self) -> Option<Ino> {
        Some(self.0)
    }

    fn can_be_watched(&self, _streams: &Streams) -> bool {
        self.1 == Model::Random
    }

    fn can_splice(&self) -> bool {
        self.1 != Model::Full
    }

    fn can_splice_out(&self) -> bool {
        self.1 != Model::Null
    }

    fn write_error(&self) -> Option<Errno> {
        (self.1 == Model::Full).then_some(Errno::ENOSPC)
    }

    fn has_offset(&self) -> bool {
        true
    }

    fn discards(&self) -> bool {
        self.1 == Model::Null
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        match self.1 {
            Model::Null => return Ok(0),
            Model::Zero | Model::Full => buf.fill(0),
            Model::Random | Model::Urandom => cx.random.fill(buf),
            Model::Tty | Model::Ptmx | Model::Pts(_) => return Err(Errno::EINVAL.into()),
        }
        Ok(buf.len())
    }

    fn write(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        Ok(bytes.len())
    }

    fn end(&self, cx: &mut FileContext) -> Option<u64> {
        Some(cx.fs.meta(self.0).size)
    }

    fn ignores_seeks(&self) -> bool {
        true
    }

    fn map_private(&self, _cx: &mut FileContext, _mode: Mode, _exec: bool) -> Result<Source, Errno> {
        if self.1 == Model::Zero { Ok(Source::Zeros) } else { Err(Errno::ENODEV) }
    }
}
