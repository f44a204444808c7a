//! Branch predictors that generated code drives: the words that it accesses, and what it tells by a
//! call because it takes more than a few instructions.
#![allow(unsafe_code)]

use crate::emu::unicorn::emit::Helper;
use crate::emu::unicorn::helpers::env::Env;
use crate::emu::unicorn::translator::inline::Inline;
use crate::emu::unicorn::vcpu::{Vcpu, current};
use crate::emu::unicorn::wrapped::replace;
use crate::hooks::record::PlanId;

/// Words that generated code accesses, by their addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// Whether the instruction at hand jumps or iterates.
    pub(super) outcome: *const u64,
    /// History of the predictor of conditional branches.
    pub(super) history: *const u64,
    /// Its counters.
    pub(super) counters: *const u8,
    /// Targets of the predictor of indirect branches.
    pub(super) targets: *const u64,
}

/// What a block can tell.
pub(super) mod tell {
    /// The retry of a locked operation, by the index of its instruction.
    pub(crate) const RETRY: u64 = 0;
    /// The branch at its end: whether an outcome of 1 counts as not taken.
    pub(crate) const BRANCH: u64 = 1;
    /// A repeated string instruction: whether it is repeated if it iterates.
    pub(crate) const REPEAT: u64 = 2;
}

unsafe extern "C" {
    fn helper_bndstx32_x86_64();
}

/// The helper by which a block tells what [`tell`] lists: with the state, the plan, which of these it
/// is, and two words, of which the second is not used. It is one of MPX, which no CPU model has.
pub(super) const TELL: Helper = helper_bndstx32_x86_64;

replace! {
    fn helper_bndstx32(_env: Env, plan: u64, what: u64, word: u64, _unused: u64) {
        // SAFETY: called from generated code, inside the run.
        if let Some(vcpu) = unsafe { current() } {
            vcpu.told(PlanId(plan as u32), what, word);
        }
    }
}

impl Vcpu {
    /// Has generated code drive the predictors that the recorder has, if it has any. The virtual CPU
    /// must not move any more.
    pub(super) fn predict_inline(&mut self) {
        let outcome = &raw const self.outcome;
        let Some(predictors) = self.trace.recorder().inline_predictors() else { return };
        let (history, counters) = predictors.conditional.parts();
        let (history, counters) = (&raw const *history, counters.as_ptr());
        let targets = predictors.indirect.targets().as_ptr();
        self.words = Some(Words { outcome, history, counters, targets });
    }

    /// What a block that is translated now drives.
    pub(super) fn inline(&self) -> Inline {
        Inline::new(self.words.filter(|_| self.trace.predicts_inline()))
    }

    /// Learns what a block tells; see [`tell`].
    fn told(&mut self, plan: PlanId, what: u64, word: u64) {
        let outcome = self.outcome != 0;
        let recorder = self.trace.recorder();
        match what {
            tell::RETRY => recorder.retry(plan, word as u16),
            tell::BRANCH => recorder.branch(plan, outcome != (word != 0)),
            tell::REPEAT => recorder.repeat(plan, outcome, word != 0),
            _ => {}
        }
    }
}
