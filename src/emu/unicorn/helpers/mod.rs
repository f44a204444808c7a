//! Helpers of generated code that replace the engine's own, where those do not do what the CPU
//! does. `tests/linux/isa.rs` compares the outcome with the host's CPU.
#![allow(unsafe_code)]

pub(super) mod alignment;
pub(super) mod env;
pub(super) mod status;

mod compare;
mod flags;
mod mmx;
mod segments;
mod sse;
mod strings;
mod transcendental;
mod wide;
mod x87;
