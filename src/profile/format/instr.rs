//! The side file with costs by instruction: Callgrind's format with `positions: instr line`, and
//! comments that say more of the objects. `docs/instr-format.md` describes it. Of other files of
//! Callgrind's format with addresses the reader takes the costs of the instructions themselves.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::compression::{Compressed, Positions, split};
use super::dialect::{Key, Line, SIDE_FILE};
use super::error::{Problem, ReadError};
use super::lines::Lines;
use super::number::{counts, is_space, words};
use crate::profile::instructions::{CodeObject, InsnCosts, Instructions, add_costs};
use crate::profile::names::UNKNOWN;

/// The suffix of a side file, after the name of its profile.
pub const SIDE_SUFFIX: &str = ".instr";
/// Begins the comment that identifies the object of the `ob=` line after it.
const OBJECT: &str = "#cgemu-object:";
/// Begins a comment with the bytes of instructions that are in no file.
const CODE: &str = "#cgemu-code:";
/// The version of these comments.
const VERSION: &str = "#cgemu-instr: 1";
/// First line of Callgrind's format.
const MAGIC: &str = "# callgrind format";

/// Reads a whole file; `name` is for messages.
///
/// # Errors
/// If the file is of another format or has no addresses, is malformed, or cannot be read.
pub fn read_instructions(input: impl BufRead, name: impl Into<String>) -> Result<Instructions, ReadError> {
    let mut lines = Lines::new(input, name, &SIDE_FILE);
    let mut state = State::default();
    while lines.advance()? {
        state.line(lines.line()).map_err(|problem| match problem {
            Problem::Malformed(_) => lines.malformed(),
            problem => lines.error(problem),
        })?;
    }
    if state.out.events.is_empty() {
        return Err(lines.error(Problem::NoEvents));
    }
    if !state.addresses {
        return Err(lines.error(Problem::NoAddresses));
    }
    if state.totals.as_ref().is_some_and(|totals| *totals != state.out.total()) {
        let (recorded, computed) = (state.totals.unwrap_or_default(), state.out.total());
        return Err(lines.error(Problem::WrongTotals { recorded, computed }));
    }
    if state.ours && state.totals.is_none() {
        return Err(lines.error(Problem::NoTotals));
    }
    Ok(state.out)
}

/// Resolves a name that may be compressed. A compressed one ends before the blanks at the end of
/// the line.
fn resolve<'a>(names: &'a mut Compressed, text: &'a [u8]) -> Result<&'a [u8], Problem> {
    names.resolve(if split(text).is_some() { text.trim_ascii_end() } else { text })
}

/// Resolves a name only for the ID that it may define.
fn define(names: &mut Compressed, text: &[u8]) -> Result<(), Problem> {
    resolve(names, text).map(|_| ())
}

/// The file so far, and the context of its next line.
#[derive(Default)]
struct State {
    out: Instructions,
    /// The objects by path and identity.
    places: FxHashMap<(Vec<u8>, String), usize>,
    object: Option<usize>,
    /// The comments on the object that is named next.
    next: CodeObject,
    objects: Compressed,
    files: Compressed,
    functions: Compressed,
    file: Option<Arc<[u8]>>,
    function: Option<Arc<[u8]>>,
    positions: Positions,
    addresses: bool,
    ours: bool,
    /// The next cost line is that of a call or jump.
    call: bool,
    totals: Option<Vec<i64>>,
}

impl State {
    fn line(&mut self, line: Line<'_>) -> Result<(), Problem> {
        match line {
            Line::Comment(text) => self.comment(text)?,
            Line::Cost(text) => self.costs(text)?,
            Line::Key(Key::Object, name) => self.begin_object(name)?,
            Line::Key(Key::File | Key::Include, name) => {
                self.file = Some(resolve(&mut self.files, name)?.into());
            }
            Line::Key(Key::Function, name) => {
                self.function = Some(resolve(&mut self.functions, name)?.into());
            }
            // They may define names that are used later.
            Line::Key(Key::CalledObject, name) => define(&mut self.objects, name)?,
            Line::Key(Key::CalledFile | Key::JumpFile, name) => define(&mut self.files, name)?,
            Line::Key(Key::CalledFunction | Key::JumpFunction, name) => define(&mut self.functions, name)?,
            Line::Key(Key::Calls | Key::Jump, _) => self.call = true,
            Line::Key(Key::Cmd, text) => self.out.cmd = text.to_vec(),
            Line::Key(Key::Events, text) => {
                let events: Vec<Vec<u8>> = words(text).map(<[u8]>::to_vec).collect();
                if !self.out.events.is_empty() && self.out.events != events {
                    return Err(Problem::PartsDiffer);
                }
                self.out.events = events;
            }
            Line::Key(Key::Positions, text) => self.positions = Positions::new(words(text)),
            Line::Key(Key::Totals, text) => {
                // Each part of a file has its own.
                let mut totals = self.counts(text)?;
                add_costs(&mut totals, self.totals.as_deref().unwrap_or_default());
                self.totals = Some(totals);
            }
            Line::Unknown => return Err(Problem::Malformed(String::new())),
            Line::Blank
            | Line::Key(Key::Desc | Key::Event, _)
            | Line::Key(Key::Version | Key::Creator, _)
            | Line::Key(Key::Summary | Key::Other, _) => {}
        }
        Ok(())
    }

    fn comment(&mut self, line: &[u8]) -> Result<(), Problem> {
        let malformed = || Problem::Malformed(String::new());
        let Ok(line) = std::str::from_utf8(line) else { return Ok(()) };
        if let Some(version) = line.strip_prefix("#cgemu-instr: ") {
            self.ours = true;
            return if version == "1" { Ok(()) } else { Err(Problem::Version(version.to_owned())) };
        }
        if let Some(text) = line.strip_prefix(OBJECT) {
            let mut words = text.split_ascii_whitespace();
            words.next().ok_or_else(malformed)?.clone_into(&mut self.next.identity);
            for bias in words.filter_map(|word| word.strip_prefix("bias:")) {
                self.next.biases.push(unsigned(bias.as_bytes()).ok_or_else(malformed)?);
            }
        } else if let Some(text) = line.strip_prefix(CODE) {
            let (address, digits) = text.trim_start().split_once(' ').ok_or_else(malformed)?;
            let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let bytes = digits.as_bytes().chunks(2).map(|pair| match pair {
                [high, low] => Some(digit(high)? << 4 | digit(low)?),
                _ => None,
            });
            let bytes = bytes.collect::<Option<Vec<u8>>>().ok_or_else(malformed)?;
            self.next.code.insert(unsigned(address.as_bytes()).ok_or_else(malformed)?, bytes);
        }
        Ok(())
    }

    fn begin_object(&mut self, text: &[u8]) -> Result<(), Problem> {
        let mut next = std::mem::take(&mut self.next);
        next.path = resolve(&mut self.objects, text)?.to_vec();
        let key = (next.path.clone(), next.identity.clone());
        self.object = Some(*self.places.entry(key).or_insert_with(|| {
            self.out.objects.push(next);
            self.out.objects.len() - 1
        }));
        Ok(())
    }

    fn costs(&mut self, line: &[u8]) -> Result<(), Problem> {
        // Without a line that says otherwise there are lines only.
        if self.positions.is_empty() {
            return Err(Problem::NoAddresses);
        }
        let rest = self.positions.read(line, is_space, unsigned)?;
        let counts = self.counts(rest)?;
        if std::mem::take(&mut self.call) {
            return Ok(());
        }
        let Some(address) = self.positions.address() else { return Err(Problem::NoAddresses) };
        self.addresses = true;
        let line = self.positions.line();
        if self.object.is_none() {
            self.begin_object(UNKNOWN.as_bytes())?;
        }
        let name = |name: &Option<Arc<[u8]>>| name.clone().unwrap_or_else(|| UNKNOWN.as_bytes().into());
        let (file, function) = (name(&self.file), name(&self.function));
        let Some(object) = self.object.and_then(|at| self.out.objects.get_mut(at)) else { return Ok(()) };
        let insn = object.instructions.entry(address).or_insert_with(|| InsnCosts {
            file,
            function,
            line,
            costs: vec![0; counts.len()],
        });
        add_costs(&mut insn.costs, &counts);
        Ok(())
    }

    /// Reads the counts of a line, one for each event.
    fn counts(&self, text: &[u8]) -> Result<Vec<i64>, Problem> {
        let mut costs = vec![0; self.out.events.len()];
        counts(text, &mut costs, |word| number(word).ok_or(Problem::BadCounts))?;
        Ok(costs)
    }
}

fn number(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A number, hexadecimal after `0x`.
fn unsigned(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    match text.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok().filter(|_| !text.starts_with('+')),
    }
}

/// Writes the costs: objects in their order, instructions by address.
///
/// # Errors
/// Those of `out`. Part of the file may have been written.
pub fn write_instructions(instructions: &Instructions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{MAGIC}\n{VERSION}\nversion: 1\ncreator: cgemu {}", env!("CARGO_PKG_VERSION"))?;
    line(out, "cmd:", &instructions.cmd)?;
    line(out, "positions:", b"instr line")?;
    line(out, "events:", &instructions.events.join(&b' '))?;
    let (mut objects, mut names) = (Numbers::default(), Names::default());
    for object in &instructions.objects {
        writeln!(out)?;
        comments(object, out)?;
        objects.name(out, "ob=", &object.path)?;
        body(object, &mut names, out)?;
    }
    write!(out, "\ntotals:")?;
    write_counts(out, &instructions.total())
}

/// Writes the comments of an object: its identity, and code that is in no file.
fn comments(object: &CodeObject, out: &mut dyn Write) -> io::Result<()> {
    if !object.identity.is_empty() {
        write!(out, "{OBJECT} {}", object.identity)?;
        for bias in &object.biases {
            write!(out, " bias:{bias:#x}")?;
        }
        writeln!(out)?;
    }
    for (address, bytes) in &object.code {
        write!(out, "{CODE} {address:#x} ")?;
        for byte in bytes {
            write!(out, "{byte:02x}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn body<'a>(object: &'a CodeObject, names: &mut Names<'a>, out: &mut dyn Write) -> io::Result<()> {
    // A function's own file is that of its first instruction; code from other files is inside of
    // it.
    let mut function: Option<(&[u8], &[u8])> = None;
    let mut file: &[u8] = b"";
    for (&address, insn) in &object.instructions {
        let own = match function {
            Some((name, own)) if name == &*insn.function => own,
            _ => {
                names.files.name(out, "fl=", &insn.file)?;
                names.functions.name(out, "fn=", &insn.function)?;
                file = &insn.file;
                function = Some((&insn.function, &insn.file));
                file
            }
        };
        if file != &*insn.file {
            names.files.name(out, if own == &*insn.file { "fe=" } else { "fi=" }, &insn.file)?;
            file = &insn.file;
        }
        write!(out, "{address:#x} {}", insn.line)?;
        write_counts(out, &insn.costs)?;
    }
    Ok(())
}

/// Names that have been given a number.
#[derive(Default)]
struct Names<'a> {
    files: Numbers<'a>,
    functions: Numbers<'a>,
}

#[derive(Default)]
struct Numbers<'a>(FxHashMap<&'a [u8], usize>);

impl<'a> Numbers<'a> {
    /// Writes the short form of a name, and at its first time the name itself. A blank one cannot
    /// be told from none after a number, and has no short form.
    fn name(&mut self, out: &mut dyn Write, key: &str, name: &'a [u8]) -> io::Result<()> {
        if name.trim_ascii().is_empty() {
            write!(out, "{key}")?;
            out.write_all(name)?;
            return writeln!(out);
        }
        let next = self.0.len() + 1;
        let number = *self.0.entry(name).or_insert(next);
        write!(out, "{key}({number})")?;
        if number == next {
            out.write_all(b" ")?;
            out.write_all(name)?;
        }
        writeln!(out)
    }
}

/// A line of the head.
fn line(out: &mut dyn Write, key: &str, value: &[u8]) -> io::Result<()> {
    write!(out, "{key} ")?;
    out.write_all(value)?;
    out.write_all(b"\n")
}

fn write_counts(out: &mut dyn Write, counts: &[i64]) -> io::Result<()> {
    counts.iter().try_for_each(|count| write!(out, " {count}"))?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests;
