//! The PRINTF requests: text of the program for the log.

use crate::guest::GuestMemory;
use crate::requests::format::{Arguments, MAX_TEXT, format};
use crate::requests::host::{Answer, CodePlace, Host, Voice};
use crate::requests::state::Requests;

/// Frames of a backtrace (`--num-callers`).
const CALLS: usize = 12;

/// Stands for a text that cannot be read.
pub(super) const UNREADABLE: &[u8] = b"(unreadable)";

/// VALGRIND_PRINTF; answers how many bytes were printed, without prefixes.
pub(super) fn printf(_: &mut Requests, host: &mut dyn Host, [text, list, ..]: [u64; 5]) -> Answer {
    print(host, text, list)
}

/// VALGRIND_PRINTF_BACKTRACE.
pub(super) fn printf_backtrace(_: &mut Requests, host: &mut dyn Host, [text, list, ..]: [u64; 5]) -> Answer {
    let answer = print(host, text, list);
    if answer == Answer::Later {
        return answer;
    }
    let mut lines = String::new();
    for (i, pc) in host.calls(CALLS).into_iter().enumerate() {
        // For a caller, an address inside its call instruction.
        let (by, at) = if i == 0 { ("at", pc) } else { ("by", pc.wrapping_sub(1)) };
        let place = host.locate(at);
        lines.push_str(&format!("   {by} {}\n", shown(&place)));
        if matches!(place.function.as_deref(), Some("main" | "(below main)")) {
            break;
        }
    }
    host.say(Voice::User, lines.as_bytes());
    answer
}

fn print(host: &mut dyn Host, text: u64, list: u64) -> Answer {
    let template = string(host.mem(), text, MAX_TEXT).unwrap_or_else(|| UNREADABLE.to_vec());
    let mut printed = format(&template, &mut List::new(host.mem(), list));
    printed.truncate(MAX_TEXT);
    if host.say(Voice::Client, &printed) { Answer::Value(printed.len() as u64) } else { Answer::Later }
}

/// A frame as Valgrind prints it.
fn shown(place: &CodePlace) -> String {
    let pc = format!("0x{:X}", place.pc);
    let function = place.function.as_deref().unwrap_or("???");
    match (&place.line, &place.object) {
        (Some((file, line)), _) => format!("{pc}: {function} ({file}:{line})"),
        (None, Some(object)) => format!("{pc}: {function} (in {object})"),
        (None, None) => format!("{pc}: {function}"),
    }
}

/// A text of the program up to its NUL, or its first `max` bytes; `None` if it cannot be read up to
/// there.
pub(super) fn string(mem: &mut dyn GuestMemory, addr: u64, max: usize) -> Option<Vec<u8>> {
    /// No piece crosses a page.
    const PIECE: u64 = 256;
    let mut text = Vec::new();
    let mut at = addr;
    while text.len() < max {
        let mut piece = vec![0; ((PIECE - at % PIECE) as usize).min(max - text.len())];
        mem.read(at, &mut piece).ok()?;
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(piece.get(..end)?);
            return Some(text);
        }
        at = at.checked_add(piece.len() as u64)?;
        text.append(&mut piece);
    }
    Some(text)
}

/// A `va_list` of the program (System V ABI, 3.5.7), which is read and not advanced.
struct List<'m> {
    mem: &'m mut dyn GuestMemory,
    /// Offsets in the register save area of the next general and the next vector register.
    general: u64,
    vector: u64,
    /// Address of the next argument on the stack.
    overflow: u64,
    /// The register save area.
    saved: u64,
}

/// Ends of the registers of each kind in the save area.
const GENERAL_END: u64 = 48;
const VECTOR_END: u64 = 176;

impl List<'_> {
    fn new(mem: &mut dyn GuestMemory, at: u64) -> List<'_> {
        let mut bytes = [0; 24];
        if mem.read(at, &mut bytes).is_err() {
            bytes = [0; 24];
        }
        let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut next = || words.next().unwrap_or_default();
        let offsets = next();
        List { mem, general: offsets & 0xffff_ffff, vector: offsets >> 32, overflow: next(), saved: next() }
    }

    /// The word at `addr`; zero if it cannot be read.
    fn word(&mut self, addr: u64) -> u64 {
        let mut bytes = [0; 8];
        if self.mem.read(addr, &mut bytes).is_err() { 0 } else { u64::from_le_bytes(bytes) }
    }

    fn next_on_stack(&mut self) -> u64 {
        let addr = self.overflow;
        self.overflow = addr.wrapping_add(8);
        self.word(addr)
    }
}

impl Arguments for List<'_> {
    fn integer(&mut self) -> u64 {
        if self.general >= GENERAL_END {
            return self.next_on_stack();
        }
        let addr = self.saved.wrapping_add(self.general);
        self.general += 8;
        self.word(addr)
    }

    fn double(&mut self) -> f64 {
        if self.vector >= VECTOR_END {
            return f64::from_bits(self.next_on_stack());
        }
        let addr = self.saved.wrapping_add(self.vector);
        self.vector += 16;
        f64::from_bits(self.word(addr))
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        let addr = self.integer();
        if addr == 0 {
            return None;
        }
        Some(string(self.mem, addr, MAX_TEXT).unwrap_or_else(|| UNREADABLE.to_vec()))
    }
}
