//! ELF64 executables for x86-64: headers checked as `fs/binfmt_elf.c` checks them, and made into an
//! [`Image`].

mod check;
mod image;
mod parse;
mod plan;
#[cfg(test)]
mod tests;

pub use image::{ElfType, Image, Segment, Tls};
pub use parse::{PHDR_SIZE, parse};
pub use plan::{LoadMapping, MapSource};
