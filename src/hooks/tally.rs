//! What every instruction of a run has cost, put together from the parts that have counted it.

use crate::hooks::accounts::Counts;
use crate::hooks::consumer::Consumer;
use crate::hooks::plan::MappingId;

/// Counts by instruction and plan.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Addresses and mappings.
    insns: Vec<(u64, MappingId)>,
    counts: Vec<Counts>,
}

impl Tally {
    /// Adds what one consumer has counted. The consumers are the parts of one run and have seen the same records.
    pub fn add(&mut self, consumer: &Consumer) {
        if self.insns.is_empty() {
            let ledger = consumer.ledger();
            self.insns = ledger.insns.iter().map(|insn| (insn.pc, 0)).collect();
            for entry in &ledger.entries {
                let insns =
                    self.insns[entry.first_insn as usize..][..usize::from(entry.instructions)].iter_mut();
                insns.for_each(|(_, mapping)| *mapping = entry.mapping);
            }
            self.counts = vec![Counts::default(); self.insns.len()];
            consumer.add_references(&mut self.counts);
        }
        consumer.add_misses(&mut self.counts);
    }

    /// Address, mapping and counts of every instruction that was counted, once for each plan it is in. What was translated
    /// and not executed is left out: that depends on where the run was paused.
    pub fn iter(&self) -> impl Iterator<Item = (u64, MappingId, &Counts)> {
        let counted = self.insns.iter().zip(&self.counts).filter(|(_, counts)| **counts != Counts::default());
        counted.map(|(&(pc, mapping), counts)| (pc, mapping, counts))
    }
}
