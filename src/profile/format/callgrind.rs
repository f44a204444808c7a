//! Reads Callgrind's files and those of the many tools that write its format. The grammar is that
//! of the Valgrind manual, "Callgrind Format Specification", version 1, read as widely as
//! `callgrind_annotate` and KCachegrind do:
//!
//! - names may be compressed (`fn=(1) main`, then `fn=(1)`) and positions relative (`+3`, `-1`,
//!   `*`);
//! - a file may have several parts, each with its own head; their costs are summed;
//! - `calls=` and the line after it are a [`Record::Call`]; jumps (`jump=`, `jcnd=`) are passed
//!   over;
//! - keys of the head that are not known are passed over; any other line that is not known is an
//!   error.
//!
//! A `totals:` line must be the sum of its part's lines. A `summary:` line may be more, since "the
//! cost lines may not represent all cost of the program run"; it is then what shares are of.

use std::io::BufRead;

use super::compression::{Compressed, Positions};
use super::dialect::{CALLGRIND, Key, Line};
use super::error::{Problem, ReadError};
use super::events::{Definition, Events};
use super::lines::Lines;
use super::number::{any_base, any_count, counts, words};
use super::record::{Head, Record};
use crate::profile::counts::add;
use crate::profile::names::UNKNOWN;

/// Begins the description of a difference, as with `cg_diff`.
pub(crate) const COMPARED: &[u8] = b"Files compared:";
/// Begins the word that says how the number of calls changed, behind their position.
pub(crate) const CHANGE: &[u8] = b"change=";
/// The number of parts that are described one by one; a program may write thousands.
const MOST_DESCRIBED: u64 = 20;
/// The number of their lines that are kept.
const MOST_LINES: usize = 200;

/// A [`Record`] that has been read and not yet been reported.
#[derive(Clone, Copy, Debug)]
enum Held {
    Counts { line: u64 },
    Call { line: u64, calls: i64 },
}

/// The subject of the next cost line.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// The line itself.
    #[default]
    Own,
    /// This number of calls.
    Call(i64),
    /// The place of a jump, if it has no costs.
    Jump,
}

/// A position's name, and whether it has been reported.
#[derive(Debug)]
struct Current {
    name: Vec<u8>,
    due: bool,
}

impl Current {
    fn set(&mut self, name: &[u8]) {
        if self.name != name {
            self.name.clear();
            self.name.extend_from_slice(name);
            self.due = true;
        }
    }
}

/// The sums of one part, which are checked at its end.
#[derive(Debug, Default)]
struct Part {
    /// The body has begun.
    begun: bool,
    computed: Vec<i64>,
    summary: Option<Vec<i64>>,
    totals: Option<Vec<i64>>,
}

/// Walks through one file, holding one line of it at a time, beside the names.
#[derive(Debug)]
pub struct CallgrindReader<R> {
    lines: Lines<R>,
    head: Head,
    events: Events,
    objects: Compressed,
    files: Compressed,
    functions: Compressed,
    positions: Positions,
    file: Current,
    function: Current,
    /// The file in which the current function begins.
    home: Vec<u8>,
    /// The object of the functions that follow, and that of the current one.
    object: Vec<u8>,
    home_object: Vec<u8>,
    /// The object that `cob=` and the file that `cfi=` named for the next `cfn=`.
    called_in: (Option<Vec<u8>>, Option<Vec<u8>>),
    /// File and function of the next call.
    called: (Vec<u8>, Vec<u8>),
    called_object: Vec<u8>,
    /// The address and the line that the next call leads to.
    target: (u64, u64),
    next: Next,
    held: Option<Held>,
    counts: Vec<i64>,
    part: Part,
    /// Parts so far.
    parts: u64,
    later: Vec<(u64, Vec<u8>)>,
    total: Vec<i64>,
    /// Callgrind itself wrote the file: it ends every part with totals.
    genuine: bool,
    /// The file is the difference of two, of which either may have costs that no line shows.
    difference: bool,
    /// The current line is the first of the body: read with the head, not yet taken in.
    again: bool,
}

impl<R: BufRead> CallgrindReader<R> {
    /// Reads the head of the first part. `name` is for messages.
    ///
    /// # Errors
    /// If the head is malformed or names no events, or if the file cannot be read.
    pub fn new(input: R, name: impl Into<String>) -> Result<CallgrindReader<R>, ReadError> {
        let unknown = || Current { name: UNKNOWN.as_bytes().to_vec(), due: true };
        let mut reader = CallgrindReader {
            lines: Lines::new(input, name, &CALLGRIND),
            head: Head::default(),
            events: Events::default(),
            objects: Compressed::default(),
            files: Compressed::default(),
            functions: Compressed::default(),
            positions: line_positions(),
            file: unknown(),
            function: unknown(),
            home: UNKNOWN.as_bytes().to_vec(),
            object: Vec::new(),
            home_object: Vec::new(),
            called_in: (None, None),
            called: (UNKNOWN.as_bytes().to_vec(), UNKNOWN.as_bytes().to_vec()),
            called_object: Vec::new(),
            target: (0, 0),
            next: Next::default(),
            held: None,
            counts: Vec::new(),
            part: Part::default(),
            parts: 1,
            later: Vec::new(),
            total: Vec::new(),
            genuine: false,
            difference: false,
            again: false,
        };
        reader.read_head()?;
        Ok(reader)
    }

    /// The head of the file.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// After the end, the costs of the whole run: of each part its summary, or what its lines add
    /// up to.
    #[must_use]
    pub fn total(&self) -> &[i64] {
        &self.total
    }

    /// After the end, what the `desc:` lines of parts after the first say, with the number of the
    /// part, from 2; of the first parts if there are many. A description that is the file's is not
    /// repeated.
    #[must_use]
    pub fn later_descriptions(&self) -> &[(u64, Vec<u8>)] {
        &self.later
    }

    /// After the end, how many parts there were.
    #[must_use]
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// The file in which the function of the last record begins; its costs may be in others.
    #[must_use]
    pub fn function_file(&self) -> &[u8] {
        &self.home
    }

    /// The object of the function of the last record; empty if the file does not name it.
    #[must_use]
    pub fn function_object(&self) -> &[u8] {
        &self.home_object
    }

    /// The address of the last record, if the file has addresses.
    #[must_use]
    pub fn address(&self) -> Option<u64> {
        self.positions.address()
    }

    /// The number of events that lines count; those behind them are derived.
    #[must_use]
    pub fn recorded(&self) -> usize {
        self.events.recorded()
    }

    /// The object of the function that the last call leads to; empty if the file does not name it.
    #[must_use]
    pub fn called_object(&self) -> &[u8] {
        &self.called_object
    }

    /// The address and the line that the last call leads to; 0 if the file does not say.
    #[must_use]
    pub fn target(&self) -> (u64, u64) {
        self.target
    }

    /// The problem with the name of the file and the line that was read last.
    pub fn error(&self, problem: Problem) -> ReadError {
        self.lines.error(problem)
    }

    /// The next step, or `None` after the end of the file.
    ///
    /// # Errors
    /// If the file is malformed or contradicts itself; the message names the line. Reading on makes
    /// no sense.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if self.held.is_none() && !self.step()? {
            return Ok(None);
        }
        if std::mem::take(&mut self.file.due) {
            return Ok(Some(Record::File(&self.file.name)));
        }
        if std::mem::take(&mut self.function.due) {
            return Ok(Some(Record::Function(&self.function.name)));
        }
        let counts = &self.counts;
        Ok(self.held.take().map(|held| match held {
            Held::Counts { line } => Record::Counts { line, counts },
            Held::Call { line, calls } => {
                let (file, function) = &self.called;
                Record::Call { file, function, calls, line, counts }
            }
        }))
    }

    /// Reads lines until one is held; false at the end.
    fn step(&mut self) -> Result<bool, ReadError> {
        while self.advance()? {
            self.line().map_err(|problem| match problem {
                Problem::Malformed(_) => self.lines.malformed(),
                problem => self.error(problem),
            })?;
            if self.held.is_some() {
                return Ok(true);
            }
        }
        if matches!(self.next, Next::Call(_)) {
            return Err(self.error(Problem::NoCallCosts));
        }
        self.end_part().map_err(|problem| self.error(problem))?;
        Ok(false)
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        if std::mem::take(&mut self.again) { Ok(true) } else { self.lines.advance() }
    }

    /// Takes in one line of a body.
    fn line(&mut self) -> Result<(), Problem> {
        let line = self.lines.line();
        match line {
            Line::Blank | Line::Comment(_) => return Ok(()),
            Line::Key(Key::Summary, text) => {
                self.part.summary = Some(self.events.sums(text)?);
                return Ok(());
            }
            Line::Key(Key::Totals, text) => {
                self.part.totals = Some(self.events.sums(text)?);
                return Ok(());
            }
            _ if is_head(line) => return self.later_head(),
            _ => self.part.begun = true,
        }
        match line {
            Line::Cost(_) => return self.cost_line(),
            Line::Key(Key::File | Key::Include, name) => self.file.set(self.files.resolve(name)?),
            Line::Key(Key::Function, name) => {
                self.function.set(self.functions.resolve(name)?);
                // One of the same name in another file or object is another function.
                self.function.due |= self.home != self.file.name || self.home_object != self.object;
                self.home.clone_from(&self.file.name);
                self.home_object.clone_from(&self.object);
            }
            Line::Key(Key::CalledFile, name) => self.called_in.1 = Some(self.files.resolve(name)?.to_vec()),
            Line::Key(Key::CalledFunction, name) => {
                let function = self.functions.resolve(name)?.to_vec();
                // Without a `cob=` or `cfi=` before it, it is in the caller's object or file.
                let (object, file) = std::mem::take(&mut self.called_in);
                self.called_object = object.unwrap_or_else(|| self.home_object.clone());
                self.called = (file.unwrap_or_else(|| self.file.name.clone()), function);
            }
            Line::Key(Key::Object, name) => {
                let name = self.objects.resolve(name)?;
                self.object.clear();
                self.object.extend_from_slice(name);
            }
            Line::Key(Key::CalledObject, name) => {
                self.called_in.0 = Some(self.objects.resolve(name)?.to_vec());
            }
            // They may define names that are used later.
            Line::Key(Key::JumpFile, name) => drop(self.files.resolve(name)?),
            Line::Key(Key::JumpFunction, name) => drop(self.functions.resolve(name)?),
            Line::Key(Key::Calls, text) => {
                if matches!(self.next, Next::Call(_)) {
                    return Err(Problem::NoCallCosts);
                }
                self.next = Next::Call(number_of_calls(text)?);
                self.target = self.positions.target(words(text).skip(1));
            }
            Line::Key(Key::Jump, _) => self.next = Next::Jump,
            _ => return Err(Problem::Malformed(String::new())),
        }
        Ok(())
    }

    fn cost_line(&mut self) -> Result<(), Problem> {
        let Line::Cost(text) = self.lines.line() else { return Ok(()) };
        let text = self.positions.read(text, |byte| byte.is_ascii_whitespace(), any_base)?;
        let bare = text.trim_ascii().is_empty();
        let recorded = self.counts.get_mut(..self.events.recorded()).unwrap_or_default();
        counts(text, recorded, any_count)?;
        let line = self.positions.line();
        self.held = match std::mem::take(&mut self.next) {
            // Callgrind has the place of the jump there; the grammar has no such line.
            Next::Jump if bare => return Ok(()),
            Next::Jump | Next::Own => {
                self.events.complete(&mut self.counts)?;
                add(&mut self.part.computed, &self.counts)?;
                Some(Held::Counts { line })
            }
            Next::Call(calls) => {
                self.events.complete(&mut self.counts)?;
                Some(Held::Call { line, calls })
            }
        };
        Ok(())
    }

    /// Takes in a line of the head of a part after the first.
    fn later_head(&mut self) -> Result<(), Problem> {
        let line = self.lines.line();
        let recorded = self.head.events.get(..self.events.recorded()).unwrap_or_default();
        let differ = matches!(line, Line::Key(Key::Events, text) if Events::new(text).names() != recorded);
        let desc = described(line).map(<[u8]>::to_vec);
        let positions = if let Line::Key(Key::Positions, text) = line { Some(positions(text)) } else { None };
        if self.part.begun {
            self.end_part()?;
            self.positions = line_positions();
            self.parts = self.parts.saturating_add(1);
        }
        let wanted = self.parts > 1 && self.parts <= MOST_DESCRIBED && self.later.len() < MOST_LINES;
        if let Some(desc) = desc.filter(|desc| wanted && !self.head.desc.contains(desc)) {
            self.later.push((self.parts, desc));
        }
        if let Some(positions) = positions {
            self.positions = positions;
        }
        if differ { Err(Problem::PartsDiffer) } else { Ok(()) }
    }

    /// Checks the sums of a part that is complete, and begins the next.
    fn end_part(&mut self) -> Result<(), Problem> {
        let width = self.counts.len();
        let next = Part { computed: vec![0; width], ..Part::default() };
        let Part { computed, summary, totals, .. } = std::mem::replace(&mut self.part, next);
        match totals {
            Some(recorded) if recorded != computed => {
                return Err(Problem::WrongTotals { recorded, computed });
            }
            None if self.genuine => return Err(Problem::NoTotals),
            _ => {}
        }
        match summary.filter(|sums| sums.iter().any(|sum| *sum != 0)) {
            Some(recorded)
                if !self.difference && recorded.iter().zip(&computed).any(|(all, sum)| all < sum) =>
            {
                Err(Problem::SmallSummary { recorded, computed })
            }
            Some(all) => Ok(add(&mut self.total, &all)?),
            None => Ok(add(&mut self.total, &computed)?),
        }
    }

    /// Reads up to the first line of the first body. A head may have its lines in any order.
    fn read_head(&mut self) -> Result<(), ReadError> {
        let mut sums: Vec<(bool, Vec<u8>)> = Vec::new();
        while self.lines.advance()? {
            let line = self.lines.line();
            match line {
                Line::Key(Key::Version, text) if !matches!(text.trim_ascii_end(), b"0" | b"1") => {
                    let version = String::from_utf8_lossy(text).into_owned();
                    return Err(self.error(Problem::Version(version)));
                }
                Line::Key(Key::Creator, text) => self.genuine = text.starts_with(b"callgrind"),
                Line::Key(Key::Cmd, text) => self.head.cmd = text.to_vec(),
                Line::Key(Key::Desc, _) => self.head.desc.extend(described(line).map(<[u8]>::to_vec)),
                Line::Key(Key::Positions, text) => self.positions = positions(text),
                Line::Key(Key::Events, text) => self.events = Events::new(text),
                Line::Key(Key::Event, text) => self.head.definitions.extend(Definition::parse(text)),
                Line::Key(Key::Summary, text) => sums.push((false, text.to_vec())),
                Line::Key(Key::Totals, text) => sums.push((true, text.to_vec())),
                Line::Blank | Line::Comment(_) | Line::Key(Key::Version | Key::Other, _) => {}
                _ => {
                    self.again = true;
                    break;
                }
            }
        }
        if self.events.recorded() == 0 {
            return Err(self.error(Problem::NoEvents));
        }
        self.difference = self.head.desc.iter().any(|desc| desc.starts_with(COMPARED));
        self.events.derive(&self.head.definitions);
        self.head.events = self.events.names();
        self.counts = vec![0; self.head.events.len()];
        self.total.clone_from(&self.counts);
        self.part.computed.clone_from(&self.counts);
        for (totals, text) in sums {
            let sums = self.events.sums(&text).map_err(|problem| self.error(problem))?;
            *(if totals { &mut self.part.totals } else { &mut self.part.summary }) = Some(sums);
        }
        Ok(())
    }
}

/// The number that follows `calls=`. In a difference it may be below 1, which the format does not
/// know; a word behind the position then says it (`calls=1 0 change=-2`).
fn number_of_calls(text: &[u8]) -> Result<i64, Problem> {
    let count = words(text).next().and_then(any_base).ok_or(Problem::BadCalls)?;
    match words(text).find_map(|word| word.strip_prefix(CHANGE)) {
        Some(change) => any_count(change).map_err(|_| Problem::BadCalls),
        None => i64::try_from(count).map_err(|_| Problem::TooLarge),
    }
}

/// Tells the lines of a head, which end the part before them.
fn is_head(line: Line<'_>) -> bool {
    matches!(
        line,
        Line::Key(Key::Desc | Key::Cmd, _)
            | Line::Key(Key::Events | Key::Event, _)
            | Line::Key(Key::Positions | Key::Version, _)
            | Line::Key(Key::Creator | Key::Other, _)
    )
}

/// The text of a `desc:` line, unless it repeats an option; `callgrind_annotate` does not show
/// those either.
fn described(line: Line<'_>) -> Option<&[u8]> {
    match line {
        Line::Key(Key::Desc, text) if !text.starts_with(b"Option:") => Some(text),
        _ => None,
    }
}

/// The positions of a `positions:` line: any of `instr` (also called `addr`), `bb` and `line`; only
/// `line` if it names none of them.
fn positions(text: &[u8]) -> Positions {
    let known = |word: &&[u8]| matches!(*word, b"instr" | b"addr" | b"bb" | b"line");
    let positions = Positions::new(words(text).filter(known));
    if positions.is_empty() { line_positions() } else { positions }
}

/// The positions of a part that does not name any.
fn line_positions() -> Positions {
    Positions::new(std::iter::once(&b"line"[..]))
}

#[cfg(test)]
mod tests;
