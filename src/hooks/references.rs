//! Consumer without a simulator, which counts the executions of each block.

use crate::hooks::counts::Repeated;
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::record::Header;

/// Execution counts.
#[derive(Clone, Debug, Default)]
pub(super) struct ReferenceConsumer {
    /// Executions by plan id.
    executed: Vec<u64>,
    index: PlanIndex,
}

/// State of a [`ReferenceConsumer`] for a checkpoint.
#[derive(Clone, Debug)]
pub(super) struct SavedReferences {
    /// Executions by plan id.
    executed: Vec<u64>,
    repeated: Vec<(usize, Repeated)>,
}

impl ReferenceConsumer {
    pub(super) fn index(&self) -> &PlanIndex {
        &self.index
    }

    pub(super) fn executed(&self) -> impl Iterator<Item = u64> {
        self.executed.iter().copied()
    }

    /// Sets all counts to zero.
    pub(super) fn zero(&mut self) {
        self.executed.fill(0);
        self.index.set_repeated(&[]);
    }

    pub(super) fn save(&self) -> SavedReferences {
        SavedReferences { executed: self.executed.clone(), repeated: self.index.repeated() }
    }

    pub(super) fn restore(&mut self, saved: &SavedReferences) {
        let executed = saved.executed.iter().copied().chain(std::iter::repeat(0));
        for (now, executed) in self.executed.iter_mut().zip(executed) {
            *now = executed;
        }
        self.index.set_repeated(&saved.repeated);
    }

    pub(super) fn add_plan(&mut self, plan: &Plan) {
        self.index.add(plan, u16::MAX);
        self.executed.push(0);
    }

    /// Walks a buffer of records. Returns the number of their instructions.
    pub(super) fn walk(&mut self, mut words: &[u64]) -> u64 {
        let mut instructions = 0;
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            let id = header.plan.0 as usize;
            let Some(executed) = self.executed.get_mut(id) else { break };
            words = next;
            instructions += header.instructions;
            *executed += 1;
            if !slots.is_empty() && self.index.entries[id].special.is_some() {
                self.index.entries[id].repeat(slots);
            }
        }
        instructions
    }
}
