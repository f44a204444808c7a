//! Cachegrind's file as the Perl programs of Valgrind 3.19 (`cg_annotate`, `cg_diff`) read it: counts may be
//! negative, left out or `.`; comments, blank lines and lines that mean nothing are passed over. One line is
//! held at a time, so a file may be of any size.

use std::io::{self, BufRead};

use crate::profile::callgrind::instead_of_head;

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 1 << 26;

/// What stands before the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The description lines without their `desc:`, each with its newline.
    pub desc: Vec<u8>,
    /// The command.
    pub cmd: Vec<u8>,
    /// The names of the events, in the order of the columns.
    pub events: Vec<Vec<u8>>,
}

/// One count. It is undefined if the file says `.` or has no such column, which is not the same as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(i128);

impl Count {
    /// No count at all.
    pub const UNDEFINED: Count = Count(i128::MIN);

    /// A count of this value.
    #[must_use]
    pub fn new(value: i128) -> Count {
        Count(value.max(i128::MIN + 1))
    }

    /// The value, if there is one.
    #[must_use]
    pub fn get(self) -> Option<i128> {
        (self != Count::UNDEFINED).then_some(self.0)
    }

    /// The value, or 0.
    #[must_use]
    pub fn or_zero(self) -> i128 {
        self.get().unwrap_or(0)
    }

    /// Adds `other`; an undefined one adds nothing and does not define this one.
    pub fn add(&mut self, other: Count) {
        if let Some(value) = other.get() {
            *self = Count::new(self.or_zero().saturating_add(value));
        }
    }
}

/// A line of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// `fl=`
    File(&'a [u8]),
    /// `fn=`
    Function(&'a [u8]),
    /// The counts of a source line: as many as the line has, at most one per event.
    Counts {
        /// The number of the source line.
        line: i64,
        /// The counts.
        counts: &'a [Count],
    },
    /// `summary:` with one count per event.
    Summary(&'a [Count]),
    /// A line that means nothing, or a count that is no whole number and of which only the leading digits
    /// will be used. Worth a warning; the text says which.
    Doubtful(&'static str),
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The reader failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is not what it must be.
    #[error("{what}")]
    Syntax {
        /// The line, from 1; 0 in an empty file.
        line: u64,
        /// What is wrong, and what to do.
        what: &'static str,
        /// Whether the file ends where the wrong was found.
        at_end: bool,
    },
}

/// Reads record by record.
#[derive(Debug)]
pub struct LenientReader<R> {
    input: R,
    head: Head,
    text: Vec<u8>,
    counts: Vec<Count>,
    line: u64,
    /// A record that was parsed while a warning about it had to go out first.
    held: Option<Held>,
}

#[derive(Clone, Copy, Debug)]
enum Held {
    Counts(i64),
    Summary,
}

impl<R: BufRead> LenientReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// Those of `input`; no `cmd:` line after the `desc:` lines, or no `events:` line after that.
    pub fn new(input: R) -> Result<LenientReader<R>, ReadError> {
        let mut reader = LenientReader {
            input,
            head: Head::default(),
            text: Vec::new(),
            counts: Vec::new(),
            line: 0,
            held: None,
        };
        let mut more = reader.advance()?;
        while more && let Some((start, end)) = description(&reader.text) {
            reader.head.desc.extend_from_slice(reader.text.get(..start).unwrap_or_default());
            reader.head.desc.extend_from_slice(reader.text.get(end..).unwrap_or_default());
            more = reader.advance()?;
        }
        let Some(cmd) = after_key(&reader.text, b"cmd:") else {
            let missing = "a cmd: line is missing; is this a Cachegrind file?";
            return Err(reader.wrong(instead_of_head(&reader.text, missing), !more));
        };
        reader.head.cmd = without_newline(cmd).to_vec();
        let more = reader.advance()?;
        let Some(events) = after_key(&reader.text, b"events:") else {
            return Err(reader.wrong("an events: line must follow the cmd: line", !more));
        };
        reader.head.events = words(events).map(<[u8]>::to_vec).collect();
        Ok(reader)
    }

    /// What stood before the counts.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The next record, `None` at the end of the file.
    ///
    /// # Errors
    /// Those of the input; more counts than events; a summary with another number of counts than of events.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if let Some(held) = self.held.take() {
            return Ok(Some(match held {
                Held::Counts(line) => Record::Counts { line, counts: &self.counts },
                Held::Summary => Record::Summary(&self.counts),
            }));
        }
        loop {
            if !self.advance()? {
                return Ok(None);
            }
            if !self.text.starts_with(b"#") && !self.text.iter().all(|&byte| is_space(byte)) {
                break;
            }
        }
        let held = if let Some((line, rest)) = line_number(&self.text) {
            match parse_counts(rest, self.head.events.len(), &mut self.counts) {
                Parsed::TooMany => {
                    return Err(self.wrong("more counts than the events: line has events", false));
                }
                Parsed::Whole => return Ok(Some(Record::Counts { line, counts: &self.counts })),
                Parsed::Doubtful => Held::Counts(line),
            }
        } else if let Some(rest) = after_key(&self.text, b"summary:") {
            let parsed = parse_counts(rest, self.head.events.len(), &mut self.counts);
            if parsed == Parsed::TooMany || self.counts.len() != self.head.events.len() {
                return Err(self.wrong("the summary must have one count per event", false));
            }
            if parsed == Parsed::Whole {
                return Ok(Some(Record::Summary(&self.counts)));
            }
            Held::Summary
        } else if let Some(name) = self.text.strip_prefix(b"fn=") {
            return Ok(Some(Record::Function(without_newline(name))));
        } else if let Some(name) = self.text.strip_prefix(b"fl=") {
            return Ok(Some(Record::File(without_newline(name))));
        } else {
            return Ok(Some(Record::Doubtful("this line means nothing and is passed over")));
        };
        self.held = Some(held);
        Ok(Some(Record::Doubtful("a count is not a whole number; only its leading digits are used")))
    }

    /// Reads the next line, with its newline, into `text`; at the end that is empty.
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.text.clear();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let read = io::Read::take(&mut self.input, limit).read_until(b'\n', &mut self.text)?;
        if read > 0 {
            self.line = self.line.saturating_add(1);
        }
        if read >= MAX_LINE {
            return Err(self.wrong("the line is longer than 64 MiB; is this a Cachegrind file?", false));
        }
        Ok(read > 0)
    }

    fn wrong(&self, what: &'static str, at_end: bool) -> ReadError {
        ReadError::Syntax { line: self.line, what, at_end }
    }
}

/// Perl's `\s` on bytes.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn without_newline(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

fn trim_start(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_space(byte)).count();
    text.get(blanks..).unwrap_or_default()
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| is_space(byte)).filter(|word| !word.is_empty())
}

/// What follows `key` and the blanks, of which there must be at least one.
fn after_key<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = text.strip_prefix(key)?;
    rest.first().is_some_and(|&byte| is_space(byte)).then(|| trim_start(rest))
}

/// Where in a line the first `desc:` with its blanks begins and ends. Perl's programs look for it anywhere.
fn description(text: &[u8]) -> Option<(usize, usize)> {
    const KEY: &[u8] = b"desc:";
    let start = text
        .windows(KEY.len() + 1)
        .position(|w| w.starts_with(KEY) && w.last().is_some_and(|&b| is_space(b)))?;
    let rest = text.get(start + KEY.len()..)?;
    Some((start, text.len() - trim_start(rest).len()))
}

/// A source line's number and what follows its blanks.
fn line_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let digits_from = usize::from(text.first() == Some(&b'-'));
    let digits = text.get(digits_from..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(digits_from + digits)?;
    if digits == 0 || !rest.first().is_some_and(|&byte| is_space(byte)) {
        return None;
    }
    let (value, _) = leading_integer(number);
    let line = i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX });
    Some((line, trim_start(rest)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parsed {
    Whole,
    Doubtful,
    TooMany,
}

fn parse_counts(text: &[u8], events: usize, counts: &mut Vec<Count>) -> Parsed {
    counts.clear();
    let mut parsed = Parsed::Whole;
    for word in words(text) {
        if counts.len() == events {
            return Parsed::TooMany;
        }
        if word == b"." {
            counts.push(Count::UNDEFINED);
            continue;
        }
        let (value, whole) = leading_integer(word);
        if !whole {
            parsed = Parsed::Doubtful;
        }
        counts.push(Count::new(value));
    }
    parsed
}

/// The integer that a word begins with (0 if with none), and whether it is the whole word.
fn leading_integer(word: &[u8]) -> (i128, bool) {
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, word),
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut value = 0_i128;
    for digit in digits.iter().take(length) {
        value = value.saturating_mul(10).saturating_add(i128::from(digit - b'0'));
    }
    (if negative { -value } else { value }, length > 0 && length == digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Head, Vec<String>), String> {
        let mut reader = LenientReader::new(text.as_bytes()).map_err(|e| format!("{e:?}"))?;
        let mut records = Vec::new();
        while let Some(record) = reader.next_record().map_err(|e| format!("{e:?}"))? {
            records.push(match record {
                Record::File(name) => format!("fl {}", name.escape_ascii()),
                Record::Function(name) => format!("fn {}", name.escape_ascii()),
                Record::Counts { line, counts } => {
                    format!("{line} {:?}", counts.iter().map(|c| c.get()).collect::<Vec<_>>())
                }
                Record::Summary(counts) => {
                    format!("sum {:?}", counts.iter().map(|c| c.get()).collect::<Vec<_>>())
                }
                Record::Doubtful(_) => "doubtful".to_owned(),
            });
        }
        Ok((reader.head().clone(), records))
    }

    const HEAD: &str = "desc: I1\ndesc:  D1\ncmd:  a b\nevents: Ir  Dr \n";

    #[test]
    fn the_head() {
        let (head, records) = read(HEAD).expect("reads");
        assert_eq!(head.desc, b"I1\nD1\n");
        assert_eq!(head.cmd, b"a b");
        assert_eq!(head.events, [b"Ir", b"Dr"]);
        assert!(records.is_empty());
        let (head, _) = read("# desc: x\ncmd:\nevents: Ir\n").expect("reads");
        assert_eq!((head.desc, head.cmd), (b"# x\n".to_vec(), Vec::new()));
    }

    #[test]
    fn a_wrong_head() {
        for (text, line, at_end) in [
            ("", 0, true),
            ("desc: a\n", 1, true),
            ("cmd:x\n", 1, false),
            ("cmd: x\nfl=a\n", 2, false),
            ("cmd: x\n", 1, true),
        ] {
            let error = read(text).expect_err(text);
            assert!(
                error.contains(&format!("line: {line},")) && error.contains(&format!("at_end: {at_end}")),
                "{error}"
            );
        }
    }

    #[test]
    fn the_body() {
        let (_, records) = read(&format!(
            "{HEAD}\n# c\n  \nfl=a b\nfn=f(int, x) \n1 2 3\n-4 . -5\n7 \n8 99999999999999999999 0\nx\n5x 1\n1 2x y\n\
             summary: 1 2\n9 1"
        ))
        .expect("reads");
        let expected = [
            "fl a b",
            "fn f(int, x) ",
            "1 [Some(2), Some(3)]",
            "-4 [None, Some(-5)]",
            "7 []",
            "8 [Some(99999999999999999999), Some(0)]",
            "doubtful",
            "doubtful",
            "doubtful",
            "1 [Some(2), Some(0)]",
            "sum [Some(1), Some(2)]",
            "9 [Some(1)]",
        ];
        assert_eq!(records, expected);
    }

    #[test]
    fn a_wrong_body() {
        for text in ["1 2 3 4\n", "summary: 1\n", "summary: 1 2 3\n"] {
            let error = read(&format!("{HEAD}fl=a\nfn=f\n{text}")).expect_err(text);
            assert!(error.contains("line: 7,"), "{error}");
        }
    }
}
