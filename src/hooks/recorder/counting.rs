//! Generated code that counts executions of blocks itself, in place of the trace.

use crate::hooks::executions::Executions;
use crate::hooks::record::PlanId;
use crate::hooks::recorder::Recorder;

impl Recorder {
    /// Lets generated code count executions itself, from the first on. For a recorder whose
    /// consumers simulate nothing, follow no calls and count by the model `arch`.
    pub(crate) fn count_executions(&mut self) {
        self.executions = Some(Executions::new(self.tasks.account));
    }

    /// True if generated code counts executions itself.
    pub(crate) fn counts_executions(&self) -> bool {
        self.executions.is_some()
    }

    /// The counts by plan, where generated code adds to them: for every plan that there is, until
    /// there is another or anything else of the recorder is used.
    pub(crate) fn executions(&mut self) -> &mut [u64] {
        let plans = self.plans.len();
        self.executions.as_mut().map_or(&mut [], |executions| executions.counts(plans))
    }

    /// Plan of the last block, while a fault may take it back.
    pub(crate) fn last_executed(&self) -> Option<PlanId> {
        self.executions.as_ref()?.last
    }

    /// Learns how many instructions were executed, and in which block the last of them.
    pub(crate) fn executed(&mut self, instructions: u64, last: Option<PlanId>) {
        self.tasks.unrecorded += instructions;
        if let Some(executions) = &mut self.executions {
            executions.last = last;
        }
    }

    /// Tells the consumers what was executed since they were last told.
    pub(super) fn tell_executions(&mut self) {
        if self.executions.is_none() {
            return;
        }
        self.send_plans();
        let (Some(executions), link) = (&mut self.executions, &mut self.link) else { return };
        executions.take(|account, counts| {
            if counts.iter().any(|&count| count != 0) {
                link.visit(|_, consumer| consumer.add_executions(account, counts));
            }
        });
    }

    /// Records a trace from here on. Returns true if generated code has counted until now.
    pub(super) fn begin_trace(&mut self) -> bool {
        self.tell_executions();
        self.executions.take().is_some()
    }
}
