//! The syntax of profile files: Cachegrind's format, Callgrind's, and the side file with costs by
//! instruction.
//!
//! [`Lines`] cuts a file into lines of bounded length and a [`Dialect`] says what each [`Line`] is;
//! the readers are state machines over that.

mod cachegrind;
mod callgrind;
mod compression;
mod detect;
mod dialect;
mod error;
mod events;
mod instr;
mod lines;
mod number;
mod record;
mod write;
mod write_callgrind;

pub use cachegrind::CgReader;
pub use callgrind::CallgrindReader;
pub(crate) use callgrind::{CHANGE, COMPARED};
pub(crate) use detect::instead_of_head;
pub use detect::is_callgrind;
pub(crate) use dialect::{CostStart, Dialect, End, Gap, Key, Line, Others};
pub use error::{Problem, ReadError, reason};
pub use events::Definition;
pub use instr::{SIDE_SUFFIX, read_instructions, write_instructions};
pub(crate) use lines::Lines;
pub(crate) use number::{Number, is_space, numbers, words};
pub use record::{Head, Record};
pub use write::{cache_desc, write_cachegrind};
pub use write_callgrind::{CallgrindForm, CallgrindPart, write_callgrind};
