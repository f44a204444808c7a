//! All plans of a run, by their numbers, and those that are derived from others: of a part of a
//! block that was executed, of an exit of a superblock, and of what is between two blocks.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::hooks::callgraph::facts::{Between, Jump};
use crate::hooks::plan::{End, NO_MAPPING, Plan, PlannedCalls, PlannedEvent};
use crate::hooks::record::PlanId;
use crate::x86::cost::EventKind;

/// All plans of a run.
#[derive(Default)]
pub(crate) struct PlanTable {
    plans: Vec<Arc<Plan>>,
    facts: Vec<Facts>,
    /// The last plan with a key, and of plans that share one, the plan before each.
    known: FxHashMap<u64, PlanId>,
    before: FxHashMap<PlanId, PlanId>,
    prefixes: FxHashMap<(PlanId, u16, Option<u16>), PlanId>,
    exits: FxHashMap<(PlanId, u16), PlanId>,
    cuts: FxHashMap<(PlanId, u16, Option<u16>), PlanId>,
    points: FxHashMap<(u64, Option<Between>), PlanId>,
    shipped: usize,
    bytes: u64,
    density: Density,
}

/// Facts about a plan for generated code that drives caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// [`Plan::times`].
    pub(super) times: u32,
    /// The counters of misses: that of its first instruction's fetch, which those of the others
    /// follow, and that of its first data event.
    pub(crate) fetches: u32,
    pub(super) data: u32,
}

/// Bounds of the instructions that records stand for, of all plans so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Density {
    /// Most instructions of a record.
    pub(crate) longest: u64,
    /// Most instructions for each word of a record, rounded up.
    per_word: u64,
}

/// Bytes that a plan, an instruction of it and a data event take: here, in the consumers, and when
/// the profile is made. Measured with both simulators and both count models.
const PLAN_BYTES: u64 = 512;
const INSN_BYTES: u64 = 256;
const EVENT_BYTES: u64 = 96;

impl PlanTable {
    /// Inserts the plan of a block. A block that is translated again keeps its id.
    pub(crate) fn insert(&mut self, plan: Plan) -> PlanId {
        let key = plan.pc ^ (plan.insns.len() as u64) << 48 ^ u64::from(plan.mapping).rotate_left(40);
        let last = self.known.get(&key).copied();
        let mut candidates = std::iter::successors(last, |id| self.before.get(id).copied());
        if let Some(id) = candidates.find(|id| *self.plans[id.0 as usize] == plan) {
            return id;
        }
        let id = self.add(plan);
        if let Some(before) = self.known.insert(key, id) {
            self.before.insert(id, before);
        }
        id
    }

    /// Adds a plan that is derived from others.
    pub(super) fn add(&mut self, plan: Plan) -> PlanId {
        let (insns, events) = (plan.insns.len() as u64, plan.events.len() as u64);
        self.bytes += PLAN_BYTES + insns * INSN_BYTES + events * EVENT_BYTES;
        let Density { longest, per_word } = &mut self.density;
        *longest = insns.max(*longest);
        *per_word = insns.div_ceil(1 + u64::from(plan.slots)).max(*per_word);
        let fetches = self.facts.last().zip(self.plans.last());
        let fetches = fetches.map_or(0, |(facts, plan)| facts.data + plan.events.len() as u32);
        self.facts.push(Facts { times: plan.times(), fetches, data: fetches + insns as u32 });
        self.plans.push(Arc::new(plan));
        PlanId((self.plans.len() - 1) as u32)
    }

    /// Bytes that the plans take, and all that is kept for each.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bounds of the instructions that records stand for.
    pub(crate) fn density(&self) -> Density {
        self.density
    }

    /// Most instructions that complete records stand for that have so many words.
    pub(super) fn instructions_at_most(&self, words: u64) -> u64 {
        words * self.density.per_word
    }

    /// Words before which records may begin of which all, the last one too, stand for no more than
    /// this many instructions.
    pub(crate) fn words_within(&self, instructions: u64) -> u64 {
        let Density { longest, per_word } = self.density;
        instructions.checked_sub(longest).map_or(0, |before_last| before_last / per_word.max(1) + 1)
    }

    /// Facts about a plan for generated code that drives caches.
    #[inline]
    pub(crate) fn facts(&self, id: PlanId) -> Facts {
        self.facts.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Number of plans.
    pub(super) fn len(&self) -> usize {
        self.plans.len()
    }

    /// Looks up a plan.
    pub(crate) fn get(&self, id: PlanId) -> Option<&Arc<Plan>> {
        self.plans.get(id.0 as usize)
    }

    /// Prefix of the plan of a block: the first `complete` instructions and, with `fetched`, the
    /// fetch and that many data events of the next one.
    pub(super) fn prefix(&mut self, id: PlanId, complete: u16, fetched: Option<u16>) -> PlanId {
        if let Some(&known) = self.prefixes.get(&(id, complete, fetched)) {
            return known;
        }
        let whole = Arc::clone(&self.plans[id.0 as usize]);
        let mut plan = first(id, &whole, complete);
        let keep = usize::from(complete);
        if let (Some(reached), Some(&last)) = (fetched, whole.insns.get(keep)) {
            plan.insns.push(last);
            let its = whole.events.iter().filter(|event| event.insn == complete);
            plan.events.extend(its.take(usize::from(reached)));
            // The test of RCX comes before the accesses. It is a branch that is not taken.
            if matches!(whole.end, End::Repeat(..)) && keep + 1 == whole.insns.len() {
                plan.end = End::Conditional;
            }
            plan.begins_counts = whole.begins_counts;
        }
        plan.set_slots();
        let prefix = self.add(plan);
        self.prefixes.insert((id, complete, fetched), prefix);
        prefix
    }

    /// Plan of the superblock `id` when it is left by the branch that ends its first `complete`
    /// instructions.
    pub(crate) fn exit(&mut self, id: PlanId, complete: u16) -> PlanId {
        if let Some(&known) = self.exits.get(&(id, complete)) {
            return known;
        }
        let Some(whole) = self.get(id) else { return id };
        let mut plan = first(id, whole, complete);
        plan.inside.retain(|branch| branch.insn + 1 < complete);
        plan.end = End::Conditional;
        if let Some(calls) = &mut plan.calls {
            calls.facts.jump = Jump::Conditional;
        }
        plan.set_slots();
        let exit = self.add(plan);
        self.exits.insert((id, complete), exit);
        exit
    }

    /// Plan that counts the first `complete` instructions and, with `partly`, the fetch and that
    /// many of the counted data events of the next one. Its records keep all slots, because the
    /// accesses took place and may be watched.
    pub(super) fn cut(&mut self, id: PlanId, complete: u16, partly: Option<u16>) -> PlanId {
        if let Some(&known) = self.cuts.get(&(id, complete, partly)) {
            return known;
        }
        let Some(whole) = self.get(id) else { return id };
        let mut plan = Plan { prefix_of: Some(whole.prefix_of.unwrap_or(id)), ..Plan::clone(whole) };
        plan.insns.truncate(usize::from(complete) + usize::from(partly.is_some()));
        plan.inside.retain(|branch| branch.insn < complete);
        if plan.insns.len() < whole.insns.len() {
            plan.end = End::None;
        }
        let mut left = partly.unwrap_or(0);
        for event in &mut plan.events {
            let counted = event.kind != EventKind::Uncounted;
            let stays = event.insn < complete || event.insn == complete && counted && left > 0;
            if event.insn == complete && counted {
                left = left.saturating_sub(1);
            }
            if !stays {
                *event = PlannedEvent { insn: 0, kind: EventKind::Uncounted, ..*event };
            }
        }
        let cut = self.add(plan);
        self.cuts.insert((id, complete, partly), cut);
        cut
    }

    /// Plan without instructions, for a record that control is at `pc`, perhaps because of
    /// something between two blocks.
    pub(super) fn point(&mut self, pc: u64, between: Option<Between>) -> PlanId {
        if let Some(&known) = self.points.get(&(pc, between)) {
            return known;
        }
        let slots = u16::from(between.is_some());
        let point = self.add(Plan { slots, between, ..Plan::empty(pc, NO_MAPPING) });
        self.points.insert((pc, between), point);
        point
    }

    /// Plans added since the last call, in order of their ids.
    pub(super) fn take_new(&mut self) -> Vec<Arc<Plan>> {
        let new = self.plans[self.shipped..].to_vec();
        self.shipped = self.plans.len();
        new
    }
}

/// The first `complete` instructions of the plan `whole`, without a branch at the end. The number
/// of its slots is not set.
fn first(id: PlanId, whole: &Plan, complete: u16) -> Plan {
    let events = whole.events.iter().filter(|event| event.insn < complete);
    let mut plan = Plan::empty(whole.pc, whole.mapping);
    plan.insns = whole.insns.iter().take(complete.into()).copied().collect();
    plan.events = events.copied().collect();
    plan.inside = whole.inside.iter().filter(|branch| branch.insn < complete).copied().collect();
    plan.prefix_of = Some(whole.prefix_of.unwrap_or(id));
    plan.begins_counts = whole.begins_counts && !plan.insns.is_empty();
    plan.calls = whole.call_facts().map(|facts| {
        let mut calls = PlannedCalls::at(facts.place);
        calls.facts.sp = whole.sp_after(complete);
        calls
    });
    plan
}
