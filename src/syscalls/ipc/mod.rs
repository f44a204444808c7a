//! System V IPC, sysvipc(7), and POSIX message queues, mq_overview(7).

mod layout;
pub(crate) mod mqueue;
pub(crate) mod msg;
pub(crate) mod sem;
pub(crate) mod shm;
