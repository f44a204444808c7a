//! Snapshots of an address space. A snapshot holds the frames that were in use, and the guest gets
//! a copy of a page when it next stores to it; so a snapshot costs what is changed after it.

use rustc_hash::FxHashMap;

use crate::emu::memory::areas::Areas;
use crate::emu::memory::arena::Frame;
use crate::emu::memory::frames::Invalidation;
use crate::emu::memory::objects::Objects;
use crate::emu::memory::page_table::PageTable;
use crate::emu::memory::space::{AddressSpace, Break};
use crate::guest::Prot;

/// A snapshot of an address space. Give it back to [`AddressSpace::forget`].
pub(crate) struct SavedSpace {
    areas: Areas,
    table: PageTable,
    objects: Objects,
    brk: Break,
    kernel: u64,
}

impl SavedSpace {
    /// The frames of the snapshot, each as often as it is mapped.
    fn frames(&self) -> impl Iterator<Item = Frame> {
        self.table.entries().map(|(_, entry)| entry.frame).chain(self.objects.frames())
    }
}

impl AddressSpace {
    /// Takes a snapshot.
    pub(crate) fn save(&mut self) -> SavedSpace {
        let saved = SavedSpace {
            areas: self.areas.clone(),
            table: self.table.clone(),
            objects: self.objects.clone(),
            brk: self.brk,
            kernel: self.kernel,
        };
        for frame in saved.frames() {
            self.frames.keep(frame);
        }
        self.unshare_objects();
        // The engine must ask again before it stores, even where it was allowed to.
        self.frames.invalidate(Invalidation::AllPages);
        saved
    }

    /// Returns to the state of the snapshot.
    pub(crate) fn restore(&mut self, saved: &SavedSpace) {
        let executable = |prot: Prot| prot.allows(Prot::EXEC);
        for (page, entry) in self.table.entries().filter(|(_, entry)| executable(entry.prot)) {
            if saved.table.get(page) != Some(*entry) {
                self.frames.code_changed(entry.frame);
            }
        }
        for (page, entry) in saved.table.entries().filter(|(_, entry)| executable(entry.prot)) {
            if self.table.get(page) != Some(*entry) {
                self.frames.code_changed(entry.frame);
            }
        }
        for frame in saved.frames() {
            self.frames.retain(frame);
        }
        for frame in self.table.entries().map(|(_, entry)| entry.frame).chain(self.objects.frames()) {
            self.frames.release(frame);
        }
        self.areas = saved.areas.clone();
        self.table = saved.table.clone();
        self.objects = saved.objects.clone();
        self.brk = saved.brk;
        self.kernel = saved.kernel;
        self.out_of_memory = false;
        self.unshare_objects();
        self.frames.invalidate(Invalidation::AllPages);
    }

    /// Releases what a snapshot holds.
    pub(crate) fn forget(&mut self, saved: SavedSpace) {
        for frame in saved.frames() {
            self.frames.forget(frame);
        }
    }

    /// Copies the frames of objects that snapshots hold, since objects are stored to in place.
    fn unshare_objects(&mut self) {
        let mut copies: FxHashMap<Frame, Frame> = FxHashMap::default();
        for frame in self.objects.frames_mut() {
            if self.frames.is_kept(*frame) {
                let copy = self.frames.copy_apart(*frame);
                self.frames.release(*frame);
                copies.insert(*frame, copy);
                *frame = copy;
            }
        }
        if copies.is_empty() {
            return;
        }
        for entry in self.table.entries_mut() {
            if let Some(&copy) = copies.get(&entry.frame) {
                self.frames.code_changed(entry.frame);
                self.frames.retain(copy);
                self.frames.release(entry.frame);
                entry.frame = copy;
            }
        }
    }
}
