//! The emulated machine: address space, CPU model, and the engine, which only `unicorn` knows.

pub(crate) mod cpuid;
pub(crate) mod host_memory;
pub(crate) mod memory;
pub(crate) mod supervisor;
mod umip;
pub(crate) mod unicorn;
