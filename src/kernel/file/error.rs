//! Failures of operations on open file descriptions.

use crate::abi::errno::Errno;
use crate::kernel::wait_queue::QueueId;

/// Failure of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileError {
    /// The error number.
    Errno(Errno),
    /// The error number, after a signal to the caller.
    Signal(i32, Errno),
    /// The user asks for something: the call is made again, and goes on behind so many bytes.
    Pause(u64),
    /// The operation would wait. The text names the operation.
    WouldBlock(&'static str),
    /// A read of a terminal would wait for more than the bytes that are there, VMIN and VTIME: so
    /// many nanoseconds from the last one on, or without end.
    Fewer { there: usize, timer: Option<u64> },
    /// The operation would wait, but not without end, or for another queue than its own.
    Wait(Wait),
}

/// A wait of a socket's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// Name of the operation.
    pub(crate) what: &'static str,
    /// Nanoseconds until it gives up.
    pub(crate) timeout: Option<u64>,
    /// Answer when it has given up.
    pub(crate) late: Errno,
    /// Queue that wakes for it, beside that of the description.
    pub(crate) queue: Option<QueueId>,
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> FileError {
        FileError::Errno(errno)
    }
}
