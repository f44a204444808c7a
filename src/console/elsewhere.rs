//! Another terminal in place of the standard streams: what reads and edits there is seen by nobody.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::stdio::{dup2_stdin, dup2_stdout, stdin, stdout};

/// Longest time for a byte to get from one end of a terminal to the other.
const SOON: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Another terminal in place of standard input and output, for as long as this is there.
pub(crate) struct Elsewhere {
    /// Its other end, which keeps it open.
    _typist: OwnedFd,
    /// The descriptors of before.
    input: OwnedFd,
    output: OwnedFd,
}

impl Elsewhere {
    /// Puts it there, with a Return to be read.
    ///
    /// # Errors
    /// Those of the host.
    pub(crate) fn go() -> io::Result<Elsewhere> {
        let typist = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&typist)?;
        unlockpt(&typist)?;
        let name = ptsname(&typist, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(&name, flags, Mode::empty())?;
        let nowhere = File::options().write(true).open("/dev/null")?;
        rustix::io::write(&typist, b"\r")?;
        // It comes through in its own time.
        if poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&SOON))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let (input, output) = (stdin().try_clone_to_owned()?, stdout().try_clone_to_owned()?);
        let elsewhere = Elsewhere { _typist: typist, input, output };
        dup2_stdin(&terminal)?;
        dup2_stdout(&nowhere)?;
        Ok(elsewhere)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // They were there before.
        let _ = dup2_stdin(&self.input);
        let _ = dup2_stdout(&self.output);
    }
}
