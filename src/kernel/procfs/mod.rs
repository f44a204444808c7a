//! The texts of `/proc` and `/sys`, proc(5): `machine` says what the emulated machine is, `memory`
//! what a process has mapped, `locks` what is locked, `task` the rest of a task, and `text` finds
//! the text of a file. The texts that never change are in `vfs/proc_tables.rs`.

mod locks;
pub(crate) mod machine;
mod memory;
mod task;
mod text;
