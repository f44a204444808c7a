//! Two profiles of one program, function by function.

use std::collections::{BTreeMap, BTreeSet};

use super::programs::Program;
use crate::common::counts::Counts;
use crate::exact::setting::Model;

/// How often something was done; the other events say how often it missed.
const REFERENCES: [&str; 5] = ["Ir", "Dr", "Dw", "Bc", "Bi"];

/// The head of the table.
pub const HEAD: &str = "\
| program | model | Ir | functions | of them differ | by Ir in all | equal totals | largest difference of a miss counter | why |
|---|---|--:|--:|--:|--:|--:|--:|---|";

/// What the rules say.
pub enum Judgement {
    Good,
    Bad(String),
}

/// A function with its counts of references in both, where they differ.
struct Difference {
    name: String,
    theirs: Vec<u64>,
    ours: Vec<u64>,
}

/// A program by a model.
pub struct Compared {
    program: &'static Program,
    model: &'static Model,
    events: Vec<String>,
    theirs: Vec<u64>,
    ours: Vec<u64>,
    functions: usize,
    differences: Vec<Difference>,
}

fn totals(counts: &Counts) -> Vec<u64> {
    let mut sums = vec![0; counts.events.len()];
    counts.rows.values().for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, n)| *sum += n));
    sums
}

/// The counts of references by function. Profiles name no objects, so functions of one name count
/// together.
fn by_function(counts: &Counts) -> BTreeMap<String, Vec<u64>> {
    let places: Vec<usize> = (0..counts.events.len())
        .filter(|i| counts.events.get(*i).is_some_and(|event| REFERENCES.contains(&event.as_str())))
        .collect();
    let mut functions: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for ((_, function, _), row) in &counts.rows {
        let sums = functions.entry(function.clone()).or_insert_with(|| vec![0; places.len()]);
        sums.iter_mut().zip(&places).for_each(|(sum, place)| *sum += row[*place]);
    }
    // Valgrind also lists what it translated and did not run.
    functions.retain(|_, sums| sums.iter().any(|n| *n > 0));
    functions
}

/// What a function did, by file and line.
type Lines<'a> = Vec<(&'a str, u64, &'a Vec<u64>)>;

/// The functions that one side has and the other does not, with what they did.
fn only_in<'a>(one: &'a Counts, other: &Counts) -> BTreeMap<&'a str, Lines<'a>> {
    let known: BTreeSet<&str> = other.rows.keys().map(|(_, function, _)| function.as_str()).collect();
    let mut lines: BTreeMap<&str, Lines> = BTreeMap::new();
    for ((file, function, line), row) in &one.rows {
        if !known.contains(function.as_str()) && row.iter().any(|n| *n > 0) {
            lines.entry(function).or_default().push((file, *line, row));
        }
    }
    lines
}

/// Ours with Valgrind's names where only the spelling differs, as docs/counting.md says of C++: a
/// function that only one side has, and one that only the other has, which did the same on the same
/// lines.
fn respelled(theirs: &Counts, ours: &Counts) -> Counts {
    let (left, mut right) = (only_in(theirs, ours), only_in(ours, theirs));
    let mut names = BTreeMap::new();
    for (name, lines) in left {
        let same = right.iter().find(|(_, others)| **others == lines).map(|(other, _)| *other);
        if let Some(other) = same {
            right.remove(other);
            names.insert(other, name);
        }
    }
    let mut rows = BTreeMap::new();
    for ((file, function, line), row) in &ours.rows {
        let name = names.get(function.as_str()).map_or(function.clone(), |name| (*name).to_owned());
        rows.insert((file.clone(), name, *line), row.clone());
    }
    Counts { events: ours.events.clone(), rows }
}

impl Compared {
    pub fn new(program: &'static Program, model: &'static Model, theirs: &Counts, ours: &Counts) -> Compared {
        assert_eq!(theirs.events, ours.events, "the events");
        let ours = &respelled(theirs, ours);
        let (left, right) = (by_function(theirs), by_function(ours));
        let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
        names.sort();
        names.dedup();
        let of = |side: &BTreeMap<String, Vec<u64>>, name| {
            side.get(name).cloned().unwrap_or_else(|| vec![0; REFERENCES.len()])
        };
        let differences = names.iter().map(|&name| Difference {
            name: name.clone(),
            theirs: of(&left, name),
            ours: of(&right, name),
        });
        Compared {
            program,
            model,
            events: theirs.events.clone(),
            theirs: totals(theirs),
            ours: totals(ours),
            functions: names.len(),
            differences: differences.filter(|d| d.theirs != d.ours).collect(),
        }
    }

    /// The counters of misses, with how far ours is from Valgrind's in percent.
    fn misses(&self) -> impl Iterator<Item = (&String, f64)> {
        let both = self.events.iter().zip(self.theirs.iter().zip(&self.ours));
        both.filter(|(event, _)| !REFERENCES.contains(&event.as_str())).map(|(event, (theirs, ours))| {
            (event, (*ours as f64 - *theirs as f64) * 100.0 / (*theirs).max(1) as f64)
        })
    }

    fn ir(&self, side: &[u64]) -> u64 {
        self.events.iter().position(|event| event == "Ir").map_or(0, |i| side[i])
    }

    /// A row of the table.
    pub fn row(&self) -> String {
        let equal = self.theirs.iter().zip(&self.ours).filter(|(a, b)| a == b).count();
        let (event, miss) = self.misses().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).expect("events");
        let miss = if miss == 0.0 { "none".to_owned() } else { format!("{event} {miss:+.3} %") };
        let (theirs, ours) = (self.ir(&self.theirs), self.ir(&self.ours));
        let why = self.program.reasons.iter().map(|reason| format!("`{}`", reason.name)).collect::<Vec<_>>();
        format!(
            "| {} | {} | {} | {} | {} | {:+} | {equal} of 13 | {miss} | {} |",
            self.program.name,
            self.model.name,
            theirs,
            self.functions,
            self.differences.len(),
            ours as i64 - theirs as i64,
            why.join(", "),
        )
    }

    /// No function may differ but for a reason, and without one no total; misses by one percent at
    /// most, unless a reason changes where everything lies.
    pub fn judge(&self) -> Judgement {
        let mut text = String::new();
        let reasons = self.program.reasons;
        let excused = |name: &str| {
            reasons.iter().any(|reason| reason.functions.is_empty() || reason.functions.contains(&name))
        };
        for found in self.differences.iter().filter(|found| !excused(&found.name)) {
            text += &format!("\n  {}:", found.name);
            for (i, event) in self.references().enumerate() {
                let (theirs, ours) = (found.theirs[i], found.ours[i]);
                if theirs != ours {
                    text += &format!(" {event} {theirs} and not {ours},");
                }
            }
        }
        if reasons.is_empty() {
            for (event, (theirs, ours)) in self.events.iter().zip(self.theirs.iter().zip(&self.ours)) {
                if theirs != ours {
                    text += &format!("\n  in all {event} {theirs} and not {ours}");
                }
            }
        }
        let elsewhere = reasons.iter().any(|reason| reason.functions.is_empty());
        for (event, percent) in self.misses().filter(|(_, percent)| !elsewhere && percent.abs() > 1.0) {
            text += &format!("\n  in all {event} differs by {percent:+.3} %");
        }
        if text.is_empty() { Judgement::Good } else { Judgement::Bad(text) }
    }

    fn references(&self) -> impl Iterator<Item = &String> {
        self.events.iter().filter(|event| REFERENCES.contains(&event.as_str()))
    }
}
