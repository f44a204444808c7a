//! Lines of the transcript for calls and signals, in the form of strace(1): `signatures` has the
//! kinds of each call's arguments, `kinds` their text.

mod flags;
mod kinds;
pub(crate) mod lines;
mod signatures;
