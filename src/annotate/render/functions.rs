//! Rankings of functions as text in the layout of `cg_annotate`.

use std::io::{self, Write};

use super::columns::{Counts, Shown, Table};
use crate::annotate::view::groups::{Group, Grouping};
use crate::annotate::view::inlined::SourceRow;
use crate::annotate::view::ranking::CountedRow;
use crate::annotate::view::share::share;
use crate::console::Console;

/// Writes the total below the names of the columns.
///
/// # Errors
/// If writing fails.
pub(crate) fn summary(shown: &Shown, total: &[i64], out: &mut Console<impl Write>) -> io::Result<()> {
    let total = Counts::of(total);
    let table = shown.table([total]);
    table.title(out, total, b" PROGRAM TOTALS")?;
    writeln!(out)
}

/// Writes groups with the sums down to each.
///
/// # Errors
/// If writing fails.
pub(crate) fn groups(
    groups: &[Group<'_>],
    grouping: Grouping,
    shown: &Shown,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    let inner = groups.iter().flat_map(|group| &group.rows).map(|row| Counts::of(&row.counts));
    let table = shown.table(groups.iter().map(with_sums).chain(inner));
    let (mark, title) = match grouping {
        Grouping::FileFunction => ('<', "file:function"),
        Grouping::FunctionFile => ('>', "function:file"),
    };
    write!(out, "  ")?;
    table.head(out)?;
    write!(out, " {title}\n\n")?;
    for group in groups {
        write!(out, "{mark} ")?;
        table.line(out, with_sums(group))?;
        write!(out, " ")?;
        out.write_all(group.name)?;
        write!(out, ":")?;
        match group.rows.as_slice() {
            // The counts of the only row are those of the group.
            [only] if *only.counts == *group.counts => out.write_all(only.key.0)?,
            rows => {
                for row in rows {
                    write!(out, "\n  ")?;
                    table.line(out, Counts::of(&row.counts))?;
                    write!(out, "   ")?;
                    out.write_all(row.key.0)?;
                }
            }
        }
        write!(out, "\n\n")?;
    }
    Ok(())
}

fn with_sums<'g>(group: &'g Group<'_>) -> Counts<'g> {
    Counts { own: &group.counts, running: Some(&group.running) }
}

/// Writes rows without sums, such as functions with the costs of those they call; `name` is the
/// name of a row, `title` that of their column.
///
/// # Errors
/// If writing fails.
pub(crate) fn inclusive<'r, K: 'r>(
    rows: &'r [CountedRow<'_, K>],
    name: impl Fn(&'r K) -> &'r [u8],
    title: &str,
    shown: &Shown,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    let table = shown.table(rows.iter().map(|row| Counts::of(&row.counts)));
    write!(out, "  ")?;
    table.head(out)?;
    write!(out, " {title}\n\n")?;
    for row in rows {
        write!(out, "  ")?;
        named(&table, &row.counts, name(&row.key), out)?;
    }
    writeln!(out)
}

/// Writes functions of the source. `sort` is the event of which the inlined share is shown.
///
/// # Errors
/// If writing fails.
pub(crate) fn sources(
    rows: &[SourceRow<'_>],
    sort: usize,
    shown: &Shown,
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    let table = shown.table(rows.iter().map(|row| Counts::of(row.costs)));
    table.head(out)?;
    write!(out, " file:function\n\n")?;
    for row in rows {
        table.line(out, Counts::of(row.costs))?;
        write!(out, " ")?;
        out.write_all(&[row.file, b":", row.function].concat())?;
        let count = |counts: &[i64]| counts.get(sort).copied().unwrap_or(0);
        let share = share(count(row.inlined), count(row.costs)).unwrap_or(0.0);
        if share >= 0.05 {
            write!(out, "  [{share:.1}% inlined]")?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

/// Writes a line of counts and a name.
///
/// # Errors
/// If writing fails.
pub(crate) fn named(
    table: &Table<'_>,
    counts: &[i64],
    name: &[u8],
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    table.line(out, Counts::of(counts))?;
    write!(out, " ")?;
    out.write_all(name)?;
    writeln!(out)
}
