//! Programs that run on Linux and in the emulator, and must agree.

#[path = "../common/mod.rs"]
mod common;

mod corpus;
mod cpython;
mod encodings;
mod guest;
mod isa;
mod sweep;
