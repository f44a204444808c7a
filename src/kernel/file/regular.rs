//! Regular files.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::signal::signo::SIGXFSZ;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, seek_within};
use crate::kernel::streams::Streams;
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::node::Ino;

/// A regular file that is open.
#[derive(Clone, Debug)]
pub(crate) struct Regular(pub(crate) Ino);

/// Bytes of a block of the file system.
const BLOCK: u64 = 4096;
/// Bytes that are shifted at a time.
const SHIFTED: u64 = 256 << 10;

/// Checks the length that a file of some size is given: EINVAL, and EFBIG with SIGXFSZ if it grows
/// beyond RLIMIT_FSIZE.
pub(crate) fn check_len(len: u64, size: u64, limit: u64) -> Result<(), FileError> {
    if len > i64::MAX as u64 {
        return Err(Errno::EINVAL.into());
    }
    if len > size && len > limit {
        return Err(FileError::Signal(SIGXFSZ, Errno::EFBIG));
    }
    Ok(())
}

impl Regular {
    /// Takes a range out of the file, FALLOC_FL_COLLAPSE_RANGE, or inserts zeros: EINVAL unless it
    /// is made of whole blocks and the file goes on behind it.
    fn shift(&self, cx: &mut FileContext, insert: bool, offset: u64, len: u64) -> Result<(), FileError> {
        let size = cx.fs.meta(self.0).size;
        let first = if insert { offset } else { offset.saturating_add(len) };
        let whole = offset.is_multiple_of(BLOCK) && len.is_multiple_of(BLOCK);
        if !whole || first >= size {
            return Err(Errno::EINVAL.into());
        }
        let new = if insert { size.checked_add(len).ok_or(Errno::EFBIG)? } else { size - len };
        let now = cx.now();
        if insert {
            check_len(new, size, cx.size_limit)?;
            cx.fs.truncate(now, self.0, new, cx.mem)?;
        }
        let mut starts: Vec<u64> = (first..size).step_by(SHIFTED as usize).collect();
        if insert {
            starts.reverse(); // nothing is written over before it is moved
        }
        let mut buf = vec![0; SHIFTED as usize];
        for start in starts {
            let piece = &mut buf[..(size - start).min(SHIFTED) as usize];
            let to = if insert { start + len } else { start - len };
            let count = piece.len() as u64;
            let empty = |at| match cx.fs.seek_file(self.0, at, true, cx.mem) {
                Ok(data) => data >= at + count,
                Err(why) => why == Errno::ENXIO,
            };
            if empty(start) && empty(to) {
                continue;
            }
            cx.fs.read_file(self.0, start, piece, cx.mem)?;
            if piece.iter().all(|byte| *byte == 0) {
                cx.fs.punch(now, self.0, to, piece.len() as u64, cx.mem)?;
            } else {
                let written = cx.fs.write_file(now, self.0, to, piece, cx.mem)?;
                if written < piece.len() {
                    return Err(Errno::ENOSPC.into());
                }
            }
        }
        if insert {
            cx.fs.punch(now, self.0, offset, len, cx.mem)?;
        } else {
            cx.fs.truncate(now, self.0, new, cx.mem)?;
        }
        Ok(())
    }
}

impl FileOperations for Regular {
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

    fn can_splice(&self) -> bool {
        true
    }

    fn has_offset(&self) -> bool {
        true
    }

    fn read(
        &mut self,
        cx: &mut FileContext,
        _mode: Mode,
        at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        Ok(cx.fs.read_file(self.0, at.unwrap_or(0), buf, cx.mem)?)
    }

    fn write(
        &mut self,
        cx: &mut FileContext,
        _mode: Mode,
        at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let offset = at.unwrap_or(0);
        if !bytes.is_empty() && offset >= cx.size_limit {
            return Err(FileError::Signal(SIGXFSZ, Errno::EFBIG));
        }
        let count = (bytes.len() as u64).min(cx.size_limit.saturating_sub(offset)) as usize;
        let now = cx.now();
        cx.fs.drop_set_id(cx.cred, self.0);
        Ok(cx.fs.write_file(now, self.0, offset, &bytes[..count], cx.mem)?)
    }

    fn end(&self, cx: &mut FileContext) -> Option<u64> {
        Some(cx.fs.meta(self.0).size)
    }

    fn seek(&self, cx: &mut FileContext, offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        let size = cx.fs.meta(self.0).size;
        seek_within(offset, size, by, whence, |data| cx.fs.seek_file(self.0, by, data, cx.mem))
    }

    fn readable_bytes(&self, cx: &mut FileContext, offset: u64) -> Result<u64, Errno> {
        Ok(cx.fs.meta(self.0).size.wrapping_sub(offset))
    }

    fn truncate(&mut self, cx: &mut FileContext, len: u64) -> Result<(), FileError> {
        check_len(len, cx.fs.meta(self.0).size, cx.size_limit)?;
        let now = cx.now();
        cx.fs.drop_set_id(cx.cred, self.0);
        Ok(cx.fs.truncate(now, self.0, len, cx.mem)?)
    }

    fn allocate(&mut self, cx: &mut FileContext, mode: u32, offset: u64, len: u64) -> Result<(), FileError> {
        let end = offset.checked_add(len).filter(|end| *end <= i64::MAX as u64).ok_or(Errno::EFBIG)?;
        let keep = mode & FALLOC_FL_KEEP_SIZE != 0;
        // The modes of ext4, and those of tmpfs.
        let in_memory = cx.fs.is_in_memory(self.0);
        let zeroes = match mode & !FALLOC_FL_KEEP_SIZE {
            0 => false,
            FALLOC_FL_PUNCH_HOLE if keep => true,
            FALLOC_FL_ZERO_RANGE if !in_memory => true,
            FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE if !in_memory => {
                return self.shift(cx, mode == FALLOC_FL_INSERT_RANGE, offset, len);
            }
            _ => return Err(Errno::EOPNOTSUPP.into()),
        };
        if !keep || in_memory && !zeroes {
            check_len(end, cx.fs.meta(self.0).size, cx.size_limit)?;
        }
        let now = cx.now();
        cx.fs.drop_set_id(cx.cred, self.0);
        if zeroes {
            cx.fs.punch(now, self.0, offset, len, cx.mem)?;
        }
        let grows = !keep && end > cx.fs.meta(self.0).size;
        if !zeroes && (in_memory || !grows) {
            cx.fs.reserve(now, self.0, offset, len, cx.mem)?;
        }
        if grows {
            cx.fs.truncate(now, self.0, end, cx.mem)?;
        }
        Ok(())
    }

    /// Writes stores through mappings to the host. The overlay needs no more, and the host writes
    /// its own files back in its own time.
    fn sync(&mut self, cx: &mut FileContext) -> Result<(), Errno> {
        cx.fs.write_back(cx.mem)
    }

    fn sync_range(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn map_private(&self, cx: &mut FileContext, mode: Mode, exec: bool) -> Result<Source, Errno> {
        if !mode.readable {
            return Err(Errno::EACCES);
        }
        cx.fs.private_source(self.0, exec, cx.mem)
    }

    fn map_shared(&self, cx: &mut FileContext, write: bool) -> Result<Source, Errno> {
        cx.fs.shared_source(self.0, write, cx.mem)
    }
}
