//! Runs an x86-64 Linux program in an emulated CPU and reports, exactly and repeatably, where its
//! instructions, cache misses and branch mispredictions go.
//!
//! The crate is the `cgemu` command; its public items are for `main.rs`, tests, benchmarks and
//! fuzzers, and promise no stable interface. To read it, begin with `cli::run`, which turns options
//! into a [`session::Config`], and [`session::Session`], which runs it; the picture below says what
//! each room is for and what it may import.
//!
#![doc = include_str!("../ARCHITECTURE.md")]
// Not for the tests, whose modules are all private.
#![warn(unreachable_pub)]

/// Ends the process in one line where the host gives no memory.
#[global_allocator]
static ALLOCATOR: emu::host_memory::Allocator = emu::host_memory::Allocator;

mod abi;
mod annotate;
pub mod classic;
pub mod cli;
mod console;
pub mod debugger;
mod emu;
pub mod guest;
mod hooks;
mod kernel;
pub mod loader;
pub mod profile;
pub mod repl;
mod requests;
pub mod session;
mod sim;
pub mod symbols;
mod syscalls;
mod vex;
pub mod x86;
