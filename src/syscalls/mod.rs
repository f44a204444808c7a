//! The system calls: `table` lists them, each family has a file, `dispatch` is the way in. A
//! handler decodes its arguments, calls an object of the kernel and encodes the answer.

mod adjtime;
mod aio;
mod attr;
pub(crate) mod context;
mod copy;
mod dir;
pub(crate) mod dispatch;
pub(crate) mod epoll;
mod event;
mod exec;
mod extents;
mod fd;
mod fs;
mod futex;
mod handle;
mod io;
mod io_uring;
mod ioctl;
mod iovec;
mod ipc;
mod key;
mod lock;
mod mm;
mod net;
mod pipe;
mod poll;
mod process;
mod row;
mod sched;
mod seccomp;
mod signal;
mod stat;
pub(crate) mod strace;
mod system;

pub(crate) mod table;
#[cfg(test)]
pub(crate) mod testing;
mod time;
mod transfer;
mod vsyscall;
