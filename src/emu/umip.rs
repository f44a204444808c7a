//! Answers of SGDT, SIDT, SLDT, STR and SMSW: those that Linux gives in place of a CPU with UMIP,
//! which faults at them (`arch/x86/kernel/umip.c`). So they tell nothing of the machine.

use iced_x86::{Instruction, Mnemonic, OpKind};

/// `UMIP_DUMMY_GDT_BASE` and `UMIP_DUMMY_IDT_BASE`; the limits are 0.
const GDT_BASE: u64 = 0xffff_ffff_fffe_0000;
const IDT_BASE: u64 = 0xffff_ffff_ffff_0000;
/// `CR0_STATE`: PE, MP, ET, NE, WP, AM and PG.
const CR0: u64 = 0x8005_0033;
/// Selector of the task's segment, `GDT_ENTRY_TSS * 8`. There is no LDT.
const TASK: u64 = 0x40;

/// Bytes that one of these instructions stores, low ones first, and their number. Registers get as
/// many as the operand has, and keep the others.
pub(super) fn answer(instruction: &Instruction) -> ([u8; 10], usize) {
    let (value, table) = match instruction.mnemonic() {
        Mnemonic::Sgdt => (GDT_BASE, true),
        Mnemonic::Sidt => (IDT_BASE, true),
        Mnemonic::Smsw => (CR0, false),
        Mnemonic::Str => (TASK, false),
        _ => (0, false),
    };
    let mut bytes = [0; 10];
    let start = if table { 2 } else { 0 };
    bytes[start..start + 8].copy_from_slice(&value.to_le_bytes());
    let len = match instruction.op0_kind() {
        _ if table => 10,
        OpKind::Register => instruction.op0_register().size(),
        _ => 2,
    };
    (bytes, len)
}

/// Tests whether Linux's decoder understands the code of an instruction. It gives up at a prefix
/// after REX, after four different ones (`insn_get_prefixes`), and at an operand in memory with two
/// segments (`get_seg_reg_override_idx`). The fault is then left to the program.
pub(super) fn is_decoded(instruction: &Instruction, bytes: &[u8]) -> bool {
    let mut seen: Vec<u8> = Vec::new();
    let mut rest = bytes;
    while let [prefix @ (0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3), after @ ..] = rest {
        if !seen.contains(prefix) {
            seen.push(*prefix);
        }
        rest = after;
    }
    if let [0x40..=0x4f, after @ ..] = rest {
        rest = after;
    }
    let segments =
        seen.iter().filter(|prefix| matches!(prefix, 0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65)).count();
    let is_memory = instruction.op0_kind() == OpKind::Memory;
    seen.len() <= 4 && rest.first() == Some(&0x0f) && !(is_memory && segments > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::decode::decode;

    /// As a program prints them on Linux 6.18 and a CPU with UMIP.
    #[test]
    fn answers_are_those_of_linux() {
        let answer = |bytes: &[u8]| {
            let (answer, len) = answer(&decode(bytes, 0));
            answer[..len].to_vec()
        };
        assert_eq!(answer(&[0x0f, 0x01, 0x00]), [0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(answer(&[0x66, 0x0f, 0x01, 0x08]), [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(answer(&[0x0f, 0x01, 0xe0]), [0x33, 0, 5, 0x80]);
        assert_eq!(answer(&[0x48, 0x0f, 0x01, 0xe0]), [0x33, 0, 5, 0x80, 0, 0, 0, 0]);
        assert_eq!(answer(&[0x48, 0x0f, 0x01, 0x20]), [0x33, 0]);
        assert_eq!(answer(&[0x66, 0x0f, 0x00, 0xc8]), [0x40, 0]);
        assert_eq!(answer(&[0x0f, 0x00, 0xc0]), [0, 0, 0, 0]);
    }

    #[test]
    fn prefixes_are_those_that_linux_decodes() {
        // smsw eax, smsw [rdi]
        let is_decoded = |prefixes: &[u8], modrm: u8| {
            let bytes = [prefixes, &[0x0f, 0x01, modrm]].concat();
            is_decoded(&decode(&bytes, 0), &bytes)
        };
        for prefixes in [&[][..], &[0x66, 0x66, 0x48], &[0x2e, 0x67, 0xf2, 0xf3, 0x2e]] {
            assert!(is_decoded(prefixes, 0xe0) && is_decoded(prefixes, 0x27), "{prefixes:x?}");
        }
        for prefixes in [&[0x48, 0x66][..], &[0x48, 0x48], &[0x2e, 0x3e, 0xf2, 0xf3, 0x66]] {
            assert!(!is_decoded(prefixes, 0xe0) && !is_decoded(prefixes, 0x27), "{prefixes:x?}");
        }
        assert!(is_decoded(&[0x2e, 0x65], 0xe0) && !is_decoded(&[0x2e, 0x65], 0x27));
    }
}
