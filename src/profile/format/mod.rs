//! The only code that knows the syntax of profile files.

pub mod lenient;
mod read;
pub mod strict;
mod write;

pub use read::{CgReader, Head, Problem, ReadError, Record, UNSPECIFIED, add};
pub use write::{cache_desc, write_cachegrind};
