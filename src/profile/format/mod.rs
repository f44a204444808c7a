//! The only code that knows the syntax of profile files.

mod read;
mod write;

pub use read::{CgReader, Head, Problem, ReadError, Record, UNSPECIFIED, add};
pub use write::{cache_desc, write_cachegrind};
