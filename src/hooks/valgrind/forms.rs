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
        M::Insertps => count & 15 == 15,
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

/// Statements of VEX for an instruction beyond those that it is lifted to here, as `--trace-flags` shows them in a superblock with
/// a conditional jump. They decide only which loops are short.
pub(super) fn more_statements(mnemonic: M) -> usize {
    match mnemonic {
        M::Addps | M::Addpd | M::Subps | M::Subpd | M::Mulps | M::Mulpd | M::Divps | M::Divpd => 1,
        M::Pmovzxbw | M::Pmovzxwd | M::Pmovzxdq | M::Pmulld | M::Packusdw | M::Pmaddubsw | M::Cvtps2pd => 1,
        M::Addss | M::Addsd | M::Subss | M::Subsd | M::Mulss | M::Mulsd | M::Divss | M::Divsd => 2,
        M::Minss | M::Minsd | M::Maxss | M::Maxsd | M::Sqrtss | M::Sqrtsd | M::Rcpss | M::Rsqrtss => 2,
        M::Pmovzxbd | M::Pmovzxwq | M::Cmpsd | M::Roundpd => 2,
        M::Pmovsxbw | M::Pmovsxwd | M::Pshufb | M::Cvtdq2ps | M::Cvtps2dq | M::Ucomiss | M::Comiss => 3,
        M::Cmpss | M::Blendps | M::Blendpd | M::Pblendw => 3,
        M::Pmovsxbd | M::Unpcklpd | M::Unpckhpd | M::Shufpd | M::Pextrd | M::Extractps | M::Pinsrd => 4,
        M::Pmovmskb => 4,
        M::Pmovzxbq | M::Cvtsi2ss | M::Movmskpd | M::Blendvps | M::Blendvpd | M::Pblendvb | M::Roundps => 5,
        M::Cvtdq2pd | M::Pextrb | M::Pinsrw => 6,
        M::Pmovsxbq | M::Pmovsxwq | M::Pmovsxdq | M::Phminposuw | M::Dppd | M::Psrldq | M::Pslldq => 7,
        M::Addsubpd | M::Cvttpd2dq | M::Pextrw | M::Pinsrb | M::Maskmovdqu => 8,
        M::Pclmulqdq | M::Stmxcsr => 9,
        M::Movshdup | M::Movsldup | M::Movmskps => 10,
        M::Haddpd | M::Hsubpd => 11,
        M::Pmaddwd | M::Psadbw | M::Cvtpd2dq | M::Cvtpd2ps | M::Insertps => 12,
        M::Pshufd | M::Palignr => 13,
        M::Unpcklps | M::Unpckhps => 14,
        M::Phaddw | M::Phaddd | M::Phaddsw | M::Phsubw | M::Phsubd | M::Phsubsw | M::Mpsadbw => 15,
        M::Shufps => 16,
        M::Pmuludq | M::Pmuldq | M::Pabsb | M::Pabsw | M::Pabsd | M::Pshuflw | M::Pshufhw => 18,
        M::Psignb | M::Psignw | M::Psignd => 21,
        M::Addsubps => 22,
        M::Ptest => 24,
        M::Dpps => 26,
        M::Haddps | M::Hsubps => 31,
        M::Pmulhrsw => 43,
        _ => 0,
    }
}
