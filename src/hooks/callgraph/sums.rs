//! Sums of costs that are added to at every call and return.

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

/// References of the records of a batch, which are too few to overflow it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct References([u32; 8]);

impl References {
    /// Adds those of another record.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &RecordReferences) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(other.into());
        }
    }
}

/// Sum of costs: first those of [`References`], then misses as [`place`] has them. All of it is
/// added at once, without a look at what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum([u64; 16]);

/// Place of mispredicted conditional branches in a [`Sum`]; indirect ones follow.
const MISPREDICTED: usize = 8;

/// Place of accesses of a kind that missed the first level in a [`Sum`]; those that missed LL too
/// follow.
fn place(kind: Kind) -> usize {
    match kind {
        Kind::Fetch => 10,
        Kind::Load => 12,
        Kind::Store => 14,
    }
}

impl Sum {
    /// Adds another sum.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &Sum) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(other);
        }
    }

    /// Adds references, which are `now` and were `before`.
    #[inline(always)]
    pub(super) fn refer(&mut self, now: &References, before: &References) {
        for ((sum, now), before) in self.0.iter_mut().zip(now.0).zip(before.0) {
            *sum = sum.wrapping_add(now.wrapping_sub(before).into());
        }
    }

    /// Adds the costs of so many times `now` since they were `before`.
    #[inline(always)]
    pub(super) fn add_since(&mut self, now: &Sum, times: u64, before: &Sum) {
        for ((sum, now), before) in self.0.iter_mut().zip(now.0).zip(before.0) {
            *sum = sum.wrapping_add(now.wrapping_mul(times).wrapping_sub(before));
        }
    }

    /// Adds an access that missed the first level, and LL too if `ll`.
    pub(super) fn miss(&mut self, kind: Kind, ll: bool) {
        self.0[place(kind)] += 1;
        self.0[place(kind) + 1] += u64::from(ll);
    }

    /// Adds a mispredicted branch.
    pub(super) fn mispredict(&mut self, indirect: bool) {
        self.0[MISPREDICTED + usize::from(indirect)] += 1;
    }

    /// True if something has been spent since it was `before`.
    #[inline]
    pub(super) fn is_since(&self, before: &Sum) -> bool {
        // Mostly instructions.
        self.0[0] != before.0[0] || self != before
    }

    /// The same as counts.
    pub(super) fn counts(&self) -> Counts {
        let [ir, dr, dw, bc, bi, _, _, _, bcm, bim, i1mr, ilmr, d1mr, dlmr, d1mw, dlmw] = self.0;
        Counts { ir, dr, dw, bc, bcm, bi, bim, misses: Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw } }
    }
}
