//! The registers by the names that GDB gives them (Intel SDM vol. 1, 3.4, for the parts of
//! registers).

use super::value::{Integer, Kind};
use crate::guest::Gpr;

/// A register that has a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// A general register.
    Gpr(Gpr),
    /// The address of the next instruction.
    Rip,
    /// The flags.
    Rflags,
    /// The base of FS.
    FsBase,
    /// The base of GS.
    GsBase,
}

/// A name's register: which part of it, and how that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Bits of a register, from `shift` on.
    Part {
        /// The register.
        register: Register,
        /// Number of its lowest bit.
        shift: u32,
        /// Size and sign, as GDB has them: pointers and flags are unsigned, the rest is signed.
        kind: Kind,
    },
    /// `$xmm0` to `$xmm15`.
    Vector(u8),
    /// `$st0` to `$st7`.
    X87(u8),
}

/// Names of the general registers, by number: 64, 32, 16 and 8 bits.
const NAMES: [[&str; 4]; 16] = [
    ["rax", "eax", "ax", "al"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rbx", "ebx", "bx", "bl"],
    ["rsp", "esp", "sp", "spl"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
    ["r12", "r12d", "r12w", "r12b"],
    ["r13", "r13d", "r13w", "r13b"],
    ["r14", "r14d", "r14w", "r14b"],
    ["r15", "r15d", "r15w", "r15b"],
];
/// Sizes of the columns of [`NAMES`].
const KINDS: [Kind; 4] = [Kind::I64, Kind::I32, Kind::I16, Kind::I8];
/// Bits 8 to 15 of the first four, by number.
const HIGH: [&str; 4] = ["ah", "ch", "dh", "bh"];
/// The others. `$sp` is the whole stack pointer, not its low 16 bits.
const OTHERS: [(&str, Register, Kind); 9] = [
    ("rip", Register::Rip, Kind::Pointer),
    ("pc", Register::Rip, Kind::Pointer),
    ("sp", Register::Gpr(Gpr::Rsp), Kind::Pointer),
    ("fp", Register::Gpr(Gpr::Rbp), Kind::Pointer),
    ("eip", Register::Rip, Kind::U32),
    ("rflags", Register::Rflags, Kind::U64),
    ("eflags", Register::Rflags, Kind::U32),
    ("fs_base", Register::FsBase, Kind::U64),
    ("gs_base", Register::GsBase, Kind::U64),
];

/// The register called `name`, which is without its `$`.
pub fn named(name: &str) -> Option<Named> {
    if let Some(&(_, register, kind)) = OTHERS.iter().find(|other| other.0 == name) {
        return Some(Named::Part { register, shift: 0, kind });
    }
    for (gpr, names) in Gpr::ALL.into_iter().zip(NAMES) {
        let found = names.iter().zip(KINDS).find(|(other, _)| **other == name);
        if let Some((_, kind)) = found {
            let pointer = kind == Kind::I64 && matches!(gpr, Gpr::Rsp | Gpr::Rbp);
            let kind = if pointer { Kind::Pointer } else { kind };
            return Some(Named::Part { register: Register::Gpr(gpr), shift: 0, kind });
        }
    }
    if let Some((gpr, _)) = Gpr::ALL.into_iter().zip(HIGH).find(|(_, other)| *other == name) {
        return Some(Named::Part { register: Register::Gpr(gpr), shift: 8, kind: Kind::I8 });
    }
    numbered(name, "xmm", 16).map(Named::Vector).or_else(|| numbered(name, "st", 8).map(Named::X87))
}

/// The number below `end` behind `prefix`.
fn numbered(name: &str, prefix: &str, end: u8) -> Option<u8> {
    let digits = name.strip_prefix(prefix)?;
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|number| plain && *number < end)
}

/// All names, without `$`.
pub fn names() -> impl Iterator<Item = String> {
    let general = NAMES.into_iter().flatten().chain(HIGH).filter(|name| *name != "sp");
    let others = OTHERS.into_iter().map(|other| other.0);
    general
        .chain(others)
        .map(str::to_owned)
        .chain((0..16).map(|number| format!("xmm{number}")))
        .chain((0..8).map(|number| format!("st{number}")))
}

/// The nearest double of an x87 register's value (Intel SDM vol. 1, 4.2.2).
pub fn extended(bytes: [u8; 10]) -> f64 {
    let [m0, m1, m2, m3, m4, m5, m6, m7, e0, e1] = bytes;
    let significand = u64::from_le_bytes([m0, m1, m2, m3, m4, m5, m6, m7]);
    let top = u16::from_le_bytes([e0, e1]);
    let exponent = i32::from(top & 0x7fff);
    let size = match (exponent, significand << 1) {
        (0x7fff, 0) => f64::INFINITY,
        (0x7fff, _) => f64::NAN,
        // In two steps: the power alone may be too small for a double.
        _ => {
            significand as f64
                * f64::powi(2.0, (exponent - 16446) / 2)
                * f64::powi(2.0, exponent - 16446 - (exponent - 16446) / 2)
        }
    };
    if top & 0x8000 == 0 { size } else { -size }
}

/// The part of a register's `value` that a [`Named::Part`] means.
pub fn part(value: u64, shift: u32, kind: Kind) -> Integer {
    Integer::new(i128::from(value.checked_shr(shift).unwrap_or(0)), kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        let names: Vec<String> = names().collect();
        assert_eq!(names.len(), 63 + 4 + 9 + 16 + 8);
        for name in &names {
            assert!(named(name).is_some(), "{name}");
        }
        for name in ["", "st8", "st", "st00", "xmm16", "xmm00", "xmm+1", "xmm", "r16", "rax ", "RAX"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    /// Constants of type `long double` as gcc stores them.
    #[test]
    fn extended_format() {
        for (significand, top, expected) in [
            (0xc000_0000_0000_0000_u64, 0x3fff_u16, 1.5),
            (0x8000_0000_0000_0000, 0xbffe, -0.5),
            (0xa000_0000_0000_0000, 0x4002, 10.0),
            (0xcccc_cccc_cccc_cccd, 0x3ffb, 0.1),
            (0, 0, 0.0),
            (0x8000_0000_0000_0000, 0x7fff, f64::INFINITY),
            (0x8000_0000_0000_0000, 0x7ffe, f64::INFINITY),
            (1, 0, 0.0),
            (0x8000_0000_0000_0000, 0x3c01, f64::MIN_POSITIVE),
        ] {
            let mut bytes = [0; 10];
            bytes[..8].copy_from_slice(&significand.to_le_bytes());
            bytes[8..].copy_from_slice(&top.to_le_bytes());
            assert_eq!(extended(bytes), expected, "{top:#x} {significand:#x}");
        }
        let mut bytes = [0xff; 10];
        bytes[9] = 0x7f;
        assert!(extended(bytes).is_nan());
    }

    /// Intel SDM vol. 1, figure 3-5 and 3.4.1.1.
    #[test]
    fn parts() {
        let value = 0x8877_6655_4433_f2f1;
        for (name, expected) in [
            ("rax", 0x8877_6655_4433_f2f1_u64 as i64 as i128),
            ("eax", 0x4433_f2f1),
            ("ax", 0xf2f1_u16 as i16 as i128),
            ("al", 0xf1_u8 as i8 as i128),
            ("ah", 0xf2_u8 as i8 as i128),
            ("rsp", 0x8877_6655_4433_f2f1),
            ("sp", 0x8877_6655_4433_f2f1),
        ] {
            let Some(Named::Part { shift, kind, .. }) = named(name) else { panic!("{name}") };
            assert_eq!(part(value, shift, kind).value(), expected, "{name}");
        }
    }
}
