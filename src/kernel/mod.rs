//! The objects of the emulated Linux kernel: state and verbs. They know nothing of system calls.
//!
//! `state::Kernel` holds the tasks and, in arenas, the objects that clone(2) lets them share.

mod access;
pub mod arena;
pub mod clock;
pub mod config;
pub mod cred;
pub mod fdtable;
pub(crate) mod file;
pub mod futex;
mod lifecycle;
pub mod limits;
pub mod mm;
pub mod notices;
pub mod process;
pub mod procfs;
pub mod random;
pub mod signal;
pub mod state;
pub mod streams;
pub mod task;
pub mod timers;
pub mod uaccess;
pub mod vfs;
pub mod wait;

pub use state::Kernel;
