//! Commands that nobody types: a file, or what comes through a pipe.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use super::shell::{Left, Shell};
use crate::session::{Control, Stop};

/// Exit status of a script that the user has interrupted: 128 and SIGINT.
const INTERRUPTED: u8 = 130;

/// Exit status if a command of a script fails.
pub(super) const FAILED: u8 = 1;

/// Interval at which a wait for commands looks for a signal that came just before it.
const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// A file that has commands now and then, until a signal comes.
struct Pipe {
    file: File,
    control: Arc<Control>,
}

impl Read for Pipe {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.control.interrupt.load(Relaxed) == 0 {
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&TURN)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => match self.file.read(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    result => return result,
                },
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("a signal came"))
    }
}

impl Shell {
    /// The commands of a file by its name.
    pub(super) fn commands_at(&self, path: &Path) -> io::Result<Box<dyn BufRead>> {
        // A FIFO is waited for where a signal is seen: in the reads.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        self.commands_of(File::options().read(true).custom_flags(flags).open(path)?)
    }

    /// The commands of an open file. A regular file is read at once: a program that may change it
    /// could add commands for the host while it runs. Where they come one by one, from a pipe, they
    /// are taken so.
    pub(super) fn commands_of(&self, mut file: File) -> io::Result<Box<dyn BufRead>> {
        if !file.metadata()?.is_file() {
            let control = Arc::clone(self.debugger.control());
            return Ok(Box::new(BufReader::new(Pipe { file, control })));
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        Ok(Box::new(Cursor::new(text)))
    }

    /// The end of a script, which has this status: a program that a limit, an instruction or call
    /// that is not supported, or a signal has ended was not debugged to its end. `quit STATUS` says
    /// otherwise.
    pub(super) fn after_script(&mut self, status: u8) -> Left {
        match (status, self.status) {
            (0, None) => {}
            (0, Some(named)) => return Left::Status(named),
            _ => return Left::Status(status),
        }
        match self.debugger.session().ending() {
            Some((Stop::Exited(_), _)) => {}
            Some((stop, _)) => return Left::Stopped(stop),
            None if self.started && !self.quit => {
                self.complain("the program has not ended, so its profile was not written; `continue` or `dump` writes one");
            }
            None => {}
        }
        Left::Status(0)
    }

    /// Runs each line; stops at the first that fails.
    pub(super) fn script(&mut self, mut lines: impl BufRead, name: &str) -> u8 {
        let mut number = 0u64;
        let mut line = Vec::new();
        while !self.quit {
            line.clear();
            number += 1;
            let read = lines.read_until(b'\n', &mut line);
            // One that comes between two commands ends the script like one within a command.
            if self.heed_signal() {
                break;
            }
            if self.debugger.take_interrupt() {
                self.say("interrupted");
                return INTERRUPTED;
            }
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    self.complain(&format!("{name}: {error}"));
                    return FAILED;
                }
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            let result = self.execute(&text);
            if let Err(why) = &result {
                self.complain(&format!("{name}:{number}: {why}"));
            }
            if self.interrupted {
                return INTERRUPTED;
            }
            if result.is_err() {
                return FAILED;
            }
        }
        0
    }
}
