//! The columns of counts: a number with thousands separators and its share of the total, each part as wide
//! as the widest of the same table.

use std::io::{self, Write};

use super::derive::Metric;
use super::paint;

/// Which events are shown, and how.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Names of the columns.
    pub names: Vec<Vec<u8>>,
    /// Where each column's counts are among the recorded events.
    pub indices: Vec<usize>,
    /// The total of each column.
    pub totals: Vec<i64>,
    /// Whether shares are shown.
    pub percentages: bool,
    /// Columns that are computed, to the right of the others.
    pub metrics: Vec<Metric>,
    /// Whether counts are coloured by their share.
    pub colour: bool,
}

/// The texts of one count.
#[derive(Clone, Debug, Default)]
struct Cell {
    count: String,
    share: String,
    /// The share of this and all counts above; only in tables that have it.
    running: String,
    /// What the share is, in percent.
    size: f64,
}

/// A line of counts: its own, and in some tables the sums down to it.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    /// Of all recorded events.
    pub own: &'a [i64],
    /// Likewise.
    pub running: Option<&'a [i64]>,
}

/// A table of known width.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    shown: &'a Shown,
    widths: Vec<[usize; 3]>,
}

impl Shown {
    fn cells(&self, counts: Counts<'_>) -> impl Iterator<Item = Cell> {
        let computed = |metric: &Metric| Cell { count: metric.text(counts.own), ..Cell::default() };
        let computed = self.metrics.iter().map(computed);
        let counted = self.indices.iter().zip(&self.totals).map(move |(index, total)| {
            let count = counts.own.get(*index).copied().unwrap_or(0);
            let size = if *total == 0 { 0.0 } else { share(count, *total) };
            let mut cell = Cell { count: thousands(count), size, ..Cell::default() };
            if !self.percentages {
                return cell;
            }
            match counts.running.map(|running| running.get(*index).copied().unwrap_or(0)) {
                Some(running) => {
                    cell.share = format!("({},", percentage(count, *total));
                    cell.running = format!("{})", percentage(running, *total));
                }
                None if count != 0 => cell.share = format!("({})", percentage(count, *total)),
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

    /// A table that is wide enough for all of `lines`.
    pub fn table<'a, 'b>(&'a self, lines: impl IntoIterator<Item = Counts<'b>>) -> Table<'a> {
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
    /// The line of names above the counts, each filled up with `_`; no newline.
    ///
    /// # Errors
    /// If writing fails.
    pub fn head(&self, out: &mut impl Write) -> io::Result<()> {
        for (name, width) in self.shown.titles().zip(&self.widths) {
            out.write_all(name)?;
            let fill = total_width(*width).saturating_sub(characters(name));
            write!(out, "{:_<fill$} ", "")?;
        }
        Ok(())
    }

    /// A line of counts and the blank that separates them from what follows; no newline.
    ///
    /// # Errors
    /// If writing fails.
    pub fn line(&self, out: &mut impl Write, counts: Counts<'_>) -> io::Result<()> {
        for (cell, width) in self.shown.cells(counts).zip(&self.widths) {
            self.cell(out, &cell, *width)?;
        }
        Ok(())
    }

    /// The names, an empty line, and the total above what `what` is the title of.
    ///
    /// # Errors
    /// If writing fails.
    pub fn title(&self, out: &mut impl Write, total: Counts<'_>, what: &[u8]) -> io::Result<()> {
        self.head(out)?;
        write!(out, "\n\n")?;
        self.line(out, total)?;
        out.write_all(what)?;
        writeln!(out)
    }

    /// A line without counts: a dot in each column.
    ///
    /// # Errors
    /// If writing fails.
    pub fn dots(&self, out: &mut impl Write) -> io::Result<()> {
        let dot = Cell { count: ".".to_owned(), ..Cell::default() };
        self.widths.iter().try_for_each(|width| self.cell(out, &dot, *width))
    }

    fn cell(&self, out: &mut impl Write, cell: &Cell, [count, share, running]: [usize; 3]) -> io::Result<()> {
        let style = if self.shown.colour { paint::style(cell.size) } else { anstyle::Style::new() };
        // Styles without colour are nothing at all.
        write!(out, "{}{:>count$}", style.render(), cell.count)?;
        for (part, width) in [(&cell.share, share), (&cell.running, running)] {
            if width > 0 {
                write!(out, " {part:>width$}")?;
            }
        }
        write!(out, "{} ", style.render_reset())
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

/// A share in percent, with one digit; of a total of 0 there is none.
fn percentage(part: i64, total: i64) -> String {
    if total == 0 {
        return "n/a".to_owned();
    }
    format!("{:.1}%", share(part, total))
}

/// A share in percent, for comparisons.
#[must_use]
pub fn share(part: i64, total: i64) -> f64 {
    (i128::from(part) * 100) as f64 / total as f64
}

/// A number with a comma between groups of three digits.
#[must_use]
pub fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (-1000, "-1,000"),
            (-100, "-100"),
            (i64::MIN, "-9,223,372,036,854,775,808"),
        ] {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(percentage(1, 0), "n/a");
        assert_eq!(percentage(0, -3), "-0.0%");
        assert_eq!(percentage(-1, 8), "-12.5%");
        assert_eq!(percentage(i64::MAX, i64::MAX), "100.0%");
    }

    fn shown(percentages: bool) -> Shown {
        let names = vec![b"Zero".to_vec(), b"Ir".to_vec()];
        let (metrics, colour) = (Vec::new(), false);
        Shown { names, indices: vec![1, 0], totals: vec![0, 8120], percentages, metrics, colour }
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory");
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
