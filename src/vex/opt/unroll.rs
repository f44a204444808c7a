//! Loop unrolling (`maybe_loop_unroll_BB`), as far as it shows: VEX runs its passes again over a
//! loop that it unrolls.

use iced_x86::Mnemonic as M;

use crate::vex::ir::{Op, Statement, Temp};

/// Most statements of a loop that is unrolled: half of `--vex-iropt-unroll-thresh`.
const MOST_STATEMENTS: usize = 60;

/// Tests whether a loop of this many instructions is short enough to be unrolled.
pub(super) fn is_short(code: &[Statement], instructions: usize, specialised_from: Option<Temp>) -> bool {
    let statements: usize = code.iter().map(|statement| weight(statement, specialised_from)).sum();
    instructions + statements <= MOST_STATEMENTS
}

/// Count of VEX's statements for one of this model. Where helpers were specialised VEX flattens the
/// superblock again, which splits most expressions that are not binary in two.
fn weight(statement: &Statement, specialised_from: Option<Temp>) -> usize {
    let flattened = |to: Temp| usize::from(specialised_from.is_some_and(|first| to < first));
    let extra = |op: Op| match op {
        Op::Opaque(id, _) => M::try_from(usize::from(id)).map_or(0, extra_statements),
        _ => 0,
    };
    match *statement {
        Statement::NoOp | Statement::Use(_) => 0,
        Statement::WrTmp(_, op @ Op::Opaque(_, 2), _) => 1 + extra(op),
        Statement::WrTmp(to, op @ Op::Opaque(..), _) => 1 + flattened(to) + extra(op),
        Statement::WrTmp(to, op, _) if op != Op::Copy && op.operands() != 2 => 1 + flattened(to),
        Statement::GetI { to, .. } => 1 + flattened(to),
        _ => 1,
    }
}

/// Statements that VEX has for an instruction beyond those of this model, seen with `--trace-flags`
/// in superblocks with a conditional jump. They decide only which loops are short.
fn extra_statements(mnemonic: M) -> usize {
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
