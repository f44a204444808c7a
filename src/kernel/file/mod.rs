//! Open file descriptions, `struct file`: one file per kind, behind one trait.
//!
//! To add a kind: a file beside these that implements `FileOperations`, and the call that makes it.
//! Every operation that the kind leaves out refuses with the error number that Linux gives. From
//! the bottom up: `operations` (the trait), the kinds, `locks` and `lease`, `description`, `splice`
//! and `open`.

pub(crate) mod description;
pub(crate) mod device;
pub(crate) mod directory;
pub(crate) mod epoll;
pub(crate) mod error;
pub(crate) mod eventfd;
pub(crate) mod inotify;
pub(crate) mod io_uring;
pub(crate) mod lease;
pub(crate) mod locks;
pub(crate) mod mqueue;
pub(crate) mod namespace;
pub(crate) mod open;
pub(crate) mod operations;
pub(crate) mod pagemap;
pub(crate) mod path;
pub(crate) mod pidfd;
pub(crate) mod pipe;
pub(crate) mod proc_mem;
pub(crate) mod proc_text;
pub(crate) mod pty;
pub(crate) mod regular;
pub(crate) mod signalfd;
pub(crate) mod socket;
pub(crate) mod splice;
pub(crate) mod stream;
pub(crate) mod timerfd;
pub(crate) mod userfaultfd;
