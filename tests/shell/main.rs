//! The `cgemu>` prompt, from scripts and in a terminal.

#[path = "../common/mod.rs"]
mod common;

mod forks;
mod pause;
mod repl;
mod sightings;
mod tasks;
mod terminal;
