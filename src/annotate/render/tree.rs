//! Functions with their callers and what they call, as `callgrind_annotate` writes them.

use std::io::{self, Write};

use super::columns::{Counts, Shown};
use crate::annotate::view::ranking::CountedRow;
use crate::annotate::view::share::thousands;
use crate::annotate::view::tree::{Branch, Calls};
use crate::console::Console;

/// Writes functions, each below its callers and above what it calls.
///
/// # Errors
/// If writing fails.
pub(crate) fn write(branches: &[Branch<'_>], shown: &Shown, out: &mut Console<impl Write>) -> io::Result<()> {
    let calls = branches.iter().flat_map(|branch| branch.callers.iter().chain(&branch.called));
    let calls = calls.map(|row| Counts::of(&row.counts));
    let table = shown.table(branches.iter().map(|branch| Counts::of(&branch.row.counts)).chain(calls));
    write!(out, "  ")?;
    table.head(out)?;
    writeln!(out, " file:function")?;
    let ends = |mark: &str, rows: &[CountedRow<'_, Calls<'_>>], out: &mut Console<_>| {
        rows.iter().try_for_each(|row| {
            write!(out, "  ")?;
            table.line(out, Counts::of(&row.counts))?;
            write!(out, " {mark} ")?;
            out.write_all(&row.key.function.name)?;
            write!(out, " ({}x)", thousands(row.key.calls))?;
            object(row.key.function.object, out)
        })
    };
    for branch in branches {
        writeln!(out)?;
        ends("<", &branch.callers, out)?;
        write!(out, "  ")?;
        table.line(out, Counts::of(&branch.row.counts))?;
        write!(out, " *  ")?;
        out.write_all(&branch.row.key.name)?;
        let known = branch.row.key.object.filter(|object| !object.is_empty());
        object(known, out)?;
        ends(">  ", &branch.called, out)?;
    }
    writeln!(out)
}

/// Ends a line with the object. That of a caller or callee is written even if it has no name.
fn object(object: Option<&[u8]>, out: &mut Console<impl Write>) -> io::Result<()> {
    if let Some(object) = object {
        write!(out, " [")?;
        out.write_all(object)?;
        write!(out, "]")?;
    }
    writeln!(out)
}
