//! The lookout: notes the moments of accesses to memory and of misses, from the records that the
//! simulators read anyway. A moment is the number of instructions executed until then, the one
//! that is noted included.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::hooks::control::Control;
use crate::hooks::plan::Plan;
use crate::hooks::record::Header;
use crate::x86::cost::Access;

/// Watched range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Addresses.
    pub range: Range<u64>,
    /// Number of the address space that they are of, if only one is meant. Accesses by instructions
    /// are noted whatever it is.
    pub space: Option<u32>,
    /// Note loads.
    pub loads: bool,
    /// Note stores.
    pub stores: bool,
}

/// A kind of miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// A fetch missed I1.
    FetchL1,
    /// A fetch missed LL.
    FetchLl,
    /// A load missed D1.
    LoadL1,
    /// A load missed LL.
    LoadLl,
    /// A store missed D1.
    StoreL1,
    /// A store missed LL.
    StoreLl,
    /// A conditional branch was mispredicted.
    Conditional,
    /// The target of an indirect branch was mispredicted.
    Indirect,
}

/// A thing to look out for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Accesses to memory.
    Access(Watched),
    /// Misses, of instructions in a range of addresses or of all.
    Miss(Miss, Option<Range<u64>>),
}

/// A thing that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sighting {
    /// The moment.
    pub moment: u64,
    /// Index of the target in the list.
    pub target: usize,
}

/// Sightings that are kept. Past them the lookout is blind until it is asked.
const MOST: usize = 1 << 14;

/// Records that come later than they were executed: the moment before the first of some, and the
/// number of their instructions.
type Held = VecDeque<(u64, u64)>;

/// The targets, and what was seen of them.
#[derive(Clone, Debug)]
pub(super) struct Lookout {
    targets: Vec<Target>,
    /// Hull of the watched ranges.
    watched: Range<u64>,
    /// Some misses are looked out for.
    misses: bool,
    /// Plans by id.
    plans: Vec<Arc<Plan>>,
    /// Moment before the next record that was not held.
    now: u64,
    /// Records that were held and come next.
    ahead: Held,
    /// Those of tasks that do not run.
    held: BTreeMap<u32, Held>,
    /// Moment after the last record.
    ended: u64,
    /// Moments until here are past.
    since: u64,
    seen: Vec<Sighting>,
    /// Everything is known until this moment, if not until now.
    blind: Option<u64>,
}

impl Lookout {
    /// Looks out for these targets after the moment `since`; the next record begins at `now`.
    /// `plans` are all plans so far.
    pub(super) fn new(targets: Vec<Target>, plans: Vec<Arc<Plan>>, now: u64, since: u64) -> Lookout {
        let ranges = || {
            targets.iter().filter_map(|target| match target {
                Target::Access(watched) => Some(&watched.range),
                Target::Miss(..) => None,
            })
        };
        let low = ranges().map(|range| range.start).min().unwrap_or(0);
        let high = ranges().map(|range| range.end).max().unwrap_or(0);
        let misses = targets.iter().any(|target| matches!(target, Target::Miss(..)));
        Lookout {
            watched: low..high,
            misses,
            targets,
            plans,
            now,
            ahead: Held::new(),
            held: BTreeMap::new(),
            ended: now,
            since,
            seen: Vec::new(),
            blind: None,
        }
    }

    /// Learns of the plans that came with a buffer.
    pub(super) fn add_plans(&mut self, plans: &[Arc<Plan>]) {
        self.plans.extend(plans.iter().cloned());
    }

    /// True if misses have to be noted.
    pub(super) fn wants_misses(&self) -> bool {
        self.misses && self.blind.is_none()
    }

    /// Notes the accesses of a record.
    pub(super) fn accesses(&mut self, header: Header, slots: &[u64]) {
        let hull = self.watched.clone();
        // No event exceeds the area of FXSAVE, neither in size nor in offset.
        let near = |slot: &u64| {
            slot.wrapping_sub(hull.start.wrapping_sub(1024)) < (hull.end - hull.start).saturating_add(1024)
        };
        if hull.start < hull.end && self.blind.is_none() && slots.iter().any(near) {
            self.look(header, slots);
        }
    }

    #[cold]
    fn look(&mut self, header: Header, slots: &[u64]) {
        let Some(plan) = self.plans.get(header.plan.0 as usize).cloned() else { return };
        for event in &plan.events {
            // 0 stands for an iteration that did not take place.
            let Some(&base) = slots.get(usize::from(event.slot)).filter(|&&base| base != 0) else { continue };
            let start = base.wrapping_add(u64::from(event.offset));
            let end = start.saturating_add(u64::from(event.size));
            for target in 0..self.targets.len() {
                let Some(Target::Access(Watched { range, loads, stores, .. })) = self.targets.get(target)
                else {
                    continue;
                };
                let wanted = match event.access {
                    Access::None => false,
                    Access::Load => *loads,
                    Access::Store => *stores,
                    Access::Modify => true,
                };
                if wanted && start < range.end && range.start < end {
                    self.note(header, Some(usize::from(event.insn)), target);
                }
            }
        }
    }

    /// Notes a miss of the instruction at `pc`: of this record by its index, or of the one before.
    pub(super) fn miss(&mut self, header: Header, index: Option<usize>, pc: u64, miss: Miss) {
        for target in 0..self.targets.len() {
            let wanted = match self.targets.get(target) {
                Some(Target::Miss(wanted, within)) => {
                    *wanted == miss && within.as_ref().is_none_or(|within| within.contains(&pc))
                }
                _ => false,
            };
            if wanted {
                self.note(header, index, target);
            }
        }
    }

    fn note(&mut self, header: Header, index: Option<usize>, target: usize) {
        let begins = self.ahead.front().map_or(self.now, |&(moment, _)| moment);
        // A plan may count more instructions than the record stands for, such as the merged second
        // block of a superblock.
        let executed = |index: usize| (index as u64).saturating_add(1).min(header.instructions);
        let moment = index.map_or(self.ended, |index| begins.saturating_add(executed(index)));
        if moment <= self.since || self.blind.is_some() {
            return;
        }
        if self.seen.len() >= MOST {
            // Whatever else this record has had would be missing.
            let held = self.held.values().flatten().map(|&(moment, _)| moment);
            self.blind = held.chain([begins]).min();
            return;
        }
        self.seen.push(Sighting { moment, target });
    }

    /// Passes a record.
    pub(super) fn pass(&mut self, header: Header) {
        if header.instructions == 0 {
            return;
        }
        let at = match self.ahead.front_mut() {
            Some((moment, left)) => {
                *left = left.saturating_sub(header.instructions);
                moment
            }
            None => &mut self.now,
        };
        *at = at.saturating_add(header.instructions);
        self.ended = *at;
        if self.ahead.front().is_some_and(|(_, left)| *left == 0) {
            self.ahead.pop_front();
        }
    }

    /// Follows what is held of the records.
    pub(super) fn obey(&mut self, control: Control) {
        match control {
            Control::Hold(task, instructions) => {
                let mut held = std::mem::take(&mut self.ahead);
                let again: u64 = held.iter().map(|(_, instructions)| instructions).sum();
                let new = u64::from(instructions).saturating_sub(again);
                if new > 0 {
                    held.push_back((self.now, new));
                    self.now = self.now.saturating_add(new);
                }
                self.held.insert(task, held);
            }
            // What was held before the lookout began is of moments that are past.
            Control::Resume(task, instructions) => {
                let unknown = || Held::from([(0, u64::from(instructions))]);
                self.ahead = self.held.remove(&task).unwrap_or_else(unknown);
            }
            _ => {}
        }
    }

    /// The sightings so far, and the moment until which all are known.
    pub(super) fn seen(&self) -> (&[Sighting], u64) {
        (&self.seen, self.blind.unwrap_or(self.now))
    }
}
