//! Control flow as VEX sees it: how each instruction continues or ends the superblock it is in.

use iced_x86::{FlowControl, Instruction, Mnemonic as M, OpKind};

use super::lift::checks_alignment;
use super::lift::strings::repeat;
use crate::x86::decode::{self, Fetch};
use crate::x86::request;

/// Instructions that must be left for a superblock to be extended, and that VEX looks ahead behind
/// a conditional jump.
pub(super) const LOOK_AHEAD: usize = 3;

/// Effect of an instruction on its superblock.
pub(super) enum Flow {
    /// Goes on.
    Next,
    /// Goes on, but may exit: locked operations, checks of alignment, LOOP.
    SideExit,
    /// Jcc, which ends the superblock.
    Conditional,
    /// Direct jump or call, which the superblock may follow.
    Direct(u64),
    /// Any other end.
    End,
}

pub(super) fn flow(instruction: &Instruction) -> Flow {
    if repeat(instruction).is_some() {
        return Flow::End;
    }
    let near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    match instruction.flow_control() {
        FlowControl::Next => match instruction.mnemonic() {
            M::Pause | M::Clflush => Flow::End,
            M::Xchg if instruction.op0_kind() == OpKind::Memory => Flow::SideExit,
            M::Xchg if instruction.op1_kind() == OpKind::Memory => Flow::SideExit,
            M::Cmpxchg | M::Cmpxchg8b => Flow::Next,
            _ if instruction.has_lock_prefix() || checks_alignment(instruction) => Flow::SideExit,
            M::Cmpxchg16b | M::Fxsave | M::Fxsave64 => Flow::SideExit,
            M::Fxrstor | M::Fxrstor64 | M::Xsave | M::Xsave64 => Flow::SideExit,
            M::Xrstor | M::Xrstor64 | M::Xgetbv | M::Ldmxcsr => Flow::SideExit,
            M::Fldcw | M::Fldenv | M::Frstor => Flow::SideExit,
            _ => Flow::Next,
        },
        FlowControl::ConditionalBranch if instruction.is_jcc_short_or_near() => Flow::Conditional,
        FlowControl::ConditionalBranch => Flow::SideExit,
        FlowControl::UnconditionalBranch | FlowControl::Call if near => {
            Flow::Direct(instruction.near_branch64())
        }
        _ => Flow::End,
    }
}

/// Recognises ends after which control never falls through.
pub(super) fn never_falls_through(instruction: &Instruction) -> bool {
    let flow = instruction.flow_control();
    matches!(flow, FlowControl::Return | FlowControl::IndirectBranch | FlowControl::IndirectCall)
}

/// Tests for an operand in memory, explicit or of a string instruction.
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

/// Instruction or client request at an address.
pub(super) enum Fetched {
    Instruction(Instruction),
    /// A client request.
    Request,
    /// Bytes that are no instruction; true if there are any.
    Invalid(bool),
}

/// Decodes what is at an address.
pub(super) fn fetched(fetch: &mut Fetch<'_>, pc: u64) -> Fetched {
    let (bytes, len) = fetch(pc);
    let instruction = decode::decode(bytes.get(..len).unwrap_or_default(), pc);
    if instruction.is_invalid() {
        Fetched::Invalid(len > 0)
    } else if request::may_begin(&bytes) && request::at(fetch, pc).is_some() {
        Fetched::Request
    } else {
        Fetched::Instruction(instruction)
    }
}
