//! Reads Cachegrind's files: those of Valgrind 3.19 to 3.28, of `cg_merge` and `cg_diff`, and our own.
//! The grammar is that of the Valgrind manual, "Cachegrind output file format", read as widely as any of
//! their readers does:
//!
//! - comments (`#`) and empty lines may stand anywhere, also in the head;
//! - `fi=` and `fe=` change the file and keep the function, where `fl=` waits for an `fn=`;
//! - counts may be negative (`cg_diff` writes such), `.` is 0, missing ones at the end of a line are 0;
//! - names are bytes; a line may end in CR LF.

use std::io::BufRead;

use thiserror::Error;

use super::lines::Lines;

/// The function of counts that no `fn=` line precedes.
pub const UNSPECIFIED: &[u8] = b"<unspecified>";

/// What is wrong with a file, and where.
#[derive(Debug, Error)]
#[error("{file}{}: {problem}", if problem.has_line() { format!(":{line}") } else { String::new() })]
pub struct ReadError {
    /// The file's name as the caller gave it, for display.
    pub file: String,
    /// The line's number, from 1; one past the last line if something is missing at the end.
    pub line: u64,
    /// What is wrong there.
    pub problem: Problem,
}

/// The ways in which a file can be wrong.
#[derive(Debug, Error)]
pub enum Problem {
    /// There is no `cmd:` line after the description.
    #[error("missing `cmd:` line after the `desc:` lines; is this a Cachegrind file?")]
    NoCommand,
    /// The file is Callgrind's or of another kind that says so in its head.
    #[error("expected a Cachegrind file, but `{0}` is of the Callgrind format")]
    Callgrind(String),
    /// There is no `events:` line after `cmd:`, or it names no event.
    #[error("missing `events:` line")]
    NoEvents,
    /// A count is no number, or there are more counts than events.
    #[error("malformed or too many event counts")]
    BadCounts,
    /// A number, or a sum of numbers, does not fit into 64 bits.
    #[error("number too large: counts and their sums must fit into 64 bits")]
    TooLarge,
    /// A line that is none of the format's.
    #[error("malformed line: {0}")]
    Malformed(String),
    /// A line longer than this program reads.
    #[error("line longer than 64 MiB")]
    TooLong,
    /// The file ends without a `summary:` line.
    #[error("missing `summary:` line; the file is not complete")]
    NoSummary,
    /// A Callgrind file of a later version.
    #[error("Callgrind format version {0}; version 1 is known")]
    Version(String),
    /// A name in the short form whose number has not been given a name.
    #[error("name ({0}) is used before it is defined")]
    UnknownName(u64),
    /// A position that is no number, or a relative one that leads below 0 or beyond 64 bits.
    #[error("malformed position; expected a number, +N, -N or *")]
    BadPosition,
    /// No line with the costs of a call after `calls=`.
    #[error("missing costs of the call after `calls=`")]
    NoCallCosts,
    /// Parts of one file have other events.
    #[error("events of this part differ from those of the first part; annotate parts with the same events")]
    PartsDiffer,
    /// The file ends without the totals that Callgrind writes.
    #[error("missing `totals:` line; the file is not complete")]
    NoTotals,
    /// A file of Callgrind's format that has no addresses of instructions.
    #[error("no addresses of instructions (`positions: instr`); profile with --dump-instr=yes")]
    NoAddresses,
    /// The totals are not what the lines add up to.
    #[error(
        "`totals:` line doesn't match computed total\n- totals:   {recorded:?}\n- computed: {computed:?}"
    )]
    WrongTotals {
        /// What the file says.
        recorded: Vec<i64>,
        /// What its lines add up to.
        computed: Vec<i64>,
    },
    /// More was counted on the lines than in all.
    #[error(
        "`summary:` line is less than the sum of the costs\n- summary:  {recorded:?}\n- computed: {computed:?}"
    )]
    SmallSummary {
        /// What the file says.
        recorded: Vec<i64>,
        /// What its lines add up to.
        computed: Vec<i64>,
    },
    /// The totals are not what the lines add up to.
    #[error(
        "`summary:` line doesn't match computed total\n- summary:  {recorded:?}\n- computed: {computed:?}"
    )]
    WrongSummary {
        /// What the file says.
        recorded: Vec<i64>,
        /// What its lines add up to.
        computed: Vec<i64>,
    },
    /// The system could not read on.
    #[error("cannot be read: {}", super::reason(.0))]
    Io(#[from] std::io::Error),
}

impl Problem {
    /// Whether it is one of a line rather than of the file.
    fn has_line(&self) -> bool {
        !matches!(self, Problem::Io(_))
    }
}

/// What stands before the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The `desc:` lines, without the key and the blanks after it.
    pub desc: Vec<Vec<u8>>,
    /// The command line that was profiled.
    pub cmd: Vec<u8>,
    /// The names of the events, at least one, in the order of the columns.
    pub events: Vec<Vec<u8>>,
}

/// One step through the body of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The counts that follow are of this source file.
    File(&'a [u8]),
    /// The counts that follow are of this function. [`UNSPECIFIED`] right after each `fl=` line.
    Function(&'a [u8]),
    /// Counts of one line.
    Counts {
        /// The source line; 0 if it is not known.
        line: u64,
        /// One count for each event of the head.
        counts: &'a [i64],
    },
}

/// A [`Record`] whose parts are still in the reader.
enum Step {
    File,
    Function,
    Counts(u64),
}

/// Walks through one file, holding one line of it at a time.
///
/// ```text
/// let mut reader = CgReader::new(BufReader::new(file), "cachegrind.out.1")?;
/// let events = reader.head().events.clone();
/// while let Some(record) = reader.next_record()? { … }   // None: the summary was there and was right
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
        let mut reader = CgReader {
            lines: Lines::new(input, name),
            head: Head::default(),
            counts: Vec::new(),
            total: Vec::new(),
            summed: false,
            function_due: false,
        };
        reader.read_head()?;
        reader.counts = vec![0; reader.head.events.len()];
        reader.total = reader.counts.clone();
        Ok(reader)
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

    /// The next step, or `None` after the end of a file whose summary is there and right.
    ///
    /// # Errors
    /// If the file is malformed or contradicts itself; the message names the line. Reading on makes no sense.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if std::mem::take(&mut self.function_due) {
            return Ok(Some(Record::Function(UNSPECIFIED)));
        }
        let step = self.step()?;
        let name = self.lines.line().get(3..).unwrap_or_default();
        Ok(step.map(|step| match step {
            Step::File => Record::File(name),
            Step::Function => Record::Function(name),
            Step::Counts(line) => Record::Counts { line, counts: &self.counts },
        }))
    }

    /// Reads up to the next line that is of use to the caller.
    fn step(&mut self) -> Result<Option<Step>, ReadError> {
        while self.lines.advance()? {
            match self.lines.line() {
                [] | [b'#', ..] => {}
                _ if self.summed => return Err(self.lines.malformed()),
                [b'0'..=b'9', ..] => {
                    let line = parse_counts(self.lines.line(), true, &mut self.counts);
                    let line = line.and_then(|line| add(&mut self.total, &self.counts).map(|()| line));
                    return line.map(|line| Some(Step::Counts(line))).map_err(|problem| self.error(problem));
                }
                [b'f', b'n', b'=', ..] => return Ok(Some(Step::Function)),
                [b'f', b'l', b'=', ..] => {
                    self.function_due = true;
                    return Ok(Some(Step::File));
                }
                [b'f', b'i' | b'e', b'=', ..] => return Ok(Some(Step::File)),
                _ => self.check_summary()?,
            }
        }
        if self.summed { Ok(None) } else { Err(self.error(Problem::NoSummary)) }
    }

    fn check_summary(&mut self) -> Result<(), ReadError> {
        let Some(rest) = value(self.lines.line(), b"summary:") else { return Err(self.lines.malformed()) };
        match parse_counts(rest, false, &mut self.counts) {
            Err(problem) => Err(self.error(problem)),
            Ok(_) if self.counts != self.total => Err(self.error(Problem::WrongSummary {
                recorded: self.counts.clone(),
                computed: self.total.clone(),
            })),
            Ok(_) => {
                self.summed = true;
                Ok(())
            }
        }
    }

    fn read_head(&mut self) -> Result<(), ReadError> {
        let mut callgrind = false;
        loop {
            if !self.lines.advance()? {
                return Err(self.error(Problem::NoCommand));
            }
            let line = self.lines.line();
            if let Some(text) = value(line, b"desc:") {
                self.head.desc.push(text.to_vec());
            } else if let Some(text) = value(line, b"cmd:") {
                self.head.cmd = text.to_vec();
                break;
            } else if line.starts_with(b"# callgrind format") {
                callgrind = true;
            } else if !matches!(line, [] | [b'#', ..]) {
                let foreign = callgrind || line.starts_with(b"version:") || line.starts_with(b"creator:");
                let problem = if foreign {
                    Problem::Callgrind(self.lines.name().to_owned())
                } else {
                    Problem::NoCommand
                };
                return Err(self.error(problem));
            }
        }
        while self.lines.advance()? {
            if let Some(text) = value(self.lines.line(), b"events:") {
                self.head.events = words(text).map(<[u8]>::to_vec).collect();
                if !self.head.events.is_empty() {
                    return Ok(());
                }
            }
            if !matches!(self.lines.line(), [] | [b'#', ..]) {
                break;
            }
        }
        Err(self.error(Problem::NoEvents))
    }

    /// The problem with the name of the file and the line that was read last.
    pub fn error(&self, problem: Problem) -> ReadError {
        self.lines.error(problem)
    }
}

/// The text after `key` and the blanks that follow it.
pub(super) fn value<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(key)?;
    let blanks = rest.iter().take_while(|c| blank(**c)).count();
    rest.get(blanks..)
}

fn blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | 0x0b | 0x0c | b'\r')
}

pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|c| blank(*c)).filter(|word| !word.is_empty())
}

/// Reads the numbers of a line: its number first, if `numbered` (0 if not), then the counts.
fn parse_counts(text: &[u8], numbered: bool, counts: &mut [i64]) -> Result<u64, Problem> {
    let mut rest = text;
    let mut line = 0;
    if numbered {
        let (word, after) = first_word(text);
        line = parse_unsigned(word)?;
        rest = after;
    }
    parse_signed(rest, counts, parse_count)?;
    Ok(line)
}

/// Reads counts, each by `other` if it is not a plain short number. Those that are missing at the end are 0.
///
/// # Errors
/// [`Problem::BadCounts`] if there are too many, or what `other` says.
pub(super) fn parse_signed(
    text: &[u8],
    counts: &mut [i64],
    other: impl Fn(&[u8]) -> Result<i64, Problem>,
) -> Result<(), Problem> {
    let mut rest = text;
    let mut slots = counts.iter_mut();
    loop {
        while let [c, after @ ..] = rest
            && blank(*c)
        {
            rest = after;
        }
        if rest.is_empty() {
            break;
        }
        let Some(slot) = slots.next() else { return Err(Problem::BadCounts) };
        if let Some((number, after)) = short_number(rest) {
            (*slot, rest) = (number, after);
        } else {
            let (word, after) = first_word(rest);
            (*slot, rest) = (other(word)?, after);
        }
    }
    slots.for_each(|slot| *slot = 0);
    Ok(())
}

/// The decimal number that a text begins with and what follows it, if that is a blank or nothing and the number is
/// short enough to fit for certain. Nearly all numbers are such.
fn short_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let mut rest = text;
    let mut number = 0_i64;
    while let [c @ b'0'..=b'9', after @ ..] = rest {
        number = number.wrapping_mul(10).wrapping_add(i64::from(c - b'0'));
        rest = after;
    }
    let short = (1..=18).contains(&(text.len() - rest.len()));
    (short && rest.first().is_none_or(|c| blank(*c))).then_some((number, rest))
}

/// The text up to the first blank, and the rest.
fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|c| blank(*c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, b""))
}

fn parse_count(word: &[u8]) -> Result<i64, Problem> {
    match word {
        b"." => Ok(0),
        [b'-', digits @ ..] => {
            let size = parse_unsigned(digits)?;
            0_i64.checked_sub_unsigned(size).ok_or(Problem::TooLarge)
        }
        digits => i64::try_from(parse_unsigned(digits)?).map_err(|_| Problem::TooLarge),
    }
}

fn parse_unsigned(digits: &[u8]) -> Result<u64, Problem> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Problem::BadCounts);
    }
    let next = |number: u64, c: &u8| number.checked_mul(10)?.checked_add(u64::from(c.wrapping_sub(b'0')));
    digits.iter().try_fold(0, next).ok_or(Problem::TooLarge)
}

/// Adds `counts` to `sums`, one by one.
///
/// # Errors
/// If a sum does not fit; `sums` is then of no use.
pub fn add(sums: &mut [i64], counts: &[i64]) -> Result<(), Problem> {
    for (sum, count) in sums.iter_mut().zip(counts) {
        let Some(added) = sum.checked_add(*count) else { return Err(Problem::TooLarge) };
        *sum = added;
    }
    Ok(())
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
