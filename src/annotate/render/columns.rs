//! Columns of counts as text: numbers with thousands separators and their shares of the total,
//! aligned.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::annotate::error::AnnotateError;
use crate::annotate::input::{chosen_events, event_names, metrics};
use crate::annotate::options::Options;
use crate::annotate::view::metric::Metric;
use crate::annotate::view::share::{Weight, percent, share, thousands};
use crate::console::Console;

/// The columns of a listing, and their form.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// Names of the columns.
    pub(crate) names: Vec<Vec<u8>>,
    /// The index of each column among the recorded events.
    pub(crate) indices: Vec<usize>,
    /// The total of each column.
    pub(crate) totals: Vec<i64>,
    /// Show shares beside counts.
    pub(crate) percentages: bool,
    /// Computed columns, to the right of the others.
    pub(crate) metrics: Vec<Metric>,
    /// Colour counts by their share.
    pub(crate) colour: bool,
}

/// The texts of one count.
#[derive(Clone, Debug, Default)]
struct Cell {
    count: String,
    share: String,
    /// The share of this and all counts above; only in tables that have it.
    running: String,
    /// The share as a number.
    size: f64,
}

/// A line of counts of all recorded events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts<'a> {
    /// Its own.
    pub(crate) own: &'a [i64],
    /// The sums of this and all lines above, in tables that have them.
    pub(crate) running: Option<&'a [i64]>,
}

impl<'a> Counts<'a> {
    /// A line without sums.
    pub(crate) fn of(own: &'a [i64]) -> Counts<'a> {
        Counts { own, running: None }
    }
}

/// A table with the widths of its columns.
#[derive(Clone, Debug)]
pub(crate) struct Table<'a> {
    shown: &'a Shown,
    widths: Vec<[usize; 3]>,
}

impl Shown {
    /// The columns that the options ask for, and the indices of the events to sort by. `total` is
    /// of all events.
    ///
    /// # Errors
    /// If there is no such event or metric.
    pub(crate) fn new(
        options: &Options,
        events: &[Vec<u8>],
        total: &[i64],
    ) -> Result<(Shown, Vec<usize>), AnnotateError> {
        let show = chosen_events(events, options.show.as_deref(), "--show")?;
        let sort = chosen_events(events, options.sort.as_deref(), "--sort")?;
        let shown = Shown {
            names: event_names(events, &show),
            totals: show.iter().map(|at| total.get(*at).copied().unwrap_or(0)).collect(),
            indices: show,
            percentages: options.percentages,
            metrics: metrics(&options.derive, events)?,
            colour: options.colour,
        };
        Ok((shown, sort))
    }

    fn cells(&self, counts: Counts<'_>) -> impl Iterator<Item = Cell> {
        let computed = |metric: &Metric| Cell { count: metric.text(counts.own), ..Cell::default() };
        let computed = self.metrics.iter().map(computed);
        let counted = self.indices.iter().zip(&self.totals).map(move |(index, total)| {
            let count = counts.own.get(*index).copied().unwrap_or(0);
            let size = share(count, *total).unwrap_or(0.0);
            let mut cell = Cell { count: thousands(count), size, ..Cell::default() };
            if !self.percentages {
                return cell;
            }
            match counts.running.map(|running| running.get(*index).copied().unwrap_or(0)) {
                Some(running) => {
                    cell.share = format!("({},", percent(count, *total));
                    cell.running = format!("{})", percent(running, *total));
                }
                None if count != 0 => cell.share = format!("({})", percent(count, *total)),
                None => {}
            }
            cell
        });
        counted.chain(computed)
    }

    /// The names of all columns.
    fn titles(&self) -> impl Iterator<Item = &[u8]> {
        let computed = self.metrics.iter().map(|metric| metric.name.as_bytes());
        self.names.iter().map(Vec::as_slice).chain(computed)
    }

    /// A table wide enough for all of `lines`.
    pub(crate) fn table<'a, 'b>(&'a self, lines: impl IntoIterator<Item = Counts<'b>>) -> Table<'a> {
        let mut widths = vec![[0; 3]; self.names.len() + self.metrics.len()];
        for line in lines {
            for (cell, width) in self.cells(line).zip(&mut widths) {
                for (part, width) in [&cell.count, &cell.share, &cell.running].into_iter().zip(width) {
                    *width = part.len().max(*width);
                }
            }
        }
        for (name, width) in self.titles().zip(&mut widths) {
            // A name wider than its column widens the count.
            width[0] += characters(name).saturating_sub(total_width(*width));
        }
        Table { shown: self, widths }
    }
}

impl Table<'_> {
    /// Writes the names above the counts, each filled up with `_`; no newline.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn head(&self, out: &mut Console<impl Write>) -> io::Result<()> {
        for (name, width) in self.shown.titles().zip(&self.widths) {
            out.write_all(name)?;
            let fill = total_width(*width).saturating_sub(characters(name));
            write!(out, "{:_<fill$} ", "")?;
        }
        Ok(())
    }

    /// Writes a line of counts and a blank; no newline.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn line(&self, out: &mut Console<impl Write>, counts: Counts<'_>) -> io::Result<()> {
        for (cell, width) in self.shown.cells(counts).zip(&self.widths) {
            self.cell(out, &cell, *width)?;
        }
        Ok(())
    }

    /// Writes the names, an empty line, and the total with its title `what`.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn title(
        &self,
        out: &mut Console<impl Write>,
        total: Counts<'_>,
        what: &[u8],
    ) -> io::Result<()> {
        self.head(out)?;
        write!(out, "\n\n")?;
        self.line(out, total)?;
        out.write_all(what)?;
        writeln!(out)
    }

    /// Writes a line without counts: a dot in each column; no newline.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn dots(&self, out: &mut Console<impl Write>) -> io::Result<()> {
        let dot = Cell { count: ".".to_owned(), ..Cell::default() };
        self.widths.iter().try_for_each(|width| self.cell(out, &dot, *width))
    }

    fn cell(
        &self,
        out: &mut Console<impl Write>,
        cell: &Cell,
        [count, share, running]: [usize; 3],
    ) -> io::Result<()> {
        let style = self.shown.colour.then(|| style(cell.size));
        if let Some(style) = style {
            // A style without colour is empty text.
            out.coloured(&style.render().to_string())?;
        }
        write!(out, "{:>count$}", cell.count)?;
        for (part, width) in [(&cell.share, share), (&cell.running, running)] {
            if width > 0 {
                write!(out, " {part:>width$}")?;
            }
        }
        if let Some(style) = style {
            out.coloured(&style.render_reset().to_string())?;
        }
        write!(out, " ")
    }
}

/// The width of a column: its parts and the blanks between them.
fn total_width(parts: [usize; 3]) -> usize {
    parts.iter().sum::<usize>() + parts.iter().skip(1).filter(|width| **width > 0).count()
}

/// Columns are counted in characters, bytes that are none as one each.
fn characters(text: &[u8]) -> usize {
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

/// The colour of a count with this share of the total, in percent.
fn style(share: f64) -> Style {
    match Weight::of(share) {
        Weight::Large => AnsiColor::Red.on_default().bold(),
        Weight::Medium => AnsiColor::Yellow.on_default(),
        Weight::Small => AnsiColor::Green.on_default(),
        Weight::Negligible => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_shares_differ_from_smaller_ones() {
        assert_eq!(style(0.0).render().to_string(), "");
        let styles = [0.1, 0.5, 2.0, 10.0].map(style);
        for (at, one) in styles.iter().enumerate() {
            assert!(styles.iter().skip(at + 1).all(|other| other != one));
        }
    }

    fn shown(percentages: bool) -> Shown {
        let names = vec![b"Zero".to_vec(), b"Ir".to_vec()];
        let (metrics, colour) = (Vec::new(), false);
        Shown { names, indices: vec![1, 0], totals: vec![0, 8120], percentages, metrics, colour }
    }

    fn text(write: impl FnOnce(&mut Console<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut Console::new(&mut out)).expect("memory");
        String::from_utf8(out).expect("ASCII")
    }

    /// From `cg_annotate --threshold=0 --show=Zero,Ir`, the case `odd-threshold-0`.
    #[test]
    fn layout() {
        let shown = shown(true);
        let first = Counts { own: &[6000, 0], running: Some(&[6000, 0]) };
        let inner = Counts { own: &[117, 0], running: None };
        let rest = Counts { own: &[117, 0], running: Some(&[8120, 0]) };
        let table = shown.table([first, inner, rest]);
        assert_eq!(text(|out| table.head(out)), "Zero________ Ir___________________ ");
        assert_eq!(text(|out| table.line(out, first)), "0 (n/a, n/a) 6,000 (73.9%,  73.9%) ");
        assert_eq!(text(|out| table.line(out, inner)), "0              117  (1.4%)         ");
        let table = shown.table([Counts { own: &[5000, 0], running: None }]);
        assert_eq!(text(|out| table.dots(out)), "   .     .         ");
    }

    #[test]
    fn without_percentages() {
        let shown = shown(false);
        let line = Counts { own: &[6000, 0], running: Some(&[1, 1]) };
        let table = shown.table([line]);
        assert_eq!(text(|out| table.head(out)), "Zero Ir___ ");
        assert_eq!(text(|out| table.line(out, line)), "   0 6,000 ");
    }
}
