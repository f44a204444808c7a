//! Branch predictors that generated code drives: where they are, and what it tells by a call
//! because it takes more than a few instructions.
#![allow(unsafe_code)]

use crate::emu::unicorn::helpers::env::Env;
use crate::emu::unicorn::translator::branch::{Inline, Words, tell};
use crate::emu::unicorn::vcpu::{Vcpu, current};
use crate::emu::unicorn::wrapped::replace;
use crate::hooks::record::PlanId;

replace! {
    fn helper_bndstx32(_env: Env, plan: u64, what: u64, word: u64, _unused: u64) {
        // SAFETY: called from generated code, inside the run.
        if let Some(vcpu) = unsafe { current() } {
            vcpu.told(PlanId(plan as u32), what, word);
        }
    }
}

impl Vcpu {
    /// Has generated code drive the predictors that the recorder has, if it has any. The virtual
    /// CPU must not move any more.
    pub(super) fn predict_inline(&mut self) {
        let outcome = &raw const self.outcome;
        let Some(predictors) = self.trace.recorder().inline_predictors() else { return };
        let (history, counters) = predictors.conditional.parts();
        let (history, counters) = (&raw const *history, counters.as_ptr());
        let targets = predictors.indirect.targets().as_ptr();
        self.words = Some(Words { outcome, history, counters, targets });
    }

    /// The predictors that a block that is translated now drives.
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
