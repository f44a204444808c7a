//! Counts of every instruction of a process, put together from the consumers.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::hooks::consumer::Consumer;
use crate::hooks::control::AccountId;
use crate::hooks::counts::Counts;
use crate::hooks::plan::{MappingId, PlannedInsn};
use crate::hooks::plan_index::CountedInsn;
use crate::sim::PackedList;

/// Counts of one account, or of several added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Those of one.
    insns: PackedList<CountedInsn>,
    /// The sums of several.
    sums: Vec<CountedInsn>,
    /// Places of the instructions there.
    places: FxHashMap<(MappingId, u64), u32>,
}

impl Tally {
    /// Puts together the counts of an account.
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
        let before = std::mem::take(&mut self.insns);
        let first = before.len() == 0;
        let mut before = before.iter();
        consumer.each(account, &mut |index, counted| {
            index.each(counted, &mut |entry, counts| {
                let insn = |(insn, counts): (&PlannedInsn, &Counts)| {
                    if first {
                        return Some(CountedInsn { at: (entry.mapping, insn.pc()), counts: *counts });
                    }
                    let mut known = before.next()?;
                    known.counts.complete(counts);
                    Some(known)
                };
                let insns = index.insns.get(entry.insns()).unwrap_or_default();
                self.insns.extend(insns.iter().zip(counts).filter_map(insn));
            });
        });
        self.insns.shrink_to_fit();
    }

    /// Adds the counts of another account, instruction by instruction, so that many accounts take
    /// no more room than a few.
    pub(crate) fn append(&mut self, other: Tally) {
        if self.insns.len() + self.sums.len() == 0 {
            *self = other;
            return;
        }
        let Tally { insns, sums, places } = self;
        let first = std::mem::take(insns);
        let all = first.iter().chain(other.insns.iter()).chain(other.sums);
        for more in all.filter(|insn| insn.counts != Counts::default()) {
            match places.entry(more.at) {
                Entry::Occupied(place) => sums[*place.get() as usize].counts.add(&more.counts),
                Entry::Vacant(place) => {
                    place.insert(sums.len() as u32);
                    sums.push(more);
                }
            }
        }
    }

    /// Instructions executed.
    pub(crate) fn instructions(&self) -> u64 {
        self.all().map(|insn| insn.counts.ir).sum()
    }

    fn all(&self) -> impl Iterator<Item = CountedInsn> {
        self.insns.iter().chain(self.sums.iter().copied())
    }

    /// The instructions that were counted, each once for each plan it is in. Leaves out what was
    /// translated and not executed, which depends on where the run was paused.
    pub(crate) fn iter(&self) -> impl Iterator<Item = CountedInsn> {
        self.all().filter(|insn| insn.counts != Counts::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_accounts_take_the_room_of_few() {
        let insn = |pc: u64| CountedInsn { at: (1, pc), counts: Counts { ir: pc, ..Counts::default() } };
        let of = |pcs: &[u64]| Tally { insns: pcs.iter().map(|&pc| insn(pc)).collect(), ..Tally::default() };
        let mut sum = Tally::default();
        for account in 0..100 {
            sum.append(of(&[3, 2, 7, 0, 3, account % 4 + 10]));
            let rows = sum.insns.len() + sum.sums.len();
            assert!(rows <= if account == 0 { 6 } else { 7 }, "{rows}");
        }
        assert_eq!(sum.instructions(), 100 * (3 + 2 + 7 + 3 + 10) + 25 * (1 + 2 + 3));
        let mut rows: Vec<(u64, u64)> = sum.iter().map(|insn| (insn.at.1, insn.counts.ir)).collect();
        rows.sort_unstable();
        let of_four = [10, 11, 12, 13].map(|pc| (pc, 25 * pc));
        assert_eq!(rows, [&[(2, 200), (3, 600), (7, 700)], &of_four[..]].concat());
    }
}
