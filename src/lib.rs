//! cgemu runs an x86-64 Linux program in an emulated CPU and reports, exactly and repeatably, where its
//! instructions, cache misses and branch mispredictions go. `ARCHITECTURE.md` draws the rooms below and
//! the arrows between them.

pub mod abi;
pub mod annotate;
pub mod classic;
pub mod cli;
pub mod debugger;
mod emu;
pub mod guest;
pub mod hooks;
pub mod kernel;
pub mod loader;
pub mod profile;
pub mod repl;
pub mod requests;
pub mod session;
pub mod sim;
pub mod symbols;
pub mod syscalls;
pub mod x86;
