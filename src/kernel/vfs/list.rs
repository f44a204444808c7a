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

/// Names looked at in one step.
const PIECE: usize = 1024;

/// The entries of a directory as they were when getdents64(2) began.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    entries: Vec<DirEntry>,
    /// Names of the host that are still to be put in order, and those of the overlay behind them.
    found: Option<Vec<Vec<u8>>>,
    /// Names that are still to be looked up.
    names: BTreeSet<Arc<[u8]>>,
    bytes: u64,
}

impl Listing {
    /// Tests whether all names were looked up.
    pub(crate) fn is_whole(&self) -> bool {
        self.found.is_none() && self.names.is_empty()
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
    /// Begins a listing that has no entries: what the host has in the directory is known.
    fn begin(&mut self, caller: &Caller, dir: Ino) -> Result<Listing, Errno> {
        let names = self.proc_names(caller, dir)?;
        let node = self.node(dir);
        if node.dir().is_none() {
            return Err(Errno::ENOTDIR);
        }
        let found = node.host_path().map(|path| self.host_names(&path)).transpose()?;
        Ok(Listing { entries: Vec::new(), found: Some(found.unwrap_or_default()), names, bytes: 0 })
    }

    /// Puts the next names that were found in order. With the last one come those of the overlay,
    /// but not what is gone there or not to be shown.
    fn sort_on(&self, dir: Ino, listing: &mut Listing) {
        let Listing { found, names, .. } = listing;
        let node = self.node(dir);
        if let (Some(found), Some(path)) = (&mut *found, node.host_path()) {
            let piece = found.split_off(found.len().saturating_sub(PIECE));
            names.extend(self.shown_names(&path, piece).map(Arc::<[u8]>::from));
            if !found.is_empty() {
                return;
            }
        }
        *found = None;
        let held = node.dir().filter(|held| !matches!(held.kind, DirKind::Fd | DirKind::FdInfo));
        for (name, entry) in held.iter().flat_map(|held| held.entries.iter()) {
            if entry.is_some() {
                names.insert(name.clone());
            } else {
                names.remove(name);
            }
        }
    }

    /// Begins a listing, of which no name but `.` and `..` was looked up. A removed directory is
    /// empty.
    pub(crate) fn list(&mut self, caller: &Caller, dir: Ino) -> Result<Listing, Errno> {
        if !self.node(dir).unlinked() {
            let mut listing = self.begin(caller, dir)?;
            listing.entries.push(self.entry(b"."[..].into(), dir));
            listing.entries.push(self.entry(b".."[..].into(), self.parent(dir)));
            return Ok(listing);
        }
        if self.node(dir).subject.is_some() {
            return Err(Errno::ENOENT);
        }
        Ok(Listing { entries: Vec::new(), found: None, names: BTreeSet::new(), bytes: 0 })
    }

    /// Goes on with a listing by a step: puts names in order, then looks them up. With the last one
    /// the entries are put in order: `.` and `..`, then the others by falling names, but by rising
    /// ones in `/proc`, `/sys` and `/dev`.
    pub(crate) fn list_on(&mut self, caller: &Caller, dir: Ino, listing: &mut Listing) {
        if listing.found.is_some() {
            self.sort_on(dir, listing);
            if !listing.is_whole() {
                return;
            }
        }
        let Listing { entries: listed, names, bytes, .. } = listing;
        for _ in 0..PIECE {
            let Some(name) = names.pop_first() else { break };
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
        let mut listing = self.begin(caller, dir)?;
        while listing.found.is_some() {
            self.sort_on(dir, &mut listing);
        }
        if listing.names.is_empty() { Ok(()) } else { Err(Errno::ENOTEMPTY) }
    }
}
