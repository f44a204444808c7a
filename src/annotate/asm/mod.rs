//! `annotate --asm`: the machine code of functions, with the counts of each instruction beside it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

mod gather;
mod listing;
mod text;

pub use gather::{Function, functions, read_side_files};
pub use listing::Row;
pub use text::Syntax;

use super::code::{CodeReport, Listing};
use super::columns::{Counts, Shown};
use super::inline::{Call, calls};
use super::sourcepath::Sources;
use super::{AnnotateError, Format, Options, chosen_events, field, heading, metrics, names_of, warning};
use crate::profile::{CodeObject, Instructions, reason};
pub use crate::symbols::files::Object;
use listing::Known;
use text::Writer;

/// What is to be shown, beside the [`Options`] of every annotation.
#[derive(Clone, Debug, Default)]
pub struct AsmOptions {
    /// The function; `None` for all that reach the threshold.
    pub function: Option<String>,
    /// How instructions are written.
    pub syntax: Syntax,
    /// Whether it is said what was inlined.
    pub inline: bool,
}

/// Reads the side files and writes the listings.
///
/// # Errors
/// If a side file cannot be read or is malformed, if an event or the function is not there, or if writing fails. An object that is not
/// there any more, or is another build, is named in the output.
pub fn annotate_asm(options: &Options, asm: &AsmOptions, out: &mut impl Write) -> Result<(), AnnotateError> {
    let instructions = read_side_files(&options.input)?;
    let (shown, sort) = columns(options, &instructions)?;
    let functions = functions(&instructions, &sort);
    let chosen = choose(&functions, options, asm.function.as_deref(), (&instructions, &sort))?;
    let mut sources = Sources::new(&options.source_paths);
    let mut writer = Writer::new(asm.syntax, &options.input.renaming);
    let mut problems = Vec::new();
    // What is expensive is read once for each object.
    let mut objects: BTreeMap<Key<'_>, Option<Object>> = BTreeMap::new();
    for function in &chosen {
        if objects.contains_key(&key(function)) {
            continue;
        }
        let object = open(function.object).map_err(|problem| problems.push(problem)).ok();
        objects.insert(key(function), object);
    }
    problems.retain(|problem| !problem.is_empty());
    if options.format == Format::Text {
        head(options, &instructions, &shown, &sort, out)?;
        for problem in &problems {
            warning(out, format!("@@ {problem}\n").as_bytes())?;
            writeln!(out)?;
        }
    }
    let known: BTreeMap<Key<'_>, _> = objects
        .iter()
        .filter_map(|(key, object)| {
            let object = object.as_ref()?;
            Some((*key, (object, object.code(), if asm.inline { object.inlines() } else { None })))
        })
        .collect();
    let mut listings = Vec::new();
    for function in chosen {
        let known = known.get(&key(function));
        let object = known.map(|(object, ..)| *object);
        let code = known.and_then(|(_, code, _)| code.as_ref());
        let inlines = known.and_then(|(_, _, inlines)| inlines.as_ref());
        let decoded = listing::decode(function, code);
        let addresses: Vec<u64> = decoded.keys().copied().collect();
        let lines = object.and_then(|object| object.lines(&addresses));
        let calls = inlines.zip(object).map(|(inlines, object)| {
            move |address| {
                let chain = inlines.chain(address, &|unit| object.split(unit));
                calls(chain, &options.input.renaming).collect()
            }
        });
        let calls = calls.as_ref().map(|calls| calls as &dyn Fn(u64) -> Vec<Call>);
        let known = Known { code, lines: lines.as_ref(), calls };
        let rows = listing::rows(function, &decoded, &known, sort.first().copied().unwrap_or(0), &mut writer);
        if options.format != Format::Text {
            listings.push(Listing::new(function, rows, &shown.metrics, asm.inline));
            continue;
        }
        let mut title = b"Machine code: ".to_vec();
        title.extend_from_slice(&function.object.path);
        title.push(b':');
        title.extend_from_slice(function.name);
        heading(out, &title)?;
        listing::print(function, rows, &shown, &mut sources, out)?;
    }
    if options.format != Format::Text {
        let mut report = CodeReport::new(options, &instructions, (&shown.metrics, &sort), problems);
        report.code = Some(listings);
        return report.write(options.format, out);
    }
    out.flush()?;
    Ok(())
}

/// Path and identity: what tells the builds of objects apart.
type Key<'a> = (&'a [u8], &'a str);

fn key<'a>(function: &Function<'a>) -> Key<'a> {
    (&function.object.path, &function.object.identity)
}

/// The columns that are asked for, and the events to sort by.
pub fn columns(options: &Options, instructions: &Instructions) -> Result<(Shown, Vec<usize>), AnnotateError> {
    let show = chosen_events(&instructions.events, options.show.as_deref(), "--show")?;
    let sort = chosen_events(&instructions.events, options.sort.as_deref(), "--sort")?;
    let total = instructions.total();
    let shown = Shown {
        names: names_of(&instructions.events, &show),
        totals: show.iter().map(|at| total.get(*at).copied().unwrap_or(0)).collect(),
        indices: show,
        percentages: options.percentages,
        metrics: metrics(&options.derive, &instructions.events)?,
        colour: options.colour,
    };
    Ok((shown, sort))
}

/// What the figures are of, and the totals.
///
/// # Errors
/// If writing fails.
pub fn head(
    options: &Options,
    instructions: &Instructions,
    shown: &Shown,
    sort: &[usize],
    out: &mut impl Write,
) -> std::io::Result<()> {
    heading(out, b"Metadata")?;
    field(out, "Invocation:", &options.invocation)?;
    field(out, "Command:", &instructions.cmd)?;
    field(out, "Events recorded:", &instructions.events.join(&b' '))?;
    field(out, "Events shown:", &shown.names.join(&b' '))?;
    field(out, "Event sort order:", &names_of(&instructions.events, sort).join(&b' '))?;
    writeln!(out)?;
    heading(out, b"Summary")?;
    let totals = instructions.total();
    let total = Counts { own: &totals, running: None };
    let table = shown.table([total]);
    table.head(out)?;
    write!(out, "\n\n")?;
    table.line(out, total)?;
    write!(out, " PROGRAM TOTALS\n\n")
}

/// The functions of that name, else those that reach the threshold.
///
/// # Errors
/// If there is none of that name.
pub fn choose<'a, 'b>(
    functions: &'b [Function<'a>],
    options: &Options,
    name: Option<&str>,
    (instructions, sort): (&Instructions, &[usize]),
) -> Result<Vec<&'b Function<'a>>, AnnotateError> {
    if let Some(name) = name {
        let named = |function: &&Function<'_>| {
            function.name == name.as_bytes() || super::names::short(function.name) == name.as_bytes()
        };
        let chosen: Vec<&Function<'_>> = functions.iter().filter(named).collect();
        return if chosen.is_empty() {
            let close = |f: &&Function<'_>| String::from_utf8_lossy(f.name).contains(name);
            let known: Vec<String> = functions
                .iter()
                .filter(close)
                .take(5)
                .map(|f| String::from_utf8_lossy(f.name).into_owned())
                .collect();
            Err(AnnotateError::NoSuchFunction { name: name.to_owned(), known: known.join(", ") })
        } else {
            Ok(chosen)
        };
    }
    let at = sort.first().copied().unwrap_or(0);
    let total = instructions.total().get(at).copied().unwrap_or(0);
    let reaches = |function: &&Function<'_>| {
        let count = function.costs.get(at).copied().unwrap_or(0);
        // Shares need no more than a double has.
        #[allow(clippy::cast_precision_loss)]
        let share = count as f64 * 100.0 / (total.max(1) as f64);
        count > 0 && share >= options.threshold
    };
    Ok(functions.iter().filter(reaches).collect())
}

/// The object on the disk, if it is the one that ran.
///
/// # Errors
/// A line that says what is wrong: the file cannot be read, or is another build. An empty one for code that never was in
/// a file, whose bytes the side file has.
pub fn open(object: &CodeObject) -> Result<Object, String> {
    if object.identity.is_empty() && object.path == b"???" {
        return Err(String::new());
    }
    let path = Path::new(OsStr::from_bytes(&object.path));
    let shown = path.display();
    let opened = Object::open(path)
        .map_err(|error| format!("{shown}: {}; its machine code cannot be shown", reason(&error)))?;
    let identity = opened.identity();
    if !object.identity.is_empty() && identity != object.identity {
        return Err(format!(
            "{shown}: has {identity}, the profile is of {}; it was built anew, so profile it again",
            object.identity
        ));
    }
    Ok(opened)
}
