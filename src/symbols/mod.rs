//! Symbols and debug information of programs and libraries.
//!
//! An object and the separate files that complete it are opened by `files`, the only file here
//! that does I/O, and become one [`debug_files::DebugFiles`], whose ELF headers are parsed once and
//! whose sections are read when they are needed. Two policies stand on that: [`valgrind`] chooses
//! names and lines as Valgrind 3.19 does, for profiles, and [`debugger`] has the views of a
//! debugger. [`symboliser`] keeps each object of a run for all who ask of addresses.
//!
//! Addresses are link-time virtual addresses: those of the object's own program headers.

mod ahead;
mod aranges;
pub mod debug_files;
pub mod debugger;
pub mod debuglink;
mod decompress;
pub mod elf;
pub(crate) mod files;
pub mod give_up;
mod line_program;
mod line_units;
pub mod object_code;
pub mod symboliser;
#[cfg(test)]
pub(crate) mod testkit;
#[cfg(test)]
mod tests;
pub mod valgrind;
