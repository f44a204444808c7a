//! The `cgemu>` prompt, from scripts and in a terminal.

#[path = "../common/mod.rs"]
mod common;

mod counts;
mod forks;
mod pause;
mod repl;
mod sightings;
mod syscalls;
mod tasks;
mod terminal;
