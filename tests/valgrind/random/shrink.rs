//! From programs that differ somewhere to the smallest one that still does.

use std::fmt::Write as _;

use iced_x86::{Formatter as _, GasFormatter};

use super::build::build;
use super::program::Program;
use crate::common::counts::{Difference, differences};
use crate::exact::run;
use crate::exact::setting::{ARCH, Geometry, Model};

/// What differs between Valgrind and cgemu for these programs in one file, and the names of the
/// events.
fn compare(
    programs: &[Program],
    model: &Model,
    geometry: &Geometry,
) -> Result<(Vec<String>, Vec<Difference>), String> {
    let dir = tempfile::tempdir().expect("a directory");
    let binary = build(dir.path(), programs);
    let ours = run::ours(dir.path(), &binary, model, geometry, "2")?;
    let theirs = run::valgrind(dir.path(), &binary, model, geometry)?;
    if !theirs.rows.keys().any(|(_, function, _)| function == "p0_in") {
        return Err("Valgrind reads no symbols".to_owned());
    }
    let mut found = differences(&theirs, &ours);
    if found.is_empty() && model.name == ARCH.name {
        // With one CPU generated code drives the caches.
        found = differences(&theirs, &run::ours(dir.path(), &binary, model, geometry, "1")?);
    }
    Ok((theirs.events.clone(), found))
}

fn differs(programs: &[Program], model: &Model, geometry: &Geometry) -> bool {
    compare(programs, model, geometry).map_or(true, |(_, found)| !found.is_empty())
}

/// The smallest program found that differs, as assembly with both counts; `None` if nothing
/// differs.
pub fn difference(programs: &[Program], model: &Model, geometry: &Geometry) -> Option<String> {
    let smallest = smallest(programs, |programs| differs(programs, model, geometry))?;
    Some(show(&smallest, model, geometry))
}

/// The fewest programs and items found that still differ; `None` if nothing differs.
pub fn smallest(programs: &[Program], differs: impl Fn(&[Program]) -> bool) -> Option<Vec<Program>> {
    if !differs(programs) {
        return None;
    }
    let mut programs = programs.to_vec();
    // Halves and quarters of the programs, then of the items of each.
    let mut part = programs.len().div_ceil(2);
    loop {
        let mut at = 0;
        while at < programs.len() && programs.len() > 1 {
            let mut fewer = programs.clone();
            fewer.drain(at..(at + part).min(fewer.len()));
            if !fewer.is_empty() && differs(&fewer) {
                programs = fewer;
            } else {
                at += part;
            }
        }
        if part == 1 {
            break;
        }
        part = part.div_ceil(2);
    }
    for n in 0..programs.len() {
        let mut at = 0;
        while at < programs[n].items.len() {
            let mut fewer = programs.clone();
            fewer[n].items.remove(at);
            let is_program = fewer[n].is_sound() && fewer[n].lay_out().is_some();
            if is_program && differs(&fewer) {
                programs = fewer;
            } else {
                at += 1;
            }
        }
    }
    Some(programs)
}

/// Programs as assembly, with both counts of what differs from Valgrind's.
pub fn show(programs: &[Program], model: &Model, geometry: &Geometry) -> String {
    let mut text = String::new();
    let (events, found) = compare(programs, model, geometry).unwrap_or_else(|why| {
        let _ = writeln!(text, "  {why}");
        (Vec::new(), Vec::new())
    });
    let _ = writeln!(text, "  {:48}{}", "", events.join(" "));
    for (n, program) in programs.iter().enumerate() {
        let _ = writeln!(
            text,
            "  {} rounds, index {}, padding {}",
            program.rounds, program.index, program.padding
        );
        let mut formatter = GasFormatter::new();
        for (i, (instruction, _)) in program.lay_out().unwrap_or_default().iter().enumerate() {
            let mut line = String::new();
            formatter.format(instruction, &mut line);
            let _ = writeln!(text, "    {line}");
            mark(&mut text, &found, &format!("p{n}_{i}"));
        }
        for part in ["in", "top", "end"] {
            mark(&mut text, &found, &format!("p{n}_{part}"));
        }
    }
    text
}

/// Both rows of what differs in a function.
fn mark(text: &mut String, found: &[Difference], name: &str) {
    for difference in found.iter().filter(|difference| difference.position.1 == name) {
        let _ = writeln!(text, "      {name:10} Valgrind {:?}", difference.reference);
        let _ = writeln!(text, "      {:10} cgemu    {:?}", "", difference.ours);
    }
}
