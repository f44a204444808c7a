//! Consumers of the trace. Each walks plans and records together and drives one simulator.

use std::sync::Arc;

pub(crate) use crate::hooks::branches::Predictors;
use crate::hooks::branches::{BranchConsumer, SavedBranches};
use crate::hooks::caches::{CacheConsumer, SavedCaches};
use crate::hooks::counts::Counts;
use crate::hooks::lookout::Lookout;
pub(crate) use crate::hooks::lookout::{Miss, Sighting, Target, Watched};
use crate::hooks::plan::{MappingId, Plan};
use crate::hooks::plan_index::PlanIndex;
use crate::hooks::record::{Header, instructions};
use crate::hooks::references::{ReferenceConsumer, SavedReferences};
use crate::sim::Hierarchy;

/// One part of the simulation of a run. Caches and branch predictors are independent, so the parts
/// read the same records in parallel.
#[derive(Clone, Debug)]
pub(crate) struct Consumer {
    part: Part,
    /// See [`Consumer::set_counting`].
    counting: bool,
    lookout: Option<Box<Lookout>>,
}

/// State of a consumer for a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct SavedConsumer {
    part: SavedPart,
    counting: bool,
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
    /// Creates a consumer for each simulator. Every consumer counts references; without a simulator
    /// there is one for them.
    pub(crate) fn parts(caches: Option<Hierarchy>, predictors: Option<Predictors>) -> Vec<Consumer> {
        let caches = caches.map(|caches| Part::Caches(CacheConsumer::new(caches)));
        let branches = predictors.map(|predictors| Part::Branches(BranchConsumer::new(predictors)));
        let mut parts: Vec<Consumer> = caches.into_iter().chain(branches).map(Consumer::of).collect();
        if parts.is_empty() {
            parts.push(Consumer::of(Part::References(ReferenceConsumer::default())));
        }
        parts
    }

    fn of(part: Part) -> Consumer {
        Consumer { part, counting: true, lookout: None }
    }

    /// Switches counting on or off. Records that are not counted do not reach the simulators
    /// either.
    pub(crate) fn set_counting(&mut self, counting: bool) {
        self.counting = counting;
    }

    /// Saves counts and simulators. Plans are facts about code and not part of the state.
    pub(crate) fn save(&self) -> SavedConsumer {
        let part = match &self.part {
            Part::Caches(part) => SavedPart::Caches(part.save()),
            Part::Branches(part) => SavedPart::Branches(part.save()),
            Part::References(part) => SavedPart::References(part.save()),
        };
        SavedConsumer { part, counting: self.counting }
    }

    /// Restores what was saved of this consumer. It looks out for nothing then.
    pub(crate) fn restore(&mut self, saved: &SavedConsumer) {
        self.counting = saved.counting;
        self.lookout = None;
        match (&mut self.part, &saved.part) {
            (Part::Caches(part), SavedPart::Caches(saved)) => part.restore(saved),
            (Part::Branches(part), SavedPart::Branches(saved)) => part.restore(saved),
            (Part::References(part), SavedPart::References(saved)) => part.restore(saved),
            // Saved from another part.
            _ => {}
        }
    }

    /// Adds a plan; ids count up from 0.
    pub(crate) fn add_plan(&mut self, plan: &Plan) {
        self.part.add_plan(plan);
    }

    /// Adds new plans, then consumes a buffer of records. Returns the number of their instructions.
    pub(crate) fn consume(&mut self, words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        for plan in plans {
            self.add_plan(plan);
        }
        if self.lookout.is_some() {
            return self.consume_noting(words, plans);
        }
        if !self.counting {
            return instructions(words);
        }
        self.part.walk(words)
    }

    /// Consumes a buffer record by record, and notes what the lookout wants.
    fn consume_noting(&mut self, mut words: &[u64], plans: &[Arc<Plan>]) -> u64 {
        let Consumer { part, counting, lookout: Some(lookout) } = self else { return 0 };
        lookout.add_plans(plans);
        let mut instructions = 0;
        while let Some(&word) = words.first() {
            let header = Header::of(word);
            let Some((record, next)) = words.split_at_checked(1 + header.slots) else { break };
            words = next;
            instructions += header.instructions;
            lookout.accesses(header, record.get(1..).unwrap_or_default());
            if *counting && lookout.wants_misses() {
                let mut note =
                    |index: Option<usize>, pc: u64, miss: Miss| lookout.miss(header, index, pc, miss);
                match part {
                    Part::Caches(part) => part.walk_noting(record, &mut note),
                    Part::Branches(part) => part.walk_noting(record, &mut note),
                    Part::References(part) => drop(part.walk(record)),
                }
            } else if *counting {
                part.walk(record);
            }
            lookout.pass(header);
        }
        instructions
    }

    /// Sets all counts to zero. The simulators keep their contents.
    pub(crate) fn zero(&mut self) {
        match &mut self.part {
            Part::Caches(part) => part.zero(),
            Part::Branches(part) => part.zero(),
            Part::References(part) => part.zero(),
        }
    }

    /// The caches, if this part simulates them.
    pub(crate) fn caches(&self) -> Option<&Hierarchy> {
        match &self.part {
            Part::Caches(part) => Some(part.caches()),
            Part::Branches(_) | Part::References(_) => None,
        }
    }

    /// Looks out for these targets and no others after the moment `since`; the next record begins
    /// at the moment `now`. `plans` are all plans so far.
    pub(crate) fn look_out(&mut self, targets: Vec<Target>, plans: Vec<Arc<Plan>>, now: u64, since: u64) {
        let lookout = || Box::new(Lookout::new(targets.clone(), plans, now, since));
        self.lookout = (!targets.is_empty()).then(lookout);
    }

    /// The sightings, and the moment until which everything is known; `None` if nothing is looked
    /// out for.
    pub(crate) fn seen(&self) -> Option<(&[Sighting], u64)> {
        self.lookout.as_ref().map(|lookout| lookout.seen())
    }

    fn index(&self) -> &PlanIndex {
        match &self.part {
            Part::Caches(part) => part.index(),
            Part::Branches(part) => part.index(),
            Part::References(part) => part.index(),
        }
    }

    /// Adds the counts that follow from the executions of blocks: all but misses.
    fn add_references(&self, counts: &mut [Counts]) {
        match &self.part {
            Part::Caches(part) => part.index().add_references(part.executed(), counts),
            Part::Branches(part) => part.index().add_references(part.executed(), counts),
            Part::References(part) => part.index().add_references(part.executed(), counts),
        }
    }

    /// Adds the misses.
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
pub(crate) struct Tally {
    insns: Vec<(u64, MappingId)>,
    counts: Vec<Counts>,
}

impl Tally {
    /// Adds the counts of a consumer. All consumers must be parts of one run and have read the same
    /// records.
    pub(crate) fn add(&mut self, consumer: &Consumer) {
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

    /// Address, mapping and counts of each instruction that was counted, once for each plan it is
    /// in. Leaves out what was translated and not executed, which depends on where the run was
    /// paused.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, MappingId, &Counts)> {
        let counted = self.insns.iter().zip(&self.counts).filter(|(_, counts)| **counts != Counts::default());
        counted.map(|(&(pc, mapping), counts)| (pc, mapping, counts))
    }
}
