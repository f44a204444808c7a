//! One part of the simulation of an account: a simulator, and the counts that it adds to.

use std::sync::Arc;

use crate::hooks::branches::{BranchConsumer, HeldBranches, Predictors};
use crate::hooks::caches::CacheConsumer;
use crate::hooks::counts::Counted;
use crate::hooks::lookout::Miss;
use crate::hooks::numbering::{Ids, Numbering, Numbers};
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::record::PlanId;
use crate::hooks::references::ReferenceConsumer;
use crate::sim::{Held, Hierarchy};

/// Simulator and counts. Caches and branch predictors are independent, so the parts of an account
/// read the same records in parallel.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Caches(CacheConsumer),
    Branches(BranchConsumer),
    References(ReferenceConsumer),
}

/// Contents of a simulator.
#[derive(Clone, Debug)]
pub(super) enum HeldPart {
    Caches(Box<Held>),
    Branches(Box<HeldBranches>),
    References,
}

impl HeldPart {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            HeldPart::Caches(held) => held.bytes(),
            HeldPart::Branches(_) => BRANCH_BYTES,
            HeldPart::References => 0,
        }
    }
}

/// Bytes of the predictors.
const BRANCH_BYTES: u64 = 20 << 10;

impl Part {
    pub(super) fn caches(caches: Hierarchy) -> Part {
        Part::Caches(CacheConsumer::new(caches))
    }

    pub(super) fn branches(predictors: Predictors) -> Part {
        Part::Branches(BranchConsumer::new(predictors))
    }

    pub(super) fn references() -> Part {
        Part::References(ReferenceConsumer::default())
    }

    /// The same kind of simulator in its initial state, without plans.
    pub(super) fn emptied(&self) -> Part {
        match self {
            Part::Caches(part) => Part::Caches(part.emptied()),
            Part::Branches(_) => Part::Branches(BranchConsumer::emptied()),
            Part::References(_) => Part::references(),
        }
    }

    /// The same kind of part without plans, for a simulator that it gets later.
    pub(super) fn without_simulator(&self) -> Part {
        match self {
            Part::Caches(part) => Part::Caches(part.without_caches()),
            Part::Branches(_) | Part::References(_) => self.emptied(),
        }
    }

    /// A copy of the simulator, without plans.
    pub(super) fn without_counts(&self) -> Part {
        match self {
            Part::Caches(part) => Part::Caches(part.without_counts()),
            Part::Branches(part) => Part::Branches(part.without_counts()),
            Part::References(_) => Part::references(),
        }
    }

    /// Exchanges the simulators of two parts of one kind.
    pub(super) fn swap_simulators(&mut self, other: &mut Part) {
        match (self, other) {
            (Part::Caches(part), Part::Caches(other)) => part.swap_caches(other),
            (Part::Branches(part), Part::Branches(other)) => part.swap_predictors(other),
            _ => {}
        }
    }

    /// Adds the plan with the next number; `whole` is the number of the plan that it is a prefix
    /// of.
    pub(super) fn add_plan(&mut self, plan: &Plan, whole: Option<usize>) {
        match self {
            Part::Caches(part) => part.add_plan(plan, whole),
            Part::Branches(part) => part.add_plan(plan, whole),
            Part::References(part) => part.add_plan(plan, whole),
        }
    }

    /// Walks records to the first whose plan has no number. Returns the number of their
    /// instructions and the words that are left.
    pub(super) fn walk<'w>(&mut self, words: &'w [u64], numbering: &Numbering) -> (u64, &'w [u64]) {
        match numbering.numbers() {
            None => self.walk_with(words, Ids),
            Some(own) => self.walk_with(words, own),
        }
    }

    fn walk_with<'w>(&mut self, words: &'w [u64], numbers: impl Numbers) -> (u64, &'w [u64]) {
        match self {
            Part::Caches(part) => part.walk(words, numbers),
            Part::Branches(part) => part.walk(words, numbers),
            Part::References(part) => part.walk(words, numbers),
        }
    }

    /// Walks one record, and notes its misses: the index of each instruction, or none for the
    /// record before, its address, and the kind.
    pub(super) fn walk_noting(
        &mut self,
        record: &[u64],
        numbering: &Numbering,
        note: &mut dyn FnMut(Option<usize>, u64, Miss),
    ) {
        match (self, numbering.numbers()) {
            (Part::Caches(part), None) => part.walk_noting(record, Ids, note),
            (Part::Caches(part), Some(own)) => part.walk_noting(record, own, note),
            (Part::Branches(part), None) => part.walk_noting(record, Ids, note),
            (Part::Branches(part), Some(own)) => part.walk_noting(record, own, note),
            (part @ Part::References(_), _) => {
                part.walk(record, numbering);
            }
        }
    }

    /// The plans.
    pub(super) fn index(&self) -> &PlanIndex {
        match self {
            Part::Caches(part) => part.index(),
            Part::Branches(part) => part.index(),
            Part::References(part) => part.index(),
        }
    }

    /// The counts.
    pub(super) fn counted(&self) -> Counted {
        match self {
            Part::Caches(part) => part.counted(),
            Part::Branches(part) => part.counted(),
            Part::References(part) => part.counted(),
        }
    }

    /// Sets the counts; those that are missing are zero.
    pub(super) fn set_counted(&mut self, counted: &Counted) {
        match self {
            Part::Caches(part) => part.set_counted(counted),
            Part::Branches(part) => part.set_counted(counted),
            Part::References(part) => part.set_counted(counted),
        }
    }

    /// Contents of the simulator.
    pub(super) fn held(&self) -> HeldPart {
        match self {
            Part::Caches(part) => HeldPart::Caches(Box::new(part.held())),
            Part::Branches(part) => HeldPart::Branches(Box::new(part.held())),
            Part::References(_) => HeldPart::References,
        }
    }

    /// True if what the plans know of the simulator was right when `held` was saved.
    pub(super) fn is_like(&self, held: &HeldPart) -> bool {
        match (self, held) {
            (Part::Caches(part), HeldPart::Caches(held)) => part.numbers_lines_as(held),
            _ => true,
        }
    }

    /// The simulator holds what it held before.
    pub(super) fn hold(&mut self, held: &HeldPart) {
        match (self, held) {
            (Part::Caches(part), HeldPart::Caches(held)) => part.hold(held),
            (Part::Branches(part), HeldPart::Branches(held)) => part.hold(held),
            // Saved from another part.
            _ => {}
        }
    }

    /// The caches, if this part simulates them.
    pub(super) fn simulated_caches(&self) -> Option<&Hierarchy> {
        match self {
            Part::Caches(part) => Some(part.simulated()),
            Part::Branches(_) | Part::References(_) => None,
        }
    }
}

/// Adds a plan that has no number to `numbering`, and the plan that it is a prefix of before it.
/// `add` takes the plan and the number of the other.
pub(super) fn number(
    id: PlanId,
    plans: &[Arc<Plan>],
    numbering: &mut Numbering,
    add: &mut dyn FnMut(&Plan, Option<usize>),
) {
    let Some(plan) = plans.get(id.0 as usize) else { return };
    let whole = plan.prefix_of.and_then(|whole| {
        if numbering.get(whole, plans.len()).is_none() {
            add(plans.get(whole.0 as usize)?, None);
            numbering.push(whole);
        }
        numbering.get(whole, plans.len())
    });
    add(plan, whole);
    numbering.push(id);
}
