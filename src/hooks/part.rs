//! One part of the simulation of an account: the simulators, and the counts that they add to. The
//! walk over records is in `walk.rs`.

use std::cell::Cell;
use std::sync::Arc;

use crate::hooks::counts::{Counted, Kind, Misses, Repeated};
use crate::hooks::executions::Count;
use crate::hooks::last_level::{Below, LastLevel};
use crate::hooks::numbering::Numbering;
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::{Ends, Entry, PlanIndex};
use crate::hooks::predictors::{PREDICTOR_BYTES, Predictors};
use crate::hooks::record::PlanId;
use crate::hooks::saved_caches::SavedCaches;
use crate::hooks::sparse::Sparse;
use crate::sim::{Cache, Geometry, Held, Hierarchy, Line};

/// Bits of the address of a branch that the predictors use.
const BRANCH_BITS: u64 = 0x1ff;

/// Data events whose sizes are stored in the block.
pub(super) const NEAR: usize = 8;

/// Hot part of a plan, one cache line. The counters are cells so that the walk can keep references
/// to several blocks.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Block {
    pub(super) pc: u64,
    /// Address that decides the branch at its end: of the next instruction, or of a repeated
    /// comparison itself.
    pub(super) decides: u64,
    pub(super) executed: Cell<u64>,
    /// Mispredictions of the branch at its end.
    pub(super) mispredicted: Cell<u64>,
    /// Age of I1 after its fetches, if all hit. While I1 has this age, fetching them again changes
    /// nothing.
    pub(super) age: Cell<u64>,
    /// Its I1 lines, if there are at most two and the block is plain.
    pub(super) near: [Line; 2],
    /// Sizes less 1 of the first data events.
    pub(super) reach: [u8; NEAR],
    pub(super) first_event: u32,
    /// Low bits of the address of the branch at its end, which the predictors use.
    pub(super) branch: u16,
    /// That branch, if the next record decides it.
    pub(super) ends: Ends,
    /// It has one event per slot and no branch but the one at its end.
    pub(super) plain: bool,
}

const _: () = assert!(size_of::<Block>() == 64);

impl Block {
    /// Stand-in for the block before the first.
    pub(super) fn nothing() -> Block {
        Block {
            pc: 0,
            decides: 0,
            executed: Cell::new(0),
            mispredicted: Cell::new(0),
            age: Cell::new(0),
            near: [Line::NONE; 2],
            reach: [0; NEAR],
            first_event: 0,
            branch: 0,
            ends: Ends::None,
            plain: true,
        }
    }
}

/// Levels of caches that are driven elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ToldLevels {
    #[default]
    None,
    /// I1 and D1: it is told what has missed these.
    First,
    /// All of them.
    All,
}

/// Simulators that are driven elsewhere, so that their misses are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The caches.
    pub(crate) levels: ToldLevels,
    /// The branch predictors.
    pub(crate) branches: bool,
}

/// Simulators of a part. Caches and predictors are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simulated {
    pub(super) caches: bool,
    pub(super) branches: bool,
    /// Those that are driven elsewhere.
    pub(super) told: Told,
}

/// Simulators and counts. A simulator that is not asked for is as small as can be, and unused.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) simulated: Simulated,
    pub(super) caches: Box<Hierarchy>,
    pub(super) predictors: Predictors,
    /// Blocks by the account's numbers of plans.
    pub(super) blocks: Vec<Block>,
    /// Executions of blocks that were counted without a look at them.
    pub(super) executed: Vec<u64>,
    pub(super) rest: Rest,
    /// The block whose branch the next record decides.
    pub(super) previous: Option<usize>,
    /// Numbers of the blocks that are simulated and not counted.
    uncounted: Vec<usize>,
}

/// Parts of plans and counts that the walk needs for few records.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    pub(super) index: PlanIndex,
    /// Misses, by instruction.
    pub(super) misses: Sparse<Misses>,
    /// Mispredictions of branches that do not end a block, by instruction.
    pub(super) mispredicted: Sparse<u64>,
    /// I1 lines of all blocks, in the order of fetching, and the instruction that first fetches
    /// from each.
    pub(super) lines: Vec<(Line, u16)>,
    /// Index of the first line of each block, and of no block.
    pub(super) first_lines: Vec<u32>,
    /// Sizes less 1 of all data events.
    pub(super) reach: Vec<u8>,
    /// Fetches of the current block that missed I1 and are not yet in [`Rest::below`].
    pub(super) missed: Vec<u32>,
    /// Accesses that missed I1 or D1 and have to access LL, in order.
    pub(super) below: Vec<Below>,
    /// LL and the counts of misses are lent.
    pub(super) lent: bool,
    /// The last repeated comparison took place: RCX was not zero.
    pub(super) compared: bool,
    pub(super) log: Log,
}

/// Misses by record, for the call graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Number of the record that is walked, from 1 on; 0 if nothing is logged.
    pub(super) record: u32,
    /// Records, kinds of accesses that missed the first level, and whether they missed LL.
    pub(super) below: Vec<(u32, Kind, bool)>,
    /// Records, and whether it was an indirect branch that was mispredicted; room for more behind.
    mispredicted: Vec<(u32, bool)>,
    /// Number of those.
    mispredictions: usize,
}

/// Mispredictions that a log makes room for when it has none.
const LOG_ROOM: usize = 1 << 10;

impl Log {
    /// Notes a branch if it was mispredicted.
    #[inline(always)]
    pub(super) fn mispredicted<const LOG: bool>(&mut self, ends: Ends, missed: bool) {
        if !LOG {
            return;
        }
        if self.mispredictions == self.mispredicted.len() {
            self.mispredicted.resize(self.mispredictions + LOG_ROOM, (0, false));
        }
        // Written in any case: the host's CPU would mispredict whether as often as the guest does.
        self.mispredicted[self.mispredictions] = (self.record, ends == Ends::Indirect);
        self.mispredictions += usize::from(missed);
    }

    /// Records, and whether it was an indirect branch that was mispredicted, in order.
    pub(super) fn mispredictions(&self) -> &[(u32, bool)] {
        self.mispredicted.get(..self.mispredictions).unwrap_or_default()
    }

    /// Begins again.
    pub(super) fn clear(&mut self) {
        self.record = 0;
        self.below.clear();
        self.mispredictions = 0;
    }
}

/// Contents of the simulators.
#[derive(Clone, Debug)]
pub(super) struct HeldPart {
    caches: Option<Box<Held>>,
    predictors: Option<Box<Predictors>>,
    compared: bool,
    previous: Option<usize>,
}

impl HeldPart {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.caches.as_ref().map_or(0, |held| held.bytes())
            + self.predictors.as_ref().map_or(0, |_| PREDICTOR_BYTES)
    }
}

/// The smallest shape with the lines of another.
fn least(shape: Geometry) -> Geometry {
    Geometry::new(2 * u64::from(shape.line()), 1, shape.line()).unwrap_or(shape)
}

/// Shape of a cache that is not simulated.
const UNUSED: Geometry = match Geometry::new(32, 1, 16) {
    Ok(shape) => shape,
    Err(_) => panic!("two lines of 16 bytes are a cache"),
};

impl Part {
    /// A part with these simulators, and no plans.
    pub(super) fn new(caches: Option<Hierarchy>, predictors: Option<Predictors>) -> Part {
        let branches = predictors.is_some();
        let simulated = Simulated { caches: caches.is_some(), branches, told: Told::default() };
        let caches = caches.unwrap_or_else(|| Hierarchy::new(UNUSED, UNUSED, UNUSED));
        Part::of(simulated, Box::new(caches), predictors.unwrap_or_default())
    }

    fn of(simulated: Simulated, caches: Box<Hierarchy>, predictors: Predictors) -> Part {
        let rest = Rest { first_lines: vec![0], ..Rest::default() };
        Part {
            simulated,
            caches,
            predictors,
            blocks: Vec::new(),
            executed: Vec::new(),
            rest,
            previous: None,
            uncounted: Vec::new(),
        }
    }

    fn with_shapes(&self, shape: impl Fn(Geometry) -> Geometry) -> Part {
        let Hierarchy { i1, d1, ll } = &*self.caches;
        let [i1, d1, ll] = [i1.geometry(), d1.geometry(), ll.geometry()].map(shape);
        Part::of(self.simulated, Box::new(Hierarchy::new(i1, d1, ll)), Predictors::default())
    }

    /// The same simulators in their initial state, and no plans.
    pub(super) fn emptied(&self) -> Part {
        self.with_shapes(|shape| shape)
    }

    /// The same kind of part without plans, for simulators that it gets later.
    pub(super) fn without_simulators(&self) -> Part {
        self.with_shapes(least)
    }

    /// Copies of the simulators, and no plans.
    pub(super) fn without_counts(&self) -> Part {
        Part::of(self.simulated, self.caches.clone(), self.predictors.clone())
    }

    /// Exchanges the simulators of two parts of one kind.
    pub(super) fn swap_simulators(&mut self, other: &mut Part) {
        std::mem::swap(&mut self.caches, &mut other.caches);
        std::mem::swap(&mut self.predictors, &mut other.predictors);
    }

    /// Adds the plan with the next number; `whole` is the number of the plan that it is a prefix
    /// of.
    pub(super) fn add_plan(&mut self, plan: &Plan, whole: Option<usize>) {
        let Part { simulated, caches, rest, .. } = self;
        let clip =
            if simulated.caches { u16::try_from(caches.min_line()).unwrap_or(u16::MAX) } else { u16::MAX };
        let entry = rest.index.add(plan, whole, clip);
        let (first_event, plain) = (entry.first_event, entry.special.is_none());
        let ends = if entry.ends == Ends::ToNext { Ends::None } else { entry.ends };
        let last = plan.insns.last().map_or(0, |insn| insn.pc());
        let mut block = Block {
            pc: plan.pc,
            decides: if ends == Ends::Compared { last } else { plan.fall_through() },
            first_event,
            branch: (last & BRANCH_BITS) as u16,
            ends,
            plain,
            ..Block::nothing()
        };
        if simulated.caches {
            let events = rest.index.data.get(first_event as usize..).unwrap_or_default();
            rest.reach.extend(events.iter().map(|event| event.size.saturating_sub(1).min(255) as u8));
            for (near, reach) in block.reach.iter_mut().zip(rest.reach.iter().skip(first_event as usize)) {
                *near = *reach;
            }
            block.near = rest.add_lines(plan, caches);
            if !rest.lent {
                rest.misses.grow(rest.index.insns.len());
            }
        }
        if simulated.branches {
            rest.mispredicted.grow(rest.index.insns.len());
        }
        self.blocks.push(block);
        self.executed.push(0);
    }

    /// Leaves the plan that was added last out of the counts.
    pub(super) fn leave_last_out(&mut self) {
        self.uncounted.push(self.blocks.len() - 1);
    }

    /// Adds executions of the plan with a number, and mispredictions of the branch at its end.
    pub(super) fn add_executions(&mut self, number: usize, count: &Count) {
        if let Some(block) = self.blocks.get(number) {
            block.executed.update(|executed| executed + u64::from(count.executed));
            block.mispredicted.update(|mispredicted| mispredicted + u64::from(count.mispredicted));
        }
    }

    /// Adds executions of the repeated string instruction at the end of the plan with a number.
    pub(super) fn add_repeated(&mut self, number: usize, repeated: &Repeated) {
        let entry = self.rest.index.entries.get_mut(number);
        if let Some(special) = entry.and_then(|entry| entry.special.as_mut()) {
            special.repeated.iterations += repeated.iterations;
            special.repeated.branches += repeated.branches;
        }
    }

    /// Adds mispredictions of a branch that does not end the plan with a number, by the index of
    /// its instruction.
    pub(super) fn add_mispredicted(&mut self, number: usize, insn: u16, count: u64) {
        let Some(entry) = self.rest.index.entries.get(number) else { return };
        self.rest.mispredicted.add(entry.first_insn as usize + usize::from(insn), count);
    }

    /// Simulates from here on what it is not told of.
    pub(super) fn set_told(&mut self, told: Told) {
        self.simulated.told = told;
        self.previous = None;
    }

    /// Adds misses of the instruction with an index in the plan with a number.
    pub(super) fn add_misses(&mut self, number: usize, insn: u16, misses: &Misses) {
        let Some(entry) = self.rest.index.entries.get(number) else { return };
        if let Some(sum) = self.rest.misses.get_mut(entry.first_insn as usize + usize::from(insn)) {
            sum.append(misses);
        }
    }

    /// The caches get these contents.
    pub(super) fn set_caches(&mut self, saved: &SavedCaches) {
        if !self.simulated.caches {
            return;
        }
        saved.restore(&mut self.caches);
        self.blocks.iter().for_each(|block| block.age.set(0));
    }

    /// The predictors become copies of others.
    pub(super) fn set_predictors(&mut self, predictors: &Predictors) {
        if self.simulated.branches {
            self.predictors.clone_from(predictors);
        }
    }

    /// Takes one execution of the plan with this number back.
    pub(super) fn take_execution_back(&mut self, number: usize) {
        match self.executed.get_mut(number) {
            Some(executed) if *executed > 0 => *executed -= 1,
            _ => {
                if let Some(block) = self.blocks.get(number) {
                    block.executed.update(|executed| executed.saturating_sub(1));
                }
            }
        }
    }

    /// Misses since the log began.
    pub(super) fn log(&mut self) -> &mut Log {
        &mut self.rest.log
    }

    /// The plans.
    pub(super) fn index(&self) -> &PlanIndex {
        &self.rest.index
    }

    /// The counts.
    pub(super) fn counted(&self) -> Counted {
        let by_block = |count: fn(&Block) -> u64| self.blocks.iter().map(count).collect();
        let mut counted = Counted {
            executed: self
                .blocks
                .iter()
                .zip(&self.executed)
                .map(|(its, more)| its.executed.get() + more)
                .collect(),
            ended: if self.simulated.branches {
                by_block(|block| block.mispredicted.get())
            } else {
                Vec::new()
            },
            misses: self.rest.misses.iter().map(|(insn, misses)| (insn, *misses)).collect(),
            mispredicted: self.rest.mispredicted.iter().map(|(insn, count)| (insn, *count)).collect(),
            repeated: self.rest.index.repeated(),
        };
        if !self.uncounted.is_empty() {
            self.leave_out(&mut counted);
        }
        counted
    }

    fn leave_out(&self, counted: &mut Counted) {
        let mut insns = vec![false; self.rest.index.insns.len()];
        for &number in &self.uncounted {
            for count in
                [counted.executed.get_mut(number), counted.ended.get_mut(number)].into_iter().flatten()
            {
                *count = 0;
            }
            let range = self.rest.index.entries.get(number).map_or(0..0, Entry::insns);
            insns.get_mut(range).unwrap_or_default().fill(true);
        }
        let is_out = |insn: u32| insns.get(insn as usize).copied().unwrap_or_default();
        counted.misses.retain(|&(insn, _)| !is_out(insn));
        counted.mispredicted.retain(|&(insn, _)| !is_out(insn));
        // In rising order, as they were added.
        counted.repeated.retain(|&(number, _)| self.uncounted.binary_search(&(number as usize)).is_err());
    }

    /// Sets the counts; those that are missing are zero.
    pub(super) fn set_counted(&mut self, counted: &Counted) {
        let executed = counted.executed.iter().copied().chain(std::iter::repeat(0));
        let ended = counted.ended.iter().copied().chain(std::iter::repeat(0));
        for (block, (executed, ended)) in self.blocks.iter().zip(executed.zip(ended)) {
            block.executed.set(executed);
            block.mispredicted.set(ended);
        }
        self.executed.fill(0);
        self.rest.misses.set(&counted.misses);
        self.rest.mispredicted.set(&counted.mispredicted);
        self.rest.index.set_repeated(&counted.repeated);
    }

    /// Contents of the simulators.
    pub(super) fn held(&self) -> HeldPart {
        let Simulated { caches, branches, told } = self.simulated;
        HeldPart {
            caches: (caches && told.levels != ToldLevels::All).then(|| Box::new(self.caches.held())),
            predictors: (branches && !told.branches).then(|| Box::new(self.predictors.clone())),
            compared: self.rest.compared,
            // Where branches are predicted elsewhere, none waits.
            previous: self.previous.filter(|_| !told.branches),
        }
    }

    /// True if what the plans know of the simulators was right when `held` was saved.
    pub(super) fn is_like(&self, held: &HeldPart) -> bool {
        held.caches.as_ref().is_none_or(|held| self.caches.numbers_lines_as(held))
    }

    /// The simulators hold what they held before.
    pub(super) fn hold(&mut self, held: &HeldPart) {
        if let Some(held) = &held.caches {
            self.caches.hold(held);
            // I1 goes back to an earlier age, which will come again with other contents.
            self.blocks.iter().for_each(|block| block.age.set(0));
        }
        if let Some(predictors) = &held.predictors {
            self.predictors.clone_from(predictors);
        }
        self.rest.compared = held.compared;
        self.previous = held.previous;
    }

    /// Tells if it simulates caches, unless it is told of them.
    pub(super) fn has_caches(&self) -> bool {
        self.simulated.caches
    }

    /// The caches, if this part simulates them or LL.
    pub(super) fn simulated_caches(&self) -> Option<&Hierarchy> {
        (self.simulated.caches && self.simulated.told.levels != ToldLevels::All).then_some(&self.caches)
    }
}

impl Rest {
    /// Lends LL and the counts of misses, which are not here until [`Self::take_back`].
    pub(super) fn lend(&mut self, ll: &mut Cache) -> LastLevel {
        self.lent = true;
        let away = Cache::new(least(ll.geometry()));
        LastLevel { ll: std::mem::replace(ll, away), misses: std::mem::take(&mut self.misses) }
    }

    /// Takes back what was lent.
    pub(super) fn take_back(&mut self, lent: LastLevel, ll: &mut Cache) {
        (*ll, self.misses, self.lent) = (lent.ll, lent.misses, false);
        self.misses.grow(self.index.insns.len());
    }

    /// Adds the I1 lines of the last plan. Returns those that are near.
    fn add_lines(&mut self, plan: &Plan, caches: &mut Hierarchy) -> [Line; 2] {
        let shift = caches.i1.line_shift();
        let first = self.lines.len();
        let mut before = None;
        for (i, insn) in plan.insns.iter().enumerate() {
            let last_byte = insn.pc().wrapping_add(u64::from(insn.len()).max(1) - 1);
            for line in [insn.pc() >> shift, last_byte >> shift] {
                if before.replace(line) != Some(line) {
                    self.lines.push((caches.i1.line(line), i as u16));
                }
            }
        }
        self.first_lines.push(self.lines.len() as u32);
        match self.lines[first..] {
            [] => [Line::NONE; 2],
            [(line, _)] => [line; 2],
            [(first, _), (second, _)] => [first, second],
            _ => [Line::UNKNOWN; 2],
        }
    }
}

/// Adds a plan that has no number to `numbering`, and the plan that it is a prefix of before it.
/// `add` takes the plan and the number of the other.
pub(super) fn number(
    id: PlanId,
    plans: &[Arc<Plan>],
    numbering: &mut Numbering,
    add: &mut dyn FnMut(&Plan, Option<usize>),
) {
    let Some(plan) = plans.get(id.0 as usize) else { return };
    let whole = plan.prefix_of.and_then(|whole| {
        if numbering.get(whole, plans.len()).is_none() {
            add(plans.get(whole.0 as usize)?, None);
            numbering.push(whole);
        }
        numbering.get(whole, plans.len())
    });
    add(plan, whole);
    numbering.push(id);
}
