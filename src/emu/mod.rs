//! The emulated machine: address space, CPU model, and the engine, which only `unicorn` knows.

pub(crate) mod cpuid;
pub(crate) mod memory;
pub(crate) mod supervisor;
pub(crate) mod unicorn;
