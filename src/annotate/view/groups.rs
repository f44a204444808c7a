//! Rankings of two levels: files with their functions, and functions with their files.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::ranking::{CountedRow, Order, Threshold, rank};
use crate::annotate::tally::{Pair, Tally};
use crate::profile::{NameId, add_costs};

/// A row with the rows that it is the sum of.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    /// The name.
    pub(crate) name: &'a [u8],
    /// The name's identifier.
    pub(crate) id: NameId,
    /// The sum of the rows, also of those that do not reach the threshold.
    pub(crate) counts: Vec<i64>,
    /// The sum of this and of all groups before.
    pub(crate) running: Vec<i64>,
    /// The rows that reach the threshold, in order.
    pub(crate) rows: Vec<CountedRow<'a, Reverse<&'a [u8]>>>,
}

/// The names that groups are made by, then those of their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// Files with the functions in each.
    FileFunction,
    /// Functions with the files that each has code in.
    FunctionFile,
}

/// Groups the pairs of a tally; those with a row that reaches the threshold, in order: a file whose
/// functions cancel out is not negligible. Where counts are equal names are in descending order, as
/// `cg_annotate` has them.
pub(crate) fn groups<'a>(
    tally: &'a Tally,
    grouping: Grouping,
    order: &Order<'_>,
    threshold: Threshold,
) -> Vec<Group<'a>> {
    let (outer_names, inner_names) = match grouping {
        Grouping::FileFunction => (&tally.files, &tally.functions),
        Grouping::FunctionFile => (&tally.functions, &tally.files),
    };
    let mut places: FxHashMap<NameId, usize> = FxHashMap::default();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for ((file, function), row) in &tally.pairs {
        let (outer, inner) = match grouping {
            Grouping::FileFunction => (*file, *function),
            Grouping::FunctionFile => (*function, *file),
        };
        let counts = tally.costs(*row);
        let place = *places.entry(outer).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group {
                name: outer_names.text(outer),
                id: outer,
                counts: vec![0; counts.len()],
                running: Vec::new(),
                rows: Vec::new(),
            });
        }
        let Some(group) = groups.get_mut(place) else { continue };
        add_costs(&mut group.counts, counts);
        group.rows.push(CountedRow { key: Reverse(inner_names.text(inner)), counts: counts.into() });
    }
    let reaches = |counts: &[i64]| threshold.reaches(counts);
    groups.retain_mut(|group| {
        group.rows = rank(std::mem::take(&mut group.rows), order, reaches, usize::MAX).rows;
        !group.rows.is_empty()
    });
    groups.sort_by(|a, b| order.compare(&a.counts, &b.counts).then_with(|| b.name.cmp(a.name)));
    let mut sum = vec![0; tally.events.len()];
    for group in &mut groups {
        add_costs(&mut sum, &group.counts);
        group.running.clone_from(&sum);
    }
    groups
}

/// Functions as `file:function`, in order; `inclusive` with the costs of those they called.
pub(crate) fn functions<'a>(
    tally: &'a Tally,
    inclusive: bool,
    order: &Order<'_>,
    threshold: Threshold,
) -> Vec<CountedRow<'a, (Reverse<Vec<u8>>, Pair)>> {
    let rows = if inclusive { &tally.inclusive } else { &tally.pairs };
    let rows = rows.iter().map(|(pair, row)| CountedRow {
        key: (Reverse(tally.name(*pair)), *pair),
        counts: tally.costs(*row).into(),
    });
    rank(rows, order, |counts| threshold.reaches(counts), usize::MAX).rows
}
