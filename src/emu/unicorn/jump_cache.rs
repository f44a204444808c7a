//! The jump cache: targets of indirect jumps, in front of the engine's own cache.
//!
//! The engine's cache has room for 64 targets per page. Programs with many targets in a page, such
//! as interpreters, fall through to its hash table of all blocks, which is several times slower.
//!
//! An entry is valid if the block has not been dropped (its `cflags` are unchanged), was translated
//! for the CPU's mode, and was found while the address space had the tag that it has. Blocks live
//! in one buffer, which the engine fills from start to end and then starts again; that clears the
//! cache.
//!
//! In front of that, generated code looks into a table of its own, without a call. It has targets
//! for the loaded address space and the usual mode only, and is emptied when another is loaded or
//! executable pages change. A block that is dropped is taken out of it.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;
use std::rc::Rc;

use crate::emu::unicorn::layout::{Block, CF_INVALID};
use crate::emu::unicorn::tlbs::Tag;

/// Entries; a power of two.
const ENTRIES: usize = 1 << 13;

#[derive(Clone, Copy)]
struct Entry {
    pc: u64,
    block: *const Block,
    cflags: u32,
    tag: Tag,
}

/// An entry that is for no tag.
const VOID: Entry = Entry { pc: 0, block: std::ptr::null(), cflags: 0, tag: 0 };

/// Targets in the table of generated code; a power of two.
pub(super) const TARGETS: usize = 1 << 14;

/// Targets up to which each is emptied; more are emptied with all others.
const FEW: usize = 1 << 10;

/// A target as generated code finds it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) pc: u64,
    /// Generated code.
    pub(super) code: *const c_void,
}

/// Bits of the size of a target.
pub(super) const TARGET_BITS: u32 = 4;
const _: () = assert!(size_of::<Target>() == 1 << TARGET_BITS);

/// Low bits of an address that do not tell targets apart: a call is longer, and more targets are in
/// a line of the host's cache.
pub(super) const CLOSE_BITS: u32 = 2;

/// The table of generated code, by the bits of the address behind those; one more behind the last
/// is not in use.
pub(super) struct Targets {
    cells: Box<[Cell<Target>]>,
}

impl Targets {
    /// A table without targets. `look_up` is jumped to as a block is, with the target in RIP.
    fn new(look_up: *const c_void) -> Targets {
        let nowhere = Target { pc: 0, code: look_up };
        Targets { cells: vec![Cell::new(nowhere); TARGETS + 1].into_boxed_slice() }
    }

    /// A place that is not in use, whose code looks the target up.
    fn nowhere(&self) -> Target {
        self.cells[TARGETS].get()
    }

    fn place(pc: u64) -> usize {
        (pc >> CLOSE_BITS) as usize & (TARGETS - 1)
    }

    /// Learns that a block was dropped.
    pub(super) fn dropped(&self, block: &Block) {
        let cell = &self.cells[Targets::place(block.pc)];
        if cell.get().code == block.code {
            cell.set(self.nowhere());
        }
    }
}

/// A direct-mapped cache from addresses to generated code.
pub(super) struct JumpCache {
    entries: Box<[Entry]>,
    /// Tag of valid entries, and what it adds to their places: address spaces that run the same
    /// program do not take each other's.
    tag: Tag,
    salt: u64,
    /// The first block in the engine's buffer and the last one there.
    first: *const Block,
    last: *const Block,
    /// Bytes from a block to its code; `None` before the first block, `usize::MAX` if they vary.
    distance: Option<usize>,
    targets: Rc<Targets>,
    /// Places in it that are in use, in any order and perhaps twice.
    used: Vec<u16>,
    /// The mode of its blocks.
    mode: u32,
}

impl JumpCache {
    /// An empty cache. Generated code goes on at `look_up` where it does not find a target.
    pub(super) fn new(look_up: *const c_void) -> JumpCache {
        JumpCache {
            entries: vec![VOID; ENTRIES].into_boxed_slice(),
            tag: 0,
            salt: 0,
            first: std::ptr::null(),
            last: std::ptr::null(),
            distance: None,
            targets: Rc::new(Targets::new(look_up)),
            used: Vec::new(),
            mode: 0,
        }
    }

    /// The table of generated code.
    pub(super) fn targets(&self) -> &Rc<Targets> {
        &self.targets
    }

    /// Index of the only entry that may hold `pc`.
    fn slot(&self, pc: u64) -> usize {
        (pc ^ pc >> 13 ^ self.salt) as usize & (ENTRIES - 1)
    }

    /// Finds and enters from now on what is for this tag, which is not 0.
    pub(super) fn set_tag(&mut self, tag: Tag) {
        if tag != self.tag {
            self.empty_targets();
        }
        self.tag = tag;
        self.salt = tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    }

    /// Forgets all targets.
    pub(super) fn clear(&mut self) {
        self.entries.fill(VOID);
        self.used.resize(FEW + 1, 0);
        self.empty_targets();
    }

    /// Empties the table of generated code.
    fn empty_targets(&mut self) {
        let (cells, nowhere) = (&self.targets.cells, self.targets.nowhere());
        if self.used.len() > FEW {
            cells.iter().for_each(|cell| cell.set(nowhere));
        } else {
            self.used.iter().for_each(|&place| cells[usize::from(place)].set(nowhere));
        }
        self.used.clear();
    }

    /// Has generated code find a target.
    fn add_target(&mut self, pc: u64, code: *const c_void) {
        let place = Targets::place(pc);
        self.targets.cells[place].set(Target { pc, code });
        if self.used.len() <= FEW {
            self.used.push(place as u16);
        }
    }

    /// The table of generated code, for a block for this mode; `None` if that cannot use it.
    pub(super) fn table(&self, mode: u32) -> Option<*const Target> {
        (mode == self.mode).then(|| self.targets.cells.as_ptr().cast())
    }

    /// Learns of a block that the engine is about to translate. Returns whether all blocks before
    /// it are gone.
    ///
    /// # Safety
    /// It is a block of the engine whose `code` is set.
    pub(super) unsafe fn translating(&mut self, block: *const Block) -> bool {
        // The same block again is another attempt at it, or reuse of one that was not needed.
        let is_first = block < self.last || self.first.is_null();
        // SAFETY: the caller's.
        let Block { code, flags, .. } = unsafe { *block };
        let distance = (code as usize).wrapping_sub(block as usize);
        if *self.distance.get_or_insert(distance) != distance {
            // Nothing is found from now on.
            self.distance = Some(usize::MAX);
        }
        if is_first {
            self.clear();
            self.first = block;
            self.mode = flags;
        }
        self.last = block;
        is_first
    }

    /// Looks up the code of the block at `pc` for a CPU mode.
    pub(super) fn find(&mut self, pc: u64, mode: u32) -> Option<*const c_void> {
        let entry = &self.entries[self.slot(pc)];
        if entry.pc != pc || entry.tag != self.tag {
            return None;
        }
        // SAFETY: the block is one of those since the buffer was last started, so it still exists.
        let block = unsafe { &*entry.block };
        let found = (block.flags == mode && block.cflags == entry.cflags).then_some(block.code)?;
        if mode == self.mode {
            self.add_target(pc, found);
        }
        Some(found)
    }

    /// Enters the code that the engine has found for `pc`.
    pub(super) fn insert(&mut self, pc: u64, code: *const c_void) {
        let Some(distance) = self.distance.filter(|&distance| distance != usize::MAX) else { return };
        let block = (code as usize).wrapping_sub(distance);
        if block < self.first as usize || block > self.last as usize {
            return; // the way out of generated code
        }
        let block = block as *const Block;
        // SAFETY: it lies among the blocks, in the engine's buffer.
        let Block { pc: at, cflags, code: its, flags, .. } = unsafe { *block };
        if at == pc && its == code && cflags & CF_INVALID == 0 {
            let slot = self.slot(pc);
            self.entries[slot] = Entry { pc, block, cflags, tag: self.tag };
            if flags == self.mode {
                self.add_target(pc, code);
            }
        }
    }
}
