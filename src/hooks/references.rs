//! Consumer without a simulator, which counts the executions of each block.

use crate::hooks::counts::Counted;
use crate::hooks::numbering::Numbers;
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::record::Header;

/// Execution counts.
#[derive(Clone, Debug, Default)]
pub(super) struct ReferenceConsumer {
    /// Executions by the account's numbers of plans.
    executed: Vec<u64>,
    index: PlanIndex,
}

impl ReferenceConsumer {
    pub(super) fn index(&self) -> &PlanIndex {
        &self.index
    }

    pub(super) fn counted(&self) -> Counted {
        Counted { executed: self.executed.clone(), repeated: self.index.repeated(), ..Counted::default() }
    }

    /// Sets the counts; those that are missing are zero.
    pub(super) fn set_counted(&mut self, counted: &Counted) {
        let executed = counted.executed.iter().copied().chain(std::iter::repeat(0));
        for (now, executed) in self.executed.iter_mut().zip(executed) {
            *now = executed;
        }
        self.index.set_repeated(&counted.repeated);
    }

    /// Adds the plan with the next number; `whole` is the number of the plan that it is a prefix
    /// of.
    pub(super) fn add_plan(&mut self, plan: &Plan, whole: Option<usize>) {
        self.index.add(plan, whole, u16::MAX);
        self.executed.push(0);
    }

    /// Walks records to the first whose plan has no number. Returns the number of their
    /// instructions and the words that are left.
    pub(super) fn walk<'w>(&mut self, mut words: &'w [u64], numbers: impl Numbers) -> (u64, &'w [u64]) {
        let mut instructions = 0;
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            let id = numbers.number(header.plan);
            let Some(executed) = self.executed.get_mut(id) else { break };
            words = next;
            instructions += header.instructions;
            *executed += 1;
            if !slots.is_empty() && self.index.entries[id].special.is_some() {
                self.index.entries[id].repeat(slots);
            }
        }
        (instructions, words)
    }
}
