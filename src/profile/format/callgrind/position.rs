//! Cost lines: positions, which may be relative to those of the line before, and counts.

use super::{Problem, parse_signed, words};

/// Which positions a cost line begins with, and those of the last one.
#[derive(Debug)]
pub struct Positions {
    last: Vec<u64>,
    /// Which of them is the source line; none if only addresses are recorded.
    line: Option<usize>,
}

/// A cost line without its positions.
#[derive(Debug)]
pub struct Costs<'a> {
    /// The source line; 0 if there is none.
    pub line: u64,
    /// The counts, not looked at yet.
    pub words: &'a [u8],
}

impl Default for Positions {
    /// Source lines only.
    fn default() -> Positions {
        Positions::new(b"line")
    }
}

impl Positions {
    /// Those of a `positions:` line: any of `instr` (also called `addr`), `bb` and `line`; only `line` if
    /// it names none of them.
    pub fn new(text: &[u8]) -> Positions {
        let known = |word: &&[u8]| matches!(*word, b"instr" | b"addr" | b"bb" | b"line");
        let kinds: Vec<&[u8]> = words(text).filter(known).collect();
        if kinds.is_empty() {
            return Positions { last: vec![0], line: Some(0) };
        }
        Positions { last: vec![0; kinds.len()], line: kinds.iter().position(|kind| *kind == b"line") }
    }

    /// Reads the positions of a cost line; the next line's may be relative to them.
    ///
    /// # Errors
    /// [`Problem::BadPosition`] if one is missing or malformed.
    pub fn read<'a>(&mut self, mut text: &'a [u8]) -> Result<Costs<'a>, Problem> {
        for last in &mut self.last {
            let (word, rest) = first_word(text);
            text = rest;
            *last = match word {
                b"*" => Some(*last),
                [b'+', digits @ ..] => number(digits).and_then(|step| last.checked_add(step)),
                [b'-', digits @ ..] => number(digits).and_then(|step| last.checked_sub(step)),
                digits => number(digits),
            }
            .ok_or(Problem::BadPosition)?;
        }
        let line = self.line.and_then(|at| self.last.get(at)).copied().unwrap_or(0);
        Ok(Costs { line, words: text })
    }
}

fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, b""))
}

/// A number, decimal or, after `0x`, hexadecimal; none if it does not fit into 64 bits.
pub fn number(word: &[u8]) -> Option<u64> {
    let (digits, radix) = match word {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    let mut value = 0_u64;
    for digit in digits {
        let digit = char::from(*digit).to_digit(radix)?;
        value = value.checked_mul(radix.into())?.checked_add(digit.into())?;
    }
    (!digits.is_empty()).then_some(value)
}

/// Reads the counts of a line; those that are missing at the end are 0, and so is `.`.
///
/// # Errors
/// [`Problem::BadCounts`] if there are more than events, or one is no number; [`Problem::TooLarge`].
pub fn counts(text: &[u8], counts: &mut [i64]) -> Result<(), Problem> {
    parse_signed(text, counts, |word| {
        let (negative, digits) = match word {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let is_number = || digits.iter().all(u8::is_ascii_hexdigit) && !digits.is_empty();
        match number(digits) {
            Some(size) if negative => 0_i64.checked_sub_unsigned(size).ok_or(Problem::TooLarge),
            Some(size) => i64::try_from(size).map_err(|_| Problem::TooLarge),
            None if word == b"." => Ok(0),
            None if is_number() => Err(Problem::TooLarge),
            None => Err(Problem::BadCounts),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (word, value) in [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("0x80001234", Some(0x8000_1234)),
            ("0xFFFFFFFFFFFFFFFF", Some(u64::MAX)),
            ("0x10000000000000000", None),
            ("0x", None),
            ("", None),
            ("1a", None),
            ("+1", None),
        ] {
            assert_eq!(number(word.as_bytes()), value, "{word}");
        }
    }

    /// The manual, "Subposition Compression".
    #[test]
    fn positions() {
        let mut positions = Positions::new(b"instr line");
        let lines = ["0x80001234 90 1", "+3 * 5", "+1 +1 6", "-4  -91\t2", "* 7"].map(|text| {
            let Costs { line, words } = positions.read(text.as_bytes()).expect(text);
            (line, words.trim_ascii().escape_ascii().to_string())
        });
        let expected = [(90, "1"), (90, "5"), (91, "6"), (0, "2"), (7, "")];
        assert_eq!(lines, expected.map(|(line, rest)| (line, rest.to_owned())));
        assert_eq!(positions.last, [0x8000_1234, 7]);
        for text in ["* -8 1", "+0xffffffffffffffff * 1", "1", "x 1", "1 x"] {
            let mut positions = Positions { last: vec![0x8000_1234, 7], line: Some(1) };
            assert!(positions.read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn kinds_of_positions() {
        for (text, line) in [("line", 3), ("", 3), ("instr", 0), ("instr bb line", 5), ("bb line", 4)] {
            assert_eq!(Positions::new(text.as_bytes()).read(b"3 4 5 6").expect(text).line, line, "{text}");
        }
    }

    #[test]
    fn counts_of_lines() {
        let read = |text: &str| {
            let mut slots = [9; 3];
            counts(text.as_bytes(), &mut slots).map(|()| slots).map_err(|problem| problem.to_string())
        };
        assert_eq!(read(" 1 0x10  -3 "), Ok([1, 16, -3]));
        assert_eq!(read("."), Ok([0, 0, 0]));
        for text in ["1 2 3 4", "x", "-", "1.", "9223372036854775808", "99999999999999999999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
