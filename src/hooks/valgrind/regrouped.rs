//! The records that the regrouping stage gives out.

use super::regroup::{NO_PLAN, Step};
use crate::hooks::plan::PlanId;
use crate::hooks::ring::Link;
use crate::hooks::trace::BUFFER_WORDS;

/// Words that are copied at once; few records have more slots.
const CHUNK: usize = 8;

/// Writes what becomes of a record, whose slots are the first of `tail`, and returns how many words that are. Almost
/// without branches of its own: what the program does next is as hard to foresee here as there.
#[inline(always)]
pub(super) fn write(room: &mut [u64], step: Step, word: u64, tail: &[u64], slots: usize) -> usize {
    let header = word >> 32 << 32 | u64::from(step.plan.0);
    let written = if step.plan == NO_PLAN { 0 } else { 1 + slots };
    match (room.first_chunk_mut::<{ CHUNK + 2 }>(), tail.first_chunk::<CHUNK>()) {
        (Some(room), Some(from)) if slots <= CHUNK => {
            room[0] = header;
            room[1..=CHUNK].copy_from_slice(from);
            // A second part counts no instruction as executed: those that were have records of their own.
            room[written] = u64::from(step.then.0);
        }
        _ => write_many(room, header, tail.get(..slots).unwrap_or_default(), written, step.then),
    }
    written + usize::from(step.then != NO_PLAN)
}

/// The same for a record with many slots, and for the last ones.
#[inline(never)]
fn write_many(room: &mut [u64], header: u64, slots: &[u64], written: usize, then: PlanId) {
    let words = std::iter::once(header).chain(slots.iter().copied()).take(written);
    for (to, from) in room.iter_mut().zip(words.chain([u64::from(then.0)])) {
        *to = from;
    }
}

/// The records that are given out, in buffers of the link.
pub struct Regrouped<'a> {
    link: &'a mut Link,
    words: Box<[u64]>,
    filled: usize,
    full: Vec<(Box<[u64]>, usize)>,
}

impl<'a> Regrouped<'a> {
    /// None yet.
    pub fn new(link: &'a mut Link) -> Regrouped<'a> {
        let words = link.buffer();
        Regrouped { link, words, filled: 0, full: Vec::new() }
    }

    /// The buffers, and how many words are in each.
    pub fn finish(mut self) -> Vec<(Box<[u64]>, usize)> {
        self.full.push((self.words, self.filled));
        self.full
    }

    /// The buffer, and how many words are in it; there is room for a record.
    #[inline(always)]
    pub(super) fn room(&mut self) -> (&mut [u64], usize) {
        if self.filled >= BUFFER_WORDS {
            self.next_buffer();
        }
        (&mut self.words, self.filled)
    }

    /// Says how many words are in the buffer now.
    pub(super) fn set_filled(&mut self, filled: usize) {
        self.filled = filled.min(self.words.len());
    }

    /// Writes what becomes of one record, whose slots are the first of `tail`.
    pub(super) fn write(&mut self, step: Step, word: u64, tail: &[u64], slots: usize) {
        let (words, filled) = self.room();
        let written = words.get_mut(filled..).map_or(0, |room| write(room, step, word, tail, slots));
        self.set_filled(filled + written);
    }

    #[cold]
    fn next_buffer(&mut self) {
        let empty = self.link.buffer();
        self.full.push((std::mem::replace(&mut self.words, empty), self.filled));
        self.filled = 0;
    }
}
