//! The reference producer: the same trace as the tap's, made with the engine's public hooks only. Addresses come
//! from the operands and the registers before each instruction, not from the accesses the engine makes.

use std::sync::Arc;

use iced_x86::{Code, Instruction, Register};
use rustc_hash::FxHashMap;

use crate::emu::unicorn::door::{Cpu, Door, Leave};
use crate::emu::unicorn::layout::{FS, GS, Parts};
use crate::guest::{Gpr, GuestCpu as _};
use crate::hooks::plan::Builder;
use crate::hooks::record::PlanId;
use crate::x86::address::{Address, jumps};
use crate::x86::cost::{Slot, repeat};
use crate::x86::decode::{self, MAX_LENGTH};
use crate::x86::request;

/// What the reference producer keeps.
#[derive(Default)]
pub struct Api {
    builder: Builder,
    blocks: FxHashMap<(u64, u64), PlanId>,
    slots: FxHashMap<PlanId, Arc<Vec<Traced>>>,
    /// The block that runs: its slots, where its record is, and the next instruction.
    running: Option<(Arc<Vec<Traced>>, usize, usize)>,
}

/// One instruction whose addresses are to be recorded.
struct Traced {
    instruction: Instruction,
    slots: Vec<Slot>,
    first_slot: usize,
}

impl Api {
    /// A block at `pc`, `size` bytes long, now has this plan.
    pub fn translated(&mut self, pc: u64, size: u64, plan: PlanId) {
        self.blocks.insert((pc, size), plan);
        self.slots.remove(&plan);
    }
}

impl Door {
    /// A block begins.
    pub fn api_block(&mut self, pc: u64, size: u64) {
        if self.recorder.len() >= self.ask_at {
            self.ask();
        }
        if self.stops_at(pc) {
            self.leave(Leave::Breakpoint);
        }
        if self.leave.is_some() {
            return;
        }
        let Some(api) = &mut self.api else { return };
        api.running = None;
        let Some(&id) = api.blocks.get(&(pc, size)) else { return };
        let Some(plan) = self.recorder.plans.get(id).map(Arc::clone) else { return };
        let traced = match api.slots.get(&id) {
            Some(traced) => Arc::clone(traced),
            None => {
                let mut first_slot = 0;
                let mut traced = Vec::new();
                for insn in &plan.insns {
                    let mut buf = [0; MAX_LENGTH];
                    let instruction = decode::decode(self.space.fetch(insn.pc, &mut buf), insn.pc);
                    let request = self.requests.get(&insn.pc);
                    let slots = match request.filter(|_| usize::from(insn.len) == request::LENGTH) {
                        Some(request) => request.cost().slots,
                        None if decode::verdict(&instruction) == decode::Verdict::Run => {
                            api.builder.cost(&instruction).slots
                        }
                        None => Vec::new(),
                    };
                    let count = slots.len();
                    traced.push(Traced { instruction, slots, first_slot });
                    first_slot += count;
                }
                let traced = Arc::new(traced);
                api.slots.insert(id, Arc::clone(&traced));
                traced
            }
        };
        let zeros = vec![0; usize::from(plan.slots)];
        self.recorder.append(id, &zeros);
        let record = self.recorder.len() - 1 - zeros.len();
        api.running = Some((traced, record, 0));
    }

    /// An instruction is about to run.
    pub fn api_instruction(&mut self, pc: u64) {
        self.parts.forget_shown_flags();
        let Some(api) = &mut self.api else { return };
        let Some((traced, record, next)) = &mut api.running else { return };
        let Some(insn) = traced.get(*next).filter(|insn| insn.instruction.ip() == pc) else { return };
        *next += 1;
        let parts = &self.parts;
        // A repeated instruction that finds RCX zero makes no access; the record already says so.
        if repeat(&insn.instruction).is_some() && count_register(parts, &insn.instruction) == 0 {
            return;
        }
        let mut flags = 0;
        if insn.slots.iter().any(|slot| slot.address == Address::Outcome) {
            let cpu = Cpu { parts: &mut self.parts, recorder: &mut self.recorder, syscall_bytes: 0 };
            flags = cpu.rflags();
        }
        let parts = &self.parts;
        let words = self.recorder.words();
        for (i, slot) in insn.slots.iter().enumerate() {
            let address = match slot.address {
                Address::Outcome => Some(u64::from(jumps(&insn.instruction, flags, parts.gpr(Gpr::Rcx)))),
                address => address.evaluate(&insn.instruction, &mut |reg| register(parts, reg)),
            };
            if let Some(word) = words.get_mut(*record + 1 + insn.first_slot + i) {
                *word = address.unwrap_or(0);
            }
        }
    }
}

/// RCX or ECX, as the address size has it.
fn count_register(parts: &Parts, instruction: &Instruction) -> u64 {
    let rcx = parts.gpr(Gpr::Rcx);
    let narrow = instruction.code() != Code::INVALID
        && (0..instruction.op_count()).any(|i| {
            use iced_x86::OpKind::{MemoryESEDI, MemorySegEDI, MemorySegESI};
            matches!(instruction.op_kind(i), MemoryESEDI | MemorySegEDI | MemorySegESI)
        });
    if narrow { rcx & 0xffff_ffff } else { rcx }
}

/// A 64-bit register, or the base of a segment.
fn register(parts: &Parts, register: Register) -> u64 {
    match register {
        Register::FS => parts.segment_base(FS),
        Register::GS => parts.segment_base(GS),
        _ if register.is_gpr() => Gpr::ALL.get(register.number()).map_or(0, |&gpr| parts.gpr(gpr)),
        _ => 0,
    }
}
