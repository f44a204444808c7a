//! The emulated machine: address space, CPU and the engine behind its one door (`unicorn`).

pub mod cpuid;
pub mod memory;
pub mod supervisor;
pub mod unicorn;
