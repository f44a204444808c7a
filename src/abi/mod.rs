//! The interface of the Linux kernel on x86-64: its numbers and structures, spelled as its headers
//! spell them.

pub(crate) mod aio;
pub(crate) mod capability;
pub(crate) mod errno;
pub(crate) mod errno_names;
pub(crate) mod fs;
pub(crate) mod futex;
pub(crate) mod inotify;
pub(crate) mod io_uring;
pub(crate) mod ipc;
pub(crate) mod key;
pub(crate) mod mm;
pub(crate) mod mqueue;
pub(crate) mod net;
pub(crate) mod process;
pub(crate) mod ptrace;
pub(crate) mod random;
pub(crate) mod resource;
pub(crate) mod sched;
pub(crate) mod seccomp;
pub(crate) mod signal;
pub(crate) mod signal_names;
pub(crate) mod time;
pub(crate) mod tty;
pub(crate) mod userfault;
