//! What instructions on vector registers do with their operands, by mnemonic.

use iced_x86::{Instruction, Mnemonic as M, OpKind};

use super::ir::Op;

/// What an instruction on XMM registers does to their bits, if the optimiser knows.
pub(super) fn bitwise(mnemonic: M) -> Option<Op> {
    Some(match mnemonic {
        M::Xorps | M::Xorpd | M::Pxor => Op::VectorXor,
        M::Andps | M::Andpd | M::Pand | M::Andnps | M::Andnpd | M::Pandn => Op::VectorAnd,
        M::Orps | M::Orpd | M::Por => Op::VectorOr,
        M::Pcmpeqb => Op::VectorEqual(8),
        M::Pcmpeqw => Op::VectorEqual(16),
        M::Pcmpeqd => Op::VectorEqual(32),
        M::Pcmpeqq => Op::VectorEqual(64),
        _ => return None,
    })
}

/// The bits of the elements that a shift moves.
pub(super) fn element(mnemonic: M) -> Option<u64> {
    Some(match mnemonic {
        M::Psllw | M::Psrlw | M::Psraw => 16,
        M::Pslld | M::Psrld | M::Psrad => 32,
        M::Psllq | M::Psrlq => 64,
        _ => return None,
    })
}

/// Whether something of the source is in the result, and something of the destination, of instructions whose immediate
/// chooses elements.
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

/// Whether nothing of any operand is left: shifts out of the register, dot products of no elements.
pub(super) fn is_nothing(i: &Instruction) -> bool {
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
        M::Dpps => count >> 4 == 0 || count & 15 == 0,
        M::Dppd => count >> 4 & 3 == 0 || count & 3 == 0,
        _ => false,
    }
}

/// Whether VEX checks that the operand in memory is a multiple of sixteen, and leaves the superblock if it is not.
pub(super) fn is_checked(i: &Instruction) -> bool {
    let memory = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    memory && i.memory_size().size() == 16 && must_be_aligned(i.mnemonic())
}

/// Instructions whose operand VEX checks; it does not check those of plain arithmetic.
pub(super) fn must_be_aligned(mnemonic: M) -> bool {
    matches!(mnemonic, M::Movaps | M::Movapd | M::Movdqa | M::Movntps | M::Movntpd | M::Movntdq | M::Movntdqa)
        || matches!(mnemonic, M::Movshdup | M::Movsldup | M::Roundps | M::Roundpd | M::Dpps | M::Dppd)
        || matches!(mnemonic, M::Blendps | M::Blendpd | M::Blendvps | M::Blendvpd | M::Pblendvb | M::Pblendw)
        || matches!(mnemonic, M::Pabsb | M::Pabsw | M::Pabsd | M::Psignb | M::Psignw | M::Psignd | M::Pshufb)
        || matches!(mnemonic, M::Phaddw | M::Phaddd | M::Phaddsw | M::Phsubw | M::Phsubd | M::Phsubsw)
        || matches!(mnemonic, M::Pmaddubsw | M::Pmulhrsw | M::Palignr | M::Mpsadbw | M::Packusdw | M::Pmulld)
        || matches!(mnemonic, M::Pclmulqdq | M::Phminposuw)
}

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
