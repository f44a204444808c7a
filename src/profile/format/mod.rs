//! The only code that knows the syntax of profile files.

pub mod callgrind;
mod instr;
mod lines;
mod read;
mod write;

pub use instr::{SIDE_SUFFIX, read_instructions, write_instructions};
pub use read::{CgReader, Head, Problem, ReadError, Record, UNSPECIFIED, add};
use read::{parse_signed, value, words};
pub use write::{cache_desc, write_cachegrind};

/// What the system says of an error, without Rust's `(os error N)`.
#[must_use]
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned()
}
