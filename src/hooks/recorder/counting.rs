//! Generated code that counts executions of blocks itself, in place of a record for each, and drives
//! the branch predictors. Of the caches' accesses it records what `stripped.rs` says.

use crate::hooks::control::Control;
use crate::hooks::executions::{Count, Executions};
use crate::hooks::filter::Drain;
use crate::hooks::inline_predictors::InlinePredictors;
use crate::hooks::part::Predictors;
use crate::hooks::plan::End;
use crate::hooks::record::{Header, PlanId};
use crate::hooks::recorder::Recorder;
use crate::hooks::stripped::{Levels, Stripped};
use crate::x86::cost::Repeat;

/// What generated code does by itself beside counting executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inline {
    /// It drives the branch predictors.
    pub(crate) branches: bool,
    /// It writes a stripped trace for caches of these shapes.
    pub(crate) strips: Option<Levels>,
}

impl Recorder {
    /// Lets generated code count executions itself, from the first on. For a recorder whose
    /// consumers follow no calls and count by the model `arch`, and simulate what `inline` says.
    pub(crate) fn count_executions(&mut self, inline: Inline) {
        let account = self.tasks.account;
        let predictors = inline.branches.then(|| InlinePredictors::new(account));
        self.executions = Some(Executions::new(account, predictors));
        self.strips = inline.strips;
        self.link.visit(|_, consumer| consumer.strip(inline.strips.is_some()));
    }

    /// True if generated code counts executions itself.
    pub(crate) fn counts_executions(&self) -> bool {
        self.executions.is_some()
    }

    /// What generated code does beside that.
    pub(crate) fn inline(&self) -> Inline {
        let branches = self.executions.as_ref().is_some_and(|executions| executions.predictors.is_some());
        Inline { branches, strips: self.strips }
    }

    /// Number that changes whenever generated code may strip nothing that it saw before.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// The counts by plan, where generated code adds to them: for every plan that there is, until
    /// there is another or anything else of the recorder is used.
    pub(crate) fn executions(&mut self) -> &mut [Count] {
        let plans = self.plans.len();
        self.executions.as_mut().map_or(&mut [], |executions| executions.counts(plans))
    }

    /// The predictors that generated code drives, if it does. They do not move.
    pub(crate) fn inline_predictors(&mut self) -> Option<&mut Predictors> {
        Some(self.executions.as_mut()?.predictors.as_mut()?.live())
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

    /// Feeds the predictors a conditional branch at the end of a plan.
    pub(crate) fn branch(&mut self, plan: PlanId, taken: bool) {
        let Some(pc) = self.plans.get(plan).and_then(|plan| plan.insns.last()).map(|insn| insn.pc) else {
            return;
        };
        let Some(executions) = &mut self.executions else { return };
        let Some(predictors) = &mut executions.predictors else { return };
        if predictors.live().conditional.record(pc, taken) {
            executions.add_mispredicted(plan);
        }
    }

    /// Records that the indirect branch at the end of the last block leads to `pc`, where generated
    /// code has not been left by it.
    pub(crate) fn leads_to(&mut self, pc: u64) {
        let last = self.last_executed();
        if let (Some(executions), Some(plan)) = (&mut self.executions, last) {
            let branch = self.plans.get(plan).and_then(|plan| plan.insns.last());
            if let (Some(predictors), Some(branch)) = (&mut executions.predictors, branch)
                && predictors.live().indirect.record(branch.pc, pc)
            {
                executions.add_mispredicted(plan);
            }
        }
        self.point(pc);
    }

    /// Feeds the predictors the retry of the locked operation at an index in a plan, which is never
    /// taken.
    pub(crate) fn retry(&mut self, plan: PlanId, insn: u16) {
        let insns = self.plans.get(plan).map(|plan| &plan.insns);
        let Some(pc) = insns.and_then(|insns| insns.get(usize::from(insn))).map(|insn| insn.pc) else {
            return;
        };
        let Some(executions) = &mut self.executions else { return };
        let Some(predictors) = &mut executions.predictors else { return };
        if predictors.live().conditional.record(pc, false) {
            *executions.tally.inner.entry((plan, insn)).or_default() += 1;
        }
    }

    /// Counts an execution of the repeated string instruction at the end of a plan: whether it
    /// iterates, and whether it is repeated then.
    pub(crate) fn repeat(&mut self, plan: PlanId, iterates: bool, again: bool) {
        let compares = match self.plans.get(plan).map(|plan| plan.end) {
            Some(End::Repeat(repeat, _)) => repeat == Repeat::Compare,
            _ => return,
        };
        if let Some(executions) = &mut self.executions {
            let repeated = executions.tally.repeated(plan);
            repeated.iterations += u64::from(iterates);
            repeated.branches += 1 + u64::from(iterates && compares);
        }
        self.branch(plan, iterates);
        if iterates && compares {
            self.branch(plan, again);
        }
    }

    /// Decides the branch of an instruction that has faulted, if there is one, since control is at
    /// `pc` next.
    pub(crate) fn decide_branch(&mut self, pc: u64) {
        let Some(plan) = self.executions.as_mut().and_then(|executions| executions.waits.take()) else {
            return;
        };
        let next = self.plans.get(plan).map(|plan| plan.fall_through());
        self.branch(plan, next != Some(pc));
    }

    /// Has a prefix take the place of the plan that was executed last.
    pub(super) fn shorten_execution(&mut self, prefix: PlanId) {
        let Some(executions) = &mut self.executions else { return };
        let Some(whole) = executions.last else { return };
        executions.shorten(whole, prefix);
        let (stamp, plan) = (self.instructions_seen(), self.plans.get(prefix));
        let ends = plan.map(|plan| plan.end);
        let events = plan.map_or(0, |plan| plan.events.len());
        self.tasks.unrecorded -= self.instructions_of(whole) - self.instructions_of(prefix);
        if let Some(executions) = self.executions.as_mut().filter(|_| ends == Some(End::Conditional)) {
            executions.waits = Some(prefix);
        }
        self.turns += 1;
        self.shorten_stripped(stamp, prefix, events);
    }

    /// Drops what the block with this stamp has recorded of more than a prefix, which has so many
    /// events.
    fn shorten_stripped(&mut self, stamp: u64, prefix: PlanId, events: usize) {
        if self.strips.is_none() {
            return;
        }
        let (mut at, mut kept) = (self.filtered, self.filtered);
        let now = self.instructions_seen();
        while at < self.len {
            let header = Header::of(self.words[at]);
            let next = at + 1 + header.slots;
            let Some(record) = self.words.get(at + 1..next) else { break };
            let stays = match Stripped::of(header.plan, record) {
                Some(Stripped::Fetch { stamp: its, .. }) if its == stamp => {
                    let mut to = at;
                    Stripped::Fetch { plan: prefix, stamp: now }.pack(|word| {
                        self.words[to] = word;
                        to += 1;
                    });
                    true
                }
                Some(Stripped::Data { plan, index, address, stamp: its }) if its == stamp => {
                    let mut to = at;
                    Stripped::Data { plan, index, address, stamp: now }.pack(|word| {
                        self.words[to] = word;
                        to += 1;
                    });
                    usize::from(index) < events
                }
                _ => true,
            };
            if stays {
                self.words.copy_within(at..next, kept);
                kept += next - at;
            }
            at = next;
        }
        self.len = kept;
    }

    /// Records a data event of the plan that was executed last.
    pub(super) fn strip_data(&mut self, plan: PlanId, index: usize, address: u64) {
        if self.strips.is_none() {
            return;
        }
        let stamp = self.instructions_seen();
        Stripped::Data { plan, index: index as u16, address, stamp }.pack(|word| {
            self.words[self.len] = word;
            self.len += 1;
        });
        // It is the most recent line of its set now, and not what generated code knows.
        self.turns += 1;
    }

    /// Prepares what generated code does itself for what this instruction to the consumers says.
    pub(super) fn count_from_here(&mut self, control: Control) {
        self.turns += 1;
        let counted = match control {
            Control::Switch(account) => account.is_counted() && self.counts(account),
            Control::Count(on) => on,
            _ => true,
        };
        let Some(executions) = &mut self.executions else { return };
        executions.waits = None;
        let tells = match control {
            Control::Switch(account) => executions.switch(account),
            _ => true,
        };
        let current = executions.account();
        if let Some(predictors) = &mut executions.predictors {
            match control {
                Control::Switch(account) => predictors.switch(account, counted),
                Control::Count(on) => predictors.switch(current, on),
                Control::Open(account, opening) => predictors.open(account, opening),
                Control::Reset(account, _) => predictors.reset(account),
                Control::Close(account) | Control::Drop(account) => predictors.forget(account),
                Control::Task(_) | Control::Collect(_) | Control::Hold(..) | Control::Resume(..) => {}
            }
        }
        if tells {
            self.hand_over(Drain::All);
        }
    }

    /// Tells the consumers what was executed since they were last told.
    pub(super) fn tell_executions(&mut self) {
        if self.executions.is_none() {
            return;
        }
        self.send_plans();
        let (Some(executions), link) = (&mut self.executions, &mut self.link) else { return };
        executions.take(|account, tally| {
            if !tally.is_empty() {
                link.visit(|_, consumer| consumer.add_executions(account, tally));
            }
        });
    }

    /// Records a whole trace from here on. Returns true if generated code has counted until now.
    pub(super) fn begin_trace(&mut self) -> bool {
        self.hand_over(Drain::All);
        let Some(executions) = self.executions.take() else { return false };
        self.strips = None;
        let predictors = executions.predictors.map(|predictors| predictors.save());
        self.link.visit(|_, consumer| {
            consumer.strip(false);
            predictors.iter().flatten().for_each(|(&account, its)| consumer.set_predictors(account, its));
        });
        true
    }
}
