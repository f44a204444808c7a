//! Counts in columns: their widths, thousands and percentages.

use crate::classic::lenient::Count;
use crate::classic::number;

/// Width of ` (12.34%)`.
const PERCENTAGE: usize = 9;

/// The columns of one part of the report.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    events: &'a [Vec<u8>],
    shown: &'a [usize],
    summary: &'a [Count],
    percentages: bool,
    widths: Vec<usize>,
}

impl<'a> Columns<'a> {
    /// Columns for the events with the numbers `shown`, of which the totals are in `summary`; wide
    /// enough for their names.
    pub(crate) fn new(
        events: &'a [Vec<u8>],
        shown: &'a [usize],
        summary: &'a [Count],
        percentages: bool,
    ) -> Columns<'a> {
        let widths = events.iter().map(Vec::len).collect();
        Columns { events, shown, summary, percentages, widths }
    }

    /// Widens the columns for these counts. As `cg_annotate` has it, a minus sign counts as a
    /// digit, so that some columns are one wider than they need be.
    pub(crate) fn fit(&mut self, counts: &[Count]) {
        for (width, count) in self.widths.iter_mut().zip(counts) {
            if let Some(value) = count.get() {
                let length = number::integer(value).len();
                let percentage = if self.percentages { PERCENTAGE } else { 0 };
                *width = (*width).max(length + length.saturating_sub(1) / 3 + percentage);
            }
        }
    }

    /// The names of the events, a blank after each.
    pub(crate) fn head(&self, out: &mut Vec<u8>) {
        for &at in self.shown {
            let name = self.events.get(at).map_or(&b""[..], Vec::as_slice);
            let width = self.widths.get(at).copied().unwrap_or(0);
            out.extend_from_slice(name);
            out.resize(out.len() + width.saturating_sub(name.len()) + 1, b' ');
        }
    }

    /// A row of counts, a blank after each.
    pub(crate) fn row(&self, counts: &[Count], out: &mut Vec<u8>) {
        for &at in self.shown {
            let count = counts.get(at).copied().unwrap_or(Count::UNDEFINED);
            let mut text = count.get().map_or_else(|| ".".to_owned(), thousands);
            if self.percentages {
                text.push_str(&self.percentage(at, count));
            }
            let width = self.widths.get(at).copied().unwrap_or(0);
            out.resize(out.len() + width.saturating_sub(text.len()), b' ');
            out.extend_from_slice(text.as_bytes());
            out.push(b' ');
        }
    }

    /// A count as a share of the total; blanks for none. One digit less keeps numbers from 100 on
    /// as wide.
    fn percentage(&self, at: usize, count: Count) -> String {
        if count.or_zero() == 0 {
            return " ".repeat(PERCENTAGE);
        }
        let share = percent(count.or_zero(), self.summary.get(at).map_or(0, |count| count.or_zero()));
        if -9.995 < share && share < 99.995 { format!(" ({share:5.2}%)") } else { format!(" ({share:5.1}%)") }
    }
}

/// `part` in percent of `whole`; 0 of nothing.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn percent(part: i128, whole: i128) -> f64 {
    if whole == 0 { 0.0 } else { part.saturating_mul(100) as f64 / whole as f64 }
}

/// A number with commas.
fn thousands(value: i128) -> String {
    let text = number::integer(value);
    let digits = text.trim_start_matches('-');
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text;
    }
    let mut out = String::from(if value < 0 { "-" } else { "" });
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
    fn commas() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (-1000, "-1,000"),
            (1_234_567, "1,234,567"),
            (1 << 64, "1.84467440737096e+19"),
        ] {
            assert_eq!(thousands(value), text);
        }
    }

    #[test]
    fn rows() {
        let events = [b"Ir".to_vec(), b"Dr".to_vec()];
        let summary = [Count::new(1000), Count::new(0)];
        let mut columns = Columns::new(&events, &[0, 1], &summary, true);
        columns.fit(&[Count::new(1000), Count::UNDEFINED]);
        let mut out = Vec::new();
        columns.head(&mut out);
        out.push(b'\n');
        columns.row(&[Count::new(1000), Count::new(7)], &mut out);
        out.push(b'\n');
        columns.row(&[Count::new(-100), Count::UNDEFINED], &mut out);
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "Ir             Dr \n1,000 (100.0%) 7 ( 0.00%) \n -100 (-10.0%) .          ");
    }
}
