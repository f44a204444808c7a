//! The reference producer: the same trace as the tap's, from the engine's public hooks only.
//! Addresses come from the operands and the registers before each instruction, not from the
//! engine's accesses.

use std::sync::Arc;

use iced_x86::{Code, Instruction};
use rustc_hash::FxHashMap;

use crate::emu::memory::arena::Frame;
use crate::emu::memory::space::AddressSpace;
use crate::emu::unicorn::engine_state::EngineState;
use crate::guest::Gpr;
use crate::hooks::plan::Builder;
use crate::hooks::record::PlanId;
use crate::hooks::recorder::Recorder;
use crate::x86::address::{Address, jumps};
use crate::x86::cost::{Slot, repeat};
use crate::x86::decode::{self, MAX_LENGTH, Trap, Verdict};
use crate::x86::request::{self, Request};

/// State of the reference producer.
#[derive(Default)]
pub(super) struct Reference {
    builder: Builder,
    /// Plans by address, size and frame of their block: other programs have other code there.
    blocks: FxHashMap<(u64, u64, Option<Frame>), PlanId>,
    traced: FxHashMap<PlanId, Arc<Vec<Traced>>>,
    running: Option<Running>,
}

/// The block that runs.
struct Running {
    block: Arc<Vec<Traced>>,
    /// Index of its record in the buffer.
    record: usize,
    /// Its next instruction.
    next: usize,
}

/// An instruction whose addresses are to be recorded.
struct Traced {
    instruction: Instruction,
    slots: Vec<Slot>,
    first_slot: usize,
}

impl Reference {
    /// Learns the plan of the block at `pc`, which is `size` bytes long.
    pub(super) fn translated(&mut self, pc: u64, size: u64, space: &AddressSpace, plan: PlanId) {
        self.blocks.insert((pc, size, space.frame_at(pc)), plan);
        self.traced.remove(&plan);
    }

    /// Begins the record of a block. `request` tells the client request at an address.
    pub(super) fn begin_block(
        &mut self,
        (pc, size): (u64, u64),
        recorder: &mut Recorder,
        space: &mut AddressSpace,
        request: impl Fn(u64) -> Option<Request>,
    ) {
        self.running = None;
        let Some(&id) = self.blocks.get(&(pc, size, space.frame_at(pc))) else { return };
        let Some(plan) = recorder.plans.get(id).map(Arc::clone) else { return };
        let block = match self.traced.get(&id) {
            Some(block) => Arc::clone(block),
            None => {
                let mut first_slot = 0;
                let mut block = Vec::new();
                // With calls, some instructions have a slot for the stack pointer.
                self.builder.begin(pc, plan.mapping);
                if let Some(place) = plan.call_facts().map(|facts| facts.place) {
                    self.builder.follow_calls(place, true);
                }
                for insn in &plan.insns {
                    let mut buf = [0; MAX_LENGTH];
                    let instruction = decode::decode(space.fetch(insn.pc(), &mut buf), insn.pc());
                    let slots =
                        match request(insn.pc()).filter(|_| usize::from(insn.len()) == request::LENGTH) {
                            Some(request) => request.cost().slots,
                            None => match decode::verdict(&instruction) {
                                Verdict::Run | Verdict::Trap(Trap::Descriptors | Trap::FarReturn) => {
                                    let cost = self.builder.cost(&instruction);
                                    self.builder.push(&instruction, insn.len(), &cost);
                                    cost.slots
                                }
                                _ => Vec::new(),
                            },
                        };
                    let count = slots.len();
                    block.push(Traced { instruction, slots, first_slot });
                    first_slot += count;
                }
                let block = Arc::new(block);
                self.traced.insert(id, Arc::clone(&block));
                block
            }
        };
        let zeros = vec![0; usize::from(plan.slots)];
        recorder.append(id, &zeros);
        let record = recorder.len() - 1 - zeros.len();
        self.running = Some(Running { block, record, next: 0 });
    }

    /// Records the addresses of the instruction at `pc`, which is about to run.
    pub(super) fn instruction(&mut self, pc: u64, state: &EngineState, recorder: &mut Recorder) {
        let Some(running) = &mut self.running else { return };
        let next = running.block.get(running.next);
        let Some(insn) = next.filter(|insn| insn.instruction.ip() == pc) else { return };
        running.next += 1;
        // A repeated instruction that finds RCX zero makes no access; the record already says so.
        if repeat(&insn.instruction).is_some() && count_register(state, &insn.instruction) == 0 {
            return;
        }
        let mut flags = 0;
        if insn.slots.iter().any(|slot| slot.address == Address::Outcome) {
            flags = state.rflags();
        }
        let words = recorder.words();
        for (i, slot) in insn.slots.iter().enumerate() {
            let address = match slot.address {
                Address::Outcome => Some(u64::from(jumps(&insn.instruction, flags, state.gpr(Gpr::Rcx)))),
                address => address.evaluate(&insn.instruction, &mut |reg| state.register(reg)),
            };
            if let Some(word) = words.get_mut(running.record + 1 + insn.first_slot + i) {
                *word = address.unwrap_or(0);
            }
        }
    }
}

/// RCX or ECX, by the address size.
fn count_register(state: &EngineState, instruction: &Instruction) -> u64 {
    let rcx = state.gpr(Gpr::Rcx);
    let narrow = instruction.code() != Code::INVALID
        && (0..instruction.op_count()).any(|i| {
            use iced_x86::OpKind::{MemoryESEDI, MemorySegEDI, MemorySegESI};
            matches!(instruction.op_kind(i), MemoryESEDI | MemorySegEDI | MemorySegESI)
        });
    if narrow { rcx & 0xffff_ffff } else { rcx }
}
