//! Symbols and debug information of programs and libraries: their ELF files with the separate debug
//! files that complete them, and what is read from both.
//!
//! [`valgrind`] chooses names and lines as Valgrind 3.19 does, for profiles; [`debugger`] has the
//! views of a debugger. [`files`] alone opens files: everything else takes bytes.
//!
//! Addresses are link-time virtual addresses: those of the object's own program headers.

mod aranges;
pub mod debugger;
pub mod debuglink;
mod decompress;
mod elf;
mod error;
pub mod files;
mod labels;
mod line_program;
mod line_units;
pub mod object_code;
pub mod search;
mod section;
#[cfg(test)]
pub(crate) mod testkit;
#[cfg(test)]
mod tests;
pub mod valgrind;

pub use error::DebugError;
