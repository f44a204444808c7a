//! The system calls: `table` lists them, each family has a file, `dispatch` is the way in. A handler
//! decodes its arguments, calls an object of the kernel and encodes the answer.

pub mod attr;
pub mod context;
pub mod copy;
pub mod dir;
pub mod dispatch;
pub mod epoll;
pub mod exec;
pub mod fd;
pub mod fs;
pub mod futex;
pub mod io;
pub mod ioctl;
pub mod mm;
pub mod net;
pub mod pipe;
pub mod poll;
pub mod process;
pub mod sched;
pub mod signal;
pub mod stat;
pub mod system;
pub mod table;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
