//! Lines of the transcript for calls and signals, in the form of strace(1): `signatures` has the
//! arguments of each call by the kinds of `kind`; `kinds` and `structures` make text of them,
//! `results` of what calls return.

pub(super) mod flags;
mod kind;
mod kinds;
pub(crate) mod lines;
mod results;
mod siginfo;
mod signatures;
mod structures;
mod text;
