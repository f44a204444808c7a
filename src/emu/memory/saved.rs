//! Checkpoints of an address space. A saved one holds the frames that were in use; the guest gets a copy of a page when
//! it next stores to it, so a checkpoint costs what is changed after it.

use rustc_hash::FxHashMap;

use crate::emu::memory::Invalidation;
use crate::emu::memory::area::Areas;
use crate::emu::memory::frames::Frame;
use crate::emu::memory::object::Objects;
use crate::emu::memory::space::AddressSpace;
use crate::emu::memory::table::PageTable;
use crate::guest::Prot;

/// An address space as it was. It has to be given back to [`AddressSpace::forget`].
pub struct SavedSpace {
    areas: Areas,
    table: PageTable,
    objects: Objects,
    brk_start: u64,
    brk: u64,
    brk_reserved: u64,
}

impl SavedSpace {
    /// The frames it holds, each as often as it does.
    fn frames(&self) -> impl Iterator<Item = Frame> {
        self.table.entries().map(|(_, entry)| entry.frame).chain(self.objects.frames())
    }
}

impl AddressSpace {
    /// The address space as it is now.
    pub fn save(&mut self) -> SavedSpace {
        let saved = SavedSpace {
            areas: self.areas.clone(),
            table: self.table.clone(),
            objects: self.objects.clone(),
            brk_start: self.brk_start,
            brk: self.brk,
            brk_reserved: self.brk_reserved,
        };
        for frame in saved.frames() {
            self.frames.keep(frame);
        }
        self.leave_objects();
        // Stores must come here again, even those the engine knows to be allowed.
        self.frames.invalidations.push(Invalidation::AllPages);
        saved
    }

    /// The address space becomes what it was when `saved` was made of it.
    pub fn restore(&mut self, saved: &SavedSpace) {
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
        self.brk_start = saved.brk_start;
        self.brk = saved.brk;
        self.brk_reserved = saved.brk_reserved;
        self.take_out_of_memory();
        self.leave_objects();
        self.frames.invalidations.push(Invalidation::AllPages);
    }

    /// Gives up what `saved` holds.
    pub fn forget(&mut self, saved: SavedSpace) {
        for frame in saved.frames() {
            self.frames.forget(frame);
        }
    }

    /// Gives the objects, which are stored to in place, frames of their own.
    fn leave_objects(&mut self) {
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
