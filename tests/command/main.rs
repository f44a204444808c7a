//! The built command: options, limits, what a run depends on, what reaches a terminal.

#[path = "../common/mod.rs"]
mod common;

mod call_graphs;
mod cli;
mod clock;
mod control;
mod determinism;
mod escape;
mod escapes;
mod faults;
mod harness;
mod limits;
mod machine;
mod network;
mod outputs;
mod readme;
mod refusals;
mod repetitions;
mod schedule;
mod signals;
mod strace;
mod valgrind;
