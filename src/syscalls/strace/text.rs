//! Pieces of text that strace(1) makes of the program's memory.

use std::fmt::Write as _;

use crate::abi::signal_names::short_name;
use crate::guest::GuestMemory;

/// Bytes of a string that are shown, strace's `-s`.
pub(super) const SHOWN: usize = 32;

/// Bytes of the guest's memory, if they are all there.
pub(super) fn peek<const N: usize>(mem: &mut dyn GuestMemory, addr: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    mem.read(addr, &mut bytes).ok()?;
    Some(bytes)
}

/// An address, NULL for 0.
pub(super) fn address(value: u64) -> String {
    if value == 0 { "NULL".into() } else { format!("{value:#x}") }
}

/// Elements in brackets.
pub(super) fn list(parts: Vec<String>) -> String {
    format!("[{}]", parts.join(", "))
}

/// A set of signals; one that is nearly full is shown by what it lacks.
pub(super) fn set(mask: u64) -> String {
    let (sign, shown) = if mask.count_ones() > 42 { ("~", !mask) } else { ("", mask) };
    let names: Vec<_> = (1..=64).filter(|signo| shown >> (signo - 1) & 1 != 0).map(short_name).collect();
    format!("{sign}[{}]", names.join(" "))
}

/// Bytes in quotes, each in hexadecimal.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    format!("\"{bytes}\"")
}

/// A string in quotes; bytes that are not printable ASCII are escaped as in C, in octal.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x0b => out.push_str("\\v"),
            0x0c => out.push_str("\\f"),
            b' '..=b'~' => out.push(char::from(*byte)),
            // A digit behind it would be taken for one of the number.
            _ if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                let _ = write!(out, "\\{byte:03o}");
            }
            _ => {
                let _ = write!(out, "\\{byte:o}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As strace(1) prints them.
    #[test]
    fn strings_and_sets() {
        assert_eq!(quoted(b"\x7fELF\x02\x01\x01\x000a\"\n"), r#""\177ELF\2\1\1\0000a\"\n""#);
        assert_eq!(hexadecimal(b"\x1b\x77"), r#""\x1b\x77""#);
        assert_eq!(set(0b10 | 1 << 16), "[INT CHLD]");
        assert_eq!(set(!(1 << 8)), "~[KILL]");
        assert_eq!((address(0), address(16)), ("NULL".into(), "0x10".into()));
    }
}
