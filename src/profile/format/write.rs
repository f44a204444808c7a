//! The Cachegrind output file, byte for byte as Valgrind 3.19 writes it (its manual, section 5.8).

use std::io::{self, Write};

use super::super::event::{Costs, EventSet};
use super::super::model::Profile;

/// Bytes gathered before they go to the writer.
const CHUNK: usize = 1 << 16;

/// The description of a cache: `name` is `I1`, `D1` or `LL`, the size and the line in bytes. Nine
/// blanks, and the wording for one way, are Valgrind's.
#[must_use]
pub fn cache_desc(name: &str, size: u64, assoc: u32, line: u32) -> String {
    if assoc == 1 {
        format!("{name} cache:         {size} B, {line} B, direct-mapped")
    } else {
        format!("{name} cache:         {size} B, {line} B, {assoc}-way associative")
    }
}

/// Writes `profile`: `desc:` lines, `cmd:`, `events:`, then one line of counts per source line,
/// with every column, under `fl=` and `fn=` where they change, and `summary:`.
///
/// # Errors
/// Those of `out`. Part of the file may have been written.
pub fn write_cachegrind(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let events = profile.events();
    let mut text: Vec<u8> = Vec::with_capacity(2 * CHUNK);
    for desc in profile.desc() {
        writeln!(text, "desc: {desc}")?;
    }
    text.extend_from_slice(b"cmd: ");
    text.extend_from_slice(profile.cmd());
    text.extend_from_slice(b"\nevents: ");
    let names: Vec<&str> = events.iter().map(|event| event.name()).collect();
    text.extend_from_slice(names.join(" ").as_bytes());
    // Valgrind's list of cache events ends in a blank, which shows when no branch events follow.
    text.extend_from_slice(if events.cache && !events.branch { b" \n" } else { b"\n" });

    let mut place: Option<(&[u8], &[u8])> = None;
    for line in profile.lines() {
        if place.is_none_or(|(file, _)| file != line.file) {
            name(&mut text, b"fl=", line.file);
        }
        if place != Some((line.file, line.function)) {
            name(&mut text, b"fn=", line.function);
        }
        place = Some((line.file, line.function));
        write!(text, "{}", line.line)?;
        columns(&mut text, line.costs, events)?;
        if text.len() >= CHUNK {
            out.write_all(&text)?;
            text.clear();
        }
    }
    text.extend_from_slice(b"summary:");
    columns(&mut text, &profile.total(), events)?;
    out.write_all(&text)
}

/// The recorded counts, a blank before each, and the end of the line.
fn columns(text: &mut Vec<u8>, costs: &Costs, events: EventSet) -> io::Result<()> {
    for event in events.iter() {
        write!(text, " {}", costs[event])?;
    }
    text.push(b'\n');
    Ok(())
}

fn name(text: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    text.extend_from_slice(key);
    text.extend_from_slice(value);
    text.push(b'\n');
}

#[cfg(test)]
mod tests;
