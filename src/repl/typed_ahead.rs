//! Lines that were typed or pasted before they were asked for. The terminal keeps them, a line at a
//! time, for who reads next: the shell, or the program. But the editor takes all there is at once;
//! what it has taken behind the line that it gives out is got back here, for both.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, tcgetattr};
use rustyline::error::ReadlineError;
use rustyline::history::History;
use rustyline::{Editor, Helper};

use crate::console::Elsewhere;

/// Longest line that a terminal gives out.
const LONGEST: usize = 4096;

/// No time to wait.
pub(super) const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Lines that the editor has taken too early.
#[derive(Debug, Default)]
pub(super) struct TypedAhead(Mutex<Typed>);

#[derive(Debug, Default)]
struct Typed {
    /// Whole lines, with their ends.
    lines: VecDeque<Vec<u8>>,
    /// The line that is not finished.
    begun: String,
}

impl TypedAhead {
    fn typed(&self) -> MutexGuard<'_, Typed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts lines before all others.
    pub(super) fn put(&self, lines: impl DoubleEndedIterator<Item = String>) {
        let mut typed = self.typed();
        lines.rev().for_each(|line| typed.lines.push_front(format!("{line}\n").into_bytes()));
    }

    /// Forgets all lines.
    pub(super) fn forget(&self) {
        *self.typed() = Typed::default();
    }

    /// The next line for the program, at most so many bytes of it, as a terminal gives it out.
    pub(super) fn take_bytes(&self, most: usize) -> Option<Vec<u8>> {
        let mut typed = self.typed();
        let line = typed.lines.front_mut()?;
        let rest = line.split_off(most.min(line.len()));
        let taken = std::mem::replace(line, rest);
        if line.is_empty() {
            typed.lines.pop_front();
        }
        Some(taken)
    }

    /// Bytes of the whole lines.
    pub(super) fn bytes(&self) -> usize {
        self.typed().lines.iter().map(Vec::len).sum()
    }

    /// The beginning of the line that is still to be finished.
    pub(super) fn take_begun(&self) -> String {
        std::mem::take(&mut self.typed().begun)
    }

    /// The next line for the shell, if there is one already. The terminal gives out lines while
    /// nobody edits, and no more than one at a time (termios(3), canonical mode); what is typed of
    /// another stays there.
    pub(super) fn take_line(&self) -> Option<Result<String, ReadlineError>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if let Some(line) = self.typed().lines.pop_front() {
            return Some(Ok(text(&line)));
        }
        let canonical = tcgetattr(stdin()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON));
        let mut ready = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
        if !canonical
            || !matches!(poll(&mut ready, Some(&NOW)), Ok(1))
            || !ready[0].revents().contains(PollFlags::IN)
        {
            return None;
        }
        let mut bytes = vec![0; LONGEST];
        Some(match rustix::io::read(stdin(), &mut bytes) {
            Ok(0) => Err(ReadlineError::Eof),
            Ok(count) => Ok(self.take_begun() + &text(bytes.get(..count).unwrap_or_default())),
            Err(error) => Err(ReadlineError::Io(error.into())),
        })
    }

    /// Gets back what `editor` has read behind the line that it gave out: it edits that on another
    /// terminal, which has one Return to give and shows nothing.
    pub(super) fn get_back<H: Helper, I: History>(&self, editor: &mut Editor<H, I>) {
        // Without another terminal it is lost to the program, but not to the shell.
        let Ok(elsewhere) = Elsewhere::go() else { return };
        let mut lines = Vec::new();
        while let Ok(line) = editor.readline("") {
            // The Return is read when all else has been.
            if rustix::io::ioctl_fionread(stdin()).is_ok_and(|left| left == 0) {
                self.typed().begun = line;
                break;
            }
            lines.push(line);
        }
        drop(elsewhere);
        self.put(lines.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_both() {
        let typed = TypedAhead::default();
        assert_eq!((typed.take_bytes(9), typed.bytes()), (None, 0));
        typed.put(["three".to_owned()].into_iter());
        typed.put(["one".to_owned(), "two".to_owned()].into_iter());
        assert_eq!(typed.bytes(), 14);
        assert_eq!(typed.take_bytes(2).as_deref(), Some(&b"on"[..]));
        assert_eq!(typed.take_bytes(9).as_deref(), Some(&b"e\n"[..]), "no more than a line");
        assert_eq!(typed.take_line().and_then(Result::ok).as_deref(), Some("two"));
        assert_eq!(typed.take_bytes(6).as_deref(), Some(&b"three\n"[..]));
        assert_eq!(typed.bytes(), 0);
    }
}
