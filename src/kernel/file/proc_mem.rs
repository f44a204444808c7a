//! `/proc/PID/mem`: the memory of a process, whatever the permissions of its pages.

use std::ops::Range;

use crate::abi::errno::Errno;
use crate::abi::fs::{SEEK_CUR, SEEK_SET};
use crate::guest::{GuestMemory, Prot, SpaceId, page_down, page_up};
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode};
use crate::kernel::vfs::node::Ino;

/// The open file.
#[derive(Clone, Debug)]
pub(crate) struct ProcMem {
    pub(crate) ino: Ino,
    /// The address space; none of a process that had ended.
    pub(crate) space: Option<SpaceId>,
}

/// Copies a range piece by piece, each with the permission that it may lack; returns how many bytes
/// that were. What cannot be stored to but shared is left alone, as with FOLL_FORCE in Linux.
pub(crate) fn force(
    mem: &mut dyn GuestMemory,
    addr: u64,
    len: usize,
    need: Prot,
    mut copy: impl FnMut(&mut dyn GuestMemory, u64, Range<usize>) -> Result<(), usize>,
) -> usize {
    let mut done = 0;
    while done < len {
        let Some(at) = addr.checked_add(done as u64) else { break };
        let Some(map) = mem.next_mapping(at).filter(|map| map.start <= at) else { break };
        let part = (map.end - at).min((len - done) as u64) as usize;
        let lacks = !map.prot.allows(need);
        if lacks && need == Prot::WRITE && (map.shared || !map.may_write) {
            break;
        }
        let (start, end) = (page_down(at), page_up(at + part as u64).unwrap_or(map.end));
        if lacks && mem.protect(start, end - start, map.prot.with(need)).is_err() {
            break;
        }
        let copied = copy(mem, at, done..done + part);
        if lacks {
            // It was so before.
            let _ = mem.protect(start, end - start, map.prot);
        }
        match copied {
            Ok(()) => done += part,
            Err(some) => return done + some,
        }
    }
    done
}

impl ProcMem {
    /// The answer for so many bytes copied: EIO for none, but 0 where there is no memory any more.
    fn answer(there: bool, done: usize, len: usize) -> Result<usize, FileError> {
        if there && done == 0 && len > 0 { Err(Errno::EIO.into()) } else { Ok(done) }
    }
}

impl FileOperations for ProcMem {
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
        self.space
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
        let (Some(space), len) = (self.space, buf.len()) else { return Ok(0) };
        let (mut done, mut there) = (0, false);
        cx.mem.in_space(space, &mut |mem| {
            there = mem.next_mapping(0).is_some();
            done =
                force(mem, at.unwrap_or(0), len, Prot::READ, |mem, at, range| mem.read(at, &mut buf[range]));
        });
        ProcMem::answer(there, done, len)
    }

    fn write(
        &mut self,
        cx: &mut FileContext,
        _mode: Mode,
        at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let Some(space) = self.space else { return Ok(0) };
        let (mut done, mut there) = (0, false);
        cx.mem.in_space(space, &mut |mem| {
            there = mem.next_mapping(0).is_some();
            done = force(mem, at.unwrap_or(0), bytes.len(), Prot::WRITE, |mem, at, range| {
                mem.write(at, &bytes[range])
            });
        });
        ProcMem::answer(there, done, bytes.len())
    }

    fn seek(&self, _cx: &mut FileContext, offset: &mut u64, by: u64, whence: u64) -> Result<u64, Errno> {
        *offset = match whence {
            SEEK_SET => by,
            SEEK_CUR => offset.wrapping_add(by),
            _ => return Err(Errno::EINVAL),
        };
        Ok(*offset)
    }
}
