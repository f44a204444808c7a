//! Foreign text: the characters that do not reach a reader as they are, and their notation.

use std::borrow::Cow;
use std::io::{self, Write};

/// The notation of characters that are not let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Notation {
    /// As cat(1) has it with `-v`, `^[` and `M-^[`; characters past Latin-1 as less(1) has them,
    /// `<U+202E>`.
    #[default]
    Caret,
    /// Escapes of JSON strings, `\u009b` (RFC 8259, section 7).
    Json,
}

/// Tests for characters that move the cursor, give a terminal orders, or make a text look like
/// another one: control characters but line end and tab; marks, overrides and isolates of the
/// direction of text (Unicode Standard Annex 9), ends of lines and paragraphs, tags, and characters
/// without width. The joiners U+200C and U+200D pass: languages and emoji need them.
pub(super) fn steers(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Text without characters that steer, in one line: line ends and tabs are shown too.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let shows = |c: char| steers(c) || c == '\n' || c == '\t';
    if !text.contains(shows) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if shows(c) {
            out.push_str(&shown(c, Notation::Caret));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A character that is not let through.
fn shown(c: char, notation: Notation) -> String {
    let number = u32::from(c);
    match notation {
        Notation::Json => {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
        Notation::Caret => match u8::try_from(number) {
            Ok(byte @ 0x80..=0x9f) => format!("M-^{}", char::from(byte - 0x80 + b'@')),
            Ok(byte) => format!("^{}", char::from(byte ^ 0x40)),
            Err(_) => format!("<U+{number:04X}>"),
        },
    }
}

/// The beginning of a text that is not plain ASCII.
enum Unit {
    /// A character and its length in bytes.
    Char(char, usize),
    /// A byte that is in no character.
    Byte(u8),
    /// It depends on what follows.
    Incomplete,
}

fn unit(text: &[u8]) -> Unit {
    let start = text.get(..4).unwrap_or(text);
    let (valid, error) = match std::str::from_utf8(start) {
        Ok(valid) => (valid, None),
        Err(error) => {
            let valid = start.get(..error.valid_up_to()).unwrap_or_default();
            (std::str::from_utf8(valid).unwrap_or_default(), Some(error))
        }
    };
    match (valid.chars().next(), error.and_then(|error| error.error_len())) {
        (Some(c), _) => Unit::Char(c, c.len_utf8()),
        (None, None) => Unit::Incomplete,
        (None, Some(_)) => text.first().map_or(Unit::Incomplete, |byte| Unit::Byte(*byte)),
    }
}

/// Takes text in pieces and passes it on without characters that steer.
#[derive(Debug, Default)]
pub(super) struct Filter {
    pub(super) notation: Notation,
    /// The beginning of a character, or a carriage return, at the end of the last piece.
    held: Vec<u8>,
}

impl Filter {
    /// Passes a piece on. A carriage return passes only before a line end. Bytes that are no UTF-8
    /// pass unless a terminal could take them for C1 controls.
    ///
    /// # Errors
    /// Those of `to`.
    pub(super) fn pass(&mut self, text: &[u8], to: &mut impl Write) -> io::Result<()> {
        if self.held.is_empty() {
            return self.pass_whole(text, to);
        }
        self.held.extend_from_slice(text);
        let text = std::mem::take(&mut self.held);
        self.pass_whole(&text, to)
    }

    fn pass_whole(&mut self, mut text: &[u8], to: &mut impl Write) -> io::Result<()> {
        let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        while !text.is_empty() {
            let (passed, rest) =
                text.split_at(text.iter().position(|byte| !plain(byte)).unwrap_or(text.len()));
            to.write_all(passed)?;
            let length = match (rest, unit(rest)) {
                ([], _) => break,
                ([b'\r'], _) | (_, Unit::Incomplete) => {
                    self.held = rest.to_vec();
                    break;
                }
                ([b'\r', b'\n', ..], _) => {
                    to.write_all(b"\r\n")?;
                    2
                }
                (_, Unit::Char(c, length)) if steers(c) => {
                    to.write_all(shown(c, self.notation).as_bytes())?;
                    length
                }
                (_, Unit::Char(_, length)) => {
                    to.write_all(rest.get(..length).unwrap_or_default())?;
                    length
                }
                (_, Unit::Byte(byte)) => {
                    self.byte(byte, to)?;
                    1
                }
            };
            text = rest.get(length..).unwrap_or_default();
        }
        Ok(())
    }

    /// Passes on what was held for what might have followed.
    ///
    /// # Errors
    /// Those of `to`.
    pub(super) fn finish(&mut self, to: &mut impl Write) -> io::Result<()> {
        std::mem::take(&mut self.held).into_iter().try_for_each(|byte| self.byte(byte, to))
    }

    fn byte(&self, byte: u8, to: &mut impl Write) -> io::Result<()> {
        match byte {
            0xa0.. => to.write_all(&[byte]),
            _ => to.write_all(shown(char::from(byte), self.notation).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text passed whole, and byte by byte.
    fn passed(text: &[u8], notation: Notation) -> Vec<u8> {
        let (mut whole, mut pieces) = (Vec::new(), Vec::new());
        let mut filter = Filter { notation, ..Filter::default() };
        filter.pass(text, &mut whole).and_then(|()| filter.finish(&mut whole)).expect("a vector");
        text.iter().try_for_each(|byte| filter.pass(&[*byte], &mut pieces)).expect("a vector");
        filter.finish(&mut pieces).expect("a vector");
        assert_eq!(whole, pieces);
        whole
    }

    fn caret(text: &[u8]) -> String {
        String::from_utf8_lossy(&passed(text, Notation::Caret)).into_owned()
    }

    #[test]
    fn text_passes() {
        for text in ["a\tb\n", "naïve Ünïcode £ 漢字 🏳️‍🌈 می‌خواهم", "a\r\nb", ""] {
            assert_eq!(caret(text.as_bytes()), text);
        }
        assert_eq!(passed(b"Stra\xdfe \xe4", Notation::Caret), b"Stra\xdfe \xe4");
    }

    /// The notations are those of `cat -v`, and of less(1) past Latin-1.
    #[test]
    fn what_steers_is_shown() {
        assert_eq!(caret(b"\x1b[31mred\x1b[0m"), "^[[31mred^[[0m");
        assert_eq!(caret(b"\x1b]0;title\x07"), "^[]0;title^G");
        assert_eq!(caret(b"a\rb\x08\x7f\r"), "a^Mb^H^?^M");
        assert_eq!(caret("\u{9b}2J".as_bytes()), "M-^[2J");
        assert_eq!(caret(b"\x9b2J \xc2"), "M-^[2J \u{fffd}");
        // ESC in a form that is longer than allowed, which old terminals decode.
        assert_eq!(passed(b"\xc0\x9b[2J\xe0\x80\x9b", Notation::Caret), b"\xc0M-^[[2J\xe0M-^@M-^[");
        assert_eq!(caret("a\u{202e}b\u{2066}c\u{200b}d".as_bytes()), "a<U+202E>b<U+2066>c<U+200B>d");
    }

    #[test]
    fn json_has_its_own_escapes() {
        let text = "\"\u{7f}\u{9b}\u{202e}\u{e0041}ä\"";
        let passed = passed(text.as_bytes(), Notation::Json);
        assert_eq!(String::from_utf8_lossy(&passed), "\"\\u007f\\u009b\\u202e\\udb40\\udc41ä\"");
        let back: String = serde_json::from_slice(&passed).expect("JSON");
        assert_eq!(format!("\"{back}\""), text);
    }

    #[test]
    fn one_line_has_no_end() {
        assert_eq!(one_line("a\nb\tc\x1b"), "a^Jb^Ic^[");
        assert!(matches!(one_line("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_that_steers_comes_out() {
        let all: Vec<u8> = (0..=0x10_ffff).filter_map(char::from_u32).collect::<String>().into_bytes();
        let mut text = passed(&all, Notation::Caret);
        text.retain(|byte| *byte != b'\n' && *byte != b'\t');
        assert!(!String::from_utf8(text).expect("text").contains(steers));
        for first in 0x80..=0xff_u8 {
            for second in 0..=0xff_u8 {
                let out = passed(&[first, second, b'x'], Notation::Caret);
                let valid = std::str::from_utf8(&out);
                assert!(
                    valid.map_or(!out.iter().any(|b| matches!(b, 0..=8 | 11..=31 | 127..=0x9f)), |t| !t
                        .contains(steers)),
                    "{out:?}"
                );
            }
        }
    }
}
