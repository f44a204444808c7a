//! Profiles as numbers by position, and what differs between two of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// File, function and line.
pub type Position = (String, String, u64);

/// A profile's events and counts; every position has a number for every event.
pub struct Counts {
    /// The names of the events, in the order of the columns.
    pub events: Vec<String>,
    /// The counts by position.
    pub rows: BTreeMap<Position, Vec<u64>>,
}

/// A file name without `.` and doubled slashes, so that two spellings of one file are equal.
fn plain(name: &str) -> String {
    let mut path = PathBuf::new();
    for part in Path::new(name).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}

/// Reads a file in Cachegrind's format; its `summary:` must be the sum of its lines.
pub fn read(file: &Path) -> Counts {
    let text = String::from_utf8_lossy(&fs::read(file).expect("a profile")).into_owned();
    let mut counts = Counts { events: Vec::new(), rows: BTreeMap::new() };
    let (mut source, mut function) = (String::from("???"), String::from("???"));
    let mut summary = None;
    for line in text.lines() {
        let numbers = |rest: &str| -> Vec<u64> {
            rest.split_whitespace().map(|word| word.parse().expect("a number")).collect()
        };
        if let Some(rest) = line.strip_prefix("events:") {
            counts.events = rest.split_whitespace().map(str::to_owned).collect();
        } else if let Some(rest) = line.strip_prefix("fl=").or_else(|| line.strip_prefix("fi=")) {
            source = plain(rest);
        } else if let Some(rest) = line.strip_prefix("fe=") {
            source = plain(rest);
        } else if let Some(rest) = line.strip_prefix("fn=") {
            function = rest.to_owned();
        } else if let Some(rest) = line.strip_prefix("summary:") {
            summary = Some(numbers(rest));
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let values = numbers(line);
            let (number, values) = values.split_first().expect("a line number");
            let row = counts
                .rows
                .entry((source.clone(), function.clone(), *number))
                .or_insert_with(|| vec![0; counts.events.len()]);
            // A file may leave out the zeros at the end of a line.
            for (sum, value) in row.iter_mut().zip(values) {
                *sum += value;
            }
        } else {
            assert!(
                line.is_empty() || line.starts_with("desc:") || line.starts_with("cmd:"),
                "{}: a strange line: {line}",
                file.display()
            );
        }
    }
    let mut total = vec![0; counts.events.len()];
    for row in counts.rows.values() {
        for (sum, value) in total.iter_mut().zip(row) {
            *sum += value;
        }
    }
    assert_eq!(summary.as_ref(), Some(&total), "{}: the summary is not the sum", file.display());
    counts
}

/// A position that differs, with its counts in both.
pub struct Difference {
    /// Where.
    pub position: Position,
    /// The reference's counts.
    pub reference: Vec<u64>,
    /// Ours.
    pub ours: Vec<u64>,
}

/// What differs, sorted by position. A position that one of them does not have counts as zeros:
/// Valgrind also lists what it translated and did not run.
pub fn differences(reference: &Counts, ours: &Counts) -> Vec<Difference> {
    assert_eq!(reference.events, ours.events, "the events");
    let zeros = vec![0; reference.events.len()];
    let mut keys: Vec<&Position> = reference.rows.keys().chain(ours.rows.keys()).collect();
    keys.sort();
    keys.dedup();
    let of = |counts: &Counts, key| counts.rows.get(key).unwrap_or(&zeros).clone();
    let both = keys.into_iter().map(|key| Difference {
        position: key.clone(),
        reference: of(reference, key),
        ours: of(ours, key),
    });
    both.filter(|d| d.reference != d.ours).collect()
}
