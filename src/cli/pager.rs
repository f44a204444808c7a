//! The program that shows long output page by page, as git and man use it.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use super::lookup::reason;

/// The pager if PAGER names none.
const DEFAULT: &str = "less";

/// Options of less if LESS is not set: end at once if all fits, pass colours, chop lines that are
/// too long (the arrow keys show their rest), leave the text on the screen.
const LESS: &str = "FRSX";

/// Exit status of a shell that cannot run the command, or not find it (`sh`, POSIX 2.8.2).
const NOT_RUN: [i32; 2] = [126, 127];

/// The reason why nothing was shown.
#[derive(Debug, Error)]
#[error("the pager `{name}` cannot be run{why}; set PAGER, or use --no-pager")]
pub(super) struct PagerError {
    name: String,
    why: String,
}

/// A pager that is running.
#[derive(Debug)]
pub(super) struct Pager {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts the pager of the environment; none if that is empty or `cat`.
    ///
    /// # Errors
    /// If there is no shell to run it.
    pub(super) fn start() -> Result<Option<Pager>, PagerError> {
        let name = std::env::var("PAGER").unwrap_or_else(|_| DEFAULT.to_owned());
        if matches!(name.trim(), "" | "cat") {
            return Ok(None);
        }
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(&name).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        // Ctrl-C is for the pager; cgemu waits for it.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
        match command.spawn() {
            Ok(mut child) => Ok(Some(Pager { input: child.stdin.take(), name, child })),
            Err(error) => Err(PagerError { name, why: format!(": {}", reason(&error)) }),
        }
    }

    /// The standard input of the pager.
    pub(super) fn input(&mut self) -> impl Write + '_ {
        Input(self.input.as_mut())
    }

    /// Ends the input and waits for the reader to end the pager.
    ///
    /// # Errors
    /// If there is no such program.
    pub(super) fn wait(mut self) -> Result<(), PagerError> {
        drop(self.input.take());
        match self.child.wait() {
            Ok(status) if !status.code().is_some_and(|code| NOT_RUN.contains(&code)) => Ok(()),
            Ok(_) => Err(PagerError { name: self.name, why: String::new() }),
            Err(error) => Err(PagerError { name: self.name, why: format!(": {}", reason(&error)) }),
        }
    }
}

/// The pager's standard input, if it is still open.
struct Input<'a>(Option<&'a mut ChildStdin>);

impl Write for Input<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Err(io::ErrorKind::BrokenPipe.into()), |input| input.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), |input| input.flush())
    }
}
