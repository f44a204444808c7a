//! Superblocks: blocks that usually follow each other, as one block of the engine with several
//! exits. The header of a record is that of the whole; an exit inside replaces it. Of the two exits
//! that the engine chains, the end has at least one. `exits.rs` emits them.
//!
//! All code of one lies in one page that is not writable, so the engine's rules for blocks of one
//! page hold: whatever changes the page drops it.

use std::ops::Range;

use crate::guest::PAGE_SIZE;

/// Most blocks of a superblock.
const MOST_BLOCKS: usize = 8;

/// Exit of an instruction, as the engine emits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The superblock goes on there: at the label, or where the exit would be.
    Inside(Option<*mut u32>),
    /// It leads out by the table of jumps.
    Table,
    /// It leads out by the chained exit with this index.
    Chained(u32),
}

/// The usual way on after the instruction at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Address of the next block.
    pub(super) target: u64,
    /// Number of the exit that leads there, of `exits`.
    pub(super) exit: u32,
    pub(super) exits: u32,
    /// The superblock goes on there.
    pub(super) is_inside: bool,
}

/// State of the translation of a superblock.
#[derive(Default)]
pub(super) struct Superblock {
    /// The page of the code, if the block may become one.
    pub(super) page: Option<u64>,
    /// Code of the blocks before the one at hand.
    pub(super) before: Vec<Range<u64>>,
    /// Start of the block at hand.
    pub(super) start: u64,
    /// End of the code.
    pub(super) end: u64,
    pub(super) way: Option<Way>,
    /// Exits that the instruction at hand has had.
    pub(super) exits: u32,
    /// The exit that has begun.
    pub(super) begun: Option<Exit>,
    /// The label at which the superblock goes on.
    pub(super) label: Option<*mut u32>,
    /// The exit to the next block has been emitted.
    pub(super) goes_on: bool,
}

impl Superblock {
    /// Begins at `pc`. With `may_grow` it is more than one block if it can.
    pub(super) fn begin(&mut self, pc: u64, may_grow: bool) {
        let before = std::mem::take(&mut self.before);
        *self = Superblock { before, start: pc, end: pc, ..Superblock::default() };
        self.before.clear();
        self.page = may_grow.then_some(pc / PAGE_SIZE);
    }

    /// Tests whether it has more than one block.
    pub(super) fn is_joined(&self) -> bool {
        !self.before.is_empty()
    }

    /// Tests whether the code from `pc` on is already in it, or in another page than the rest.
    pub(super) fn ends_before(&self, pc: u64, len: usize) -> bool {
        let last = pc.wrapping_add(len.max(1) as u64 - 1);
        self.is_joined()
            && (Some(last / PAGE_SIZE) != self.page || self.before.iter().any(|code| code.contains(&pc)))
    }

    /// Tests whether it goes on by the exit of the instruction at hand that begins now.
    pub(super) fn stays_inside(&self) -> bool {
        self.way.is_some_and(|way| way.is_inside && self.exits == way.exit)
    }

    /// Tests whether it may go on at an address.
    pub(super) fn has_room_for(&self, target: u64) -> bool {
        let is_here = self.start..self.end;
        Some(target / PAGE_SIZE) == self.page
            && self.before.len() + 1 < MOST_BLOCKS
            && !is_here.contains(&target)
            && !self.before.iter().any(|code| code.contains(&target))
    }
}
