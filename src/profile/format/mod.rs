//! The only code that knows the syntax of profile files.

pub mod callgrind;
pub mod lenient;
mod lines;
mod read;
pub mod strict;
mod write;

pub use read::{CgReader, Head, Problem, ReadError, Record, UNSPECIFIED, add};
use read::{value, words};
pub use write::{cache_desc, write_cachegrind};
