//! What `cg_annotate` of Valgrind 3.28 prints, for files of Cachegrind and of Callgrind: totals, functions by file, files by function,
//! and source files with the counts of their lines.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Write};

mod asm;
mod code;
mod columns;
mod derive;
mod error;
mod functions;
mod inline;
mod intake;
mod names;
mod paint;
mod report;
mod rows;
mod source;
mod sourcepath;
mod tally;
mod top;

pub use asm::{AsmOptions, Syntax, annotate_asm};
use columns::{Counts, Shown};
pub use derive::known as known_metrics;
use derive::{Metric, NoMetric};
pub use error::AnnotateError;
use functions::Ranking;
pub use inline::annotate_inline;
use intake::Reading;
pub use names::NameStyle;
use report::{Report, What};
pub use rows::By;
use rows::Choice;
use source::Dated;
pub use sourcepath::SourcePath;
pub use tally::Renaming;
use tally::{Origin, Refused, Tally};
pub use top::Look;

const RULE: &[u8] = b"--------------------------------------------------------------------------------";

/// Which profiles are read, and how they are put together.
#[derive(Clone, Debug)]
pub struct Input {
    /// The profiles, at least one.
    pub profiles: Vec<OsString>,
    /// Show the second of two profiles less the first, instead of the sum.
    pub diff: bool,
    /// Changes to the names in the profiles.
    pub renaming: Renaming,
    /// List functions with the costs of those they call; for Callgrind files.
    pub inclusive: bool,
}

/// For whom the figures are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// As JSON; `docs/json.md` describes it.
    Json,
    /// As CSV (RFC 4180).
    Csv,
}

/// What is to be annotated, and how: the options of `cg_annotate`, and some of ours.
#[derive(Clone, Debug)]
pub struct Options {
    /// The profiles.
    pub input: Input,
    /// The events to show; `None` for all.
    pub show: Option<Vec<String>>,
    /// The events to sort by; `None` for all in their order.
    pub sort: Option<Vec<String>>,
    /// The share in percent that a file or function must have to be listed.
    pub threshold: f64,
    /// Whether shares are shown beside counts.
    pub percentages: bool,
    /// Whether source files are annotated.
    pub annotate: bool,
    /// Lines shown before and after each that has counts.
    pub context: u64,
    /// The derived columns that are asked for.
    pub derive: Vec<String>,
    /// The form of the output.
    pub format: Format,
    /// Whether text is coloured.
    pub colour: bool,
    /// Where source files are now.
    pub source_paths: Vec<SourcePath>,
    /// The command line, for the `Invocation:` line.
    pub invocation: Vec<u8>,
}

/// A ranking: `cgemu top`.
#[derive(Clone, Debug)]
pub struct TopOptions {
    /// The profiles.
    pub input: Input,
    /// What is ranked.
    pub by: By,
    /// How many rows there are at most.
    pub count: usize,
    /// The event or derived column to sort by; `None` for the first event.
    pub sort: Option<String>,
    /// The events to show; `None` for the one that is sorted by.
    pub show: Option<Vec<String>>,
    /// The derived columns that are asked for.
    pub derive: Vec<String>,
    /// The form of the output.
    pub format: Format,
    /// How a table is drawn.
    pub look: Look,
}

/// Reads the profiles and writes the annotation.
///
/// # Errors
/// If a profile cannot be read or is malformed, if the profiles do not fit together, if an event that is asked
/// for is not there, or if writing fails. Nothing is written before the profiles are read.
pub fn annotate(options: &Options, out: &mut impl Write) -> Result<(), AnnotateError> {
    let (tally, profiles) = read_all(&options.input)?;
    let show = chosen_events(&tally.events, options.show.as_deref(), "--show")?;
    let sort = chosen_events(&tally.events, options.sort.as_deref(), "--sort")?;
    let metrics = metrics(&options.derive, &tally.events)?;
    if options.format != Format::Text {
        let names: Vec<Vec<u8>> = profiles.into_iter().map(|profile| profile.name).collect();
        let what = What {
            tally: &tally,
            names: &names,
            diff: options.input.diff,
            inclusive: options.input.inclusive,
            metrics: &metrics,
            first: None,
            sort: &sort,
            threshold: options.threshold,
        };
        let kinds = [By::Function, By::File, By::Line];
        let kinds = kinds.get(..if options.annotate { 3 } else { 2 }).unwrap_or(&kinds);
        return write(&Report::new(&what, kinds, usize::MAX), options.format, out);
    }
    let pick = |from: &[i64]| show.iter().map(|at| from.get(*at).copied().unwrap_or(0)).collect();
    let shown = Shown {
        names: names_of(&tally.events, &show),
        totals: pick(&tally.total),
        indices: show,
        percentages: options.percentages,
        metrics,
        colour: options.colour,
    };
    metadata(options, &tally, &shown, &names_of(&tally.events, &sort), out)?;

    heading(out, b"Summary")?;
    let total = Counts { own: &tally.total, running: None };
    let table = shown.table([total]);
    table.head(out)?;
    write!(out, "\n\n")?;
    table.line(out, total)?;
    write!(out, " PROGRAM TOTALS\n\n")?;

    let ranking = Ranking { tally: &tally, shown: &shown, sort: &sort, threshold: options.threshold };
    let chosen = if options.input.inclusive {
        heading(out, b"Function summary, inclusive")?;
        ranking.inclusive(out)?
    } else {
        heading(out, b"File:function summary")?;
        let chosen = ranking.files(out)?;
        heading(out, b"Function:file summary")?;
        ranking.functions(out)?;
        chosen
    };

    if options.annotate {
        let look = source::Look { context: options.context, paths: &options.source_paths };
        source::annotate(&tally, &shown, &chosen, look, &profiles, out)?;
    }
    out.flush()?;
    Ok(())
}

/// Reads the profiles and writes the ranking.
///
/// # Errors
/// As those of [`annotate`].
pub fn top(options: &TopOptions, out: &mut impl Write) -> Result<(), AnnotateError> {
    let (tally, profiles) = read_all(&options.input)?;
    let events = &tally.events;
    let mut derive = options.derive.clone();
    let place = |name: &String| events.iter().position(|event| event == name.as_bytes());
    let by_event = options.sort.as_ref().is_none_or(|name| place(name).is_some());
    derive.extend(options.sort.iter().filter(|_| !by_event).cloned());
    let metrics = match metrics(&derive, events) {
        Err(_) if !by_event && options.derive.is_empty() => {
            // One word that is neither.
            chosen_events(events, options.sort.clone().map(|name| vec![name]).as_deref(), "--sort")?;
            Vec::new()
        }
        metrics => metrics?,
    };
    let named = |metric: &&Metric| options.sort.as_ref().is_some_and(|n| metric.name.eq_ignore_ascii_case(n));
    let first = metrics.iter().find(named).filter(|_| !by_event);
    let asked = options.sort.clone().filter(|_| by_event).map(|name| vec![name]);
    let mut sort = chosen_events(events, asked.as_deref(), "--sort")?;
    let show = match &options.show {
        Some(show) => chosen_events(events, Some(show), "--show")?,
        None => sort.first().copied().into_iter().collect(),
    };
    // Where the counts are equal, the other events decide.
    let others: Vec<usize> = (0..events.len()).filter(|at| !sort.contains(at)).collect();
    sort.extend(others);
    let input = &options.input;
    if options.format != Format::Text {
        let names: Vec<Vec<u8>> = profiles.into_iter().map(|profile| profile.name).collect();
        let what = What {
            tally: &tally,
            names: &names,
            diff: input.diff,
            inclusive: input.inclusive,
            metrics: &metrics,
            first,
            sort: &sort,
            threshold: 0.0,
        };
        return write(&Report::new(&what, &[options.by], options.count), options.format, out);
    }
    let ranking = top::Ranking {
        tally: &tally,
        by: options.by,
        inclusive: input.inclusive,
        count: options.count,
        show: &show,
        metrics: &metrics,
        choice: Choice { tally: &tally, sort: &sort, first, threshold: 0.0 },
    };
    ranking.write(options.look, out)?;
    out.flush()?;
    Ok(())
}

fn write(report: &Report, format: Format, out: &mut impl Write) -> Result<(), AnnotateError> {
    match format {
        Format::Json => report.json(out)?,
        _ => report.csv(out)?,
    }
    out.flush()?;
    Ok(())
}

/// The derived columns that are asked for.
fn metrics(words: &[String], events: &[Vec<u8>]) -> Result<Vec<Metric>, AnnotateError> {
    derive::choose(words, events).map_err(|(name, why)| match why {
        NoMetric::Unknown => AnnotateError::NoSuchMetric { name, known: derive::known() },
        NoMetric::Needs(event) => AnnotateError::MetricNeeds { name, event, known: readable(events) },
    })
}

fn read_all(options: &Input) -> Result<(Tally, Vec<Dated>), AnnotateError> {
    let mut tally = Tally::default();
    let mut profiles = Vec::new();
    for (at, path) in options.profiles.iter().enumerate() {
        let name = path.to_string_lossy().into_owned();
        let file = match File::open(path) {
            Ok(file) => file,
            Err(reason) => return Err(AnnotateError::Open { file: name, reason }),
        };
        let modified = file.metadata().and_then(|data| data.modified()).ok();
        profiles.push(Dated { name: path.as_encoded_bytes().to_vec(), modified });
        let reading = Reading {
            renaming: &options.renaming,
            negate: options.diff && at == 0,
            inclusive: options.inclusive,
        };
        // Large reads: a profile may be a gigabyte.
        let input = BufReader::with_capacity(1 << 18, file);
        tally.add(input, &name, reading).map_err(|refused| match refused {
            Refused::Read(error) => AnnotateError::Read(error),
            Refused::NoCalls => AnnotateError::NoCalls { file: name },
            Refused::Sum(problem) => AnnotateError::Sum { file: name, problem },
            Refused::Events(events) => AnnotateError::EventsDiffer {
                first: options.profiles.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
                first_events: readable(&tally.events),
                other: name,
                other_events: readable(&events),
            },
        })?;
    }
    Ok((tally, profiles))
}

/// The places of the events that are asked for among those there are.
fn chosen_events(
    events: &[Vec<u8>],
    asked: Option<&[String]>,
    option: &'static str,
) -> Result<Vec<usize>, AnnotateError> {
    let Some(asked) = asked else { return Ok((0..events.len()).collect()) };
    let place =
        |name: &String| {
            events.iter().position(|event| event == name.as_bytes()).ok_or_else(|| {
                AnnotateError::NoSuchEvent { option, event: name.clone(), known: readable(events) }
            })
        };
    asked.iter().map(place).collect()
}

fn names_of(events: &[Vec<u8>], places: &[usize]) -> Vec<Vec<u8>> {
    places.iter().filter_map(|at| events.get(*at).cloned()).collect()
}

fn readable(events: &[Vec<u8>]) -> String {
    String::from_utf8_lossy(&events.join(&b' ')).into_owned()
}

/// The first section: what the figures are of, and what was asked for.
fn metadata(
    options: &Options,
    tally: &Tally,
    shown: &Shown,
    sort: &[Vec<u8>],
    out: &mut impl Write,
) -> std::io::Result<()> {
    heading(out, b"Metadata")?;
    field(out, "Invocation:", &options.invocation)?;
    let origins = &tally.origins;
    let one_description = origins.windows(2).all(|pair| pair.first().map(desc) == pair.last().map(desc));
    for (at, origin) in origins.iter().enumerate() {
        let mut lines = origin.desc.iter().map(Vec::as_slice).collect::<Vec<_>>();
        let same = format!("(same as Description {})", 1 + position(origins, origin, desc));
        if !one_description {
            if position(origins, origin, desc) < at {
                lines = vec![same.as_bytes()];
            }
            writeln!(out, "Description {}:", at + 1)?;
        } else if at > 0 {
            break;
        }
        for line in lines {
            out.write_all(line)?;
            writeln!(out)?;
        }
    }
    for (at, origin) in origins.iter().enumerate() {
        let first = position(origins, origin, cmd);
        match origins.len() {
            1 => field(out, "Command:", &origin.cmd)?,
            _ if first < at => {
                let same = format!("(same as Command {})", first + 1);
                field(out, &format!("Command {}:", at + 1), same.as_bytes())?;
            }
            _ => field(out, &format!("Command {}:", at + 1), &origin.cmd)?,
        }
    }
    field(out, "Events recorded:", &tally.events.join(&b' '))?;
    field(out, "Events shown:", &shown.names.join(&b' '))?;
    field(out, "Event sort order:", &sort.join(&b' '))?;
    for metric in &shown.metrics {
        field(out, "Derived:", metric.to_string().as_bytes())?;
    }
    field(out, "Threshold:", format!("{}%", float(options.threshold)).as_bytes())?;
    field(out, "Annotation:", if options.annotate { b"on" } else { b"off" })?;
    writeln!(out)
}

/// One line of the metadata.
fn field(out: &mut impl Write, key: &str, value: &[u8]) -> std::io::Result<()> {
    write!(out, "{key:<18}")?;
    out.write_all(value)?;
    writeln!(out)
}

fn desc(origin: &Origin) -> &[Vec<u8>] {
    &origin.desc
}

fn cmd(origin: &Origin) -> &[u8] {
    &origin.cmd
}

/// The place of the first profile that says the same.
fn position<T: PartialEq + ?Sized>(all: &[Origin], one: &Origin, part: fn(&Origin) -> &T) -> usize {
    all.iter().position(|other| part(other) == part(one)).unwrap_or(0)
}

/// A number as Python writes a float: with a digit after the point, small ones with an exponent.
fn float(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-4 {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
        return format!("{digits}e-{exponent:0>2}");
    }
    format!("{number:?}")
}

/// A title between two rules.
fn heading(out: &mut impl Write, title: &[u8]) -> std::io::Result<()> {
    for part in [RULE, b"\n-- ", title, b"\n", RULE, b"\n"] {
        out.write_all(part)?;
    }
    Ok(())
}

/// A text that is not to be overlooked.
fn warning(out: &mut impl Write, text: &[u8]) -> std::io::Result<()> {
    let rule = "@".repeat(79);
    let words = "@@ WARNING ".repeat(7);
    write!(out, "{rule}\n{words}@@\n{rule}\n")?;
    out.write_all(text)?;
    writeln!(out, "{rule}")
}
