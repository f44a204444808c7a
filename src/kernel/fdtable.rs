//! The descriptor table (CLONE_FILES).

use crate::abi::errno::Errno;
use crate::kernel::vfs::file::FileNo;

/// A descriptor: what it refers to, and whether execve(2) closes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) file: FileNo,
    pub(crate) cloexec: bool,
}

/// The descriptors of a process. Descriptions live in the file system; each slot holds a reference.
#[derive(Clone, Debug)]
pub struct FdTable {
    slots: Vec<Option<Slot>>,
    /// How many descriptors the table has room for, as Linux counts it: it grows and never shrinks.
    size: usize,
}

/// The room of a table that never held a descriptor above it, `NR_OPEN_DEFAULT` of Linux.
const SMALLEST: usize = 64;

impl Default for FdTable {
    fn default() -> Self {
        FdTable::new()
    }
}

impl FdTable {
    /// Descriptors 0, 1 and 2, which are the host's standard streams.
    pub fn new() -> FdTable {
        let stream = |at| Some(Slot { file: FileNo(at), cloexec: false });
        FdTable { slots: (0..3).map(stream).collect(), size: SMALLEST }
    }

    /// No descriptors.
    pub(crate) fn empty() -> FdTable {
        FdTable { slots: Vec::new(), size: SMALLEST }
    }

    pub(crate) fn slot(&self, fd: i32) -> Result<Slot, Errno> {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get(at).copied());
        slot.flatten().ok_or(Errno::EBADF)
    }

    /// What a descriptor refers to; EBADF.
    pub(crate) fn get(&self, fd: i32) -> Result<FileNo, Errno> {
        Ok(self.slot(fd)?.file)
    }

    /// How many descriptors there is room for: `FDSize` of proc(5), and what select(2) looks at.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The open descriptors, rising.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i32> {
        self.slots.iter().enumerate().filter(|(_, slot)| slot.is_some()).map(|(at, _)| at as i32)
    }

    /// Gives a description the lowest free number from `min` on; EMFILE at `limit`.
    pub(crate) fn install(
        &mut self,
        file: FileNo,
        cloexec: bool,
        min: u64,
        limit: u64,
    ) -> Result<i32, Errno> {
        let min = usize::try_from(min).map_err(|_| Errno::EMFILE)?;
        let free = (min..self.slots.len()).find(|at| self.slots[*at].is_none());
        let at = free.unwrap_or(self.slots.len().max(min));
        if at as u64 >= limit {
            return Err(Errno::EMFILE);
        }
        self.set(at, Some(Slot { file, cloexec }));
        Ok(at as i32)
    }

    /// EMFILE unless a new descriptor would be below `limit`.
    pub(crate) fn free(&self, limit: u64) -> Result<(), Errno> {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if (free as u64) < limit { Ok(()) } else { Err(Errno::EMFILE) }
    }

    pub(crate) fn set(&mut self, at: usize, slot: Option<Slot>) -> Option<Slot> {
        if at >= self.slots.len() {
            self.slots.resize(at + 1, None);
            self.size = self.size.max((at + 1).next_power_of_two());
        }
        std::mem::replace(&mut self.slots[at], slot)
    }

    /// Sets whether execve(2) closes a descriptor; EBADF.
    pub(crate) fn set_cloexec(&mut self, fd: i32, cloexec: bool) -> Result<(), Errno> {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        slot.and_then(Option::as_mut).ok_or(Errno::EBADF)?.cloexec = cloexec;
        Ok(())
    }

    /// Removes the descriptors that execve(2) closes; the caller releases what they referred to.
    pub(crate) fn take_close_on_exec(&mut self) -> Vec<FileNo> {
        let closing = self.slots.iter_mut().filter(|slot| slot.is_some_and(|slot| slot.cloexec));
        closing.filter_map(Option::take).map(|slot| slot.file).collect()
    }
}
