//! What is equal, what may differ, and how a difference is shown.

use std::fmt::Write as _;

use super::setting::Model;
use crate::common::counts::{Counts, Difference, differences};
use crate::common::exact::Program;

/// The counters that say how often something was done; the others say how often it missed.
const REFERENCES: [&str; 5] = ["Ir", "Dr", "Dw", "Bc", "Bi"];

/// The counts in a note: `Ir 2 Dr 1: why`. The reason must be there.
fn numbers(note: &str) -> Result<Vec<(&str, i64)>, String> {
    let bad = || format!("the note {note:?} is not `EVENT NUMBER ...: REASON`");
    let (counts, why) = note.split_once(':').ok_or_else(bad)?;
    if why.trim().is_empty() {
        return Err(bad());
    }
    let words: Vec<&str> = counts.split_whitespace().collect();
    let pairs = words.chunks(2).map(|pair| match pair {
        [event, number] => Ok((*event, number.parse().map_err(|_| bad())?)),
        _ => Err(bad()),
    });
    pairs.collect()
}

/// The rows of a profile at a position, with a mark under what differs.
fn show(program: &Program, events: &[String], found: &Difference, sides: [&str; 2]) -> String {
    let (file, function, line) = &found.position;
    let source = if file.ends_with(&program.name) { program.line(*line).trim() } else { "" };
    let mut text = format!("  {}:{line} ({function})  {source}\n", file.rsplit('/').next().unwrap_or(file));
    let rows = [("", None), (sides[0], Some(&found.reference)), (sides[1], Some(&found.ours))];
    for (name, row) in rows {
        let _ = write!(text, "    {name:10}");
        for (i, event) in events.iter().enumerate() {
            let cell = row.map_or(event.clone(), |row| row[i].to_string());
            let mark = if found.reference[i] != found.ours[i] { '*' } else { ' ' };
            let _ = write!(text, "{cell:>9}{mark}");
        }
        text.push('\n');
    }
    text
}

/// Whether a difference is exactly the one that a note on its line pins: so much less in the counts
/// of what was done, and in misses no more than these could have.
fn is_pinned(events: &[String], found: &Difference, note: &str) -> Result<bool, String> {
    let (name, rest) = note.split_once(' ').unwrap_or((note, ""));
    if !include_str!("../../../docs/counting.md").contains(&format!("`{name}`")) {
        return Err(format!("docs/counting.md does not explain {name}"));
    }
    let pinned = numbers(rest)?;
    let ours_more = |i: usize| found.ours[i] as i64 - found.reference[i] as i64;
    let mut most_misses = 0;
    for (i, event) in events.iter().enumerate() {
        let expected = pinned.iter().find(|(name, _)| name == event).map_or(0, |(_, number)| *number);
        let ok = match REFERENCES.contains(&event.as_str()) {
            true => {
                most_misses = ours_more(i).abs();
                ours_more(i) == expected
            }
            false => ours_more(i).abs() <= most_misses,
        };
        if !ok {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Ours against Valgrind's: equal, but for the lines that say `//~MODEL NAME EVENT NUMBER ...:
/// REASON`, where ours has so much more. A line that says so and does not differ fails too.
pub fn with_valgrind(program: &Program, model: &Model, theirs: &Counts, ours: &Counts) -> Result<(), String> {
    let pins = program.notes(model.marker);
    let mut used = Vec::new();
    let mut text = String::new();
    for found in differences(theirs, ours) {
        let (file, _, line) = &found.position;
        match pins.get(line).filter(|_| file.ends_with(&program.name)) {
            Some(note) if is_pinned(&theirs.events, &found, note)? => used.push(*line),
            _ => text.push_str(&show(program, &theirs.events, &found, ["Valgrind", "cgemu"])),
        }
    }
    for line in pins.keys().filter(|line| !used.contains(line)) {
        let _ =
            writeln!(text, "  line {line} says that it differs, and not as it does: {}", program.line(*line));
    }
    if text.is_empty() { Ok(()) } else { Err(format!("\n{text}")) }
}

/// Ours against what the lines say behind `//=`: each executed line says what is done there, and
/// may say what misses.
pub fn with_notes(program: &Program, ours: &Counts) -> Result<(), String> {
    let notes = program.notes("//=");
    let mut text = String::new();
    let mut seen = Vec::new();
    for (position, row) in &ours.rows {
        let line = position.2;
        let Some(note) = notes.get(&line) else {
            let _ = writeln!(text, "  line {line} does not say what it counts: {}", program.line(line));
            continue;
        };
        seen.push(line);
        let expected = numbers(note)?;
        let mut wanted = row.clone();
        for (i, event) in ours.events.iter().enumerate() {
            match expected.iter().find(|(name, _)| name == event) {
                Some((_, number)) => wanted[i] = number.unsigned_abs(),
                None if REFERENCES.contains(&event.as_str()) => wanted[i] = 0,
                None => {}
            }
        }
        if wanted != *row {
            let found = Difference { position: position.clone(), reference: wanted, ours: row.clone() };
            text.push_str(&show(program, &ours.events, &found, ["by hand", "cgemu"]));
        }
    }
    for line in notes.keys().filter(|line| !seen.contains(line)) {
        let _ = writeln!(text, "  line {line} is not counted: {}", program.line(*line));
    }
    if text.is_empty() { Ok(()) } else { Err(format!("\n{text}")) }
}
