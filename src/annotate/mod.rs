//! What `cg_annotate` of Valgrind 3.28 prints, for files of Cachegrind and of Callgrind: totals, functions by file, files by function,
//! and source files with the counts of their lines.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Write};

pub mod classic;
mod columns;
pub mod diff;
mod error;
pub mod failure;
mod functions;
mod intake;
mod number;
mod replace;
mod source;
pub mod substitution;
mod tally;

use columns::{Counts, Shown};
pub use error::AnnotateError;
use functions::Ranking;
use intake::Reading;
pub use replace::Replace;
use source::Dated;
pub use tally::Renaming;
use tally::{Origin, Refused, Tally};

const RULE: &[u8] = b"--------------------------------------------------------------------------------";

/// What is to be annotated, and how: the options of `cg_annotate`.
#[derive(Clone, Debug)]
pub struct Options {
    /// The profiles, at least one.
    pub profiles: Vec<OsString>,
    /// Show the second of two profiles less the first, instead of the sum.
    pub diff: bool,
    /// Changes to the names in the profiles.
    pub renaming: Renaming,
    /// The events to show; `None` for all.
    pub show: Option<Vec<String>>,
    /// The events to sort by; `None` for all in their order.
    pub sort: Option<Vec<String>>,
    /// The share in percent that a file or function must have to be listed.
    pub threshold: f64,
    /// Whether shares are shown beside counts.
    pub percentages: bool,
    /// List functions with the costs of those they call; for Callgrind files.
    pub inclusive: bool,
    /// Whether source files are annotated.
    pub annotate: bool,
    /// Lines shown before and after each that has counts.
    pub context: u64,
    /// The command line, for the `Invocation:` line.
    pub invocation: Vec<u8>,
}

/// Reads the profiles and writes the annotation.
///
/// # Errors
/// If a profile cannot be read or is malformed, if the profiles do not fit together, if an event that is asked
/// for is not there, or if writing fails. Nothing is written before the profiles are read.
pub fn annotate(options: &Options, out: &mut impl Write) -> Result<(), AnnotateError> {
    let (tally, profiles) = read_all(options)?;
    let show = chosen_events(&tally.events, options.show.as_deref(), "--show")?;
    let sort = chosen_events(&tally.events, options.sort.as_deref(), "--sort")?;
    let pick = |from: &[i64]| show.iter().map(|at| from.get(*at).copied().unwrap_or(0)).collect();
    let shown = Shown {
        names: names_of(&tally.events, &show),
        totals: pick(&tally.total),
        indices: show,
        percentages: options.percentages,
    };
    metadata(options, &tally, &shown.names, &names_of(&tally.events, &sort), out)?;

    heading(out, b"Summary")?;
    let total = Counts { own: &tally.total, running: None };
    let table = shown.table([total]);
    table.head(out)?;
    write!(out, "\n\n")?;
    table.line(out, total)?;
    write!(out, " PROGRAM TOTALS\n\n")?;

    let ranking = Ranking { tally: &tally, shown: &shown, sort: &sort, threshold: options.threshold };
    let chosen = if options.inclusive {
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
        source::annotate(&tally, &shown, &chosen, options.context, &profiles, out)?;
    }
    out.flush()?;
    Ok(())
}

fn read_all(options: &Options) -> Result<(Tally, Vec<Dated>), AnnotateError> {
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
    show: &[Vec<u8>],
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
    field(out, "Events shown:", &show.join(&b' '))?;
    field(out, "Event sort order:", &sort.join(&b' '))?;
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
