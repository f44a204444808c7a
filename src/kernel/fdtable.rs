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

/// Descriptors in use, a bit for each, and above them a bit for each word that is full, as Linux
/// has them: the lowest free number of a million is found in a few hundred steps.
#[derive(Clone, Debug, Default)]
struct InUse {
    words: Vec<u64>,
    full: Vec<u64>,
}

impl InUse {
    fn set(&mut self, at: usize, used: bool) {
        let word = at / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
            self.full.resize(word / 64 + 1, 0);
        }
        let put = |bits: &mut u64, at: usize, one: bool| {
            *bits = *bits & !(1 << (at % 64)) | u64::from(one) << (at % 64);
        };
        put(&mut self.words[word], at, used);
        put(&mut self.full[word / 64], word, self.words[word] == u64::MAX);
    }

    /// The lowest clear bit from `from` on.
    fn lowest_clear(bits: &[u64], from: usize) -> usize {
        let mut behind = u64::MAX << (from % 64);
        for (at, word) in bits.iter().enumerate().skip(from / 64) {
            if !word & behind != 0 {
                return at * 64 + (!word & behind).trailing_zeros() as usize;
            }
            behind = u64::MAX;
        }
        from.max(bits.len() * 64)
    }

    /// The lowest number from `from` on that is not in use.
    fn lowest_free(&self, from: usize) -> usize {
        let word = from / 64;
        let near =
            self.words.get(word).map_or(from, |bits| word * 64 + InUse::lowest_clear(&[*bits], from % 64));
        if near / 64 == word {
            return near;
        }
        let word = InUse::lowest_clear(&self.full, word + 1);
        word * 64 + self.words.get(word).map_or(0, |bits| bits.trailing_ones() as usize)
    }
}

/// A descriptor table. Each descriptor holds a reference to its description.
#[derive(Clone, Debug)]
pub struct FdTable {
    slots: Vec<Option<Slot>>,
    in_use: InUse,
    /// Number of the table, by which it owns locks.
    owner: u32,
    /// Descriptors that the table has room for, as Linux counts it: it grows and never shrinks.
    size: usize,
    /// A description that `LENT` names while an operation of io_uring(7) goes on.
    lent: Option<FileNo>,
}

/// The number of a registered file of io_uring(7), for the operation that is about it.
pub(crate) const LENT: i32 = i32::MIN;

/// Room of a table that never held a descriptor above it, `NR_OPEN_DEFAULT` of Linux.
const NR_OPEN_DEFAULT: usize = 64;

impl FdTable {
    /// Descriptors 0, 1 and 2, which are the host's standard streams.
    pub(super) fn new() -> FdTable {
        let stream = |at| Some(Slot { file: FileNo(at), cloexec: false });
        let mut table = FdTable::empty();
        for at in 0..3 {
            table.set(at as usize, stream(at));
        }
        table
    }

    /// A table without descriptors.
    pub(super) fn empty() -> FdTable {
        FdTable { slots: Vec::new(), in_use: InUse::default(), owner: 0, size: NR_OPEN_DEFAULT, lent: None }
    }

    /// The same descriptors in another table.
    pub(super) fn copy(&self, owner: u32) -> FdTable {
        FdTable { owner, ..self.clone() }
    }

    /// Number of the table, by which it owns locks.
    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    /// A descriptor; EBADF.
    pub(crate) fn slot(&self, fd: i32) -> Result<Slot, Errno> {
        if let (LENT, Some(file)) = (fd, self.lent) {
            return Ok(Slot { file, cloexec: false });
        }
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get(at).copied());
        slot.flatten().ok_or(Errno::EBADF)
    }

    /// Has `LENT` name a description, or nothing.
    pub(crate) fn lend(&mut self, file: Option<FileNo>) {
        self.lent = file;
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
        self.numbers_in(0, u32::MAX)
    }

    /// The open descriptors from `first` to `last`, rising.
    pub(crate) fn numbers_in(&self, first: u32, last: u32) -> impl Iterator<Item = i32> {
        let end = self.slots.len().min((last as usize).saturating_add(1));
        let slots = self.slots.get(first as usize..end).unwrap_or_default().iter();
        let open = slots.enumerate().filter(|(_, slot)| slot.is_some());
        open.map(move |(at, _)| first as i32 + at as i32)
    }

    /// Bytes that the table takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<Option<Slot>>()) as u64
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
        let at = self.in_use.lowest_free(min);
        if at as u64 >= limit {
            return Err(Errno::EMFILE);
        }
        self.set(at, Some(Slot { file, cloexec }));
        Ok(at as i32)
    }

    /// Checks that a new descriptor would be below `limit`; EMFILE.
    pub(crate) fn has_room(&self, limit: u64) -> Result<(), Errno> {
        if (self.in_use.lowest_free(0) as u64) < limit { Ok(()) } else { Err(Errno::EMFILE) }
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
        self.in_use.set(at, slot.is_some());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// dup(2): the lowest-numbered descriptor that is unused; F_DUPFD: from the argument on.
    #[test]
    fn a_new_descriptor_has_the_lowest_free_number() {
        let mut fds = FdTable::new();
        for wanted in 3..10_000 {
            assert_eq!(fds.install(FileNo(0), false, 0, 20_000), Ok(wanted));
        }
        assert_eq!(fds.remove(9_000), Ok(FileNo(0)));
        assert_eq!((fds.has_room(9_000), fds.has_room(9_001)), (Err(Errno::EMFILE), Ok(())));
        assert_eq!(fds.install(FileNo(0), false, 9_001, 20_000), Ok(10_000));
        for (free, from) in [(5, 0), (63, 6), (64, 64), (200, 199), (4_095, 201), (4_160, 4_096)] {
            assert_eq!(fds.remove(free), Ok(FileNo(0)));
            assert_eq!(fds.install(FileNo(0), false, from, 20_000), Ok(free), "from {from}");
        }
        assert_eq!(fds.install(FileNo(0), false, 15_000, 20_000), Ok(15_000));
        assert_eq!(fds.install(FileNo(0), false, 0, 9_000), Err(Errno::EMFILE));
        assert_eq!(fds.numbers_in(14_000, 16_000).collect::<Vec<_>>(), [15_000]);
        assert_eq!(fds.numbers_in(16_000, u32::MAX).count(), 0);
    }
}
