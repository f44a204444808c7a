//! Merging of Cachegrind's files: all that `cg_merge` of Valgrind 3.19 to 3.28 takes and that the
//! format's grammar allows is read, and the sum is written as that of 3.19 writes it. That takes
//! nothing but what Cachegrind itself writes; later ones also take empty lines and comments, files
//! without `desc:`, negative counts, and lines with fewer counts than events. `.` is 0. The summary
//! must be the sum.

use std::io::{self, BufRead, Write};
use std::num::Wrapping;

use super::dialect::{MERGED, advance_past_comments, wrong};
use crate::profile::{
    Head, Key, Line, Lines, NameId, Names, Number, ReadError, Sums, UNKNOWN, add, instead_of_head, numbers,
    words,
};

/// A count modulo 2^64, as the C program has it.
type Count = Wrapping<u64>;

/// A whole file.
#[derive(Clone, Debug)]
pub struct StrictProfile {
    head: Head,
    /// The text of its `events:` line, to write it again to the blank.
    events: Vec<u8>,
    names: Names,
    lines: Sums<(NameId, NameId, u64), Count>,
    summary: Vec<Count>,
}

/// The two files count different events.
#[derive(Debug, thiserror::Error)]
#[error("its events differ from those of the first file; merge only profiles with the same events")]
pub struct OtherEvents;

impl StrictProfile {
    /// Reads a file to its end. `name` is for messages.
    ///
    /// # Errors
    /// Those of `input`; a line that is not of the format, with its number.
    pub fn read(input: impl BufRead, name: impl Into<String>) -> Result<StrictProfile, ReadError> {
        let mut lines = Lines::new(input, name, &MERGED);
        let refuse = |lines: &Lines<_>, what| Err(wrong(lines, what, false));
        let (head, events) = read_head(&mut lines)?;
        let columns = head.events.len();
        if columns == 0 {
            return refuse(&lines, "the events: line names no event");
        }
        let (names, sums) = (Names::default(), Sums::new(columns));
        let mut profile = StrictProfile { head, events, names, lines: sums, summary: Vec::new() };
        let sum = profile.read_body(&mut lines, columns)?;
        if profile.summary != sum {
            return refuse(&lines, "the summary is not the sum of the counts; is the file complete?");
        }
        if advance_past_comments(&mut lines)? {
            return refuse(&lines, "nothing but comments may follow the summary");
        }
        Ok(profile)
    }

    /// Reads the counts and the summary, with which they end. Returns their sum.
    fn read_body(
        &mut self,
        lines: &mut Lines<impl BufRead>,
        columns: usize,
    ) -> Result<Vec<Count>, ReadError> {
        const NO_NUMBER: &str = "a count is not a whole number";
        let mut sum = vec![Wrapping(0); columns];
        let mut file = self.names.intern(UNKNOWN.as_bytes());
        let mut function = file;
        let mut counts = Vec::new();
        while advance_past_comments(lines)? {
            match lines.line() {
                Line::Cost(text) => {
                    if !read_numbers(text, &mut counts) {
                        return Err(wrong(lines, NO_NUMBER, false));
                    }
                    if counts.len() > columns + 1 {
                        return Err(wrong(lines, "a line has more counts than there are events", false));
                    }
                    // Those that are missing are 0.
                    counts.resize(columns + 1, Wrapping(0));
                    let Some((line, counts)) = counts.split_first() else { continue };
                    let line = line.0;
                    wrapping_add(self.lines.counts_mut((file, function, line)), counts);
                    wrapping_add(&mut sum, counts);
                }
                Line::Key(Key::File, name) => file = self.names.intern(name),
                Line::Key(Key::Function, name) => function = self.names.intern(name),
                Line::Key(Key::Summary, text) => {
                    if !read_numbers(text, &mut counts) {
                        return Err(wrong(lines, NO_NUMBER, false));
                    }
                    if counts.len() > columns {
                        return Err(wrong(lines, "the summary has more counts than there are events", false));
                    }
                    counts.resize(columns, Wrapping(0));
                    self.summary = counts;
                    return Ok(sum);
                }
                _ => return Err(wrong(lines, "not a line of Cachegrind's format", false)),
            }
        }
        Err(wrong(lines, "the summary: line is missing; is the file complete?", false))
    }

    /// Adds the counts of `other`; its description and command are dropped.
    ///
    /// # Errors
    /// The files count different events.
    pub fn merge(&mut self, other: &StrictProfile) -> Result<(), OtherEvents> {
        if self.head.events != other.head.events {
            return Err(OtherEvents);
        }
        for (&(file, function, line), counts) in other.lines.iter() {
            let [file, function] = [file, function].map(|id| self.names.intern(other.names.text(id)));
            wrapping_add(self.lines.counts_mut((file, function, line)), counts);
        }
        wrapping_add(&mut self.summary, &other.summary);
        Ok(())
    }

    /// Writes the file, ordered by the bytes of the file's name, then of the function's, then by
    /// line. A number from 2^63 on is written as the negative one of the same bits, as `cg_merge`
    /// does.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut text_line = |key: &str, text: &[u8]| {
            out.write_all(key.as_bytes())?;
            out.write_all(text)?;
            out.write_all(b"\n")
        };
        self.head.desc.iter().try_for_each(|text| text_line("desc: ", text))?;
        text_line("cmd: ", &self.head.cmd)?;
        text_line("events: ", &self.events)?;
        let mut lines: Vec<_> = self.lines.iter().collect();
        lines.sort_unstable_by_key(|&(&(file, function, line), _)| {
            (self.names.text(file), self.names.text(function), line)
        });
        let mut place = None;
        for (&(file, function, line), counts) in lines {
            if place.replace((file, function)) != Some((file, function)) {
                for (key, name) in [("fl=", file), ("fn=", function)] {
                    out.write_all(key.as_bytes())?;
                    out.write_all(self.names.text(name))?;
                    out.write_all(b"\n")?;
                }
            }
            write!(out, "{}   ", line.cast_signed())?;
            for count in counts {
                write!(out, "{} ", count.0.cast_signed())?;
            }
            out.write_all(b"\n")?;
        }
        out.write_all(b"summary:")?;
        for count in &self.summary {
            write!(out, " {}", count.0.cast_signed())?;
        }
        out.write_all(b"\n")
    }
}

/// Reads the head; gives it with the text of the `events:` line.
fn read_head(lines: &mut Lines<impl BufRead>) -> Result<(Head, Vec<u8>), ReadError> {
    let mut head = Head::default();
    advance_past_comments(lines)?;
    while let Line::Key(Key::Desc, text) = lines.line() {
        head.desc.push(text.to_vec());
        advance_past_comments(lines)?;
    }
    let Line::Key(Key::Cmd, text) = lines.line() else {
        let missing = "a cmd: line is missing; is this a Cachegrind file?";
        return Err(wrong(lines, instead_of_head(lines.raw(), missing), false));
    };
    head.cmd = text.to_vec();
    advance_past_comments(lines)?;
    let Line::Key(Key::Events, text) = lines.line() else {
        return Err(wrong(lines, "an events: line must follow the cmd: line", false));
    };
    head.events = words(text).map(<[u8]>::to_vec).collect();
    Ok((head, text.to_vec()))
}

/// Wrapping sums always fit.
fn wrapping_add(sums: &mut [Count], counts: &[Count]) {
    let _: Result<(), _> = add(sums, counts);
}

/// Reads whole numbers between blanks; false if there is anything else. A dot is 0.
fn read_numbers(text: &[u8], counts: &mut Vec<Count>) -> bool {
    counts.clear();
    for number in numbers(text) {
        let value = match number {
            Number::Short(number) => Some(Wrapping(number.cast_unsigned())),
            Number::Word(b".") => Some(Wrapping(0)),
            Number::Word([b'-', digits @ ..]) => whole(digits).map(|value| Wrapping(0) - value),
            Number::Word(digits) => whole(digits),
        };
        let Some(value) = value else { return false };
        counts.push(value);
    }
    true
}

/// The number that these digits are, modulo 2^64.
fn whole(digits: &[u8]) -> Option<Count> {
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let next = |value: Count, digit: &u8| value * Wrapping(10) + Wrapping((digit - b'0').into());
    all.then(|| digits.iter().fold(Wrapping(0), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<StrictProfile, String> {
        StrictProfile::read(text.as_bytes(), "x").map_err(|e| format!("{e:?}"))
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
        a.merge(&b).expect("same events");
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
            ("desc: d\n", 1),
            ("fl=a.c\n", 1),
            ("desc: d\ncmd: c\nfl=a.c\n", 3),
            ("desc: d\ncmd: c\nevents: \nsummary: \n", 3),
            ("desc: d\ncmd: c\nevents: Ir\n1 2\nsummary: 3\n", 5),
            ("desc: d\ncmd: c\nevents: Ir\n1 2\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\n1 x\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\n1 -\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\n1 2 3\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\nsummary: 0 0\n", 4),
            ("desc: d\ncmd: c\nevents: Ir\nsummary: 0\n1 0\n", 5),
            ("desc: d\ncmd: c\nevents: Ir\nwhat\n", 4),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(&format!("line: {line},")), "{text:?}: {error}");
        }
    }

    /// Taken by `cg_merge` of Valgrind 3.21 to 3.28 and not by that of 3.19, or allowed by the
    /// grammar of the manual alone: no blank after a key, and a dot for 0.
    #[test]
    fn what_later_programs_and_the_grammar_allow() {
        let sum = "cmd: c\nevents: Ir Dr\nfl=a.c\nfn=f\n1   2 0 \n2   0 3 \nsummary: 2 3\n";
        for (head, body) in [
            ("cmd: c\nevents: Ir Dr\n", "fl=a.c\nfn=f\n1 2\n2 . 3\nsummary: 2 3\n"),
            (
                "\n# x\ncmd: c\n\nevents: Ir Dr\n",
                "\n#\nfl=a.c\nfn=f\n1 4\n \n1 -2\n2 0 3\nsummary: 2 3\n# end\n\n",
            ),
            ("cmd:c\nevents:Ir Dr\n", "fl=a.c\nfn=f\n1 2\n2 0 3\nsummary:2 3"),
            ("cmd: c\nevents: Ir Dr\n", "fl=b.c\nfn=f\nfi=a.c\n1 2\n2 0 3\n7\nsummary: 2 3\n"),
        ] {
            let text = format!("{head}{body}");
            let written = written(&read(&text).expect(&text));
            assert_eq!(written.replace("7   0 0 \n", ""), sum, "{text}");
            // What was written is read again.
            assert!(read(&written).is_ok(), "{written}");
        }
        let short = read("cmd: c\nevents: Ir Dr\nfl=a\nfn=f\n1 2\nsummary: 2\n").expect("padded");
        assert!(written(&short).ends_with("summary: 2 0\n"));
    }

    #[test]
    fn events_may_differ_in_blanks() {
        let mut a = read(&format!("{HEAD}summary: 0 0\n")).expect("reads");
        let b = read("desc: d\ncmd: c\nevents:\tIr  Dr \n1 1 2\nsummary: 1 2\n").expect("reads");
        assert!(a.merge(&b).is_ok());
        assert_eq!(written(&a), format!("{HEAD}fl=???\nfn=???\n1   1 2 \nsummary: 1 2\n"));
        let other = read("desc: d\ncmd: c\nevents: Dr Ir\nsummary: 0 0\n").expect("reads");
        assert!(a.merge(&other).is_err());
    }
}
