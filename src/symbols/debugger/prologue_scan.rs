//! The depth of the stack at an instruction of a function, read off the instructions before it: for
//! code without call frame information. A guess, because jumps are not followed: behind a return
//! the stack is taken to be as deep as in the body.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind,
    Register,
};

/// Most code that is looked at, in bytes.
pub(crate) const MAX_CODE: u64 = 4096;

/// The effect of a function on the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StackDepth {
    /// Bytes below the return address.
    pub(crate) bytes: u64,
    /// Place of the caller's RBP, if it was pushed: bytes below the return address.
    pub(crate) saved: Option<u64>,
    /// Target of RBP, if it is the frame pointer: bytes below the return address.
    pub(crate) frame: Option<u64>,
}

/// The depth behind `code`, with which a function begins. `None` if the stack pointer is changed in
/// an unusual way.
pub(crate) fn behind(code: &[u8]) -> Option<StackDepth> {
    let mut info = InstructionInfoFactory::new();
    let mut now = StackDepth::default();
    // Where the body is: the deepest so far.
    let mut body = now;
    let mut lost = false;
    for instruction in &mut Decoder::new(64, code, DecoderOptions::NONE) {
        if instruction.is_invalid() {
            return None;
        }
        match step(&instruction, &mut info, now) {
            Some(next) => now = next,
            None => lost = true,
        }
        // Once RBP is the frame pointer, only it counts.
        if lost && now.frame.is_none() {
            return None;
        }
        if now.bytes >= body.bytes && now != StackDepth::default() {
            body = now;
        }
        if matches!(
            instruction.flow_control(),
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch
        ) {
            now = body;
        }
    }
    Some(now)
}

fn step(instruction: &Instruction, info: &mut InstructionInfoFactory, now: StackDepth) -> Option<StackDepth> {
    let mut next = now;
    let immediate = || {
        let constant = matches!(instruction.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64);
        constant.then(|| instruction.immediate(1))
    };
    let stack = instruction.op0_register() == Register::RSP;
    match instruction.mnemonic() {
        Mnemonic::Call | Mnemonic::Ret | Mnemonic::Jmp | Mnemonic::Syscall => {}
        Mnemonic::Push => {
            next.bytes =
                now.bytes.checked_add(instruction.stack_pointer_increment().unsigned_abs().into())?;
            if instruction.op0_register() == Register::RBP && now.saved.is_none() {
                next.saved = Some(next.bytes);
            }
        }
        Mnemonic::Pop => {
            next.bytes =
                now.bytes.checked_sub(instruction.stack_pointer_increment().unsigned_abs().into())?;
            if instruction.op0_register() == Register::RBP {
                (next.saved, next.frame) = (None, None);
            }
        }
        Mnemonic::Sub if stack => next.bytes = now.bytes.checked_add_signed(immediate()?.cast_signed())?,
        Mnemonic::Add if stack => {
            next.bytes = now.bytes.checked_add_signed(immediate()?.cast_signed().checked_neg()?)?;
        }
        Mnemonic::Lea if stack && instruction.memory_index() == Register::None => {
            let past = instruction.memory_displacement64().cast_signed().checked_neg()?;
            let from = match instruction.memory_base() {
                Register::RSP => now.bytes,
                Register::RBP => now.frame?,
                _ => return None,
            };
            next.bytes = from.checked_add_signed(past)?;
        }
        Mnemonic::Mov if instruction.op0_register() == Register::RBP => {
            next.frame = (instruction.op1_register() == Register::RSP).then_some(now.bytes);
        }
        Mnemonic::Mov if stack => {
            let back = now.frame.filter(|_| instruction.op1_register() == Register::RBP);
            next.bytes = back?;
        }
        Mnemonic::Leave if instruction.code() == Code::Leaveq => {
            next.bytes = now.frame?.checked_sub(8)?;
            (next.saved, next.frame) = (None, None);
        }
        _ => {
            let used = info.info(instruction).used_registers();
            let writes = |register: Register| {
                used.iter().any(|used| {
                    use iced_x86::OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
                    used.register().full_register() == register
                        && matches!(used.access(), Write | CondWrite | ReadWrite | ReadCondWrite)
                })
            };
            if writes(Register::RBP) {
                next.frame = None;
            }
            if writes(Register::RSP) {
                return None;
            }
        }
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(bytes: u64, saved: Option<u64>, frame: Option<u64>) -> Option<StackDepth> {
        Some(StackDepth { bytes, saved, frame })
    }

    #[test]
    fn prologues_and_epilogues() {
        let push_rbp: &[u8] = &[0x55];
        let mov: &[u8] = &[0x48, 0x89, 0xe5];
        let push_rbx: &[u8] = &[0x53];
        let sub: &[u8] = &[0x48, 0x83, 0xec, 0x18];
        let add: &[u8] = &[0x48, 0x83, 0xc4, 0x18];
        let pop_rbx: &[u8] = &[0x5b];
        let pop_rbp: &[u8] = &[0x5d];
        let (ret, leave): (&[u8], &[u8]) = (&[0xc3], &[0xc9]);
        // and $-32,%rsp; sub %rax,%rsp
        let (and, alloca): (&[u8], &[u8]) = (&[0x48, 0x83, 0xe4, 0xe0], &[0x48, 0x29, 0xc4]);
        for (code, expected) in [
            (vec![], depth(0, None, None)),
            (vec![push_rbp], depth(8, Some(8), None)),
            (vec![push_rbp, mov], depth(8, Some(8), Some(8))),
            (vec![push_rbp, mov, push_rbx, sub], depth(40, Some(8), Some(8))),
            (vec![push_rbp, mov, push_rbx, sub, add], depth(16, Some(8), Some(8))),
            (vec![push_rbp, mov, sub, leave], depth(0, None, None)),
            (vec![push_rbp, mov, sub, leave, ret], depth(32, Some(8), Some(8))),
            (vec![push_rbp, mov, and, alloca], depth(8, Some(8), Some(8))),
            (vec![push_rbx, sub], depth(32, None, None)),
            (vec![push_rbx, sub, add, pop_rbx], depth(0, None, None)),
            (vec![push_rbx, sub, add, pop_rbx, ret], depth(32, None, None)),
            (vec![push_rbx, push_rbp, sub, add, pop_rbp, pop_rbx, ret], depth(40, Some(16), None)),
            (vec![and], None),
            (vec![push_rbx, alloca], None),
            (vec![pop_rbx], None),
            (vec![&[0x06][..]], None),
        ] {
            let bytes = code.concat();
            assert_eq!(behind(&bytes), expected, "{bytes:x?}");
        }
    }
}
