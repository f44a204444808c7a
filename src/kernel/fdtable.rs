//! Descriptor tables, `struct files_struct`: from the numbers that a program uses to open file
//! descriptions.

use crate::abi::errno::Errno;

/// Key of an open file description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileNo(pub(super) u32);

/// A descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The description it refers to.
    pub(crate) file: FileNo,
    /// FD_CLOEXEC: execve(2) closes the descriptor.
    pub(crate) cloexec: bool,
}

/// A descriptor table. Each descriptor holds a reference to its description.
#[derive(Clone, Debug)]
pub struct FdTable {
    slots: Vec<Option<Slot>>,
    /// Descriptors that the table has room for, as Linux counts it: it grows and never shrinks.
    size: usize,
}

/// Room of a table that never held a descriptor above it, `NR_OPEN_DEFAULT` of Linux.
const NR_OPEN_DEFAULT: usize = 64;

impl FdTable {
    /// Descriptors 0, 1 and 2, which are the host's standard streams.
    pub(super) fn new() -> FdTable {
        let stream = |at| Some(Slot { file: FileNo(at), cloexec: false });
        FdTable { slots: (0..3).map(stream).collect(), size: NR_OPEN_DEFAULT }
    }

    /// A table without descriptors.
    pub(super) fn empty() -> FdTable {
        FdTable { slots: Vec::new(), size: NR_OPEN_DEFAULT }
    }

    /// A descriptor; EBADF.
    pub(crate) fn slot(&self, fd: i32) -> Result<Slot, Errno> {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get(at).copied());
        slot.flatten().ok_or(Errno::EBADF)
    }

    /// The description that a descriptor refers to; EBADF.
    pub(crate) fn get(&self, fd: i32) -> Result<FileNo, Errno> {
        Ok(self.slot(fd)?.file)
    }

    /// Descriptors that there is room for: `FDSize` of proc(5), and the bound of select(2).
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

    /// Checks that a new descriptor would be below `limit`; EMFILE.
    pub(crate) fn has_room(&self, limit: u64) -> Result<(), Errno> {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if (free as u64) < limit { Ok(()) } else { Err(Errno::EMFILE) }
    }

    /// Makes a descriptor refer to a description; returns the one it referred to.
    pub(crate) fn replace(&mut self, fd: usize, file: FileNo, cloexec: bool) -> Option<FileNo> {
        Some(self.set(fd, Some(Slot { file, cloexec }))?.file)
    }

    /// Takes a descriptor out; EBADF.
    pub(crate) fn remove(&mut self, fd: i32) -> Result<FileNo, Errno> {
        let file = self.get(fd)?;
        self.set(fd as usize, None);
        Ok(file)
    }

    fn set(&mut self, at: usize, slot: Option<Slot>) -> Option<Slot> {
        if at >= self.slots.len() {
            self.slots.resize(at + 1, None);
            self.size = self.size.max((at + 1).next_power_of_two());
        }
        std::mem::replace(&mut self.slots[at], slot)
    }

    /// Sets or clears FD_CLOEXEC; EBADF.
    pub(crate) fn set_cloexec(&mut self, fd: i32, cloexec: bool) -> Result<(), Errno> {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        slot.and_then(Option::as_mut).ok_or(Errno::EBADF)?.cloexec = cloexec;
        Ok(())
    }

    /// The descriptors that execve(2) closes.
    pub(crate) fn close_on_exec(&self) -> Vec<i32> {
        self.numbers().filter(|fd| self.slot(*fd).is_ok_and(|slot| slot.cloexec)).collect()
    }
}
