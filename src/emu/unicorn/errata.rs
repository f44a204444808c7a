//! Errata of the engine's translator: the code that it is shown instead, and how the accesses
//! differ. `helpers` has the instructions whose helper is wrong.

use iced_x86::{CpuidFeature, EncodingKind, FlowControl, Instruction, Mnemonic as M, OpKind};

use crate::x86::decode::{self, MAX_LENGTH};

/// Erratum in the accesses of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Erratum {
    /// Nothing.
    #[default]
    None,
    /// The operand has sixteen bytes and must be aligned, which the engine does not check.
    Aligned,
    /// The engine loads sixteen bytes where the operand has this number.
    Narrow(u8),
    /// The engine ends the instruction after the displacement, so that RIP is short of the
    /// immediate byte.
    ShortRip,
    /// The value that STMXCSR stores lacks the exceptions of `float_status`.
    Mxcsr,
    /// The engine takes the bytes that RET drops as signed.
    SignedRet,
    /// The engine turns the x87 stack into MMX registers, even for an operand in memory.
    NoMmx,
}

/// Tests for the SSE instructions whose sixteen bytes may have any address.
fn takes_any_address(mnemonic: M) -> bool {
    matches!(
        mnemonic,
        M::Movups
            | M::Movupd
            | M::Movdqu
            | M::Lddqu
            | M::Maskmovdqu
            | M::Pcmpestri
            | M::Pcmpestrm
            | M::Pcmpestri64
            | M::Pcmpestrm64
            | M::Pcmpistri
            | M::Pcmpistrm
    )
}

/// Tests whether an explicit operand is in memory.
pub(super) fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory)
}

/// The erratum of an instruction.
pub(super) fn erratum(instruction: &Instruction) -> Erratum {
    let mnemonic = instruction.mnemonic();
    match mnemonic {
        M::Stmxcsr => return Erratum::Mxcsr,
        M::Ret if instruction.op_count() == 1 && instruction.immediate16() >= 0x8000 => {
            return Erratum::SignedRet;
        }
        _ if !has_memory(instruction) => return Erratum::None,
        M::Shld | M::Shrd | M::Rorx
            if instruction.is_ip_rel_memory_operand() && instruction.op_kind(2) == OpKind::Immediate8 =>
        {
            return Erratum::ShortRip;
        }
        M::Cvtps2pd | M::Cvtdq2pd | M::Roundsd => return Erratum::Narrow(8),
        M::Roundss => return Erratum::Narrow(4),
        M::Cvtpi2ps | M::Cvtpi2pd => return Erratum::NoMmx,
        _ => {}
    }
    let sse = instruction.encoding() == EncodingKind::Legacy
        && instruction.cpuid_features().iter().any(|feature| {
            matches!(
                feature,
                CpuidFeature::SSE
                    | CpuidFeature::SSE2
                    | CpuidFeature::SSE3
                    | CpuidFeature::SSSE3
                    | CpuidFeature::SSE4_1
                    | CpuidFeature::SSE4_2
                    | CpuidFeature::AES
                    | CpuidFeature::PCLMULQDQ
            )
        });
    if sse && instruction.memory_size().size() == 16 && !takes_any_address(mnemonic) {
        return Erratum::Aligned;
    }
    Erratum::None
}

/// Tests whether an instruction has to be the first of its block, before which the engine records
/// all flags. Later in a block it loses those not recorded: for LOOPE and LOOPNE when the count is
/// used up, for CMPXCHG8B and CMPXCHG16B all but ZF.
pub(super) fn begins_block(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), M::Loope | M::Loopne | M::Cmpxchg8b | M::Cmpxchg16b)
}

/// The bytes that the engine is shown instead of an instruction that it does not know.
pub(super) fn shown(instruction: &Instruction, bytes: &[u8]) -> Option<[u8; MAX_LENGTH]> {
    /// A REX prefix without effect, in place of one that is to be ignored.
    const NOTHING: u8 = 0x40;
    /// The CS prefix, which has none at all where there is no operand in memory.
    const IGNORED: u8 = 0x2e;
    let mut shown = [0; MAX_LENGTH];
    let bytes = bytes.get(..instruction.len())?;
    shown.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let opcode = opcode(bytes);
    order_prefixes(instruction, &mut shown, opcode);
    match instruction.mnemonic() {
        // The predicate is taken modulo 8, unless there is a VEX prefix.
        M::Cmpps | M::Cmppd | M::Cmpss | M::Cmpsd
            if instruction.encoding() == EncodingKind::Legacy
                && instruction.op_count() == 3
                && instruction.immediate8() >= 8 =>
        {
            *shown.get_mut(bytes.len() - 1)? &= 7;
        }
        // With one CPU, LOCK has no effect; and the engine gets the flags right without it.
        M::Neg if instruction.has_lock_prefix() => replace(shown.get_mut(..opcode)?, 0xf0, NOTHING),
        // F6 /1 and F7 /1 are F6 /0 and F7 /0.
        M::Test if matches!(bytes.get(opcode), Some(0xf6 | 0xf7)) && bytes.get(opcode + 1)? & 0x38 == 8 => {
            *shown.get_mut(opcode + 1)? &= !0x38;
        }
        // A hint about a register is a NOP.
        M::Nop | M::Reservednop | M::Prefetch | M::Prefetchw | M::Prefetchwt1
            if bytes.get(opcode) == Some(&0x0f) && !has_memory(instruction) =>
        {
            *shown.get_mut(opcode + 1)? = 0x1f;
        }
        // Near branches are 64 bits wide.
        M::Ret | M::Call | M::Jmp => replace(shown.get_mut(..opcode)?, 0x66, NOTHING),
        _ if instruction.flow_control() == FlowControl::ConditionalBranch => {
            replace(shown.get_mut(..opcode)?, 0x66, NOTHING);
        }
        // With any REX prefix the engine takes SPL for AH.
        M::Lahf | M::Sahf => {
            if let Some(rex) = rex(shown.get_mut(..opcode)?) {
                *rex = IGNORED;
            }
        }
        // The engine takes REX.R for a part of the register field, which has to be 0 here, or of
        // the number of an MMX register.
        _ if matches!(bytes.get(opcode), Some(0xc6 | 0xc7)) || names_mmx(instruction) => {
            if let Some(rex) = rex(shown.get_mut(..opcode)?) {
                *rex &= !4;
            }
        }
        _ => {}
    }
    (shown.get(..bytes.len())? != bytes).then_some(shown)
}

/// Index of the opcode, after legacy and REX prefixes.
fn opcode(bytes: &[u8]) -> usize {
    let is_prefix = |byte: &u8| {
        matches!(
            byte,
            0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64 | 0x65 | 0x66 | 0x67 | 0xf0 | 0xf2 | 0xf3
        )
    };
    bytes.iter().position(|byte| !is_prefix(byte)).unwrap_or(0)
}

/// The REX prefix, which is the last before the opcode.
fn rex(prefixes: &mut [u8]) -> Option<&mut u8> {
    prefixes.last_mut().filter(|byte| matches!(byte, 0x40..=0x4f))
}

/// Tests whether the register field names an MMX register.
fn names_mmx(instruction: &Instruction) -> bool {
    let is_mmx = |operand: u32| instruction.op_register(operand).is_mm();
    match instruction.mnemonic() {
        _ if is_mmx(0) => true,
        // It may be the second operand of a store, and is the other field of PMOVMSKB and PEXTRW.
        M::Movd | M::Movq | M::Movntq | M::Maskmovq => is_mmx(1),
        _ => false,
    }
}

/// Leaves of several prefixes of one kind the one that counts, as the engine would take them all.
/// Of F2 and F3 the last one counts, and as a part of the opcode either comes before 66. CS, DS, ES
/// and SS never count, and so not against FS and GS (Intel SDM vol. 2, 2.1.1 and 2.6; AMD64 APM
/// vol. 3, 1.2).
fn order_prefixes(instruction: &Instruction, shown: &mut [u8; MAX_LENGTH], opcode: usize) {
    if opcode < 2 {
        return;
    }
    let prefixes = &mut shown[..opcode];
    let last_of = |set: [u8; 2]| prefixes.iter().rev().copied().find(|byte| set.contains(byte));
    let (repeat, segment) = (last_of([0xf2, 0xf3]), last_of([0x64, 0x65]));
    for prefix in prefixes {
        let instead = match *prefix {
            0xf2 | 0xf3 => repeat,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 => segment,
            _ => None,
        };
        *prefix = instead.unwrap_or(*prefix);
    }
    if let Some(repeat) = repeat
        && shown[..opcode].contains(&0x66)
    {
        let mut without = *shown;
        replace(&mut without[..opcode], 0x66, repeat);
        if decode::decode(&without, instruction.ip()).code() == instruction.code() {
            *shown = without;
        }
    }
}

fn replace(prefixes: &mut [u8], what: u8, with: u8) {
    for byte in prefixes.iter_mut().filter(|byte| **byte == what) {
        *byte = with;
    }
}
