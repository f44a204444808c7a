//! `/proc/PID/pagemap`: a word for each page of the address space.

use crate::abi::errno::Errno;
use crate::guest::{PAGE_SIZE, SpaceId, USER_END};
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, seek_within};
use crate::kernel::vfs::node::Ino;

/// Bytes of a word.
const WORD: u64 = 8;
/// Bits of a word: the page is present; it belongs to a file or is shared; it is mapped only here.
/// Frame numbers are 0, as Linux shows them to those who may not see them.
const PRESENT: u64 = 1 << 63;
const FILE: u64 = 1 << 61;
const EXCLUSIVE: u64 = 1 << 56;

/// The open file.
#[derive(Clone, Debug)]
pub(crate) struct PageMap {
    pub(crate) ino: Ino,
    /// The address space.
    pub(crate) space: SpaceId,
}

impl FileOperations for PageMap {
    fn kind(&self) -> &'static str {
        "proc"
    }

    fn inode(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn link_target(&self) -> Option<Ino> {
        Some(self.ino)
    }

    fn address_space(&self) -> Option<SpaceId> {
        Some(self.space)
    }

    fn readable_bytes(&self, _cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Ok(0)
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
        let at = at.unwrap_or(0);
        let len = buf.len() as u64;
        if !at.is_multiple_of(WORD) || !len.is_multiple_of(WORD) {
            return Err(Errno::EINVAL.into());
        }
        let first = (at / WORD).saturating_mul(PAGE_SIZE);
        if first >= USER_END {
            return Ok(0);
        }
        let count = (len / WORD).min((USER_END - first) / PAGE_SIZE);
        let end = first + count * PAGE_SIZE;
        buf[..(count * WORD) as usize].fill(0);
        let mut there = false;
        cx.mem.in_space(self.space, &mut |mem| {
            there = mem.next_mapping(0).is_some();
            for page in mem.present_pages(first, end) {
                let mapping = mem.next_mapping(page);
                let shows_file = mapping.is_some_and(|mapping| !mapping.is_anonymous());
                let word = PRESENT | if shows_file { FILE } else { 0 } | EXCLUSIVE;
                let start = ((page - first) / PAGE_SIZE * WORD) as usize;
                buf[start..start + WORD as usize].copy_from_slice(&word.to_le_bytes());
            }
        });
        Ok(if there { (count * WORD) as usize } else { 0 })
    }

    fn seek(&self, cx: &mut FileContext, offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        seek_within(offset, 0, by, whence, |data| cx.fs.seek_file(self.ino, by, data, cx.mem))
    }
}
