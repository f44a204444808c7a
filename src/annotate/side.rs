//! Counts by instruction: side files of profiles, and the objects that they are of. What `annotate
//! --asm` and `annotate --inline` have in common.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::error::AnnotateError;
use super::input::{event_list, event_names};
use super::names::short;
use super::options::{Input, Options};
use super::render::columns::Shown;
use super::render::functions::summary;
use super::render::text::{field, heading};
use super::tally::Renaming;
use super::view::code::{Function, InlinedCall};
use super::view::ranking::Threshold;
use crate::console::Console;
use crate::profile::{CodeObject, Instructions, SIDE_SUFFIX, UNKNOWN, add_costs, read_instructions, reason};
use crate::symbols::debugger::inline::Frame;
use crate::symbols::files::Reach;
use crate::symbols::symboliser::Object;
use crate::symbols::valgrind::demangle::display_name;

/// First bytes of files in Callgrind's format, and so of side files.
const START: &[u8] = b"# callgrind format";

/// Reads the side files of the profiles and adds them up, with changed names of functions. The name
/// of a profile may be that of the side file itself.
///
/// # Errors
/// If one cannot be read, is malformed, or has other events than the first.
pub(crate) fn read_side_files(input: &Input) -> Result<Instructions, AnnotateError> {
    let mut sum: Option<Instructions> = None;
    for profile in &input.profiles {
        let (file, name) = open(profile)?;
        let next = read_instructions(BufReader::with_capacity(1 << 18, file), name.clone())?;
        let Some(sum) = &mut sum else {
            sum = Some(next);
            continue;
        };
        if sum.events != next.events {
            return Err(AnnotateError::EventsDiffer {
                first: input.first_name(),
                first_events: event_list(&sum.events),
                other: name,
                other_events: event_list(&next.events),
            });
        }
        next.objects.into_iter().for_each(|object| add_object(sum, object));
    }
    let mut sum = sum.unwrap_or_default();
    // Names are shared by many instructions.
    let mut renamed: FxHashMap<Arc<[u8]>, Arc<[u8]>> = FxHashMap::default();
    for insn in sum.objects.iter_mut().flat_map(|object| object.instructions.values_mut()) {
        let rename = || Arc::from(&*input.renaming.function(&insn.function));
        let name = Arc::clone(renamed.entry(Arc::clone(&insn.function)).or_insert_with(rename));
        insn.function = name;
    }
    Ok(sum)
}

/// The bytes of a file that were read to recognise it, then the rest.
type Whole = io::Chain<io::Cursor<Vec<u8>>, File>;

/// Opens the side file of a profile, or the file itself if it is one. That may be a pipe, which is
/// opened only once.
fn open(profile: &OsStr) -> Result<(Whole, String), AnnotateError> {
    let mut side = profile.to_owned();
    side.push(SIDE_SUFFIX);
    let fail = |reason: io::Error| AnnotateError::NoSideFile {
        file: profile.to_string_lossy().into_owned(),
        side: side.to_string_lossy().into_owned(),
        reason,
    };
    match File::open(&side) {
        Ok(file) => Ok((io::Cursor::new(Vec::new()).chain(file), side.to_string_lossy().into_owned())),
        Err(error) => {
            let mut start = Vec::new();
            let mut file = File::open(profile).map_err(fail)?;
            let looked = (&mut file).take(START.len() as u64).read_to_end(&mut start);
            if looked.is_ok() && start == START {
                return Ok((io::Cursor::new(start).chain(file), profile.to_string_lossy().into_owned()));
            }
            Err(fail(error))
        }
    }
}

fn add_object(sum: &mut Instructions, object: CodeObject) {
    let same = |other: &&mut CodeObject| other.path == object.path && other.identity == object.identity;
    let Some(known) = sum.objects.iter_mut().find(same) else {
        sum.objects.push(object);
        return;
    };
    for (address, insn) in object.instructions {
        match known.instructions.get_mut(&address) {
            Some(known) => add_costs(&mut known.costs, &insn.costs),
            None => drop(known.instructions.insert(address, insn)),
        }
    }
    known.code.extend(object.code);
}

/// The object on the disk, if it is the one that ran.
///
/// # Errors
/// A line that says what is wrong: the file cannot be read, or is another build. `None` for code
/// that never was in a file, whose bytes the side file has.
pub(crate) fn open_object(object: &CodeObject, reach: &Reach) -> Result<Object, Option<String>> {
    if object.identity.is_empty() && object.path == UNKNOWN.as_bytes() {
        return Err(None);
    }
    let path = Path::new(OsStr::from_bytes(&object.path));
    let shown = path.display();
    let opened = Object::open(path, reach)
        .map_err(|error| format!("{shown}: {}; its machine code cannot be shown", reason(&error)))?;
    let identity = opened.identity();
    if !object.identity.is_empty() && identity != object.identity {
        return Err(Some(format!(
            "{shown}: has {identity}, the profile is of {}; it was built anew, so profile it again",
            object.identity
        )));
    }
    Ok(opened)
}

/// The inlined calls around an address, outermost first.
pub(crate) fn inlined_calls(object: &Object, address: u64, renaming: &Renaming) -> Vec<InlinedCall> {
    let call = |Frame { function, call }: Frame| {
        let (file, line) = call?;
        let function = function.map_or(UNKNOWN.to_owned(), |raw| {
            let name = display_name(&raw, false, true);
            String::from_utf8_lossy(&renaming.function(name.as_bytes())).into_owned()
        });
        Some(InlinedCall { function, file: file.unwrap_or_else(|| UNKNOWN.to_owned()), line })
    };
    let chain = object.inlined_at(address).unwrap_or_default();
    chain.into_iter().filter_map(call).collect()
}

/// The functions of that name, else those that reach the threshold.
///
/// # Errors
/// If there is none of that name.
pub(crate) fn choose<'a, 'b>(
    functions: &'b [Function<'a>],
    name: Option<&str>,
    threshold: Threshold,
) -> Result<Vec<&'b Function<'a>>, AnnotateError> {
    let Some(name) = name else {
        return Ok(functions.iter().filter(|function| threshold.reaches(&function.costs)).collect());
    };
    let named = |function: &&Function<'_>| {
        function.name == name.as_bytes() || *short(function.name) == *name.as_bytes()
    };
    let chosen: Vec<&Function<'_>> = functions.iter().filter(named).collect();
    if chosen.is_empty() {
        let names = functions.iter().map(|function| String::from_utf8_lossy(function.name).into_owned());
        let known: Vec<String> = names.filter(|known| known.contains(name)).take(5).collect();
        return Err(AnnotateError::NoSuchFunction { name: name.to_owned(), known: known.join(", ") });
    }
    Ok(chosen)
}

/// Writes the first sections: the profile, the events and the totals.
///
/// # Errors
/// If writing fails.
pub(crate) fn head(
    options: &Options,
    instructions: &Instructions,
    shown: &Shown,
    sort: &[usize],
    out: &mut Console<impl Write>,
) -> io::Result<()> {
    heading(out, b"Metadata")?;
    field(out, "Invocation:", &options.invocation)?;
    field(out, "Command:", &instructions.cmd)?;
    field(out, "Events recorded:", &instructions.events.join(&b' '))?;
    field(out, "Events shown:", &shown.names.join(&b' '))?;
    field(out, "Event sort order:", &event_names(&instructions.events, sort).join(&b' '))?;
    writeln!(out)?;
    heading(out, b"Summary")?;
    summary(shown, &instructions.total(), out)
}
