//! The side file with costs by instruction: Callgrind's format with `positions: instr line`, and comments that say more of
//! the objects. `docs/instr-format.md` describes it.

mod read;
mod write;

pub use read::read_instructions;
pub use write::write_instructions;

/// What the name of a side file has after that of its profile.
pub const SIDE_SUFFIX: &str = ".instr";
/// Begins the comment that identifies the object of the `ob=` line after it.
const OBJECT: &str = "#cgemu-object:";
/// Begins a comment with the bytes of instructions that are in no file.
const CODE: &str = "#cgemu-code:";
/// The version of these comments.
const VERSION: &str = "#cgemu-instr: 1";
/// First line of Callgrind's format.
const MAGIC: &str = "# callgrind format";

#[cfg(test)]
mod tests;
