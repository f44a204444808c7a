//! The texts of `/proc` and `/sys`, proc(5): `machine` says what the emulated machine is, `memory`
//! what a process has mapped, `task` the rest of a task, and `text` finds the text of a file. The
//! texts that never change are in `vfs/proc_tables.rs`.

pub(crate) mod machine;
mod memory;
mod task;
mod text;
