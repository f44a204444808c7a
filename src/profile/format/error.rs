//! Errors in profiles.

use thiserror::Error;

use crate::profile::counts::TooLarge;

/// A problem with a file, and its place.
#[derive(Debug, Error)]
#[error("{file}{}: {problem}", if problem.has_line() { format!(":{line}") } else { String::new() })]
pub struct ReadError {
    /// The file's name as the caller gave it, for display.
    pub file: String,
    /// The line's number, from 1; one past the last line if something is missing at the end.
    pub line: u64,
    /// The problem.
    pub problem: Problem,
}

/// The problems that a file can have.
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
    /// The text after `calls=` is no number.
    #[error("malformed number of calls after `calls=`")]
    BadCalls,
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
    #[error("`totals:` line doesn't match computed total; totals: {recorded:?}, computed: {computed:?}")]
    WrongTotals {
        /// The sums in the file.
        recorded: Vec<i64>,
        /// The sums of its lines.
        computed: Vec<i64>,
    },
    /// More was counted on the lines than in all.
    #[error(
        "`summary:` line is less than the sum of the costs; summary: {recorded:?}, computed: {computed:?}"
    )]
    SmallSummary {
        /// The sums in the file.
        recorded: Vec<i64>,
        /// The sums of its lines.
        computed: Vec<i64>,
    },
    /// The totals are not what the lines add up to.
    #[error("`summary:` line doesn't match computed total; summary: {recorded:?}, computed: {computed:?}")]
    WrongSummary {
        /// The sums in the file.
        recorded: Vec<i64>,
        /// The sums of its lines.
        computed: Vec<i64>,
    },
    /// A line that a reader of Valgrind 3.19 refuses; the text says why, and what to do.
    #[error("{0}")]
    Refused(&'static str),
    /// The file ends too early for a reader of Valgrind 3.19; the text says what is missing.
    #[error("{0}")]
    EndsEarly(&'static str),
    /// The system could not read on.
    #[error("cannot be read: {}", reason(.0))]
    Io(#[from] std::io::Error),
}

impl Problem {
    /// Tells a problem of a line from one of the whole file.
    fn has_line(&self) -> bool {
        !matches!(self, Problem::Io(_))
    }
}

impl From<TooLarge> for Problem {
    fn from(_: TooLarge) -> Problem {
        Problem::TooLarge
    }
}

/// Returns the system's text of an error, without Rust's `(os error N)`.
#[must_use]
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned()
}
