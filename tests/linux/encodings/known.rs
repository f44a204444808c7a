//! What CPUs, or their makers' manuals, do differently from each other, and what `isa` knows of the
//! engine already.

use cgemu::x86::decode::{Refusal, Trap, Verdict};
use iced_x86::{FlowControl, Mnemonic as M};

use super::cases::Case;
use crate::isa::known::Vendor;

/// Whether the outcomes may differ in this facet.
pub fn is_known(case: &Case, facet: &str, vendor: Vendor) -> bool {
    let has = |prefix: u8| case.bytes[..case.opcode].contains(&prefix);
    let opcode = &case.bytes[case.opcode..];
    let near = !matches!(case.instruction.flow_control(), FlowControl::Next | FlowControl::Exception);
    match case.instruction.mnemonic() {
        // AMD's CPUs have 16-bit near branches in 64-bit mode, and a branch by the flags that REPE
        // and REPNE change; Intel's have neither.
        _ if near && has(0x66) => vendor == Vendor::Amd,
        M::Loope | M::Loopne if has(0xf2) || has(0xf3) => vendor == Vendor::Amd,
        // PREFETCHW of a register is no instruction to AMD's CPUs, and a NOP to Intel's.
        M::Reservednop | M::Prefetchw if opcode.starts_with(&[0x0f, 0x0d]) => vendor == Vendor::Amd,
        // On AMD's CPUs LOCK MOV CR0 is MOV CR8, which is privileged, and VERW may be locked.
        M::INVALID if has(0xf0) && matches!(opcode[1], 0x00 | 0x20 | 0x22) => vendor == Vendor::Amd,
        // Hypervisors differ in where they say that it was; testdata/guest/icebp.c has the rest.
        M::Int1 => true,
        // Answered by the machine.
        _ if matches!(case.verdict, Verdict::Trap(trap) if trap != Trap::Flush) => {
            facet == "gpr" || facet == "flags"
        }
        // Approximations.
        M::Rcpps | M::Rcpss | M::Rsqrtps | M::Rsqrtss => facet == "xmm",
        // The last bit.
        M::Fsin | M::Fcos | M::Fsincos | M::Fptan | M::Fpatan | M::Fyl2x | M::Fyl2xp1 | M::F2xm1 => {
            facet == "x87"
        }
        // MXCSR_MASK.
        M::Fxsave | M::Fxsave64 => facet == "mem",
        // Invalid before it is privileged, or the other way round.
        _ if case.verdict == Verdict::Refuse(Refusal::Privileged) && has(0xf0) => facet == "signal",
        _ => false,
    }
}
