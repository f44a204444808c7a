//! The sink of all output for people, and the standard streams behind it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::tcgetwinsize;

use super::foreign::{Filter, Notation, one_line};

/// Longest colour sequence, in bytes.
const LONGEST: usize = 24;

/// Bytes written at a time.
const CHUNK: usize = 1 << 16;

/// A writer for people. What is written to it is foreign: characters that steer are shown, not
/// passed on. Only [`Console::coloured`] lets colours through.
#[derive(Debug)]
pub(crate) struct Console<W: Write> {
    to: W,
    filter: Filter,
}

impl<W: Write> Console<W> {
    /// A console in front of `to`.
    pub(crate) fn new(to: W) -> Console<W> {
        Console { to, filter: Filter::default() }
    }

    /// Changes the notation of characters that are not let through.
    pub(crate) fn set_notation(&mut self, notation: Notation) {
        self.filter.notation = notation;
    }

    /// Writes text of our own that may be coloured: `ESC [ ... m` (ECMA-48, SGR) passes, all else
    /// is treated as foreign. Names in it must have gone through [`super::one_line`].
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn coloured(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find("\x1b[") {
            let (before, from) = rest.split_at(at);
            let digits =
                from.bytes().skip(2).take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
            let end = 2 + digits + 1;
            let is_colour = end <= LONGEST && from.as_bytes().get(end - 1) == Some(&b'm');
            self.write_all(before.as_bytes())?;
            let (sequence, after) = from.split_at(if is_colour { end } else { 2 });
            if is_colour {
                self.filter.finish(&mut self.to)?;
                self.to.write_all(sequence.as_bytes())?;
            } else {
                self.write_all(sequence.as_bytes())?;
            }
            rest = after;
        }
        self.write_all(rest.as_bytes())
    }
}

impl<W: Write> Write for Console<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.filter.pass(bytes, &mut self.to)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: Write> Drop for Console<W> {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.filter.finish(&mut self.to).and_then(|()| self.to.flush());
    }
}

/// Standard output.
pub(crate) fn output() -> Console<Box<dyn Write>> {
    Console::new(Box::new(BufWriter::with_capacity(CHUNK, io::stdout().lock())))
}

/// Standard output, whose reader may take nothing: what it has not taken when `given_up` says so is
/// dropped.
pub(crate) fn patient_output(given_up: impl Fn() -> bool) -> Console<impl Write> {
    Console::new(BufWriter::with_capacity(CHUNK, Patient(given_up)))
}

/// Standard output as [`patient_output`] writes it.
struct Patient<F>(F);

/// Interval at which it is seen that a text is given up.
const SLICE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Bytes that a pipe takes without waiting when it says that it takes any (pipe(7), PIPE_BUF).
const PIECE: usize = 4096;

impl<F: Fn() -> bool> Write for Patient<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let out = rustix::stdio::stdout();
        loop {
            match poll(&mut [PollFd::new(&out, PollFlags::OUT)], Some(&SLICE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                _ => return Ok(rustix::io::write(out, bytes.get(..PIECE).unwrap_or(bytes))?),
            }
            if (self.0)() {
                return Ok(bytes.len());
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard error, not buffered.
pub(crate) fn errors() -> Console<impl Write> {
    Console::new(io::stderr().lock())
}

/// A line on standard error by a process that has no memory left, and no foreign text to say.
pub(crate) fn last_words(text: fmt::Arguments<'_>) {
    /// Longest line that is said whole.
    const LONGEST: usize = 512;
    let mut line = io::Cursor::new([0; LONGEST]);
    // What does not fit is left out, and nobody may be there to read it.
    let _ = line.write_fmt(text);
    let said = line.position() as usize;
    let _ = rustix::io::write(rustix::stdio::stderr(), line.get_ref().get(..said).unwrap_or_default());
}

/// Standard output for a profile: every byte of it, unless it is shown on a terminal.
pub(crate) fn profile_output() -> BufWriter<Box<dyn Write>> {
    let out: Box<dyn Write> = if output_is_terminal() { Box::new(output()) } else { Box::new(io::stdout()) };
    BufWriter::with_capacity(CHUNK, out)
}

/// Shows a text in the line of the terminal where standard error is, or takes it away. It leaves
/// room for the `^C` that a terminal echoes: a line that wraps could not be taken away.
pub(crate) fn status_line(text: Option<&str>) {
    let columns = tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col));
    let text = one_line(text.unwrap_or_default());
    let text: String = text.chars().take(columns.saturating_sub(4)).collect();
    // To the beginning of the line; then, behind the text, the rest of the line is erased (ECMA-48,
    // EL). In one write, as nothing may come between.
    let _ = io::stderr().write_all(format!("\r{text}\x1b[K").as_bytes());
}

/// True if standard output is a terminal.
pub(crate) fn output_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The columns of the terminal that standard output is; `None` if it is none, or does not say.
pub(crate) fn output_width() -> Option<u16> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

/// A standard stream of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

/// A standard stream under another descriptor, for a writer that looks before it writes. It is to
/// be put behind a [`Console`].
///
/// # Errors
/// If the stream is closed.
pub(crate) fn copy(stream: Stream) -> io::Result<File> {
    Ok(File::from(match stream {
        Stream::Output => io::stdout().as_fd().try_clone_to_owned()?,
        Stream::Errors => io::stderr().as_fd().try_clone_to_owned()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Console<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut Console::new(&mut out)).expect("a vector");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn only_our_colours_pass() {
        let text = "\x1b[1m\x1b[31m7\x1b[0m \x1b[2J \x1b]0;x\x07\x1b[";
        assert_eq!(written(|out| out.coloured(text)), "\x1b[1m\x1b[31m7\x1b[0m ^[[2J ^[]0;x^G^[[");
        assert_eq!(written(|out| write!(out, "{text}")), "^[[1m^[[31m7^[[0m ^[[2J ^[]0;x^G^[[");
        let long = format!("\x1b[{}m", "1".repeat(60));
        assert!(written(|out| out.coloured(&long)).starts_with("^[[11"));
    }

    #[test]
    fn what_is_held_comes_at_the_end() {
        assert_eq!(written(|out| out.write_all(b"a\r")), "a^M");
        assert_eq!(written(|out| out.write_all(b"a\r").and_then(|()| out.coloured("\x1b[0m"))), "a^M\x1b[0m");
    }
}
