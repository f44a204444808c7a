//! The functions, files or lines with the highest counts, as a table.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, TableStyle};

use super::columns::{share, thousands};
use super::derive::Metric;
use super::rows::{By, Choice, Row};
use super::tally::Tally;

/// What the table shows.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// The sums.
    pub tally: &'a Tally,
    /// What the rows are.
    pub by: By,
    /// Whether functions have the costs of those they call.
    pub inclusive: bool,
    /// How many rows there are at most.
    pub count: usize,
    /// The events that have columns, by place.
    pub show: &'a [usize],
    /// The derived columns.
    pub metrics: &'a [Metric],
    /// What rows are sorted by.
    pub choice: Choice<'a>,
}

/// How it is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// With colours.
    pub colour: bool,
    /// Fitted into so many columns; as wide as it gets if there are none.
    pub width: Option<u16>,
}

impl Ranking<'_> {
    /// Writes the table and what it is of.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, look: Look, out: &mut impl Write) -> io::Result<()> {
        let rows = self.choice.rows(self.by, self.inclusive);
        let all = rows.len();
        let shown = rows.get(..self.count).unwrap_or(&rows);
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
        let numbers = 2 * self.show.len() + self.metrics.len();
        for at in 0..numbers {
            if let Some(column) = table.column_mut(at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.add_row(self.row(&self.tally.total, vec![Cell::new("total")]));
        for row in shown {
            table.add_row(self.row(&row.counts, self.names(row)));
        }
        writeln!(out, "{}\n", table.trim_fmt())?;
        let kind = match self.by {
            By::Function if self.inclusive => "functions, with those they call",
            By::Function => "functions",
            By::File => "files",
            By::Line => "lines",
        };
        writeln!(out, "{} of {all} {kind}", shown.len())?;
        for metric in self.metrics {
            writeln!(out, "{metric}")?;
        }
        Ok(())
    }

    fn header(&self) -> Vec<String> {
        let mut header = Vec::new();
        for at in self.show {
            let name = self.tally.events.get(*at).map(Vec::as_slice).unwrap_or_default();
            header.extend([String::from_utf8_lossy(name).into_owned(), "%".to_owned()]);
        }
        header.extend(self.metrics.iter().map(|metric| metric.name.to_owned()));
        header.extend(match self.by {
            By::Function => vec!["Function".to_owned(), "File".to_owned()],
            By::File => vec!["File".to_owned()],
            By::Line => vec!["Line".to_owned()],
        });
        header
    }

    fn names(&self, row: &Row<'_>) -> Vec<Cell> {
        let text = |name: &[u8]| printable(&String::from_utf8_lossy(name));
        match self.by {
            By::Function => vec![Cell::new(text(row.function)), Cell::new(text(row.file))],
            By::File => vec![Cell::new(text(row.file))],
            By::Line => vec![Cell::new(format!("{}:{}", text(row.file), row.line.unwrap_or(0)))],
        }
    }

    fn row(&self, counts: &[i64], names: Vec<Cell>) -> Vec<Cell> {
        let mut cells = Vec::new();
        for at in self.show {
            let of = |from: &[i64]| from.get(*at).copied().unwrap_or(0);
            let (count, total) = (of(counts), of(&self.tally.total));
            let part = (total != 0).then(|| share(count, total));
            let percent = part.map_or("n/a".to_owned(), |part| format!("{part:.1}%"));
            cells.push(painted(Cell::new(thousands(count)), part));
            cells.push(painted(Cell::new(percent), part));
        }
        cells.extend(self.metrics.iter().map(|metric| Cell::new(metric.text(counts))));
        cells.extend(names);
        cells
    }
}

/// The same colours as in [`super::paint`].
fn painted(cell: Cell, share: Option<f64>) -> Cell {
    match share.map_or(0.0, f64::abs) {
        share if share >= 10.0 => cell.fg(Color::DarkRed).add_attribute(Attribute::Bold),
        share if share >= 2.0 => cell.fg(Color::DarkYellow),
        share if share >= 0.5 => cell.fg(Color::DarkGreen),
        _ => cell,
    }
}

/// A name without what would move a terminal's cursor.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
