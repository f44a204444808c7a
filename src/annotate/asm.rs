//! `annotate --asm`: the machine code of functions, with the counts of each instruction.

use std::collections::BTreeMap;
use std::io::Write;

use super::error::AnnotateError;
use super::options::{AsmOptions, Format, Options};
use super::render::code::listing as write_listing;
use super::render::code_report::{CodeReport, Listing};
use super::render::columns::Shown;
use super::render::text::{heading, warning};
use super::side::{choose, head, inlined_calls, open_object, read_side_files};
use super::sources::Sources;
use super::view::code::{Function, InlinedCall, Known, Unplaced, decode, functions, listing, rows};
use super::view::disassembly::Writer;
use super::view::ranking::{Order, Sign, Threshold};
use crate::console::Console;
use crate::symbols::symboliser::Object;
use crate::symbols::valgrind::debug_info::{DebugInfo, Wanted};

/// Reads the side files and writes the listings.
///
/// # Errors
/// If a side file cannot be read or is malformed, if there is no such event or function, or if
/// writing fails. An object that is not there any more, or is another build, is named in the
/// output.
pub(crate) fn annotate_asm(
    options: &Options,
    asm: &AsmOptions,
    out: &mut Console<impl Write>,
) -> Result<(), AnnotateError> {
    let instructions = read_side_files(&options.input)?;
    let total = instructions.total();
    let (shown, sort) = Shown::new(options, &instructions.events, &total)?;
    let order = Order { first: None, sort: &sort, sign: Sign::Kept };
    let functions = functions(&instructions, &order);
    let threshold = Threshold::new(&order, &total, options.threshold);
    let chosen = choose(&functions, asm.function.as_deref(), threshold)?;
    let mut sources = Sources::new(&options.places);
    let mut writer = Writer::new(asm.syntax, &options.input.renaming);
    let mut problems = Vec::new();
    // Each object is opened once.
    let mut objects: BTreeMap<Key<'_>, Option<Object>> = BTreeMap::new();
    for function in &chosen {
        if objects.contains_key(&key(function)) {
            continue;
        }
        let object = open_object(function.object, &options.places.reach)
            .map_err(|problem| problems.extend(problem))
            .ok();
        objects.insert(key(function), object);
    }
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
            Some((*key, (object, object.code())))
        })
        .collect();
    // The tables of an object are read once, for all of its functions that are shown.
    let mut wanted: BTreeMap<Key<'_>, Vec<u64>> = BTreeMap::new();
    for function in &chosen {
        let code = known.get(&key(function)).and_then(|(_, code)| code.as_ref());
        wanted.entry(key(function)).or_default().extend(decode(function, code).keys());
    }
    let lines: BTreeMap<Key<'_>, DebugInfo> = wanted
        .iter()
        .filter_map(|(key, addresses)| {
            let (object, _) = known.get(key)?;
            Some((*key, object.debug_info(Wanted::Addresses(addresses))?))
        })
        .collect();
    let mut listings = Vec::new();
    for function in chosen {
        let (known, lines) = (known.get(&key(function)), lines.get(&key(function)));
        let object = known.map(|(object, _)| *object);
        let code = known.and_then(|(_, code)| code.as_ref());
        let decoded = decode(function, code);
        let inlined = object.filter(|object| asm.inline && object.has_inlines());
        let calls =
            inlined.map(|object| move |address| inlined_calls(object, address, &options.input.renaming));
        let calls = calls.as_ref().map(|calls| calls as &dyn Fn(u64) -> Vec<InlinedCall>);
        let known = Known { code, lines, calls };
        let rows = rows(function, &decoded, &known, sort.first().copied().unwrap_or(0), &mut writer);
        if options.format != Format::Text {
            listings.push(Listing::new(function, rows, &shown.metrics, asm.inline));
            continue;
        }
        heading(out, &[b"Machine code: ", &*function.object.path, b":", function.name].concat())?;
        let lines = listing(rows, Unplaced::Continue);
        write_listing(function, &lines, &shown, &mut sources, out)?;
    }
    if options.format != Format::Text {
        let mut report = CodeReport::new(options, &instructions, (&shown.metrics, &sort), problems);
        report.code = Some(listings);
        return report.write(options.format, out);
    }
    out.flush()?;
    Ok(())
}

/// Path and identity, which tell the builds of objects apart.
type Key<'a> = (&'a [u8], &'a str);

fn key<'a>(function: &Function<'a>) -> Key<'a> {
    (&function.object.path, &function.object.identity)
}
