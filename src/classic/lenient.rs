//! Cachegrind's file as the Perl programs of Valgrind 3.19 (`cg_annotate`, `cg_diff`) read it:
//! counts may be negative, left out or `.`; comments, blank lines and lines that mean nothing are
//! passed over. One line is held at a time, so a file may be of any size.

use std::io::BufRead;

use super::dialect::{DIFFERENCE, PERL, advance, advance_past_comments, wrong};
use crate::profile::{
    Cell, Head, Key, Line, Lines, Number, ReadError, TooLarge, instead_of_head, is_space, numbers, words,
};

/// One count. It is undefined if the file says `.` or has no such column, which is not the same as
/// 0.
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
}

impl Cell for Count {
    const NONE: Count = Count::UNDEFINED;

    /// An undefined one adds nothing and does not define this one; a sum that does not fit stays at
    /// the largest number.
    fn add(&mut self, other: &Count) -> Result<(), TooLarge> {
        if let Some(value) = other.get() {
            *self = Count::new(self.or_zero().saturating_add(value));
        }
        Ok(())
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
    /// A line that means nothing, or a count that is no whole number and of which only the leading
    /// digits will be used. Worth a warning; the text says which.
    Doubtful(&'static str),
}

/// Reads record by record.
#[derive(Debug)]
pub struct LenientReader<R> {
    lines: Lines<R>,
    head: Head,
    counts: Vec<Count>,
    /// The line has a warning, which goes out before its record.
    doubted: bool,
}

impl<R: BufRead> LenientReader<R> {
    /// Reads the head. `name` is for messages.
    ///
    /// # Errors
    /// Those of `input`; no `cmd:` line after the `desc:` lines, or no `events:` line after that.
    pub fn new(input: R, name: impl Into<String>) -> Result<LenientReader<R>, ReadError> {
        LenientReader::begin(Lines::new(input, name, &PERL), advance)
    }

    /// Reads a head that may also have blank lines and comments, and keys without a blank after
    /// them, which the format's grammar allows. `name` is for messages.
    ///
    /// # Errors
    /// Those of [`LenientReader::new`].
    pub fn wide(input: R, name: impl Into<String>) -> Result<LenientReader<R>, ReadError> {
        LenientReader::begin(Lines::new(input, name, &DIFFERENCE), advance_past_comments)
    }

    /// Reads the head; `next` reads its next line.
    fn begin(
        mut lines: Lines<R>,
        next: impl Fn(&mut Lines<R>) -> Result<bool, ReadError>,
    ) -> Result<LenientReader<R>, ReadError> {
        let mut head = Head::default();
        let mut more = next(&mut lines)?;
        while more {
            if let Some((start, end)) = description(lines.raw()) {
                let parts = [lines.raw().get(..start), lines.raw().get(end..)];
                head.desc.push(parts.map(Option::unwrap_or_default).concat());
            } else if let Line::Key(Key::Desc, text) = lines.line() {
                head.desc.push([text, b"\n"].concat());
            } else {
                break;
            }
            more = next(&mut lines)?;
        }
        let Line::Key(Key::Cmd, cmd) = lines.line() else {
            let missing = "a cmd: line is missing; is this a Cachegrind file?";
            return Err(wrong(&lines, instead_of_head(lines.raw(), missing), !more));
        };
        head.cmd = cmd.to_vec();
        let more = next(&mut lines)?;
        let Line::Key(Key::Events, events) = lines.line() else {
            return Err(wrong(&lines, "an events: line must follow the cmd: line", !more));
        };
        head.events = words(events).map(<[u8]>::to_vec).collect();
        Ok(LenientReader { lines, head, counts: Vec::new(), doubted: false })
    }

    /// The head. The description lines are without `desc:`, and with their newlines.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Refuses the line that was read last.
    pub fn refuse(&self, what: &'static str) -> ReadError {
        wrong(&self.lines, what, false)
    }

    /// Refuses the file for what is missing at its end.
    pub fn refuse_end(&self, what: &'static str) -> ReadError {
        wrong(&self.lines, what, true)
    }

    /// The next record, `None` at the end of the file.
    ///
    /// # Errors
    /// Those of the input; more counts than events; a summary with another number of counts than of
    /// events.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if std::mem::take(&mut self.doubted) {
            return Ok(self.record());
        }
        loop {
            if !advance(&mut self.lines)? {
                return Ok(None);
            }
            if !matches!(self.lines.line(), Line::Blank | Line::Comment(_)) {
                break;
            }
        }
        let columns = self.head.events.len();
        let parsed = match self.lines.line() {
            Line::Cost(text) => match read_counts(numbers(text).skip(1), columns, &mut self.counts) {
                Parsed::TooMany => return Err(self.refuse("more counts than the events: line has events")),
                parsed => parsed,
            },
            Line::Key(Key::Summary, text) => match read_counts(numbers(text), columns, &mut self.counts) {
                parsed if parsed != Parsed::TooMany && self.counts.len() == columns => parsed,
                _ => return Err(self.refuse("the summary must have one count per event")),
            },
            _ => Parsed::Whole,
        };
        if parsed == Parsed::Doubtful {
            self.doubted = true;
            let what = "a count is not a whole number; only its leading digits are used";
            return Ok(Some(Record::Doubtful(what)));
        }
        Ok(self.record())
    }

    /// The record of the current line, whose counts have been read.
    fn record(&self) -> Option<Record<'_>> {
        let counts = &self.counts;
        Some(match self.lines.line() {
            Line::Cost(text) => Record::Counts { line: line_number(text), counts },
            Line::Key(Key::Summary, _) => Record::Summary(counts),
            Line::Key(Key::Function, name) => Record::Function(name),
            Line::Key(Key::File, name) => Record::File(name),
            _ => Record::Doubtful("this line means nothing and is passed over"),
        })
    }
}

/// Finds the first `desc:` with its blanks in a line. Perl's programs look for it anywhere.
fn description(text: &[u8]) -> Option<(usize, usize)> {
    const KEY: &[u8] = b"desc:";
    let start = text
        .windows(KEY.len() + 1)
        .position(|w| w.starts_with(KEY) && w.last().is_some_and(|&b| is_space(b)))?;
    let end = start + KEY.len();
    let blanks = text.get(end..)?.iter().take_while(|&&byte| is_space(byte)).count();
    Some((start, end + blanks))
}

/// The number of the source line that a line with counts begins with.
fn line_number(text: &[u8]) -> i64 {
    match numbers(text).next() {
        Some(Number::Short(line)) => line,
        Some(Number::Word(word)) => {
            let (value, _) = leading_integer(word);
            i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
        }
        None => 0,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parsed {
    Whole,
    Doubtful,
    TooMany,
}

fn read_counts<'a>(
    numbers: impl Iterator<Item = Number<'a>>,
    columns: usize,
    counts: &mut Vec<Count>,
) -> Parsed {
    counts.clear();
    let mut parsed = Parsed::Whole;
    for number in numbers {
        if counts.len() == columns {
            return Parsed::TooMany;
        }
        counts.push(match number {
            Number::Short(number) => Count::new(number.into()),
            Number::Word(b".") => Count::UNDEFINED,
            Number::Word(word) => {
                let (value, whole) = leading_integer(word);
                if !whole {
                    parsed = Parsed::Doubtful;
                }
                Count::new(value)
            }
        });
    }
    parsed
}

/// The integer that a word begins with (0 if with none), and true if nothing follows it.
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
        let mut reader = LenientReader::new(text.as_bytes(), "x").map_err(|e| format!("{e:?}"))?;
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
        assert_eq!(head.desc.concat(), b"I1\nD1\n");
        assert_eq!(head.cmd, b"a b");
        assert_eq!(head.events, [b"Ir", b"Dr"]);
        assert!(records.is_empty());
        let (head, _) = read("# desc: x\ncmd:\nevents: Ir\n").expect("reads");
        assert_eq!((head.desc.concat(), head.cmd), (b"# x\n".to_vec(), Vec::new()));
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
            assert!(error.contains(&format!("line: {line},")), "{error}");
            assert_eq!(error.contains("EndsEarly"), at_end, "{error}");
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
