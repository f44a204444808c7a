//! Mappings whose missing pages are for a userfaultfd(2) to give.

use crate::emu::memory::areas::Area;
use crate::emu::memory::arena::PAGE;
use crate::emu::memory::page_table::PageEntry;
use crate::emu::memory::placement::checked_range;
use crate::emu::memory::space::{AddressSpace, effective};
use crate::guest::{Backing, MemError, PAGE_SIZE, Prot, UserfaultId, page_down, page_up};

impl AddressSpace {
    /// Has a userfaultfd told of missing pages in the mappings of a range, or none any more.
    ///
    /// # Errors
    /// `NoMemory` where that would make too many mappings.
    pub(super) fn register_range(
        &mut self,
        addr: u64,
        len: u64,
        userfault: Option<UserfaultId>,
    ) -> Result<(), MemError> {
        let (start, end) = checked_range(addr, len)?;
        let cut = self.areas.update(start, end, |area| area.userfault = userfault);
        if cut { Ok(()) } else { Err(MemError::NoMemory) }
    }

    /// The userfaultfd that is to be told of such an access, as the page is missing.
    pub(super) fn missing_at(&self, addr: u64, access: Prot) -> Option<UserfaultId> {
        let page = page_down(addr);
        let (start, area) = self.areas.find(page)?;
        let id = area.userfault.filter(|_| effective(area.prot).allows(access))?;
        (!self.has_entry(page) && self.lacks(area, page - start)).then_some(id)
    }

    /// Gives a missing page its bytes.
    ///
    /// # Errors
    /// `Exists` if it is not missing, `Fault` past the end of the object, `NoMemory` at the limit.
    pub(super) fn fill_page(&mut self, addr: u64, bytes: &[u8; PAGE]) -> Result<(), MemError> {
        self.account();
        let page = page_down(addr);
        let (start, area) = self.areas.find(page).ok_or(MemError::Fault)?;
        let distance = page - start;
        if let Some((object, offset)) = area.backing.object()
            && offset + distance >= page_up(self.objects.len(object)).unwrap_or(u64::MAX)
        {
            return Err(MemError::Fault);
        }
        if self.has_entry(page) || !self.lacks(area, distance) {
            return Err(MemError::Exists);
        }
        let prot = effective(area.prot);
        let (frame, shared) = match area.backing {
            Backing::Shared { object, offset } => {
                let number = (offset + distance) / PAGE_SIZE;
                let frame = self.objects.page(object, number, &mut self.frames);
                let frame = frame.map_err(|why| match why {
                    MemError::Full => MemError::NoMemory, // ENOMEM, as shmem_mfill_atomic_pte() says
                    why => {
                        self.out_of_memory = true;
                        why
                    }
                });
                let frame = frame?.ok_or(MemError::Fault)?;
                self.frames.retain(frame);
                (frame, true)
            }
            _ => {
                let frame = self.frames.allocate().map_err(|_| MemError::NoMemory);
                (frame.inspect_err(|_| self.out_of_memory = true)?, false)
            }
        };
        self.frames.arena_mut().write(frame, 0, bytes);
        self.table.set(page, PageEntry { frame, prot, shared, fresh: false });
        Ok(())
    }

    /// Tests whether a page is present, or is never to be.
    fn has_entry(&self, page: u64) -> bool {
        self.table.get(page).is_some() || self.table.guards.has(page)
    }

    /// Tests whether a page of an area that is not present has no bytes in an object either.
    pub(super) fn lacks(&self, area: &Area, distance: u64) -> bool {
        match area.backing {
            Backing::Anonymous => true,
            Backing::File { .. } => false,
            Backing::Shared { object, offset } | Backing::Private { object, offset } => {
                let at = offset + distance;
                at < page_up(self.objects.len(object)).unwrap_or(u64::MAX)
                    && self.objects.touched(object, at / PAGE_SIZE).is_none()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emu::memory::arena::Arena;
    use crate::emu::memory::frames::Frames;
    use crate::guest::layout::Layout;
    use crate::guest::{GuestMemory as _, MapRequest, Place, SpaceId, VmFlags};

    const ID: UserfaultId = UserfaultId(1);

    fn mapped(backing: Backing) -> (AddressSpace, u64) {
        let frames = Frames::new(Arena::reserve(0).expect("an arena"), 100);
        let mut memory = AddressSpace::new(frames, Layout::LINUX, true);
        let backing = match backing {
            Backing::Shared { .. } => {
                Backing::Shared { object: memory.object_create(PAGE_SIZE, None), offset: 0 }
            }
            other => other,
        };
        let (prot, place, flags) = (Prot::RW, Place::Hint, VmFlags::NONE);
        let (addr, len, may_write, file, label) = (0, 2 * PAGE_SIZE, true, None, None);
        let start = memory
            .map(MapRequest { addr, len, prot, may_write, place, backing, file, label, flags })
            .expect("room");
        memory.register(start, 2 * PAGE_SIZE, Some(ID)).expect("mapped");
        (memory, start)
    }

    #[test]
    fn missing_pages_are_told_until_they_are_given() {
        let (mut memory, at) = mapped(Backing::Anonymous);
        assert_eq!(memory.write(at + 5, b"x"), Err(0));
        assert_eq!((memory.take_missed(), memory.take_missed()), (Some(ID), None));
        assert_eq!((memory.missing(at, Prot::READ), memory.missing(at, Prot::EXEC)), (Some(ID), None));
        assert_eq!(
            (memory.fill(at, &[7; PAGE]), memory.fill(at, &[8; PAGE])),
            (Ok(()), Err(MemError::Exists))
        );
        let mut byte = [0];
        assert_eq!(
            (memory.read(at + 9, &mut byte), byte, memory.missing(at, Prot::READ)),
            (Ok(()), [7], None)
        );
        memory.discard(at, PAGE_SIZE).expect("mapped");
        assert_eq!(memory.missing(at, Prot::WRITE), Some(ID));
        memory.guard(at, PAGE_SIZE, true).expect("mapped");
        assert_eq!((memory.read(at, &mut byte), memory.take_missed()), (Err(0), None));
    }

    #[test]
    fn a_child_and_what_is_moved_are_not_watched() {
        let (mut memory, at) = mapped(Backing::Anonymous);
        memory.fork(SpaceId(7)).expect("room");
        memory.in_space(SpaceId(7), &mut |child| assert_eq!(child.read(at, &mut [0]), Ok(())));
        assert_eq!(memory.missing(at, Prot::READ), Some(ID));
        let (old_len, new_len) = (2 * PAGE_SIZE, 4 * PAGE_SIZE);
        let (may_move, fixed, keep) = (true, Some(at + (1 << 20)), false);
        let moved = memory
            .remap(crate::guest::Remap { addr: at, old_len, new_len, may_move, fixed, keep })
            .expect("room");
        assert_eq!(memory.missing(moved, Prot::READ), None);
    }

    #[test]
    fn a_page_that_another_view_has_is_not_missing() {
        let (mut memory, at) = mapped(Backing::Shared { object: crate::guest::ObjectId(0), offset: 0 });
        assert_eq!(memory.missing(at, Prot::READ), Some(ID));
        assert_eq!(memory.fill(at + PAGE_SIZE, &[1; PAGE]), Err(MemError::Fault), "past the end");
        memory.object_write(crate::guest::ObjectId(0), 3, b"x").expect("room");
        assert_eq!(
            (memory.missing(at, Prot::READ), memory.fill(at, &[1; PAGE])),
            (None, Err(MemError::Exists))
        );
    }
}
