//! Shared parts of SSE and MMX: operands, checks of alignment, shifts, and what an instruction does
//! with its operands, by mnemonic.

use iced_x86::{Instruction, Mnemonic as M, OpKind};

use super::ctx::LiftCtx;
use crate::vex::guest_state as state;
use crate::vex::ir::{Op, SIDE_EXIT, Type, Value, ZERO};

pub(super) const F4: Type = Type::Float(4);
pub(super) const F8: Type = Type::Float(8);

impl LiftCtx {
    /// Reads the low part of a vector register, or loads the operand.
    pub(super) fn part(&mut self, i: &Instruction, operand: u32, ty: Type) -> Value {
        self.part_at(i, operand, 0, ty)
    }

    /// Reads the part of a vector register that begins at a byte, or loads the operand.
    pub(super) fn part_at(&mut self, i: &Instruction, operand: u32, byte: u16, ty: Type) -> Value {
        let register = i.op_register(operand);
        if i.op_kind(operand) != OpKind::Register {
            let address = self.vector_address(i);
            return self.load(0, address);
        }
        if register.is_gpr() {
            return self.register(register);
        }
        let slice = if register.is_mm() { state::mmx(register) } else { state::vector(register, byte, ty) };
        self.get(slice)
    }

    /// Address of the memory operand, after the check of its alignment if the instruction has one.
    pub(super) fn vector_address(&mut self, i: &Instruction) -> Value {
        let address = self.address(i);
        if checks_alignment(i) {
            self.check_alignment(address);
        }
        address
    }

    /// Exits from the superblock if an address is not a multiple of sixteen.
    pub(super) fn check_alignment(&mut self, address: Value) {
        let low = self.op(Op::And(64), &[address, Value::Const(15)]);
        let wrong = self.op(Op::CmpNe(64), &[low, ZERO]);
        self.exit(SIDE_EXIT, wrong);
    }

    /// Switches the x87 to MMX: resets the top and marks every register as used.
    pub(super) fn switch_to_mmx(&mut self) {
        self.put(state::FTOP, ZERO);
        for bias in 0..8 {
            self.puti(true, ZERO, bias, Value::Const(1));
        }
    }

    /// Shifts all lanes by one count, which may exceed their width.
    pub(super) fn vector_shift(&mut self, i: &Instruction, old: Value, by: Value) -> Value {
        let bits = lane_bits(i.mnemonic()).unwrap_or(0);
        let within = self.op(Op::CmpLt(false, 64), &[by, Value::Const(bits)]);
        let count = self.op(Op::Trunc(8), &[by]);
        let shifted = match i.mnemonic() {
            M::Psllq if i.op0_register().is_mm() => self.op(Op::Shl(64), &[old, count]),
            M::Psrlq if i.op0_register().is_mm() => self.op(Op::Shr(64), &[old, count]),
            _ => self.opaque(i, &[old, count]),
        };
        let beyond = match i.mnemonic() {
            M::Psraw | M::Psrad => self.opaque(i, &[old, Value::Const(bits - 1)]),
            _ => ZERO,
        };
        self.op(Op::Ite, &[within, shifted, beyond])
    }
}

/// Operation of an instruction on XMM registers that the optimiser can fold.
pub(super) fn bitwise(mnemonic: M) -> Option<Op> {
    Some(match mnemonic {
        M::Xorps | M::Xorpd | M::Pxor => Op::XorV128,
        M::Andps | M::Andpd | M::Pand | M::Andnps | M::Andnpd | M::Pandn => Op::AndV128,
        M::Orps | M::Orpd | M::Por => Op::OrV128,
        M::Pcmpeqb => Op::CmpEqV128(8),
        M::Pcmpeqw => Op::CmpEqV128(16),
        M::Pcmpeqd => Op::CmpEqV128(32),
        M::Pcmpeqq => Op::CmpEqV128(64),
        _ => return None,
    })
}

/// Lane width of a shift in bits.
pub(super) fn lane_bits(mnemonic: M) -> Option<u64> {
    Some(match mnemonic {
        M::Psllw | M::Psrlw | M::Psraw => 16,
        M::Pslld | M::Psrld | M::Psrad => 32,
        M::Psllq | M::Psrlq => 64,
        _ => return None,
    })
}

/// Tests whether the result depends on the source, and whether on the destination, of instructions
/// whose immediate selects lanes.
pub(super) fn blended(i: &Instruction) -> (bool, bool) {
    let all = match i.mnemonic() {
        M::Blendpd => 3,
        M::Blendps => 15,
        M::Pblendw => 255,
        M::Insertps => {
            let (zeroes, to) = (i.immediate8() & 15, 1 << (i.immediate8() >> 4 & 3));
            return (zeroes & to == 0, zeroes | to != 15);
        }
        M::Palignr => {
            let (count, bytes) = (i.immediate8(), if i.op0_register().is_xmm() { 16 } else { 8 });
            return (count < bytes, count != 0);
        }
        _ => return (true, true),
    };
    (i.immediate8() & all != 0, i.immediate8() & all != all)
}

/// Recognises results that are zero whatever the operands: shifts by the whole width, dot products
/// of no lanes.
pub(super) fn is_zero(i: &Instruction) -> bool {
    let last = i.op_count().saturating_sub(1);
    if i.op_kind(last) != OpKind::Immediate8 {
        return false;
    }
    let wide = i.op0_register().is_xmm();
    let count = i.immediate8();
    match i.mnemonic() {
        M::Psllw | M::Psrlw => count > 15,
        M::Pslld | M::Psrld => count > 31,
        M::Psllq | M::Psrlq => count > 63,
        M::Pslldq | M::Psrldq => count > 15,
        M::Palignr => count >= if wide { 32 } else { 16 },
        M::Insertps => count & 15 == 15,
        M::Dpps => count >> 4 == 0 || count & 15 == 0,
        M::Dppd => count >> 4 & 3 == 0 || count & 3 == 0,
        _ => false,
    }
}

/// Recognises instructions of which VEX checks that the memory operand is a multiple of sixteen,
/// with an exit from the superblock if it is not.
pub(in crate::vex) fn checks_alignment(i: &Instruction) -> bool {
    let memory = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    memory && i.memory_size().size() == 16 && must_be_aligned(i.mnemonic())
}

/// Mnemonics of which VEX checks the alignment; plain arithmetic is not among them.
fn must_be_aligned(mnemonic: M) -> bool {
    matches!(mnemonic, M::Movaps | M::Movapd | M::Movdqa | M::Movntps | M::Movntpd | M::Movntdq | M::Movntdqa)
        || matches!(mnemonic, M::Movshdup | M::Movsldup | M::Roundps | M::Roundpd | M::Dpps | M::Dppd)
        || matches!(mnemonic, M::Blendps | M::Blendpd | M::Blendvps | M::Blendvpd | M::Pblendvb | M::Pblendw)
        || matches!(mnemonic, M::Pabsb | M::Pabsw | M::Pabsd | M::Psignb | M::Psignw | M::Psignd | M::Pshufb)
        || matches!(mnemonic, M::Phaddw | M::Phaddd | M::Phaddsw | M::Phsubw | M::Phsubd | M::Phsubsw)
        || matches!(mnemonic, M::Pmaddubsw | M::Pmulhrsw | M::Palignr | M::Mpsadbw | M::Packusdw | M::Pmulld)
        || matches!(mnemonic, M::Pclmulqdq | M::Phminposuw)
}

/// Recognises PMOVSX and PMOVZX.
pub(super) fn widens(mnemonic: M) -> bool {
    matches!(
        mnemonic,
        M::Pmovsxbw
            | M::Pmovsxbd
            | M::Pmovsxbq
            | M::Pmovsxwd
            | M::Pmovsxwq
            | M::Pmovsxdq
            | M::Pmovzxbw
            | M::Pmovzxbd
            | M::Pmovzxbq
            | M::Pmovzxwd
            | M::Pmovzxwq
            | M::Pmovzxdq
    )
}
