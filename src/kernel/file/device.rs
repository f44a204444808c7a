//! Devices of memory: `/dev/null`, `/dev/zero`, `/dev/full`, `/dev/random`. `/dev/tty` opens a
//! stream.

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::random::*;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, READABLE, WRITABLE};
use crate::kernel::streams::Streams;
use crate::kernel::uaccess::{copy_from_user, get_u32, put_u32};
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::node::{Device as Model, Ino};

/// A device that is open.
#[derive(Clone, Debug)]
pub(crate) struct Device(pub(crate) Ino, pub(crate) Model);

/// Bits of entropy in the pool, all that it has room for.
const POOL_BITS: u32 = 256;

impl Device {
    fn gives_entropy(&self) -> bool {
        matches!(self.1, Model::Random | Model::Urandom)
    }
}

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

    fn poll(&self, _cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        // There are always random bytes, and never are more wanted.
        Ok(if self.1 == Model::Random { READABLE } else { READABLE | WRITABLE })
    }

    fn discards(&self) -> bool {
        matches!(self.1, Model::Null | Model::Zero)
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

    fn readable_bytes(&self, _cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Err(if self.gives_entropy() { Errno::EINVAL } else { Errno::ENOTTY })
    }

    /// Commands of random(4): the pool is always full, and what is added to it changes nothing.
    fn ioctl(&mut self, cx: &mut FileContext, command: u64, arg: u64) -> Result<u64, Errno> {
        if !self.gives_entropy() {
            return Err(Errno::ENOTTY);
        }
        if matches!(command, RNDADDTOENTCNT | RNDADDENTROPY | RNDZAPENTCNT | RNDCLEARPOOL | RNDRESEEDCRNG) {
            cx.cred.require(CAP_SYS_ADMIN)?;
        }
        match command {
            RNDGETENTCNT => put_u32(cx.mem, arg, POOL_BITS)?,
            RNDADDTOENTCNT | RNDADDENTROPY if get_u32(cx.mem, arg)? as i32 >= 0 => {
                if command == RNDADDENTROPY {
                    let size = get_u32(cx.mem, arg.wrapping_add(4))? as i32;
                    let size = u64::try_from(size).map_err(|_| Errno::EINVAL)?;
                    let mut last = [0];
                    copy_from_user(cx.mem, arg.wrapping_add(7 + size), &mut last)?;
                }
            }
            RNDZAPENTCNT | RNDCLEARPOOL | RNDRESEEDCRNG => {}
            _ => return Err(Errno::EINVAL),
        }
        Ok(0)
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
