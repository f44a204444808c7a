//! Index of the plans, as consumers need it outside of their inner loops, with the counts of
//! repeated string instructions.

use std::ops::Range;

use crate::hooks::counts::{Counted, Counts, Repeated};
use crate::hooks::plan::{End, MappingId, Plan, PlannedEvent, PlannedInsn};
use crate::sim::{Pack, Packer, Unpacker};
use crate::x86::cost::{EventKind, Repeat};

/// An instruction and its counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedInsn {
    /// Mapping and address.
    pub(crate) at: (MappingId, u64),
    /// Its counts.
    pub(crate) counts: Counts,
}

impl Pack for CountedInsn {
    fn pack(&self, before: &CountedInsn, packer: &mut Packer) {
        packer.put_near(self.at.0.into(), before.at.0.into());
        packer.put_near(self.at.1, before.at.1);
        self.counts.pack(&before.counts, packer);
    }

    fn unpack(before: &CountedInsn, unpacker: &mut Unpacker<'_>) -> CountedInsn {
        let mapping = unpacker.take_near(before.at.0.into()) as MappingId;
        let at = (mapping, unpacker.take_near(before.at.1));
        CountedInsn { at, counts: Counts::unpack(&before.counts, unpacker) }
    }
}

/// Data event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    /// Index of the instruction in [`PlanIndex::insns`].
    pub(super) insn: u32,
    pub(super) slot: u16,
    pub(super) offset: u16,
    pub(super) size: u16,
    pub(super) write: bool,
}

/// Branch at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    None,
    Conditional,
    /// Conditional branch to the next instruction, which a slot decides.
    ToNext,
    Indirect,
    /// Repeated CMPS or SCAS: the branch of the comparison is taken if the instruction is repeated.
    Compared,
}

/// Special parts of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Special {
    /// Indices of the instructions with a branch that is never taken.
    pub(super) retries: Vec<u16>,
    /// Kind of the repeated string instruction at the end, and the slot that is 0 if it does not
    /// iterate.
    pub(super) repeat: Option<(Repeat, u16)>,
    pub(super) repeated: Repeated,
    /// Slot of the jump to the next instruction at the end, and its inversion; see `End::ToNext`.
    pub(super) to_next: Option<(u16, bool)>,
}

/// Plan.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) first_insn: u32,
    pub(super) first_event: u32,
    pub(super) events: u32,
    pub(super) instructions: u16,
    pub(super) ends: Ends,
    pub(super) mapping: MappingId,
    /// Indices of the instructions with a branch that is not at the end.
    pub(super) inside: Box<[u16]>,
    /// None if there is one event for each slot, in order and at offset 0, or not all are recorded,
    /// and nothing else is special.
    pub(super) special: Option<Box<Special>>,
}

impl Entry {
    /// Its instructions, as indices in [`PlanIndex::insns`].
    pub(super) fn insns(&self) -> Range<usize> {
        let first = self.first_insn as usize;
        first..first + usize::from(self.instructions)
    }

    /// Index of its last instruction, which has the branch.
    pub(super) fn last_insn(&self) -> u32 {
        self.first_insn + u32::from(self.instructions.max(1)) - 1
    }

    /// Counts an execution of the repeated string instruction at the end. Returns false if it does
    /// not iterate.
    pub(super) fn repeat(&mut self, slots: &[u64]) -> bool {
        let Some(special) = &mut self.special else { return true };
        let Some((repeat, slot)) = special.repeat else { return true };
        let iterates = slots.get(usize::from(slot)).is_some_and(|&address| address != 0);
        special.repeated.iterations += u64::from(iterates);
        special.repeated.branches += 1 + u64::from(iterates && repeat == Repeat::Compare);
        iterates
    }
}

/// All plans of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct PlanIndex {
    /// Plans by id.
    pub(super) entries: Vec<Entry>,
    pub(super) insns: Vec<PlannedInsn>,
    pub(super) data: Vec<Data>,
}

impl PlanIndex {
    /// Adds a plan; ids count up from 0. Events are cut to `clip` bytes.
    pub(super) fn add(&mut self, plan: &Plan, whole: Option<usize>, clip: u16) -> &Entry {
        let whole = whole.and_then(|whole| self.entries.get(whole));
        let first_insn = match whole {
            Some(whole) => whole.first_insn,
            None => {
                let first = self.insns.len() as u32;
                self.insns.extend_from_slice(&plan.insns);
                first
            }
        };
        let first_event = self.data.len() as u32;
        let counted = || plan.events.iter().filter(|event| event.kind != EventKind::Uncounted);
        self.data.extend(counted().map(|event| Data {
            insn: first_insn + u32::from(event.insn),
            slot: event.slot,
            offset: event.offset,
            size: event.size.min(clip),
            write: event.kind == EventKind::Write,
        }));
        let mut to_next = None;
        let (ends, repeat) = match plan.end {
            End::None => (Ends::None, None),
            End::Conditional => (Ends::Conditional, None),
            End::ToNext { slot, inverted } => {
                to_next = Some((slot, inverted));
                (Ends::ToNext, None)
            }
            End::Indirect => (Ends::Indirect, None),
            End::Repeat(Repeat::Compare, slot) => (Ends::Compared, Some((Repeat::Compare, slot))),
            End::Repeat(Repeat::Count, slot) => (Ends::None, Some((Repeat::Count, slot))),
        };
        let events = self.data.len() - first_event as usize;
        let one_to_one = events == usize::from(plan.slots)
            && counted().enumerate().all(|(i, e)| usize::from(e.slot) == i && e.offset == 0 && e.size <= 256);
        // Its accesses are simulated elsewhere.
        let is_partial = !counted().all(PlannedEvent::is_recorded);
        let plain = (one_to_one || is_partial)
            && plan.retries().next().is_none()
            && repeat.is_none()
            && to_next.is_none();
        let special = (!plain).then(|| {
            let retries = plan.retries().collect();
            Box::new(Special { retries, repeat, repeated: Repeated::default(), to_next })
        });
        let at = self.entries.len();
        self.entries.push(Entry {
            first_insn,
            first_event,
            events: events as u32,
            instructions: plan.insns.len() as u16,
            ends,
            mapping: plan.mapping,
            inside: plan.inside.iter().map(|branch| branch.insn).collect(),
            special,
        });
        &self.entries[at]
    }

    /// Counts of the repeated string instructions, by number of their plan.
    pub(super) fn repeated(&self) -> Vec<(u32, Repeated)> {
        let specials = self
            .entries
            .iter()
            .zip(0..)
            .filter_map(|(entry, number)| Some((number, entry.special.as_ref()?)));
        specials
            .filter(|(_, special)| special.repeat.is_some())
            .map(|(number, special)| (number, special.repeated))
            .collect()
    }

    /// Restores these counts and sets all others to zero.
    pub(super) fn set_repeated(&mut self, repeated: &[(u32, Repeated)]) {
        for special in self.entries.iter_mut().filter_map(|entry| entry.special.as_mut()) {
            special.repeated = Repeated::default();
        }
        for &(number, repeated) in repeated {
            if let Some(special) =
                self.entries.get_mut(number as usize).and_then(|entry| entry.special.as_mut())
            {
                special.repeated = repeated;
            }
        }
    }

    /// Data events of a plan.
    pub(super) fn events(&self, entry: &Entry) -> &[Data] {
        let first = entry.first_event as usize;
        self.data.get(first..first + entry.events as usize).unwrap_or_default()
    }

    /// The slot of a plan that is 0 where the repeated string instruction at its end does not
    /// iterate, if it has one.
    pub(super) fn repeats(&self, number: usize) -> Option<u16> {
        self.entries.get(number)?.special.as_ref()?.repeat.map(|(_, slot)| slot)
    }

    /// Counts of one execution of a plan, but for misses. A repeated string instruction at its end
    /// may iterate.
    pub(super) fn references(&self, number: usize, iterates: bool) -> Counts {
        let Some(entry) = self.entries.get(number) else { return Counts::default() };
        let (ir, bc) = (entry.instructions.into(), entry.inside.len() as u64);
        let mut counts = Counts { ir, bc, ..Counts::default() };
        if let Some((repeat, _)) = entry.special.as_ref().and_then(|special| special.repeat) {
            counts.bc += 1 + u64::from(iterates && repeat == Repeat::Compare);
        }
        let last = entry.last_insn();
        for event in self.events(entry).iter().filter(|event| iterates || event.insn != last) {
            if event.write {
                counts.dw += 1;
            } else {
                counts.dr += 1;
            }
        }
        match entry.ends {
            Ends::Conditional | Ends::ToNext => counts.bc += u64::from(entry.instructions > 0),
            Ends::Indirect => counts.bi += u64::from(entry.instructions > 0),
            Ends::None | Ends::Compared => {}
        }
        counts
    }

    /// Calls `f` with each plan and the counts of its instructions. Of those that it shares with
    /// another plan, the first one has the misses.
    pub(super) fn each(&self, counted: &Counted, f: &mut dyn FnMut(&Entry, &[Counts])) {
        let by_plan = |counts: &'_ [u64], number: usize| counts.get(number).copied().unwrap_or_default();
        let mut repeated = counted.repeated.iter().peekable();
        let mut misses = counted.misses.iter().peekable();
        let mut mispredicted = counted.mispredicted.iter().peekable();
        let mut counts = Vec::new();
        for (number, entry) in self.entries.iter().enumerate() {
            let Range { start, end } = entry.insns();
            counts.clear();
            counts.resize(end - start, Counts::default());
            let repeated = repeated.next_if(|(plan, _)| *plan as usize == number);
            let repeated = repeated.map(|(_, repeated)| *repeated);
            self.add_references(entry, by_plan(&counted.executed, number), repeated, &mut counts);
            while let Some((insn, misses)) = misses.next_if(|(insn, _)| (*insn as usize) < end) {
                let count = counts.get_mut((*insn as usize).wrapping_sub(start));
                count.into_iter().for_each(|count| count.misses = *misses);
            }
            while let Some((insn, more)) = mispredicted.next_if(|(insn, _)| (*insn as usize) < end) {
                let count = counts.get_mut((*insn as usize).wrapping_sub(start));
                count.into_iter().for_each(|count| count.bcm = count.bcm.wrapping_add(*more));
            }
            if let Some(last) = counts.last_mut() {
                let sum = if entry.ends == Ends::Indirect { &mut last.bim } else { &mut last.bcm };
                *sum = sum.wrapping_add(by_plan(&counted.ended, number));
            }
            f(entry, &counts);
        }
    }

    /// Adds the counts of a plan's instructions that follow from its executions: all but misses.
    fn add_references(
        &self,
        entry: &Entry,
        executed: u64,
        repeated: Option<Repeated>,
        counts: &mut [Counts],
    ) {
        let add = |sum: &mut u64, more: u64| *sum = sum.wrapping_add(more);
        let end = counts.len();
        counts.iter_mut().for_each(|count| add(&mut count.ir, executed));
        for event in self.events(entry) {
            let i = event.insn as usize - entry.first_insn as usize;
            let times = match repeated {
                Some(repeated) if i + 1 == end => repeated.iterations,
                _ => executed,
            };
            add(if event.write { &mut counts[i].dw } else { &mut counts[i].dr }, times);
        }
        for &branch in &entry.inside {
            add(&mut counts[usize::from(branch)].bc, executed);
        }
        if let Some(last) = counts.last_mut() {
            add(&mut last.bc, repeated.map_or(0, |repeated| repeated.branches));
            match entry.ends {
                Ends::Conditional | Ends::ToNext => add(&mut last.bc, executed),
                Ends::Indirect => add(&mut last.bi, executed),
                Ends::None | Ends::Compared => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::counts::Misses;
    use crate::sim::PackedList;

    #[test]
    fn packed_instructions_come_back() {
        let misses = Misses { i1mr: 1, ilmr: 0, d1mr: u64::MAX, dlmr: 2, d1mw: 0, dlmw: 7 };
        let all = Counts { ir: 1 << 40, dr: 1, dw: 2, bc: 3, bcm: 4, bi: 5, bim: 6, misses };
        let insn = |at, counts| CountedInsn { at, counts };
        let insns = [insn((7, 1 << 63), all), insn((0, 0), Counts::default()), insn((7, 5), all)];
        assert_eq!(PackedList::from_iter(insns).iter().collect::<Vec<_>>(), insns);
        let short = |pc| insn((0, pc), Counts { ir: 7, ..Counts::default() });
        assert_eq!(PackedList::from_iter((0..1000).map(short)).bytes(), 4 * 1000, "a byte a number");
    }
}
