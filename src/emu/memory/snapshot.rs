//! Snapshots of an address space. A snapshot holds the frames that were in use, and the guest gets
//! a copy of a page when it next stores to it; so a snapshot costs what is changed after it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::emu::memory::arena::Frame;
use crate::emu::memory::frames::Invalidation;
use crate::emu::memory::objects::Objects;
use crate::emu::memory::page_table::PageTable;
use crate::emu::memory::space::{AddressSpace, Space};
use crate::guest::{Prot, SpaceId};

/// A snapshot of an address space. Give it back to [`AddressSpace::forget`].
pub(crate) struct SavedSpace {
    spaces: BTreeMap<SpaceId, Space>,
    loaded: SpaceId,
    objects: Objects,
    kernel: u64,
}

impl SavedSpace {
    /// The frames of the snapshot, each as often as it is mapped.
    fn frames(&self) -> impl Iterator<Item = Frame> {
        let tables = self.spaces.values().map(|space| &space.table);
        tables.flat_map(PageTable::entries).map(|(_, entry)| entry.frame).chain(self.objects.frames())
    }
}

impl AddressSpace {
    /// Takes a snapshot.
    pub(crate) fn save(&mut self) -> SavedSpace {
        let mut spaces = self.others.clone();
        let loaded = Space { areas: self.areas.clone(), table: self.table.clone(), brk: self.brk };
        spaces.insert(self.loaded, loaded);
        let (objects, kernel) = (self.objects.clone(), self.kernel);
        let saved = SavedSpace { spaces, loaded: self.loaded, objects, kernel };
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
        let mut now = std::mem::take(&mut self.others);
        let loaded = Space {
            areas: std::mem::take(&mut self.areas),
            table: std::mem::take(&mut self.table),
            brk: self.brk,
        };
        now.insert(self.loaded, loaded);
        for (one, other) in [(&now, &saved.spaces), (&saved.spaces, &now)] {
            for (id, space) in one {
                let there = other.get(id).map(|space| &space.table);
                let code = space.table.entries().filter(|(_, entry)| entry.prot.allows(Prot::EXEC));
                for (page, entry) in code {
                    if there.and_then(|table| table.get(page)) != Some(*entry) {
                        self.frames.code_unmapped(*id, entry.frame);
                    }
                }
            }
        }
        for frame in saved.frames() {
            self.frames.retain(frame);
        }
        let tables = now.values().flat_map(|space| space.table.entries());
        for frame in tables.map(|(_, entry)| entry.frame).chain(self.objects.frames()) {
            self.frames.release(frame);
        }
        self.others = saved.spaces.clone();
        let Space { areas, table, brk } = self.others.remove(&saved.loaded).unwrap_or_default();
        (self.areas, self.table, self.brk) = (areas, table, brk);
        self.loaded = saved.loaded;
        self.unloaded = self.others.values().map(Space::bytes).sum();
        self.objects = saved.objects.clone();
        self.kernel = saved.kernel;
        self.out_of_memory = false;
        self.unshare_objects();
        self.frames.invalidate(Invalidation::AllSpaces);
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
        let AddressSpace { frames, table, others, .. } = self;
        let tables = std::iter::once(table).chain(others.values_mut().map(|space| &mut space.table));
        for entry in tables.flat_map(PageTable::entries_mut) {
            if let Some(&copy) = copies.get(&entry.frame) {
                frames.code_changed(entry.frame);
                frames.retain(copy);
                frames.release(entry.frame);
                entry.frame = copy;
            }
        }
    }
}
