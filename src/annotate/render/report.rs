//! Rankings as JSON and as CSV; `docs/json.md` describes the documents.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use crate::annotate::error::AnnotateError;
use crate::annotate::input::ProfileFile;
use crate::annotate::options::{Format, Input};
use crate::annotate::tally::Tally;
use crate::annotate::view::difference::{Before, Sides};
use crate::annotate::view::metric::{Metric, Value};
use crate::annotate::view::ranking::{By, CountedRow, Order, SourceKey, Threshold, rank, tally_rows};
use crate::console::{Console, Notation, one_line};

/// The version of the JSON form. It changes when a field is renamed, removed or given another
/// meaning, not when one is added.
const VERSION: u32 = 1;

/// A document. Every `counts` has a number for each of `events`, every `derived` one for each of
/// `derived`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// The kind of the document.
    format: &'static str,
    /// [`VERSION`].
    version: u32,
    /// True for the second profile less the first.
    diff: bool,
    /// True for functions with the costs of those they call.
    inclusive: bool,
    /// The files that were read.
    profiles: Vec<Source>,
    /// The names of the events.
    events: Vec<String>,
    /// The derived columns.
    derived: Vec<Column>,
    /// The events that rows are sorted by.
    sort: Vec<String>,
    /// Rows with a smaller share of the first of `sort`, in percent, are left out.
    threshold: f64,
    /// Of the whole.
    total: Figures,
    /// By file and function.
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<Vec<Function>>,
    /// By file.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<File>>,
    /// By file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<Line>>,
}

/// A profile and its description.
#[derive(Clone, Debug, Serialize)]
struct Source {
    /// The file's name.
    file: String,
    /// The command that was profiled.
    command: String,
    /// Its lines of description.
    description: Vec<String>,
}

/// A derived column.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: &'static str,
    /// The unit of its values.
    unit: &'static str,
    /// The formula, with the names of events.
    formula: String,
    /// True for an estimate.
    estimate: bool,
}

/// The numbers of a row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    /// One for each event.
    counts: Vec<i64>,
    /// In a difference.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    sides: Option<SideFigures>,
    /// One for each derived column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    derived: Vec<Value>,
}

/// The sides of a difference; a number for each event.
#[derive(Clone, Debug, Serialize)]
struct SideFigures {
    /// In the first profile.
    old: Vec<i64>,
    /// In the second.
    new: Vec<i64>,
    /// The difference, of the total of the first.
    percent_of_old_total: Vec<Option<f64>>,
}

/// A function, as far as its code is from one file.
#[derive(Clone, Debug, Serialize)]
struct Function {
    /// The file.
    file: String,
    /// The function.
    function: String,
    /// Its numbers.
    #[serde(flatten)]
    figures: Figures,
}

/// A source file.
#[derive(Clone, Debug, Serialize)]
struct File {
    /// The file.
    file: String,
    /// Its numbers.
    #[serde(flatten)]
    figures: Figures,
}

/// A source line.
#[derive(Clone, Debug, Serialize)]
struct Line {
    /// The file.
    file: String,
    /// The number; 0 if it is not known.
    line: u64,
    /// Its numbers.
    #[serde(flatten)]
    figures: Figures,
}

impl Report {
    /// A report with rows of these kinds, at most `count` of each.
    pub(crate) fn new(subject: &Subject<'_>, kinds: &[By], count: usize) -> Report {
        let Subject { tally, metrics, input, order, threshold, .. } = *subject;
        let kept = files_above(tally, threshold);
        let rows = |by: By| {
            let mut rows = kinds.contains(&by).then(|| tally_rows(tally, by, input.inclusive))?;
            if by == By::File {
                rows.retain(|row| kept.contains(row.key.file));
            }
            let keep = |counts: &[i64]| by == By::File || threshold.reaches(counts);
            Some(rank(rows, &order, keep, count).rows)
        };
        let before = Before::of(tally, input.inclusive);
        let figures = |by: By, row: &KeyedRow<'_>| {
            let sides = before.map(|before| before.sides(by, row.key, &row.counts));
            Figures::new(&row.counts, metrics).with_sides(sides)
        };
        let function = |row: KeyedRow<'_>| Function {
            file: text(row.key.file),
            function: text(row.key.function),
            figures: figures(By::Function, &row),
        };
        let file = |row: KeyedRow<'_>| File { file: text(row.key.file), figures: figures(By::File, &row) };
        let line = |row: KeyedRow<'_>| Line {
            file: text(row.key.file),
            line: row.key.line.unwrap_or(0),
            figures: figures(By::Line, &row),
        };
        let sources = subject.profiles.iter().zip(&tally.origins).map(|(profile, origin)| Source {
            file: text(&profile.name),
            command: text(&origin.cmd),
            description: origin.desc.iter().map(|line| text(line)).collect(),
        });
        let mut sort: Vec<String> = order.first.iter().map(|metric| metric.name.to_owned()).collect();
        sort.extend(texts(&tally.events, order.sort));
        Report {
            format: "cgemu-profile",
            version: VERSION,
            diff: input.diff,
            inclusive: input.inclusive,
            profiles: sources.collect(),
            events: tally.events.iter().map(|event| text(event)).collect(),
            derived: metrics.iter().map(Column::new).collect(),
            sort,
            threshold: subject.percent,
            total: Figures::new(&tally.total, metrics)
                .with_sides(before.map(|before| before.whole(&tally.total))),
            functions: rows(By::Function).map(|rows| rows.into_iter().map(function).collect()),
            files: rows(By::File).map(|rows| rows.into_iter().map(file).collect()),
            lines: rows(By::Line).map(|rows| rows.into_iter().map(line).collect()),
        }
    }

    /// Writes it as JSON or as CSV.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(&self, format: Format, out: &mut Console<impl Write>) -> Result<(), AnnotateError> {
        match format {
            Format::Json => write_json(self, out)?,
            _ => self.csv(out)?,
        }
        out.flush()?;
        Ok(())
    }

    /// Writes a row for the total, then one for each function, file and line.
    fn csv(&self, out: &mut Console<impl Write>) -> io::Result<()> {
        let words = ["kind", "file", "function", "line"];
        let mut csv = Csv::new(out, &words, &self.events, &self.derived, self.diff)?;
        let mut row = |place: [&str; 4], figures: &Figures| csv.row(&place, figures);
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

/// A CSV file (RFC 4180): columns of words, then the figures.
pub(crate) struct Csv<W: Write> {
    writer: csv::Writer<W>,
    words: usize,
}

impl<W: Write> Csv<W> {
    /// A file with these columns; writes its first row.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn new(
        out: W,
        words: &[&str],
        events: &[String],
        derived: &[Column],
        diff: bool,
    ) -> io::Result<Csv<W>> {
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        let names = words.iter().map(|word| Cow::from(*word)).chain(events.iter().map(|name| cell(name)));
        let names = names.chain(derived.iter().map(|column| column.name.into())).map(Cow::into_owned);
        let kinds = ["old", "new", "percent of old total"].iter().filter(|_| diff);
        let sides = kinds.flat_map(|kind| events.iter().map(move |name| format!("{} {kind}", cell(name))));
        writer.write_record(names.chain(sides))?;
        Ok(Csv { writer, words: words.len() })
    }

    /// Writes a row; columns that `words` does not reach stay empty.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn row(&mut self, words: &[&str], figures: &Figures) -> io::Result<()> {
        let words = words.iter().copied().chain(std::iter::repeat("")).take(self.words);
        let counts = figures.counts.iter().map(i64::to_string);
        let derived = figures.derived.iter().map(|value| value.plain());
        let sides = figures.sides.iter().flat_map(|SideFigures { old, new, percent_of_old_total }| {
            let shares = percent_of_old_total.iter();
            let shares = shares.map(|share| share.map_or(String::new(), |share| share.to_string()));
            old.iter().chain(new).map(i64::to_string).chain(shares)
        });
        let words = words.map(|word| cell(word).into_owned());
        Ok(self.writer.write_record(words.chain(counts).chain(derived).chain(sides))?)
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A word for a spreadsheet: in one line, and with an apostrophe in front of what would begin a
/// formula (OWASP, CSV Injection). A tab or a carriage return at the beginning is shown as text.
fn cell(word: &str) -> Cow<'_, str> {
    let word = one_line(word);
    match word.chars().next() {
        Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') => Cow::Owned(format!("'{word}")),
        _ => word,
    }
}

/// Writes JSON in lines that people can read too.
///
/// # Errors
/// If writing fails.
pub(crate) fn write_json(document: &impl Serialize, out: &mut Console<impl Write>) -> io::Result<()> {
    out.set_notation(Notation::Json);
    serde_json::to_writer_pretty(&mut *out, document)?;
    out.set_notation(Notation::Caret);
    writeln!(out)
}

impl Column {
    /// The column of a metric.
    pub(crate) fn new(metric: &Metric) -> Column {
        Column {
            name: metric.name,
            unit: metric.unit.name(),
            formula: metric.formula.clone(),
            estimate: metric.is_estimate(),
        }
    }
}

impl Figures {
    /// Counts and the metrics computed from them.
    pub(crate) fn new(counts: &[i64], metrics: &[Metric]) -> Figures {
        let derived = metrics.iter().map(|metric| metric.value(counts)).collect();
        Figures { counts: counts.to_vec(), sides: None, derived }
    }

    /// The same with the sides of a difference.
    fn with_sides(self, sides: Option<Sides>) -> Figures {
        let figures = |Sides { old, new, shares }| SideFigures { old, new, percent_of_old_total: shares };
        Figures { sides: sides.map(figures), ..self }
    }
}

type KeyedRow<'a> = CountedRow<'a, SourceKey<'a>>;

/// The subject of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// The sums.
    pub(crate) tally: &'a Tally,
    /// The profiles.
    pub(crate) profiles: &'a [ProfileFile],
    /// The way in which they were combined.
    pub(crate) input: &'a Input,
    /// The derived columns.
    pub(crate) metrics: &'a [Metric],
    /// The order of rows.
    pub(crate) order: Order<'a>,
    /// The least share of the first event of the order, in percent.
    pub(crate) percent: f64,
    /// The test for it.
    pub(crate) threshold: Threshold,
}

/// The files with a function that reaches the threshold, as [`groups`] chooses them.
///
/// [`groups`]: crate::annotate::view::groups::groups
fn files_above(tally: &Tally, threshold: Threshold) -> BTreeSet<&[u8]> {
    let pairs = tally.pairs.iter().filter(|(_, row)| threshold.reaches(tally.costs(**row)));
    pairs.map(|((file, _), _)| tally.files.text(*file)).collect()
}

/// The names of the events with these indices.
pub(crate) fn texts(events: &[Vec<u8>], indices: &[usize]) -> Vec<String> {
    indices.iter().filter_map(|at| events.get(*at)).map(|event| text(event)).collect()
}

/// A name as text. Names are bytes; JSON and CSV have text.
pub(crate) fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
