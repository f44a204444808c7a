//! Exit statuses, and the one line that a failure prints; `README.md` lists the statuses.

use std::io::Write as _;

use crate::console::{errors, one_line};
use crate::session::{StartError, Stop};

/// Exit status of cgemu's own failures: bad options, an output file that cannot be written, a bug.
pub(super) const OWN_FAILURE: u8 = 125;
/// Exit status of a run that a limit ended, as with timeout(1).
const LIMIT_REACHED: u8 = 124;
/// Exit status where the program cannot be executed, as in the shell.
const NOT_EXECUTABLE: u8 = 126;
/// Exit status where there is no such program, as in the shell.
const NOT_FOUND: u8 = 127;

/// Prints one line about a failure of cgemu itself; returns its exit status.
pub(super) fn complain(message: &str) -> u8 {
    // Nothing is left to tell it to if standard error is closed.
    let _ = writeln!(errors(), "cgemu: {}", one_line(message));
    OWN_FAILURE
}

/// Prints the line of an error of the command, with its context; returns the exit status.
pub(super) fn fail(error: &anyhow::Error) -> u8 {
    complain(&format!("{error:#}"));
    match error.downcast_ref() {
        Some(StartError::NotFound(_)) => NOT_FOUND,
        Some(StartError::NotExecutable(_)) => NOT_EXECUTABLE,
        Some(StartError::Other(_)) | None => OWN_FAILURE,
    }
}

/// Exit status for the end of a run.
pub(super) fn status(stop: &Stop) -> u8 {
    match stop {
        // What wait(2) keeps of it: the low eight bits.
        Stop::Exited(status) => status.to_le_bytes()[0],
        Stop::Killed(signal) | Stop::Interrupted(signal) => 128u8.wrapping_add(signal.to_le_bytes()[0]),
        Stop::Limit(_) => LIMIT_REACHED,
        Stop::Refused(_) => OWN_FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        for (stop, expected) in [
            (Stop::Exited(0), 0),
            (Stop::Exited(42), 42),
            (Stop::Exited(256 + 3), 3),
            (Stop::Exited(-1), 255),
            (Stop::Killed(11), 139),
            (Stop::Killed(64), 192),
            (Stop::Interrupted(2), 130),
            (Stop::Interrupted(15), 143),
            (Stop::Limit(String::new()), 124),
            (Stop::Refused(String::new()), 125),
        ] {
            assert_eq!(status(&stop), expected, "{stop:?}");
        }
    }
}
