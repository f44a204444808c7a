//! Where registers are in the guest's state. The numbers mean nothing outside; what counts is which slices are the same
//! and which overlap.

use iced_x86::Register;

use super::ir::{Slice, Type};

/// What the flags come from.
pub const CC_OP: Slice = word(16);
/// The first operand, or the result.
pub const CC_DEP1: Slice = word(17);
/// The second operand.
pub const CC_DEP2: Slice = word(18);
/// What else is needed: the carry before.
pub const CC_NDEP: Slice = word(19);
/// 1 or -1: where string instructions go.
pub const DIRECTION: Slice = word(20);
/// The base of FS or GS.
pub const FS_BASE: Slice = word(21);
/// The base of GS.
pub const GS_BASE: Slice = word(22);
/// The rounding mode of SSE.
pub const SSE_ROUND: Slice = word(23);
/// The rounding mode of the x87.
pub const FPU_ROUND: Slice = word(24);
/// The condition codes of the x87.
pub const FPU_CODES: Slice = word(25);
/// Where control is.
pub const IP: Slice = word(36);
/// The top of the x87 stack.
pub const FPU_TOP: Slice = Slice { offset: 26 * 8, ty: Type::Int(4) };
/// The eight x87 registers.
pub const FPU_REGISTERS: u16 = 27 * 8;
/// Their tags, a byte each.
pub const FPU_TAGS: u16 = 35 * 8;
/// The XMM registers; the seventeenth is VEX's own.
const VECTORS: u16 = 40 * 8;
/// Bytes of all.
pub const LENGTH: u16 = VECTORS + 16 * 17;
/// Where the x87 registers or their tags are: the first byte, and how many.
pub const fn stack(tag: bool) -> (u16, u16) {
    if tag { (FPU_TAGS, 8) } else { (FPU_REGISTERS, 64) }
}

const fn word(index: u16) -> Slice {
    Slice { offset: index * 8, ty: Type::Int(8) }
}

/// A general register, by number.
pub const fn general(number: usize) -> Slice {
    word(number as u16)
}

/// A general register or a part of it, as it is written.
pub fn written(register: Register) -> Slice {
    let full = general(register.full_register().number());
    match register.size() {
        1 if is_high(register) => Slice { offset: full.offset + 1, ty: Type::Int(1) },
        1 => Slice { ty: Type::Int(1), ..full },
        2 => Slice { ty: Type::Int(2), ..full },
        _ => full,
    }
}

/// AH, BH, CH or DH.
pub fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

/// A part of an XMM register, from a byte on.
pub fn vector(register: Register, byte: u16, ty: Type) -> Slice {
    Slice { offset: VECTORS + 16 * register.number() as u16 + byte, ty }
}

/// A whole XMM register.
pub fn whole(register: Register) -> Slice {
    vector(register, 0, Type::Vector)
}

/// VEX's own vector register.
pub const SCRATCH_VECTOR: Slice = Slice { offset: VECTORS + 16 * 16, ty: Type::Vector };

/// An MMX register.
pub fn mmx(register: Register) -> Slice {
    Slice { offset: FPU_REGISTERS + 8 * register.number() as u16, ty: Type::Int(8) }
}

/// RSP: the only register that VEX keeps right wherever memory is accessed, because Cachegrind wants no other
/// (`--px-default=sp-at-mem-access`).
pub const STACK_POINTER: Slice = general(4);
