//! Machine code and trees of inlined calls as text.

use std::io::{self, Write};

use super::columns::{Counts, Shown, Table};
use crate::annotate::sources::Sources;
use crate::annotate::view::code::{Function, InstructionRow, ListingLine};
use crate::annotate::view::inlined::InlineTree;
use crate::annotate::view::ranking::Threshold;
use crate::console::Console;

/// Bytes of an instruction on one line, as objdump has them.
const BYTES: usize = 7;

/// Writes the listing of a function, with the text of its source lines.
///
/// # Errors
/// If writing fails.
pub(crate) fn listing(
    function: &Function<'_>,
    lines: &[ListingLine<'_>],
    shown: &Shown,
    sources: &mut Sources,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    let total = Counts::of(&function.costs);
    let own = function.instructions.values().map(|insn| Counts::of(&insn.costs));
    let table = shown.table(own.chain([total]));
    table.title(out, total, &[b"   ", function.name].concat())?;
    for line in lines {
        match line {
            ListingLine::Gap => writeln!(out)?,
            ListingLine::Inlined(calls) => {
                table.dots(out)?;
                let calls: Vec<String> = calls.iter().rev().map(ToString::to_string).collect();
                let text = if calls.is_empty() { "(itself)".to_owned() } else { calls.join("; ") };
                writeln!(out, "   {text}")?;
            }
            ListingLine::Place(file, line) => {
                table.dots(out)?;
                write!(out, "   ")?;
                out.write_all(file)?;
                write!(out, ":{line}")?;
                if let Some(text) = sources.line(file, *line) {
                    write!(out, "  ")?;
                    out.write_all(text)?;
                }
                writeln!(out)?;
            }
            ListingLine::Instruction(row) => instruction(row, &table, out)?,
        }
    }
    writeln!(out)
}

fn instruction(row: &InstructionRow<'_>, table: &Table<'_>, out: &mut Console<impl Write>) -> io::Result<()> {
    match row.counts {
        Some(counts) => table.line(out, Counts::of(counts))?,
        None => table.dots(out)?,
    }
    let address = row.address;
    let mark = if row.hot { '*' } else { ' ' };
    let Some((bytes, text)) = &row.code else {
        return writeln!(out, " {mark} {address:>8x}:\t(not in the file)");
    };
    let mut parts = bytes.chunks(BYTES);
    let first = parts.next().unwrap_or_default();
    writeln!(out, " {mark} {address:>8x}:\t{:<21}\t{text}", hex(first))?;
    for (part, bytes) in (1u64..).zip(parts) {
        table.dots(out)?;
        let at = address.wrapping_add(part.wrapping_mul(BYTES as u64));
        writeln!(out, "   {at:>8x}:\t{}", hex(bytes))?;
    }
    Ok(())
}

/// Each byte as two digits and a blank.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x} "))
}

/// Writes a function with the calls that were inlined into it.
///
/// # Errors
/// If writing fails.
pub(crate) fn inline_tree(
    name: &[u8],
    tree: &InlineTree,
    threshold: Threshold,
    shown: &Shown,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    let total = Counts::of(&tree.all);
    let table = shown.table([total]);
    table.title(out, total, &[b" ", name].concat())?;
    calls(tree, 1, threshold, &table, out)?;
    writeln!(out)
}

fn calls(
    tree: &InlineTree,
    depth: usize,
    threshold: Threshold,
    table: &Table<'_>,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    if tree.own != tree.all && threshold.reaches(&tree.own) {
        table.line(out, Counts::of(&tree.own))?;
        writeln!(out, " {indent}(itself)")?;
    }
    for (call, inner) in &tree.calls {
        table.line(out, Counts::of(&inner.all))?;
        writeln!(out, " {indent}{call}")?;
        if !inner.calls.is_empty() {
            calls(inner, depth + 1, threshold, table, out)?;
        }
    }
    Ok(())
}
