//! Stripped traces: generated code leaves out what surely hits and changes nothing.
//!
//! An access to the line that was accessed last in its set finds it, and leaves the order of the
//! set as it is (T. R. Puzak, Analysis of cache replacement algorithms, 1985, on trace stripping).
//! Generated code knows such a line for each set of I1 and D1; what it does not know is recorded,
//! in program order, and may hit all the same. So nothing depends on what it knows, which may be
//! forgotten at any moment.
//!
//! Each record has the header of its plan, but no instructions:
//!
//! - A fetch, one word: all lines of the plan are fetched.
//! - A data event, two words: its address, and its index in the plan.
//!
//! The last word also has the stamp of the execution of the block. It tells whether a data event
//! belongs to the block of the fetch before, and so comes between its fetches.

use crate::hooks::numbering::{Ids, Numbering, Numbers};
use crate::hooks::part::{Block, Part, Rest};
use crate::hooks::record::{Header, PlanId};
use crate::sim::{Geometry, Hierarchy};

/// Bits of the last word that are the index of an event.
const INDEX_BITS: u32 = 16;

/// Words after the header of a fetch and of a data event.
const FETCH: usize = 1;
const DATA: usize = 2;

/// Shape of a cache, as far as it decides what is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Base-2 logarithm of the size of a line in bytes.
    pub(crate) line_bits: u32,
    /// Base-2 logarithm of the number of sets.
    pub(crate) set_bits: u32,
}

impl Shape {
    fn of(geometry: Geometry) -> Shape {
        Shape { line_bits: geometry.line_shift(), set_bits: geometry.sets().trailing_zeros() }
    }
}

/// Shapes of the caches that generated code knows the most recent lines of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Levels {
    /// I1.
    pub(crate) fetch: Shape,
    /// D1.
    pub(crate) data: Shape,
}

impl Levels {
    /// The levels of a hierarchy; `None` if generated code cannot tell what to leave out, because the
    /// lines of D1 are shorter than an entry of its table or longer than a page, or there is but one
    /// set.
    pub(crate) fn of(caches: &Hierarchy) -> Option<Levels> {
        let (fetch, data) = (Shape::of(caches.i1.geometry()), Shape::of(caches.d1.geometry()));
        ((6..=12).contains(&data.line_bits) && data.set_bits > 0).then_some(Levels { fetch, data })
    }
}

/// Record of a stripped trace, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stripped {
    /// The lines of a plan are fetched.
    Fetch { plan: PlanId, stamp: u64 },
    /// A data event takes place.
    Data { plan: PlanId, index: u16, address: u64, stamp: u64 },
}

impl Stripped {
    /// Packs a record and passes its words to `put` in order.
    #[inline(always)]
    pub(crate) fn pack(self, mut put: impl FnMut(u64)) {
        let header = |plan, slots| Header { plan, slots, instructions: 0 }.word();
        match self {
            Stripped::Fetch { plan, stamp } => {
                put(header(plan, FETCH));
                put(stamp << INDEX_BITS);
            }
            Stripped::Data { plan, index, address, stamp } => {
                put(header(plan, DATA));
                put(address);
                put(u64::from(index) | stamp << INDEX_BITS);
            }
        }
    }

    /// Unpacks the words after a header.
    pub(super) fn of(plan: PlanId, words: &[u64]) -> Option<Stripped> {
        match *words {
            [last] => Some(Stripped::Fetch { plan, stamp: last >> INDEX_BITS }),
            [address, last] => {
                Some(Stripped::Data { plan, index: last as u16, address, stamp: last >> INDEX_BITS })
            }
            _ => None,
        }
    }
}

/// Fetches of a block that missed I1 and wait for the data between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// Stamp of the block.
    stamp: u64,
    /// Those in [`Rest::missed`] that are listed.
    listed: usize,
}

impl Part {
    /// Walks records of a stripped trace to the first whose plan has no number. Returns the words
    /// that are left.
    pub(super) fn walk_stripped<'w>(&mut self, words: &'w [u64], numbering: &Numbering) -> &'w [u64] {
        let shift = self.caches.d1.line_shift();
        match (numbering.numbers(), shift) {
            (None, 6) => self.strip_with::<6>(words, Ids),
            (None, _) => self.strip_with::<0>(words, Ids),
            (Some(own), 6) => self.strip_with::<6>(words, own),
            (Some(own), _) => self.strip_with::<0>(words, own),
        }
    }

    fn strip_with<'w, const SHIFT: u32>(
        &mut self,
        mut words: &'w [u64],
        mut numbers: impl Numbers,
    ) -> &'w [u64] {
        let Part { caches, blocks, rest, simulated, .. } = self;
        let shift = if SHIFT == 0 { caches.d1.line_shift() } else { SHIFT };
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            let id = numbers.number(header.plan);
            let Some(block) = blocks.get(id) else { break };
            words = next;
            match *slots {
                _ if !simulated.caches => {}
                [last] => rest.fetch_stripped(id, block, last >> INDEX_BITS, caches),
                [address, last] => {
                    let event = block.first_event as usize + usize::from(last as u16);
                    if !rest.missed.is_empty() {
                        rest.list_before(event, last >> INDEX_BITS, caches);
                    }
                    let reach = rest.reach.get(event).copied().unwrap_or_default();
                    rest.data(caches, event, address, u64::from(reach), shift);
                }
                _ => break,
            }
        }
        rest.list_waiting(caches);
        rest.access_below(&mut caches.ll);
        words
    }
}

impl Rest {
    /// Fetches the lines of a block; those that miss wait for data that come before them.
    fn fetch_stripped(&mut self, id: usize, block: &Block, stamp: u64, caches: &mut Hierarchy) {
        self.list_waiting(caches);
        if !caches.i1.hit_both(block.near) && !self.fetch(id, block, caches) {
            self.waiting = Waiting { stamp, listed: 0 };
        }
    }

    /// Lists the fetches that come before a data event.
    #[cold]
    fn list_before(&mut self, event: usize, stamp: u64, caches: &mut Hierarchy) {
        if self.waiting.stamp != stamp {
            return self.list_waiting(caches);
        }
        let Some(at) = self.index.data.get(event).map(|data| data.insn) else { return };
        while let Some(&insn) = self.missed.get(self.waiting.listed).filter(|&&insn| insn <= at) {
            self.miss_fetch(insn, &mut caches.ll);
            self.waiting.listed += 1;
        }
    }

    /// Lists all fetches that wait.
    fn list_waiting(&mut self, caches: &mut Hierarchy) {
        if self.missed.is_empty() {
            return;
        }
        while let Some(&insn) = self.missed.get(self.waiting.listed) {
            self.miss_fetch(insn, &mut caches.ll);
            self.waiting.listed += 1;
        }
        self.missed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let plan = PlanId(u32::MAX - 1);
        for record in [
            Stripped::Fetch { plan, stamp: (1 << 48) - 1 },
            Stripped::Data { plan, index: u16::MAX, address: u64::MAX, stamp: 7 },
        ] {
            let mut words = Vec::new();
            record.pack(|word| words.push(word));
            let header = Header::of(words[0]);
            assert_eq!((header.plan, header.slots, header.instructions), (plan, words.len() - 1, 0));
            assert_eq!(Stripped::of(plan, &words[1..]), Some(record));
        }
    }
}
