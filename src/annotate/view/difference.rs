//! Both sides of a difference: the counts before and after, and shares of the total before.

use super::ranking::{By, SourceKey};
use super::share::share;
use crate::annotate::tally::Tally;
use crate::profile::add_costs;

/// The first of two profiles of which the second less the first is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before<'a> {
    tally: &'a Tally,
    inclusive: bool,
}

/// The sides of a row of differences, with a number for each event.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// The counts before.
    pub(crate) old: Vec<i64>,
    /// The counts after.
    pub(crate) new: Vec<i64>,
    /// The differences as shares of the whole before, in percent; none of nothing.
    pub(crate) shares: Vec<Option<f64>>,
}

impl<'a> Before<'a> {
    /// That of `tally`, if it is a difference. `inclusive` is for functions: with the costs of
    /// those they call.
    pub(crate) fn of(tally: &'a Tally, inclusive: bool) -> Option<Before<'a>> {
        tally.before.as_deref().map(|tally| Before { tally, inclusive })
    }

    /// The sides of the row `key`, with the differences `counts`.
    pub(crate) fn sides(&self, by: By, key: SourceKey<'_>, counts: &[i64]) -> Sides {
        self.of_counts(self.counts(by, key), counts)
    }

    /// The sides of everything.
    pub(crate) fn whole(&self, counts: &[i64]) -> Sides {
        self.of_counts(self.tally.total.clone(), counts)
    }

    fn of_counts(&self, old: Vec<i64>, counts: &[i64]) -> Sides {
        let new = old.iter().zip(counts).map(|(old, count)| old.saturating_add(*count)).collect();
        let shares = counts.iter().zip(&self.tally.total).map(|(count, total)| share(*count, *total));
        Sides { shares: shares.collect(), new, old }
    }

    fn counts(&self, by: By, key: SourceKey<'_>) -> Vec<i64> {
        let Tally { files, functions, .. } = self.tally;
        let mut sum = vec![0; self.tally.events.len()];
        let Some(file) = files.find(key.file) else { return sum };
        let lines = self.tally.by_file.get(&file).map(|costs| &costs.lines);
        let rows = match (by, key.line) {
            (By::Function, _) => {
                let pairs = if self.inclusive { &self.tally.inclusive } else { &self.tally.pairs };
                let row = functions.find(key.function).and_then(|function| pairs.get(&(file, function)));
                row.into_iter().copied().collect()
            }
            (By::Line, Some(line)) => lines.and_then(|lines| lines.get(&line)).into_iter().copied().collect(),
            _ => lines.map(|lines| lines.values().copied().collect::<Vec<_>>()).unwrap_or_default(),
        };
        rows.iter().for_each(|row| add_costs(&mut sum, self.tally.costs(*row)));
        sum
    }
}
