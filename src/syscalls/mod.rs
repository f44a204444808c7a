//! The emulated Linux kernel: `table` lists the calls, each family has a file, `kernel` holds the state.
//! It sees the machine only through the traits of `guest`.

pub mod attr;
pub mod copy;
pub mod dir;
pub mod epoll;
pub mod exec;
pub mod fd;
pub mod fs;
pub mod futex;
pub mod io;
pub mod ioctl;
pub mod kernel;
pub mod mm;
pub mod net;
pub mod notices;
pub mod pipe;
pub mod poll;
pub mod process;
pub mod random;
pub mod sched;
pub mod signal;
pub mod stat;
pub mod system;
pub mod table;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
pub mod uaccess;
