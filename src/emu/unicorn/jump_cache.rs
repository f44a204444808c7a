//! The jump cache: targets of indirect jumps, in front of the engine's own cache.
//!
//! The engine's cache has room for 64 targets per page. Programs with many targets in a page, such
//! as interpreters, fall through to its hash table of all blocks, which is several times slower.
//!
//! An entry is valid if the block has not been dropped (its `cflags` are unchanged), was translated
//! for the CPU's mode, and was found while the address space had the tag that it has. Blocks live
//! in one buffer, which the engine fills from start to end and then starts again; that clears the
//! cache.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::unicorn::layout::{self, Block};
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
}

impl Default for JumpCache {
    fn default() -> JumpCache {
        JumpCache {
            entries: vec![VOID; ENTRIES].into_boxed_slice(),
            tag: 0,
            salt: 0,
            first: std::ptr::null(),
            last: std::ptr::null(),
            distance: None,
        }
    }
}

impl JumpCache {
    /// Index of the only entry that may hold `pc`.
    fn slot(&self, pc: u64) -> usize {
        (pc ^ pc >> 13 ^ self.salt) as usize & (ENTRIES - 1)
    }

    /// Finds and enters from now on what is for this tag, which is not 0.
    pub(super) fn set_tag(&mut self, tag: Tag) {
        self.tag = tag;
        self.salt = tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    }

    /// Forgets all targets.
    pub(super) fn clear(&mut self) {
        self.entries.fill(VOID);
    }

    /// Learns of a block that the engine is about to translate. Returns whether all blocks before
    /// it are gone.
    ///
    /// # Safety
    /// It is a block of the engine whose `code` is set.
    pub(super) unsafe fn translating(&mut self, block: *const Block) -> bool {
        // The same block again is another attempt at it, or reuse of one that was not needed.
        let is_first = block < self.last || self.first.is_null();
        if is_first {
            self.clear();
            self.first = block;
        }
        self.last = block;
        // SAFETY: the caller's.
        let code = unsafe { (*block).code } as usize;
        match self.distance {
            None => self.distance = Some(code.wrapping_sub(block as usize)),
            // Without a fixed distance, nothing is found from now on.
            Some(distance) if distance != code.wrapping_sub(block as usize) => {
                self.distance = Some(usize::MAX);
            }
            Some(_) => {}
        }
        is_first
    }

    /// Looks up the code of the block at `pc` for a CPU mode.
    pub(super) fn find(&self, pc: u64, mode: u32) -> Option<*const c_void> {
        let entry = &self.entries[self.slot(pc)];
        if entry.pc != pc || entry.tag != self.tag {
            return None;
        }
        // SAFETY: the block is one of those since the buffer was last started, so it still exists.
        let block = unsafe { &*entry.block };
        (block.flags == mode && block.cflags == entry.cflags).then_some(block.code)
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
        let Block { pc: at, cflags, code: its, .. } = unsafe { *block };
        if at == pc && its == code && cflags & layout::CF_INVALID == 0 {
            let slot = self.slot(pc);
            self.entries[slot] = Entry { pc, block, cflags, tag: self.tag };
        }
    }
}
