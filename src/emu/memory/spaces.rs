//! Several address spaces: fork, switch and drop. One is loaded, and the engine sees only that one.

use std::collections::BTreeSet;

use crate::emu::memory::areas::Areas;
use crate::emu::memory::frames::Invalidation;
use crate::emu::memory::space::{AddressSpace, Space};
use crate::guest::{MemError, ObjectId, SpaceId, VmFlags};

impl Space {
    /// Bytes that its tables take.
    pub(super) fn bytes(&self) -> u64 {
        self.table.bytes() + self.areas.bytes()
    }
}

impl AddressSpace {
    /// Copies the loaded address space. Private pages are shared until either side stores to them.
    ///
    /// # Errors
    /// `NoMemory` when the limit is reached.
    pub(crate) fn fork_space(&mut self, child: SpaceId) -> Result<(), MemError> {
        self.account();
        if self.frames.exceeded() {
            self.out_of_memory = true;
            return Err(MemError::NoMemory);
        }
        let objects: BTreeSet<ObjectId> =
            self.areas.iter().filter_map(|(_, area)| Some(area.backing.object()?.0)).collect();
        for object in objects {
            self.objects.retain(object);
        }
        for (_, entry) in self.table.entries() {
            self.frames.retain(entry.frame);
        }
        let space = Space { areas: self.areas.clone(), table: self.table.clone(), brk: self.brk };
        let (name, loaded) = self.load(child, space);
        self.inherit();
        let (_, space) = self.load(name, loaded);
        self.put_away(child, space);
        // The parent must ask again before it stores, even where it was allowed to.
        self.frames.invalidate(Invalidation::Stores(self.loaded));
        Ok(())
    }

    /// Makes of a copy what a child has of it: what madvise(2) keeps from it is gone or reads as
    /// zeros, nothing is locked or watched.
    fn inherit(&mut self) {
        for (start, end) in self.areas.ranges(|area| area.flags.has(VmFlags::DONTCOPY)) {
            self.remove_range(start, end);
        }
        for (start, end) in self.areas.ranges(|area| area.flags.has(VmFlags::WIPEONFORK)) {
            self.drop_pages(start, end);
            self.table.guards.remove(start, end);
        }
        for (start, end) in self.areas.ranges(|area| area.flags.has(VmFlags::LOCKED)) {
            self.areas.update(start, end, |area| area.flags = area.flags.without(VmFlags::LOCKS));
        }
        for (start, end) in self.areas.ranges(|area| area.userfault.is_some()) {
            self.areas.update(start, end, |area| area.userfault = None);
        }
        self.reset_peaks();
        self.table.faults = 0;
    }

    /// The address space that is loaded.
    pub(crate) fn loaded(&self) -> SpaceId {
        self.loaded
    }

    /// Loads an address space; an empty one, if it is new.
    pub(crate) fn switch_space(&mut self, to: SpaceId) {
        if to == self.loaded {
            return;
        }
        let next = self.others.remove(&to).unwrap_or_default();
        self.unloaded -= next.bytes();
        let old = self.load(to, next);
        self.put_away(old.0, old.1);
    }

    /// Lets `f` work with an address space as if it were the loaded one; one that is not there is
    /// empty.
    pub(crate) fn within<T>(&mut self, id: SpaceId, f: impl FnOnce(&mut AddressSpace) -> T) -> T {
        let loaded = self.loaded;
        self.switch_space(id);
        let result = f(self);
        self.switch_space(loaded);
        result
    }

    /// Frees an address space. If it is the loaded one, an empty one of the same name stays loaded
    /// until another is.
    pub(crate) fn free_space(&mut self, id: SpaceId) {
        if id == self.loaded {
            self.clear();
            return;
        }
        // Whoever keeps something by spaces has it of those that were found empty, too.
        self.frames.invalidate(Invalidation::Space(id));
        if let Some(space) = self.others.remove(&id) {
            self.unloaded -= space.bytes();
            let (name, loaded) = self.load(id, space);
            self.clear();
            self.load(name, loaded);
        }
    }

    /// Makes a space the loaded one, and returns the name and the parts of the one that was.
    fn load(&mut self, id: SpaceId, space: Space) -> (SpaceId, Space) {
        let Space { areas, table, brk } = space;
        let old = Space {
            areas: std::mem::replace(&mut self.areas, areas),
            table: std::mem::replace(&mut self.table, table),
            brk: std::mem::replace(&mut self.brk, brk),
        };
        (std::mem::replace(&mut self.loaded, id), old)
    }

    /// Keeps a space that is not loaded, unless nothing is in it.
    fn put_away(&mut self, id: SpaceId, space: Space) {
        if space.areas.len() > 0 {
            self.unloaded += space.bytes();
            self.others.insert(id, space);
        }
    }

    /// Calls `each` with every address space loaded in turn that `wanted` is true of.
    pub(super) fn for_each_space(
        &mut self,
        wanted: impl Fn(&Areas) -> bool,
        mut each: impl FnMut(&mut AddressSpace),
    ) {
        each(self);
        let loaded = self.loaded;
        let others = self.others.iter().filter(|(_, space)| wanted(&space.areas));
        let others: Vec<SpaceId> = others.map(|(id, _)| *id).collect();
        for id in others {
            self.switch_space(id);
            each(self);
        }
        self.switch_space(loaded);
    }

    /// The areas of all address spaces.
    pub(super) fn all_areas(&self) -> impl Iterator<Item = &Areas> {
        std::iter::once(&self.areas).chain(self.others.values().map(|space| &space.areas))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emu::memory::arena::Arena;
    use crate::emu::memory::frames::Frames;
    use crate::guest::layout::Layout;
    use crate::guest::{Backing, GuestMemory as _, MapRequest, PAGE_SIZE, Place, Prot};

    fn memory(frames: usize) -> AddressSpace {
        let frames = Frames::new(Arena::reserve(0).expect("an arena"), frames);
        AddressSpace::new(frames, Layout::LINUX, true)
    }

    fn map(memory: &mut AddressSpace, backing: Backing) -> u64 {
        let (prot, place) = (Prot::RW, Place::Hint);
        let len = 2 * PAGE_SIZE;
        let request = MapRequest {
            addr: 0,
            len,
            prot,
            may_write: true,
            place,
            backing,
            file: None,
            label: None,
            flags: VmFlags::NONE,
        };
        memory.map(request).expect("room")
    }

    fn byte(memory: &mut AddressSpace, at: u64) -> u8 {
        let mut byte = [0];
        memory.read(at, &mut byte).expect("mapped");
        byte[0]
    }

    #[test]
    fn private_pages_part_and_shared_ones_do_not() {
        let mut memory = memory(100);
        let private = map(&mut memory, Backing::Anonymous);
        let object = memory.object_create(2 * PAGE_SIZE, None);
        let shared = map(&mut memory, Backing::Shared { object, offset: 0 });
        memory.object_release(object);
        memory.write(private, b"a").expect("mapped");
        memory.write(shared, b"a").expect("mapped");
        let used = memory.frames.in_use();
        memory.fork_space(SpaceId(7)).expect("room");
        assert_eq!(memory.frames.in_use(), used, "nothing is copied");
        memory.write(private, b"b").expect("mapped");
        memory.write(shared, b"b").expect("mapped");
        memory.switch_space(SpaceId(7));
        assert_eq!((byte(&mut memory, private), byte(&mut memory, shared)), (b'a', b'b'));
        memory.write(private, b"c").expect("mapped");
        memory.switch_space(SpaceId(0));
        assert_eq!((byte(&mut memory, private), byte(&mut memory, shared)), (b'b', b'b'));
        memory.free_space(SpaceId(0));
        memory.switch_space(SpaceId(7));
        assert_eq!((byte(&mut memory, private), byte(&mut memory, shared)), (b'c', b'b'));
        memory.free_space(SpaceId(7));
        assert_eq!((memory.frames.in_use(), memory.others.len(), memory.unloaded), (0, 0, 0));
    }

    #[test]
    fn a_space_that_is_not_loaded_is_read_and_changed() {
        let mut memory = memory(100);
        let private = map(&mut memory, Backing::Anonymous);
        memory.write(private, b"a").expect("mapped");
        memory.fork_space(SpaceId(7)).expect("room");
        memory.write(private, b"b").expect("mapped");
        let mut seen = [0; 2];
        memory.in_space(SpaceId(7), &mut |other| {
            other.read(private, &mut seen[..1]).expect("mapped");
            other.write(private, b"c").expect("mapped");
            other.read(private, &mut seen[1..]).expect("mapped");
        });
        assert_eq!((&seen, byte(&mut memory, private), memory.loaded), (b"ac", b'b', SpaceId(0)));
        assert_eq!(memory.within(SpaceId(9), |other| other.read(private, &mut [0])), Err(0), "none there");
        assert_eq!((byte(&mut memory, private), memory.others.len()), (b'b', 1));
    }

    #[test]
    fn a_cut_object_is_cut_in_every_space() {
        let mut memory = memory(100);
        let object = memory.object_create(2 * PAGE_SIZE, None);
        let shared = map(&mut memory, Backing::Shared { object, offset: 0 });
        memory.write(shared + PAGE_SIZE, b"a").expect("mapped");
        memory.fork_space(SpaceId(1)).expect("room");
        memory.object_resize(object, PAGE_SIZE).expect("smaller");
        for id in [0, 1] {
            memory.switch_space(SpaceId(id));
            assert_eq!(memory.read(shared + PAGE_SIZE, &mut [0]), Err(0));
        }
    }
}
