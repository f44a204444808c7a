//! One function's machine code with counts: source lines, addresses, bytes, instructions.

use std::collections::BTreeMap;
use std::io::{self, Write};

use iced_x86::{Decoder, DecoderOptions, Instruction};

use super::super::columns::{Counts, Shown};
use super::super::inline::Call;
use super::super::sourcepath::Sources;
use super::gather::Function;
use super::text::Writer;
use crate::loader::debug::DebugInfo;
use crate::loader::debug::code::ObjectCode;

/// Bytes of an instruction on one line, as objdump has them.
const BYTES: usize = 7;

/// An instruction is marked that has at least this share, in percent, of what the function's costliest one has.
const HOT: i128 = 50;

/// What is known of the code beside the counts.
pub struct Known<'a> {
    /// The object, if it is there and the one that ran.
    pub code: Option<&'a ObjectCode<'a>>,
    /// The same object's lines, for instructions that did not run.
    pub lines: Option<&'a DebugInfo>,
    /// The inlined calls that an address is in, outermost first; `None` if they are not to be shown.
    pub calls: Option<&'a dyn Fn(u64) -> Vec<Call>>,
}

/// Instructions in order, each with its bytes.
pub type Code = BTreeMap<u64, (Vec<u8>, Instruction)>;

/// Decodes the function: all of its symbols' ranges, and what ran outside of these.
pub fn decode(function: &Function<'_>, code: Option<&ObjectCode<'_>>) -> Code {
    let mut decoded = Code::new();
    for &address in function.instructions.keys() {
        if decoded.contains_key(&address) {
            continue;
        }
        let range = code.and_then(|code| code.function(address)).map(|symbol| (symbol.start, symbol.end));
        let (start, bytes, only_one) = match (code, range) {
            (Some(code), Some((start, end))) => (start, code.bytes(start, end.saturating_sub(start)), false),
            (Some(code), None) => (address, code.bytes(address, 15), true),
            (None, _) => match function.object.code.get(&address) {
                Some(bytes) => (address, bytes.clone(), true),
                None => continue,
            },
        };
        let mut decoder = Decoder::with_ip(64, &bytes, start, DecoderOptions::NONE);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let at = instruction.ip();
            let from = usize::try_from(at.wrapping_sub(start)).unwrap_or(usize::MAX);
            let bytes = bytes.get(from..from.saturating_add(instruction.len())).unwrap_or_default();
            decoded.insert(at, (bytes.to_vec(), instruction));
            if only_one {
                break;
            }
        }
    }
    decoded
}

/// Prints the function. `sort` is the event by which instructions are hot.
///
/// # Errors
/// If writing fails.
pub fn print(
    function: &Function<'_>,
    decoded: &Code,
    known: &Known<'_>,
    (shown, sort): (&Shown, usize),
    sources: &mut Sources,
    writer: &mut Writer<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let total = Counts { own: &function.costs, running: None };
    let own = function.instructions.values().map(|insn| Counts { own: &insn.costs, running: None });
    let table = shown.table(own.chain([total]));
    table.title(out, total, &[b"   ", function.name].concat())?;
    let counts = function.instructions.values().filter_map(|insn| insn.costs.get(sort));
    let most = counts.copied().max().unwrap_or(0);
    let mut place: Option<(Vec<u8>, u64)> = None;
    let mut last_end = None;
    let mut inside: Vec<Call> = Vec::new();
    let mut addresses: Vec<u64> = decoded.keys().chain(function.instructions.keys()).copied().collect();
    addresses.sort_unstable();
    addresses.dedup();
    for address in addresses {
        let insn = function.instructions.get(&address);
        if last_end.is_some_and(|end| end != address) {
            writeln!(out)?;
        }
        let now = match (insn, known.lines.and_then(|lines| lines.source_line(address))) {
            (Some(insn), _) => Some((insn.file.to_vec(), insn.line)),
            (None, Some((file, line))) => Some((file.as_bytes().to_vec(), u64::from(line))),
            (None, None) => None,
        };
        let calls = known.calls.map(|calls| calls(address)).unwrap_or_default();
        if calls != inside {
            table.dots(out)?;
            let text: Vec<String> = calls
                .iter()
                .rev()
                .map(|(name, file, line)| format!("{name}, called at {file}:{line}"))
                .collect();
            let text = if text.is_empty() { "(itself)".to_owned() } else { text.join("; ") };
            writeln!(out, "   {text}")?;
            inside = calls;
        }
        if let Some((file, line)) = now.filter(|now| now.1 > 0 && place.as_ref() != Some(now)) {
            table.dots(out)?;
            write!(out, "   ")?;
            out.write_all(&file)?;
            write!(out, ":{line}")?;
            if let Some(text) = sources.line(&file, line) {
                write!(out, "  ")?;
                out.write_all(text)?;
            }
            writeln!(out)?;
            place = Some((file, line));
        }
        match insn {
            Some(insn) => table.line(out, Counts { own: &insn.costs, running: None })?,
            None => table.dots(out)?,
        }
        let count = insn.and_then(|insn| insn.costs.get(sort)).copied().unwrap_or(0);
        let hot = count > 0 && i128::from(count) * 100 >= i128::from(most) * HOT;
        let mark = if hot { '*' } else { ' ' };
        let Some((bytes, instruction)) = decoded.get(&address) else {
            writeln!(out, " {mark} {address:>8x}:\t(not in the file)")?;
            last_end = None;
            continue;
        };
        last_end = Some(address.wrapping_add(bytes.len() as u64));
        let text = writer.line(instruction, bytes, |at| known.code.and_then(|code| code.label(at)));
        let mut rows = bytes.chunks(BYTES);
        let first = rows.next().unwrap_or_default();
        writeln!(out, " {mark} {address:>8x}:\t{:<21}\t{text}", hex(first))?;
        for (row, bytes) in (1u64..).zip(rows) {
            table.dots(out)?;
            let at = address.wrapping_add(row.wrapping_mul(BYTES as u64));
            writeln!(out, "   {at:>8x}:\t{}", hex(bytes))?;
        }
    }
    writeln!(out)
}

/// Each byte as two digits and a blank.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x} "))
}
