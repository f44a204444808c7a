//! The only code that knows the syntax of profile files.

pub mod callgrind;
mod instr;
pub mod lenient;
mod lines;
mod read;
pub mod strict;
mod write;

pub use instr::{SIDE_SUFFIX, read_instructions, write_instructions};
pub use read::{CgReader, Head, Problem, ReadError, Record, UNSPECIFIED, add};
use read::{parse_signed, value, words};
pub use write::{cache_desc, write_cachegrind};
