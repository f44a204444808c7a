//! What the operands of an encoding are made of.

use iced_x86::{OpCodeOperandKind as K, OpKind, Register as R};

/// The register that the encoding itself names.
pub fn fixed(kind: K) -> Option<R> {
    Some(match kind {
        K::es => R::ES,
        K::cs => R::CS,
        K::ss => R::SS,
        K::ds => R::DS,
        K::fs => R::FS,
        K::gs => R::GS,
        K::al => R::AL,
        K::cl => R::CL,
        K::ax => R::AX,
        K::dx => R::DX,
        K::eax => R::EAX,
        K::rax => R::RAX,
        K::st0 => R::ST0,
        _ => return None,
    })
}

/// The kind of an immediate operand.
pub fn immediate_kind(kind: K) -> Option<OpKind> {
    Some(match kind {
        K::imm8 | K::imm8_const_1 => OpKind::Immediate8,
        K::imm8sex16 => OpKind::Immediate8to16,
        K::imm8sex32 => OpKind::Immediate8to32,
        K::imm8sex64 => OpKind::Immediate8to64,
        K::imm16 => OpKind::Immediate16,
        K::imm32 => OpKind::Immediate32,
        K::imm32sex64 => OpKind::Immediate32to64,
        K::imm64 => OpKind::Immediate64,
        _ => return None,
    })
}
