//! Callgrind's "Name Compression" and "Subposition Compression": `(ID) name` defines and `(ID)`
//! refers, `+3`, `-1` and `*` are relative to the line before.

use rustc_hash::FxHashMap;

use super::error::Problem;
use super::number::{any_base, first_word};

/// The names of one kind of position: objects, files or functions.
#[derive(Debug, Default)]
pub(crate) struct Compressed(FxHashMap<u64, Box<[u8]>>);

impl Compressed {
    /// The name that the text after the `=` stands for. An ID may be defined anew; the latest name
    /// counts.
    ///
    /// # Errors
    /// [`Problem::UnknownName`] for an ID without a name.
    pub(crate) fn resolve<'a>(&'a mut self, text: &'a [u8]) -> Result<&'a [u8], Problem> {
        let Some((id, name)) = split(text) else { return Ok(text) };
        if name.is_empty() {
            return self.0.get(&id).map(|name| &**name).ok_or(Problem::UnknownName(id));
        }
        self.0.insert(id, name.into());
        Ok(name)
    }
}

/// Splits a compressed name into ID and name; `None` for a name that is written out, even one like
/// `(below main)`.
pub(crate) fn split(text: &[u8]) -> Option<(u64, &[u8])> {
    let rest = text.strip_prefix(b"(")?;
    let end = rest.iter().position(|c| *c == b')')?;
    let (digits, name) = (rest.get(..end)?, rest.get(end + 1..)?);
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // An ID too large for 64 bits is none that could be told from others.
    let id = str::from_utf8(digits).ok()?.parse().ok()?;
    Some((id, name.trim_ascii_start()))
}

/// The positions that a cost line begins with, and those of the last one.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    last: Vec<u64>,
    line: Option<usize>,
    address: Option<usize>,
}

impl Positions {
    /// Positions of these kinds, by the words of a `positions:` line.
    pub(crate) fn new<'a>(kinds: impl Iterator<Item = &'a [u8]>) -> Positions {
        let kinds: Vec<&[u8]> = kinds.collect();
        let find = |names: &[&[u8]]| kinds.iter().position(|kind| names.contains(kind));
        Positions { last: vec![0; kinds.len()], line: find(&[b"line"]), address: find(&[b"instr", b"addr"]) }
    }

    /// Tells that there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// The source line of the last cost line; 0 if lines are not recorded.
    pub(crate) fn line(&self) -> u64 {
        self.line.and_then(|at| self.last.get(at)).copied().unwrap_or(0)
    }

    /// The address of the last cost line, if addresses are recorded.
    pub(crate) fn address(&self) -> Option<u64> {
        self.address.and_then(|at| self.last.get(at)).copied()
    }

    /// The address and line of a place that these words name, absolute or relative to the last cost
    /// line; 0 for what they do not say.
    pub(crate) fn target<'a>(&self, words: impl Iterator<Item = &'a [u8]>) -> (u64, u64) {
        let mut places = vec![0; self.last.len()];
        for ((place, last), word) in places.iter_mut().zip(&self.last).zip(words) {
            *place = moved(*last, word, any_base).unwrap_or_default();
        }
        let at = |place: Option<usize>| place.and_then(|at| places.get(at)).copied().unwrap_or_default();
        (at(self.address), at(self.line))
    }

    /// Reads the positions of a cost line and returns what follows. `number` reads a word; those
    /// before the next byte that is `blank` make one.
    ///
    /// # Errors
    /// [`Problem::BadPosition`] if one is missing or malformed.
    pub(crate) fn read<'a>(
        &mut self,
        mut text: &'a [u8],
        blank: impl Fn(u8) -> bool,
        number: impl Fn(&[u8]) -> Option<u64>,
    ) -> Result<&'a [u8], Problem> {
        for last in &mut self.last {
            let (word, rest) = first_word(text, &blank);
            text = rest;
            *last = moved(*last, word, &number).ok_or(Problem::BadPosition)?;
        }
        Ok(text)
    }
}

/// A position, which may be relative to `last`.
fn moved(last: u64, word: &[u8], number: impl Fn(&[u8]) -> Option<u64>) -> Option<u64> {
    match word {
        b"*" => Some(last),
        [b'+', digits @ ..] => number(digits).and_then(|step| last.checked_add(step)),
        [b'-', digits @ ..] => number(digits).and_then(|step| last.checked_sub(step)),
        digits => number(digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manual, "Name Compression".
    #[test]
    fn short_forms() {
        let mut names = Compressed::default();
        for (text, expected) in [
            ("main", "main"),
            ("(1) main", "main"),
            ("(1)", "main"),
            ("(2)f(int, (3))", "f(int, (3))"),
            ("(1) other", "other"),
            ("(1)", "other"),
            ("(below main)", "(below main)"),
            ("()", "()"),
            ("(1", "(1"),
            ("", ""),
        ] {
            assert_eq!(names.resolve(text.as_bytes()).expect(text), expected.as_bytes(), "{text}");
        }
        assert!(matches!(names.resolve(b"(3)"), Err(Problem::UnknownName(3))));
    }

    fn words(text: &str) -> impl Iterator<Item = &[u8]> {
        text.split(' ').map(str::as_bytes)
    }

    fn read<'a>(positions: &mut Positions, text: &'a str) -> Result<&'a [u8], Problem> {
        positions.read(text.as_bytes(), |byte| byte.is_ascii_whitespace(), any_base)
    }

    /// The manual, "Subposition Compression".
    #[test]
    fn positions() {
        let mut positions = Positions::new(words("instr line"));
        let lines = ["0x80001234 90 1", "+3 * 5", "+1 +1 6", "-4  -91\t2", "* 7"].map(|text| {
            let rest = read(&mut positions, text).expect(text);
            (positions.line(), rest.trim_ascii().escape_ascii().to_string())
        });
        let expected = [(90, "1"), (90, "5"), (91, "6"), (0, "2"), (7, "")];
        assert_eq!(lines, expected.map(|(line, rest)| (line, rest.to_owned())));
        assert_eq!((positions.address(), positions.line()), (Some(0x8000_1234), 7));
        for text in ["* -8 1", "+0xffffffffffffffff * 1", "1", "x 1", "1 x"] {
            let mut positions = Positions { last: vec![0x8000_1234, 7], line: Some(1), address: Some(0) };
            assert!(read(&mut positions, text).is_err(), "{text}");
        }
    }

    #[test]
    fn kinds_of_positions() {
        for (text, line) in [("line", 3), ("instr", 0), ("instr bb line", 5), ("bb line", 4)] {
            let mut positions = Positions::new(words(text));
            read(&mut positions, "3 4 5 6").expect(text);
            assert_eq!(positions.line(), line, "{text}");
        }
    }
}
