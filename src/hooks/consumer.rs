//! The consumers of the trace: each walks plans and records together and drives a part of the simulators.

use std::sync::Arc;

pub use crate::hooks::branches::Predictors;
use crate::hooks::branches::{BranchConsumer, SavedBranches};
use crate::hooks::caches::{CacheConsumer, SavedCaches};
use crate::hooks::counts::Counts;
use crate::hooks::plan::{MappingId, Plan};
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::record::instructions;
use crate::hooks::references::{ReferenceConsumer, SavedReferences};
use crate::hooks::watch::Watch;
pub use crate::hooks::watch::Watched;
use crate::sim::Hierarchy;

/// One part of the simulation of a run. Caches and branch predictors do not depend on each other; the parts read
/// the same records, each at its own pace.
#[derive(Clone, Debug)]
pub struct Consumer {
    part: Part,
    /// Whether what runs is counted and simulated; see [`Consumer::set_counting`].
    counting: bool,
    watch: Option<Box<Watch>>,
}

/// A consumer as it was; see [`Consumer::save`].
#[derive(Clone, Debug)]
pub struct SavedConsumer {
    part: SavedPart,
    counting: bool,
    watched: Vec<u64>,
}

#[derive(Clone, Debug)]
enum SavedPart {
    Caches(SavedCaches),
    Branches(SavedBranches),
    References(SavedReferences),
}

#[derive(Clone, Debug)]
enum Part {
    Caches(CacheConsumer),
    Branches(BranchConsumer),
    References(ReferenceConsumer),
}

impl Part {
    fn add_plan(&mut self, plan: &Plan) {
        match self {
            Part::Caches(part) => part.add_plan(plan),
            Part::Branches(part) => part.add_plan(plan),
            Part::References(part) => part.add_plan(plan),
        }
    }

    fn walk(&mut self, words: &[u64]) -> u64 {
        match self {
            Part::Caches(part) => part.walk(words),
            Part::Branches(part) => part.walk(words),
            Part::References(part) => part.walk(words),
        }
    }
}

impl Consumer {
    /// A consumer for each part that is wanted. Every one counts references, so there is always one.
    pub fn parts(caches: Option<Hierarchy>, predictors: Option<Predictors>) -> Vec<Consumer> {
        let caches = caches.map(|caches| Part::Caches(CacheConsumer::new(caches)));
        let branches = predictors.map(|predictors| Part::Branches(BranchConsumer::new(predictors)));
        let mut parts: Vec<Consumer> = caches.into_iter().chain(branches).map(Consumer::of).collect();
        if parts.is_empty() {
            parts.push(Consumer::of(Part::References(ReferenceConsumer::default())));
        }
        parts
    }

    fn of(part: Part) -> Consumer {
        Consumer { part, counting: true, watch: None }
    }

    /// Whether what is consumed from now on is counted. What is not counted does not touch the simulators either.
    pub fn set_counting(&mut self, counting: bool) {
        self.counting = counting;
    }

    /// What it has counted, and what its simulators hold. The plans it knows are not part of that.
    pub fn save(&self) -> SavedConsumer {
        let part = match &self.part {
            Part::Caches(part) => SavedPart::Caches(part.save()),
            Part::Branches(part) => SavedPart::Branches(part.save()),
            Part::References(part) => SavedPart::References(part.save()),
        };
        SavedConsumer { part, counting: self.counting, watched: self.watched().to_vec() }
    }

    /// Goes back to what was saved of it.
    pub fn restore(&mut self, saved: &SavedConsumer) {
        self.counting = saved.counting;
        if let Some(watch) = &mut self.watch {
            watch.restore(&saved.watched);
        }
        match (&mut self.part, &saved.part) {
            (Part::Caches(part), SavedPart::Caches(saved)) => part.restore(saved),
            (Part::Branches(part), SavedPart::Branches(saved)) => part.restore(saved),
            (Part::References(part), SavedPart::References(saved)) => part.restore(saved),
            // Something saved of another part.
            _ => {}
        }
    }

    /// Takes in a plan; ids count up from 0.
    pub fn add_plan(&mut self, plan: &Plan) {
        self.part.add_plan(plan);
    }

    /// Takes in new plans, then a buffer of records; returns how many instructions the records stand for.
    pub fn consume(&mut self, words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        for plan in plans {
            self.add_plan(plan);
        }
        if let Some(watch) = &mut self.watch {
            watch.scan(words, plans);
        }
        if !self.counting {
            return instructions(words);
        }
        self.part.walk(words)
    }

    /// Forgets what was counted. The simulators keep what they hold.
    pub fn zero(&mut self) {
        match &mut self.part {
            Part::Caches(part) => part.zero(),
            Part::Branches(part) => part.zero(),
            Part::References(part) => part.zero(),
        }
    }

    /// The caches, if this part simulates them.
    pub fn caches(&self) -> Option<&Hierarchy> {
        match &self.part {
            Part::Caches(part) => Some(part.caches()),
            Part::Branches(_) | Part::References(_) => None,
        }
    }

    /// Watches accesses to these ranges from now on, and no others. `plans` are all plans it knows, and `past` are records
    /// that come next and are from before.
    pub fn watch(&mut self, ranges: Vec<Watched>, plans: Vec<Arc<Plan>>, past: &[u64]) {
        self.watch = (!ranges.is_empty()).then(|| Box::new(Watch::new(ranges, plans, past)));
    }

    /// How often each of the watched ranges was accessed.
    pub fn watched(&self) -> &[u64] {
        self.watch.as_ref().map_or(&[], |watch| watch.accesses())
    }

    fn index(&self) -> &PlanIndex {
        match &self.part {
            Part::Caches(part) => part.index(),
            Part::Branches(part) => part.index(),
            Part::References(part) => part.index(),
        }
    }

    /// Adds what follows from how often each block was executed: everything but misses.
    fn add_references(&self, counts: &mut [Counts]) {
        match &self.part {
            Part::Caches(part) => part.index().add_references(part.executed(), counts),
            Part::Branches(part) => part.index().add_references(part.executed(), counts),
            Part::References(part) => part.index().add_references(part.executed(), counts),
        }
    }

    /// Adds the misses that this part has counted.
    fn add_misses(&self, counts: &mut [Counts]) {
        match &self.part {
            Part::Caches(part) => {
                for (count, misses) in counts.iter_mut().zip(part.misses()) {
                    count.misses = *misses;
                }
            }
            Part::Branches(part) => part.add_misses(counts),
            Part::References(_) => {}
        }
    }
}

/// Counts of every instruction of a run, put together from the consumers.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    insns: Vec<(u64, MappingId)>,
    counts: Vec<Counts>,
}

impl Tally {
    /// Adds the counts of a consumer. All consumers must be parts of one run and have read the same records.
    pub fn add(&mut self, consumer: &Consumer) {
        if self.insns.is_empty() {
            let index = consumer.index();
            self.insns = index.insns.iter().map(|insn| (insn.pc, 0)).collect();
            for entry in &index.entries {
                let insns =
                    self.insns[entry.first_insn as usize..][..usize::from(entry.instructions)].iter_mut();
                insns.for_each(|(_, mapping)| *mapping = entry.mapping);
            }
            self.counts = vec![Counts::default(); self.insns.len()];
            consumer.add_references(&mut self.counts);
        }
        consumer.add_misses(&mut self.counts);
    }

    /// Address, mapping and counts of each instruction that was counted, once for each plan it is in. Leaves out what was
    /// translated and not executed, which depends on where the run was paused.
    pub fn iter(&self) -> impl Iterator<Item = (u64, MappingId, &Counts)> {
        let counted = self.insns.iter().zip(&self.counts).filter(|(_, counts)| **counts != Counts::default());
        counted.map(|(&(pc, mapping), counts)| (pc, mapping, counts))
    }
}
