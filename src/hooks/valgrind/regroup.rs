//! The stage between the trace and the consumers: records in, records out, of other plans where a superblock counts
//! otherwise.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ahead::Ahead;
use super::regrouped::{Regrouped, write};
use super::superblock::{Change, Fetch, Superblock, Workshop};
use crate::hooks::count::{EventKind, Repeat};
use crate::hooks::plan::{End, MappingId, Plan, PlanId, PlanTable, PlannedInsn};
use crate::hooks::trace::{BUFFER_WORDS, Header, MAX_BLOCK};

/// Where in a superblock control is: which one, and above [`INDEX_BITS`] how many of its instructions are behind it. Zero is
/// in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Place(u32);

/// Bits of a place for the superblock.
const INDEX_BITS: u32 = 25;

impl Place {
    pub const NONE: Place = Place(0);
    /// A place that control is never at.
    const NOWHERE: Place = Place(u32::MAX);

    fn new(superblock: usize, used: usize) -> Place {
        Place(superblock as u32 | (used as u32) << INDEX_BITS)
    }

    pub fn superblock(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }

    pub fn used(self) -> usize {
        (self.0 >> INDEX_BITS) as usize
    }
}

/// Stands for no plan.
pub(super) const NO_PLAN: PlanId = PlanId(u32::MAX);

/// What becomes of a record of some plan at some place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub from: Place,
    pub to: Place,
    /// The plan of the record that is given out.
    pub plan: PlanId,
    /// The plan of one more record, which has no data.
    pub then: PlanId,
}

impl Step {
    const UNKNOWN: Step = Step { from: Place::NOWHERE, to: Place::NONE, plan: NO_PLAN, then: NO_PLAN };
}

/// All superblocks of a run, and where in one control is.
#[derive(Debug)]
pub struct Regroup {
    /// Those at the addresses in `starts`; the first is none.
    pub(super) superblocks: Vec<Superblock>,
    starts: FxHashMap<u64, u32>,
    ahead: Ahead,
    workshop: Workshop,
    /// The mapping of the second part of a merged one.
    mappings: FxHashMap<u64, MappingId>,
    /// The last step of each plan.
    last: Vec<Step>,
    /// The one from another place before that.
    other: Vec<Step>,
    steps: FxHashMap<(Place, PlanId), Step>,
    pub(super) place: Place,
    /// What happens behind how many words of the trace.
    marks: Vec<(usize, Mark)>,
    /// Whether data events are counted.
    pub(super) counts_data: bool,
}

/// What the records do not say.
#[derive(Debug)]
enum Mark {
    /// A superblock of changed code.
    Changed(Formed),
    /// The last instruction faulted, and `at_access`, not behind its accesses.
    Faulted { at_access: bool },
}

/// What was handed over of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Handed {
    /// Instructions that were executed.
    pub executed: u64,
    /// Words of the buffer.
    pub words: usize,
}

/// Where in a superblock control was at some moment.
#[derive(Clone, Copy, Debug)]
pub struct SavedPlace(Place);

impl Regroup {
    /// Knows no superblock yet. `counts_data` says whether data events are counted.
    pub fn new(counts_data: bool) -> Regroup {
        Regroup {
            superblocks: vec![Superblock::default()],
            starts: FxHashMap::default(),
            ahead: Ahead::default(),
            workshop: Workshop::default(),
            mappings: FxHashMap::default(),
            last: Vec::new(),
            other: Vec::new(),
            steps: FxHashMap::default(),
            place: Place::NONE,
            marks: Vec::new(),
            counts_data,
        }
    }

    /// The superblocks that begin in the engine's block at `pc`, wherever control comes from.
    pub fn form(&mut self, pc: u64, fetch: &mut Fetch<'_>) -> Vec<Formed> {
        let mut formed = Vec::new();
        // A loop that falls out to its own middle comes round to where it was.
        let mut seen = FxHashSet::default();
        for first in std::iter::once(pc).chain(self.ahead.reach(pc)) {
            let (mut next, mut covered) = (Some(first), 0);
            // What control falls out to may be in the middle of a block of the engine.
            while let Some(start) = next.filter(|&start| seen.insert(start)) {
                if covered >= MAX_BLOCK as usize
                    && (self.starts.contains_key(&start) || self.ahead.waits(start))
                {
                    break;
                }
                let superblock = Superblock::form(start, fetch, &mut self.workshop);
                covered += superblock.parts.len();
                next = superblock.falls;
                formed.push(Formed { start, superblock });
            }
        }
        formed
    }

    /// Whether this is known already.
    pub fn knows(&self, formed: &Formed) -> bool {
        let known = self.starts.get(&formed.start).and_then(|&index| self.superblocks.get(index as usize));
        known == Some(&formed.superblock)
    }

    /// Takes it in. If there was another one at its address, this one counts behind so many words that are yet to be
    /// regrouped. The code of the second part of a merged one is from the mapping `second`.
    pub fn add(&mut self, formed: Formed, second: MappingId, behind: usize) {
        if let Some(pc) = formed.second() {
            self.mappings.insert(pc, second);
        }
        if self.starts.contains_key(&formed.start) {
            self.marks.push((behind, Mark::Changed(formed)));
        } else {
            self.insert(formed);
        }
    }

    fn insert(&mut self, formed: Formed) {
        let index = self.superblocks.len() as u32;
        self.superblocks.push(formed.superblock);
        if self.starts.insert(formed.start, index).is_some() {
            // The code is another one now.
            self.steps.clear();
            self.last.fill(Step::UNKNOWN);
            self.other.fill(Step::UNKNOWN);
        }
    }

    /// The instruction that is the last one behind so many words that are yet to be regrouped has faulted: at an access, or
    /// only behind them.
    pub fn fault(&mut self, behind: usize, at_access: bool) {
        self.marks.push((behind, Mark::Faulted { at_access }));
    }

    /// Writes the records that stand for `words`; with `keeps`, not for those at the end that a fault would take back.
    pub fn regroup(
        &mut self,
        words: &[u64],
        keeps: bool,
        plans: &mut PlanTable,
        out: &mut Regrouped<'_>,
    ) -> Handed {
        self.last.resize(plans.len(), Step::UNKNOWN);
        self.other.resize(plans.len(), Step::UNKNOWN);
        let mut handed = Handed { executed: 0, words: 0 };
        for (behind, mark) in std::mem::take(&mut self.marks) {
            let chunk = words.get(handed.words..behind).unwrap_or_default();
            handed.executed += match mark {
                Mark::Changed(formed) => {
                    let (executed, _) = self.walk(chunk, 0, plans, out);
                    self.insert(formed);
                    executed
                }
                Mark::Faulted { at_access } => self.forget(chunk, at_access, plans, out),
            };
            handed.words += chunk.len();
        }
        let rest = words.get(handed.words..).unwrap_or_default();
        let (executed, walked) =
            if keeps { self.walk_counted(rest, plans, out) } else { self.walk(rest, 0, plans, out) };
        Handed { executed: handed.executed + executed, words: handed.words + walked }
    }

    /// Writes the records for all but the last of `words`, of which `leaves` are left and maybe a part of a record less.
    /// Returns how many instructions were executed, and how many words that were.
    pub(super) fn walk(
        &mut self,
        mut words: &[u64],
        leaves: usize,
        plans: &mut PlanTable,
        out: &mut Regrouped<'_>,
    ) -> (u64, usize) {
        let all = words.len();
        let mut executed = 0;
        let mut place = self.place;
        while words.len() > leaves {
            let before = words.len();
            let (room, mut filled) = out.room();
            while words.len() > leaves && filled < BUFFER_WORDS {
                let Some((&word, tail)) = words.split_first() else { break };
                let header = Header::of(word);
                let Some(next) = tail.get(header.slots..) else { break };
                let Some(&last) = self.last.get(header.plan.0 as usize) else { break };
                let step = if last.from == place { last } else { self.step(place, header.plan, plans) };
                let Some(room) = room.get_mut(filled..) else { break };
                filled += write(room, step, word, tail, header.slots);
                executed += header.instructions;
                place = step.to;
                words = next;
            }
            out.set_filled(filled);
            if words.len() == before {
                // What is there is no record.
                break;
            }
        }
        self.place = place;
        (executed, all - words.len())
    }

    /// The step of a plan whose last one was from another place.
    #[inline(never)]
    pub(super) fn step(&mut self, place: Place, id: PlanId, plans: &mut PlanTable) -> Step {
        let (Some(last), Some(other)) = (self.last.get_mut(id.0 as usize), self.other.get_mut(id.0 as usize))
        else {
            return self.find(place, id, plans);
        };
        std::mem::swap(last, other);
        if last.from != place {
            let step = match self.steps.get(&(place, id)) {
                Some(&known) => known,
                None => {
                    let new = self.find(place, id, plans);
                    self.steps.insert((place, id), new);
                    new
                }
            };
            if let Some(last) = self.last.get_mut(id.0 as usize) {
                *last = step;
            }
            return step;
        }
        *last
    }

    /// Goes through the instructions of a plan from a place on.
    fn find(&self, from: Place, id: PlanId, plans: &mut PlanTable) -> Step {
        let same = |to| Step { from, to, plan: id, then: NO_PLAN };
        let Some(plan) = plans.get(id).cloned() else { return same(Place::NONE) };
        let (mut index, mut used) = (from.superblock(), from.used());
        if plan.insns.is_empty() {
            // Control is at this address now.
            let superblock = self.superblocks.get(index);
            let part = superblock.and_then(|superblock| superblock.parts.get(used));
            if part.is_none_or(|part| part.pc != plan.pc) {
                return same(Place::NONE);
            }
            // In the second part of a merged one its branch waits for where control goes behind it.
            let waits =
                superblock.and_then(|superblock| superblock.merged).is_some_and(|second| used >= second);
            return if waits { Step { from, to: from, plan: NO_PLAN, then: NO_PLAN } } else { same(from) };
        }
        let mut changes = Vec::with_capacity(plan.insns.len());
        let mut counted = 0;
        for insn in &plan.insns {
            (index, used) = self.arrive(index, used, insn.pc);
            let superblock = self.superblocks.get(index);
            counted += usize::from(
                superblock.and_then(|superblock| superblock.merged).is_some_and(|second| used >= second),
            );
            let part = superblock.and_then(|superblock| superblock.parts.get(used));
            changes.push(part.map_or(Change::default(), |part| part.change));
            (index, used) = self.pass(index, used);
        }
        let to = if index == 0 { Place::NONE } else { Place::new(index, used) };
        if counted == plan.insns.len() {
            return Step { from, to, plan: NO_PLAN, then: NO_PLAN };
        }
        let plan_id = if changes.iter().all(|change| *change == Change::default()) {
            id
        } else {
            plans.add(changed(&plan, id, &changes))
        };
        let superblock = self.superblocks.get(index).filter(|_| index > 0);
        let then = superblock
            .filter(|superblock| superblock.merged == Some(used))
            .map_or(NO_PLAN, |superblock| plans.add(self.second(superblock, used)));
        Step { from, to, plan: plan_id, then }
    }

    /// Where control is when it is at `pc` and was so far in a superblock: there, or at the start of another one.
    fn arrive(&self, index: usize, used: usize, pc: u64) -> (usize, usize) {
        let part = self.superblocks.get(index).and_then(|superblock| superblock.parts.get(used));
        match part.is_some_and(|part| part.pc == pc) {
            true => (index, used),
            false => (self.starts.get(&pc).map_or(0, |&index| index as usize), 0),
        }
    }

    /// One instruction further; in none at the end of a superblock.
    fn pass(&self, index: usize, used: usize) -> (usize, usize) {
        match self.superblocks.get(index) {
            Some(superblock) if used + 1 < superblock.parts.len() => (index, used + 1),
            _ => (0, 0),
        }
    }

    /// Where the last of a plan's instructions is, if control was at this place before them: in which superblock, and which
    /// of its instructions.
    pub(super) fn last_of(&self, from: Place, plan: &Plan) -> (usize, usize) {
        let (mut at, mut next) = ((0, 0), (from.superblock(), from.used()));
        for insn in &plan.insns {
            at = self.arrive(next.0, next.1, insn.pc);
            next = self.pass(at.0, at.1);
        }
        at
    }

    /// The plan of the second part of a merged superblock, which only computes.
    fn second(&self, superblock: &Superblock, first: usize) -> Plan {
        let parts = superblock.parts.get(first..).unwrap_or_default();
        let pc = parts.first().map_or(0, |part| part.pc);
        let mut plan =
            Plan::empty(pc, self.mappings.get(&pc).copied().unwrap_or(crate::hooks::plan::NO_MAPPING));
        let planned = |part: &super::superblock::Part| PlannedInsn { pc: part.pc, len: part.len };
        plan.insns = parts.iter().map(planned).collect();
        plan.end = End::Conditional;
        plan
    }

    /// Where it is.
    pub fn save(&self) -> SavedPlace {
        SavedPlace(self.place)
    }

    /// Goes back there. What was not yet regrouped is gone.
    pub fn restore(&mut self, saved: SavedPlace) {
        self.place = saved.0;
        for (_, mark) in std::mem::take(&mut self.marks) {
            if let Mark::Changed(formed) = mark {
                self.insert(formed);
            }
        }
    }
}

/// A superblock and where it begins.
#[derive(Debug)]
pub struct Formed {
    start: u64,
    superblock: Superblock,
}

impl Formed {
    /// The address of the second part of a merged one.
    pub fn second(&self) -> Option<u64> {
        Some(self.superblock.parts.get(self.superblock.merged?)?.pc)
    }
}

/// A plan with the counts of its instructions changed.
fn changed(plan: &Plan, id: PlanId, changes: &[Change]) -> Plan {
    let mut new = Plan { prefix_of: Some(plan.prefix_of.unwrap_or(id)), ..plan.clone() };
    let mut numbers = vec![0_u32; plan.insns.len()];
    for event in &mut new.events {
        let at = usize::from(event.insn);
        let (Some(number), Some(change)) = (numbers.get_mut(at), changes.get(at)) else { continue };
        let bit = 1_u8.checked_shl(*number).unwrap_or(0);
        *number += 1;
        if change.dropped & bit != 0 {
            event.kind = EventKind::Uncounted;
        } else if change.stores & bit != 0 {
            event.kind = EventKind::Write;
        }
    }
    let gone = changes.last().map_or(0, |change| change.branches);
    if gone & 1 != 0 {
        new.end = match plan.end {
            // The comparison stays a branch: it is taken if the instruction is repeated.
            End::Repeat(Repeat::Compare, _) if gone & 2 == 0 => End::Conditional,
            _ => End::None,
        };
    }
    new
}
