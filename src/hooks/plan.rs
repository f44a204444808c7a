//! Plans: the events of a block, determined once, when it is translated.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory};

use crate::hooks::callgraph::facts::{Between, CallFacts, CodePlace, Leave, jump, leave};
use crate::hooks::callgraph::stack_pointer::{Follower, StackPointer};
use crate::hooks::counts::Kind;
use crate::hooks::record::{Header, MAX_BLOCK, MAX_RECORD, MOST_INSIDE, PlanId};
use crate::x86::address::Address;
use crate::x86::cost::{self, Access, Cost, Event, EventKind, Repeat};

/// First slot of an instruction whose slots are in no record.
pub(crate) const UNRECORDED: u16 = 1 << 15;

const _: () = assert!(MAX_RECORD <= UNRECORDED as usize);

/// Index of the mapping that code comes from, in the session's list.
pub(crate) type MappingId = u32;

/// Mapping of code that comes from no file.
pub(crate) const NO_MAPPING: MappingId = u32::MAX;

/// Instruction of a plan: its address, which is canonical, above its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedInsn(u64);

impl PlannedInsn {
    /// An instruction at a canonical address, of so many bytes.
    pub(crate) fn new(pc: u64, len: u8) -> PlannedInsn {
        PlannedInsn(pc << 8 | u64::from(len))
    }

    /// Its address.
    pub(crate) fn pc(self) -> u64 {
        (self.0 as i64 >> 8) as u64
    }

    /// Its length in bytes.
    pub(crate) fn len(self) -> u8 {
        self.0 as u8
    }
}

/// Branch of a plan that is not at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InnerBranch {
    /// Index of its instruction in the plan.
    pub(crate) insn: u16,
    /// It is the retry of a locked operation, after its data, and never taken.
    pub(crate) is_retry: bool,
}

/// Facts about a plan for the call graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedCalls {
    /// Facts about its end.
    pub(crate) facts: CallFacts,
    /// The stack pointer after each instruction that moves it.
    sp_changes: Vec<(u16, StackPointer)>,
}

impl PlannedCalls {
    /// Facts about a plan at a place.
    pub(super) fn at(place: CodePlace) -> Box<PlannedCalls> {
        let facts = CallFacts { place, ..CallFacts::default() };
        Box::new(PlannedCalls { facts, sp_changes: Vec::new() })
    }
}

/// Data event of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedEvent {
    /// Index of the instruction in the plan.
    pub(crate) insn: u16,
    /// Index of the slot in the record; from [`UNRECORDED`] on, it is not there.
    pub(crate) slot: u16,
    /// Bytes from the slot's address.
    pub(crate) offset: u16,
    /// Bytes accessed.
    pub(crate) size: u16,
    /// Event that is counted.
    pub(crate) kind: EventKind,
    /// Access to the memory, for watchpoints.
    pub(crate) access: Access,
}

impl PlannedEvent {
    /// Tests whether its slot is in the record.
    pub(super) fn is_recorded(&self) -> bool {
        self.slot < UNRECORDED
    }
}

/// Branch event at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No branch.
    None,
    /// Conditional branch, taken unless control goes to the next instruction.
    Conditional,
    /// Conditional branch to the next instruction.
    ToNext {
        /// Slot that is 1 if it jumps and 0 if not.
        slot: u16,
        /// Jumping counts as not taken, and the other way round.
        inverted: bool,
    },
    /// Indirect branch.
    Indirect,
    /// Repeated string instruction. Its slots begin at this one, which is 0 if there is no
    /// iteration.
    Repeat(Repeat, u16),
}

/// Plan of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Address of the first instruction.
    pub(crate) pc: u64,
    /// Instructions in order.
    pub(crate) insns: Vec<PlannedInsn>,
    /// Words of a record after its header.
    pub(crate) slots: u16,
    /// Data events in Cachegrind's order.
    pub(crate) events: Vec<PlannedEvent>,
    /// Branches that are not at the end, in order: retries, and conditional branches that went
    /// where the next instruction is.
    pub(crate) inside: Vec<InnerBranch>,
    /// Branch at the end.
    pub(crate) end: End,
    /// Plan of which this is a prefix; both share the counts of their instructions.
    pub(crate) prefix_of: Option<PlanId>,
    /// Mapping of the code.
    pub(crate) mapping: MappingId,
    /// Facts for the call graph, if there is one.
    pub(crate) calls: Option<Box<PlannedCalls>>,
    /// The record is no block but something between two.
    pub(crate) between: Option<Between>,
    /// It begins a function whose first entry begins the counts of its process.
    pub(crate) begins_counts: bool,
}

impl Plan {
    /// Creates a plan without instructions.
    pub(super) fn empty(pc: u64, mapping: MappingId) -> Plan {
        Plan {
            pc,
            insns: Vec::new(),
            slots: 0,
            events: Vec::new(),
            inside: Vec::new(),
            end: End::None,
            prefix_of: None,
            mapping,
            calls: None,
            between: None,
            begins_counts: false,
        }
    }

    /// Address after the last instruction.
    pub(super) fn fall_through(&self) -> u64 {
        self.insns.last().map_or(self.pc, |insn| insn.pc().wrapping_add(u64::from(insn.len())))
    }

    /// Indices of the locked operations, which have a retry.
    pub(super) fn retries(&self) -> impl Iterator<Item = u16> {
        self.inside.iter().filter(|branch| branch.is_retry).map(|branch| branch.insn)
    }

    /// Facts about its end for the call graph, if there is one.
    pub(crate) fn call_facts(&self) -> Option<&CallFacts> {
        self.calls.as_ref().map(|calls| &calls.facts)
    }

    /// Times that pass while its block runs, one for each data event.
    pub(crate) fn times(&self) -> u32 {
        self.events.len().max(1) as u32
    }

    /// Counters of misses that it has: of fetches, then of data events.
    pub(super) fn counters(&self) -> usize {
        self.insns.len() + self.events.len()
    }

    /// The instruction and the kind of access that a counter of misses is of.
    pub(super) fn counted(&self, counter: usize) -> Option<(u16, Kind)> {
        let Some(data) = counter.checked_sub(self.insns.len()) else {
            return Some((counter as u16, Kind::Fetch));
        };
        let event = self.events.get(data)?;
        Some((event.insn, if event.kind == EventKind::Write { Kind::Store } else { Kind::Load }))
    }

    /// The stack pointer after the first `complete` instructions, if there is a call graph.
    pub(super) fn sp_after(&self, complete: u16) -> StackPointer {
        let Some(PlannedCalls { sp_changes, .. }) = self.calls.as_deref() else {
            return StackPointer::default();
        };
        let changes = sp_changes.partition_point(|(insn, _)| *insn < complete);
        sp_changes.get(..changes).and_then(<[_]>::last).map(|(_, sp)| *sp).unwrap_or_default()
    }

    /// Sets the number of its slots to what it has use for.
    pub(super) fn set_slots(&mut self) {
        let events = self.events.iter().filter(|event| event.is_recorded()).map(|event| event.slot);
        let sp = self.call_facts().and_then(|facts| facts.sp.slot());
        self.slots = events.chain(sp).map(|slot| slot + 1).max().unwrap_or(0);
    }

    /// Header word of a record of this plan.
    pub(crate) fn header(&self, id: PlanId) -> u64 {
        Header { plan: id, slots: self.slots.into(), instructions: self.insns.len() as u64 }.word()
    }
}

/// Builder of the plan of a block, used while the block is translated.
pub(crate) struct Builder {
    factory: InstructionInfoFactory,
    plan: Plan,
    /// Follows the stack pointer, if there is a call graph.
    follower: Option<Follower>,
    /// All accesses are recorded, and not only those that the call graph needs.
    records_all: bool,
    /// The slots of the next instruction are recorded.
    records_next: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            factory: InstructionInfoFactory::new(),
            plan: Plan::empty(0, NO_MAPPING),
            follower: None,
            records_all: true,
            records_next: true,
        }
    }
}

impl Builder {
    /// Starts a plan.
    pub(crate) fn begin(&mut self, pc: u64, mapping: MappingId) {
        let Plan { mut insns, mut events, mut inside, .. } =
            std::mem::replace(&mut self.plan, Plan::empty(pc, mapping));
        insns.clear();
        events.clear();
        inside.clear();
        self.plan = Plan { insns, events, inside, ..Plan::empty(pc, mapping) };
        (self.records_all, self.records_next) = (true, true);
    }

    /// Adds facts for the call graph to the plan that is started, which is at this place. Unless it
    /// `records_all`, only slots that the call graph needs are in its records.
    pub(crate) fn follow_calls(&mut self, place: CodePlace, records_all: bool) {
        self.records_all = records_all;
        self.follower = Some(Follower::default());
        self.plan.calls = Some(PlannedCalls::at(place));
    }

    /// The place of the block, if there is a call graph.
    pub(crate) fn place(&self) -> Option<CodePlace> {
        self.plan.call_facts().map(|facts| facts.place)
    }

    /// Has the counts of a process begin with the plan that is started.
    pub(crate) fn begin_counts(&mut self) {
        self.plan.begins_counts = true;
    }

    /// Determines the events of the next instruction, and whether its slots are recorded. Those of
    /// an instruction that this was not asked for are.
    pub(crate) fn cost(&mut self, instruction: &Instruction) -> Cost {
        let mut cost = cost::cost(instruction, &mut self.factory);
        if let Some(follower) = &self.follower {
            follower.ask(instruction, &mut cost);
            self.records_next = self.records_all
                || follower.needs(instruction)
                || cost::repeat(instruction).is_some()
                || cost.slots.iter().any(|slot| slot.address == Address::Outcome);
        }
        cost
    }

    /// Tests whether the slots of the next instruction are recorded.
    pub(crate) fn records_next(&self) -> bool {
        self.records_next
    }

    /// The first slot of the next instruction; [`UNRECORDED`] if they are not recorded.
    pub(crate) fn next_slot(&self) -> u16 {
        if self.records_next { self.plan.slots } else { UNRECORDED }
    }

    /// Mapping of the code.
    pub(crate) fn mapping(&self) -> MappingId {
        self.plan.mapping
    }

    /// Data events so far.
    pub(crate) fn events(&self) -> usize {
        self.plan.events.len()
    }

    /// Instructions so far.
    pub(crate) fn instructions(&self) -> usize {
        self.plan.insns.len()
    }

    /// Tests whether the record has no room for another instruction, or the block for one besides
    /// those that begin its end and the code behind it.
    pub(crate) fn is_full(&self) -> bool {
        let most = MAX_BLOCK as usize - 2;
        let slots = usize::from(self.plan.slots);
        self.instructions() >= most || slots + 128 > MAX_RECORD || !self.has_room_inside(0)
    }

    /// Tests whether so many branches more may come before the end. A call graph has them in the
    /// records.
    pub(crate) fn has_room_inside(&self, branches: usize) -> bool {
        self.follower.is_none() || self.branches_inside() + branches < MOST_INSIDE
    }

    /// Number of the branches before the instruction that comes next.
    pub(crate) fn branches_inside(&self) -> usize {
        self.plan.inside.len() + usize::from(self.plan.end == End::Conditional)
    }

    /// Adds an instruction of `len` bytes.
    pub(crate) fn push(&mut self, instruction: &Instruction, len: u8, cost: &Cost) {
        let first_slot = self.next_slot();
        self.add(instruction.ip(), len, cost);
        if let Some(calls) = &mut self.plan.calls {
            (calls.facts.leave, calls.facts.jump) = (leave(instruction), jump(instruction));
        }
        self.move_sp(instruction, cost, first_slot);
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

    /// Adds an instruction that the engine does not run: it faults, or the machine emulates it.
    /// `place` is its address and its length.
    pub(crate) fn push_trapped(&mut self, instruction: &Instruction, place: (u64, u8), cost: &Cost) {
        let first_slot = self.next_slot();
        self.add(place.0, place.1, cost);
        self.plan.end = End::None;
        if let Some(calls) = &mut self.plan.calls {
            calls.facts.leave = leave(instruction);
            if calls.facts.leave == Leave::Return {
                self.move_sp(instruction, cost, first_slot);
            }
        }
    }

    /// Follows the stack pointer, for a call graph, through an instruction that has been added.
    fn move_sp(&mut self, instruction: &Instruction, cost: &Cost, first_slot: u16) {
        let Builder { plan, follower: Some(follower), factory, .. } = self else { return };
        let before = follower.value();
        follower.pass(instruction, cost, first_slot, factory);
        let sp = follower.value();
        if let Some(calls) = &mut plan.calls {
            if sp != before {
                calls.sp_changes.push((plan.insns.len() as u16 - 1, sp));
            }
            calls.facts.sp = sp;
        }
    }

    fn add(&mut self, pc: u64, len: u8, cost: &Cost) {
        let first_slot = self.next_slot();
        let is_recorded = std::mem::replace(&mut self.records_next, true);
        let plan = &mut self.plan;
        let insn = plan.insns.len() as u16;
        if plan.end == End::Conditional {
            plan.inside.push(InnerBranch { insn: insn - 1, is_retry: false });
        }
        plan.insns.push(PlannedInsn::new(pc, len));
        plan.events.extend(cost.events.iter().map(|event: &Event| PlannedEvent {
            insn,
            slot: first_slot + u16::from(event.slot),
            offset: event.offset,
            size: event.size,
            kind: event.kind,
            access: cost.slots.get(usize::from(event.slot)).map_or(Access::None, |slot| slot.access),
        }));
        if is_recorded {
            plan.slots += cost.slots.len() as u16;
        }
        if cost.retry_branch {
            plan.inside.push(InnerBranch { insn, is_retry: true });
        }
    }

    /// Finishes the plan, which takes no more memory than it needs.
    pub(crate) fn finish(&mut self) -> Plan {
        self.follower = None;
        let plan = self.plan.clone();
        self.begin(0, NO_MAPPING);
        plan
    }
}

#[cfg(test)]
mod tests;
