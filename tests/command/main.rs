//! The built command: options, limits, what a run depends on, what reaches a terminal.

#[path = "../common/mod.rs"]
mod common;

mod cli;
mod determinism;
mod escapes;
mod limits;
mod outputs;
mod readme;
mod strace;
