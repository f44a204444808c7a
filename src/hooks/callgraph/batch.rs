//! Records that have been followed, with the changes of the stack between them, until the
//! simulators have had them too.

use crate::hooks::callgraph::costs::{ArcId, BlockId};

/// Change of a stack between two records.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A call of this arc begins.
    Push(ArcId),
    /// The call of this arc on top begins once more.
    PushAgain(ArcId),
    /// A call that was not seen has begun before anything was spent.
    PushUnseen,
    /// The call on top, or so many of them, end.
    Pop { arc: ArcId, times: u64 },
    /// A signal's handler begins.
    Interrupt,
    /// A signal's handler ends.
    Resume,
    /// Only where costs go changes, or nothing.
    None,
}

/// Places that costs go to, besides the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spending {
    /// Costs are collected.
    pub(super) collects: bool,
    /// The block whose call is skipped, which costs what is spent.
    pub(super) skipped: Option<BlockId>,
}

/// Change of a stack, or of the places that costs go to, that misses are settled by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Change(Change),
    Spending(Spending),
}

/// Records that have been followed, but not simulated.
#[derive(Clone, Debug)]
pub(in crate::hooks) struct Batch {
    /// Blocks by record, with room for as many as there can be.
    blocks: Box<[BlockId]>,
    /// Number of records.
    records: usize,
    /// Events: the number of the record after each, from 1 on, and an arc with [`PUSH`] or
    /// [`POP`], a block with [`SKIP`], or the place among the others. Two numbers, as an
    /// enumeration would be written in pieces and read whole, which the host's CPU has to wait for.
    pub(super) events: Vec<[u32; 2]>,
    pub(super) others: Vec<Event>,
}

/// Bits of an event that tell its kind.
pub(super) const KIND: u32 = 3 << 30;

/// A call begins; nothing is skipped after it.
pub(super) const PUSH: u32 = 1 << 30;

/// A call ends.
pub(super) const POP: u32 = 2 << 30;

/// The call of a block is skipped from here on.
pub(super) const SKIP: u32 = 3 << 30;

/// Most records of a batch: few enough for the host's caches.
pub(super) const MOST_RECORDS: usize = 1 << 10;

impl Default for Batch {
    fn default() -> Batch {
        let blocks = vec![0; MOST_RECORDS].into();
        Batch { blocks, records: 0, events: Vec::new(), others: Vec::new() }
    }
}

impl Batch {
    /// Records that it still takes.
    pub(super) fn room(&self) -> usize {
        self.blocks.len().saturating_sub(self.records)
    }

    /// The blocks of its records.
    pub(super) fn blocks(&self) -> &[BlockId] {
        self.blocks.get(..self.records).unwrap_or_default()
    }

    /// Adds a record, if there is room.
    #[inline(always)]
    pub(super) fn add(&mut self, block: BlockId) {
        if let Some(place) = self.blocks.get_mut(self.records) {
            *place = block;
            self.records += 1;
        }
    }

    /// Places for further records, to be [`Self::fill`]ed.
    #[inline(always)]
    pub(super) fn places(&mut self) -> &mut [BlockId] {
        self.blocks.get_mut(self.records..).unwrap_or_default()
    }

    /// Takes so many places for records.
    #[inline(always)]
    pub(super) fn fill(&mut self, places: usize) {
        self.records += places;
    }

    /// Notes an event of an arc before the next record.
    #[inline(always)]
    pub(super) fn note(&mut self, event: u32) {
        self.events.push([self.records as u32 + 1, event]);
    }

    /// Notes another event before the next record.
    #[inline(never)]
    pub(super) fn note_other(&mut self, event: Event) {
        self.note(self.others.len() as u32);
        self.others.push(event);
    }

    /// Empties it.
    pub(super) fn clear(&mut self) {
        self.records = 0;
        self.events.clear();
        self.others.clear();
    }
}
