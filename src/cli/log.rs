//! The log: lines in Valgrind's form, `==PID== text`, on standard error or in a file (Valgrind
//! manual, section 2.3, "The Commentary").

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use std::sync::{Mutex, PoisonError};

use super::lookup::reason;
use super::outputs::Outputs;
use crate::console::{self, Console, Stream, one_line};
use crate::session::{LogSink, Voice};

/// A log: its destination, and the lines that are wanted.
pub(super) struct Log {
    out: Console<Box<dyn Write + Send>>,
    pid: u32,
    quiet: bool,
    to_file: bool,
    /// The text that the program has printed ends in the middle of a line.
    open_line: bool,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl LogSink for Mutex<Log> {
    fn say(&self, voice: Voice, text: &[u8]) {
        self.lock().unwrap_or_else(PoisonError::into_inner).say(voice, text);
    }
}

impl Log {
    /// A log on standard error.
    pub(super) fn to_stderr(outputs: &Outputs, pid: u32, quiet: bool) -> Log {
        // One that is closed takes nothing.
        let out = copy_of(2, outputs).unwrap_or_else(|_| Box::new(io::sink()));
        Log { out: Console::new(out), pid, quiet, to_file: false, open_line: false }
    }

    /// A log on a descriptor that is open already; 1 and 2 are standard output and error.
    ///
    /// # Errors
    /// A descriptor that is not open or cannot be written.
    pub(super) fn to_descriptor(
        number: u32,
        outputs: &Outputs,
        pid: u32,
        quiet: bool,
    ) -> Result<Log, String> {
        let out = copy_of(number, outputs).map_err(|error| {
            format!("--log-fd={number}: {}; name a descriptor that is open", reason(&error))
        })?;
        Ok(Log { out: Console::new(out), pid, quiet, to_file: false, open_line: false })
    }

    /// A log in a file, created or emptied.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn to_file(path: &Path, outputs: &Outputs, pid: u32, quiet: bool) -> Result<Log, String> {
        let file = outputs
            .stream(path)
            .map_err(|error| format!("--log-file={}: {}; choose another", path.display(), reason(&error)))?;
        Ok(Log { out: Console::new(Box::new(file)), pid, quiet, to_file: true, open_line: false })
    }

    /// Opens the log: what runs, and in a file also whose child it is.
    pub(super) fn banner(&mut self, command: &[OsString]) {
        self.line(&format!("cgemu {}, a cache and branch-prediction profiler", env!("CARGO_PKG_VERSION")));
        self.line("Free software under the GNU General Public License, version 2; without any warranty");
        let mut text = b"Command:".to_vec();
        for word in command {
            text.push(b' ');
            text.extend_from_slice(word.as_bytes());
        }
        self.line(&one_line(&String::from_utf8_lossy(&text)));
        if self.to_file
            && let Some(parent) = rustix::process::getppid()
        {
            self.line(&format!("Parent PID: {}", parent.as_raw_nonzero()));
        }
        self.line("");
    }

    /// Adds a line that `-q` leaves out. A log that cannot be written must not end a run, so errors
    /// are dropped.
    pub(super) fn line(&mut self, text: &str) {
        if !self.quiet {
            self.always(text);
        }
    }

    /// Adds a line that the user gets in any case: why a run did not end by itself. A text of
    /// several lines is several lines of the log.
    pub(super) fn always(&mut self, text: &str) {
        let mut buffer = String::new();
        if std::mem::take(&mut self.open_line) {
            buffer.push('\n');
        }
        for line in text.split('\n') {
            // With nothing behind it, the prefix still keeps its blank.
            buffer.push_str(&format!("=={}== {line}\n", self.pid));
        }
        // In one write, so that two processes on one terminal do not mix within a line.
        let _ = self.out.write_all(buffer.as_bytes()).and_then(|()| self.out.flush());
    }

    /// Adds text of the program or about its requests, which `-q` leaves in. A line that was not
    /// ended goes on, as in Valgrind's log; it may end in the middle of a character.
    fn say(&mut self, voice: Voice, text: &[u8]) {
        let sign = match voice {
            Voice::Client => "**",
            Voice::User => "==",
            Voice::Debug => "--",
        };
        let mut buffer = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if !self.open_line {
                buffer.extend(format!("{sign}{}{sign} ", self.pid).into_bytes());
            }
            buffer.extend(line);
            self.open_line = line.last() != Some(&b'\n');
        }
        let _ = self.out.write_all(&buffer).and_then(|()| self.out.flush());
    }
}

/// A file of lines as they are, without a prefix.
pub(super) struct Lines(Console<Box<dyn Write + Send>>);

impl Lines {
    /// A file, created or emptied.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn to_file(path: &Path, outputs: &Outputs) -> Result<Lines, String> {
        let file = outputs
            .stream(path)
            .map_err(|error| format!("--strace={}: {}; choose another", path.display(), reason(&error)))?;
        Ok(Lines(Console::new(Box::new(file))))
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lines")
    }
}

impl LogSink for Mutex<Lines> {
    fn say(&self, _: Voice, text: &[u8]) {
        let out = &mut self.lock().unwrap_or_else(PoisonError::into_inner).0;
        // As with the log, what cannot be written must not end a run.
        let _ = out.write_all(text).and_then(|()| out.flush());
    }
}

/// A stream to a descriptor that is open.
fn copy_of(number: u32, outputs: &Outputs) -> io::Result<Box<dyn Write + Send>> {
    let file = match number {
        1 => console::copy(Stream::Output)?,
        2 => console::copy(Stream::Errors)?,
        // By name, since a number alone proves nothing about who owns the descriptor.
        _ => OpenOptions::new().append(true).open(format!("/proc/self/fd/{number}"))?,
    };
    Ok(Box::new(outputs.open_stream(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("lock").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(quiet: bool, to_file: bool, say: impl FnOnce(&mut Log)) -> Vec<String> {
        let sink = Sink::default();
        say(&mut Log { out: Console::new(Box::new(sink.clone())), pid: 5, quiet, to_file, open_line: false });
        let bytes = sink.0.lock().expect("lock").clone();
        String::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn banner_has_valgrinds_shape() {
        let command = ["./a".into(), "b c".into()];
        let lines = written(false, false, |log| log.banner(&command));
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("==5== cgemu "));
        assert_eq!(lines[2..], ["==5== Command: ./a b c", "==5== "]);
        let lines = written(false, true, |log| log.banner(&command));
        assert!(lines[3].starts_with("==5== Parent PID: "), "{lines:?}");
        assert_eq!(lines[4], "==5== ");
    }

    #[test]
    fn quiet_keeps_what_matters() {
        let lines = written(true, false, |log| {
            log.banner(&["./a".into()]);
            log.line("summary");
            log.always("limit\nreached");
        });
        assert_eq!(lines, ["==5== limit", "==5== reached"]);
    }

    #[test]
    fn files_and_descriptors_that_cannot_be_written() {
        let dir = tempfile::tempdir().expect("dir");
        let outputs = Outputs::default();
        assert!(Log::to_file(dir.path(), &outputs, 1, false).is_err());
        assert!(Log::to_descriptor(987_654, &outputs, 1, false).is_err());
        assert!(Log::to_descriptor(2, &outputs, 1, false).is_ok());
    }
}
