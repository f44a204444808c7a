//! The consumer of the trace: walks records and plans together and drives the simulators, event by event, in
//! Cachegrind's order.
//!
//! A block's references follow from its execution count, so only misses and mispredictions are counted one by one.
//! The order in which LL is accessed matters: fetches of I1 and accesses of D1 are independent of each other, so a
//! block first touches its I1 lines; only when one of them misses are fetches and data interleaved exactly.

use std::sync::Arc;

use crate::hooks::accounts::{Counts, Misses, Repeated};
use crate::hooks::count::{EventKind, Repeat};
use crate::hooks::plan::{End, MappingId, Plan, PlannedEvent, PlannedInsn};
use crate::hooks::trace::Header;
use crate::sim::{Conditional, Hierarchy, Indirect};

/// A plan as the inner loop wants it.
#[derive(Clone, Debug)]
struct Block {
    pc: u64,
    fall_through: u64,
    executed: u64,
    /// First I1 line and how many.
    line: u64,
    lines: u16,
    instructions: u16,
    first_insn: u32,
    first_event: u32,
    events: u32,
    mapping: MappingId,
    ends: Ends,
    /// Events are one a slot, in order, at offset 0, and nothing else is special.
    plain: bool,
    /// Index in `special`, for what is not plain.
    special: u32,
}

/// What happens to the branch predictors at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    None,
    Conditional,
    Indirect,
    /// The comparison of `repe cmps` and its kin: taken if the instruction is repeated.
    Compared,
}

#[derive(Clone, Debug, Default)]
struct Special {
    retries: Vec<u16>,
    repeat: Option<(Repeat, u16)>,
    repeated: Repeated,
}

/// A data event as the inner loop wants it.
#[derive(Clone, Copy, Debug)]
struct Data {
    insn: u32,
    slot: u16,
    offset: u16,
    size: u16,
    write: bool,
}

/// The branch whose outcome the next record tells.
#[derive(Clone, Copy, Debug)]
struct Pending {
    ends: Ends,
    fall_through: u64,
    address: u64,
    insn: u32,
}

const NOTHING_PENDING: Pending = Pending { ends: Ends::None, fall_through: 0, address: 0, insn: 0 };

/// The consumer: simulators and accounts of one run.
#[derive(Clone, Debug, Default)]
pub struct Consumer {
    caches: Option<Box<Hierarchy>>,
    predictors: Option<Box<Predictors>>,
    blocks: Vec<Block>,
    insns: Vec<PlannedInsn>,
    misses: Vec<Misses>,
    data: Vec<Data>,
    special: Vec<Special>,
    pending: Option<Pending>,
    /// Fetches that missed I1 in the block at hand and have not been to LL.
    missed: Vec<u32>,
}

/// Both branch predictors.
#[derive(Clone, Debug)]
pub struct Predictors {
    /// For conditional branches.
    pub conditional: Conditional,
    /// For indirect branches.
    pub indirect: Indirect,
}

impl Consumer {
    /// A consumer; without caches or predictors their events are not simulated.
    pub fn new(caches: Option<Hierarchy>, predictors: Option<Predictors>) -> Consumer {
        Consumer { caches: caches.map(Box::new), predictors: predictors.map(Box::new), ..Consumer::default() }
    }

    /// Takes in a plan; ids count up from 0.
    pub fn add_plan(&mut self, plan: &Plan) {
        let first_insn = match plan.prefix_of {
            Some(whole) => self.blocks[whole.0 as usize].first_insn,
            None => {
                let first = self.insns.len() as u32;
                self.insns.extend_from_slice(&plan.insns);
                self.misses.resize(self.insns.len(), Misses::default());
                first
            }
        };
        let (shift, clip) = match &self.caches {
            Some(caches) => (caches.i1.line_shift(), caches.min_line() as u16),
            None => (6, u16::MAX),
        };
        let line = plan.pc >> shift;
        let last_line = plan.fall_through().wrapping_sub(1) >> shift;
        let lines = if plan.insns.is_empty() { 0 } else { last_line.wrapping_sub(line).wrapping_add(1) as u16 };
        let first_event = self.data.len() as u32;
        self.data.extend(plan.events.iter().map(|event: &PlannedEvent| Data {
            insn: first_insn + u32::from(event.insn),
            slot: event.slot,
            offset: event.offset,
            size: event.size.min(clip),
            write: event.kind == EventKind::Write,
        }));
        let (ends, repeat) = match plan.end {
            End::None => (Ends::None, None),
            End::Conditional => (Ends::Conditional, None),
            End::Indirect => (Ends::Indirect, None),
            End::Repeat(repeat, slot) => (Ends::None, Some((repeat, slot))),
        };
        let one_to_one = plan.events.len() == usize::from(plan.slots)
            && plan.events.iter().enumerate().all(|(i, event)| usize::from(event.slot) == i && event.offset == 0);
        let plain = one_to_one && plan.retries.is_empty() && repeat.is_none();
        let special = self.special.len() as u32;
        if !plain {
            self.special.push(Special { retries: plan.retries.clone(), repeat, repeated: Repeated::default() });
        }
        self.blocks.push(Block {
            pc: plan.pc,
            fall_through: plan.fall_through(),
            executed: 0,
            line,
            lines,
            instructions: plan.insns.len() as u16,
            first_insn,
            first_event,
            events: plan.events.len() as u32,
            mapping: plan.mapping,
            ends,
            plain,
            special,
        });
    }

    /// Takes in new plans, then a buffer of records; returns how many instructions the records stand for.
    pub fn consume(&mut self, words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        for plan in plans {
            self.add_plan(plan);
        }
        // The simulators are taken out so that the loop can hold them beside the accounts.
        let mut caches = self.caches.take();
        let mut predictors = self.predictors.take();
        let instructions = match (caches.as_deref_mut(), predictors.as_deref_mut()) {
            (Some(c), Some(p)) => self.walk::<true, true>(words, Some(c), Some(p)),
            (Some(c), None) => self.walk::<true, false>(words, Some(c), None),
            (None, Some(p)) => self.walk::<false, true>(words, None, Some(p)),
            (None, None) => self.walk::<false, false>(words, None, None),
        };
        self.caches = caches;
        self.predictors = predictors;
        instructions
    }

    fn walk<const CACHES: bool, const BRANCHES: bool>(
        &mut self,
        words: &[u64],
        mut caches: Option<&mut Hierarchy>,
        mut predictors: Option<&mut Predictors>,
    ) -> u64 {
        let mut pending = self.pending.unwrap_or(NOTHING_PENDING);
        let mut instructions = 0;
        let mut rest = words;
        while let Some((&word, tail)) = rest.split_first() {
            let header = Header::of(word);
            let (slots, next) = tail.split_at(header.slots.min(tail.len()));
            rest = next;
            instructions += header.instructions;
            let block = &mut self.blocks[header.plan.0 as usize];
            block.executed += 1;
            if BRANCHES && let Some(predictors) = predictors.as_deref_mut() {
                match pending.ends {
                    Ends::None => {}
                    Ends::Conditional => {
                        let taken = block.pc != pending.fall_through;
                        if predictors.conditional.record(pending.address, taken) {
                            self.misses[pending.insn as usize].bcm += 1;
                        }
                    }
                    Ends::Indirect => {
                        if predictors.indirect.record(pending.address, block.pc) {
                            self.misses[pending.insn as usize].bim += 1;
                        }
                    }
                    Ends::Compared => {
                        if predictors.conditional.record(pending.address, block.pc == pending.address) {
                            self.misses[pending.insn as usize].bcm += 1;
                        }
                    }
                }
                let last = block.first_insn + u32::from(block.instructions.max(1)) - 1;
                pending = Pending {
                    ends: block.ends,
                    fall_through: block.fall_through,
                    address: if block.ends == Ends::None { 0 } else { self.insns[last as usize].pc },
                    insn: last,
                };
            }
            if CACHES && let Some(caches) = caches.as_deref_mut() {
                let mut ordered = false;
                for line in block.line..block.line + u64::from(block.lines) {
                    if !caches.i1.is_mru(line) && !caches.i1.touch(line) {
                        ordered = true;
                        let insns = &self.insns[block.first_insn as usize..][..usize::from(block.instructions)];
                        let shift = caches.i1.line_shift();
                        note_miss(&mut self.missed, insns, line, shift);
                    }
                }
                if block.plain && !ordered {
                    let data = &self.data[block.first_event as usize..][..block.events as usize];
                    let shift = caches.d1.line_shift();
                    for (event, &address) in data.iter().zip(slots) {
                        let line = address >> shift;
                        let end = address.wrapping_add(u64::from(event.size) - 1) >> shift;
                        if line != end || !caches.d1.is_mru(line) {
                            access(caches, event, address, &mut self.misses);
                        }
                    }
                    continue;
                }
            } else if block.plain {
                continue;
            }
            let id = header.plan.0 as usize;
            pending =
                self.special_block::<CACHES>(id, slots, caches.as_deref_mut(), predictors.as_deref_mut(), pending);
        }
        self.pending = Some(pending);
        instructions
    }

    /// A block whose events are not one a slot, or that has a fetch miss on its way to LL.
    #[cold]
    #[inline(never)]
    fn special_block<const CACHES: bool>(
        &mut self,
        id: usize,
        slots: &[u64],
        mut caches: Option<&mut Hierarchy>,
        mut predictors: Option<&mut Predictors>,
        mut pending: Pending,
    ) -> Pending {
        let block = &self.blocks[id];
        let last = block.first_insn + u32::from(block.instructions.max(1)) - 1;
        let nothing = Special::default();
        let special = if block.plain { &nothing } else { &self.special[block.special as usize] };
        let iterates = match special.repeat {
            Some((_, slot)) => slots.get(usize::from(slot)).is_some_and(|&address| address != 0),
            None => true,
        };
        // The test of RCX comes before the data, the comparison's after.
        let mut branches = 0;
        if let Some((repeat, _)) = special.repeat {
            let address = self.insns[last as usize].pc;
            branches += 1;
            if let Some(predictors) = predictors.as_deref_mut() {
                let missed = predictors.conditional.record(address, iterates);
                self.misses[last as usize].bcm += u64::from(missed);
            }
            if iterates && repeat == Repeat::Compare {
                branches += 1;
                pending = Pending { ends: Ends::Compared, fall_through: 0, address, insn: last };
            }
        }
        let mut missed = self.missed.iter().map(|&i| block.first_insn + i).peekable();
        let data = &self.data[block.first_event as usize..][..block.events as usize];
        if CACHES && let Some(caches) = caches.as_deref_mut() {
            let fetch = |caches: &mut Hierarchy, insn: u32, misses: &mut [Misses]| {
                let planned = self.insns[insn as usize];
                let count = &mut misses[insn as usize];
                count.i1mr += 1;
                count.ilmr += u64::from(caches.ll_access(planned.pc, u32::from(planned.len)));
            };
            for event in data {
                while let Some(insn) = missed.next_if(|&insn| insn <= event.insn) {
                    fetch(caches, insn, &mut self.misses);
                }
                if event.insn == last && !iterates {
                    continue;
                }
                let Some(&base) = slots.get(usize::from(event.slot)) else { continue };
                access(caches, event, base.wrapping_add(u64::from(event.offset)), &mut self.misses);
            }
            for insn in missed {
                fetch(caches, insn, &mut self.misses);
            }
        }
        self.missed.clear();
        if let Some(predictors) = predictors {
            for &retry in &special.retries {
                let insn = block.first_insn + u32::from(retry);
                let missed = predictors.conditional.record(self.insns[insn as usize].pc, false);
                self.misses[insn as usize].bcm += u64::from(missed);
            }
        }
        if branches > 0 {
            let repeated = &mut self.special[self.blocks[id].special as usize].repeated;
            repeated.iterations += u64::from(iterates);
            repeated.branches += branches;
        }
        pending
    }

    /// Calls `each` with the address, the mapping and the counts of every instruction of every plan.
    pub fn fold(&self, mut each: impl FnMut(u64, MappingId, &Counts)) {
        let mut counts = vec![Counts::default(); self.insns.len()];
        let mut mappings = vec![0; self.insns.len()];
        for block in &self.blocks {
            let special = (!block.plain).then(|| &self.special[block.special as usize]);
            let repeated = special.filter(|special| special.repeat.is_some()).map(|special| special.repeated);
            let range = block.first_insn as usize..block.first_insn as usize + usize::from(block.instructions);
            let end = range.end;
            let data = &self.data[block.first_event as usize..][..block.events as usize];
            for i in range {
                counts[i].ir += block.executed;
                mappings[i] = block.mapping;
            }
            for event in data {
                let i = event.insn as usize;
                let times = match repeated {
                    Some(repeated) if i + 1 == end => repeated.iterations,
                    _ => block.executed,
                };
                if event.write {
                    counts[i].dw += times;
                } else {
                    counts[i].dr += times;
                }
            }
            for &retry in special.map_or(&[][..], |special| &special.retries) {
                counts[block.first_insn as usize + usize::from(retry)].bc += block.executed;
            }
            if let Some(last) = end.checked_sub(1).filter(|_| block.instructions > 0) {
                counts[last].bc += repeated.map_or(0, |repeated| repeated.branches);
                match block.ends {
                    Ends::Conditional => counts[last].bc += block.executed,
                    Ends::Indirect => counts[last].bi += block.executed,
                    Ends::None | Ends::Compared => {}
                }
            }
        }
        for (i, insn) in self.insns.iter().enumerate() {
            counts[i].misses = self.misses[i];
            each(insn.pc, mappings[i], &counts[i]);
        }
    }
}

/// Notes which instruction's fetch missed on `line`: the first that touches it. An instruction that straddles two
/// lines misses once.
#[cold]
#[inline(never)]
fn note_miss(missed: &mut Vec<u32>, insns: &[PlannedInsn], line: u64, shift: u32) {
    let touches = |insn: &PlannedInsn| insn.pc.wrapping_add(u64::from(insn.len) - 1) >> shift >= line;
    if let Some(insn) = insns.iter().position(touches)
        && missed.last() != Some(&(insn as u32))
    {
        missed.push(insn as u32);
    }
}

/// One data access that is not a hit on the most recent line of its set.
#[inline(never)]
fn access(caches: &mut Hierarchy, event: &Data, address: u64, misses: &mut [Misses]) {
    let size = u32::from(event.size);
    if caches.d1.access(address, size) {
        let ll = u64::from(caches.ll_access(address, size));
        let count = &mut misses[event.insn as usize];
        if event.write {
            count.d1mw += 1;
            count.dlmw += ll;
        } else {
            count.d1mr += 1;
            count.dlmr += ll;
        }
    }
}
