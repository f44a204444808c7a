//! The emulated machine: address space, CPU and the engine behind its one door (`unicorn`).

pub mod guest;
