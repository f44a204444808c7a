//! Sums of costs that calls are charged with.

use crate::hooks::counts::{Counts, Kind, Misses};

/// References of a record: Ir, Dr, Dw, Bc, Bi.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordReferences([u16; 8]);

impl RecordReferences {
    /// Those of some counts.
    pub(super) fn of(counts: &Counts) -> RecordReferences {
        let Counts { ir, dr, dw, bc, bi, .. } = *counts;
        RecordReferences([ir as u16, dr as u16, dw as u16, bc as u16, bi as u16, 0, 0, 0])
    }
}

/// Sum of references: Ir, Dr, Dw, Bc, Bi. It wraps around while calls have not returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct References([u64; 5]);

impl References {
    /// Ir, which is 0 only if all are.
    pub(super) fn instructions(&self) -> u64 {
        self.0[0]
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

/// Sum of the references of so few records that it does not overflow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent([u32; 8]);

impl Recent {
    /// Adds those of a record.
    #[inline(always)]
    pub(super) fn add(&mut self, record: &RecordReferences) {
        for (sum, record) in self.0.iter_mut().zip(record.0) {
            *sum = sum.wrapping_add(record.into());
        }
    }
}

/// References that grow with each record.
#[derive(Clone, Debug, Default)]
pub(super) struct Growing {
    /// Those up to the last time that they were settled.
    settled: References,
    /// Those since then.
    pub(super) recent: Recent,
}

impl Growing {
    /// All of them.
    #[inline(always)]
    pub(super) fn now(&self) -> References {
        let mut now = self.settled;
        for (sum, recent) in now.0.iter_mut().zip(self.recent.0) {
            *sum = sum.wrapping_add(recent.into());
        }
        now
    }

    /// Makes room for those of another 65,536 records.
    pub(super) fn settle(&mut self) {
        *self = Growing::from(self.now());
    }
}

impl From<References> for Growing {
    fn from(settled: References) -> Growing {
        Growing { settled, recent: Recent::default() }
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
