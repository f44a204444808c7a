//! Ways: chained jumps from a block to one in another page.
//!
//! The engine chains only within a page, whose frame is that of both blocks; it looks other direct
//! jumps up. We chain them too, but which frame the other page has depends on the address space. So
//! a chained jump to another page is taken only while the tag of the address space is the one that
//! it was made or confirmed for; else the block is looked up, and the jump is confirmed for the tag
//! if it leads to the block that was found.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::unicorn::layout::{self, Block};
use crate::emu::unicorn::tlbs::Tag;

/// A chained jump of a block to another page.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// The tag that it is for; generated code compares this word.
    pub(super) tag: Tag,
    block: *const Block,
    index: usize,
}

const NOWHERE: Way = Way { tag: 0, block: std::ptr::null(), index: 0 };

/// Ways in a piece of memory.
const PIECE: usize = 1024;

/// The ways of all blocks. Generated code has their addresses, so that they do not move.
pub(super) struct Ways {
    pieces: Vec<Box<[Way; PIECE]>>,
    /// Number of ways that are in use.
    used: usize,
    /// Generated code stores a way here that was not taken, before it looks the block up; otherwise
    /// null.
    refused: *mut Way,
}

impl Default for Ways {
    fn default() -> Ways {
        Ways { pieces: Vec::new(), used: 0, refused: std::ptr::null_mut() }
    }
}

impl Ways {
    /// Makes a way for a chained exit of a block that is being translated.
    pub(super) fn add(&mut self, block: *mut c_void, index: u32, tag: Tag) -> *const Way {
        if self.used == self.pieces.len() * PIECE {
            self.pieces.push(Box::new([NOWHERE; PIECE]));
        }
        let way = &mut self.pieces[self.used / PIECE][self.used % PIECE];
        *way = Way { tag, block: block.cast(), index: index as usize };
        self.used += 1;
        way
    }

    /// Forgets all ways, since all blocks are gone.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.refused = std::ptr::null_mut();
    }

    /// The word to which generated code stores a way that was not taken.
    pub(super) fn refused_word(&self) -> *const *mut Way {
        &raw const self.refused
    }

    /// Confirms the way that was not taken, if there is one, for a tag in whose address space the
    /// block that it should lead to was looked up.
    pub(super) fn confirm(&mut self, code: *const c_void, tag: Tag) {
        let way = std::mem::replace(&mut self.refused, std::ptr::null_mut());
        // SAFETY: generated code, which stored it, has it from `add`; the pieces live as long as
        // `self`, and nothing else refers into them.
        let Some(way) = (unsafe { way.as_mut() }) else { return };
        // SAFETY: the block is the one that has just run, and the index is that of an exit of it.
        let leads_to = unsafe { layout::chained(way.block, way.index) };
        if leads_to.is_none_or(|chained| std::ptr::eq(chained, code)) {
            way.tag = tag;
        }
    }
}
