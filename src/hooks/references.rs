//! The consumer that simulates nothing and counts how often each block is executed.

use crate::hooks::counts::Repeated;
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::record::Header;

/// What was executed.
#[derive(Clone, Debug, Default)]
pub(super) struct ReferenceConsumer {
    /// By plan id.
    executed: Vec<u64>,
    index: PlanIndex,
}

/// Everything counted at some moment.
#[derive(Clone, Debug)]
pub(super) struct SavedReferences {
    /// By plan id.
    executed: Vec<u64>,
    repeated: Vec<(usize, Repeated)>,
}

impl ReferenceConsumer {
    pub fn index(&self) -> &PlanIndex {
        &self.index
    }

    pub fn executed(&self) -> impl Iterator<Item = u64> {
        self.executed.iter().copied()
    }

    /// Forgets what was counted.
    pub fn zero(&mut self) {
        self.executed.fill(0);
        self.index.set_repeated(&[]);
    }

    pub fn save(&self) -> SavedReferences {
        SavedReferences { executed: self.executed.clone(), repeated: self.index.repeated() }
    }

    pub fn restore(&mut self, saved: &SavedReferences) {
        let executed = saved.executed.iter().copied().chain(std::iter::repeat(0));
        for (now, executed) in self.executed.iter_mut().zip(executed) {
            *now = executed;
        }
        self.index.set_repeated(&saved.repeated);
    }

    pub fn add_plan(&mut self, plan: &Plan) {
        self.index.add(plan, u16::MAX);
        self.executed.push(0);
    }

    /// Walks a buffer of records; returns how many instructions they stand for.
    pub fn walk(&mut self, mut words: &[u64]) -> u64 {
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
