//! Cachegrind's file as `cg_merge` of Valgrind 3.19 reads and writes it: nothing but what Cachegrind itself
//! writes is accepted, and the summary must be the sum.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::profile::callgrind::instead_of_head;

/// What stands for the file and the function before one is named.
const UNKNOWN: &[u8] = b"???";

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 1 << 26;

/// The counts of source lines, by their numbers.
type Lines = BTreeMap<u64, Box<[u64]>>;

/// The lines of each function, by file and function.
type Functions = FxHashMap<(Arc<[u8]>, Arc<[u8]>), Lines>;

/// A whole file. Counts are numbers modulo 2^64, as the C program has them.
#[derive(Clone, Debug)]
pub struct StrictProfile {
    desc: Vec<Vec<u8>>,
    cmd: Vec<u8>,
    events: Vec<u8>,
    functions: Functions,
    summary: Vec<u64>,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StrictError {
    /// The reader failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is not what Cachegrind writes.
    #[error("{what}")]
    Syntax {
        /// The line, from 1; 0 in an empty file.
        line: u64,
        /// What is wrong, and what to do.
        what: &'static str,
    },
}

/// The two files count different events.
#[derive(Debug, thiserror::Error)]
#[error("its events: line differs from that of the first file; merge only profiles with the same events")]
pub struct OtherEvents;

impl StrictProfile {
    /// Reads a file to its end.
    ///
    /// # Errors
    /// Those of `input`; a line that Cachegrind does not write, with its number.
    pub fn read(input: impl BufRead) -> Result<StrictProfile, StrictError> {
        let mut lines = Source { input, text: Vec::new(), number: 0 };
        let mut desc = Vec::new();
        let mut more = lines.advance()?;
        while more && lines.text.starts_with(b"desc: ") {
            desc.push(lines.text.clone());
            more = lines.advance()?;
        }
        if desc.is_empty() {
            let missing = "a desc: line is missing; is this a Cachegrind file?";
            return Err(lines.wrong(instead_of_head(&lines.text, missing)));
        }
        if !more || !lines.text.starts_with(b"cmd: ") {
            return Err(lines.wrong("a cmd: line must follow the desc: lines"));
        }
        let cmd = lines.text.clone();
        if !lines.advance()? || !lines.text.starts_with(b"events: ") {
            return Err(lines.wrong("an events: line must follow the cmd: line"));
        }
        let events = lines.text.clone();
        let columns = column_count(&events);
        if columns == 0 {
            return Err(lines.wrong("the events: line names no event"));
        }
        let (functions, sum, summary) = body(&mut lines, columns)?;
        if summary.len() != columns {
            return Err(lines.wrong("the summary must have one count per event"));
        }
        if summary != sum {
            return Err(lines.wrong("the summary is not the sum of the counts; is the file complete?"));
        }
        if lines.advance()? {
            return Err(lines.wrong("nothing may follow the summary"));
        }
        Ok(StrictProfile { desc, cmd, events, functions, summary })
    }

    /// Adds the counts of `other`; its description and command are dropped.
    ///
    /// # Errors
    /// The files' `events:` lines differ in so much as a blank.
    pub fn merge(&mut self, other: StrictProfile) -> Result<(), OtherEvents> {
        if self.events != other.events {
            return Err(OtherEvents);
        }
        for (place, lines) in other.functions {
            let mine = self.functions.entry(place).or_default();
            for (line, counts) in lines {
                add(mine.entry(line).or_insert_with(|| vec![0; counts.len()].into()), &counts);
            }
        }
        add(&mut self.summary, &other.summary);
        Ok(())
    }

    /// Writes the file, ordered by the bytes of the file's name, then of the function's, then by line. A
    /// number from 2^63 on is written as the negative one of the same bits, as `cg_merge` does.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.desc.iter().chain([&self.cmd, &self.events]) {
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
        let mut functions: Vec<_> = self.functions.iter().collect();
        functions.sort_unstable_by_key(|&(place, _)| place);
        for ((file, function), lines) in functions {
            for (key, name) in [(b"fl=", file), (b"fn=", function)] {
                out.write_all(key)?;
                out.write_all(name)?;
                out.write_all(b"\n")?;
            }
            for (line, counts) in lines {
                write!(out, "{}   ", line.cast_signed())?;
                for count in counts {
                    write!(out, "{} ", count.cast_signed())?;
                }
                out.write_all(b"\n")?;
            }
        }
        out.write_all(b"summary:")?;
        for count in &self.summary {
            write!(out, " {}", count.cast_signed())?;
        }
        out.write_all(b"\n")
    }
}

type Body = (Functions, Vec<u64>, Vec<u64>);

/// The counts by function, their sum, and the summary, with which it ends.
fn body(lines: &mut Source<impl BufRead>, columns: usize) -> Result<Body, StrictError> {
    let mut functions = Functions::default();
    let mut sum = vec![0; columns];
    let (mut file, mut function): (Arc<[u8]>, Arc<[u8]>) = (UNKNOWN.into(), UNKNOWN.into());
    let mut numbers = Vec::new();
    while lines.advance()? {
        if lines.text.first().is_some_and(u8::is_ascii_digit) {
            if !parse(&lines.text, &mut numbers) {
                return Err(lines.wrong("a count is not a whole number from 0 on"));
            }
            let counts = match numbers.split_first() {
                Some((_, counts)) if counts.len() == columns => counts,
                _ => return Err(lines.wrong("a line must have one count per event")),
            };
            let line = numbers.first().copied().unwrap_or(0);
            let place = functions.entry((Arc::clone(&file), Arc::clone(&function))).or_default();
            add(place.entry(line).or_insert_with(|| vec![0; columns].into()), counts);
            add(&mut sum, counts);
        } else if let Some(name) = lines.text.strip_prefix(b"fl=") {
            file = name.into();
        } else if let Some(name) = lines.text.strip_prefix(b"fn=") {
            function = name.into();
        } else if let Some(counts) = lines.text.strip_prefix(b"summary: ") {
            if !parse(counts, &mut numbers) {
                return Err(lines.wrong("a count is not a whole number from 0 on"));
            }
            return Ok((functions, sum, numbers));
        } else {
            return Err(lines.wrong("not a line that Cachegrind writes"));
        }
    }
    Err(lines.wrong("the summary: line is missing; is the file complete?"))
}

fn add(sum: &mut [u64], counts: &[u64]) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum = sum.wrapping_add(*count);
    }
}

/// C's `isspace`, but for the newline, which no line holds.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The number of events: words between single blanks, a tab being part of a word.
fn column_count(events: &[u8]) -> usize {
    let names = events.strip_prefix(b"events:").unwrap_or_default();
    names.split(|&byte| byte == b' ').filter(|name| !name.is_empty()).count()
}

/// Whole numbers between blanks, modulo 2^64; false if there is anything else.
fn parse(text: &[u8], numbers: &mut Vec<u64>) -> bool {
    numbers.clear();
    for word in text.split(|&byte| is_space(byte)).filter(|word| !word.is_empty()) {
        let mut number = 0_u64;
        for byte in word {
            if !byte.is_ascii_digit() {
                return false;
            }
            number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        }
        numbers.push(number);
    }
    true
}

/// Line by line.
struct Source<R> {
    input: R,
    text: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Source<R> {
    /// Reads the next line, without its newline; false at the end.
    fn advance(&mut self) -> Result<bool, StrictError> {
        self.text.clear();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let read = io::Read::take(&mut self.input, limit).read_until(b'\n', &mut self.text)?;
        if read > 0 {
            self.number = self.number.saturating_add(1);
        }
        if read >= MAX_LINE {
            return Err(self.wrong("the line is longer than 64 MiB; is this a Cachegrind file?"));
        }
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        }
        Ok(read > 0)
    }

    fn wrong(&self, what: &'static str) -> StrictError {
        StrictError::Syntax { line: self.number, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<StrictProfile, String> {
        StrictProfile::read(text.as_bytes()).map_err(|e| format!("{e:?}"))
    }

    fn written(profile: &StrictProfile) -> String {
        let mut out = Vec::new();
        profile.write(&mut out).expect("written");
        String::from_utf8(out).expect("text")
    }

    const HEAD: &str = "desc: d\ncmd: c\nevents: Ir Dr\n";

    // What cg_merge of Valgrind 3.19 prints for the same files.
    #[test]
    fn order_and_sums() {
        let text =
            "fl=b.c\nfn=g\n3 1 2\n1 4 5\nfl=a.c\nfn=f\n10 1 1\n9 2 2\nfl=b.c\nfn=g\n3 5 6\nsummary: 13 16\n";
        let mut a = read(&format!("{HEAD}{text}")).expect("reads");
        let b = read(&format!("{HEAD}0 7 7\nsummary: 7 7")).expect("reads");
        a.merge(b).expect("same events");
        let expected =
            "fl=???\nfn=???\n0   7 7 \nfl=a.c\nfn=f\n9   2 2 \n10   1 1 \nfl=b.c\nfn=g\n1   4 5 \n3   6 8 \n";
        assert_eq!(written(&a), format!("{HEAD}{expected}summary: 20 23\n"));
    }

    #[test]
    fn numbers_are_those_of_c() {
        let a = read(&format!(
            "{HEAD}18446744073709551615 18446744073709551615 0\n1 0 1\nsummary: 18446744073709551615 1"
        ))
        .expect("reads");
        assert_eq!(written(&a), format!("{HEAD}fl=???\nfn=???\n1   0 1 \n-1   -1 0 \nsummary: -1 1\n"));
    }

    #[test]
    fn anything_else_is_refused() {
        for (text, line) in [
            ("", 0),
            ("cmd: c\n", 1),
            ("desc: d\n", 1),
            ("desc: d\ncmd:c\n", 2),
            ("desc: d\ncmd: c\nevents:Ir\n", 3),
            ("desc: d\ncmd: c\nevents: \nsummary: \n", 3),
            ("desc: d\ncmd: c\nevents: Ir\n1 2\nsummary: 3\n", 5),
            ("desc: d\ncmd: c\nevents: Ir\n1 2\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\n1 .\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\n1 -2\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\n\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\n1 2 3\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\nsummary: 0 0\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\nsummary: 0\n\n", 5),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(&format!("line: {line},")), "{text:?}: {error}");
        }
    }

    #[test]
    fn events_must_be_spelled_alike() {
        let mut a = read(&format!("{HEAD}summary: 0 0\n")).expect("reads");
        let b = read("desc: d\ncmd: c\nevents: Ir  Dr\nsummary: 0 0\n").expect("reads");
        assert!(a.merge(b).is_err());
    }
}
