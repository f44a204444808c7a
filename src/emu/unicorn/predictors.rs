//! Predictors and caches that generated code drives: where they are, and what it tells by a call
//! because it takes more than a few instructions.
#![allow(unsafe_code)]

use crate::emu::unicorn::line_lookups::{Change, Unknown, change};
use crate::emu::unicorn::line_tlb::{LineTlb, clock};
use crate::emu::unicorn::run_control::Leave;
use crate::emu::unicorn::translator::branch::{Inline, PredictorWords, Words};
use crate::emu::unicorn::translator::tell::{self, Fetch};
use crate::emu::unicorn::vcpu::{Vcpu, current};
use crate::emu::unicorn::wrapped::replace;
use crate::hooks::inline_caches::FetchedLine;
use crate::hooks::plan::PlannedEvent;
use crate::hooks::record::{PlanId, Running};

replace! {
    fn helper_bndstx32(env: *mut u8, plan: u64, what: u64, word: u64, second: u64) {
        // SAFETY: called from generated code, inside the run.
        if let Some(vcpu) = unsafe { current() } {
            // SAFETY: the state is the engine's.
            let clock = unsafe { clock(env) };
            vcpu.told(PlanId(plan as u32), what, (word, second), clock);
        }
    }
}

/// Tells of a line of I1 that is absent: RSI, RCX and R8 have the plan and the words of a
/// [fetch](tell::FETCH), and RBP the CPU's state.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn absent_line() {
    std::arch::naked_asm!(
        "mov rdi, rbp",
        "mov edx, {fetch}",
        "jmp {tell}",
        fetch = const tell::FETCH,
        tell = sym helper_bndstx32,
    )
}

impl Vcpu {
    /// Has generated code drive the predictors and caches that the recorder has, if it has any. The
    /// virtual CPU must not move any more.
    pub(super) fn simulate_inline(&mut self) {
        let (outcome, addresses) = (&raw const self.outcome, self.addresses.as_ptr());
        let recorder = self.trace.recorder();
        let predictors = recorder.inline_predictors().map(|predictors| {
            let (history, counters) = predictors.conditional.parts();
            let (history, counters) = (&raw const *history, counters.as_ptr());
            PredictorWords { history, counters, targets: predictors.indirect.targets().as_ptr() }
        });
        let lines = recorder.inline_caches().map(|caches| {
            let (_, line_bits) = caches.line_shifts();
            LineTlb { table: caches.table(), line_bits }
        });
        let simulates = predictors.is_some() || lines.is_some();
        self.words = simulates.then_some(Words { outcome, addresses, predictors });
        self.mmu.use_lines(lines);
    }

    /// Has generated code simulate nothing any more; all of it is to be translated anew.
    pub(super) fn simulate_no_more(&mut self) {
        self.words = None;
        self.mmu.use_lines(None);
    }

    /// The predictors and caches that a block drives which is translated now.
    pub(super) fn inline(&mut self) -> Inline {
        let recorder = self.trace.recorder();
        let caches = recorder.inline_caches().map(|caches| caches.line_shifts().0);
        let in_records = recorder.follows_calls() && recorder.inline_predictors().is_some();
        Inline::new(self.words, in_records, caches)
    }

    /// Learns what a block [tells](tell). Its time is `clock`.
    fn told(&mut self, plan: PlanId, what: u64, (word, second): (u64, u64), clock: u32) {
        let outcome = self.outcome != 0;
        self.trace.sync_length();
        let running = Running { plan, at: self.trace.record_of_running() };
        let recorder = self.trace.recorder();
        match what {
            tell::RETRY => recorder.retry(plan, word as u16),
            tell::BRANCH => recorder.branch(plan, outcome != (word != 0)),
            tell::REPEAT => recorder.repeat(plan, outcome, word != 0),
            tell::FETCH => {
                let Fetch { insn, pc, len, ends } = Fetch::of(word);
                let (number, counter) = (second as u32, (second >> 32) as u32);
                let line = FetchedLine { number, pc, len, ends, counter };
                recorder.fetched(running, insn, line, clock);
            }
            tell::DATA => {
                let event = recorder.plans.get(plan).and_then(|plan| plan.events.get(word as usize));
                let Some(size) = event.map(|event| event.size) else { return };
                recorder.accessed(running, word as u16, (second, size), (clock, true));
            }
            tell::EVENTS => self.events(running, word as usize, second as usize, clock),
            _ => {}
        }
    }

    /// Tells the caches of all data of an instruction, by its index in the block that runs and that
    /// of its first slot.
    fn events(&mut self, running: Running, insn: usize, first_slot: usize, clock: u32) {
        let Vcpu { trace, addresses, .. } = self;
        let Some(plan) = trace.recorder().plans.get(running.plan).cloned() else { return };
        let its = |(_, event): &(usize, &PlannedEvent)| usize::from(event.insn) == insn;
        for (index, event) in plan.events.iter().enumerate().filter(its) {
            let slot = usize::from(event.slot).wrapping_sub(first_slot);
            let Some(&base) = addresses.get(slot) else { continue };
            let addr = base.wrapping_add(u64::from(event.offset));
            trace.recorder().accessed(running, index as u16, (addr, event.size), (clock, true));
        }
    }

    /// Changes the generated code of a block: the code of the host is written into it, and accesses
    /// with a tap look for their lines.
    ///
    /// # Safety
    /// The code has just been generated.
    pub(super) unsafe fn change_code(&mut self, code: *mut u8, size: usize) {
        // SAFETY: the caller's.
        let changed = unsafe {
            let code = std::slice::from_raw_parts_mut(code, size);
            self.translator.write_host_code(code).and_then(|()| self.change_accesses(code))
        };
        if changed.is_err() {
            self.leave(Leave::Broken("this engine generates other code than the one expected".into()));
        }
    }

    /// Has the accesses of a block with a tap look for their lines, in its generated code.
    ///
    /// # Safety
    /// The code has just been generated.
    unsafe fn change_accesses(&mut self, code: &mut [u8]) -> Result<(), Unknown> {
        // SAFETY: the caller's.
        let taps = unsafe { self.translator.taps() };
        let Some(lines) = self.mmu.lines().filter(|_| taps > 0) else { return Ok(()) };
        let changed = change(code, Change { lines, times: self.times })?;
        if changed == taps { Ok(()) } else { Err(Unknown) }
    }
}
