//! A file line by line, with the number of the line and a bound on its length.

use std::io::{BufRead, Read as _};

use super::{Problem, ReadError};

/// The longest line taken, in bytes. It bounds the memory that a file without newlines can ask for.
const LONGEST_LINE: u64 = 64 << 20;

/// The lines of one file; it holds one at a time.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    name: String,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Before the first line. `name` is for messages.
    pub fn new(input: R, name: impl Into<String>) -> Lines<R> {
        Lines { input, name: name.into(), number: 0, line: Vec::new() }
    }

    /// Fetches the next line, without its end. False at the end of the file, which counts as a line in
    /// messages, as it does in those of `cg_annotate`.
    ///
    /// # Errors
    /// If the file cannot be read, or the line is too long.
    pub fn advance(&mut self) -> Result<bool, ReadError> {
        self.number += 1;
        self.line.clear();
        let mut input = self.input.by_ref().take(LONGEST_LINE + 1);
        match input.read_until(b'\n', &mut self.line) {
            Ok(0) => return Ok(false),
            Ok(_) if self.line.pop_if(|last| *last == b'\n').is_some() => {
                self.line.pop_if(|last| *last == b'\r');
            }
            // The last line may lack its end.
            Ok(taken) if taken as u64 <= LONGEST_LINE => {}
            Ok(_) => return Err(self.error(Problem::TooLong)),
            Err(error) => return Err(self.error(Problem::Io(error))),
        }
        Ok(true)
    }

    /// The line that was fetched last.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The problem with the name of the file and the line that was read last.
    pub fn error(&self, problem: Problem) -> ReadError {
        ReadError { file: self.name.clone(), line: self.number, problem }
    }

    /// That the line is none of the format's.
    pub fn malformed(&self) -> ReadError {
        self.error(Problem::Malformed(String::from_utf8_lossy(&self.line).into_owned()))
    }
}
