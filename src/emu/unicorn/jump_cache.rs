//! The jump cache: targets of indirect jumps, in front of the engine's own cache.
//!
//! The engine's cache has room for 64 targets per page. Programs with many targets in a page, such
//! as interpreters, fall through to its hash table of all blocks, which is several times slower.
//!
//! An entry is valid if the block has not been dropped (its `cflags` are unchanged), was translated
//! for the CPU's mode, and nothing was unmapped or remapped since. Blocks live in one buffer, which
//! the engine fills from start to end and then starts again; that clears the cache.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::unicorn::layout::{self, Block};

/// Entries; a power of two.
const ENTRIES: usize = 1 << 13;

#[derive(Clone, Copy)]
struct Entry {
    pc: u64,
    block: *const Block,
    cflags: u32,
    generation: u32,
}

/// A direct-mapped cache from addresses to generated code.
pub(super) struct JumpCache {
    entries: Box<[Entry]>,
    /// Generation of valid entries.
    generation: u32,
    /// The first block in the engine's buffer and the last one there.
    first: *const Block,
    last: *const Block,
    /// Bytes from a block to its code; `None` before the first block, `usize::MAX` if they vary.
    distance: Option<usize>,
}

impl Default for JumpCache {
    fn default() -> JumpCache {
        let void = Entry { pc: 0, block: std::ptr::null(), cflags: 0, generation: 0 };
        JumpCache {
            entries: vec![void; ENTRIES].into_boxed_slice(),
            generation: 1,
            first: std::ptr::null(),
            last: std::ptr::null(),
            distance: None,
        }
    }
}

/// Index of the only entry that may hold `pc`.
fn slot(pc: u64) -> usize {
    (pc ^ pc >> 13) as usize & (ENTRIES - 1)
}

impl JumpCache {
    /// Invalidates all entries.
    pub(super) fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            *self = JumpCache {
                first: self.first,
                last: self.last,
                distance: self.distance,
                ..JumpCache::default()
            };
        }
    }

    /// Learns of a block that the engine is about to translate.
    ///
    /// # Safety
    /// It is a block of the engine whose `code` is set.
    pub(super) unsafe fn translating(&mut self, block: *const Block) {
        // The same block again is another attempt at it, or reuse of one that was not needed.
        if block < self.last || self.first.is_null() {
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
    }

    /// Looks up the code of the block at `pc` for a CPU mode.
    pub(super) fn find(&self, pc: u64, mode: u32) -> Option<*const c_void> {
        let entry = &self.entries[slot(pc)];
        if entry.pc != pc || entry.generation != self.generation {
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
            self.entries[slot(pc)] = Entry { pc, block, cflags, generation: self.generation };
        }
    }
}
