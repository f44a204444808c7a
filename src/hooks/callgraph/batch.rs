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
    /// Number of further records, of calls that were summarised. Nothing is noted in them.
    summarised: usize,
    /// Executions of blocks in such calls.
    pub(in crate::hooks) executed: Vec<(BlockId, u32)>,
    /// Records that something is noted in, or that may be executed in several ways: their number,
    /// from 1 on, and the number of words from their header to the end of the buffer; with room for
    /// as many as there can be.
    noted: Box<[Noted]>,
    /// Number of those.
    notes: usize,
    /// Events: the number of the record after each, from 1 on, and an arc with [`PUSH`] or
    /// [`POP`], a block with [`SKIP`], or the place among the others. Two numbers, as an
    /// enumeration would be written in pieces and read whole, which the host's CPU has to wait for.
    pub(super) events: Vec<[u32; 2]>,
    pub(super) others: Vec<Event>,
}

/// Number of a record, and of the words from its header to the end of the buffer.
pub(in crate::hooks) type Noted = [u32; 2];

/// Places for the notes of further records of a batch.
pub(super) struct Notes<'a> {
    noted: &'a mut [Noted],
    /// Number of all notes.
    pub(super) count: usize,
    /// Number of the first of these records.
    first: usize,
}

impl Notes<'_> {
    /// Notes one of these records, of which so many words are left, if it `is_noted`. Written in
    /// any case, without a branch.
    #[inline(always)]
    pub(super) fn note(&mut self, record: usize, left: usize, is_noted: bool) {
        if let Some(noted) = self.noted.get_mut(self.count) {
            *noted = [(self.first + record) as u32, left as u32];
        }
        self.count += usize::from(is_noted);
    }
}

/// Words that have not been simulated, at the end of a buffer. Those of the batch are first.
#[derive(Clone, Copy)]
pub(in crate::hooks) struct Unsettled<'w> {
    pub(in crate::hooks) words: &'w [u64],
    /// The number of words behind the batch.
    pub(in crate::hooks) after: usize,
}

impl<'w> Unsettled<'w> {
    /// Words of the batch.
    pub(in crate::hooks) fn batch(self) -> &'w [u64] {
        self.words.get(..self.words.len().saturating_sub(self.after)).unwrap_or_default()
    }
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
        let noted = vec![[0; 2]; MOST_RECORDS].into();
        Batch {
            blocks,
            records: 0,
            summarised: 0,
            executed: Vec::new(),
            noted,
            notes: 0,
            events: Vec::new(),
            others: Vec::new(),
        }
    }
}

impl Batch {
    /// Records that it still takes.
    pub(super) fn room(&self) -> usize {
        self.blocks.len().saturating_sub(self.followed())
    }

    /// Number of records that were followed.
    pub(super) fn followed(&self) -> usize {
        self.records + self.summarised
    }

    /// Takes so many records of a call that was summarised.
    #[inline(always)]
    pub(super) fn summarise(&mut self, records: usize) {
        self.summarised += records;
    }

    /// The blocks of its records.
    pub(in crate::hooks) fn blocks(&self) -> &[BlockId] {
        self.blocks.get(..self.records).unwrap_or_default()
    }

    /// The records that something is noted in.
    pub(in crate::hooks) fn noted(&self) -> &[Noted] {
        self.noted.get(..self.notes).unwrap_or_default()
    }

    /// Adds a record, from which on so many words are left, if there is room.
    #[inline(always)]
    pub(super) fn add(&mut self, block: BlockId, left: usize, is_noted: bool) {
        let (blocks, mut notes) = self.places();
        notes.note(0, left, is_noted);
        if let Some(place) = blocks.first_mut() {
            *place = block;
            let notes = notes.count;
            self.fill(1, notes);
        }
    }

    /// Places for further records and their notes, to be [`Self::fill`]ed.
    #[inline(always)]
    pub(super) fn places(&mut self) -> (&mut [BlockId], Notes<'_>) {
        let Batch { blocks, records, noted, notes, .. } = self;
        let first = *records + 1;
        (blocks.get_mut(*records..).unwrap_or_default(), Notes { noted, count: *notes, first })
    }

    /// Takes so many places for records, of which so many, with those before, are noted.
    #[inline(always)]
    pub(super) fn fill(&mut self, places: usize, notes: usize) {
        self.records += places;
        self.notes = notes;
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
        self.summarised = 0;
        self.executed.clear();
        self.notes = 0;
        self.events.clear();
        self.others.clear();
    }
}
