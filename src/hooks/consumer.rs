//! The consumer of the trace: walks records and plans together and drives the simulators, event by event, in
//! Cachegrind's order.
//!
//! A block's references follow from its execution count, so only misses and mispredictions are counted one by one.
//! The order in which LL is accessed matters: fetches of I1 and accesses of D1 are independent of each other, so a
//! block first touches its I1 lines; only when one of them misses are fetches and data interleaved exactly.

use std::sync::Arc;

use crate::hooks::accounts::{Counts, Misses, Repeated};
use crate::hooks::count::{EventKind, Repeat};
use crate::hooks::plan::{End, MappingId, Plan, PlannedInsn};
use crate::hooks::trace::Header;
use crate::sim::{Conditional, Hierarchy, Indirect};

/// A plan as the inner loop wants it: one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Block {
    pc: u64,
    fall_through: u64,
    executed: u64,
    /// First I1 line.
    line: u64,
    first_event: u32,
    events: u32,
    /// Its last instruction: the one that branches.
    last_insn: u32,
    /// I1 lines, one after another.
    lines: u16,
    /// The part of the branching instruction's address that the predictors use.
    branch: u16,
    ends: Ends,
    /// Events are one a slot, in order, at offset 0, and nothing else is special.
    plain: bool,
}

/// The rest of a plan.
#[derive(Clone, Debug)]
struct Cold {
    first_insn: u32,
    instructions: u16,
    mapping: MappingId,
    special: Option<Box<Special>>,
}

/// What happens to the branch predictors at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    None,
    Conditional,
    Indirect,
    /// `repe cmps` and its kin: the comparison, if there was one, is taken if the instruction is repeated.
    Compared,
}

#[derive(Clone, Debug, Default)]
struct Special {
    retries: Vec<u16>,
    repeat: Option<(Repeat, u16)>,
    repeated: Repeated,
}

/// A data event.
#[derive(Clone, Copy, Debug)]
struct Data {
    insn: u32,
    slot: u16,
    offset: u16,
    size: u16,
    write: bool,
}

/// Bits of a branch's address that reach the predictors.
const BRANCH_BITS: u64 = 0x1ff;

/// The consumer: simulators and accounts of one run.
#[derive(Clone, Debug, Default)]
pub struct Consumer {
    caches: Option<Box<Hierarchy>>,
    predictors: Option<Box<Predictors>>,
    accounts: Accounts,
    /// The block whose branch the next record decides.
    previous: usize,
}

/// Both branch predictors.
#[derive(Clone, Debug)]
pub struct Predictors {
    /// For conditional branches.
    pub conditional: Conditional,
    /// For indirect branches.
    pub indirect: Indirect,
}

/// Plans and counts.
#[derive(Clone, Debug)]
struct Accounts {
    /// By plan id, plus one: the first stands for what was before the program.
    blocks: Vec<Block>,
    cold: Vec<Cold>,
    insns: Vec<PlannedInsn>,
    /// Cache misses by instruction; empty without caches.
    misses: Vec<Misses>,
    /// Mispredictions by instruction; empty without predictors. An instruction branches in one way only.
    mispredicted: Vec<u64>,
    data: Vec<Data>,
    /// Of each data event the bytes beyond the first; what the inner loop needs of it.
    reach: Vec<u8>,
    /// Fetches that missed I1 in the block at hand and have not been to LL.
    missed: Vec<u32>,
    /// Whether the last repeated comparison took place (RCX was not zero).
    compared: bool,
}

impl Consumer {
    /// A consumer; without caches or predictors their events are not simulated.
    pub fn new(caches: Option<Hierarchy>, predictors: Option<Predictors>) -> Consumer {
        Consumer { caches: caches.map(Box::new), predictors: predictors.map(Box::new), ..Consumer::default() }
    }

    /// Takes in a plan; ids count up from 0.
    pub fn add_plan(&mut self, plan: &Plan) {
        let (shift, clip) = match &self.caches {
            Some(caches) => (caches.i1.line_shift(), caches.min_line() as u16),
            None => (6, u16::MAX),
        };
        self.accounts.add(plan, shift, clip);
        let insns = self.accounts.insns.len();
        if self.caches.is_some() {
            self.accounts.misses.resize(insns, Misses::default());
        }
        if self.predictors.is_some() {
            self.accounts.mispredicted.resize(insns, 0);
        }
    }

    /// Takes in new plans, then a buffer of records; returns how many instructions the records stand for.
    pub fn consume(&mut self, words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        for plan in plans {
            self.add_plan(plan);
        }
        let accounts = &mut self.accounts;
        let previous = self.previous;
        let (instructions, previous) = match (self.caches.as_deref_mut(), self.predictors.as_deref_mut()) {
            (Some(c), Some(p)) if c.d1.line_shift() == 6 => {
                accounts.walk::<true, true, true>(words, Some(c), Some(p), previous)
            }
            (Some(c), Some(p)) => accounts.walk::<true, true, false>(words, Some(c), Some(p), previous),
            (Some(c), None) if c.d1.line_shift() == 6 => {
                accounts.walk::<true, false, true>(words, Some(c), None, previous)
            }
            (Some(c), None) => accounts.walk::<true, false, false>(words, Some(c), None, previous),
            (None, Some(p)) => accounts.walk::<false, true, false>(words, None, Some(p), previous),
            (None, None) => accounts.walk::<false, false, false>(words, None, None, previous),
        };
        self.previous = previous;
        instructions
    }
}

impl Default for Accounts {
    fn default() -> Accounts {
        let nothing = Block {
            pc: 0,
            fall_through: 0,
            executed: 0,
            line: 0,
            first_event: 0,
            events: 0,
            last_insn: 0,
            lines: 0,
            branch: 0,
            ends: Ends::None,
            plain: true,
        };
        Accounts {
            blocks: vec![nothing],
            cold: vec![Cold { first_insn: 0, instructions: 0, mapping: 0, special: None }],
            insns: Vec::new(),
            misses: Vec::new(),
            mispredicted: Vec::new(),
            data: Vec::new(),
            reach: Vec::new(),
            missed: Vec::new(),
            compared: false,
        }
    }
}

impl Accounts {
    fn add(&mut self, plan: &Plan, shift: u32, clip: u16) {
        let first_insn = match plan.prefix_of {
            Some(whole) => self.cold[whole.0 as usize + 1].first_insn,
            None => {
                let first = self.insns.len() as u32;
                self.insns.extend_from_slice(&plan.insns);
                first
            }
        };
        let line = plan.pc >> shift;
        let last_line = plan.fall_through().wrapping_sub(1) >> shift;
        let lines =
            if plan.insns.is_empty() { 0 } else { last_line.wrapping_sub(line).wrapping_add(1) as u16 };
        let first_event = self.data.len() as u32;
        for event in &plan.events {
            let size = event.size.min(clip);
            self.data.push(Data {
                insn: first_insn + u32::from(event.insn),
                slot: event.slot,
                offset: event.offset,
                size,
                write: event.kind == EventKind::Write,
            });
            self.reach.push(size.saturating_sub(1).min(255) as u8);
        }
        let (ends, repeat) = match plan.end {
            End::None => (Ends::None, None),
            End::Conditional => (Ends::Conditional, None),
            End::Indirect => (Ends::Indirect, None),
            End::Repeat(Repeat::Compare, slot) => (Ends::Compared, Some((Repeat::Compare, slot))),
            End::Repeat(Repeat::Count, slot) => (Ends::None, Some((Repeat::Count, slot))),
        };
        let one_to_one = plan.events.len() == usize::from(plan.slots)
            && plan
                .events
                .iter()
                .enumerate()
                .all(|(i, e)| usize::from(e.slot) == i && e.offset == 0 && e.size <= 256);
        let plain = one_to_one && plan.retries.is_empty() && repeat.is_none();
        let special = (!plain).then(|| {
            Box::new(Special { retries: plan.retries.clone(), repeat, repeated: Repeated::default() })
        });
        let instructions = plan.insns.len() as u16;
        let branch = plan.insns.last().map_or(0, |insn| (insn.pc & BRANCH_BITS) as u16);
        self.cold.push(Cold { first_insn, instructions, mapping: plan.mapping, special });
        self.blocks.push(Block {
            pc: plan.pc,
            fall_through: plan.fall_through(),
            executed: 0,
            line,
            first_event,
            events: plan.events.len() as u32,
            last_insn: first_insn + u32::from(instructions.max(1)) - 1,
            lines,
            branch,
            ends,
            plain,
        });
    }

    /// Walks the records of a buffer. `USUAL`: the lines of D1 have 64 bytes.
    fn walk<const CACHES: bool, const BRANCHES: bool, const USUAL: bool>(
        &mut self,
        words: &[u64],
        mut caches: Option<&mut Hierarchy>,
        mut predictors: Option<&mut Predictors>,
        mut previous: usize,
    ) -> (u64, usize) {
        let mut instructions = 0;
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            let header = Header::of(word);
            instructions += header.instructions;
            let first_slot = at + 1;
            at = first_slot + header.slots;
            let Some(slots) = words.get(first_slot..at) else { break };
            let id = header.plan.0 as usize + 1;
            let Some(block) = self.blocks.get_mut(id) else { break };
            block.executed += 1;
            let pc = block.pc;
            if BRANCHES && let Some(predictors) = predictors.as_deref_mut() {
                let before = &self.blocks[previous];
                if before.ends == Ends::Conditional {
                    // Without a branch of our own: mispredictions are as hard to predict as what they count.
                    let taken = pc != before.fall_through;
                    let missed = predictors.conditional.record(u64::from(before.branch), taken);
                    self.mispredicted[before.last_insn as usize] += u64::from(missed);
                } else if before.ends != Ends::None {
                    self.resolve(previous, pc, predictors);
                }
                previous = id;
            }
            let block = &self.blocks[id];
            if CACHES && let Some(caches) = caches.as_deref_mut() {
                let recent = caches.i1.recent();
                let lines = block.line..block.line + u64::from(block.lines);
                let plain = block.plain;
                let first = block.first_event as usize;
                let ordered = !lines.clone().all(|line| recent.holds(line)) && self.fetch(id, lines, caches);
                if plain && !ordered {
                    self.data_events::<USUAL>(first, slots, caches);
                    continue;
                }
            } else if block.plain {
                continue;
            }
            self.special_block(id, slots, caches.as_deref_mut(), predictors.as_deref_mut());
        }
        (instructions, previous)
    }

    /// Events that are one a slot. All but a few find the most recent line of their set, where nothing changes.
    #[inline(always)]
    fn data_events<const USUAL: bool>(&mut self, first: usize, slots: &[u64], caches: &mut Hierarchy) {
        let shift = if USUAL { 6 } else { caches.d1.line_shift() };
        let Some(reach) = self.reach.get(first..first + slots.len()) else { return };
        let mut done = 0;
        while done < slots.len() {
            let recent = caches.d1.recent();
            let usual = |(&address, &reach): (&u64, &u8)| {
                let line = address >> shift;
                line == address.wrapping_add(u64::from(reach)) >> shift && recent.holds(line)
            };
            let Some(other) = slots[done..].iter().zip(&reach[done..]).position(|event| !usual(event)) else {
                return;
            };
            done += other;
            access(caches, &self.data[first + done], slots[done], &mut self.misses);
            done += 1;
        }
    }

    /// Touches the lines of a block, not all of which are the most recent of their sets. Whether one missed.
    #[inline(never)]
    fn fetch(&mut self, id: usize, lines: std::ops::Range<u64>, caches: &mut Hierarchy) -> bool {
        let mut missed = false;
        for line in lines {
            if !caches.i1.touch(line) {
                missed = true;
                note_miss(&mut self.missed, &self.cold[id], &self.insns, line, caches.i1.line_shift());
            }
        }
        missed
    }

    /// The outcome of a branch that is not an ordinary conditional jump, now that control is at `pc`.
    #[inline(never)]
    fn resolve(&mut self, id: usize, pc: u64, predictors: &mut Predictors) {
        let before = &self.blocks[id];
        if before.ends == Ends::Compared {
            self.compare(id, pc, predictors);
        } else if predictors.indirect.record(u64::from(before.branch), pc) {
            self.mispredicted[before.last_insn as usize] += 1;
        }
    }

    /// The outcome of a repeated comparison, now that control is at `pc`.
    #[cold]
    fn compare(&mut self, id: usize, pc: u64, predictors: &mut Predictors) {
        let insn = self.blocks[id].last_insn as usize;
        let at = self.insns[insn].pc;
        if self.compared && predictors.conditional.record(at, pc == at) {
            self.mispredicted[insn] += 1;
        }
    }

    /// A block whose events are not one a slot, or that has a fetch miss on its way to LL.
    #[cold]
    #[inline(never)]
    fn special_block(
        &mut self,
        id: usize,
        slots: &[u64],
        caches: Option<&mut Hierarchy>,
        mut predictors: Option<&mut Predictors>,
    ) {
        let block = &self.blocks[id];
        let cold = &mut self.cold[id];
        let last = block.last_insn;
        let repeat = cold.special.as_ref().and_then(|special| special.repeat);
        let iterates =
            repeat.is_none_or(|(_, slot)| slots.get(usize::from(slot)).is_some_and(|&address| address != 0));
        // The test of RCX comes before the data, the comparison's after.
        if let Some((repeat, _)) = repeat {
            let mut branches = 1;
            if let Some(predictors) = predictors.as_deref_mut() {
                let missed = predictors.conditional.record(u64::from(block.branch), iterates);
                self.mispredicted[last as usize] += u64::from(missed);
            }
            self.compared = iterates;
            if iterates && repeat == Repeat::Compare {
                branches += 1;
            }
            if let Some(special) = &mut cold.special {
                special.repeated.iterations += u64::from(iterates);
                special.repeated.branches += branches;
            }
        }
        if let Some(caches) = caches {
            let mut missed = self.missed.iter().copied().peekable();
            let insns = &self.insns;
            let fetch = |caches: &mut Hierarchy, insn: u32, misses: &mut [Misses]| {
                let planned = insns[insn as usize];
                let count = &mut misses[insn as usize];
                count.i1mr += 1;
                count.ilmr += u64::from(caches.ll_access(planned.pc, u32::from(planned.len)));
            };
            let data = &self.data[block.first_event as usize..][..block.events as usize];
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
            self.missed.clear();
        }
        if let (Some(predictors), Some(special)) = (predictors, &cold.special) {
            for &retry in &special.retries {
                let insn = (cold.first_insn + u32::from(retry)) as usize;
                let missed = predictors.conditional.record(self.insns[insn].pc, false);
                self.mispredicted[insn] += u64::from(missed);
            }
        }
    }

    /// Adds what is counted here to the counts of each instruction; `references` also what follows from how
    /// often blocks ran.
    fn add_to(&self, counts: &mut [Counts], references: bool) {
        if references {
            self.add_references(counts);
        }
        for (count, misses) in counts.iter_mut().zip(&self.misses) {
            count.misses = *misses;
        }
        if self.mispredicted.is_empty() {
            return;
        }
        for block in &self.blocks {
            let Some(count) = counts.get_mut(block.last_insn as usize) else { continue };
            if block.ends == Ends::Indirect {
                count.bim = self.mispredicted[block.last_insn as usize];
            }
        }
        for (count, &mispredicted) in counts.iter_mut().zip(&self.mispredicted) {
            count.bcm = mispredicted - count.bim;
        }
    }

    fn add_references(&self, counts: &mut [Counts]) {
        for (block, cold) in self.blocks.iter().zip(&self.cold) {
            let repeated =
                cold.special.as_ref().filter(|special| special.repeat.is_some()).map(|s| s.repeated);
            let first = cold.first_insn as usize;
            let end = first + usize::from(cold.instructions);
            for count in &mut counts[first..end] {
                count.ir += block.executed;
            }
            for event in &self.data[block.first_event as usize..][..block.events as usize] {
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
            for &retry in cold.special.as_ref().map_or(&[][..], |special| &special.retries) {
                counts[first + usize::from(retry)].bc += block.executed;
            }
            if cold.instructions > 0 {
                let last = &mut counts[end - 1];
                last.bc += repeated.map_or(0, |repeated| repeated.branches);
                match block.ends {
                    Ends::Conditional => last.bc += block.executed,
                    Ends::Indirect => last.bi += block.executed,
                    Ends::None | Ends::Compared => {}
                }
            }
        }
    }
}

/// Calls `each` with the address, the mapping and the counts of every instruction of every plan. The consumers have
/// seen the same trace and share the simulation between them.
pub fn fold(consumers: &[Consumer], mut each: impl FnMut(u64, MappingId, &Counts)) {
    let Some(first) = consumers.first() else { return };
    let mut counts = vec![Counts::default(); first.accounts.insns.len()];
    for (i, consumer) in consumers.iter().enumerate() {
        consumer.accounts.add_to(&mut counts, i == 0);
    }
    let mut mappings = vec![0; counts.len()];
    for cold in &first.accounts.cold {
        let first = cold.first_insn as usize;
        mappings[first..first + usize::from(cold.instructions)].fill(cold.mapping);
    }
    for ((insn, count), mapping) in first.accounts.insns.iter().zip(&counts).zip(mappings) {
        each(insn.pc, mapping, count);
    }
}

/// Notes which instruction's fetch missed on `line`: the first that touches it. An instruction that straddles two
/// lines misses once.
#[cold]
#[inline(never)]
fn note_miss(missed: &mut Vec<u32>, cold: &Cold, insns: &[PlannedInsn], line: u64, shift: u32) {
    let first = cold.first_insn as usize;
    let touches = |insn: &PlannedInsn| insn.pc.wrapping_add(u64::from(insn.len) - 1) >> shift >= line;
    if let Some(insn) = insns[first..][..usize::from(cold.instructions)].iter().position(touches) {
        let insn = (first + insn) as u32;
        if missed.last() != Some(&insn) {
            missed.push(insn);
        }
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
