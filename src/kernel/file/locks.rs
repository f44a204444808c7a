//! Locks of files: flock(2), and the record locks of fcntl(2) that belong to a process or to an
//! open file description.

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::kernel::fdtable::FileNo;
use crate::kernel::vfs::node::Ino;
use crate::kernel::vfs::pipe::PipeId;

/// Most record locks at a time.
const RECORDS_MAX: usize = 1 << 16;
/// The last byte that can be locked, `OFFSET_MAX`.
pub(crate) const LAST_BYTE: u64 = i64::MAX as u64;

/// A thing that is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Locked {
    Inode(Ino),
    Pipe(PipeId),
    /// A description of anything else.
    Description(FileNo),
}

/// Holder of a record lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The descriptor table with this number, F_SETLK: a process, and who shares its descriptors.
    Table(u32),
    /// F_OFD_SETLK.
    Description(FileNo),
}

/// A record lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) holder: Holder,
    /// Description through which it was set.
    pub(crate) file: FileNo,
    /// Process that set it.
    pub(crate) pid: i32,
    pub(crate) exclusive: bool,
    /// First and last byte.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Record {
    fn conflicts(&self, other: &Record) -> bool {
        let overlap = self.start <= other.end && other.start <= self.end;
        overlap && self.holder != other.holder && (self.exclusive || other.exclusive)
    }

    /// Tells if a lock of the same kind would be one with it.
    fn joins(&self, other: &Record) -> bool {
        let touch = self.start <= other.end.saturating_add(1) && other.start <= self.end.saturating_add(1);
        self.holder == other.holder && self.exclusive == other.exclusive && touch
    }
}

/// Locks of every file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks {
    /// Locks of flock(2): the description, and whether it is exclusive.
    whole: BTreeMap<Locked, Vec<(FileNo, bool, i32)>>,
    records: BTreeMap<Locked, Vec<Record>>,
    /// Number of records in all.
    count: usize,
    /// Things whose locks have become fewer or less.
    freed: Vec<Locked>,
}

impl Locks {
    /// Takes the things whose locks have become fewer or less, for those who wait for them.
    pub(crate) fn take_freed(&mut self) -> Vec<Locked> {
        std::mem::take(&mut self.freed)
    }

    /// Sets, changes or (with `None`) gives up a lock of flock(2); EAGAIN if another description
    /// holds one that conflicts. A lock that is to change is given up first.
    /// `pid` is the process that asks.
    pub(crate) fn flock(
        &mut self,
        at: Locked,
        file: FileNo,
        exclusive: Option<bool>,
        pid: i32,
    ) -> Result<(), Errno> {
        let held = self.whole.entry(at).or_default();
        let same = held.iter().any(|(holder, kind, _)| *holder == file && Some(*kind) == exclusive);
        if !same && held.extract_if(.., |(holder, ..)| *holder == file).next().is_some() {
            self.freed.push(at);
        }
        let free = exclusive.is_none_or(|kind| held.iter().all(|(_, other, _)| !kind && !other));
        if let (false, true, Some(kind)) = (same, free, exclusive) {
            held.push((file, kind, pid));
        }
        if held.is_empty() {
            self.whole.remove(&at);
        }
        if same || free { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// The first record lock that keeps another from being set.
    pub(crate) fn conflict(&self, at: Locked, wanted: &Record) -> Option<Record> {
        self.records.get(&at)?.iter().find(|held| held.conflicts(wanted)).copied()
    }

    /// Sets a record lock, or with `unlock` gives its range up; EAGAIN, ENOLCK. Locks of one holder
    /// are split and joined.
    pub(crate) fn set(&mut self, at: Locked, wanted: Record, unlock: bool) -> Result<(), Errno> {
        if !unlock && self.conflict(at, &wanted).is_some() {
            return Err(Errno::EAGAIN);
        }
        if self.count + 2 > RECORDS_MAX && !unlock {
            return Err(Errno::ENOLCK);
        }
        let held = self.records.entry(at).or_default();
        let before = held.len();
        // Locks of one holder stand together, where its first one was.
        let place = held.iter().position(|record| record.holder == wanted.holder).unwrap_or(held.len());
        let mut mine: Vec<Record> = held.extract_if(.., |record| record.holder == wanted.holder).collect();
        let mut new = wanted;
        if !mine.is_empty() {
            self.freed.push(at);
        }
        if !unlock {
            // What touches the new lock on either side becomes part of it.
            let joined: Vec<Record> = mine.extract_if(.., |record| record.joins(&wanted)).collect();
            new.file = joined.first().map_or(new.file, |first| first.file);
            for record in joined {
                (new.start, new.end) = (new.start.min(record.start), new.end.max(record.end));
            }
        }
        let mut kept = Vec::new();
        for record in mine {
            if record.end < new.start || new.end < record.start {
                kept.push(record);
                continue;
            }
            if record.start < new.start {
                kept.push(Record { end: new.start - 1, ..record });
            }
            if new.end < record.end {
                kept.push(Record { start: new.end + 1, ..record });
            }
        }
        if !unlock {
            kept.push(new);
        }
        kept.sort_by_key(|record| record.start);
        held.splice(place..place, kept);
        self.count = self.count - before + held.len();
        if held.is_empty() {
            self.records.remove(&at);
        }
        Ok(())
    }

    /// The locks of flock(2): what is locked, by which description, and whether exclusively.
    pub(crate) fn whole(&self) -> impl Iterator<Item = (Locked, (FileNo, bool, i32))> {
        self.whole.iter().flat_map(|(at, held)| held.iter().map(|lock| (*at, *lock)))
    }

    /// The record locks.
    pub(crate) fn records(&self) -> impl Iterator<Item = (Locked, &Record)> {
        self.records.iter().flat_map(|(at, held)| held.iter().map(|record| (*at, record)))
    }

    /// Gives up the record locks that a descriptor table has on a file, as it does when any
    /// descriptor of it is closed.
    pub(crate) fn closed(&mut self, at: Locked, table: u32) {
        self.drop_records(at, |holder| holder == Holder::Table(table));
    }

    /// Gives up the locks of a description.
    pub(crate) fn forget(&mut self, at: Locked, file: FileNo) {
        self.drop_records(at, |holder| holder == Holder::Description(file));
        if let Some(held) = self.whole.get_mut(&at) {
            let before = held.len();
            held.retain(|(holder, ..)| *holder != file);
            if held.len() < before {
                self.freed.push(at);
            }
            if held.is_empty() {
                self.whole.remove(&at);
            }
        }
    }

    fn drop_records(&mut self, at: Locked, gone: impl Fn(Holder) -> bool) {
        if let Some(held) = self.records.get_mut(&at) {
            let before = held.len();
            held.retain(|record| !gone(record.holder));
            self.count -= before - held.len();
            if held.len() < before {
                self.freed.push(at);
            }
            if held.is_empty() {
                self.records.remove(&at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fdtable::FdTable;

    const AT: Locked = Locked::Inode(Ino(1));

    fn record(start: u64, end: u64, exclusive: bool) -> Record {
        let file = FdTable::new().get(0).expect("a stream");
        Record { holder: Holder::Table(1), file, pid: 1000, exclusive, start, end }
    }

    fn ranges(locks: &Locks) -> Vec<(u64, u64, bool)> {
        let held = locks.records.get(&AT).into_iter().flatten();
        held.map(|record| (record.start, record.end, record.exclusive)).collect()
    }

    #[test]
    fn ranges_are_split_and_joined() {
        let mut locks = Locks::default();
        assert_eq!(locks.set(AT, record(10, 19, true), false), Ok(()));
        assert_eq!(locks.set(AT, record(20, 29, true), false), Ok(()));
        assert_eq!(ranges(&locks), [(10, 29, true)]);
        assert_eq!(locks.set(AT, record(15, 16, false), false), Ok(()));
        assert_eq!(ranges(&locks), [(10, 14, true), (15, 16, false), (17, 29, true)]);
        assert_eq!(locks.set(AT, record(12, LAST_BYTE, false), true), Ok(()));
        assert_eq!(ranges(&locks), [(10, 11, true)]);
        assert_eq!(locks.set(AT, record(0, LAST_BYTE, false), false), Ok(()));
        assert_eq!(ranges(&locks), [(0, LAST_BYTE, false)]);
        locks.closed(AT, 1);
        assert!(locks.records.is_empty() && locks.count == 0);
    }

    #[test]
    fn others_conflict_unless_both_only_read() {
        let fds = FdTable::new();
        let (a, b) = (fds.get(0).unwrap(), fds.get(1).unwrap());
        let mut locks = Locks::default();
        assert_eq!(locks.flock(AT, a, Some(false), 1), Ok(()));
        assert_eq!(locks.flock(AT, b, Some(false), 1), Ok(()));
        assert_eq!(locks.flock(AT, a, Some(true), 1), Err(Errno::EAGAIN));
        assert_eq!(locks.flock(AT, b, Some(true), 1), Ok(()), "the lock that was to change is gone");
        locks.forget(AT, b);
        assert!(locks.whole.is_empty());
        let of = |file, exclusive| Record { holder: Holder::Description(file), ..record(0, 9, exclusive) };
        assert_eq!(locks.set(AT, of(a, false), false), Ok(()));
        assert_eq!(locks.set(AT, of(b, true), false), Err(Errno::EAGAIN));
        assert_eq!(locks.set(AT, record(9, 9, true), false), Err(Errno::EAGAIN));
        assert_eq!(locks.set(AT, record(9, 9, false), false), Ok(()));
    }
}
