//! The figures as values, for the views that machines read and for rankings: what JSON and CSV write, in their order.

use std::io::{self, Write};

use serde::Serialize;

use super::derive::{Metric, Value};
use super::rows::{By, Choice, Row};
use super::tally::Tally;

/// The version of the JSON form. It changes when a field is renamed, removed or given another meaning, not when one is
/// added.
pub const VERSION: u32 = 1;

/// One document. Every `counts` has a number for each of `events`, every `derived` one for each of `derived`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What kind of document it is.
    pub format: &'static str,
    /// [`VERSION`].
    pub version: u32,
    /// Whether the first profile was taken away from the second.
    pub diff: bool,
    /// Whether functions are listed with the costs of those they call.
    pub inclusive: bool,
    /// The files that were read.
    pub profiles: Vec<Source>,
    /// The names of the events.
    pub events: Vec<String>,
    /// The derived columns.
    pub derived: Vec<Column>,
    /// The events that rows are sorted by.
    pub sort: Vec<String>,
    /// Rows with a smaller share of the first of `sort`, in percent, are left out.
    pub threshold: f64,
    /// Of the whole.
    pub total: Figures,
    /// By file and function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<Function>>,
    /// By file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<File>>,
    /// By file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<Line>>,
}

/// A profile, as it describes itself.
#[derive(Clone, Debug, Serialize)]
pub struct Source {
    /// The file's name.
    pub file: String,
    /// The command that was profiled.
    pub command: String,
    /// Its lines of description.
    pub description: Vec<String>,
}

/// A derived column.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are in.
    pub unit: &'static str,
    /// How they are computed.
    pub formula: String,
    /// Whether they are a guess.
    pub estimate: bool,
}

/// A number of a derived column; none where it would be a share of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A count.
    Count(i64),
    /// A share.
    Share(Option<f64>),
}

/// The numbers of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// One for each event.
    pub counts: Vec<i64>,
    /// One for each derived column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<Number>,
}

/// A function, as far as its code is from one file.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    /// The file.
    pub file: String,
    /// The function.
    pub function: String,
    /// Its numbers.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A source file.
#[derive(Clone, Debug, Serialize)]
pub struct File {
    /// The file.
    pub file: String,
    /// Its numbers.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A source line.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The file.
    pub file: String,
    /// The number; 0 if it is not known.
    pub line: u64,
    /// Its numbers.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Report {
    /// A report with rows of these kinds, at most `count` of each.
    #[must_use]
    pub fn new(what: &What<'_>, kinds: &[By], count: usize) -> Report {
        let What { tally, metrics, .. } = *what;
        let choice = Choice { tally, sort: what.sort, first: what.first, threshold: what.threshold };
        let rows = |by: By| {
            let mut rows = if kinds.contains(&by) { choice.rows(by, what.inclusive) } else { return None };
            rows.truncate(count);
            Some(rows)
        };
        let figures = |row: &Row<'_>| Figures::new(&row.counts, metrics);
        let function = |row: Row<'_>| Function {
            file: text(row.file),
            function: text(row.function),
            figures: figures(&row),
        };
        let file = |row: Row<'_>| File { file: text(row.file), figures: figures(&row) };
        let line =
            |row: Row<'_>| Line { file: text(row.file), line: row.line.unwrap_or(0), figures: figures(&row) };
        let sources = what.names.iter().zip(&tally.origins).map(|(name, origin)| Source {
            file: text(name),
            command: text(&origin.cmd),
            description: origin.desc.iter().map(|line| text(line)).collect(),
        });
        let mut sort: Vec<String> = what.first.iter().map(|metric| metric.name.to_owned()).collect();
        sort.extend(texts(&tally.events, what.sort));
        Report {
            format: "cgemu-profile",
            version: VERSION,
            diff: what.diff,
            inclusive: what.inclusive,
            profiles: sources.collect(),
            events: tally.events.iter().map(|event| text(event)).collect(),
            derived: metrics.iter().map(Column::new).collect(),
            sort,
            threshold: what.threshold,
            total: Figures::new(&tally.total, metrics),
            functions: rows(By::Function).map(|rows| rows.into_iter().map(function).collect()),
            files: rows(By::File).map(|rows| rows.into_iter().map(file).collect()),
            lines: rows(By::Line).map(|rows| rows.into_iter().map(line).collect()),
        }
    }

    /// Writes it as JSON, in lines that a human can read too.
    ///
    /// # Errors
    /// If writing fails.
    pub fn json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes it as CSV (RFC 4180): a row for the whole, then one for each function, file and line.
    ///
    /// # Errors
    /// If writing fails.
    pub fn csv(&self, out: &mut impl Write) -> io::Result<()> {
        let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        let keys =
            ["kind", "file", "function", "line"].into_iter().chain(self.events.iter().map(String::as_str));
        csv.write_record(keys.chain(self.derived.iter().map(|column| column.name)))?;
        let mut row = |place: [&str; 4], figures: &Figures| {
            let counts = figures.counts.iter().map(i64::to_string);
            let derived = figures.derived.iter().map(Number::text);
            csv.write_record(place.into_iter().map(str::to_owned).chain(counts).chain(derived))
        };
        row(["total", "", "", ""], &self.total)?;
        for function in self.functions.iter().flatten() {
            row(["function", &function.file, &function.function, ""], &function.figures)?;
        }
        for file in self.files.iter().flatten() {
            row(["file", &file.file, "", ""], &file.figures)?;
        }
        for line in self.lines.iter().flatten() {
            row(["line", &line.file, "", &line.line.to_string()], &line.figures)?;
        }
        csv.flush()
    }
}

impl Column {
    /// The column of a metric.
    pub fn new(metric: &Metric) -> Column {
        Column {
            name: metric.name,
            unit: metric.unit.name(),
            formula: metric.formula.clone(),
            estimate: metric.is_estimate(),
        }
    }
}

impl Figures {
    /// The counts and what is computed from them.
    pub fn new(counts: &[i64], metrics: &[Metric]) -> Figures {
        let number = |metric: &Metric| match metric.value(counts) {
            Value::Count(count) => Number::Count(count),
            Value::Share(share) => Number::Share(share),
        };
        Figures { counts: counts.to_vec(), derived: metrics.iter().map(number).collect() }
    }
}

impl Number {
    /// As a field of CSV.
    pub fn text(&self) -> String {
        match self {
            Number::Count(count) => count.to_string(),
            Number::Share(Some(share)) => share.to_string(),
            Number::Share(None) => String::new(),
        }
    }
}

/// What a report is of.
#[derive(Clone, Copy, Debug)]
pub struct What<'a> {
    /// The sums.
    pub tally: &'a Tally,
    /// The names of the profiles, as given.
    pub names: &'a [Vec<u8>],
    /// Whether the first was taken away.
    pub diff: bool,
    /// Whether functions have the costs of those they call.
    pub inclusive: bool,
    /// The derived columns.
    pub metrics: &'a [Metric],
    /// The metric that rows are sorted by first, if any.
    pub first: Option<&'a Metric>,
    /// The events that rows are sorted by, by place.
    pub sort: &'a [usize],
    /// The least share of the first of these, in percent.
    pub threshold: f64,
}

/// The names of the events at these places.
pub fn texts(events: &[Vec<u8>], places: &[usize]) -> Vec<String> {
    places.iter().filter_map(|at| events.get(*at)).map(|event| text(event)).collect()
}

/// Names are bytes; JSON and CSV have text.
pub fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
