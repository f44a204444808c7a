//! System V IPC, sysvipc(7).

mod layout;
pub(crate) mod msg;
pub(crate) mod sem;
pub(crate) mod shm;
