//! Consumer that drives the branch predictors. The address at which the next record begins decides
//! a branch.

use std::cell::Cell;

use crate::hooks::counts::Counted;
use crate::hooks::lookout::Miss;
use crate::hooks::numbering::Numbers;
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
    /// Blocks by the account's numbers of plans.
    blocks: Vec<Block>,
    rest: Rest,
    /// The block whose branch the next record decides.
    previous: Option<usize>,
}

/// Predictors, and the branch that is not decided yet.
#[derive(Clone, Debug)]
pub(super) struct HeldBranches {
    predictors: Predictors,
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

    /// Predictors in their initial state, and no plans.
    pub(super) fn emptied() -> BranchConsumer {
        BranchConsumer::default()
    }

    /// Copies of the predictors, and no plans.
    pub(super) fn without_counts(&self) -> BranchConsumer {
        BranchConsumer::new(self.predictors.clone())
    }

    /// Exchanges the predictors.
    pub(super) fn swap_predictors(&mut self, other: &mut BranchConsumer) {
        std::mem::swap(&mut self.predictors, &mut other.predictors);
    }

    pub(super) fn counted(&self) -> Counted {
        let inner = self.rest.mispredicted.iter().zip(0..);
        Counted {
            executed: self.blocks.iter().map(|block| block.executed.get()).collect(),
            ended: self.blocks.iter().map(|block| block.mispredicted.get()).collect(),
            mispredicted: inner.filter(|(n, _)| **n != 0).map(|(n, insn)| (insn, *n)).collect(),
            repeated: self.rest.index.repeated(),
            ..Counted::default()
        }
    }

    /// Sets the counts; those that are missing are zero.
    pub(super) fn set_counted(&mut self, counted: &Counted) {
        let executed = counted.executed.iter().copied().chain(std::iter::repeat(0));
        let ended = counted.ended.iter().copied().chain(std::iter::repeat(0));
        for (block, (executed, ended)) in self.blocks.iter().zip(executed.zip(ended)) {
            block.executed.set(executed);
            block.mispredicted.set(ended);
        }
        self.rest.mispredicted.fill(0);
        for &(insn, count) in &counted.mispredicted {
            if let Some(now) = self.rest.mispredicted.get_mut(insn as usize) {
                *now = count;
            }
        }
        self.rest.index.set_repeated(&counted.repeated);
    }

    /// Contents of the predictors.
    pub(super) fn held(&self) -> HeldBranches {
        HeldBranches {
            predictors: self.predictors.clone(),
            compared: self.rest.compared,
            previous: self.previous,
        }
    }

    /// The predictors hold what they held before.
    pub(super) fn hold(&mut self, held: &HeldBranches) {
        self.predictors.clone_from(&held.predictors);
        self.rest.compared = held.compared;
        self.previous = held.previous;
    }

    /// Adds the plan with the next number; `whole` is the number of the plan that it is a prefix
    /// of.
    pub(super) fn add_plan(&mut self, plan: &Plan, whole: Option<usize>) {
        let rest = &mut self.rest;
        let entry = rest.index.add(plan, whole, u16::MAX);
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
    pub(super) fn walk_noting(
        &mut self,
        record: &[u64],
        numbers: impl Numbers,
        note: &mut dyn FnMut(Option<usize>, u64, Miss),
    ) {
        let id = record.first().map_or(0, |&word| numbers.number(Header::of(word).plan));
        let previous = self.previous;
        let mispredicted = |blocks: &[Block]| {
            previous.and_then(|id| blocks.get(id)).map_or(0, |block| block.mispredicted.get())
        };
        let insns = self.rest.index.entries.get(id).map_or(0..0, Entry::insns);
        let before = mispredicted(&self.blocks);
        let own = self.rest.mispredicted.get(insns.clone()).unwrap_or_default().to_vec();
        self.walk(record, numbers);
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

    /// Walks records to the first whose plan has no number. Returns the number of their
    /// instructions and the words that are left.
    pub(super) fn walk<'w>(&mut self, mut words: &'w [u64], numbers: impl Numbers) -> (u64, &'w [u64]) {
        let BranchConsumer { predictors, blocks, rest, previous } = self;
        let blocks = blocks.as_slice();
        let mut instructions = 0;
        let nothing = Block::nothing();
        let mut before = previous.and_then(|id| blocks.get(id)).unwrap_or(&nothing);
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            let id = numbers.number(header.plan);
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
        (instructions, words)
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
