//! The objects of the emulated Linux kernel. They know nothing of system calls.

pub mod vfs;
