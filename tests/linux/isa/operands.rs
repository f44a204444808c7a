//! The operands that each form of an instruction gets.

use iced_x86::{Code, MemoryOperand, Mnemonic as M, OpCodeOperandKind as K, Register as R};

use super::generate::MEM_OPERAND;

const GENERAL: [(R, R, R); 12] = [
    (R::RBX, R::RDX, R::RAX),
    (R::R9, R::R14, R::R11),
    (R::RDX, R::RDX, R::RDX),
    (R::RAX, R::RCX, R::RDX),
    (R::RCX, R::RAX, R::RCX),
    (R::RAX, R::RAX, R::RAX),
    (R::RBX, R::RBX, R::RDX),
    (R::RBX, R::RDX, R::RDX),
    (R::RDX, R::RAX, R::RBX),
    (R::R8, R::R8, R::R8),
    (R::RDI, R::RSI, R::RBP),
    (R::RSP, R::RSP, R::R8),
];
const BYTES: [(R, R); 12] = [
    (R::BL, R::DL),
    (R::R9L, R::R14L),
    (R::DL, R::DL),
    (R::AL, R::CL),
    (R::CL, R::AL),
    (R::AH, R::BL),
    (R::BL, R::AH),
    (R::CH, R::DH),
    (R::DH, R::DH),
    (R::AH, R::AL),
    (R::SIL, R::DIL),
    (R::SPL, R::BPL),
];
const VECTOR: [(R, R); 9] = [
    (R::XMM1, R::XMM2),
    (R::XMM9, R::XMM14),
    (R::XMM3, R::XMM3),
    (R::XMM12, R::XMM12),
    (R::XMM0, R::XMM1),
    (R::XMM1, R::XMM0),
    (R::XMM0, R::XMM0),
    (R::XMM2, R::XMM10),
    (R::XMM10, R::XMM2),
];
const MMX: [(R, R); 4] = [(R::MM1, R::MM2), (R::MM3, R::MM3), (R::MM0, R::MM7), (R::MM7, R::MM0)];
const STACK: [R; 5] = [R::ST1, R::ST0, R::ST2, R::ST5, R::ST6];
const SEGMENTS: [R; 5] = [R::DS, R::ES, R::SS, R::CS, R::GS];
/// Choices of registers.
pub const VARIANTS: usize = 12;
/// Ways to name memory.
pub const ADDRESSES: usize = 6;

fn resize(register: R, bytes: usize) -> R {
    let all =
        |first: R| R::values().find(|r| *r as usize == first as usize + register.number()).expect("one");
    match bytes {
        2 => all(R::AX),
        4 => all(R::EAX),
        _ => all(R::RAX),
    }
}

/// The register for the `nth` register operand in this variant.
pub fn register(kind: K, nth: usize, variant: usize) -> Option<R> {
    let general = |bytes| {
        let (a, b, c) = GENERAL[variant];
        Some(resize([a, b, c][nth.min(2)], bytes))
    };
    let pick = |set: &[(R, R)]| set.get(variant).map(|(a, b)| if nth == 0 { *a } else { *b });
    match kind {
        K::r8_or_mem | K::r8_reg | K::r8_opcode => pick(&BYTES),
        K::r16_or_mem | K::r16_reg | K::r16_rm | K::r16_opcode => general(2),
        K::r32_or_mem | K::r32_reg | K::r32_rm | K::r32_opcode | K::r32_vvvv => general(4),
        K::r64_or_mem | K::r64_reg | K::r64_rm | K::r64_opcode | K::r64_vvvv => general(8),
        K::xmm_or_mem | K::xmm_reg | K::xmm_rm => pick(&VECTOR),
        K::mm_or_mem | K::mm_reg | K::mm_rm => pick(&MMX),
        K::sti_opcode => STACK.get(variant).copied(),
        K::seg_reg => SEGMENTS.get(variant).copied(),
        _ => None,
    }
}

/// Whether the operand is, or can be, in memory.
pub fn has_memory(kind: K) -> bool {
    matches!(
        kind,
        K::mem
            | K::mem_offs
            | K::r8_or_mem
            | K::r16_or_mem
            | K::r32_or_mem
            | K::r64_or_mem
            | K::mm_or_mem
            | K::xmm_or_mem
    )
}

/// The ways to name the operand in memory; the harness points the registers there.
pub fn address(way: usize) -> MemoryOperand {
    let disp = MEM_OPERAND as i64;
    match way {
        0 => MemoryOperand::with_base_displ(R::RDI, 16),
        1 => MemoryOperand::with_base_index_scale_displ_size(R::RBP, R::R12, 4, -8, 1),
        2 => MemoryOperand::with_base_displ_size(R::RIP, disp, 8),
        3 => MemoryOperand::with_base_displ_size(R::EDI, 16, 1),
        4 => MemoryOperand::with_displ(MEM_OPERAND, 4),
        _ => MemoryOperand::with_base_displ_size(R::RSP, 8, 1),
    }
}

/// The immediates to try.
pub fn immediates(code: Code, kind: K, first: bool) -> Vec<u64> {
    let info = code.op_code();
    let vector = info.instruction_string().contains("mm") && kind == K::imm8;
    match kind {
        K::imm8_const_1 => vec![1],
        _ if code.mnemonic() == M::Enter => vec![0, 8, 64, 72],
        K::imm8 if vector && first => (0..256).collect(),
        K::imm8 if vector => vec![0, 1, 6, 0xf, 0x10, 0x4e, 0x71, 0xff],
        K::imm8 if matches!(code.mnemonic(), M::Bt | M::Bts | M::Btr | M::Btc) && first => {
            (0..=65).chain([127, 255]).collect()
        }
        K::imm8 if matches!(code.mnemonic(), M::Shld | M::Shrd) && info.operand_size() == 16 => {
            (0..=16).collect()
        }
        K::imm8 if info.op_count() == 2 || matches!(code.mnemonic(), M::Shld | M::Shrd | M::Rorx) => {
            if first {
                (0..=65).chain([127, 128, 191, 255]).collect()
            } else {
                vec![0, 1, 7, 8, 9, 16, 31, 32, 33, 63, 64, 255]
            }
        }
        K::imm8 => vec![0, 1, 0x7f, 0x80, 0x55, 0xff],
        K::imm8sex16 | K::imm8sex32 | K::imm8sex64 => vec![0, 1, 0x7f, 0x55, 0x80u8 as i8 as u64, u64::MAX],
        K::imm16 => vec![0, 1, 0x7fff, 0x8000, 0x1234, 0xffff],
        K::imm32 => vec![0, 1, 0x7fff_ffff, 0x8000_0000, 0x1234_5678, 0xffff_ffff],
        K::imm32sex64 => vec![0, 1, 0x7fff_ffff, 0x80000000u32 as i32 as u64, 0x1234_5678, u64::MAX],
        K::imm64 => vec![0, 1, 1 << 63, 0x0123_4567_89ab_cdef, u64::MAX],
        _ => vec![0],
    }
}
