//! Output to what is open already: a pipe, a device, a log. Nobody may read at the other end, so a
//! wait there ends when the user wants the run to end.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{self, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::place::descriptor_path;
use crate::profile::reason;

/// Interval at which a wait looks for a request to end, in nanoseconds.
const TURN: i64 = 50_000_000;

/// Turns that a wait still has after such a request: a second, for a reader that is only slow.
const TURNS_LEFT: u32 = 20;

/// Bytes that a pipe which is ready takes without a wait (`PIPE_BUF`).
const PIECE: usize = 4096;

/// A stream of bytes to an open file.
#[derive(Debug)]
pub(in crate::cli) struct Stream {
    file: File,
    /// Not 0 once the user wants the run to end.
    interrupt: Arc<AtomicUsize>,
    /// Most bytes in one write.
    piece: usize,
    /// A wait was given up; there will be no other.
    given_up: bool,
    /// The name of the file, and where it is noted that it did not take all.
    named: Option<(PathBuf, Lost)>,
}

/// The first file that did not take all, in words.
pub(super) type Lost = Arc<Mutex<Option<String>>>;

impl Stream {
    /// A stream to a file that is open for writing.
    pub(in crate::cli) fn new(file: File, interrupt: Arc<AtomicUsize>) -> Stream {
        let regular = file.metadata().is_ok_and(|data| data.is_file());
        Stream {
            file,
            interrupt,
            piece: if regular { usize::MAX } else { PIECE },
            given_up: false,
            named: None,
        }
    }

    /// Has noted in `lost` under this name that the file did not take all.
    pub(super) fn named(self, path: &Path, lost: &Lost) -> Stream {
        Stream { named: Some((path.to_owned(), Arc::clone(lost))), ..self }
    }

    fn note(&self, error: &io::Error) {
        // Readers may leave.
        let left = matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::TimedOut);
        let Some((path, lost)) = self.named.as_ref().filter(|_| !left) else { return };
        let why = || {
            format!(
                "{}: not all of it is written: {}; make room or choose another file",
                path.display(),
                reason(error)
            )
        };
        lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(why);
    }

    /// Opens what a descriptor names for appending, lest it overwrite what is there already; waits
    /// for a reader if it is a FIFO.
    ///
    /// # Errors
    /// Those of open(2); `TimedOut` if nobody reads the FIFO and the run is to end.
    pub(super) fn open(held: &OwnedFd, interrupt: &Arc<AtomicUsize>) -> io::Result<Stream> {
        let mut flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOCTTY | OFlags::CLOEXEC;
        if FileType::from_raw_mode(fs::fstat(held)?.st_mode) == FileType::Fifo {
            flags |= OFlags::NONBLOCK;
        }
        let mut patience = Patience::new(interrupt);
        loop {
            match fs::openat(CWD, descriptor_path(held), flags, Mode::empty()) {
                Ok(file) => return Ok(Stream::new(File::from(file), Arc::clone(interrupt))),
                Err(Errno::NXIO) if flags.contains(OFlags::NONBLOCK) => {
                    std::thread::sleep(std::time::Duration::from_nanos(TURN.unsigned_abs()));
                    patience.turn()?;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn wait(&mut self) -> io::Result<()> {
        let mut patience = Patience::new(&self.interrupt);
        loop {
            let turn = Timespec { tv_sec: 0, tv_nsec: TURN };
            match poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&turn)) {
                Ok(0) => patience.turn()?,
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            if self.given_up {
                return Err(nobody_reads());
            }
            if let Err(error) = self.wait() {
                self.given_up = error.kind() == io::ErrorKind::TimedOut;
                return Err(error);
            }
            match self.file.write(&bytes[..bytes.len().min(self.piece)]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    self.note(&error);
                    return Err(error);
                }
                Ok(count) => return Ok(count),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A wait that may be given up.
struct Patience<'a> {
    interrupt: &'a AtomicUsize,
    left: u32,
}

impl Patience<'_> {
    fn new(interrupt: &AtomicUsize) -> Patience<'_> {
        Patience { interrupt, left: TURNS_LEFT }
    }

    /// Counts one turn in vain.
    fn turn(&mut self) -> io::Result<()> {
        if self.interrupt.load(Relaxed) == 0 {
            return Ok(());
        }
        self.left = self.left.checked_sub(1).ok_or_else(nobody_reads)?;
        Ok(())
    }
}

fn nobody_reads() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "nobody reads it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_does_not_read_is_given_up() {
        let (_reader, writer) = std::io::pipe().expect("a pipe");
        let writer = File::from(OwnedFd::from(writer));
        let mut stream = Stream::new(writer, Arc::new(AtomicUsize::new(15)));
        let error = stream.write_all(&[b'x'; 1 << 20]).expect_err("more than a pipe takes");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(stream.write_all(b"x").is_err(), "at once now");
    }

    #[test]
    fn a_slow_reader_gets_all() {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let writer = File::from(OwnedFd::from(writer));
        let mut stream = Stream::new(writer, Arc::default());
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            std::io::Read::read_to_end(&mut reader, &mut all).map(|_| all.len())
        });
        stream.write_all(&[b'x'; 1 << 20]).expect("taken");
        drop(stream);
        assert_eq!(reading.join().expect("a thread").expect("read"), 1 << 20);
    }
}
