//! One function's machine code with counts: source lines, addresses, bytes, instructions.

use std::collections::BTreeMap;
use std::io::{self, Write};

use iced_x86::{Decoder, DecoderOptions, Instruction};

use super::super::columns::{Counts, Shown};
use super::super::inline::Call;
use super::super::sourcepath::Sources;
use super::gather::Function;
use super::text::Writer;
use crate::symbols::object_code::ObjectCode;
use crate::symbols::valgrind::debug_info::DebugInfo;

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

/// An instruction as it is shown.
pub struct Row<'a> {
    /// Link-time address.
    pub address: u64,
    /// Its bytes and its text; `None` if the file does not have it.
    pub code: Option<(&'a [u8], String)>,
    /// Its counts; `None` if it did not run.
    pub costs: Option<&'a [i64]>,
    /// Whether it is one of the function's costliest.
    pub hot: bool,
    /// File and line, which is 0 if it is not known.
    pub place: Option<(Vec<u8>, u64)>,
    /// The inlined calls that it is in, outermost first.
    pub calls: Vec<Call>,
}

/// The instructions of the function, in order of address. `sort` is the event by which they are hot.
pub fn rows<'a>(
    function: &'a Function<'_>,
    decoded: &'a Code,
    known: &Known<'_>,
    sort: usize,
    writer: &mut Writer<'_>,
) -> Vec<Row<'a>> {
    let counts = function.instructions.values().filter_map(|insn| insn.costs.get(sort));
    let most = counts.copied().max().unwrap_or(0);
    let mut addresses: Vec<u64> = decoded.keys().chain(function.instructions.keys()).copied().collect();
    addresses.sort_unstable();
    addresses.dedup();
    let row = |address: u64| {
        let insn = function.instructions.get(&address);
        let place = match (insn, known.lines.and_then(|lines| lines.source_line(address))) {
            (Some(insn), _) => Some((insn.file.to_vec(), insn.line)),
            (None, Some((file, line))) => Some((file.as_bytes().to_vec(), u64::from(line))),
            (None, None) => None,
        };
        let count = insn.and_then(|insn| insn.costs.get(sort)).copied().unwrap_or(0);
        let code = decoded.get(&address).map(|(bytes, instruction)| {
            let label = |at| known.code.and_then(|code| code.label(at));
            (bytes.as_slice(), writer.line(instruction, bytes, label))
        });
        Row {
            address,
            code,
            costs: insn.map(|insn| insn.costs.as_slice()),
            hot: count > 0 && i128::from(count) * 100 >= i128::from(most) * HOT,
            place,
            calls: known.calls.map(|calls| calls(address)).unwrap_or_default(),
        }
    };
    addresses.into_iter().map(row).collect()
}

/// Prints the function.
///
/// # Errors
/// If writing fails.
pub fn print(
    function: &Function<'_>,
    rows: Vec<Row<'_>>,
    shown: &Shown,
    sources: &mut Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    let total = Counts { own: &function.costs, running: None };
    let own = function.instructions.values().map(|insn| Counts { own: &insn.costs, running: None });
    let table = shown.table(own.chain([total]));
    table.title(out, total, &[b"   ", function.name].concat())?;
    let mut place: Option<(Vec<u8>, u64)> = None;
    let mut last_end = None;
    let mut inside: Vec<Call> = Vec::new();
    for row in rows {
        let address = row.address;
        if last_end.is_some_and(|end| end != address) {
            writeln!(out)?;
        }
        if row.calls != inside {
            table.dots(out)?;
            let text: Vec<String> = row
                .calls
                .iter()
                .rev()
                .map(|(name, file, line)| format!("{name}, called at {file}:{line}"))
                .collect();
            let text = if text.is_empty() { "(itself)".to_owned() } else { text.join("; ") };
            writeln!(out, "   {text}")?;
            inside = row.calls;
        }
        if let Some((file, line)) = row.place.filter(|now| now.1 > 0 && place.as_ref() != Some(now)) {
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
        match row.costs {
            Some(costs) => table.line(out, Counts { own: costs, running: None })?,
            None => table.dots(out)?,
        }
        let mark = if row.hot { '*' } else { ' ' };
        let Some((bytes, text)) = row.code else {
            writeln!(out, " {mark} {address:>8x}:\t(not in the file)")?;
            last_end = None;
            continue;
        };
        last_end = Some(address.wrapping_add(bytes.len() as u64));
        let mut parts = bytes.chunks(BYTES);
        let first = parts.next().unwrap_or_default();
        writeln!(out, " {mark} {address:>8x}:\t{:<21}\t{text}", hex(first))?;
        for (part, bytes) in (1u64..).zip(parts) {
            table.dots(out)?;
            let at = address.wrapping_add(part.wrapping_mul(BYTES as u64));
            writeln!(out, "   {at:>8x}:\t{}", hex(bytes))?;
        }
    }
    writeln!(out)
}

/// Each byte as two digits and a blank.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x} "))
}
