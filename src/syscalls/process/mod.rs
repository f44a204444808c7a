//! The calls about processes and tasks: `task` starts, ends and waits for them, `cred` gives ids
//! and capabilities, `prctl`, `memory` and `limits` are settings, `ptrace` traces.

pub(super) mod clone;
pub(super) mod cred;
pub(super) mod limits;
mod memory;
pub(in crate::syscalls) mod pidfd;
pub(super) mod prctl;
pub(super) mod ptrace;
pub(super) mod task;

#[cfg(test)]
mod tests;
