//! The texts of `/proc` and `/sys`, proc(5): `machine` says what the emulated machine is, `memory`
//! what a process has mapped, `locks` what is locked, `net` which sockets there are. `tasks` finds
//! a task, `task` has its texts, `text` makes the text of a file anew, and `write` takes what is
//! written to one. The texts that never change are in `vfs/proc_tables.rs`.

mod ipc;
mod keys;
mod locks;
pub(crate) mod machine;
mod memory;
mod net;
mod task;
pub(crate) mod tasks;
mod text;
mod write;
