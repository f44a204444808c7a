//! The page table of an address space: the frame and the permissions of each page.

use rustc_hash::FxHashMap;

use crate::emu::memory::arena::Frame;
use crate::guest::{PAGE_SIZE, Prot};

/// Pages in a leaf; a leaf spans 2 MiB.
const LEAF: usize = 512;

/// Page table entry of a page that has a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageEntry {
    /// The frame.
    pub(super) frame: Frame,
    /// Permissions.
    pub(super) prot: Prot,
    /// Stores are seen by the other holders of the frame; otherwise it is copied on a store.
    pub(super) shared: bool,
    /// It shows bytes of a file, of which it has no copy of its own yet: nothing was stored to it.
    pub(super) fresh: bool,
}

/// Entries of neighbouring pages. One without any is freed.
#[derive(Clone, Debug)]
struct Leaf {
    entries: Box<[Option<PageEntry>; LEAF]>,
    used: u16,
}

/// Pages by number (address / page size), in leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct PageTable {
    leaves: FxHashMap<u64, Leaf>,
    /// Number of entries, and the most that there were.
    len: u64,
    peak: u64,
    /// Number of accesses that made a page present.
    pub(super) faults: u64,
}

fn split(page: u64) -> (u64, usize) {
    (page / LEAF as u64, (page % LEAF as u64) as usize)
}

impl PageTable {
    /// The entry of the page at `addr`.
    #[inline]
    pub(super) fn get(&self, addr: u64) -> Option<PageEntry> {
        let (leaf, slot) = split(addr / PAGE_SIZE);
        self.leaves.get(&leaf).and_then(|leaf| leaf.entries[slot])
    }

    /// Sets the entry of the page at `addr`.
    pub(super) fn set(&mut self, addr: u64, entry: PageEntry) {
        let (leaf, slot) = split(addr / PAGE_SIZE);
        let leaf =
            self.leaves.entry(leaf).or_insert_with(|| Leaf { entries: Box::new([None; LEAF]), used: 0 });
        let new = leaf.entries[slot].is_none();
        leaf.used += u16::from(new);
        leaf.entries[slot] = Some(entry);
        self.len += u64::from(new);
        self.peak = self.peak.max(self.len);
    }

    /// Removes the entry of the page at `addr`.
    pub(super) fn take(&mut self, addr: u64) -> Option<PageEntry> {
        let (number, slot) = split(addr / PAGE_SIZE);
        let leaf = self.leaves.get_mut(&number)?;
        let entry = leaf.entries[slot].take()?;
        leaf.used -= 1;
        self.len -= 1;
        if leaf.used == 0 {
            self.leaves.remove(&number);
        }
        Some(entry)
    }

    /// Number of pages that are present, and the most that were.
    pub(super) fn present(&self) -> (u64, u64) {
        (self.len, self.peak)
    }

    /// Forgets how many were present before.
    pub(super) fn reset_peak(&mut self) {
        self.peak = self.len;
    }

    /// Bytes that the leaves take.
    pub(super) fn bytes(&self) -> u64 {
        (self.leaves.len() * size_of::<[Option<PageEntry>; LEAF]>()) as u64
    }

    /// Every entry with the address of its page, in no particular order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, &PageEntry)> {
        self.leaves.iter().flat_map(|(number, leaf)| {
            leaf.entries.iter().enumerate().filter_map(move |(slot, entry)| {
                Some(((number * LEAF as u64 + slot as u64) * PAGE_SIZE, entry.as_ref()?))
            })
        })
    }

    /// Every entry, mutably.
    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut PageEntry> {
        self.leaves.values_mut().flat_map(|leaf| leaf.entries.iter_mut().flatten())
    }

    /// Addresses of the pages with an entry in a range, by rising address. Takes one step per leaf
    /// of the range or of the table, whichever has fewer.
    pub(super) fn pages(&self, start: u64, end: u64) -> Vec<u64> {
        let (first, last) = (start / PAGE_SIZE, end / PAGE_SIZE);
        if first >= last {
            return Vec::new();
        }
        let (first_leaf, last_leaf) = (split(first).0, split(last - 1).0);
        let mut leaves: Vec<u64> = if last_leaf - first_leaf > self.leaves.len() as u64 {
            self.leaves.keys().copied().filter(|leaf| (first_leaf..=last_leaf).contains(leaf)).collect()
        } else {
            (first_leaf..=last_leaf).filter(|leaf| self.leaves.contains_key(leaf)).collect()
        };
        leaves.sort_unstable();
        let mut pages = Vec::new();
        for leaf in leaves {
            for (slot, entry) in self.leaves[&leaf].entries.iter().enumerate() {
                let page = leaf * LEAF as u64 + slot as u64;
                if entry.is_some() && (first..last).contains(&page) {
                    pages.push(page * PAGE_SIZE);
                }
            }
        }
        pages
    }
}
