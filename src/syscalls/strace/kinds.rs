//! Text of arguments by their kinds.

use std::fmt::Write as _;
use std::ops::Range;

use crate::abi::signal_names::{name, short_name};
use crate::guest::GuestMemory;
use crate::kernel::uaccess::strncpy_from_user;
use crate::syscalls::strace::flags;

/// Bytes of a string that are shown, strace's `-s`.
const SHOWN: usize = 32;
/// Bytes of a path, PATH_MAX.
const PATH: usize = 4096;
/// Open flags with which there is a mode: O_CREAT and the own bit of O_TMPFILE.
const MODE_FOLLOWS: u64 = 0o100 | 0o20000000;

/// Tells if an argument of this kind is what the call answers, and so shown at its end.
pub(super) fn is_output(kind: u8) -> bool {
    b"BTIgzU2".contains(&kind)
}

/// The arguments of a call.
pub(super) struct Arguments<'a> {
    pub(super) mem: &'a mut dyn GuestMemory,
    pub(super) args: [u64; 6],
    /// The value that the call returned, at its end; an inner `None` if it failed.
    pub(super) result: Option<Option<u64>>,
}

impl Arguments<'_> {
    /// Some of the arguments, with commas.
    pub(super) fn text(&mut self, kinds: &str, range: Range<usize>) -> String {
        let mut out = String::new();
        for (at, kind) in kinds.bytes().enumerate().take(range.end).skip(range.start) {
            let Some(value) = self.args.get(at).copied() else { break };
            let before = at.checked_sub(1).and_then(|at| self.args.get(at)).copied().unwrap_or_default();
            if kind == b'n' && before & MODE_FOLLOWS == 0 {
                break;
            }
            if at > range.start {
                out.push_str(", ");
            }
            let next = self.args.get(at + 1).copied().unwrap_or_default();
            let text = self.argument(kind, value, next);
            out.push_str(&text);
        }
        out
    }

    fn argument(&mut self, kind: u8, value: u64, next: u64) -> String {
        let low = u64::from(value as u32);
        let failed = self.result == Some(None);
        match kind {
            b'd' => (value as i32).to_string(),
            b'u' => value.to_string(),
            b'l' => (value as i64).to_string(),
            b'x' if value == 0 => "0".into(),
            b'x' => format!("{value:#x}"),
            b's' => self.path(value),
            b'D' if value as i32 == -100 => "AT_FDCWD".into(),
            b'D' => (value as i32).to_string(),
            b'o' => {
                let mode = flags::ACCESS_MODES[(value & 3) as usize];
                match flags::bits(low & !3, flags::OPEN) {
                    others if others == "0" => mode.into(),
                    others => format!("{mode}|{others}"),
                }
            }
            b'O' => flags::bits(low, flags::OPEN),
            b'm' | b'n' => format!("0{:03o}", value as u32),
            b'z' if !failed => self.status(value),
            b'P' if low == 0 => "PROT_NONE".into(),
            b'P' => flags::bits(low, flags::PROT),
            b'M' => flags::bits(low, flags::MAP),
            b'S' => name(value as i32).into_owned(),
            b'w' => flags::bits(low, flags::WAIT),
            b'a' if low == 0 => "F_OK".into(),
            b'a' => flags::bits(low, flags::ACCESS),
            b'N' => flags::bits(low, flags::AT),
            b'W' => flags::value(low, flags::WHENCE).into_owned(),
            b'h' => flags::value(low, flags::HOW).into_owned(),
            b'E' => flags::value(low, flags::EPOLL_CTL).into_owned(),
            b'C' => flags::value(low, flags::CLOCKS).into_owned(),
            b'c' => flags::value(low, flags::FCNTL).into_owned(),
            b'F' => futex(low),
            b'k' => clone(value),
            b'b' => self.buffer(value, next),
            b'B' if !failed => self.buffer(value, self.result.flatten().unwrap_or_default()),
            b'U' if !failed => self.path(value),
            b'v' => self.words(value),
            b'e' => self.environment(value),
            b'i' => self.signals(value),
            b'I' if !failed => self.signals(value),
            b'G' => self.action(value),
            b'g' if !failed => self.action(value),
            b't' => self.time(value),
            b'T' if !failed => self.time(value),
            b'2' if !failed => self.pair(value),
            _ => address(value),
        }
    }

    fn path(&mut self, addr: u64) -> String {
        match strncpy_from_user(self.mem, addr, PATH) {
            Ok(Some(text)) => quoted(&text),
            _ => address(addr),
        }
    }

    fn buffer(&mut self, addr: u64, len: u64) -> String {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(SHOWN)];
        if addr == 0 || self.mem.read(addr, &mut bytes).is_err() {
            return address(addr);
        }
        let more = if len > SHOWN as u64 { "..." } else { "" };
        format!("{}{more}", quoted(&bytes))
    }

    fn word(&mut self, addr: u64) -> Option<u64> {
        peek(self.mem, addr).map(u64::from_le_bytes)
    }

    /// `argv`: the strings.
    fn words(&mut self, addr: u64) -> String {
        let mut parts = Vec::new();
        for at in 0..=SHOWN as u64 {
            let Some(word) = self.word(addr.wrapping_add(8 * at)) else { return address(addr) };
            if word == 0 {
                break;
            }
            if at == SHOWN as u64 {
                parts.push("...".into());
                break;
            }
            let text = match strncpy_from_user(self.mem, word, PATH) {
                Ok(Some(text)) if text.len() > SHOWN => format!("{}...", quoted(&text[..SHOWN])),
                Ok(Some(text)) => quoted(&text),
                _ => address(word),
            };
            parts.push(text);
        }
        format!("[{}]", parts.join(", "))
    }

    /// `envp`: the number of variables.
    fn environment(&mut self, addr: u64) -> String {
        const MOST: u64 = 1 << 16;
        for at in 0..MOST {
            match self.word(addr.wrapping_add(8 * at)) {
                Some(0) => return format!("{addr:#x} /* {at} var{} */", if at == 1 { "" } else { "s" }),
                Some(_) => {}
                None => break,
            }
        }
        address(addr)
    }

    fn signals(&mut self, addr: u64) -> String {
        if addr == 0 { "NULL".into() } else { self.word(addr).map_or_else(|| address(addr), set) }
    }

    /// `struct sigaction` of the kernel: handler, flags, restorer, mask.
    fn action(&mut self, addr: u64) -> String {
        let mut at = |word: u64| self.word(addr.wrapping_add(8 * word));
        let (0, Some(handler), Some(bits), Some(restorer), Some(mask)) =
            (u64::from(addr == 0), at(0), at(1), at(2), at(3))
        else {
            return address(addr);
        };
        let handler = match handler {
            0 => "SIG_DFL".into(),
            1 => "SIG_IGN".into(),
            _ => format!("{handler:#x}"),
        };
        let mut text = format!("{{sa_handler={handler}, sa_mask={}, sa_flags=", set(mask));
        text.push_str(&flags::bits(bits, flags::SIGACTION));
        if restorer != 0 {
            let _ = write!(text, ", sa_restorer={restorer:#x}");
        }
        text + "}"
    }

    /// `struct timespec`.
    fn time(&mut self, addr: u64) -> String {
        match (addr, self.word(addr), self.word(addr.wrapping_add(8))) {
            (1.., Some(sec), Some(nsec)) => format!("{{tv_sec={}, tv_nsec={}}}", sec as i64, nsec as i64),
            _ => address(addr),
        }
    }

    fn pair(&mut self, addr: u64) -> String {
        match self.word(addr) {
            Some(word) => format!("[{}, {}]", word as i32, (word >> 32) as i32),
            None => address(addr),
        }
    }

    /// Status of wait4(2).
    fn status(&mut self, addr: u64) -> String {
        let none = self.result.flatten() == Some(0);
        let Some(status) = peek(self.mem, addr).map(i32::from_le_bytes).filter(|_| addr != 0 && !none) else {
            return address(addr);
        };
        let (signo, code) = (status & 0x7f, status >> 8 & 0xff);
        match (signo, status) {
            (_, 0xffff) => "[{WIFCONTINUED(s)}]".into(),
            (0, _) => format!("[{{WIFEXITED(s) && WEXITSTATUS(s) == {code}}}]"),
            (0x7f, _) => format!("[{{WIFSTOPPED(s) && WSTOPSIG(s) == {}}}]", name(code)),
            _ => {
                let core = if status & 0x80 != 0 { " && WCOREDUMP(s)" } else { "" };
                format!("[{{WIFSIGNALED(s) && WTERMSIG(s) == {}{core}}}]", name(signo))
            }
        }
    }
}

/// Bytes of the guest's memory, if they are all there.
fn peek<const N: usize>(mem: &mut dyn GuestMemory, addr: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    mem.read(addr, &mut bytes).ok()?;
    Some(bytes)
}

fn address(value: u64) -> String {
    if value == 0 { "NULL".into() } else { format!("{value:#x}") }
}

/// A set of signals; one that is nearly full is shown by what it lacks, as by strace.
fn set(mask: u64) -> String {
    let (sign, shown) = if mask.count_ones() > 42 { ("~", !mask) } else { ("", mask) };
    let names: Vec<_> = (1..=64).filter(|signo| shown >> (signo - 1) & 1 != 0).map(short_name).collect();
    format!("{sign}[{}]", names.join(" "))
}

fn futex(op: u64) -> String {
    let private = if op & 128 != 0 { "_PRIVATE" } else { "" };
    let clock = if op & 256 != 0 { "|FUTEX_CLOCK_REALTIME" } else { "" };
    format!("{}{private}{clock}", flags::value(op & !(128 | 256), flags::FUTEX))
}

fn clone(value: u64) -> String {
    let (bits, signo) = (value & !0xff, (value & 0xff) as i32);
    match (bits, signo) {
        (0, _) => name(signo).into_owned(),
        (_, 0) => flags::bits(bits, flags::CLONE),
        _ => format!("{}|{}", flags::bits(bits, flags::CLONE), name(signo)),
    }
}

/// A string in quotes; bytes that are not printable ASCII are escaped as in C, in octal.
fn quoted(bytes: &[u8]) -> String {
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
    fn strings_sets_and_flags() {
        assert_eq!(quoted(b"\x7fELF\x02\x01\x01\x000a\"\n"), r#""\177ELF\2\1\1\0000a\"\n""#);
        assert_eq!(set(0b10 | 1 << 16), "[INT CHLD]");
        assert_eq!(set(!(1 << 8)), "~[KILL]");
        assert_eq!(clone(0x120_0011), "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD");
        assert_eq!(futex(129), "FUTEX_WAKE_PRIVATE");
        assert_eq!(flags::bits(0o4010000, flags::OPEN), "O_SYNC");
        assert_eq!(name(34), "SIGRT_2");
    }
}
