//! Rows of the table of system calls.

use crate::syscalls::context::{Ctx, SysResult};

/// A handler: the six argument registers in, the value for RAX out.
pub(super) type Handler = fn(&mut Ctx, [u64; 6]) -> SysResult;

/// Extent to which a call is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// Everything a program can tell.
    Full,
    /// Some flags or commands are refused by name; the note says which.
    Partial,
    /// Known, and always answered with the error the note names.
    Refused,
}

/// One system call.
pub(crate) struct Row {
    /// Number in the x86-64 table.
    pub number: u16,
    /// Name in section 2 of the manual.
    pub name: &'static str,
    /// Function that serves it.
    pub handler: Handler,
    /// Extent to which it is served.
    pub support: Support,
    /// Note for the user on what is missing or special; may be empty.
    pub note: &'static str,
}

impl Row {
    /// The row with a note.
    pub(super) const fn noted(self, note: &'static str) -> Row {
        Row { note, ..self }
    }
}

/// A call that is served in full.
pub(super) const fn full(number: u16, name: &'static str, handler: Handler) -> Row {
    Row { number, name, handler, support: Support::Full, note: "" }
}

/// A call that is served in part; the note names what is missing.
pub(super) const fn partial(number: u16, name: &'static str, handler: Handler, note: &'static str) -> Row {
    Row { number, name, handler, support: Support::Partial, note }
}

/// A call that always fails; the note names the error.
pub(super) const fn refused(number: u16, name: &'static str, handler: Handler, note: &'static str) -> Row {
    Row { number, name, handler, support: Support::Refused, note }
}
