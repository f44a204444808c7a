//! Rankings: rows of counts by function, file, line or instruction, chosen and put in order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::metric::{Metric, Value};
use crate::annotate::tally::{FileCosts, Tally};
use crate::profile::{Costs, Event, EventSet, Instructions, NameId, Profile, ProfileLine, add_costs};

/// The subject of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum By {
    /// Functions, those of the same name in several files apart.
    Function,
    /// Source files.
    File,
    /// Source lines.
    Line,
}

/// A row of a ranking.
#[derive(Clone, Debug)]
pub(crate) struct CountedRow<'a, K> {
    /// The name of what was counted. Rows with equal counts are in its order.
    pub(crate) key: K,
    /// Counts of all events.
    pub(crate) counts: Cow<'a, [i64]>,
}

/// Rows that were chosen, in order.
#[derive(Clone, Debug)]
pub(crate) struct Ranking<'a, K> {
    /// The first of them, as many as were asked for.
    pub(crate) rows: Vec<CountedRow<'a, K>>,
    /// Number of rows before those past the number asked for were dropped.
    pub(crate) all: usize,
}

/// The name of a row of a [`Tally`]; its fields are in the order by which equal rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceKey<'a> {
    /// The file.
    pub(crate) file: &'a [u8],
    /// The function; empty for files and lines.
    pub(crate) function: &'a [u8],
    /// The line, for lines.
    pub(crate) line: Option<u64>,
}

/// The meaning of negative counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A difference of two profiles has them: -5 ranks as 5 does.
    Ignored,
    /// Plain counts: -5 ranks below 0.
    Kept,
}

/// The order of rows: highest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    /// The metric that is compared before the events, if any.
    pub(crate) first: Option<&'a Metric>,
    /// Indices of the events that are compared, in this order.
    pub(crate) sort: &'a [usize],
    /// The meaning of negative counts.
    pub(crate) sign: Sign,
}

impl Order<'_> {
    /// Compares the counts of two rows.
    pub(crate) fn compare(&self, a: &[i64], b: &[i64]) -> Ordering {
        if let Some(metric) = self.first {
            let size = |counts: &[i64]| match metric.value(counts) {
                Value::Count(count) => count as f64,
                Value::Share(share) => share.unwrap_or(f64::NEG_INFINITY),
            };
            let order = size(b).total_cmp(&size(a));
            if order.is_ne() {
                return order;
            }
        }
        let orders = self.sort.iter().map(|&at| {
            let count = |counts: &[i64]| counts.get(at).copied().unwrap_or(0);
            match self.sign {
                Sign::Ignored => count(b).unsigned_abs().cmp(&count(a).unsigned_abs()),
                Sign::Kept => count(b).cmp(&count(a)),
            }
        });
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

/// The least share of the total that a row must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threshold {
    event: usize,
    /// The least size of a count; a fraction counts.
    least: f64,
    sign: Sign,
}

impl Threshold {
    /// A threshold on the first event of `order`, in percent of its part of `total`.
    pub(crate) fn new(order: &Order<'_>, total: &[i64], percent: f64) -> Threshold {
        let event = order.sort.first().copied().unwrap_or(usize::MAX);
        let total = total.get(event).copied().unwrap_or(0).unsigned_abs();
        // In this order of operations, to round as cg_annotate does.
        Threshold { event, least: percent * total as f64 / 100.0, sign: order.sign }
    }

    /// Tests the counts of a row. Any row reaches a share of a total of 0, and plain counts must
    /// not be 0.
    pub(crate) fn reaches(&self, counts: &[i64]) -> bool {
        let count = counts.get(self.event).copied().unwrap_or(0);
        // A count may be too large for a double to hold exactly.
        let large = i128::from(count.unsigned_abs()) >= self.least.ceil() as i128;
        large && (self.sign == Sign::Ignored || count > 0)
    }
}

/// Puts the rows that `keep` accepts in order, and leaves at most `most` of them.
pub(crate) fn rank<'a, K: Ord>(
    rows: impl IntoIterator<Item = CountedRow<'a, K>>,
    order: &Order<'_>,
    keep: impl Fn(&[i64]) -> bool,
    most: usize,
) -> Ranking<'a, K> {
    let mut rows: Vec<CountedRow<'a, K>> = rows.into_iter().filter(|row| keep(&row.counts)).collect();
    rows.sort_by(|a, b| order.compare(&a.counts, &b.counts).then_with(|| a.key.cmp(&b.key)));
    let all = rows.len();
    rows.truncate(most);
    Ranking { rows, all }
}

/// The rows of a tally, in no order. `inclusive` is for functions: with the costs of those they
/// call.
pub(crate) fn tally_rows(tally: &Tally, by: By, inclusive: bool) -> Vec<CountedRow<'_, SourceKey<'_>>> {
    match by {
        By::Function => {
            let pairs = if inclusive { &tally.inclusive } else { &tally.pairs };
            let pairs = pairs.iter().map(|((file, function), row)| CountedRow {
                key: SourceKey {
                    file: tally.files.text(*file),
                    function: tally.functions.text(*function),
                    line: None,
                },
                counts: tally.costs(*row).into(),
            });
            // A function may be named without counts.
            pairs.filter(|row| row.counts.iter().any(|count| *count != 0)).collect()
        }
        By::File => {
            let row = |(file, costs): (&NameId, &FileCosts)| {
                let mut counts = vec![0; tally.events.len()];
                costs.lines.values().for_each(|line| add_costs(&mut counts, tally.costs(*line)));
                let key = SourceKey { file: tally.files.text(*file), function: b"", line: None };
                CountedRow { key, counts: counts.into() }
            };
            tally.by_file.iter().filter(|(_, costs)| !costs.lines.is_empty()).map(row).collect()
        }
        By::Line => {
            let lines = tally.by_file.iter().flat_map(|(file, costs)| {
                costs.lines.iter().map(|(line, row)| CountedRow {
                    key: SourceKey { file: tally.files.text(*file), function: b"", line: Some(*line) },
                    counts: tally.costs(*row).into(),
                })
            });
            lines.collect()
        }
    }
}

/// Sums counts up by key.
fn sums<K: Ord>(parts: impl IntoIterator<Item = (K, Vec<i64>)>) -> BTreeMap<K, Vec<i64>> {
    let mut sums = BTreeMap::new();
    for (key, counts) in parts {
        match sums.entry(key) {
            Entry::Vacant(entry) => drop(entry.insert(counts)),
            Entry::Occupied(mut entry) => add_costs(entry.get_mut(), &counts),
        }
    }
    sums
}

/// The counts of a run that is still in memory, by a key.
#[derive(Clone, Debug)]
pub(crate) struct Counted<K> {
    /// The events that the run records.
    pub(crate) events: Vec<Event>,
    /// Their totals.
    pub(crate) total: Vec<i64>,
    /// Their counts by key.
    pub(crate) sums: BTreeMap<K, Vec<i64>>,
}

impl<K: Ord> Counted<K> {
    /// Sums the lines of a profile up by `key`; lines without a key are left out.
    pub(crate) fn lines<'p>(profile: &'p Profile, key: impl Fn(&ProfileLine<'p>) -> Option<K>) -> Counted<K> {
        let events: Vec<Event> = profile.events().iter().collect();
        let parts = profile.lines().into_iter();
        let parts = parts.filter_map(|line| Some((key(&line)?, counts(line.costs, &events))));
        Counted { total: counts(&profile.total(), &events), sums: sums(parts), events }
    }

    /// The `most` rows with the highest counts of `event`, those without any if `zeros` is set.
    pub(crate) fn top(&self, event: Event, most: usize, zeros: bool) -> Ranking<'_, &K> {
        let sort: Vec<usize> = self.column(event).into_iter().collect();
        let order = Order { first: None, sort: &sort, sign: Sign::Kept };
        let rows = self.sums.iter().map(|(key, counts)| CountedRow { key, counts: counts.into() });
        let counted = |counts: &[i64]| sort.iter().all(|at| counts.get(*at).is_some_and(|count| *count > 0));
        rank(rows, &order, |counts| zeros || counted(counts), most)
    }
}

impl Counted<u64> {
    /// Sums the counts of these events up by run-time address.
    pub(crate) fn instructions(instructions: &Instructions, events: EventSet) -> Counted<u64> {
        let events: Vec<Event> = events.iter().collect();
        let recorded = |event: &Event| {
            let name = event.name().as_bytes();
            instructions.events.iter().position(|recorded| recorded == name)
        };
        let columns: Vec<Option<usize>> = events.iter().map(recorded).collect();
        let counts = |costs: &[i64]| -> Vec<i64> {
            columns.iter().map(|at| at.and_then(|at| costs.get(at)).map_or(0, |count| *count)).collect()
        };
        let parts = instructions.objects.iter().flat_map(|object| {
            let bias = object.biases.first().copied().unwrap_or(0);
            let counts = &counts;
            object.instructions.iter().map(move |(at, insn)| (at.wrapping_add(bias), counts(&insn.costs)))
        });
        let sums = sums(parts);
        let mut total = vec![0; events.len()];
        sums.values().for_each(|counts| add_costs(&mut total, counts));
        Counted { events, total, sums }
    }
}

impl<K> Counted<K> {
    /// The index of an event, if it is recorded.
    pub(crate) fn column(&self, event: Event) -> Option<usize> {
        self.events.iter().position(|recorded| *recorded == event)
    }
}

fn counts(costs: &Costs, events: &[Event]) -> Vec<i64> {
    events.iter().map(|event| i64::try_from(costs[*event]).unwrap_or(i64::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(rows: &[(&'static str, [i64; 2])], order: &Order<'_>, most: usize) -> (String, usize) {
        let rows = rows.iter().map(|(key, counts)| CountedRow { key: *key, counts: counts[..].into() });
        let threshold = Threshold::new(order, &[100, 100], 5.0);
        let ranking = rank(rows, order, |counts| threshold.reaches(counts), most);
        (ranking.rows.iter().map(|row| row.key).collect::<Vec<_>>().join(" "), ranking.all)
    }

    #[test]
    fn highest_first_then_by_key() {
        let rows = [("c", [20, 1]), ("b", [20, 1]), ("d", [20, 2]), ("a", [-50, 0]), ("e", [4, 90])];
        let order = |sort| Order { first: None, sort, sign: Sign::Ignored };
        assert_eq!(ranked(&rows, &order(&[0]), 9), ("a b c d".to_owned(), 4));
        assert_eq!(ranked(&rows, &order(&[0, 1]), 9), ("a d b c".to_owned(), 4));
        assert_eq!(ranked(&rows, &order(&[1, 0]), 9), ("e".to_owned(), 1));
        assert_eq!(ranked(&rows, &order(&[0]), 2), ("a b".to_owned(), 4));
        let plain = Order { first: None, sort: &[0], sign: Sign::Kept };
        assert_eq!(ranked(&rows, &plain, 9), ("b c d".to_owned(), 3));
    }

    #[test]
    fn every_row_reaches_a_share_of_nothing() {
        let order = |sign| Order { first: None, sort: &[0], sign };
        let reaches = |sign, count| Threshold::new(&order(sign), &[0], 20.0).reaches(&[count]);
        assert!(reaches(Sign::Ignored, 0) && reaches(Sign::Ignored, -1));
        assert!(reaches(Sign::Kept, 1) && !reaches(Sign::Kept, 0));
    }

    #[test]
    fn sums_of_a_profile() {
        let mut profile = Profile::new("./a", EventSet::default());
        for (function, line, count) in [("f", 1, 3), ("g", 2, 5), ("f", 9, 4), ("h", 1, 0)] {
            let mut costs = Costs::ZERO;
            costs[Event::Ir] = count;
            profile.add("a.c", function, line, &costs);
        }
        let counted = Counted::lines(&profile, |line| (line.function != b"g").then_some(line.function));
        assert_eq!((counted.total.as_slice(), counted.column(Event::Dr)), (&[12][..], None));
        let top = |zeros| {
            let top = counted.top(Event::Ir, 9, zeros);
            top.rows.iter().map(|row| (*row.key, row.counts[0])).collect::<Vec<_>>()
        };
        assert_eq!(top(false), [(&b"f"[..], 7)]);
        assert_eq!(top(true), [(&b"f"[..], 7), (b"h", 0)]);
    }
}
