//! Placement of mappings and of the heap, mmap(2) and brk(2).

use crate::abi::mm::{MAX_MAP_COUNT, MMAP_MIN_ADDR};
use crate::emu::memory::areas::{Area, GUARD_GAP};
use crate::emu::memory::space::{AddressSpace, Break};
use crate::guest::layout::{Floating, Heap};
use crate::guest::{
    Backing, MapRequest, MemError, PAGE_SIZE, Place, Prot, USER_END, VmFlags, page_down, page_up,
};

/// Checks the range of a request and rounds its length up to whole pages: its start and end.
///
/// # Errors
/// Those of munmap(2), and `NoMemory` where the range leaves the user half.
pub(super) fn checked_range(addr: u64, len: u64) -> Result<(u64, u64), MemError> {
    if !addr.is_multiple_of(PAGE_SIZE) {
        return Err(MemError::Invalid);
    }
    let end = page_up(len).and_then(|len| addr.checked_add(len)).ok_or(MemError::Invalid)?;
    if end > USER_END {
        return Err(MemError::NoMemory);
    }
    Ok((addr, end))
}

impl AddressSpace {
    /// Places the heap of a loaded program that ends at `program_end`, as yet empty.
    ///
    /// # Errors
    /// No room for the range that the layout keeps for the heap.
    pub(crate) fn place_heap(&mut self, program_end: u64) -> Result<(), MemError> {
        let (start, reserved) = match (self.layout.heap, self.layout.floating) {
            (Heap::Reserved(len), floating) => {
                let behind = page_up(program_end).ok_or(MemError::NoMemory)?;
                let bottom = match floating {
                    Floating::Above(bottom, _) => bottom,
                    Floating::Below(_) => MMAP_MIN_ADDR,
                };
                let fits =
                    behind >= bottom && behind < USER_END - len && self.areas.is_free(behind, behind + len);
                let start = if fits { behind } else { self.find_gap(len)? };
                (start, start + len)
            }
            (Heap::BehindProgram, _) => (program_end, program_end),
        };
        self.brk = Break { start, end: start, reserved };
        Ok(())
    }

    /// Chooses the address of a new mapping.
    ///
    /// # Errors
    /// No room, or a mapping is there that the request does not replace.
    pub(super) fn place(&self, request: &MapRequest, len: u64) -> Result<u64, MemError> {
        match request.place {
            Place::Fixed | Place::FixedNoReplace => {
                let (start, end) = checked_range(request.addr, len)?;
                if request.place == Place::FixedNoReplace && !self.areas.is_free(start, end) {
                    return Err(MemError::Exists);
                }
                Ok(start)
            }
            Place::Hint => {
                let hint = page_down(request.addr);
                if hint >= MMAP_MIN_ADDR
                    && hint.checked_add(len).is_some_and(|end| end <= USER_END)
                    && self.areas.is_free(hint, hint + len)
                    && self.areas.guard_below(hint + len).is_none()
                {
                    return Ok(hint);
                }
                self.find_gap(len)
            }
        }
    }

    /// Tests whether Valgrind has joined the anonymous memory at `start` and what lies before it
    /// into one segment, where Linux has two mappings. It cannot extend the second one then.
    pub(super) fn is_joined_before(&self, start: u64) -> bool {
        let Floating::Above(..) = self.layout.floating else { return false };
        let anonymous = |area: &Area| matches!(area.backing, Backing::Anonymous);
        let (Some((_, area)), Some((_, before))) =
            (self.areas.find(start), self.areas.find(start.wrapping_sub(1)))
        else {
            return false;
        };
        anonymous(area) && anonymous(before) && area.prot == before.prot && area.label == before.label
    }

    /// Tests whether a range is unmapped and outside of what is kept for the heap.
    pub(super) fn is_open(&self, start: u64, end: u64) -> bool {
        self.areas.is_free(start, end) && (end <= self.brk.start || self.brk.reserved <= start)
    }

    /// Finds `len` bytes of free addresses where the layout looks for them.
    pub(super) fn find_gap(&self, len: u64) -> Result<u64, MemError> {
        let gap = match self.layout.floating {
            Floating::Below(top) => {
                self.highest_gap(len, top).or_else(|| self.highest_gap(len, USER_END - GUARD_GAP))
            }
            Floating::Above(bottom, taken) => {
                let taken = [taken, (self.brk.start, self.brk.reserved)];
                self.areas.gaps().lowest(len, bottom, USER_END - GUARD_GAP, &taken)
            }
        };
        gap.ok_or(MemError::NoMemory)
    }

    /// The highest free range below `top` that leaves the room below stacks alone.
    fn highest_gap(&self, len: u64, top: u64) -> Option<u64> {
        let mut top = top;
        loop {
            let start = self.areas.gaps().highest(len, MMAP_MIN_ADDR, top)?;
            match self.areas.guard_below(start + len) {
                None => return Some(start),
                Some(guard) => top = guard,
            }
        }
    }

    /// Moves the program break and returns it, which is the old one where that is not possible.
    pub(super) fn move_brk(&mut self, addr: u64) -> u64 {
        let brk = self.brk;
        if addr < brk.start || addr > USER_END {
            return brk.end;
        }
        let (Some(old), Some(new)) = (page_up(brk.end), page_up(addr)) else { return brk.end };
        if new > old {
            let room_end = new + PAGE_SIZE;
            let reserved = brk.reserved == brk.start || room_end <= brk.reserved;
            let full = self.areas.len() > MAX_MAP_COUNT;
            let free = self.areas.is_free(old, room_end) && self.areas.guard_below(room_end).is_none();
            if full || room_end > USER_END || !reserved || !free {
                return brk.end;
            }
            let area = Area {
                end: new,
                prot: Prot::RW,
                may_write: true,
                backing: Backing::Anonymous,
                file: None,
                label: Some("[heap]"),
                name: None,
                moved: 0,
                flags: VmFlags::NONE,
                userfault: None,
            };
            self.areas.insert(old, area);
        } else if new < old {
            self.remove_range(new, old);
        }
        self.brk.end = addr;
        addr
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emu::memory::arena::Arena;
    use crate::emu::memory::frames::Frames;
    use crate::guest::layout::Layout;
    use crate::guest::{GuestMemory as _, Remap};

    const PROGRAM_END: u64 = 0x40_0000;

    fn space(layout: Layout) -> AddressSpace {
        let frames = Frames::new(Arena::reserve(0).expect("an arena"), 1000);
        let mut space = AddressSpace::new(frames, layout, true);
        space.place_heap(PROGRAM_END).expect("room");
        space
    }

    fn map(space: &mut AddressSpace, hint: u64, pages: u64) -> u64 {
        let request = MapRequest {
            addr: hint,
            len: pages * PAGE_SIZE,
            prot: Prot::RW,
            may_write: true,
            place: Place::Hint,
            backing: Backing::Anonymous,
            file: None,
            label: None,
            flags: VmFlags::NONE,
        };
        space.map(request).expect("room")
    }

    fn remap(addr: u64, old_pages: u64, new_pages: u64, fixed: Option<u64>) -> Remap {
        let (old_len, new_len) = (old_pages * PAGE_SIZE, new_pages * PAGE_SIZE);
        Remap { addr, old_len, new_len, may_move: true, fixed, keep: false }
    }

    /// The addresses of testdata/whole/places.c under Valgrind 3.19, of a static program.
    #[test]
    fn valgrind_places_upwards_behind_the_heap() {
        let mut space = space(Layout::VALGRIND);
        assert_eq!(space.brk(0), 0x400_0000);
        assert_eq!(map(&mut space, 0, 3), 0x480_0000);
        assert_eq!(map(&mut space, 0, 1), 0x480_3000);
        assert_eq!(space.brk(0x47f_f000), 0x47f_f000);
        assert_eq!(space.brk(0x47f_f001), 0x47f_f000, "the last page is kept");
        assert_eq!(space.brk(0x400_0000), 0x400_0000);
        assert_eq!(map(&mut space, 0x410_0000, 1), 0x410_0000, "a hint may be in the heap's room");
        assert_eq!(space.brk(0x410_0000), 0x400_0000, "and bounds it");
        assert_eq!(space.brk(0x40f_f000), 0x40f_f000);
        assert_eq!(map(&mut space, 0, 393_216), 0x58c3_0000, "not over Valgrind itself");
    }

    #[test]
    fn a_program_beyond_the_start_has_its_heap_behind_it() {
        let mut space = space(Layout::VALGRIND);
        space.place_heap(0x600_0000).expect("room");
        assert_eq!(space.brk(0), 0x600_0000);
        assert_eq!(map(&mut space, 0, 1), 0x400_0000);
        assert_eq!(map(&mut space, 0, 0x3000), 0x680_0000);
    }

    #[test]
    fn linux_places_downwards() {
        let mut space = space(Layout::LINUX);
        assert_eq!(space.brk(0), PROGRAM_END);
        assert_eq!(map(&mut space, 0, 3), 0x7fff_f7ff_c000);
        assert_eq!(map(&mut space, 0, 1), 0x7fff_f7ff_b000);
        assert_eq!(space.brk(PROGRAM_END + (64 << 20)), PROGRAM_END + (64 << 20));
    }

    /// As realloc(3) of a large block does it: what was moved beside other memory is moved again
    /// when it grows, because Linux keeps the two apart and Valgrind does not. On Linux it grows
    /// where it is.
    #[test]
    fn moved_memory_grows_in_place_only_on_linux() {
        for (layout, stays) in [(Layout::VALGRIND, false), (Layout::LINUX, true)] {
            let mut space = space(layout);
            let hole = |space: &mut AddressSpace| {
                let first = map(space, 0x2000_0000, 8);
                let other = map(space, 0x2000_8000, 1);
                assert_eq!((first, other), (0x2000_0000, 0x2000_8000));
                first
            };
            let from = hole(&mut space);
            space.write(from, b"x").expect("mapped");
            let to = space.remap(remap(from, 8, 8, Some(0x2000_9000))).expect("room");
            assert_eq!(to, 0x2000_9000);
            let grown = space.remap(remap(to, 8, 9, None)).expect("room");
            assert_eq!(grown == to, stays);
        }
    }
}
