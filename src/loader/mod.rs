//! From bytes to values: ELF images, `#!` lines, and the initial stack. Nothing here opens a file,
//! and nothing here knows the engine; the caller brings the bytes and does what the values say.
//!
//! The rules are those of the Linux kernel (`fs/exec.c`, `fs/binfmt_elf.c`, `fs/binfmt_script.c` of
//! 6.x; execve(2), elf(5)). Where this loader is stricter, the error's documentation says so.

pub mod elf;
pub mod error;
mod file;
pub mod script;
pub mod stack;
#[cfg(test)]
pub(crate) mod testelf;

pub use elf::{ElfType, Image, LoadMapping, MapSource, Segment, Tls, parse};
pub use error::{LoadError, LoadErrorKind};
pub use file::{FileBytes, FileKind, file_kind};
