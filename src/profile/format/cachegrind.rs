//! Reads Cachegrind's files: those of Valgrind 3.19 to 3.28, of `cg_merge` and `cg_diff`, and our
//! own. The grammar is that of the Valgrind manual, "Cachegrind output file format", read as widely
//! as any of their readers does:
//!
//! - comments (`#`) and lines of blanks may stand anywhere, also in the head;
//! - `fi=` and `fe=` change the file and keep the function, where `fl=` waits for an `fn=`;
//! - counts may be negative (`cg_diff` writes such), `.` is 0, missing ones at the end of a line
//!   are 0;
//! - names are bytes; a line may end in CR LF.

use std::io::BufRead;

use super::dialect::{CACHEGRIND, Key, Line};
use super::error::{Problem, ReadError};
use super::lines::Lines;
use super::number::{Number, counts, decimal, decimal_count, next_number, words};
use super::record::{Head, Record};
use crate::profile::counts::add;

/// The function of counts that no `fn=` line precedes.
const UNSPECIFIED: &[u8] = b"<unspecified>";

/// A [`Record`] whose parts are still in the reader.
enum Step {
    Name,
    Counts(u64),
}

/// Walks through one file, of which it holds one line at a time.
///
/// ```text
/// let mut reader = CgReader::new(BufReader::new(file), "cachegrind.out.1")?;
/// let events = reader.head().events.clone();
/// while let Some(record) = reader.next_record()? { … } // None: the summary is there and right
/// ```
#[derive(Debug)]
pub struct CgReader<R> {
    lines: Lines<R>,
    head: Head,
    counts: Vec<i64>,
    total: Vec<i64>,
    summed: bool,
    function_due: bool,
}

impl<R: BufRead> CgReader<R> {
    /// Reads the head of a file. `name` is for messages.
    ///
    /// # Errors
    /// If the head is not one of a Cachegrind file, or cannot be read.
    pub fn new(input: R, name: impl Into<String>) -> Result<CgReader<R>, ReadError> {
        let mut lines = Lines::new(input, name, &CACHEGRIND);
        let head = read_head(&mut lines)?;
        let zeros = vec![0; head.events.len()];
        Ok(CgReader { lines, head, counts: zeros.clone(), total: zeros, summed: false, function_due: false })
    }

    /// The head of the file.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The sums of all counts so far; after the end those of the file, equal to its summary.
    #[must_use]
    pub fn total(&self) -> &[i64] {
        &self.total
    }

    /// Reads the next record: each `fl=` line gives a file and the function `<unspecified>`. `None`
    /// is the end of a file whose summary is there and right.
    ///
    /// # Errors
    /// If the file is malformed or contradicts itself; the message names the line. Reading on makes
    /// no sense.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if std::mem::take(&mut self.function_due) {
            return Ok(Some(Record::Function(UNSPECIFIED)));
        }
        Ok(match self.step()? {
            None => None,
            Some(Step::Counts(line)) => Some(Record::Counts { line, counts: &self.counts }),
            Some(Step::Name) => match self.lines.line() {
                Line::Key(Key::Function, name) => Some(Record::Function(name)),
                Line::Key(Key::File | Key::Include, name) => Some(Record::File(name)),
                _ => None,
            },
        })
    }

    /// Reads up to the next line that gives a record.
    fn step(&mut self) -> Result<Option<Step>, ReadError> {
        while self.lines.advance()? {
            match self.lines.line() {
                Line::Blank | Line::Comment(_) => {}
                _ if self.summed => return Err(self.lines.malformed()),
                Line::Cost(text) => {
                    let line = match cost_line(text, &mut self.counts) {
                        Ok(line) => line,
                        Err(problem) => return Err(self.lines.error(problem)),
                    };
                    return match add(&mut self.total, &self.counts) {
                        Ok(()) => Ok(Some(Step::Counts(line))),
                        Err(problem) => Err(self.lines.error(problem.into())),
                    };
                }
                line @ Line::Key(Key::Function | Key::File | Key::Include, _) => {
                    self.function_due = matches!(line, Line::Key(Key::File, _));
                    return Ok(Some(Step::Name));
                }
                Line::Key(Key::Summary, text) => {
                    let read = counts(text, &mut self.counts, decimal_count);
                    read.and_then(|()| self.check_summary()).map_err(|problem| self.lines.error(problem))?;
                }
                _ => return Err(self.lines.malformed()),
            }
        }
        if self.summed { Ok(None) } else { Err(self.lines.error(Problem::NoSummary)) }
    }

    fn check_summary(&mut self) -> Result<(), Problem> {
        if self.counts != self.total {
            return Err(Problem::WrongSummary {
                recorded: self.counts.clone(),
                computed: self.total.clone(),
            });
        }
        self.summed = true;
        Ok(())
    }
}

fn read_head(lines: &mut Lines<impl BufRead>) -> Result<Head, ReadError> {
    let mut head = Head::default();
    let mut callgrind = false;
    loop {
        if !lines.advance()? {
            return Err(lines.error(Problem::NoCommand));
        }
        match lines.line() {
            Line::Key(Key::Desc, text) => head.desc.push(text.to_vec()),
            Line::Key(Key::Cmd, text) => {
                head.cmd = text.to_vec();
                break;
            }
            Line::Comment(text) => callgrind |= text.starts_with(b"# callgrind format"),
            Line::Blank => {}
            line if callgrind || matches!(line, Line::Key(Key::Version | Key::Creator, _)) => {
                return Err(lines.error(Problem::Callgrind(lines.name().to_owned())));
            }
            _ => return Err(lines.error(Problem::NoCommand)),
        }
    }
    while lines.advance()? {
        match lines.line() {
            Line::Blank | Line::Comment(_) => {}
            Line::Key(Key::Events, text) => {
                head.events = words(text).map(<[u8]>::to_vec).collect();
                if !head.events.is_empty() {
                    return Ok(head);
                }
                break;
            }
            _ => break,
        }
    }
    Err(lines.error(Problem::NoEvents))
}

/// Reads a line's number and its counts.
fn cost_line(text: &[u8], slots: &mut [i64]) -> Result<u64, Problem> {
    let (line, rest) = match next_number(text) {
        Some((Number::Short(line), rest)) => (line.cast_unsigned(), rest),
        Some((Number::Word(word), rest)) => (decimal(word)?, rest),
        None => return Err(Problem::BadCounts),
    };
    counts(rest, slots, decimal_count)?;
    Ok(line)
}

#[cfg(test)]
mod tests;
