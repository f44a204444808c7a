//! What Valgrind's translator makes of the code at an address: which instructions are in one superblock, and which of their
//! loads and branches its optimiser leaves.
//!
//! VEX decodes up to [`MAX_INSTRUCTIONS`] instructions, to one that ends a block, and then once more at the target of a
//! direct jump or call. Behind a conditional jump it looks for a second one that shares a destination with the first, as `a
//! && b` leaves them in machine code; it executes both always and makes one exit of them.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind};

use super::forms::is_checked;
use super::ir::{Op, Statement};
use super::lift::Lifter;
use super::merge::{Second, merged};
use super::queue::Events;
use super::sure::Sure;
use crate::x86::cost::repeat;
use crate::x86::decode::{self, Fetch};
use crate::x86::request;

/// Most instructions in a superblock (`--vex-guest-max-insns`).
const MAX_INSTRUCTIONS: usize = 60;

/// Instructions that most superblocks have no more of.
const USUAL: usize = 8;

/// Instructions that must be left for a superblock to be extended, and that are looked at behind a conditional jump.
pub(super) const LEFT_TO_EXTEND: usize = 3;

/// Two conditions at once, which VEX does not compute.
const BOTH: Op = Op::Opaque(u16::MAX, 2);

/// What is counted otherwise than the instruction says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Data events that are left out, a bit each.
    pub dropped: u8,
    /// Modifications of which only the store is left, a bit each.
    pub stores: u8,
    /// Branches that are none, a bit each.
    pub branches: u8,
}

/// An instruction of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub pc: u64,
    pub len: u8,
    pub events: Events,
    pub change: Change,
}

/// The code that is translated together with what is at some address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Superblock {
    pub parts: Vec<Part>,
    /// From this instruction on they are executed always, because a second conditional jump decides for two.
    pub merged: Option<usize>,
    /// Where the next superblock begins if control falls out of this one.
    pub falls: Option<u64>,
}

/// What an instruction does to the block it is in.
pub(super) enum Kind {
    /// Nothing.
    Plain,
    /// It leaves it now and then.
    Side,
    Conditional,
    /// A direct jump or call.
    Jump(u64),
    /// It ends it otherwise.
    End,
}

pub(super) fn kind(instruction: &Instruction) -> Kind {
    if repeat(instruction).is_some() {
        // `rep lods` is to VEX an ordinary LODS.
        let loads = matches!(
            instruction.mnemonic(),
            Mnemonic::Lodsb | Mnemonic::Lodsw | Mnemonic::Lodsd | Mnemonic::Lodsq
        );
        return if loads { Kind::Plain } else { Kind::End };
    }
    let near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    match instruction.flow_control() {
        FlowControl::Next => match instruction.mnemonic() {
            Mnemonic::Pause | Mnemonic::Clflush => Kind::End,
            Mnemonic::Xchg if instruction.op0_kind() == OpKind::Memory => Kind::Side,
            Mnemonic::Xchg if instruction.op1_kind() == OpKind::Memory => Kind::Side,
            Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b => Kind::Plain,
            _ if instruction.has_lock_prefix() || is_checked(instruction) => Kind::Side,
            Mnemonic::Cmpxchg16b | Mnemonic::Fxsave | Mnemonic::Fxsave64 => Kind::Side,
            Mnemonic::Fxrstor | Mnemonic::Fxrstor64 | Mnemonic::Xsave | Mnemonic::Xsave64 => Kind::Side,
            Mnemonic::Xrstor | Mnemonic::Xrstor64 | Mnemonic::Xgetbv | Mnemonic::Ldmxcsr => Kind::Side,
            Mnemonic::Fldcw | Mnemonic::Fldenv | Mnemonic::Frstor => Kind::Side,
            _ => Kind::Plain,
        },
        FlowControl::ConditionalBranch if instruction.is_jcc_short_or_near() => Kind::Conditional,
        FlowControl::ConditionalBranch => Kind::Side,
        FlowControl::UnconditionalBranch | FlowControl::Call if near => {
            Kind::Jump(instruction.near_branch64())
        }
        _ => Kind::End,
    }
}

/// Whether control is never at the next instruction behind this one, which ends a block.
fn leads_elsewhere(instruction: &Instruction) -> bool {
    let flow = instruction.flow_control();
    matches!(flow, FlowControl::Return | FlowControl::IndirectBranch | FlowControl::IndirectCall)
}

/// Whether an operand is in memory, one that it names or, as a string instruction, need not.
pub(super) fn names_memory(instruction: &Instruction) -> bool {
    use OpKind as K;
    let elsewhere = |kind| {
        matches!(kind, K::Register | K::NearBranch64 | K::Immediate8 | K::Immediate8_2nd | K::Immediate16)
            || matches!(kind, K::Immediate32 | K::Immediate64 | K::Immediate8to16 | K::Immediate8to32)
            || matches!(kind, K::Immediate8to64 | K::Immediate32to64)
    };
    !instruction.op_kinds().all(elsewhere)
}

pub(super) fn is_code(fetch: &mut Fetch<'_>, pc: u64) -> bool {
    fetch(pc).1 > 0
}

/// What is kept from one superblock to the next: tables that are dear to make.
#[derive(Debug)]
pub(super) struct Workshop {
    pub factory: InstructionInfoFactory,
    pub lifter: Lifter,
    pub sure: Sure,
}

impl Default for Workshop {
    fn default() -> Workshop {
        Workshop { factory: InstructionInfoFactory::new(), lifter: Lifter::default(), sure: Sure::default() }
    }
}

impl Superblock {
    /// The superblock that begins at an address.
    pub fn form(start: u64, fetch: &mut Fetch<'_>, workshop: &mut Workshop) -> Superblock {
        let mut formed = Superblock { parts: Vec::with_capacity(USUAL), ..Superblock::default() };
        let Workshop { factory, lifter, sure } = workshop;
        lifter.begin();
        let (mut pc, mut extended) = (start, false);
        let mut loops = false;
        while formed.parts.len() < MAX_INSTRUCTIONS {
            let (bytes, len) = fetch(pc);
            let instruction = decode::decode(bytes.get(..len).unwrap_or_default(), pc);
            let extends = !extended && formed.parts.len() + 1 + LEFT_TO_EXTEND <= MAX_INSTRUCTIONS;
            formed.falls = Some(instruction.next_ip());
            if instruction.is_invalid() {
                if len > 0 {
                    formed.push(pc, 1);
                }
                formed.falls = None;
                break;
            }
            if request::may_begin(&bytes) && request::at(fetch, pc).is_some() {
                formed.push(pc, request::LENGTH);
                formed.falls = Some(pc.wrapping_add(request::LENGTH as u64));
                break;
            }
            lifter.insn = formed.parts.len() as u16;
            formed.push(pc, instruction.len());
            formed.queue(&instruction, factory);
            pc = instruction.next_ip();
            match kind(&instruction) {
                Kind::Plain | Kind::Side => lifter.step(&instruction),
                Kind::Jump(target) => {
                    lifter.step(&instruction);
                    formed.falls = None;
                    if !extends || !is_code(fetch, target) {
                        loops = target == start && instruction.flow_control() != FlowControl::Call;
                        break;
                    }
                    (pc, extended) = (target, true);
                }
                Kind::Conditional => {
                    formed.falls = None;
                    let leads = |jump: &Instruction| [jump.near_branch64(), jump.next_ip()].contains(&start);
                    match extends.then(|| merged(&instruction, fetch)).flatten() {
                        Some(second) => {
                            loops = second.insns.last().is_some_and(leads);
                            formed.merge(lifter, &instruction, &second);
                        }
                        None => {
                            loops = leads(&instruction);
                            lifter.lift(&instruction);
                        }
                    }
                    break;
                }
                Kind::End => {
                    if leads_elsewhere(&instruction) {
                        formed.falls = None;
                    }
                    lifter.lift(&instruction);
                    break;
                }
            }
        }
        formed.settle(lifter, sure, loops);
        formed
    }

    fn push(&mut self, pc: u64, len: usize) {
        self.parts.push(Part { pc, len: len as u8, events: Events::default(), change: Change::default() });
    }

    /// Adds the instructions up to a second conditional jump.
    fn merge(&mut self, lifter: &mut Lifter, jump: &Instruction, second: &Second) {
        self.merged = Some(self.parts.len());
        let code = jump.condition_code() as u8 - 1;
        let holds = lifter.condition(code & !1);
        let reached = second.at_target == (code & 1 == 0);
        let guard = if reached { holds } else { lifter.op(Op::Opposite, &[holds]) };
        let start = lifter.code.len();
        lifter.forget_registers();
        for instruction in &second.insns {
            lifter.insn = self.parts.len() as u16;
            self.push(instruction.ip(), instruction.len());
            lifter.step(instruction);
        }
        // The second block knows what it writes itself; only behind it the registers are what they were if it is not reached.
        lifter.forget_registers();
        for statement in lifter.code.split_off(start) {
            match statement {
                Statement::Put(slice, value) => {
                    let old = lifter.get(slice);
                    let chosen = lifter.op(Op::Choose, &[guard, value, old]);
                    lifter.put(slice, chosen);
                }
                Statement::Exit { guard: holds, insn, branch } => {
                    let guard = lifter.op(BOTH, &[holds, guard]);
                    lifter.add(Statement::Exit { guard, insn, branch });
                }
                other => lifter.add(other),
            }
        }
    }
}
