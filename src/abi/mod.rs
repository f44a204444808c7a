//! The interface of the Linux kernel on x86-64: its numbers and structures, spelled as its headers
//! spell them.

pub mod errno;
pub mod fs;
pub mod futex;
pub mod mm;
pub mod net;
pub mod process;
pub mod random;
pub mod resource;
pub mod sched;
pub mod signal;
pub mod time;
