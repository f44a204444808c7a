//! System V IPC, sysvipc(7): shared memory, semaphores and message queues. `ids` is the table that
//! each kind has, `namespace` holds the three, `verbs` are those that wake tasks.

pub(crate) mod ids;
pub(crate) mod msg;
pub(crate) mod namespace;
pub(crate) mod sem;
pub(crate) mod shm;
mod verbs;
