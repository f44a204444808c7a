//! Block plans: what a translated block costs, written down once, when it is translated.

use std::sync::Arc;

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory};
use rustc_hash::FxHashMap;

use crate::hooks::record::{Header, MAX_RECORD, PlanId};
use crate::x86::cost::{self, Access, Cost, Event, EventKind, Repeat};

/// The mapping a block was translated from, in the session's list; `NO_MAPPING` where it is no file's.
pub type MappingId = u32;

/// Code that comes from no file.
pub const NO_MAPPING: MappingId = u32::MAX;

/// One instruction of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedInsn {
    /// Address.
    pub pc: u64,
    /// Bytes.
    pub len: u8,
}

/// One data event of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedEvent {
    /// Index of the instruction in the plan.
    pub insn: u16,
    /// Index of the slot in the record.
    pub slot: u16,
    /// Bytes from the slot's address.
    pub offset: u16,
    /// Bytes accessed.
    pub size: u16,
    /// How it is counted.
    pub kind: EventKind,
    /// What happens to the memory there.
    pub touch: Access,
}

/// What the last instruction of a block does to the branch predictors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing.
    None,
    /// One conditional branch, taken unless control goes to the next instruction.
    Conditional,
    /// One conditional branch to the next instruction: this slot says whether it jumps, and with `inverted` it counts as
    /// taken if it does not.
    ToNext {
        /// Index of the slot in the record.
        slot: u16,
        /// Whether taken and not taken are swapped.
        inverted: bool,
    },
    /// One indirect branch.
    Indirect,
    /// A repeated string instruction; its slots begin at this one, and zero in it means no iteration.
    Repeat(Repeat, u16),
}

/// A block's plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Address of the first instruction; where control is when this record is reached.
    pub pc: u64,
    /// The instructions, in order.
    pub insns: Vec<PlannedInsn>,
    /// Words after the header.
    pub slots: u16,
    /// Data events in Cachegrind's order.
    pub events: Vec<PlannedEvent>,
    /// Instructions with a branch that is never taken, after their data (locked operations).
    pub retries: Vec<u16>,
    /// The branch at the end.
    pub end: End,
    /// The plan whose instructions these are the first of; they share its cost centres.
    pub prefix_of: Option<PlanId>,
    /// Where the code came from.
    pub mapping: MappingId,
}

impl Plan {
    /// A plan without instructions.
    pub fn empty(pc: u64, mapping: MappingId) -> Plan {
        Plan {
            pc,
            insns: Vec::new(),
            slots: 0,
            events: Vec::new(),
            retries: Vec::new(),
            end: End::None,
            prefix_of: None,
            mapping,
        }
    }

    /// Address after the last instruction.
    pub fn fall_through(&self) -> u64 {
        self.insns.last().map_or(self.pc, |insn| insn.pc.wrapping_add(u64::from(insn.len)))
    }

    /// The header word of a record of this plan: id, slots and instructions.
    pub fn header(&self, id: PlanId) -> u64 {
        Header { plan: id, slots: self.slots.into(), instructions: self.insns.len() as u64 }.word()
    }
}

/// Puts a plan together while its block is translated.
pub struct Builder {
    factory: InstructionInfoFactory,
    plan: Plan,
}

impl Default for Builder {
    fn default() -> Self {
        Builder { factory: InstructionInfoFactory::new(), plan: Plan::empty(0, NO_MAPPING) }
    }
}

impl Builder {
    /// Starts a plan.
    pub fn begin(&mut self, pc: u64, mapping: MappingId) {
        self.plan = Plan::empty(pc, mapping);
    }

    /// What an instruction will cost.
    pub fn cost(&mut self, instruction: &Instruction) -> Cost {
        cost::cost(instruction, &mut self.factory)
    }

    /// Slots used so far.
    pub fn slots(&self) -> usize {
        usize::from(self.plan.slots)
    }

    /// Whether the record has room for one more instruction.
    pub fn is_full(&self) -> bool {
        self.slots() + 128 > MAX_RECORD
    }

    /// Adds an instruction of `len` bytes that runs and costs `cost`.
    pub fn push(&mut self, instruction: &Instruction, len: u8, cost: &Cost) {
        let first_slot = self.plan.slots;
        self.add(instruction.ip(), len, cost);
        self.plan.end = match (cost::repeat(instruction), instruction.flow_control()) {
            (Some(repeat), _) => End::Repeat(repeat, first_slot),
            (None, FlowControl::ConditionalBranch) if cost::jumps_to_next(instruction) => {
                End::ToNext { slot: first_slot, inverted: cost::is_inverted(instruction) }
            }
            (None, FlowControl::ConditionalBranch) => End::Conditional,
            (None, FlowControl::IndirectBranch | FlowControl::IndirectCall) => End::Indirect,
            _ => End::None,
        };
    }

    /// Adds an instruction at `pc` that is fetched and then faults, or that the machine itself answers at `cost`.
    pub fn push_trapped(&mut self, pc: u64, len: u8, cost: &Cost) {
        self.add(pc, len, cost);
        self.plan.end = End::None;
    }

    fn add(&mut self, pc: u64, len: u8, cost: &Cost) {
        let plan = &mut self.plan;
        let insn = plan.insns.len() as u16;
        let first_slot = plan.slots;
        plan.insns.push(PlannedInsn { pc, len });
        plan.events.extend(cost.events.iter().map(|event: &Event| PlannedEvent {
            insn,
            slot: first_slot + u16::from(event.slot),
            offset: event.offset,
            size: event.size,
            kind: event.kind,
            touch: cost.slots.get(usize::from(event.slot)).map_or(Access::None, |slot| slot.access),
        }));
        plan.slots += cost.slots.len() as u16;
        if cost.retry_branch {
            plan.retries.push(insn);
        }
    }

    /// The finished plan.
    pub fn finish(&mut self) -> Plan {
        std::mem::replace(&mut self.plan, Plan::empty(0, NO_MAPPING))
    }
}

/// All plans of a run, and those the consumer has not seen yet.
#[derive(Default)]
pub struct PlanTable {
    plans: Vec<Arc<Plan>>,
    known: FxHashMap<u64, Vec<PlanId>>,
    prefixes: FxHashMap<(PlanId, u16, Option<u16>), PlanId>,
    cuts: FxHashMap<(PlanId, u16, Option<u16>), PlanId>,
    points: FxHashMap<u64, PlanId>,
    shipped: usize,
}

impl PlanTable {
    /// The id of a plan; a block translated again gets the id it had.
    pub fn insert(&mut self, plan: Plan) -> PlanId {
        let key = plan.pc ^ (plan.insns.len() as u64) << 48 ^ u64::from(plan.mapping).rotate_left(40);
        let candidates = self.known.entry(key).or_default();
        if let Some(&id) = candidates.iter().find(|id| *self.plans[id.0 as usize] == plan) {
            return id;
        }
        let id = PlanId(self.plans.len() as u32);
        candidates.push(id);
        self.plans.push(Arc::new(plan));
        id
    }

    /// The id of a plan that no block is translated to.
    pub fn add(&mut self, plan: Plan) -> PlanId {
        self.plans.push(Arc::new(plan));
        PlanId((self.plans.len() - 1) as u32)
    }

    /// The plan of an id in the trace.
    pub fn get(&self, id: PlanId) -> Option<&Arc<Plan>> {
        self.plans.get(id.0 as usize)
    }

    /// All of them, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Plan>> {
        self.plans.iter()
    }

    /// How many plans there are.
    pub fn len(&self) -> usize {
        self.plans.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// The plan of the first `complete` instructions of a block, and with `fetched` the fetch and so many data events of the
    /// one after.
    pub fn prefix(&mut self, id: PlanId, complete: u16, fetched: Option<u16>) -> PlanId {
        if let Some(&known) = self.prefixes.get(&(id, complete, fetched)) {
            return known;
        }
        let whole = Arc::clone(&self.plans[id.0 as usize]);
        let keep = usize::from(complete);
        let mut plan = Plan::empty(whole.pc, whole.mapping);
        plan.insns = whole.insns.iter().take(keep).copied().collect();
        plan.events = whole.events.iter().filter(|event| event.insn < complete).copied().collect();
        if let (Some(reached), Some(&last)) = (fetched, whole.insns.get(keep)) {
            plan.insns.push(last);
            let its = whole.events.iter().filter(|event| event.insn == complete);
            plan.events.extend(its.take(usize::from(reached)));
            // The test of RCX comes before the accesses, and it is a branch that goes on.
            if matches!(whole.end, End::Repeat(..)) && keep + 1 == whole.insns.len() {
                plan.end = End::Conditional;
            }
        }
        plan.slots = plan.events.iter().map(|event| event.slot + 1).max().unwrap_or(0);
        plan.retries = whole.retries.iter().filter(|&&insn| insn < complete).copied().collect();
        plan.prefix_of = Some(whole.prefix_of.unwrap_or(id));
        let prefix = PlanId(self.plans.len() as u32);
        self.plans.push(Arc::new(plan));
        self.prefixes.insert((id, complete, fetched), prefix);
        prefix
    }

    /// The plan of the first `complete` instructions of a plan, and with `partly` the fetch and so many of the counted data
    /// events of the one after. Its records keep all their slots: what was accessed was accessed, counted or not.
    pub fn cut(&mut self, id: PlanId, complete: u16, partly: Option<u16>) -> PlanId {
        if let Some(&known) = self.cuts.get(&(id, complete, partly)) {
            return known;
        }
        let Some(whole) = self.get(id) else { return id };
        let mut plan = Plan { prefix_of: Some(whole.prefix_of.unwrap_or(id)), ..Plan::clone(whole) };
        plan.insns.truncate(usize::from(complete) + usize::from(partly.is_some()));
        plan.retries.retain(|&insn| insn < complete);
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

    /// A plan without instructions that says where control went.
    pub fn point(&mut self, pc: u64) -> PlanId {
        let plans = &mut self.plans;
        *self.points.entry(pc).or_insert_with(|| {
            plans.push(Arc::new(Plan::empty(pc, NO_MAPPING)));
            PlanId((plans.len() - 1) as u32)
        })
    }

    /// The plans that `take_new` has given out, in order of their ids.
    pub fn shipped(&self) -> Vec<Arc<Plan>> {
        self.plans[..self.shipped].to_vec()
    }

    /// The plans made since the last call, in order of their ids.
    pub fn take_new(&mut self) -> Vec<Arc<Plan>> {
        let new = self.plans[self.shipped..].to_vec();
        self.shipped = self.plans.len();
        new
    }
}
