//! Tables for terminals: those of `cgemu top`, of the shell and of `run --top`.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, TableStyle, presets};

use crate::annotate::options::Look;
use crate::annotate::tally::Tally;
use crate::annotate::view::difference::{Before, Sides};
use crate::annotate::view::metric::Metric;
use crate::annotate::view::ranking::{By, Counted, Ranking, SourceKey};
use crate::annotate::view::share::{Weight, percent, share, thousands};
use crate::console::{Console, one_line};
use crate::profile::{Event, unlike};

/// The table of `cgemu top`: what it is of, and its columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopTable<'a> {
    /// The sums.
    pub(crate) tally: &'a Tally,
    /// The subject.
    pub(crate) by: By,
    /// Functions have the costs of those they call.
    pub(crate) inclusive: bool,
    /// Indices of the events that have columns.
    pub(crate) show: &'a [usize],
    /// Columns of metrics.
    pub(crate) metrics: &'a [Metric],
}

impl TopTable<'_> {
    /// Writes the table, the number of its rows, and the formulas of the metrics.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(
        &self,
        ranking: &Ranking<'_, SourceKey<'_>>,
        look: Look,
        out: &mut Console<impl Write>,
    ) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        if look.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        if let Some(width) = look.width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        table.set_header(self.header());
        let before = Before::of(self.tally, self.inclusive);
        let each = if before.is_some() { 4 } else { 2 };
        let numbers = each * self.show.len() + self.metrics.len();
        for at in 0..numbers {
            if let Some(column) = table.column_mut(at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let total = &self.tally.total;
        let sides = before.map(|before| before.whole(total));
        table.add_row(self.row(total, sides, vec![Cell::new("total")]));
        for row in &ranking.rows {
            let sides = before.map(|before| before.sides(self.by, row.key, &row.counts));
            table.add_row(self.row(&row.counts, sides, self.names(row.key)));
        }
        out.coloured(&table.trim_fmt())?;
        write!(out, "\n\n")?;
        let kind = match self.by {
            By::Function if self.inclusive => "functions, with those they call",
            By::Function => "functions, one with code of several files for each of them",
            By::File => "files, with what was inlined from them elsewhere",
            By::Line => "lines",
        };
        writeln!(out, "{} of {} {kind}", ranking.rows.len(), ranking.all)?;
        if before.is_some() {
            writeln!(out, "the second profile less the first; % is of the first one's total")?;
        }
        if let ([first, second], true) = (self.tally.origins.as_slice(), before.is_some()) {
            for line in unlike((&first.desc, &first.cmd), (&second.desc, &second.cmd)) {
                writeln!(out, "warning: {}", one_line(&line))?;
            }
        }
        for metric in self.metrics {
            writeln!(out, "{metric}")?;
        }
        Ok(())
    }

    fn header(&self) -> Vec<String> {
        let mut header = Vec::new();
        for at in self.show {
            let name = self.tally.events.get(*at).map(Vec::as_slice).unwrap_or_default();
            header.extend([name_of(name), "%".to_owned()]);
            if self.tally.before.is_some() {
                header.extend(["old".to_owned(), "new".to_owned()]);
            }
        }
        header.extend(self.metrics.iter().map(|metric| metric.name.to_owned()));
        header.extend(match self.by {
            By::Function => vec!["Function".to_owned(), "File".to_owned()],
            By::File => vec!["File".to_owned()],
            By::Line => vec!["Line".to_owned()],
        });
        header
    }

    fn names(&self, key: SourceKey<'_>) -> Vec<Cell> {
        let text = name_of;
        match self.by {
            By::Function => vec![Cell::new(text(key.function)), Cell::new(text(key.file))],
            By::File => vec![Cell::new(text(key.file))],
            By::Line => vec![Cell::new(format!("{}:{}", text(key.file), key.line.unwrap_or(0)))],
        }
    }

    fn row(&self, counts: &[i64], sides: Option<Sides>, names: Vec<Cell>) -> Vec<Cell> {
        let mut cells = Vec::new();
        for at in self.show {
            let of = |from: &[i64]| from.get(*at).copied().unwrap_or(0);
            let whole = self.tally.before.as_ref().map_or(&self.tally.total, |before| &before.total);
            let (count, total) = (of(counts), of(whole));
            for text in [thousands(count), percent(count, total)] {
                cells.push(painted(Cell::new(text), share(count, total).unwrap_or(0.0)));
            }
            if let Some(Sides { old, new, .. }) = &sides {
                cells.extend([old, new].map(|side| Cell::new(thousands(of(side)))));
            }
        }
        cells.extend(self.metrics.iter().map(|metric| Cell::new(metric.text(counts))));
        cells.extend(names);
        cells
    }
}

/// Colours a cell as the text of `cg_annotate` is coloured.
fn painted(cell: Cell, share: f64) -> Cell {
    match Weight::of(share) {
        Weight::Large => cell.fg(Color::DarkRed).add_attribute(Attribute::Bold),
        Weight::Medium => cell.fg(Color::DarkYellow),
        Weight::Small => cell.fg(Color::DarkGreen),
        Weight::Negligible => cell,
    }
}

/// Most characters of a name that are shown: laying out a cell takes time that grows with the
/// square of its text, and a table has no room for more than twice as many.
const MOST_SHOWN: usize = 1 << 15;

/// A name as text for one cell or line.
fn name_of(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => one_line(text.get(..end).unwrap_or_default()).into_owned() + "…",
        None => one_line(&text).into_owned(),
    }
}

/// A table with these heads and without borders; columns of numbers are aligned to the right.
pub(crate) fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(heads.to_vec());
    let numbers: Vec<bool> = (0..heads.len())
        .map(|column| {
            rows.iter().all(|row| {
                row.get(column).is_some_and(|cell| {
                    cell.is_empty() || cell.chars().all(|c| c.is_ascii_digit() || ",.-%+x".contains(c))
                })
            })
        })
        .collect();
    for (at, number) in numbers.into_iter().enumerate() {
        if number && let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in rows {
        table.add_row(row.iter().map(|cell| one_line(cell)));
    }
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// The table of the shell's `top`: the counts of `event` and their shares, then those of the other
/// events, for these rows and the total.
pub(crate) fn ranking<'r, K>(
    counted: &Counted<K>,
    event: Event,
    rows: impl IntoIterator<Item = (String, &'r [i64])>,
) -> String {
    let others: Vec<Event> = counted.events.iter().copied().filter(|other| *other != event).collect();
    let mut heads: Vec<&str> = vec![event.name(), "share"];
    heads.extend(others.iter().map(|event| event.name()));
    heads.push("");
    let of = |counts: &[i64], event: Event| {
        counted.column(event).and_then(|at| counts.get(at)).copied().unwrap_or(0)
    };
    let total = of(&counted.total, event);
    let row = |name: String, counts: &[i64]| {
        let count = of(counts, event);
        let share = share(count, total).map_or(String::new(), |share| format!("{share:.1}%"));
        let mut cells = vec![thousands(count), share];
        cells.extend(others.iter().map(|other| thousands(of(counts, *other))));
        cells.push(name);
        cells
    };
    let mut cells: Vec<Vec<String>> = rows.into_iter().map(|(name, counts)| row(name, counts)).collect();
    cells.push(row("everything".to_owned(), &counted.total));
    table(&heads, cells)
}

/// A line of the shell's annotated sources and code.
#[derive(Clone, Debug)]
pub(crate) struct AnnotatedLine<'a> {
    /// Its counts; a dot stands in each column if there are none.
    pub(crate) counts: Option<&'a [i64]>,
    /// Its number or mark; `--` is for lines that are left out.
    pub(crate) mark: String,
    /// Its text.
    pub(crate) text: String,
}

/// The table of the shell's `annotate`.
pub(crate) fn annotated<'l>(events: &[Event], lines: impl IntoIterator<Item = AnnotatedLine<'l>>) -> String {
    let row = |line: AnnotatedLine<'_>| {
        let empty = if line.mark == "--" { "--" } else { "." };
        let count = |at| match line.counts {
            Some(counts) => thousands(counts.get(at).copied().unwrap_or(0)),
            None => empty.to_owned(),
        };
        let mut cells: Vec<String> = (0..events.len()).map(count).collect();
        cells.extend([line.mark, line.text.replace('\t', "    ")]);
        cells
    };
    let mut heads: Vec<&str> = events.iter().map(|event| event.name()).collect();
    heads.extend(["", ""]);
    table(&heads, lines.into_iter().map(row).collect())
}

/// The lines of `run --top`: functions with their instructions, below a heading.
pub(crate) fn functions(ranking: &Ranking<'_, &Cow<'_, [u8]>>, total: i64) -> Vec<String> {
    let ir = |counts: &[i64]| counts.first().copied().unwrap_or(0);
    let first = ranking.rows.first().map_or(0, |row| thousands(ir(&row.counts)).len());
    let width = first.max(Event::Ir.name().len());
    let mut lines = vec![format!(
        "{:>width$}          function ({} of {}; with its code of all files)",
        Event::Ir.name(),
        ranking.rows.len(),
        ranking.all,
    )];
    for row in &ranking.rows {
        let count = ir(&row.counts);
        let share = share(count, total).unwrap_or(0.0);
        let name = name_of(row.key);
        lines.push(format!("{:>width$} ({share:>5.1}%)  {name}", thousands(count)));
    }
    lines
}
