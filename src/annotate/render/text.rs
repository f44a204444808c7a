//! Parts of text in the layout of `cg_annotate`: headings, fields, warnings.

use crate::console::Console;
use std::io::{self, Write};

const RULE: &[u8] = b"--------------------------------------------------------------------------------";

/// Writes a title between two rules.
///
/// # Errors
/// If writing fails.
pub(crate) fn heading(out: &mut Console<impl Write>, title: &[u8]) -> io::Result<()> {
    for part in [RULE, b"\n-- ", title, b"\n", RULE, b"\n"] {
        out.write_all(part)?;
    }
    Ok(())
}

/// Writes a line of the metadata.
///
/// # Errors
/// If writing fails.
pub(crate) fn field(out: &mut Console<impl Write>, key: &str, value: &[u8]) -> io::Result<()> {
    write!(out, "{key:<18}")?;
    out.write_all(value)?;
    writeln!(out)
}

/// Writes lines of text below a conspicuous title.
///
/// # Errors
/// If writing fails.
pub(crate) fn warning(out: &mut Console<impl Write>, text: &[u8]) -> io::Result<()> {
    let rule = "@".repeat(79);
    let words = "@@ WARNING ".repeat(7);
    write!(out, "{rule}\n{words}@@\n{rule}\n")?;
    out.write_all(text)?;
    writeln!(out, "{rule}")
}

/// A number as Python writes a float: with a digit after the point, small ones with an exponent.
pub(crate) fn python_float(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-4 {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
        return format!("{digits}e-{exponent:0>2}");
    }
    format!("{number:?}")
}
