//! The objects of the emulated Linux kernel: state and verbs. They know nothing of system calls.
//!
//! `state::Kernel` holds the tasks and, in arenas, the objects that clone(2) lets them share.

mod access;
pub(crate) mod aio;
pub(crate) mod arena;
mod awaited;
mod charge;
pub(crate) mod children;
pub(crate) mod clock;
pub(crate) mod config;
mod cpu_time;
mod cpu_timers;
pub(crate) mod cred;
mod deadlock;
pub(crate) mod exit;
pub(crate) mod fasync;
pub(crate) mod fdtable;
pub(crate) mod file;
pub(crate) mod fork;
pub(crate) mod futex;
mod futex_queue;
pub(crate) mod ipc;
mod jobs;
mod lifecycle;
pub(crate) mod limits;
pub(crate) mod mm;
pub(crate) mod mqueue;
pub(crate) mod namespace;
pub(crate) mod net;
pub(crate) mod notices;
pub(crate) mod ntp;
mod pids;
mod priority;
pub(crate) mod process;
pub(crate) mod procfs;
pub(crate) mod random;
pub(crate) mod sched;
pub(crate) mod seccomp;
pub(crate) mod send;
pub(crate) mod signal;
mod slab;
pub(crate) mod state;
pub(crate) mod streams;
pub(crate) mod task;
mod task_charge;
mod terminals;
pub(crate) mod timerfd;
pub(crate) mod timers;
pub(crate) mod transcript;
pub(crate) mod uaccess;
pub(crate) mod uts;
pub(crate) mod vfs;
pub(crate) mod wait;
pub(crate) mod wait_queue;

pub(crate) use state::Kernel;
