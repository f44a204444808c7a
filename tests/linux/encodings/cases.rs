//! The encodings: every opcode with every prefix, pair of prefixes and order of them that matters.

use std::collections::BTreeSet;

use cgemu::x86::decode::{MAX_LENGTH, Refusal, Verdict, decode, verdict};
use iced_x86::{Code, Instruction, Mnemonic as M};

/// Prefixes before the opcode: none, each alone, redundant, repeated, in each order, and with a REX
/// prefix where it counts and where it is ignored.
const PREFIXES: &[&[u8]] = &[
    &[],
    &[0x66],
    &[0xf2],
    &[0xf3],
    &[0xf0],
    &[0x67],
    &[0x66, 0x66],
    &[0x66, 0xf2],
    &[0xf2, 0x66],
    &[0x66, 0xf3],
    &[0xf3, 0x66],
    &[0xf2, 0xf3],
    &[0xf3, 0xf2],
    &[0xf2, 0xf2],
    &[0xf3, 0xf3],
    &[0x66, 0xf2, 0xf3],
    &[0xf3, 0x66, 0xf2],
    &[0x66, 0xf3, 0x66],
    &[0xf0, 0x66],
    &[0xf0, 0xf2],
    &[0xf3, 0xf0],
    &[0xf0, 0xf0],
    &[0x40],
    &[0x41],
    &[0x42],
    &[0x44],
    &[0x48],
    &[0x4f],
    &[0x66, 0x48],
    &[0x66, 0x4e],
    &[0xf2, 0x48],
    &[0xf3, 0x48],
    &[0xf3, 0x4d],
    &[0xf0, 0x4c],
    &[0x66, 0xf2, 0x48],
    &[0xf3, 0x66, 0x49],
    &[0x48, 0x66],
    &[0x4c, 0xf2],
    &[0x48, 0xf3],
    &[0x41, 0x40],
    &[0x48, 0x41],
    &[0x40, 0xf3, 0x44],
    &[0x2e],
    &[0x36, 0x66],
    &[0x26, 0xf3],
    &[0x3e, 0xf2, 0x48],
    &[0x64],
    &[0x65, 0x3e],
    &[0x2e, 0x64, 0x66],
    &[0x67, 0xf3, 0x66],
    &[0xf2, 0x67, 0x48],
    &[0x67, 0x66, 0x67],
    &[0x66, 0x67, 0xf2, 0x2e, 0xf3, 0x48],
];

/// Places to run in: not at the end of a page, just before it, and cut off by it after each byte.
const MIDDLE: u8 = 1;
const FITS: u8 = 2;
const CUTS: u8 = 4;

/// Prefixes of x87 instructions.
const X87_PREFIXES: &[&[u8]] =
    &[&[], &[0x66], &[0xf2], &[0xf0], &[0x66, 0xf3], &[0x4f], &[0x48, 0x66], &[0x64]];

/// What follows the opcode and its ModRM byte: displacement and immediate, of which each encoding
/// takes what it needs. As an absolute address it is one of the harness's.
const TAIL: [u8; 9] = [0x05, 0x09, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00];

/// An encoding, and where it runs.
pub struct Case {
    pub bytes: Vec<u8>,
    /// Index of the opcode.
    pub opcode: usize,
    /// Where it runs, as the harness numbers it.
    pub places: u8,
    pub instruction: Instruction,
    pub verdict: Verdict,
}

impl Case {
    /// Number of places in which it runs.
    pub fn places(&self) -> usize {
        let cuts = if self.places & CUTS != 0 { self.bytes.len() - 1 } else { 0 };
        (self.places & (MIDDLE | FITS)).count_ones() as usize + cuts
    }

    /// The opcode without prefixes and ModRM, in hexadecimal.
    pub fn opcode_name(&self) -> String {
        let bytes = &self.bytes[self.opcode..];
        let count = match bytes {
            [0x0f, 0x38 | 0x3a, ..] => 3,
            [0x0f, ..] => 2,
            _ => 1,
        };
        bytes.iter().take(count).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The record of the harness. Transfers to other segments would end the run: an undefined
    /// instruction of the same length is in their place.
    pub fn record(&self) -> [u8; 20] {
        const PUSH_ES: u8 = 0x06;
        let mut record = [0; 20];
        record[0] = self.bytes.len() as u8;
        record[1] = self.places;
        let bytes = &mut record[2..2 + self.bytes.len()];
        match self.verdict {
            Verdict::Refuse(Refusal::Transfer) => bytes.fill(PUSH_ES),
            _ => bytes.copy_from_slice(&self.bytes),
        }
        record
    }
}

/// What may not run on the host's CPU here: it would leave the program, wait, ask a hypervisor, or
/// change what the harness does not restore.
fn is_harmful(instruction: &Instruction, opcode: &[u8]) -> bool {
    matches!(
        instruction.mnemonic(),
        M::Syscall
            | M::Sysenter
            | M::Sysexit
            | M::Sysexitq
            | M::Sysret
            | M::Sysretq
            | M::Wrfsbase
            | M::Wrgsbase
            | M::Lfs
            | M::Lgs
            | M::Lss
            | M::Umwait
            | M::Umonitor
            | M::Tpause
            | M::Xrstor
            | M::Xrstor64
            | M::Xrstors
            | M::Xrstors64
            | M::Enqcmd
            | M::Enqcmds
            | M::Int
    ) || opcode.starts_with(&[0x0f, 0x05])
        || opcode.starts_with(&[0x0f, 0x34])
        || opcode.starts_with(&[0x0f, 0x35])
        || opcode.starts_with(&[0x0f, 0x07])
        // Groups whose register forms are for systems and hypervisors.
        || opcode.starts_with(&[0x0f, 0x01]) && opcode[2] >= 0xc0
        // 3DNow, VEX, EVEX and XOP: tests/linux/isa has what runs of it.
        || opcode.starts_with(&[0x0f, 0x0f])
        || matches!(opcode[0], 0x62 | 0xc4 | 0xc5)
        || opcode[0] == 0x8f && opcode[1] & 0x38 != 0
}

/// The ModRM bytes that an opcode is tried with: every register field where it chooses the
/// instruction, in memory and not.
fn modrms(opcode: &[u8]) -> Vec<u8> {
    let of = |mandatory: Option<u8>, modrm: u8| {
        let mut bytes: Vec<u8> = mandatory.into_iter().chain(opcode.iter().copied()).collect();
        bytes.push(modrm);
        bytes.extend(TAIL);
        decode(&bytes, 0).code()
    };
    if (0xd8..=0xdf).contains(&opcode[0]) {
        // Not ST(7), which is empty: `isa` has the stack faults that are not noticed.
        return (0..8).map(|reg| reg << 3 | 7).chain((0xc0..=0xff).filter(|modrm| modrm & 7 != 7)).collect();
    }
    let varies = [None, Some(0x66), Some(0xf2), Some(0xf3)].into_iter().any(|mandatory| {
        [7, 0xc1].into_iter().any(|rm| (1..8).any(|reg| of(mandatory, reg << 3 | rm) != of(mandatory, rm)))
    });
    if varies && opcode.len() == 3 && opcode[1] != 0x38 {
        return vec![7, 0xc1];
    }
    if varies { (0..8).flat_map(|reg| [reg << 3 | 7, reg << 3 | 0xc1]).collect() } else { vec![7, 0xd1] }
}

/// All of them.
pub fn cases() -> Vec<Case> {
    let one = (0..=0xff).filter(|byte| !is_prefix(*byte) && *byte != 0x0f).map(|byte| vec![byte]);
    let two = (0..=0xff).filter(|byte| !matches!(byte, 0x38 | 0x3a)).map(|byte| vec![0x0f, byte]);
    let three = [0x38, 0x3a].into_iter().flat_map(|map| (0..=0xff).map(move |byte| vec![0x0f, map, byte]));
    let mut seen = BTreeSet::new();
    let mut cases = Vec::new();
    for opcode in one.chain(two).chain(three) {
        let x87 = matches!(opcode[0], 0xd8..=0xdf);
        for (nth, modrm) in modrms(&opcode).into_iter().enumerate() {
            for prefixes in if x87 { X87_PREFIXES } else { PREFIXES } {
                let mut bytes = prefixes.to_vec();
                bytes.extend(&opcode);
                bytes.push(modrm);
                let least = bytes.len();
                bytes.extend(TAIL);
                bytes.truncate(MAX_LENGTH);
                let instruction = decode(&bytes, 0x1000);
                let tail = [&opcode[..], &[modrm]].concat();
                if is_harmful(&instruction, &tail) {
                    continue;
                }
                let valid = instruction.code() != Code::INVALID;
                bytes.truncate(if valid { instruction.len() } else { least.min(MAX_LENGTH) });
                // Of what is invalid with every prefix, some will do.
                if !valid && prefixes.len() > 1 && nth > 0 || !seen.insert(bytes.clone()) {
                    continue;
                }
                let places = match prefixes.len() {
                    0 | 1 if nth < 2 => MIDDLE | FITS | CUTS,
                    0 | 1 => MIDDLE | FITS,
                    _ => MIDDLE,
                };
                cases.push(Case {
                    opcode: prefixes.len(),
                    places,
                    bytes,
                    verdict: verdict(&instruction),
                    instruction,
                });
            }
        }
    }
    cases
}

fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
}
