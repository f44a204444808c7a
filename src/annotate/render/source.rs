//! Annotated source as text in the layout of `cg_annotate`.

use std::io::{self, Write};

use super::columns::{Counts, Shown};
use super::functions::named;
use super::text::{heading, warning};
use crate::annotate::view::source::AnnotatedSource;
use crate::console::Console;

/// Writes the lines of the file `name`. `counted` are the counts of all its lines.
///
/// # Errors
/// If writing fails.
pub(crate) fn source<'a>(
    source: &AnnotatedSource<'_, Vec<u8>>,
    counted: impl IntoIterator<Item = &'a [i64]>,
    name: &[u8],
    shown: &Shown,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    let table = shown.table(counted.into_iter().map(Counts::of));
    table.head(out)?;
    write!(out, "\n\n")?;
    if let Some(unplaced) = source.unplaced {
        named(&table, unplaced, b"<unknown (line 0)>", out)?;
        writeln!(out)?;
    }
    for piece in &source.pieces {
        if *piece.range.start() > 1 && !piece.lines.is_empty() {
            separator(out, *piece.range.start())?;
        }
        for line in &piece.lines {
            match line.counts {
                Some(counts) => named(&table, counts, &line.text, out)?,
                None => {
                    table.dots(out)?;
                    write!(out, " ")?;
                    out.write_all(&line.text)?;
                    writeln!(out)?;
                }
            }
        }
        if piece.is_whole() {
            separator(out, *piece.range.end())?;
        }
    }
    if source.beyond.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for (line, counts) in &source.beyond {
        named(&table, counts, format!("<bogus line {line}>").as_bytes(), out)?;
    }
    writeln!(out)?;
    let text = [b"@@ Information recorded about lines past the end of '", name, b"'.\n"].concat();
    warning(out, &text)
}

fn separator(out: &mut Console<impl Write>, line: u64) -> io::Result<()> {
    writeln!(out, "-- line {line} ----------------------------------------")
}

/// Writes the reason why a file is not annotated, with its names in the profiles.
///
/// # Errors
/// If writing fails.
pub(crate) fn not_annotated<'a>(
    out: &mut Console<impl Write>,
    reason: &str,
    names: impl IntoIterator<Item = &'a Vec<u8>>,
) -> io::Result<()> {
    writeln!(out, "Unannotated because {reason}:")?;
    for name in names {
        out.write_all(&[b"- ", name.as_slice(), b"\n"].concat())?;
    }
    Ok(())
}

/// Writes the sums of annotated and of unannotated counts, with their labels.
///
/// # Errors
/// If writing fails.
pub(crate) fn shares(
    rows: &[(&[i64], &str)],
    shown: &Shown,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    heading(out, b"Annotation summary")?;
    let table = shown.table(rows.iter().map(|(counts, _)| Counts::of(counts)));
    table.head(out)?;
    write!(out, "\n\n")?;
    for (counts, label) in rows {
        named(&table, counts, label.as_bytes(), out)?;
    }
    writeln!(out)
}
