//! Consumer that drives the branch predictors. The address at which the next record begins decides
//! a branch.

use std::cell::Cell;

use crate::hooks::counts::{Counts, Repeated};
use crate::hooks::lookout::Miss;
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::{Ends, Entry, PlanIndex};
use crate::hooks::record::Header;
use crate::sim::{Conditional, Indirect};
use crate::x86::cost::Repeat;

/// Branch predictors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predictors {
    /// Predictor of conditional branches.
    pub(crate) conditional: Conditional,
    /// Predictor of indirect branches.
    pub(crate) indirect: Indirect,
}

/// Bits of the address of a branch that the predictors use.
const BRANCH_BITS: u64 = 0x1ff;

/// Hot part of a plan, one cache line. The counters are cells so that the loop can keep a reference
/// to the previous block.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Block {
    pc: u64,
    fall_through: u64,
    executed: Cell<u64>,
    /// Mispredictions of the branch at its end.
    mispredicted: Cell<u64>,
    /// Address of that branch.
    at: u64,
    /// Its low bits, which the predictors use.
    branch: u16,
    ends: Ends,
    /// Nothing but the branch at the end reaches the predictors.
    plain: bool,
}

impl Block {
    /// Stand-in for the block before the first.
    fn nothing() -> Block {
        Block {
            pc: 0,
            fall_through: 0,
            executed: Cell::new(0),
            mispredicted: Cell::new(0),
            at: 0,
            branch: 0,
            ends: Ends::None,
            plain: true,
        }
    }
}

/// Predictors and mispredictions.
#[derive(Clone, Debug, Default)]
pub(super) struct BranchConsumer {
    predictors: Predictors,
    /// Blocks by plan id.
    blocks: Vec<Block>,
    rest: Rest,
    /// The block whose branch the next record decides.
    previous: Option<usize>,
}

/// State of a [`BranchConsumer`] for a checkpoint.
#[derive(Clone, Debug)]
pub(super) struct SavedBranches {
    predictors: Predictors,
    /// Executions and mispredictions, by plan id.
    blocks: Vec<(u64, u64)>,
    /// Counts that are not zero, by instruction.
    mispredicted: Vec<(usize, u64)>,
    repeated: Vec<(usize, Repeated)>,
    compared: bool,
    previous: Option<usize>,
}

#[derive(Clone, Debug, Default)]
struct Rest {
    index: PlanIndex,
    /// Mispredictions of branches that do not end a block, by instruction.
    mispredicted: Vec<u64>,
    /// The last repeated comparison took place: RCX was not zero.
    compared: bool,
}

impl BranchConsumer {
    pub(super) fn new(predictors: Predictors) -> BranchConsumer {
        BranchConsumer { predictors, ..BranchConsumer::default() }
    }

    pub(super) fn index(&self) -> &PlanIndex {
        &self.rest.index
    }

    pub(super) fn executed(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().map(|block| block.executed.get())
    }

    /// Sets the counts to zero and keeps the predictors' tables.
    pub(super) fn zero(&mut self) {
        for block in &self.blocks {
            block.executed.set(0);
            block.mispredicted.set(0);
        }
        self.rest.mispredicted.fill(0);
        self.rest.index.set_repeated(&[]);
    }

    pub(super) fn save(&self) -> SavedBranches {
        let inner = self.rest.mispredicted.iter().enumerate();
        SavedBranches {
            predictors: self.predictors.clone(),
            blocks: self
                .blocks
                .iter()
                .map(|block| (block.executed.get(), block.mispredicted.get()))
                .collect(),
            mispredicted: inner.filter(|(_, count)| **count != 0).map(|(i, count)| (i, *count)).collect(),
            repeated: self.rest.index.repeated(),
            compared: self.rest.compared,
            previous: self.previous,
        }
    }

    pub(super) fn restore(&mut self, saved: &SavedBranches) {
        self.predictors.clone_from(&saved.predictors);
        let counts = saved.blocks.iter().copied().chain(std::iter::repeat((0, 0)));
        for (block, (executed, mispredicted)) in self.blocks.iter().zip(counts) {
            block.executed.set(executed);
            block.mispredicted.set(mispredicted);
        }
        self.rest.mispredicted.fill(0);
        for &(insn, count) in &saved.mispredicted {
            if let Some(now) = self.rest.mispredicted.get_mut(insn) {
                *now = count;
            }
        }
        self.rest.index.set_repeated(&saved.repeated);
        self.rest.compared = saved.compared;
        self.previous = saved.previous;
    }

    /// Adds the mispredictions to the counts of each instruction.
    pub(super) fn add_misses(&self, counts: &mut [Counts]) {
        for (count, mispredicted) in counts.iter_mut().zip(&self.rest.mispredicted) {
            count.bcm += mispredicted;
        }
        for (entry, block) in self.rest.index.entries.iter().zip(&self.blocks) {
            let Some(count) = counts.get_mut(entry.last_insn() as usize) else { continue };
            match block.ends {
                Ends::Indirect => count.bim += block.mispredicted.get(),
                _ => count.bcm += block.mispredicted.get(),
            }
        }
    }

    pub(super) fn add_plan(&mut self, plan: &Plan) {
        let rest = &mut self.rest;
        let entry = rest.index.add(plan, u16::MAX);
        let at = plan.insns.last().map_or(0, |insn| insn.pc);
        self.blocks.push(Block {
            pc: plan.pc,
            fall_through: plan.fall_through(),
            at,
            branch: (at & BRANCH_BITS) as u16,
            // The block decides this branch, not the next record.
            ends: if entry.ends == Ends::ToNext { Ends::None } else { entry.ends },
            plain: plan.retries.is_empty()
                && entry.special.as_ref().is_none_or(|s| s.repeat.is_none() && s.to_next.is_none()),
            ..Block::nothing()
        });
        rest.mispredicted.resize(rest.index.insns.len(), 0);
    }

    /// Walks one record, and notes the mispredictions that it decides: the index of each
    /// instruction, or none for the end of the record before, its address, and the kind.
    pub(super) fn walk_noting(&mut self, record: &[u64], note: &mut dyn FnMut(Option<usize>, u64, Miss)) {
        let id = record.first().map_or(0, |&word| Header::of(word).plan.0 as usize);
        let previous = self.previous;
        let mispredicted = |blocks: &[Block]| {
            previous.and_then(|id| blocks.get(id)).map_or(0, |block| block.mispredicted.get())
        };
        let insns = self.rest.index.entries.get(id).map_or(0..0, Entry::insns);
        let before = mispredicted(&self.blocks);
        let own = self.rest.mispredicted.get(insns.clone()).unwrap_or_default().to_vec();
        self.walk(record);
        if mispredicted(&self.blocks) != before
            && let Some(block) = previous.and_then(|id| self.blocks.get(id))
        {
            let miss = if block.ends == Ends::Indirect { Miss::Indirect } else { Miss::Conditional };
            note(None, block.at, miss);
        }
        let now = self.rest.mispredicted.get(insns.clone()).unwrap_or_default();
        let pcs = self.rest.index.insns.get(insns).unwrap_or_default();
        for (index, ((now, before), insn)) in now.iter().zip(&own).zip(pcs).enumerate() {
            if now != before {
                note(Some(index), insn.pc, Miss::Conditional);
            }
        }
    }

    /// Walks a buffer of records. Returns the number of their instructions.
    pub(super) fn walk(&mut self, mut words: &[u64]) -> u64 {
        let BranchConsumer { predictors, blocks, rest, previous } = self;
        let blocks = blocks.as_slice();
        let mut instructions = 0;
        let nothing = Block::nothing();
        let mut before = previous.and_then(|id| blocks.get(id)).unwrap_or(&nothing);
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            let id = header.plan.0 as usize;
            let Some(block) = blocks.get(id) else { break };
            words = next;
            instructions += header.instructions;
            block.executed.update(|executed| executed + 1);
            if before.ends == Ends::Conditional {
                // Branchless: the host's CPU would mispredict this as often as the guest does.
                let taken = block.pc != before.fall_through;
                let missed = predictors.conditional.record(u64::from(before.branch), taken);
                before.mispredicted.update(|mispredicted| mispredicted + u64::from(missed));
            } else if before.ends != Ends::None {
                let missed = rest.resolve(before, block.pc, predictors);
                before.mispredicted.update(|mispredicted| mispredicted + u64::from(missed));
            }
            if !block.plain {
                rest.special(id, slots, predictors);
            }
            before = block;
            *previous = Some(id);
        }
        instructions
    }
}

impl Rest {
    /// Decides a branch other than Jcc by the address that control has reached. Returns true if it
    /// was mispredicted.
    #[inline(never)]
    fn resolve(&self, before: &Block, pc: u64, predictors: &mut Predictors) -> bool {
        if before.ends == Ends::Compared {
            self.compared && predictors.conditional.record(u64::from(before.branch), pc == before.at)
        } else {
            predictors.indirect.record(u64::from(before.branch), pc)
        }
    }

    /// Feeds the branches that the next record does not decide: the test of RCX, retries of locked
    /// operations, a jump to the next instruction.
    #[inline(never)]
    fn special(&mut self, id: usize, slots: &[u64], predictors: &mut Predictors) {
        let entry = &mut self.index.entries[id];
        let iterates = entry.repeat(slots);
        let last = entry.last_insn() as usize;
        let Some(special) = &entry.special else { return };
        for &retry in &special.retries {
            let insn = (entry.first_insn + u32::from(retry)) as usize;
            let missed = predictors.conditional.record(self.index.insns[insn].pc, false);
            self.mispredicted[insn] += u64::from(missed);
        }
        if let Some((repeat, _)) = special.repeat {
            let missed = predictors.conditional.record(self.index.insns[last].pc, iterates);
            self.mispredicted[last] += u64::from(missed);
            self.compared = iterates && repeat == Repeat::Compare;
        }
        if let Some((slot, inverted)) = special.to_next {
            let jumps = slots.get(usize::from(slot)).is_some_and(|&outcome| outcome != 0);
            let missed = predictors.conditional.record(self.index.insns[last].pc, jumps != inverted);
            self.mispredicted[last] += u64::from(missed);
        }
    }
}
