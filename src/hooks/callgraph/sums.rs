//! Sums of costs that calls are charged with.

use crate::hooks::callgraph::batch::MOST_RECORDS;
use crate::hooks::counts::{Counts, Kind, Misses};
use crate::hooks::record::{MAX_BLOCK, MAX_RECORD};

/// References of the records of a batch, or of one record: Ir and Dr in 32 bits each, and Dw, Bc
/// and Bi in 28, 24 and 12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed([u64; 2]);

// A record has at most two branches an instruction, a word for each access, and one indirect jump.
const _: () = assert!(MOST_RECORDS as u64 * MAX_BLOCK * 2 < 1 << 24);
const _: () = assert!(MOST_RECORDS * MAX_RECORD < 1 << 28);
const _: () = assert!(MOST_RECORDS * 2 < 1 << 12);

impl Packed {
    /// Those of a record with these counts.
    pub(super) fn of(counts: &Counts) -> Packed {
        let Counts { ir, dr, dw, bc, bi, .. } = *counts;
        Packed([ir << 32 | dr, dw << 36 | bc << 12 | bi])
    }

    /// Adds others.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &Packed) {
        self.0[0] += other.0[0];
        self.0[1] += other.0[1];
    }

    /// Those since there were as many as `before`.
    #[inline(always)]
    pub(super) fn since(&self, before: &Packed) -> Packed {
        Packed([self.0[0] - before.0[0], self.0[1] - before.0[1]])
    }

    /// Ir.
    #[inline(always)]
    pub(super) fn instructions(&self) -> u64 {
        self.0[0] >> 32
    }

    /// Ir, Dr, Dw, Bc, Bi.
    #[inline(always)]
    fn unpack(&self) -> [u64; 5] {
        let Packed([fetches, others]) = *self;
        [fetches >> 32, fetches & 0xffff_ffff, others >> 36, others >> 12 & 0xff_ffff, others & 0xfff]
    }
}

/// Sum of references: Ir, Dr, Dw, Bc, Bi. It wraps around while calls have not returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct References([u64; 5]);

impl From<Packed> for References {
    fn from(packed: Packed) -> References {
        References(packed.unpack())
    }
}

impl References {
    /// Ir, which is 0 only if all are.
    pub(super) fn instructions(&self) -> u64 {
        self.0[0]
    }

    /// Adds those of some records.
    #[inline(always)]
    pub(super) fn add_recent(&mut self, recent: &Packed) {
        for (sum, recent) in self.0.iter_mut().zip(recent.unpack()) {
            *sum = sum.wrapping_add(recent);
        }
    }

    /// Takes those of another sum away.
    #[inline(always)]
    pub(super) fn subtract(&mut self, other: &References) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_sub(other);
        }
    }

    /// Adds those of another sum so many times.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &References, times: u64) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(other.wrapping_mul(times));
        }
    }
}

/// References that grow with each record.
#[derive(Clone, Debug, Default)]
pub(super) struct Growing {
    /// Those up to the last time that they were settled.
    settled: References,
    /// Those since then.
    pub(super) recent: Packed,
}

impl Growing {
    /// All of them.
    #[inline(always)]
    pub(super) fn now(&self) -> References {
        self.at(&self.recent)
    }

    /// All of them when those since they were settled were as many as `recent`.
    #[inline(always)]
    pub(super) fn at(&self, recent: &Packed) -> References {
        let mut then = self.settled;
        then.add_recent(recent);
        then
    }

    /// Makes room for those of another batch.
    pub(super) fn settle(&mut self) {
        *self = Growing::from(self.now());
    }
}

impl From<References> for Growing {
    fn from(settled: References) -> Growing {
        Growing { settled, recent: Packed::default() }
    }
}

/// Sum of misses, as [`place`] has them. It wraps around while calls have not returned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Missed([u64; 8]);

/// Place of accesses of a kind that missed the first level in [`Missed`], behind the mispredicted
/// conditional and indirect branches; those that missed LL too follow.
fn place(kind: Kind) -> usize {
    match kind {
        Kind::Fetch => 2,
        Kind::Load => 4,
        Kind::Store => 6,
    }
}

impl Missed {
    /// Takes those of another sum away.
    #[inline(always)]
    pub(super) fn subtract(&mut self, other: &Missed) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_sub(other);
        }
    }

    /// Adds those of another sum so many times.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &Missed, times: u64) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(other.wrapping_mul(times));
        }
    }

    /// Adds an access that missed the first level, and LL too if `ll`.
    pub(super) fn miss(&mut self, kind: Kind, ll: bool) {
        self.0[place(kind)] += 1;
        self.0[place(kind) + 1] += u64::from(ll);
    }

    /// Adds a mispredicted branch.
    pub(super) fn mispredict(&mut self, indirect: bool) {
        self.0[usize::from(indirect)] += 1;
    }
}

/// Both sums as counts.
pub(super) fn counts_of(references: &References, missed: &Missed) -> Counts {
    let [ir, dr, dw, bc, bi] = references.0;
    let [bcm, bim, i1mr, ilmr, d1mr, dlmr, d1mw, dlmw] = missed.0;
    Counts { ir, dr, dw, bc, bcm, bi, bim, misses: Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw } }
}
