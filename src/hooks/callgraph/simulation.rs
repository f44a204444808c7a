//! Simulation of records that have been followed, with what their misses are charged to.

use crate::hooks::callgraph::batch::{Batch, Unsettled};
use crate::hooks::callgraph::misses::{MissLedger, Misses};
use crate::hooks::executions::Count;
use crate::hooks::misses_below::MissesOf;
use crate::hooks::part::Part;

/// Charges of the misses of an account's simulators.
#[derive(Clone, Debug)]
pub(in crate::hooks) struct Simulation {
    /// Misses of the thread that runs.
    pub(super) ledger: MissLedger,
    pub(super) misses: Misses,
}

impl Simulation {
    /// Simulates the records of a batch, which have `missed` the first level if that is driven
    /// elsewhere, and settles them. The batch is empty afterwards.
    #[inline(always)]
    pub(in crate::hooks) fn run(
        &mut self,
        part: &mut Part,
        words: Unsettled,
        missed: MissesOf,
        batch: &mut Batch,
        next: Option<u64>,
    ) {
        if part.counts_only() {
            part.count_logging(words.words, batch.blocks(), batch.noted(), missed);
            for &(block, executed) in &batch.executed {
                part.add_executions(block as usize, &Count { executed, mispredicted: 0 });
            }
        } else {
            part.walk_logging(words.batch(), batch.blocks());
        }
        self.settle(part, batch, next);
    }

    /// Settles a batch that has been simulated, and decides the branch at the end of its last
    /// record if it is known where the next one begins. The batch is empty afterwards.
    pub(super) fn settle(&mut self, part: &mut Part, batch: &mut Batch, next: Option<u64>) {
        if let Some(pc) = next {
            part.decide(pc);
        }
        self.ledger.settle(batch, part.log(), &mut self.misses);
    }
}
