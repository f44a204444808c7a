//! The stage between the trace and the consumers, in which records get other plans where a superblock counts otherwise.

use rustc_hash::FxHashMap;

use super::ahead::Ahead;
use super::steps::{Before, Place, Step, Steps};
use super::superblock::{Change, Superblock, Workshop};
use crate::hooks::plan::{End, Plan, PlanId, PlanTable, PlannedInsn};
use crate::hooks::trace::{Header, MAX_BLOCK};
use crate::x86::cost::{EventKind, Repeat};
use crate::x86::decode::Fetch;

/// No record of the buffer at hand.
const NO_RECORD: usize = usize::MAX;

/// All superblocks of a run, and where in one control is.
#[derive(Debug)]
pub struct Regroup {
    /// Those at the addresses in `starts`; the first is none.
    pub(super) superblocks: Vec<Superblock>,
    starts: FxHashMap<u64, u32>,
    ahead: Ahead,
    workshop: Workshop,
    pub(super) steps: Steps,
    pub(super) place: Place,
    /// Where the last record with instructions begins.
    last: usize,
    /// Plans of records that count a second part, too, by their own plan.
    joined: FxHashMap<PlanId, PlanId>,
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
            steps: Steps::default(),
            place: Place::NONE,
            last: NO_RECORD,
            joined: FxHashMap::default(),
            marks: Vec::new(),
            counts_data,
        }
    }

    /// The superblocks that begin in the engine's block at `pc`, wherever control comes from.
    pub fn form(&mut self, pc: u64, fetch: &mut Fetch<'_>) -> Vec<Formed> {
        let mut formed: Vec<Formed> = Vec::new();
        for first in std::iter::once(pc).chain(self.ahead.reach(pc)) {
            let (mut next, mut covered) = (Some(first), 0);
            // What control falls out to may be in the middle of a block of the engine. A loop that falls out to its own middle
            // comes round to where it was.
            while let Some(start) = next.filter(|&start| formed.iter().all(|known| known.start != start)) {
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
    /// regrouped.
    pub fn add(&mut self, formed: Formed, behind: usize) {
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
        }
    }

    /// The instruction that is the last one behind so many words that are yet to be regrouped has faulted: at an access, or
    /// only behind them.
    pub fn fault(&mut self, behind: usize, at_access: bool) {
        self.marks.push((behind, Mark::Faulted { at_access }));
    }

    /// Gives the records in `words` the plans that count; with `keeps`, not those at the end that a fault would take back or
    /// that wait for where control goes.
    pub fn regroup(&mut self, words: &mut [u64], keeps: bool, plans: &mut PlanTable) -> Handed {
        self.last = NO_RECORD;
        let mut handed = Handed { executed: 0, words: 0 };
        for (behind, mark) in std::mem::take(&mut self.marks) {
            let end = behind.min(words.len());
            handed = match mark {
                Mark::Changed(formed) => {
                    let walked = self.walk(words, handed, end, plans);
                    self.insert(formed);
                    walked
                }
                Mark::Faulted { at_access } => self.forget(words, handed, end, at_access, plans),
            };
        }
        if keeps {
            self.walk_counted(words, handed, plans)
        } else {
            self.walk(words, handed, words.len(), plans)
        }
    }

    /// Goes on behind what was handed over, through the records that end before `end`.
    pub(super) fn walk(
        &mut self,
        words: &mut [u64],
        mut handed: Handed,
        end: usize,
        plans: &mut PlanTable,
    ) -> Handed {
        let mut place = self.place;
        while let Some(&word) = words.get(handed.words) {
            let header = Header::of(word);
            let next = handed.words + 1 + header.slots;
            if next > end {
                break;
            }
            let step = match self.steps.last(place, header.plan) {
                Some(&step) => step,
                None => self.step(place, header.plan, plans),
            };
            self.rewrite(words, handed.words, step, plans);
            handed.executed += header.instructions;
            handed.words = next;
            place = step.to;
        }
        self.place = place;
        handed
    }

    /// Takes a step with the record at an index.
    #[inline(always)]
    pub(super) fn rewrite(&mut self, words: &mut [u64], at: usize, step: Step, plans: &mut PlanTable) {
        if step.before == Before::Joins {
            self.join(words, step.from, plans);
        }
        let Some(word) = words.get_mut(at) else { return };
        *word = header_with(*word, step.plan);
        if Header::of(*word).instructions > 0 {
            self.last = at;
        }
    }

    /// The last record counts the second part of its superblock, too.
    #[cold]
    fn join(&mut self, words: &mut [u64], place: Place, plans: &mut PlanTable) {
        let Some(word) = words.get_mut(self.last) else { return };
        let first = Header::of(*word).plan;
        let joined = match self.joined.get(&first) {
            Some(&known) => known,
            None => {
                let (index, used) = self.steps.at(place);
                let Some((superblock, plan)) = self.superblocks.get(index).zip(plans.get(first)) else {
                    return;
                };
                let joined = joined(plan, superblock, used);
                let joined = plans.add(joined);
                self.joined.insert(first, joined);
                joined
            }
        };
        *word = header_with(*word, joined);
    }

    /// The step of a plan.
    #[inline(never)]
    pub(super) fn step(&mut self, place: Place, id: PlanId, plans: &mut PlanTable) -> Step {
        if let Some(known) = self.steps.get(place, id) {
            return *known;
        }
        let step = self.find(place, id, plans);
        self.steps.insert(id, step);
        step
    }

    /// Whether control is between the two parts of a merged superblock: where it goes now says whether the second one is
    /// executed.
    pub(super) fn is_between(&self, place: Place) -> bool {
        let (index, used) = self.steps.at(place);
        index > 0 && self.superblocks.get(index).is_some_and(|superblock| superblock.merged == Some(used))
    }

    /// Goes through the instructions of a plan from a place on.
    fn find(&mut self, from: Place, id: PlanId, plans: &mut PlanTable) -> Step {
        let mut step = Step { from, to: Place::NONE, plan: id, before: Before::Stays };
        let Some(plan) = plans.get(id).cloned() else { return step };
        let (mut index, mut used) = self.steps.at(from);
        let goes_on = self.is_next(index, used, plan.pc);
        if self.is_between(from) && !goes_on {
            step.before = Before::Joins;
        }
        if plan.insns.is_empty() {
            // Control is at this address now.
            return Step { to: if goes_on { from } else { Place::NONE }, ..step };
        }
        let mut changes: Vec<Change> = Vec::new();
        for (i, insn) in plan.insns.iter().enumerate() {
            (index, used) = self.arrive(index, used, insn.pc);
            let part = self.superblocks.get(index).and_then(|superblock| superblock.parts.get(used));
            if let Some(part) = part.filter(|part| part.change != Change::default()) {
                changes.resize(plan.insns.len(), Change::default());
                changes[i] = part.change;
            }
            (index, used) = self.pass(index, used);
        }
        let to = self.steps.place(index, used);
        let plan = if changes.is_empty() { id } else { plans.add(changed(&plan, id, &changes)) };
        Step { plan, to, ..step }
    }

    /// Whether the next instruction of a superblock is at `pc`.
    fn is_next(&self, index: usize, used: usize, pc: u64) -> bool {
        let part = self.superblocks.get(index).and_then(|superblock| superblock.parts.get(used));
        part.is_some_and(|part| part.pc == pc)
    }

    /// Where control is when it is at `pc` and was so far in a superblock: there, or at the start of another one.
    fn arrive(&self, index: usize, used: usize, pc: u64) -> (usize, usize) {
        match self.is_next(index, used, pc) {
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
        let (mut at, mut next) = ((0, 0), self.steps.at(from));
        for insn in &plan.insns {
            at = self.arrive(next.0, next.1, insn.pc);
            next = self.pass(at.0, at.1);
        }
        at
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

/// The header of a record with another plan.
fn header_with(word: u64, plan: PlanId) -> u64 {
    word >> 32 << 32 | u64::from(plan.0)
}

/// The plan of a record that ends a superblock's first part and counts the second, which only computes and decides the branch
/// for both.
fn joined(plan: &Plan, superblock: &Superblock, second: usize) -> Plan {
    let parts = superblock.parts.get(second..).unwrap_or_default();
    let its = parts.iter().map(|part| PlannedInsn { pc: part.pc, len: part.len });
    let mut joined = Plan { end: End::Conditional, prefix_of: None, ..plan.clone() };
    joined.insns.extend(its);
    joined
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
