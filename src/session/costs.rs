//! Counts of the consumers as costs of a profile.

use crate::hooks::counts::Counts;
use crate::profile::{Costs, Event};

/// The counts as costs.
pub(super) fn costs(counts: &Counts) -> Costs {
    let mut costs = Costs::ZERO;
    let misses = &counts.misses;
    for (event, count) in [
        (Event::Ir, counts.ir),
        (Event::I1mr, misses.i1mr),
        (Event::ILmr, misses.ilmr),
        (Event::Dr, counts.dr),
        (Event::D1mr, misses.d1mr),
        (Event::DLmr, misses.dlmr),
        (Event::Dw, counts.dw),
        (Event::D1mw, misses.d1mw),
        (Event::DLmw, misses.dlmw),
        (Event::Bc, counts.bc),
        (Event::Bcm, counts.bcm),
        (Event::Bi, counts.bi),
        (Event::Bim, counts.bim),
    ] {
        costs[event] = count;
    }
    costs
}
