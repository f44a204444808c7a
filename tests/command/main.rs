//! The built command: options, limits, what a run depends on.

#[path = "../common/mod.rs"]
mod common;

mod cli;
mod determinism;
mod limits;
mod readme;
