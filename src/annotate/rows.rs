//! Rows of figures, by function, file or line, chosen and in order: for the ranking and the views that machines read.

use std::borrow::Cow;

use super::columns::share;
use super::derive::{Metric, Value};
use super::tally::{FileCosts, Tally};
use crate::profile::NameId;

/// What a ranking is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Functions, those of the same name in several files apart.
    Function,
    /// Source files.
    File,
    /// Source lines.
    Line,
}

/// Chooses and orders rows.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The sums.
    pub tally: &'a Tally,
    /// What rows are sorted by: places of events; largest first, whatever the sign.
    pub sort: &'a [usize],
    /// The metric that comes before them, if any.
    pub first: Option<&'a Metric>,
    /// The least share in percent of the first event.
    pub threshold: f64,
}

/// A row before it is text: file, function or line, and counts.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The file's name.
    pub file: &'a [u8],
    /// The function's name; empty if it is of no function.
    pub function: &'a [u8],
    /// The line.
    pub line: Option<u64>,
    /// Of all events.
    pub counts: Cow<'a, [i64]>,
}

impl<'a> Choice<'a> {
    /// The rows that reach the threshold, in order. Where all counts are equal, by name and line.
    #[must_use]
    pub fn rows(&self, by: By, inclusive: bool) -> Vec<Row<'a>> {
        let tally = self.tally;
        let mut rows: Vec<Row<'a>> = match by {
            By::Function => {
                let pairs = if inclusive { &tally.inclusive } else { &tally.pairs };
                let pairs = pairs.iter().map(|((file, function), row)| Row {
                    file: tally.files.text(*file),
                    function: tally.functions.text(*function),
                    line: None,
                    counts: tally.costs(*row).into(),
                });
                // A function that only a name stands for.
                pairs.filter(|row| row.counts.iter().any(|count| *count != 0)).collect()
            }
            By::File => self.files(),
            By::Line => {
                let lines = tally.by_file.iter().flat_map(|(file, costs)| {
                    costs.lines.iter().map(|(line, row)| Row {
                        file: tally.files.text(*file),
                        function: b"",
                        line: Some(*line),
                        counts: tally.costs(*row).into(),
                    })
                });
                lines.collect()
            }
        };
        rows.retain(|row| self.reaches(&row.counts));
        rows.sort_by(|a, b| self.order(a, b));
        rows
    }

    fn files(&self) -> Vec<Row<'a>> {
        let tally = self.tally;
        let row = |(file, costs): (&NameId, &FileCosts)| {
            let mut counts = vec![0_i64; tally.events.len()];
            for line in costs.lines.values() {
                for (sum, count) in counts.iter_mut().zip(tally.costs(*line)) {
                    *sum = sum.saturating_add(*count);
                }
            }
            Row { file: tally.files.text(*file), function: b"", line: None, counts: counts.into() }
        };
        tally.by_file.iter().filter(|(_, costs)| !costs.lines.is_empty()).map(row).collect()
    }

    fn reaches(&self, counts: &[i64]) -> bool {
        let of = |counts: &[i64]| self.sort.first().and_then(|at| counts.get(*at)).copied().unwrap_or(0);
        let total = of(&self.tally.total);
        total == 0 || share(of(counts), total).abs() >= self.threshold
    }

    fn order(&self, a: &Row<'_>, b: &Row<'_>) -> std::cmp::Ordering {
        if let Some(metric) = self.first {
            let size = |row: &Row<'_>| match metric.value(&row.counts) {
                Value::Count(count) => count as f64,
                Value::Share(share) => share.unwrap_or(f64::NEG_INFINITY),
            };
            let order = size(b).total_cmp(&size(a));
            if order.is_ne() {
                return order;
            }
        }
        for at in self.sort {
            let size = |row: &Row<'_>| row.counts.get(*at).map_or(0, |count| count.unsigned_abs());
            let order = size(b).cmp(&size(a));
            if order.is_ne() {
                return order;
            }
        }
        (a.file, a.function, a.line).cmp(&(b.file, b.function, b.line))
    }
}
