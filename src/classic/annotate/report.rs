//! The head of the report, the totals and the functions.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::columns::{Columns, percent};
use super::options::{Options, Threshold};
use super::table::Table;
use crate::classic::failure::{Failure, shown};
use crate::classic::lenient::Count;

/// A line across.
pub(crate) const RULE: &[u8] =
    b"--------------------------------------------------------------------------------\n";

/// The events of a profile that the options choose.
#[derive(Debug)]
pub(crate) struct Order {
    /// The numbers of the events that are shown.
    pub shown: Vec<usize>,
    sorted: Vec<usize>,
    thresholds: Vec<Threshold>,
}

impl Order {
    /// Finds the events of `--show` and `--sort` and gives each of the latter its threshold.
    pub(crate) fn new(options: &Options, table: &Table) -> Result<Order, Failure> {
        let events = &table.head.events;
        let find = |option: &str, names: &[Vec<u8>]| -> Result<Vec<usize>, Failure> {
            if names.is_empty() {
                return Ok((0..events.len()).collect());
            }
            let number = |name: &Vec<u8>| {
                // Of two events with one name the last counts.
                events.iter().rposition(|event| event == name).ok_or_else(|| {
                    let (name, has) = (shown(name), shown(&events.join(&b' ')));
                    Failure::inside(format!("{option}: the profile has no event `{name}`; it has {has}"))
                })
            };
            names.iter().map(number).collect()
        };
        let (shown, sorted) = (find("--show", &options.show)?, find("--sort", &options.sort)?);
        let mut thresholds = options.thresholds.clone();
        if thresholds.is_empty() {
            thresholds = vec![Threshold::of("100"); sorted.len().max(1)];
            if let Some(first) = thresholds.first_mut() {
                first.clone_from(&options.threshold);
            }
        }
        Ok(Order { shown, sorted, thresholds })
    }
}

/// The block that says what was measured and what is shown.
pub(crate) fn header(options: &Options, order: &Order, table: &Table, out: &mut Vec<u8>) {
    let head = &table.head;
    let or_all = |names: &'_ [Vec<u8>]| -> Vec<u8> {
        if names.is_empty() { head.events.join(&b' ') } else { names.join(&b' ') }
    };
    let thresholds: Vec<&str> = order.thresholds.iter().map(|threshold| threshold.text.as_str()).collect();
    out.extend_from_slice(RULE);
    out.extend_from_slice(&head.desc.concat());
    line(out, "Command:", &head.cmd);
    line(out, "Data file:", &options.file);
    line(out, "Events recorded:", &head.events.join(&b' '));
    line(out, "Events shown:", &or_all(&options.show));
    line(out, "Event sort order:", &or_all(&options.sort));
    line(out, "Thresholds:", thresholds.join(" ").as_bytes());
    list(out, "Include dirs:", options.include.get(1..).unwrap_or_default());
    list(out, "User annotated:", &options.sources);
    line(out, "Auto-annotation:", if options.auto { b"on" } else { b"off" });
    out.push(b'\n');
}

fn line(out: &mut Vec<u8>, key: &str, value: &[u8]) {
    out.extend_from_slice(format!("{key:18}").as_bytes());
    out.extend_from_slice(value);
    out.push(b'\n');
}

fn list(out: &mut Vec<u8>, key: &str, values: &[Vec<u8>]) {
    line(out, key, values.first().map_or(b"", Vec::as_slice));
    for value in values.iter().skip(1) {
        line(out, "", value);
    }
}

/// The totals, and the functions that reach a threshold. Returns the files of the latter.
pub(crate) fn functions(
    options: &Options,
    order: &Order,
    table: &Table,
    out: &mut Vec<u8>,
) -> Result<BTreeSet<Vec<u8>>, Failure> {
    let columns = || Columns::new(&table.head.events, &order.shown, &table.summary, options.percentages);
    let (mut totals, mut each) = (columns(), columns());
    totals.fit(&table.summary);
    let mut functions: Vec<_> = table.functions().collect();
    for (_, counts) in &functions {
        each.fit(counts);
    }
    out.extend_from_slice(RULE);
    totals.head(out);
    out.push(b'\n');
    out.extend_from_slice(RULE);
    totals.row(&table.summary, out);
    out.extend_from_slice(b" PROGRAM TOTALS\n\n");
    out.extend_from_slice(RULE);
    each.head(out);
    out.extend_from_slice(b" file:function\n");
    out.extend_from_slice(RULE);

    if order.sorted.len() != order.thresholds.len() {
        return Err(Failure::new(format!(
            "--sort: {} events, but {} thresholds; give each event of one --sort its threshold",
            order.sorted.len(),
            order.thresholds.len()
        )));
    }
    functions.sort_unstable_by(|a, b| compare(order, a.1, b.1).then_with(|| a.0.cmp(b.0)));
    let mut files = BTreeSet::new();
    for (name, counts) in functions {
        if !reaches(order, table, counts) {
            break;
        }
        each.row(counts, out);
        out.push(b' ');
        out.extend_from_slice(name);
        out.push(b'\n');
        files.insert(file_of(name).to_vec());
    }
    out.push(b'\n');
    Ok(files)
}

fn at(counts: &[Count], column: usize) -> Count {
    counts.get(column).copied().unwrap_or(Count::UNDEFINED)
}

/// The larger first, by absolute values of one event after the other. `cg_annotate` takes an
/// undefined count for -1, and so for 1.
fn compare(order: &Order, a: &[Count], b: &[Count]) -> Ordering {
    let size = |counts, column| at(counts, column).get().unwrap_or(-1).unsigned_abs();
    let each = order.sorted.iter().map(|&column| size(b, column).cmp(&size(a, column)));
    each.fold(Ordering::Equal, Ordering::then)
}

/// Tells if a function reaches the threshold of any of its events.
fn reaches(order: &Order, table: &Table, counts: &[Count]) -> bool {
    let abs = |count: Count| count.or_zero().saturating_abs();
    order.sorted.iter().zip(&order.thresholds).any(|(&column, threshold)| {
        percent(abs(at(counts, column)), abs(at(&table.summary, column))) >= threshold.value
    })
}

/// The file in `file:function`: what is before the first colon that something follows.
fn file_of(name: &[u8]) -> &[u8] {
    let colon = name.iter().position(|&byte| byte == b':').filter(|&colon| colon + 1 < name.len());
    colon.and_then(|colon| name.get(..colon)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_functions() {
        for (name, file) in
            [("a.c:f", "a.c"), ("a:b.c:f", "a"), ("a.c:", "a.c:"), ("std::f", "std"), (":f", "")]
        {
            assert_eq!(file_of(name.as_bytes()), file.as_bytes());
        }
    }
}
