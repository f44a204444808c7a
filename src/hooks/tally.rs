//! Counts of every instruction of a process, put together from the consumers.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::hooks::consumer::Consumer;
use crate::hooks::control::AccountId;
use crate::hooks::counts::Counts;
use crate::hooks::plan::MappingId;

/// Counts of one account, or of several added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    insns: Vec<(u64, MappingId)>,
    counts: Vec<Counts>,
    /// Places of the instructions, once each has but one: when something was appended.
    places: FxHashMap<(u64, MappingId), u32>,
}

impl Tally {
    /// Puts together the counts of an account, in front of which others may have been added.
    ///
    /// All consumers must be parts of one run and have read the same records.
    pub(crate) fn of<'c>(account: AccountId, consumers: impl Iterator<Item = &'c Consumer>) -> Tally {
        let mut tally = Tally::default();
        consumers.for_each(|consumer| tally.add(consumer, account));
        tally
    }

    /// Adds what a consumer has counted for an account: the first everything that follows from the
    /// executions of blocks, and each what its simulator says.
    pub(crate) fn add(&mut self, consumer: &Consumer, account: AccountId) {
        let first = self.insns.is_empty();
        let mut at = 0;
        consumer.each(account, &mut |index, counted| {
            let insns = index.insns.len();
            if first {
                self.insns.extend(index.insns.iter().map(|insn| (insn.pc(), 0)));
                for entry in &index.entries {
                    let own = self.insns.get_mut(at..).and_then(|insns| insns.get_mut(entry.insns()));
                    own.into_iter().flatten().for_each(|(_, mapping)| *mapping = entry.mapping);
                }
                self.counts.resize(self.insns.len(), Counts::default());
            }
            let Some(counts) = self.counts.get_mut(at..at + insns) else { return };
            if first {
                index.add_references(counted, counts);
            }
            index.add_misses(counted, counts);
            at += insns;
        });
    }

    /// Adds the counts of another account, instruction by instruction, so that many accounts take
    /// no more room than a few.
    pub(crate) fn append(&mut self, other: Tally) {
        if self.insns.is_empty() {
            *self = other;
            return;
        }
        if self.places.is_empty() {
            let first = std::mem::take(self);
            self.add_rows(&first);
        }
        self.add_rows(&other);
    }

    fn add_rows(&mut self, other: &Tally) {
        let Tally { insns, counts, places } = self;
        for (pc, mapping, more) in other.iter() {
            match places.entry((pc, mapping)) {
                Entry::Occupied(place) => counts[*place.get() as usize].add(more),
                Entry::Vacant(place) => {
                    place.insert(counts.len() as u32);
                    insns.push((pc, mapping));
                    counts.push(*more);
                }
            }
        }
    }

    /// Instructions executed.
    pub(crate) fn instructions(&self) -> u64 {
        self.counts.iter().map(|counts| counts.ir).sum()
    }

    /// Address, mapping and counts of each instruction that was counted, once for each plan it is
    /// in. Leaves out what was translated and not executed, which depends on where the run was
    /// paused.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, MappingId, &Counts)> {
        let counted = self.insns.iter().zip(&self.counts).filter(|(_, counts)| **counts != Counts::default());
        counted.map(|(&(pc, mapping), counts)| (pc, mapping, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_accounts_take_the_room_of_few() {
        let of = |pcs: &[u64]| Tally {
            insns: pcs.iter().map(|&pc| (pc, 1)).collect(),
            counts: pcs.iter().map(|&pc| Counts { ir: pc, ..Counts::default() }).collect(),
            places: FxHashMap::default(),
        };
        let mut sum = Tally::default();
        for account in 0..100 {
            sum.append(of(&[3, 2, 7, 0, 3, account % 4 + 10]));
            assert!(sum.insns.len() <= if account == 0 { 6 } else { 7 }, "{}", sum.insns.len());
        }
        assert_eq!(sum.instructions(), 100 * (3 + 2 + 7 + 3 + 10) + 25 * (1 + 2 + 3));
        let mut rows: Vec<(u64, u64)> = sum.iter().map(|(pc, _, counts)| (pc, counts.ir)).collect();
        rows.sort_unstable();
        let of_four = [10, 11, 12, 13].map(|pc| (pc, 25 * pc));
        assert_eq!(rows, [&[(2, 200), (3, 600), (7, 700)], &of_four[..]].concat());
    }
}
