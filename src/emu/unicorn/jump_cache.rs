//! Where indirect jumps go: a table in front of the engine's.
//!
//! The engine's own table of recent targets has room for 64 of each page, and programs with many targets to a page,
//! interpreters above all, fall through to its hash table of all blocks, which is several times slower.
//!
//! An entry is good if the block has not been given up (its `cflags` are what they were), was made for the mode the
//! CPU is in, and nothing was unmapped or remapped since. Blocks live in one buffer, which the engine fills from its
//! start to its end and then starts again; when it does, all entries go.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::unicorn::door::door;
use crate::emu::unicorn::ffi;
use crate::emu::unicorn::layout::{self, Block};
use crate::emu::unicorn::wrapped::replace;

/// Entries; a power of two.
const ENTRIES: usize = 1 << 13;

#[derive(Clone, Copy)]
struct Entry {
    pc: u64,
    block: *const Block,
    cflags: u32,
    generation: u32,
}

/// The table.
pub struct JumpCache {
    entries: Box<[Entry]>,
    /// Entries of another generation are void.
    generation: u32,
    /// The first block in the engine's buffer and the last one it made.
    first: *const Block,
    last: *const Block,
    /// Bytes from a block to its code; `None` until a block was made, and if the engine places them otherwise than we
    /// know.
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

fn slot(pc: u64) -> usize {
    (pc ^ pc >> 13) as usize & (ENTRIES - 1)
}

impl JumpCache {
    /// Makes all entries void.
    pub fn forget(&mut self) {
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

    /// The engine is about to translate `block`.
    ///
    /// # Safety
    /// It is a block of the engine, with the place of its code filled in.
    pub unsafe fn made(&mut self, block: *const Block) {
        // The same one again is another attempt at it, or it was not needed after all.
        if block < self.last || self.first.is_null() {
            self.forget();
            self.first = block;
        }
        self.last = block;
        // SAFETY: the caller's.
        let code = unsafe { (*block).code } as usize;
        match self.distance {
            None => self.distance = Some(code.wrapping_sub(block as usize)),
            // A distance that varies is not one: nothing is found from now on.
            Some(distance) if distance != code.wrapping_sub(block as usize) => {
                self.distance = Some(usize::MAX);
            }
            Some(_) => {}
        }
    }

    /// The code of the block at `pc` for `mode`, if it is known.
    fn find(&self, pc: u64, mode: u32) -> Option<*const c_void> {
        let entry = &self.entries[slot(pc)];
        if entry.pc != pc || entry.generation != self.generation {
            return None;
        }
        // SAFETY: the block was made since the buffer was last started, so it is there.
        let block = unsafe { &*entry.block };
        (block.flags == mode && block.cflags == entry.cflags).then_some(block.code)
    }

    /// Notes the code that the engine has found for `pc`.
    fn note(&mut self, pc: u64, code: *const c_void) {
        let Some(distance) = self.distance.filter(|&distance| distance != usize::MAX) else { return };
        let block = (code as usize).wrapping_sub(distance);
        if block < self.first as usize || block > self.last as usize {
            return; // no block but the way out
        }
        let block = block as *const Block;
        // SAFETY: it lies among the blocks that were made, in memory of the engine's buffer.
        let Block { pc: at, cflags, code: its, .. } = unsafe { *block };
        if at == pc && its == code && cflags & layout::CF_INVALID == 0 {
            self.entries[slot(pc)] = Entry { pc, block, cflags, generation: self.generation };
        }
    }
}

replace! {
    /// Code of the block that the CPU is to go on with, or the way out if there is none yet.
    fn helper_lookup_tb_ptr(env: *mut c_void) -> *const c_void {
        // SAFETY: called from generated code, inside the run; the argument is the engine's.
        unsafe {
            let Some(door) = door() else { return ffi::__real_helper_lookup_tb_ptr_x86_64(env) };
            let (pc, mode) = (door.parts.eip(), door.parts.block_mode());
            if let Some(code) = door.jumps.find(pc, mode) {
                return code;
            }
            let code = ffi::__real_helper_lookup_tb_ptr_x86_64(env);
            door.jumps.note(pc, code);
            code
        }
    }
}
