//! What generated code simulates itself, beside what is in `line_tlb.rs`: which line was fetched last
//! in each set of I1, and the branch predictors.
#![allow(unsafe_code)]

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::emu::unicorn::line_lookups::change;
use crate::emu::unicorn::line_tlb::{LineTlb, Tap, tell};
use crate::emu::unicorn::run_control::Leave;
use crate::emu::unicorn::translator::inline::Inline;
use crate::emu::unicorn::vcpu::Vcpu;
use crate::hooks::plan::{Plan, PlannedEvent};
use crate::hooks::record::PlanId;
use crate::hooks::recorder::Recorder;
use crate::hooks::stripped::Shape;

/// Most sets whose last line is known.
const SETS: usize = 1024;

/// Slots of an instruction whose addresses are kept for one call.
pub(super) const SCRATCH: usize = 128;

/// Number of a line that none has.
const NO_LINE: u32 = 0;

/// A line of I1: its set, and a number that no other line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FetchLine {
    pub(super) set: u32,
    pub(super) number: u32,
}

/// Words that generated code accesses, by their addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The number of the line that was fetched last, by set; null where I1 is not simulated.
    pub(super) fetched: *const u32,
    /// Addresses of the data of one instruction.
    pub(super) scratch: *const u64,
    /// Whether the instruction at hand jumps or iterates.
    pub(super) outcome: *const u64,
    /// History and counters of the predictor of conditional branches; null where it is not simulated.
    pub(super) history: *const u64,
    pub(super) counters: *const u8,
    /// The last target of each entry of the predictor of indirect branches.
    pub(super) targets: *const u64,
}

/// What generated code simulates. It must not move once code was translated.
pub(super) struct Simulation {
    /// Shape of I1.
    shape: Shape,
    fetched: Box<[u32; SETS]>,
    scratch: Box<[u64; SCRATCH]>,
    outcome: Box<u64>,
    numbers: FxHashMap<u64, u32>,
    /// Lines of all plans, and of each its part.
    lines: Vec<FetchLine>,
    plans: Vec<Range<u32>>,
}

impl Default for Simulation {
    fn default() -> Simulation {
        Simulation {
            shape: Shape { line_bits: 0, set_bits: 0 },
            fetched: Box::new([NO_LINE; SETS]),
            scratch: Box::new([0; SCRATCH]),
            outcome: Box::new(0),
            numbers: FxHashMap::default(),
            lines: Vec::new(),
            plans: Vec::new(),
        }
    }
}

impl Simulation {
    /// The words that generated code accesses.
    pub(super) fn words(&mut self, recorder: &mut Recorder) -> Words {
        let null = (std::ptr::null(), std::ptr::null(), std::ptr::null());
        let (history, counters, targets) = recorder.inline_predictors().map_or(null, |predictors| {
            let (history, counters) = predictors.conditional.parts();
            (&raw const *history, counters.as_ptr(), predictors.indirect.targets().as_ptr())
        });
        Words {
            fetched: self.fetched.as_ptr(),
            scratch: self.scratch.as_ptr(),
            outcome: &raw const *self.outcome,
            history,
            counters,
            targets,
        }
    }

    /// Forgets which lines were fetched last.
    pub(super) fn forget(&mut self) {
        self.fetched.fill(NO_LINE);
    }

    /// The lines of a plan, in the order of fetching.
    pub(super) fn lines_of(&mut self, id: PlanId, plan: &Plan) -> &[FetchLine] {
        let at = id.0 as usize;
        if self.plans.len() <= at {
            self.plans.resize(at + 1, 0..0);
        }
        if self.plans[at].is_empty() {
            let first = self.lines.len();
            let (shape, mut before) = (self.shape, None);
            for insn in &plan.insns {
                let last_byte = insn.pc.wrapping_add(u64::from(insn.len).max(1) - 1);
                for line in [insn.pc >> shape.line_bits, last_byte >> shape.line_bits] {
                    if before.replace(line) != Some(line) {
                        let next = self.numbers.len() as u32 + 1;
                        let number = *self.numbers.entry(line).or_insert(next);
                        let sets = (1_u64 << shape.set_bits).min(SETS as u64);
                        self.lines.push(FetchLine { set: (line & (sets - 1)) as u32, number });
                    }
                }
            }
            self.plans[at] = first as u32..self.lines.len() as u32;
        }
        self.known_lines(id)
    }

    fn known_lines(&self, id: PlanId) -> &[FetchLine] {
        let range = self.plans.get(id.0 as usize).cloned().unwrap_or_default();
        self.lines.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// Learns that the lines of a plan are fetched.
    fn fetch(&mut self, id: PlanId) {
        let range = self.plans.get(id.0 as usize).cloned().unwrap_or_default();
        for line in self.lines.get(range.start as usize..range.end as usize).unwrap_or_default() {
            self.fetched[line.set as usize % SETS] = line.number;
        }
    }
}

impl Vcpu {
    /// Has generated code simulate what the recorder says. The virtual CPU must not move any more.
    pub(super) fn simulate_inline(&mut self) {
        let does = self.trace.inline();
        if let Some(levels) = does.strips {
            self.simulation.shape = levels.fetch;
            let cursor = self.trace.cursor_mut();
            self.mmu.use_lines(LineTlb::new(levels.data, cursor));
        }
        if does.strips.is_some() || does.branches {
            self.words = Some(self.simulation.words(self.trace.recorder()));
        }
    }

    /// Learns what a block tells; see [`tell`].
    pub(super) fn told(&mut self, plan: PlanId, what: u64, first: u64, second: u64) {
        match what {
            tell::FETCH => {
                self.simulation.fetch(plan);
                self.trace.record_fetch(plan);
            }
            tell::DATA => {
                if let (Some(tap), Some(lines)) = (Tap::of(first as u32), self.mmu.lines()) {
                    lines.record_apart(second, tap);
                }
            }
            tell::EVENTS => self.record_events(plan, first as usize, second as usize),
            tell::RETRY => self.trace.recorder().retry(plan, first as u16),
            tell::BRANCH => {
                self.trace.recorder().branch(plan, (*self.simulation.outcome != 0) != (first != 0))
            }
            tell::REPEAT => {
                let iterates = *self.simulation.outcome != 0;
                self.trace.recorder().repeat(plan, iterates, first != 0);
            }
            _ => {}
        }
    }

    /// Records all data events of an instruction, by its index in a plan and that of its first slot.
    fn record_events(&mut self, id: PlanId, insn: usize, first_slot: usize) {
        let Vcpu { trace, mmu, simulation, .. } = self;
        let Some(lines) = mmu.lines() else { return };
        let Some(plan) = trace.recorder().plans.get(id) else { return };
        let its = |(_, event): &(usize, &PlannedEvent)| usize::from(event.insn) == insn;
        for (index, event) in plan.events.iter().enumerate().filter(its) {
            let slot = usize::from(event.slot).wrapping_sub(first_slot);
            let Some(&base) = simulation.scratch.get(slot) else { continue };
            let tap = Tap { index: index as u16, size: event.size };
            lines.record_apart(base.wrapping_add(u64::from(event.offset)), tap);
        }
    }

    /// What a block that is translated now simulates.
    pub(super) fn inline(&self) -> Inline {
        let does = self.trace.inline();
        Inline::new(self.words, does.strips.is_some(), does.branches)
    }

    /// Has the accesses of a block with a tap look for their lines, in its generated code.
    ///
    /// # Safety
    /// The code has just been generated.
    pub(super) unsafe fn look_for_lines(&mut self, code: *mut u8, size: usize) {
        // SAFETY: the caller's.
        let taps = unsafe { self.translator.taps() };
        let Some(lines) = self.mmu.lines().filter(|_| taps > 0) else { return };
        // SAFETY: the caller's.
        let code = unsafe { std::slice::from_raw_parts_mut(code, size) };
        if change(code, lines) != Ok(taps) {
            self.leave(Leave::Broken("this engine generates other code than the one expected".into()));
        }
    }

    /// Forgets what generated code knows of the caches, if others have accessed them.
    pub(super) fn take_turn(&mut self) {
        if self.trace.takes_a_turn() {
            self.simulation.forget();
            self.mmu.forget_lines();
        }
    }
}
