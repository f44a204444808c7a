//! Annotated machine code: the instructions of a function with their counts, source lines and
//! inlined calls.

use std::borrow::Cow;
use std::collections::BTreeMap;

use iced_x86::{Decoder, DecoderOptions, Instruction};
use serde::Serialize;

use super::disassembly::Writer;
use super::ranking::Order;
use super::share::Hot;
use crate::profile::{CodeObject, InsnCosts, Instructions, add_costs};
use crate::symbols::object_code::ObjectCode;
use crate::symbols::valgrind::debug_info::DebugInfo;

/// The counted instructions of one function of one object.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    /// The object.
    pub(crate) object: &'a CodeObject,
    /// The name, as in the profile.
    pub(crate) name: &'a [u8],
    /// The instructions by address.
    pub(crate) instructions: BTreeMap<u64, &'a InsnCosts>,
    /// The sum of their counts.
    pub(crate) costs: Vec<i64>,
}

/// All functions in order; those with equal counts by object and name.
pub(crate) fn functions<'a>(instructions: &'a Instructions, order: &Order<'_>) -> Vec<Function<'a>> {
    let mut functions: BTreeMap<(usize, &[u8]), Function<'a>> = BTreeMap::new();
    for (at, object) in instructions.objects.iter().enumerate() {
        for (&address, insn) in &object.instructions {
            let function = functions.entry((at, &insn.function)).or_insert_with(|| Function {
                object,
                name: &insn.function,
                instructions: BTreeMap::new(),
                costs: vec![0; instructions.events.len()],
            });
            add_costs(&mut function.costs, &insn.costs);
            function.instructions.insert(address, insn);
        }
    }
    let mut functions: Vec<Function<'a>> = functions.into_values().collect();
    functions.sort_by(|a, b| order.compare(&a.costs, &b.costs));
    functions
}

/// A call that the compiler replaced by the code of the callee: the callee and the place of the
/// call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct InlinedCall {
    /// The name of the callee.
    pub(crate) function: String,
    /// The file of the call.
    pub(crate) file: String,
    /// The line of the call.
    pub(crate) line: u32,
}

/// `f, called at a.c:7`.
impl std::fmt::Display for InlinedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, called at {}:{}", self.function, self.file, self.line)
    }
}

/// The sources of what a listing shows beside the counts.
pub(crate) struct Known<'a> {
    /// The object's code, if its file is the one that ran.
    pub(crate) code: Option<&'a ObjectCode<'a>>,
    /// The object's lines, for instructions that did not run.
    pub(crate) lines: Option<&'a DebugInfo>,
    /// The inlined calls around an address, outermost first; `None` if they are not to be shown.
    pub(crate) calls: Option<&'a dyn Fn(u64) -> Vec<InlinedCall>>,
}

/// Instructions with their bytes, by address.
pub(crate) type Code = BTreeMap<u64, (Vec<u8>, Instruction)>;

/// Decodes a function: the ranges of its symbols, and instructions that ran outside of these.
pub(crate) fn decode(function: &Function<'_>, code: Option<&ObjectCode<'_>>) -> Code {
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

/// An instruction with its counts.
#[derive(Clone, Debug)]
pub(crate) struct InstructionRow<'a> {
    /// The address: at link time in files, at run time in the shell.
    pub(crate) address: u64,
    /// The bytes and the text; `None` if the file does not have them.
    pub(crate) code: Option<(Cow<'a, [u8]>, String)>,
    /// The counts; `None` if it did not run.
    pub(crate) counts: Option<&'a [i64]>,
    /// Marks hot instructions.
    pub(crate) hot: bool,
    /// File and line, which is 0 if it is not known.
    pub(crate) place: Option<(Vec<u8>, u64)>,
    /// The inlined calls around it, outermost first.
    pub(crate) calls: Vec<InlinedCall>,
}

/// The instructions of a function in order of address. Those are hot that have a large part of
/// event `sort`.
pub(crate) fn rows<'a>(
    function: &'a Function<'_>,
    decoded: &'a Code,
    known: &Known<'_>,
    sort: usize,
    writer: &mut Writer<'_>,
) -> Vec<InstructionRow<'a>> {
    let counts = function.instructions.values().filter_map(|insn| insn.costs.get(sort));
    let hot = Hot::in_function(counts.copied().max().unwrap_or(0));
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
            (Cow::Borrowed(bytes.as_slice()), writer.line(instruction, bytes, label))
        });
        InstructionRow {
            address,
            code,
            counts: insn.map(|insn| insn.costs.as_slice()),
            hot: hot.is_hot(count),
            place,
            calls: known.calls.map(|calls| calls(address)).unwrap_or_default(),
        }
    };
    addresses.into_iter().map(row).collect()
}

/// A line of a listing.
#[derive(Clone, Debug)]
pub(crate) enum ListingLine<'a> {
    /// Code that is not shown lies between the instruction before and the next.
    Gap,
    /// The instructions that follow are in these inlined calls, outermost first.
    Inlined(Vec<InlinedCall>),
    /// The instructions that follow are of this line of a file.
    Place(Vec<u8>, u64),
    /// An instruction.
    Instruction(InstructionRow<'a>),
}

/// The meaning of instructions without a place, for [`listing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unplaced {
    /// They are of the line of those before them.
    Continue,
    /// They are of no line: the line is named again after them.
    Interrupt,
}

/// Puts gaps, inlined calls and source lines between instructions, each where it changes.
pub(crate) fn listing(rows: Vec<InstructionRow<'_>>, unplaced: Unplaced) -> Vec<ListingLine<'_>> {
    let mut lines = Vec::new();
    let mut end = None;
    let mut inside: Vec<InlinedCall> = Vec::new();
    let mut place = None;
    for row in rows {
        if end.is_some_and(|end| end != row.address) {
            lines.push(ListingLine::Gap);
        }
        end = row.code.as_ref().map(|(bytes, _)| row.address.wrapping_add(bytes.len() as u64));
        if row.calls != inside {
            lines.push(ListingLine::Inlined(row.calls.clone()));
            inside.clone_from(&row.calls);
        }
        let here = row.place.as_ref().filter(|(_, line)| *line > 0);
        match here {
            Some((file, line)) if place.as_ref() != here => {
                lines.push(ListingLine::Place(file.clone(), *line));
                place = here.cloned();
            }
            None if unplaced == Unplaced::Interrupt => place = None,
            _ => {}
        }
        lines.push(ListingLine::Instruction(row));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(address: u64, line: u64, call: &str) -> InstructionRow<'static> {
        let call = InlinedCall { function: call.to_owned(), file: "a.c".to_owned(), line: 7 };
        InstructionRow {
            address,
            code: Some((Cow::Owned(vec![0x90]), "nop".to_owned())),
            counts: None,
            hot: false,
            place: (line > 0).then(|| (b"a.c".to_vec(), line)),
            calls: if call.function.is_empty() { Vec::new() } else { vec![call] },
        }
    }

    fn shown(rows: Vec<InstructionRow<'_>>, unplaced: Unplaced) -> String {
        let text = |line: ListingLine<'_>| match line {
            ListingLine::Gap => "gap".to_owned(),
            ListingLine::Inlined(calls) => format!("[{}]", calls.first().map_or("", |call| &call.function)),
            ListingLine::Place(_, line) => format!(":{line}"),
            ListingLine::Instruction(row) => row.address.to_string(),
        };
        listing(rows, unplaced).into_iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn changes_stand_between_instructions() {
        let rows = || vec![row(1, 3, ""), row(2, 3, "f"), row(3, 0, "f"), row(4, 3, ""), row(9, 5, "")];
        assert_eq!(shown(rows(), Unplaced::Continue), ":3 1 [f] 2 3 [] 4 gap :5 9");
        assert_eq!(shown(rows(), Unplaced::Interrupt), ":3 1 [f] 2 3 [] :3 4 gap :5 9");
    }
}
