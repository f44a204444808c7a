//! Reads Callgrind's files and those of the many tools that write its format. The grammar is that of the Valgrind
//! manual, "Callgrind Format Specification", version 1, read as widely as `callgrind_annotate` and
//! KCachegrind do:
//!
//! - names may be compressed (`fn=(1) main`, then `fn=(1)`) and positions relative (`+3`, `-1`, `*`);
//! - a file may have several parts, each with its own head; their costs are summed;
//! - `calls=` and the line after it are a [`Record::Call`]; jumps (`jump=`, `jcnd=`) are passed over;
//! - keys of the head that are not known are passed over; any other line that is not known is an error.
//!
//! A `totals:` line must be the sum of its part's lines. A `summary:` line may be more, since "the cost lines may not
//! represent all cost of the program run"; it is then what shares are of.

mod detect;
mod events;
mod names;
mod position;

use std::io::BufRead;

pub use detect::{Whole, instead_of_head, is_callgrind};
pub use events::Definition;
use events::Events;
use names::Compressed;
use position::{Costs, Positions};

use super::lines::Lines;
use super::{Problem, ReadError, add, parse_signed, words};

/// What stands in for a file or function before one is named.
const UNKNOWN: &[u8] = b"???";

/// How many parts are described one by one; a program may write thousands.
const MOST_DESCRIBED: u64 = 20;
/// How many lines of theirs are kept.
const MOST_LINES: usize = 200;

/// What stands before the costs of the first part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The `desc:` lines, without those that only repeat options.
    pub desc: Vec<Vec<u8>>,
    /// The command line that was profiled; empty if it is not given.
    pub cmd: Vec<u8>,
    /// The names of the events: recorded ones in the order of the columns, then derived ones.
    pub events: Vec<Vec<u8>>,
    /// Long names and formulas of events, in the order of their lines.
    pub definitions: Vec<Definition>,
}

/// One step through the body of a file. A file or function is reported when costs follow, if it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The costs that follow are of this source file.
    File(&'a [u8]),
    /// The costs that follow are of this function.
    Function(&'a [u8]),
    /// The costs of a line itself.
    Counts {
        /// The source line; 0 if it is not known.
        line: u64,
        /// One count for each event of the head.
        counts: &'a [i64],
    },
    /// Calls from a line of the current function, and what was spent inside of them.
    Call {
        /// The called function's source file.
        file: &'a [u8],
        /// The called function.
        function: &'a [u8],
        /// How often it was called from there.
        calls: u64,
        /// The line of the call; 0 if it is not known.
        line: u64,
        /// One count for each event of the head.
        counts: &'a [i64],
    },
}

/// A [`Record`] that has been read and not been reported yet.
#[derive(Clone, Copy, Debug)]
enum Held {
    Counts { line: u64 },
    Call { line: u64, calls: u64 },
}

/// What the next cost line is about.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// The line itself.
    #[default]
    Own,
    /// That many calls.
    Call(u64),
    /// A jump; there is nothing to count.
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

/// What is summed and checked for each part.
#[derive(Debug, Default)]
struct Part {
    /// Whether the body has begun.
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
    /// What `cfi=` says of the next `cfn=`.
    called_file: Option<Vec<u8>>,
    /// File and function of the next call.
    called: (Vec<u8>, Vec<u8>),
    next: Next,
    held: Option<Held>,
    counts: Vec<i64>,
    part: Part,
    /// Parts so far.
    parts: u64,
    later: Vec<(u64, Vec<u8>)>,
    total: Vec<i64>,
    /// Whether Callgrind itself wrote the file: it ends every part with totals.
    genuine: bool,
    /// Whether the current line is the first of the body, read with the head and to be looked at again.
    again: bool,
}

impl<R: BufRead> CallgrindReader<R> {
    /// Reads the head of the first part. `name` is for messages.
    ///
    /// # Errors
    /// If the head is malformed or names no events, or if the file cannot be read.
    pub fn new(input: R, name: impl Into<String>) -> Result<CallgrindReader<R>, ReadError> {
        let unknown = || Current { name: UNKNOWN.to_vec(), due: true };
        let mut reader = CallgrindReader {
            lines: Lines::new(input, name),
            head: Head::default(),
            events: Events::default(),
            objects: Compressed::default(),
            files: Compressed::default(),
            functions: Compressed::default(),
            positions: Positions::default(),
            file: unknown(),
            function: unknown(),
            called_file: None,
            called: (UNKNOWN.to_vec(), UNKNOWN.to_vec()),
            next: Next::default(),
            held: None,
            counts: Vec::new(),
            part: Part::default(),
            parts: 1,
            later: Vec::new(),
            total: Vec::new(),
            genuine: false,
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

    /// After the end, the costs of the whole run: of each part its summary, or what its lines add up to.
    #[must_use]
    pub fn total(&self) -> &[i64] {
        &self.total
    }

    /// After the end, what the `desc:` lines of parts after the first say, with the number of the part, from 2; of the first parts if
    /// there are many. A description that is the file's is not repeated.
    #[must_use]
    pub fn later_descriptions(&self) -> &[(u64, Vec<u8>)] {
        &self.later
    }

    /// After the end, how many parts there were.
    #[must_use]
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// The problem with the name of the file and the line that was read last.
    pub fn error(&self, problem: Problem) -> ReadError {
        self.lines.error(problem)
    }

    /// The next step, or `None` after the end of the file.
    ///
    /// # Errors
    /// If the file is malformed or contradicts itself; the message names the line. Reading on makes no sense.
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
            [] | [b'#', ..] => return Ok(()),
            [b'0'..=b'9' | b'+' | b'-' | b'*', ..] => return self.cost_line(),
            _ if line.iter().all(u8::is_ascii_whitespace) => return Ok(()),
            _ => {}
        }
        let Some((key, text)) = key(line, b'=') else { return self.head_line() };
        self.part.begun = true;
        match key {
            b"fl" | b"fi" | b"fe" => self.file.set(self.files.resolve(text)?),
            b"fn" => self.function.set(self.functions.resolve(text)?),
            b"cfi" | b"cfl" => self.called_file = Some(self.files.resolve(text)?.to_vec()),
            b"cfn" => {
                let function = self.functions.resolve(text)?.to_vec();
                // Without a `cfi=` of its own it is in the caller's file.
                let file = self.called_file.take().unwrap_or_else(|| self.file.name.clone());
                self.called = (file, function);
            }
            // They may define names that are used later.
            b"ob" | b"cob" => drop(self.objects.resolve(text)?),
            b"jfi" => drop(self.files.resolve(text)?),
            b"jfn" => drop(self.functions.resolve(text)?),
            b"calls" => {
                if matches!(self.next, Next::Call(_)) {
                    return Err(Problem::NoCallCosts);
                }
                let count = words(text).next().unwrap_or_default();
                self.next = Next::Call(position::number(count).ok_or(Problem::BadCounts)?);
            }
            b"jump" | b"jcnd" => self.next = Next::Jump,
            _ => return Err(Problem::Malformed(String::new())),
        }
        Ok(())
    }

    fn cost_line(&mut self) -> Result<(), Problem> {
        self.part.begun = true;
        let Costs { line, words } = self.positions.read(self.lines.line())?;
        position::counts(words, self.counts.get_mut(..self.events.recorded()).unwrap_or_default())?;
        self.held = match std::mem::take(&mut self.next) {
            Next::Jump => return Ok(()),
            Next::Own => {
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

    /// Takes in a line of a head, or a sum at the end of a body.
    fn head_line(&mut self) -> Result<(), Problem> {
        let Some((key, text)) = key(self.lines.line(), b':') else {
            return Err(Problem::Malformed(String::new()));
        };
        let text = text.trim_ascii_start();
        let desc = (key == b"desc" && !text.starts_with(b"Option:")).then(|| text.to_vec());
        if key == b"summary" || key == b"totals" {
            let mut sums = vec![0; self.counts.len()];
            position::counts(text, sums.get_mut(..self.events.recorded()).unwrap_or_default())?;
            self.events.complete(&mut sums)?;
            let slot = if key == b"totals" { &mut self.part.totals } else { &mut self.part.summary };
            *slot = Some(sums);
            return Ok(());
        }
        let positions = (key == b"positions").then(|| Positions::new(text));
        let recorded = self.head.events.get(..self.events.recorded()).unwrap_or_default();
        let differ = key == b"events" && Events::new(text).names() != recorded;
        if self.part.begun {
            self.end_part()?;
            self.positions = Positions::default();
            self.parts = self.parts.saturating_add(1);
        }
        let described = self.parts > 1 && self.parts <= MOST_DESCRIBED && self.later.len() < MOST_LINES;
        if let Some(desc) = desc.filter(|desc| described && !self.head.desc.contains(desc)) {
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
            Some(recorded) if recorded.iter().zip(&computed).any(|(all, sum)| all < sum) => {
                Err(Problem::SmallSummary { recorded, computed })
            }
            Some(all) => add(&mut self.total, &all),
            None => add(&mut self.total, &computed),
        }
    }

    /// Reads up to the first line of the first body. What is in a head may be in any order.
    fn read_head(&mut self) -> Result<(), ReadError> {
        let mut sums: Vec<(bool, Vec<u8>)> = Vec::new();
        while self.lines.advance()? {
            let line = self.lines.line();
            if line.first().is_none_or(|c| *c == b'#') || line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let Some((key, text)) = key(line, b':') else {
                self.again = true;
                break;
            };
            let text = text.trim_ascii_start();
            match key {
                b"version" if !matches!(text.trim_ascii_end(), b"0" | b"1") => {
                    let version = String::from_utf8_lossy(text).into_owned();
                    return Err(self.error(Problem::Version(version)));
                }
                b"creator" => self.genuine = text.starts_with(b"callgrind"),
                b"cmd" => self.head.cmd = text.to_vec(),
                // The same as in callgrind_annotate: options are not shown.
                b"desc" if !text.starts_with(b"Option:") => self.head.desc.push(text.to_vec()),
                b"positions" => self.positions = Positions::new(text),
                b"events" => self.events = Events::new(text),
                b"event" => self.head.definitions.extend(Definition::parse(text)),
                b"summary" | b"totals" => sums.push((key == b"totals", text.to_vec())),
                _ => {}
            }
        }
        if self.events.recorded() == 0 {
            return Err(self.error(Problem::NoEvents));
        }
        self.events.derive(&self.head.definitions);
        self.head.events = self.events.names();
        self.counts = vec![0; self.head.events.len()];
        self.total.clone_from(&self.counts);
        self.part.computed.clone_from(&self.counts);
        for (totals, text) in sums {
            let mut sums = self.total.clone();
            let read = position::counts(&text, sums.get_mut(..self.events.recorded()).unwrap_or_default());
            read.and_then(|()| self.events.complete(&mut sums)).map_err(|problem| self.error(problem))?;
            *(if totals { &mut self.part.totals } else { &mut self.part.summary }) = Some(sums);
        }
        Ok(())
    }
}

/// The lower-case word that a line begins with, if the `mark` follows, and what comes after that.
fn key(line: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let length = line.iter().take_while(|c| c.is_ascii_lowercase()).count();
    let (key, rest) = line.split_at_checked(length)?;
    Some((key, rest.strip_prefix(&[mark])?)).filter(|_| length > 0)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
