//! The page table of an address space: the frame and the permissions of each page.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::emu::memory::arena::Frame;
use crate::emu::memory::ranges::Ranges;
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
    /// Pages that are never made present.
    pub(super) guards: Ranges,
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

    /// Removes the entries of a range and calls `each` with every page and what it had, by rising
    /// address.
    pub(super) fn take_range(&mut self, start: u64, end: u64, mut each: impl FnMut(u64, PageEntry)) {
        let (first, last) = (start / PAGE_SIZE, end / PAGE_SIZE);
        for number in self.leaves_of(first, last) {
            let Some(leaf) = self.leaves.get_mut(&number) else { continue };
            let slots = slots_of(number, first, last);
            for (page, entry) in (number * LEAF as u64 + slots.start as u64..).zip(&mut leaf.entries[slots]) {
                if let Some(entry) = entry.take() {
                    leaf.used -= 1;
                    self.len -= 1;
                    each(page * PAGE_SIZE, entry);
                }
            }
            if leaf.used == 0 {
                self.leaves.remove(&number);
            }
        }
    }

    /// Calls `each` with every page of a range and its entry, by rising address.
    pub(super) fn change_range(&mut self, start: u64, end: u64, mut each: impl FnMut(u64, &mut PageEntry)) {
        let (first, last) = (start / PAGE_SIZE, end / PAGE_SIZE);
        for number in self.leaves_of(first, last) {
            let Some(leaf) = self.leaves.get_mut(&number) else { continue };
            let slots = slots_of(number, first, last);
            for (page, entry) in (number * LEAF as u64 + slots.start as u64..).zip(&mut leaf.entries[slots]) {
                if let Some(entry) = entry {
                    each(page * PAGE_SIZE, entry);
                }
            }
        }
    }

    /// Number of pages that are present, and the most that were.
    pub(super) fn present(&self) -> (u64, u64) {
        (self.len, self.peak)
    }

    /// Forgets how many were present before.
    pub(super) fn reset_peak(&mut self) {
        self.peak = self.len;
    }

    /// Bytes that the leaves and the guards take.
    pub(super) fn bytes(&self) -> u64 {
        (self.leaves.len() * size_of::<[Option<PageEntry>; LEAF]>()) as u64 + self.guards.bytes()
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

    /// Addresses of the pages with an entry in a range, by rising address.
    pub(super) fn pages(&self, start: u64, end: u64) -> Vec<u64> {
        let (first, last) = (start / PAGE_SIZE, end / PAGE_SIZE);
        let mut pages = Vec::new();
        for number in self.leaves_of(first, last) {
            let slots = slots_of(number, first, last);
            let entries = &self.leaves[&number].entries[slots.clone()];
            let present = slots.zip(entries).filter(|(_, entry)| entry.is_some());
            pages.extend(present.map(|(slot, _)| (number * LEAF as u64 + slot as u64) * PAGE_SIZE));
        }
        pages
    }

    /// Numbers of the leaves with pages of a range, by rising number. Takes one step per leaf of
    /// the range or of the table, whichever has fewer.
    fn leaves_of(&self, first: u64, last: u64) -> Vec<u64> {
        if first >= last {
            return Vec::new();
        }
        let (first, last) = (split(first).0, split(last - 1).0);
        let mut leaves: Vec<u64> = if last - first > self.leaves.len() as u64 {
            self.leaves.keys().copied().filter(|leaf| (first..=last).contains(leaf)).collect()
        } else {
            (first..=last).filter(|leaf| self.leaves.contains_key(leaf)).collect()
        };
        leaves.sort_unstable();
        leaves
    }
}

/// The part of a leaf that the pages from `first` up to `last` take.
fn slots_of(leaf: u64, first: u64, last: u64) -> Range<usize> {
    let (begin, pages) = (leaf * LEAF as u64, LEAF as u64);
    let within = |page: u64| page.saturating_sub(begin).min(pages) as usize;
    within(first)..within(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: PageEntry = PageEntry { frame: Frame::new(7), prot: Prot::RW, shared: false, fresh: false };

    /// Pages at the ends of leaves, and in leaves far from each other.
    const PAGES: [u64; 7] = [0, 511, 512, 513, 1023, 1024, 1 << 30];

    fn table() -> PageTable {
        let mut table = PageTable::default();
        PAGES.iter().for_each(|page| table.set(page * PAGE_SIZE, ENTRY));
        table
    }

    #[test]
    fn ranges_are_taken_changed_and_listed_alike() {
        let ends = [0, 1, 511, 512, 514, 1023, 1024, 1025, 1 << 20, 1 << 30, (1 << 30) + 1];
        for (first, last) in ends.iter().flat_map(|first| ends.iter().map(move |last| (*first, *last))) {
            let inside = |page: &u64| (first..last).contains(page);
            let expected: Vec<u64> = PAGES.into_iter().filter(inside).map(|page| page * PAGE_SIZE).collect();
            let mut table = table();
            let (start, end) = (first * PAGE_SIZE, last * PAGE_SIZE);
            assert_eq!(table.pages(start, end), expected);
            let mut changed = Vec::new();
            table.change_range(start, end, |page, entry| {
                entry.shared = true;
                changed.push(page);
            });
            assert_eq!(changed, expected);
            let mut taken = Vec::new();
            table.take_range(start, end, |page, entry| {
                assert!(entry.shared);
                taken.push(page);
            });
            assert_eq!(taken, expected);
            let left: Vec<u64> = PAGES.into_iter().filter(|page| !inside(page)).collect();
            assert_eq!(table.present(), (left.len() as u64, PAGES.len() as u64));
            assert!(left.iter().all(|page| table.get(page * PAGE_SIZE) == Some(ENTRY)));
            assert!(expected.iter().all(|page| table.get(*page).is_none()));
            let leaves: std::collections::BTreeSet<u64> = left.iter().map(|page| split(*page).0).collect();
            assert_eq!(table.leaves.len(), leaves.len(), "empty ones are gone");
        }
    }
}
