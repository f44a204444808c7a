//! Directory listings: the overlay merged with the host. Linux's tmpfs lists the newest entry
//! first; so does this, as if the entries had been made in the order of their names. Inode numbers
//! rise in that order too.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::DT_UNKNOWN;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::node::{DirKind, Ino, dirent_type};
use crate::kernel::vfs::tree::FileSystem;

/// A directory entry, as getdents64(2) reports it.
#[derive(Clone, Debug)]
pub(crate) struct DirEntry {
    pub(crate) name: Arc<[u8]>,
    pub(crate) number: u64,
    pub(crate) kind: u8,
}

/// Names looked up at a time.
const PIECE: usize = 1024;

/// The entries of a directory as they were when getdents64(2) began.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    entries: Vec<DirEntry>,
    /// Names that are still to be looked up, the next one last.
    names: Vec<Arc<[u8]>>,
    bytes: u64,
}

impl Listing {
    /// Tests whether all names were looked up.
    pub(crate) fn is_whole(&self) -> bool {
        self.names.is_empty()
    }

    /// Number of entries so far.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entry at a place.
    pub(crate) fn get(&self, at: usize) -> Option<&DirEntry> {
        self.entries.get(at)
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl FileSystem {
    /// The sorted names in a directory, without `.` and `..`.
    fn names(&mut self, caller: &Caller, dir: Ino) -> Result<BTreeSet<Arc<[u8]>>, Errno> {
        let node = self.node(dir);
        let Some(held) = node.dir() else { return Err(Errno::ENOTDIR) };
        let mut names = self.proc_names(caller, dir)?;
        if let Some(path) = node.host_path() {
            let below = self.host_names(&path)?;
            names.extend(below.into_iter().map(Arc::<[u8]>::from));
        }
        let by_number = matches!(held.kind, DirKind::Fd | DirKind::FdInfo);
        for (name, entry) in held.entries.iter().filter(|_| !by_number) {
            if entry.is_some() {
                names.insert(name.clone());
            } else {
                names.remove(name);
            }
        }
        Ok(names)
    }

    /// Begins a listing, of which no name but `.` and `..` was looked up. A removed directory is
    /// empty.
    pub(crate) fn list(&mut self, caller: &Caller, dir: Ino) -> Result<Listing, Errno> {
        let (mut entries, mut names) = (Vec::new(), Vec::new());
        if self.node(dir).unlinked() {
            if self.node(dir).subject.is_some() {
                return Err(Errno::ENOENT);
            }
        } else {
            entries.push(self.entry(b"."[..].into(), dir));
            entries.push(self.entry(b".."[..].into(), self.parent(dir)));
            names = self.names(caller, dir)?.into_iter().rev().collect();
        }
        Ok(Listing { entries, names, bytes: 0 })
    }

    /// Looks up the next names of a listing. With the last one it is put in order: `.` and `..`,
    /// then the others by falling names, but by rising ones in `/proc`, `/sys` and `/dev`.
    pub(crate) fn list_on(&mut self, caller: &Caller, dir: Ino, listing: &mut Listing) {
        let Listing { entries: listed, names, bytes } = listing;
        for name in names.split_off(names.len().saturating_sub(PIECE)).into_iter().rev() {
            *bytes += (size_of::<DirEntry>() + name.len() + 32) as u64;
            match self.lookup(caller, dir, &name) {
                Ok(Some(ino)) => listed.push(self.entry(name, ino)),
                Ok(None) => {} // it vanished meanwhile
                // A directory that may be read but not searched shows names and nothing else.
                Err(_) => listed.push(DirEntry { name, number: 1, kind: DT_UNKNOWN }),
            }
        }
        let node = self.node(dir);
        if !names.is_empty() {
            return;
        }
        if node.dir().is_some_and(|held| held.kind != DirKind::Plain) {
            // Numbers come last, as numbers.
            let place = |entry: &DirEntry| match entry.name.first() {
                Some(b'0'..=b'9') => (true, entry.name.len(), entry.name.clone()),
                _ => (false, 0, entry.name.clone()),
            };
            listed[2..].sort_by_key(place);
        } else if !node.synthetic {
            listed[2..].reverse();
        }
    }

    fn entry(&mut self, name: Arc<[u8]>, ino: Ino) -> DirEntry {
        let number = self.number(ino);
        DirEntry { name, number, kind: dirent_type(self.node(ino).mode) }
    }

    /// Checks that a directory holds no name; ENOTEMPTY.
    pub(crate) fn must_be_empty(&mut self, caller: &Caller, dir: Ino) -> Result<(), Errno> {
        let held = self.node(dir).dir().filter(|held| matches!(held.kind, DirKind::Plain));
        if held.is_some_and(|held| held.entries.has_names()) {
            return Err(Errno::ENOTEMPTY);
        }
        if self.names(caller, dir)?.is_empty() { Ok(()) } else { Err(Errno::ENOTEMPTY) }
    }
}
