//! Source files with the counts of each line beside it, and what was annotated of the whole.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use super::columns::{Counts, Shown, Table};
use super::sourcepath::{SourcePath, remap};
use super::tally::{FileCosts, Tally};
use super::{heading, warning};
use crate::profile::NameId;

/// What Cachegrind calls a file that it does not know.
const UNKNOWN: &[u8] = b"???";

/// What a profile is called, and when it was written.
#[derive(Clone, Debug)]
pub struct Dated {
    /// The name, as given.
    pub name: Vec<u8>,
    /// The time of its last change; none if the system does not say.
    pub modified: Option<SystemTime>,
}

/// How sources are shown, and where they are now.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Lines before and after each that has counts.
    pub context: u64,
    /// Directories that are elsewhere.
    pub paths: &'a [SourcePath],
}

/// The costs that were annotated, and those that were not, by the reason.
#[derive(Clone, Debug)]
struct Shares {
    known_lines: Vec<i64>,
    unknown_lines: Vec<i64>,
    not_identical: Vec<i64>,
    unreadable: Vec<i64>,
    below_threshold: Vec<i64>,
    unknown_files: Vec<i64>,
}

/// Annotates each file of `chosen`, in the order of their names, and prints what part of all costs that was.
///
/// # Errors
/// If writing fails. Source files that cannot be read are named in the output.
pub fn annotate(
    tally: &Tally,
    shown: &Shown,
    chosen: &BTreeSet<NameId>,
    look: Look<'_>,
    profiles: &[Dated],
    out: &mut impl Write,
) -> io::Result<()> {
    let zero = vec![0; tally.events.len()];
    let mut shares = Shares {
        known_lines: zero.clone(),
        unknown_lines: zero.clone(),
        not_identical: zero.clone(),
        unreadable: zero.clone(),
        below_threshold: zero.clone(),
        unknown_files: zero,
    };
    let mut files: Vec<(&[u8], NameId)> = tally.files.iter().map(|(id, name)| (name, id)).collect();
    files.sort_unstable();
    for (name, id) in files {
        let Some(costs) = tally.by_file.get(&id) else { continue };
        if name == UNKNOWN {
            add_lines(&mut shares.unknown_files, tally, costs);
        } else if !chosen.contains(&id) {
            add_lines(&mut shares.below_threshold, tally, costs);
        } else {
            let mut title = b"Annotated source file: ".to_vec();
            title.extend_from_slice(name);
            heading(out, &title)?;
            one_file(tally, shown, costs, look, profiles, &mut shares, out)?;
            writeln!(out)?;
        }
    }
    shares.print(shown, out)
}

fn one_file(
    tally: &Tally,
    shown: &Shown,
    costs: &FileCosts,
    look: Look<'_>,
    profiles: &[Dated],
    shares: &mut Shares,
    out: &mut impl Write,
) -> io::Result<()> {
    let refuse = |out: &mut _, reason: &str| not_annotated(out, reason, &costs.originals);
    let mut opened = Vec::new();
    for name in &costs.originals {
        match open(name, look.paths) {
            Ok(file) => opened.push((name, file)),
            Err(_) => {
                add_lines(&mut shares.unreadable, tally, costs);
                return refuse(out, "one or more of these original files are unreadable");
            }
        }
    }
    let mut opened = opened.into_iter();
    let Some((name, (mut source, modified))) = opened.next() else { return Ok(()) };
    let mut oldest = modified;
    for (_, (mut input, modified)) in opened {
        let same = same_bytes(&mut source, &mut input);
        let again = open(name, look.paths);
        match (same, again) {
            (Ok(true), Ok((from_start, _))) => source = from_start,
            (Ok(false), Ok(_)) => {
                add_lines(&mut shares.not_identical, tally, costs);
                return refuse(out, "two or more of these original files are not identical");
            }
            _ => {
                add_lines(&mut shares.unreadable, tally, costs);
                return refuse(out, "one or more of these original files are unreadable");
            }
        }
        oldest = oldest.min(modified);
    }
    for profile in profiles {
        if oldest.zip(profile.modified).is_some_and(|(source, profile)| source > profile) {
            let mut text = b"@ Original source files are all newer than data file '".to_vec();
            text.extend_from_slice(&profile.name);
            text.extend_from_slice(b"':\n");
            for name in &costs.originals {
                text.extend([b"@ - ", name.as_slice(), b"\n"].concat());
            }
            text.extend_from_slice(b"@ Annotations may not be correct.\n");
            warning(out, &text)?;
            writeln!(out)?;
        }
    }
    for (line, row) in &costs.lines {
        let sum = if *line == 0 { &mut shares.unknown_lines } else { &mut shares.known_lines };
        add(sum, tally.costs(*row));
    }
    lines_of(tally, shown, costs, look.context, name, &mut source, out)
}

/// Prints a file that can be read.
fn lines_of(
    tally: &Tally,
    shown: &Shown,
    costs: &FileCosts,
    context: u64,
    name: &[u8],
    source: &mut impl BufRead,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut lines: Vec<(u64, &[i64])> = costs.lines.iter().map(|(l, row)| (*l, tally.costs(*row))).collect();
    lines.sort_unstable();
    let table = shown.table(lines.iter().map(|(_, costs)| Counts { own: costs, running: None }));
    table.head(out)?;
    write!(out, "\n\n")?;
    let mut counted = lines.as_slice();
    if let [(0, unplaced), rest @ ..] = counted {
        labelled(out, &table, unplaced, b"<unknown (line 0)>")?;
        writeln!(out)?;
        counted = rest;
    }
    let beyond = with_context(&table, counted, context, source, out)?;
    if beyond.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for (line, costs) in beyond {
        labelled(out, &table, costs, format!("<bogus line {line}>").as_bytes())?;
    }
    writeln!(out)?;
    let mut text = b"@@ Information recorded about lines past the end of '".to_vec();
    text.extend_from_slice(name);
    text.extend_from_slice(b"'.\n");
    warning(out, &text)
}

/// Prints the lines that have counts with `context` lines around each. Returns those past the end of the file.
fn with_context<'a>(
    table: &Table<'_>,
    mut counted: &'a [(u64, &'a [i64])],
    context: u64,
    source: &mut impl BufRead,
    out: &mut impl Write,
) -> io::Result<&'a [(u64, &'a [i64])]> {
    let mut text = Vec::new();
    let mut number = 0_u64;
    while let [(first, _), ..] = counted {
        let start = first.saturating_sub(context).max(1);
        // Lines whose surroundings meet are shown as one piece.
        let mut end = first.saturating_add(context);
        for (line, _) in counted {
            if line.saturating_sub(context) > end {
                break;
            }
            end = line.saturating_add(context);
        }
        while number + 1 < start {
            if !next_line(source, &mut text)? {
                return Ok(counted);
            }
            number += 1;
        }
        let mut begun = false;
        while number < end {
            if !next_line(source, &mut text)? {
                return Ok(counted);
            }
            number += 1;
            if !begun && start > 1 {
                separator(out, start)?;
            }
            begun = true;
            match counted {
                [(line, costs), rest @ ..] if *line == number => {
                    labelled(out, table, costs, &text)?;
                    counted = rest;
                }
                _ => {
                    table.dots(out)?;
                    write!(out, " ")?;
                    out.write_all(&text)?;
                    writeln!(out)?;
                }
            }
        }
        separator(out, end)?;
    }
    Ok(counted)
}

fn separator(out: &mut impl Write, line: u64) -> io::Result<()> {
    writeln!(out, "-- line {line} ----------------------------------------")
}

fn labelled(out: &mut impl Write, table: &Table<'_>, costs: &[i64], label: &[u8]) -> io::Result<()> {
    table.line(out, Counts { own: costs, running: None })?;
    write!(out, " ")?;
    out.write_all(label)?;
    writeln!(out)
}

/// The next line without its end; false if there is none, or no more can be read.
fn next_line(source: &mut impl BufRead, text: &mut Vec<u8>) -> io::Result<bool> {
    text.clear();
    // The file could be opened; what goes wrong later ends it.
    if source.read_until(b'\n', text).unwrap_or(0) == 0 {
        return Ok(false);
    }
    if text.pop_if(|last| *last == b'\n').is_some() {
        text.pop_if(|last| *last == b'\r');
    }
    Ok(true)
}

fn not_annotated(out: &mut impl Write, reason: &str, originals: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    writeln!(out, "Unannotated because {reason}:")?;
    for name in originals {
        write!(out, "- ")?;
        out.write_all(name)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Opens a source file; only a regular one, since others may have no end.
fn open(name: &[u8], paths: &[SourcePath]) -> io::Result<(BufReader<File>, Option<SystemTime>)> {
    let name = remap(name, paths);
    let path = Path::new(std::ffi::OsStr::from_bytes(&name));
    let data = std::fs::metadata(path)?;
    if !data.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((BufReader::new(File::open(path)?), data.modified().ok()))
}

/// Whether two inputs hold the same bytes to their ends.
fn same_bytes(one: &mut impl BufRead, other: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left.get(..length) != right.get(..length) {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}

fn add(sum: &mut [i64], costs: &[i64]) {
    for (sum, cost) in sum.iter_mut().zip(costs) {
        *sum = sum.saturating_add(*cost);
    }
}

fn add_lines(sum: &mut [i64], tally: &Tally, costs: &FileCosts) {
    costs.lines.values().for_each(|row| add(sum, tally.costs(*row)));
}

impl Shares {
    fn print(&self, shown: &Shown, out: &mut impl Write) -> io::Result<()> {
        let rows = [
            (&self.known_lines, "  annotated: files known & above threshold & readable, line numbers known"),
            (
                &self.unknown_lines,
                "  annotated: files known & above threshold & readable, line numbers unknown",
            ),
            (&self.not_identical, "unannotated: files known & above threshold & two or more non-identical"),
            // The blank at the end is cg_annotate's.
            (&self.unreadable, "unannotated: files known & above threshold & unreadable "),
            (&self.below_threshold, "unannotated: files known & below threshold"),
            (&self.unknown_files, "unannotated: files unknown"),
        ];
        heading(out, b"Annotation summary")?;
        let table = shown.table(rows.iter().map(|(costs, _)| Counts { own: costs, running: None }));
        table.head(out)?;
        write!(out, "\n\n")?;
        for (costs, label) in rows {
            labelled(out, &table, costs, label.as_bytes())?;
        }
        writeln!(out)
    }
}
