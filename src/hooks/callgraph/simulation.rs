//! Simulation of records that have been followed, with what their misses are charged to.

use crate::hooks::callgraph::batch::Batch;
use crate::hooks::callgraph::misses::{MissLedger, Misses};
use crate::hooks::part::Part;

/// Charges of the misses of an account's simulators.
#[derive(Clone, Debug)]
pub(in crate::hooks) struct Simulation {
    /// Misses of the thread that runs.
    pub(super) ledger: MissLedger,
    pub(super) misses: Misses,
}

impl Simulation {
    /// Simulates the records of a batch, and decides the branch at the end of the last one if it is
    /// known where the next one begins. The batch is empty afterwards.
    #[inline(always)]
    pub(in crate::hooks) fn run(
        &mut self,
        part: &mut Part,
        words: &[u64],
        batch: &mut Batch,
        next: Option<u64>,
    ) {
        part.walk_logging(words, batch.blocks());
        if let Some(pc) = next {
            part.decide(pc);
        }
        self.ledger.settle(batch, part.log(), &mut self.misses);
    }
}
