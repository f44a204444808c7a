//! The stage between the trace and the consumers: records in, records out, of other plans where a superblock counts
//! otherwise.

use rustc_hash::FxHashMap;

use super::superblock::{Change, Fetch, Superblock};
use crate::hooks::count::{EventKind, Repeat};
use crate::hooks::plan::{End, MappingId, Plan, PlanId, PlanTable, PlannedInsn};
use crate::hooks::ring::Link;
use crate::hooks::trace::{BUFFER_WORDS, Header};

/// Where in a superblock control is: which one, and above [`INDEX_BITS`] how many of its instructions are behind it. Zero is
/// in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Place(u32);

/// Bits of a place for the superblock.
const INDEX_BITS: u32 = 25;

impl Place {
    const NONE: Place = Place(0);
    /// A place that control is never at.
    const NOWHERE: Place = Place(u32::MAX);

    fn new(superblock: usize, used: usize) -> Place {
        Place(superblock as u32 | (used as u32) << INDEX_BITS)
    }

    fn superblock(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }

    fn used(self) -> usize {
        (self.0 >> INDEX_BITS) as usize
    }
}

/// Stands for no plan.
const NO_PLAN: PlanId = PlanId(u32::MAX);

/// What becomes of a record of some plan at some place.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Step {
    from: Place,
    to: Place,
    /// The plan of the record that is given out.
    plan: PlanId,
    /// The plan of one more record, which has no data.
    then: PlanId,
}

impl Step {
    const UNKNOWN: Step = Step { from: Place::NOWHERE, to: Place::NONE, plan: NO_PLAN, then: NO_PLAN };
}

/// Words that are copied at once; few records have more slots.
const CHUNK: usize = 8;

/// A function of its own, so that the few are not copied by a call of the library.
#[inline(never)]
fn copy_many(from: &[u64], to: &mut [u64], many: usize) {
    if let (Some(from), Some(to)) = (from.get(..many), to.get_mut(..many)) {
        to.copy_from_slice(from);
    }
}

/// The records that are given out, in buffers of the link.
pub struct Regrouped<'a> {
    link: &'a mut Link,
    words: Box<[u64]>,
    filled: usize,
    full: Vec<(Box<[u64]>, usize)>,
}

impl<'a> Regrouped<'a> {
    /// None yet.
    pub fn new(link: &'a mut Link) -> Regrouped<'a> {
        let words = link.buffer();
        Regrouped { link, words, filled: 0, full: Vec::new() }
    }

    /// The buffers, and how many words are in each.
    pub fn finish(mut self) -> Vec<(Box<[u64]>, usize)> {
        self.full.push((self.words, self.filled));
        self.full
    }

    /// Writes what becomes of a record, whose slots are the first of `tail`. Almost without branches of its own: what the
    /// program does next is as hard to foresee here as there.
    #[inline(always)]
    fn write(&mut self, step: &Step, word: u64, tail: &[u64], slots: usize) {
        let Some((header, room)) = self.words.get_mut(self.filled..).and_then(<[u64]>::split_first_mut)
        else {
            return;
        };
        *header = word >> 32 << 32 | u64::from(step.plan.0);
        match (tail.first_chunk::<CHUNK>(), room.first_chunk_mut::<CHUNK>()) {
            (Some(from), Some(to)) if slots <= CHUNK => *to = *from,
            _ => copy_many(tail, room, slots),
        }
        self.filled += if step.plan == NO_PLAN { 0 } else { 1 + slots };
        // A second part counts no instruction as executed: those that were have records of their own.
        if let Some(then) = self.words.get_mut(self.filled) {
            *then = u64::from(step.then.0);
        }
        self.filled += usize::from(step.then != NO_PLAN);
        if self.filled >= BUFFER_WORDS {
            self.next_buffer();
        }
    }

    #[cold]
    fn next_buffer(&mut self) {
        let empty = self.link.buffer();
        self.full.push((std::mem::replace(&mut self.words, empty), self.filled));
        self.filled = 0;
    }
}

/// All superblocks of a run, and where in one control is.
#[derive(Debug)]
pub struct Regroup {
    /// Those at the addresses in `starts`; the first is none.
    superblocks: Vec<Superblock>,
    starts: FxHashMap<u64, u32>,
    /// The mapping of the second part of a merged one.
    mappings: FxHashMap<u64, MappingId>,
    /// The last step of each plan.
    last: Vec<Step>,
    steps: FxHashMap<(Place, PlanId), Step>,
    place: Place,
    /// Superblocks of changed code, and behind how many words of the trace they count.
    changed: Vec<(usize, Formed)>,
}

/// Where in a superblock control was at some moment.
#[derive(Clone, Copy, Debug)]
pub struct SavedPlace(Place);

impl Default for Regroup {
    fn default() -> Regroup {
        Regroup {
            superblocks: vec![Superblock::default()],
            starts: FxHashMap::default(),
            mappings: FxHashMap::default(),
            last: Vec::new(),
            steps: FxHashMap::default(),
            place: Place::NONE,
            changed: Vec::new(),
        }
    }
}

impl Regroup {
    /// What is translated together with the code at `pc`, and with what it falls out to.
    pub fn form(pc: u64, fetch: &mut Fetch<'_>) -> Vec<Formed> {
        let mut formed = Vec::new();
        let mut next = Some(pc);
        // What control falls out to may be in the middle of a block of the engine.
        while let Some(start) = next.filter(|_| formed.len() < MOST_FORMED) {
            let superblock = Superblock::form(start, fetch);
            next = superblock.falls;
            formed.push(Formed { start, superblock });
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
            self.changed.push((behind, formed));
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
        }
    }

    /// Writes the records that stand for `words`. Returns how many instructions were executed.
    pub fn regroup(&mut self, words: &[u64], plans: &mut PlanTable, out: &mut Regrouped<'_>) -> u64 {
        self.last.resize(plans.len(), Step::UNKNOWN);
        let (mut executed, mut start) = (0, 0);
        for (behind, formed) in std::mem::take(&mut self.changed) {
            executed += self.walk(words.get(start..behind).unwrap_or_default(), plans, out);
            start = behind;
            self.insert(formed);
        }
        executed + self.walk(words.get(start..).unwrap_or_default(), plans, out)
    }

    fn walk(&mut self, mut words: &[u64], plans: &mut PlanTable, out: &mut Regrouped<'_>) -> u64 {
        let mut executed = 0;
        let mut place = self.place;
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            executed += header.instructions;
            let Some(&last) = self.last.get(header.plan.0 as usize) else { break };
            let step = if last.from == place { last } else { self.step(place, header.plan, plans) };
            place = step.to;
            let Some(next) = tail.get(header.slots..) else { break };
            out.write(&step, word, tail, header.slots);
            words = next;
        }
        self.place = place;
        executed
    }

    /// The step of a plan whose last one was from another place.
    #[inline(never)]
    fn step(&mut self, place: Place, id: PlanId, plans: &mut PlanTable) -> Step {
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
        step
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
            let mut part = self.superblocks.get(index).and_then(|superblock| superblock.parts.get(used));
            if part.is_none_or(|part| part.pc != insn.pc) {
                index = self.starts.get(&insn.pc).map_or(0, |&index| index as usize);
                used = 0;
                part = self.superblocks.get(index).and_then(|superblock| superblock.parts.first());
            }
            let superblock = self.superblocks.get(index);
            counted += usize::from(
                superblock.and_then(|superblock| superblock.merged).is_some_and(|second| used >= second),
            );
            changes.push(part.map_or(Change::default(), |part| part.change));
            used += 1;
            if superblock.is_none_or(|superblock| used >= superblock.parts.len()) {
                (index, used) = (0, 0);
            }
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

    /// Goes back there.
    pub fn restore(&mut self, saved: SavedPlace) {
        self.place = saved.0;
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

/// Most superblocks that are formed for one block of the engine, which has at most 512 instructions; others begin where
/// control goes.
const MOST_FORMED: usize = 64;

/// A plan with the counts of its instructions changed.
fn changed(plan: &Plan, id: PlanId, changes: &[Change]) -> Plan {
    let mut new = Plan { prefix_of: Some(plan.prefix_of.unwrap_or(id)), ..plan.clone() };
    let mut numbers = vec![0_u32; plan.insns.len()];
    for event in &mut new.events {
        let at = usize::from(event.insn);
        let (Some(number), Some(change)) = (numbers.get_mut(at), changes.get(at)) else { continue };
        let bit = 1_u64.checked_shl(*number).unwrap_or(0);
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
