//! Checkpoints of what has been recorded.

use crate::hooks::consumer::SavedConsumer;
use crate::hooks::filter::SavedFilter;
use crate::hooks::inline_caches::InlineCaches;
use crate::hooks::inline_predictors::{InlinePredictors, SavedPredictors};
use crate::hooks::private_code::{CodeInNoFile, SavedCode};
use crate::hooks::record::instructions;
use crate::hooks::recorder::Recorder;
use crate::hooks::recorder::tasks::Tasks;
use crate::hooks::saved_caches::SavedLevels;

/// Everything recorded up to a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Contents and counts of the simulators.
    consumers: Vec<SavedConsumer>,
    /// Instructions that the consumers have seen.
    instructions: u64,
    tasks: Tasks,
    filter: SavedFilter,
    code: Option<SavedCode>,
    /// Records that the consumers have not seen, because a fault may take them back.
    rest: Vec<u64>,
    /// Predictors that generated code drives, if it does.
    predictors: Option<SavedPredictors>,
    /// Caches that generated code drives, if it does.
    caches: Option<SavedLevels>,
}

impl Recorded {
    /// Bytes that call graphs take in it, roughly.
    pub(crate) fn call_bytes(&self) -> u64 {
        self.consumers.iter().map(SavedConsumer::call_bytes).sum()
    }

    /// Instructions executed.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions + self.tasks.unseen() + instructions(&self.rest)
    }
}

impl Recorder {
    /// Saves what has been recorded.
    pub(crate) fn save(&mut self) -> Recorded {
        let mut consumers = Vec::new();
        self.flush();
        self.link.visit(|_, consumer| consumers.push(consumer.save()));
        let (filter, code) = (self.filter.save(), self.code.as_mut().map(CodeInNoFile::save));
        let rest = self.words[..self.len].to_vec();
        let (instructions, tasks) = (self.link.instructions(), self.tasks.clone());
        // The consumers have seen all, so the next question may be far away.
        self.handed_over = None;
        let predictors = self.executions.as_ref().and_then(|executions| executions.predictors.as_ref());
        let predictors = predictors.map(InlinePredictors::save);
        let caches = self.inline_caches().map(InlineCaches::save);
        Recorded { consumers, instructions, tasks, filter, code, rest, predictors, caches }
    }

    /// Restores what this recorder had recorded when it made `saved`.
    pub(crate) fn restore(&mut self, saved: &Recorded) {
        self.drop_buffer();
        self.settle();
        self.tasks.clone_from(&saved.tasks);
        self.watching = false;
        self.link.visit(|i, consumer| {
            if let Some(before) = saved.consumers.get(i) {
                consumer.restore(before);
            }
        });
        self.link.rewind(saved.instructions);
        self.filter.restore(&saved.filter);
        if let (Some(code), Some(saved)) = (&mut self.code, &saved.code) {
            code.restore(saved);
        }
        if let Some(words) = self.words.get_mut(..saved.rest.len()) {
            words.copy_from_slice(&saved.rest);
            self.len = saved.rest.len();
        }
        let (account, counted) = (saved.tasks.account, self.counts(saved.tasks.account));
        let Recorded { predictors, caches, .. } = saved;
        match &mut self.executions {
            Some(executions) => {
                executions.restart(account);
                if let (Some(now), Some(then)) = (&mut executions.predictors, predictors) {
                    now.restore(then, account, counted);
                }
                match (&mut executions.caches, caches) {
                    (Some(now), Some(then)) => now.restore(then, account, counted),
                    // A trace of the caches has begun since.
                    (None, Some(then)) => self.link.visit(|_, consumer| consumer.set_caches(then)),
                    _ => {}
                }
            }
            // If generated code has simulated then, a trace has begun since.
            None if predictors.is_some() || caches.is_some() => self.link.visit(|_, consumer| {
                predictors.iter().flatten().for_each(|(&account, its)| consumer.set_predictors(account, its));
                caches.iter().for_each(|caches| consumer.set_caches(caches));
            }),
            None => {}
        }
        self.handed_over = Some(saved.instructions);
    }
}
