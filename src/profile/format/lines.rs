//! The bounded line reader.

use std::io::{BufRead, Read as _};

use super::dialect::{Dialect, Line};
use super::error::{Problem, ReadError};

/// The longest line, in bytes. It bounds the memory that a file without newlines can ask for.
const LONGEST_LINE: u64 = 64 << 20;

/// The lines of one file, of which it holds one at a time.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    name: String,
    dialect: &'static Dialect,
    /// Lines read so far.
    number: u64,
    /// Attempts to read past the end.
    past: u64,
    /// The line, with its newline.
    raw: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Stands before the first line. `name` is for messages.
    pub(crate) fn new(input: R, name: impl Into<String>, dialect: &'static Dialect) -> Lines<R> {
        Lines { input, name: name.into(), dialect, number: 0, past: 0, raw: Vec::new() }
    }

    /// Reads the next line; false at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or the line is too long.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        self.raw.clear();
        let mut input = self.input.by_ref().take(LONGEST_LINE + 1);
        let taken = match input.read_until(b'\n', &mut self.raw) {
            Ok(0) => {
                self.past += 1;
                return Ok(false);
            }
            Ok(taken) => taken as u64,
            Err(error) => return Err(self.error(Problem::Io(error))),
        };
        self.number += 1;
        if taken > LONGEST_LINE && !self.raw.ends_with(b"\n") {
            return Err(self.error(Problem::TooLong));
        }
        Ok(true)
    }

    /// The line that was read last, as the dialect understands it.
    #[inline]
    pub(crate) fn line(&self) -> Line<'_> {
        self.dialect.line(&self.raw)
    }

    /// The line that was read last, with its newline; empty at the end of the file.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The number of the line that was read last, from 1; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The file's name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds the file and the line that was read last to a problem. The end of the file counts as a
    /// line, as it does in the messages of `cg_annotate`.
    pub(crate) fn error(&self, problem: Problem) -> ReadError {
        ReadError { file: self.name.clone(), line: self.number + self.past, problem }
    }

    /// Refuses the line that was read last.
    pub(crate) fn malformed(&self) -> ReadError {
        let text = self.dialect.end.strip(&self.raw);
        self.error(Problem::Malformed(String::from_utf8_lossy(text).into_owned()))
    }
}
