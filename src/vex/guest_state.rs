//! Layout of the guest state. The offsets are this model's own, not VEX's: only equality and
//! overlap of slices matter.

use iced_x86::Register;

use super::ir::{Slice, Type};

/// CC_OP: the operation of the flags thunk.
pub(super) const CC_OP: Slice = word(16);
/// CC_DEP1: its first operand, or the result.
pub(super) const CC_DEP1: Slice = word(17);
/// CC_DEP2: its second operand.
pub(super) const CC_DEP2: Slice = word(18);
/// CC_NDEP: the carry before the operation.
pub(super) const CC_NDEP: Slice = word(19);
/// DFLAG: 1 or -1, the direction of string instructions.
pub(super) const DFLAG: Slice = word(20);
/// Base of FS.
pub(super) const FS_CONST: Slice = word(21);
/// Base of GS.
pub(super) const GS_CONST: Slice = word(22);
/// Rounding mode of SSE.
pub(super) const SSE_ROUND: Slice = word(23);
/// Rounding mode of the x87.
pub(super) const FP_ROUND: Slice = word(24);
/// FC3210: condition codes of the x87.
pub(super) const FC3210: Slice = word(25);
/// Top of the x87 stack.
pub(super) const FTOP: Slice = Slice { offset: 26 * 8, ty: Type::Int(4) };
/// The eight x87 registers, which the MMX registers share.
const FP_REGISTERS: u16 = 27 * 8;
/// Tags of the x87 registers, one byte each.
const FP_TAGS: u16 = 35 * 8;
/// RIP.
pub(super) const RIP: Slice = word(36);
/// XMM registers; the seventeenth is `YMM16`, VEX's scratch register.
const VECTORS: u16 = 40 * 8;
/// Scratch vector register, through which dirty helpers get operands from memory.
pub(super) const SCRATCH_VECTOR: Slice = Slice { offset: VECTORS + 16 * 16, ty: Type::V128 };
/// Size of the guest state in bytes.
pub(super) const LENGTH: u16 = VECTORS + 16 * 17;

pub(super) const RAX: Slice = general(0);
pub(super) const RCX: Slice = general(1);
/// Stack pointer: the only register that VEX keeps up to date at each memory access, because
/// Cachegrind runs with `--px-default=sp-at-mem-access`.
pub(super) const RSP: Slice = general(4);
pub(super) const RBP: Slice = general(5);
pub(super) const RSI: Slice = general(6);
pub(super) const RDI: Slice = general(7);

const fn word(index: u16) -> Slice {
    Slice { offset: index * 8, ty: Type::Int(8) }
}

/// General-purpose register by number.
pub(super) const fn general(number: usize) -> Slice {
    word(number as u16)
}

/// Slice that a write to a general-purpose register, or a part of one, changes.
pub(super) fn written(register: Register) -> Slice {
    let full = general(register.full_register().number());
    match register.size() {
        1 if is_high_byte(register) => Slice { offset: full.offset + 1, ty: Type::Int(1) },
        1 => Slice { ty: Type::Int(1), ..full },
        2 => Slice { ty: Type::Int(2), ..full },
        _ => full,
    }
}

/// Recognises AH, BH, CH and DH.
pub(super) fn is_high_byte(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

/// Part of an XMM register, beginning at a byte.
pub(super) fn vector(register: Register, byte: u16, ty: Type) -> Slice {
    Slice { offset: VECTORS + 16 * register.number() as u16 + byte, ty }
}

/// Whole XMM register.
pub(super) fn xmm(register: Register) -> Slice {
    vector(register, 0, Type::V128)
}

/// MMX register.
pub(super) fn mmx(register: Register) -> Slice {
    Slice { offset: FP_REGISTERS + 8 * register.number() as u16, ty: Type::Int(8) }
}

/// Bytes of the x87 registers, or of their tags: offset and length. The array that PutI and GetI
/// index.
pub(super) const fn x87_array(tag: bool) -> (u16, u16) {
    if tag { (FP_TAGS, 8) } else { (FP_REGISTERS, 64) }
}
