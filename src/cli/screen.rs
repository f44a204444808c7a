//! Output that goes straight to a terminal: names and source lines come from files that nobody
//! vouches for, and must not move the cursor or talk to the terminal.

use std::io::{self, Write};

/// Longest colour sequence that is let through, in bytes.
const LONGEST: usize = 24;

/// Writes text to a terminal. Line ends, tabs and colours (`ESC [ ... m`, ECMA-48 SGR) pass; other
/// control characters show as `cat -v` shows them.
pub(super) struct Screen<W> {
    to: W,
    /// Bytes that may become a colour sequence, or the first byte of a C1 control in UTF-8.
    held: Vec<u8>,
    ready: Vec<u8>,
}

impl<W: Write> Screen<W> {
    /// A screen in front of `to`.
    pub(super) fn new(to: W) -> Screen<W> {
        Screen { to, held: Vec::new(), ready: Vec::new() }
    }

    fn take(&mut self, byte: u8) {
        match (self.held.as_slice(), byte) {
            ([], 0x1b | 0xc2) => self.held.push(byte),
            ([], _) => self.plain(byte),
            ([0xc2], 0x80..=0x9f) => {
                self.held.clear();
                self.ready.extend_from_slice(b"M-^");
                self.ready.push(byte - 0x80 + b'@');
            }
            ([0xc2], _) => {
                self.held.clear();
                self.ready.push(0xc2);
                self.take(byte);
            }
            ([0x1b], b'[') => self.held.push(byte),
            ([0x1b, b'[', ..], b'm') => {
                self.ready.append(&mut self.held);
                self.ready.push(byte);
            }
            ([0x1b, b'[', rest @ ..], b'0'..=b'9' | b';') if rest.len() < LONGEST => self.held.push(byte),
            _ => {
                self.give_up();
                self.take(byte);
            }
        }
    }

    /// Shows the held bytes, which are no colour sequence.
    fn give_up(&mut self) {
        for byte in std::mem::take(&mut self.held) {
            self.plain(byte);
        }
    }

    fn plain(&mut self, byte: u8) {
        match byte {
            b'\n' | b'\t' | b' '..=b'~' | 0x80.. => self.ready.push(byte),
            _ => self.ready.extend_from_slice(&[b'^', byte ^ 0x40]),
        }
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            self.take(byte);
        }
        let ready = std::mem::take(&mut self.ready);
        self.to.write_all(&ready)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.give_up();
        let ready = std::mem::take(&mut self.ready);
        self.to.write_all(&ready)?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text written whole, and byte by byte.
    fn shown(text: &[u8]) -> String {
        let (mut whole, mut pieces) = (Vec::new(), Vec::new());
        let mut screen = Screen::new(&mut whole);
        screen.write_all(text).and_then(|()| screen.flush()).expect("a vector");
        let mut screen = Screen::new(&mut pieces);
        text.iter().try_for_each(|&byte| screen.write_all(&[byte])).expect("a vector");
        screen.flush().expect("a vector");
        assert_eq!(whole, pieces);
        String::from_utf8_lossy(&whole).into_owned()
    }

    #[test]
    fn text_and_colours_pass() {
        for text in ["a\tb\n", "\x1b[1;31m7\x1b[0m\n", "\x1b[m", "naïve Ünïcode £ 漢字"] {
            assert_eq!(shown(text.as_bytes()), text);
        }
    }

    #[test]
    fn what_moves_or_asks_is_shown() {
        assert_eq!(shown(b"\x1b[2Jx"), "^[[2Jx");
        assert_eq!(shown(b"\x1b]0;title\x07"), "^[]0;title^G");
        assert_eq!(shown(b"a\rb\x08\x7f"), "a^Mb^H^?");
        assert_eq!(shown("\u{9b}2J".as_bytes()), "M-^[2J");
        assert_eq!(shown(b"\x1b[1\x1b[31m"), "^[[1\x1b[31m");
        assert_eq!(shown(b"end\x1b["), "end^[[");
        let long = [b"\x1b[".as_slice(), &[b'1'; 60], b"m"].concat();
        assert!(shown(&long).starts_with("^[[11"));
    }
}
