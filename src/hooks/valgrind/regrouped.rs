//! The records that the regrouping stage gives out.

use super::regroup::{NO_PLAN, Step};
use crate::hooks::ring::Link;
use crate::hooks::trace::BUFFER_WORDS;

/// Words that are copied at once; few records have more slots.
const CHUNK: usize = 8;

/// A function of its own, so that the few are not copied by a call of the library.
#[inline(never)]
fn copy_many(from: &[u64], to: &mut [u64], many: usize) {
    if let (Some(from), Some(to)) = (from.get(..many), to.get_mut(..many)) {
        to.copy_from_slice(from);
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

    /// Writes what becomes of a record, whose slots are the first of `tail`. Almost without branches of its own: what the
    /// program does next is as hard to foresee here as there.
    #[inline(always)]
    pub(super) fn write(&mut self, step: &Step, word: u64, tail: &[u64], slots: usize) {
        let Some((header, room)) = self.words.get_mut(self.filled..).and_then(<[u64]>::split_first_mut)
        else {
            return;
        };
        *header = word >> 32 << 32 | u64::from(step.plan.0);
        match (tail.first_chunk::<CHUNK>(), room.first_chunk_mut::<CHUNK>()) {
            (Some(from), Some(to)) if slots <= CHUNK => *to = *from,
            _ => copy_many(tail, room, slots),
        }
        self.filled += if step.plan == NO_PLAN { 0 } else { 1 + slots };
        // A second part counts no instruction as executed: those that were have records of their own.
        if let Some(then) = self.words.get_mut(self.filled) {
            *then = u64::from(step.then.0);
        }
        self.filled += usize::from(step.then != NO_PLAN);
        if self.filled >= BUFFER_WORDS {
            self.next_buffer();
        }
    }

    #[cold]
    fn next_buffer(&mut self) {
        let empty = self.link.buffer();
        self.full.push((std::mem::replace(&mut self.words, empty), self.filled));
        self.filled = 0;
    }
}
