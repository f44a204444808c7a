//! Usual successors of blocks, from samples of the trace or from counts of executions: generated
//! code has those that mostly follow each other as one superblock.

use rustc_hash::FxHashMap;

use crate::hooks::control::Control;
use crate::hooks::executions::Count;
use crate::hooks::plan::{MappingId, Plan};
use crate::hooks::plan_table::PlanTable;
use crate::hooks::record::{Header, PlanId};

/// Records of a buffer that are looked at.
const SAMPLE: usize = 2048;

/// Buffers that are all looked at, and of how many after them one is.
const EVERY: u32 = 256;
const LATER: u32 = 8;

/// Times that a block is seen in samples, and that it is executed, before it begins a superblock.
const HOT: u32 = 256;
const HOT_COUNT: u32 = 4096;

/// Questions between two looks at the counts, but for the first ones; and plans for each of which
/// there is one more, as a look takes longer then.
const QUESTIONS: u32 = 16;
const PLANS: u32 = 256;

/// Times that a block is seen with one successor for each time with another, where that is usual.
const USUAL: u32 = 3;

/// Block as the samples have it.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// It is one block, and not a superblock or a part of one.
    is_block: bool,
    is_hot: bool,
    /// Times that the block followed which begins at `next`, and that another did.
    times: u32,
    others: u32,
    next: u64,
    /// Executions, if they are counted.
    executed: u32,
}

/// Blocks with what follows them.
#[derive(Debug, Default)]
pub(crate) struct Successors {
    /// By plan.
    seen: Vec<Seen>,
    /// Plans of blocks, by where they begin.
    places: FxHashMap<(MappingId, u64), PlanId>,
    /// Blocks that have become hot since somebody asked.
    hot: Vec<PlanId>,
    /// Buffers so far.
    buffers: u32,
    /// Questions since the last look at the counts.
    questions: u32,
}

impl Successors {
    /// Learns of the plan of a block that is not part of a superblock.
    pub(super) fn translated(&mut self, id: PlanId, plan: &Plan) {
        let at = id.0 as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, Seen::default());
        }
        self.seen[at].is_block = true;
        self.places.insert((plan.mapping, plan.pc), id);
    }

    /// Looks at the first records of a buffer, but not of all when there have been many.
    pub(super) fn sample(&mut self, words: &[u64], plans: &PlanTable) {
        self.buffers = self.buffers.wrapping_add(1);
        if self.buffers > EVERY && !self.buffers.is_multiple_of(LATER) {
            return;
        }
        let (mut at, mut before) = (0, None);
        for _ in 0..SAMPLE {
            let Some(&word) = words.get(at) else { return };
            let header = Header::of(word);
            at += 1 + header.slots;
            if Control::is(header) || header.instructions == 0 {
                before = None;
                continue;
            }
            if let Some(before) = before.replace(header.plan)
                && let Some(next) = plans.get(header.plan)
            {
                self.follows(before, next.pc);
            }
        }
    }

    fn follows(&mut self, before: PlanId, next: u64) {
        let Some(seen) = self.seen.get_mut(before.0 as usize).filter(|seen| seen.is_block) else { return };
        if seen.next == next {
            seen.times = seen.times.saturating_add(1);
        } else if seen.others < seen.times {
            seen.others += 1;
        } else {
            (seen.next, seen.times, seen.others) = (next, 1, 0);
        }
        if !seen.is_hot && seen.times >= HOT {
            seen.is_hot = true;
            self.hot.push(before);
        }
    }

    /// Looks at counts of executions by plan now and then.
    pub(super) fn count(&mut self, counts: &[Count]) {
        self.questions = self.questions.wrapping_add(1);
        let between = QUESTIONS + self.seen.len() as u32 / PLANS;
        if self.questions > QUESTIONS && !self.questions.is_multiple_of(between) {
            return;
        }
        for (id, (seen, count)) in (0..).zip(self.seen.iter_mut().zip(counts)) {
            seen.executed = seen.executed.max(count.executed);
            if seen.is_block && !seen.is_hot && seen.executed >= HOT_COUNT {
                seen.is_hot = true;
                self.hot.push(PlanId(id));
            }
        }
    }

    fn at(&self, mapping: MappingId, pc: u64) -> Option<&Seen> {
        let plan = self.places.get(&(mapping, pc))?;
        self.seen.get(plan.0 as usize)
    }

    /// Tests whether the block at a place is to begin a superblock.
    pub(crate) fn is_hot(&self, mapping: MappingId, pc: u64) -> bool {
        self.at(mapping, pc).is_some_and(|seen| seen.is_hot)
    }

    /// The usual one of two addresses to which control goes from the block at a place.
    pub(crate) fn usual(&self, mapping: MappingId, pc: u64, ways: [u64; 2]) -> Option<u64> {
        let seen = self.at(mapping, pc)?;
        if seen.times > 0 {
            let is_usual = u64::from(seen.times) > u64::from(USUAL) * u64::from(seen.others);
            return (is_usual && ways.contains(&seen.next)).then_some(seen.next);
        }
        let [one, other] = ways.map(|pc| self.at(mapping, pc).map_or(0, |seen| u64::from(seen.executed)));
        match () {
            () if one > u64::from(USUAL) * other => Some(ways[0]),
            () if other > u64::from(USUAL) * one => Some(ways[1]),
            () => None,
        }
    }

    /// Takes the blocks that have become hot.
    pub(super) fn take_hot(&mut self) -> Vec<PlanId> {
        std::mem::take(&mut self.hot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with blocks of one instruction at these addresses.
    fn blocks(pcs: &[u64]) -> (PlanTable, Successors, Vec<u64>) {
        let (mut plans, mut successors) = (PlanTable::default(), Successors::default());
        let headers = pcs.iter().map(|&pc| {
            let mut plan = Plan::empty(pc, 7);
            plan.insns.push(crate::hooks::plan::PlannedInsn::new(pc, 2));
            let id = plans.insert(plan.clone());
            successors.translated(id, &plan);
            plan.header(id)
        });
        let headers = headers.collect();
        (plans, successors, headers)
    }

    #[test]
    fn what_mostly_follows_is_usual() {
        let (plans, mut successors, headers) = blocks(&[0x10, 0x20, 0x30]);
        let [a, b, c] = headers[..] else { panic!("three blocks") };
        for _ in 0..HOT {
            successors.sample(&[a, b, a, b, a, b, a, b, a, b, a, b, a, b, a, c, a, b, a, b], &plans);
        }
        assert_eq!(successors.usual(7, 0x10, [0x30, 0x20]), Some(0x20));
        assert_eq!(successors.usual(7, 0x10, [0x30, 0x40]), None);
        assert!(successors.is_hot(7, 0x10) && !successors.is_hot(8, 0x10));
        assert!(successors.take_hot().contains(&PlanId(0)) && successors.take_hot().is_empty());
        // In turn, neither.
        let (plans, mut successors, headers) = blocks(&[0x10, 0x20, 0x30]);
        let [a, b, c] = headers[..] else { panic!("three blocks") };
        for _ in 0..HOT {
            successors.sample(&[a, b, a, c, a, b, a, c, a], &plans);
        }
        assert_eq!(successors.usual(7, 0x10, [0x20, 0x30]), None);
    }

    #[test]
    fn what_is_executed_much_more_often_is_usual() {
        let (_, mut successors, _) = blocks(&[0x10, 0x20, 0x30]);
        let counts = [HOT_COUNT, HOT_COUNT, 9].map(|executed| Count { executed, mispredicted: 0 });
        for _ in 0..QUESTIONS {
            successors.count(&counts);
        }
        assert_eq!(successors.take_hot(), [PlanId(0), PlanId(1)]);
        assert_eq!(successors.usual(7, 0x10, [0x30, 0x20]), Some(0x20));
        assert_eq!(successors.usual(7, 0x10, [0x10, 0x20]), None);
    }
}
