//! Failures of the programs of Valgrind 3.19: their exit statuses, with messages of ours.

use std::io;

use crate::profile::{Problem, ReadError, reason};

/// Status of a wrong command line, of a file that is not complete, and of files that do not fit
/// together.
const STATUS: u8 = 255;
/// Status of a wrong line inside a file. It is what a Perl program's `die` leaves: `ENOTTY`, from
/// opening it.
const STATUS_INSIDE: u8 = 25;

/// A failure: the exit status and the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit status that the Perl program has in this case.
    pub status: u8,
    /// One line: what, which file and line, what to do.
    pub message: String,
}

impl Failure {
    /// A wrong command line, or input that ends too soon or does not fit.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { status: STATUS, message: message.into() }
    }

    /// Something wrong inside a file.
    #[must_use]
    pub fn inside(message: impl Into<String>) -> Failure {
        Failure { status: STATUS_INSIDE, message: message.into() }
    }

    /// A file that cannot be opened or read: the status is the error number.
    #[must_use]
    pub fn io(file: &[u8], error: &io::Error) -> Failure {
        Failure {
            status: number(error),
            message: format!("{}: cannot be read: {}", shown(file), reason(error)),
        }
    }

    /// A profile that was refused.
    #[must_use]
    pub fn reading(error: &ReadError) -> Failure {
        let message = error.to_string();
        match &error.problem {
            Problem::Io(error) => Failure { status: number(error), message },
            Problem::EndsEarly(_) => Failure::new(message),
            _ => Failure::inside(message),
        }
    }
}

fn number(error: &io::Error) -> u8 {
    error.raw_os_error().and_then(|number| u8::try_from(number).ok()).unwrap_or(STATUS)
}

/// A name as it can be shown in one line.
#[must_use]
pub fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).replace(['\n', '\r', '\0'], "?")
}
