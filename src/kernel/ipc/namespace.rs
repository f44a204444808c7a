//! The System V objects of the machine.

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::ipc::{MSGMNI, SEMMNI, SHMMNI};
use crate::kernel::arena::TaskId;
use crate::kernel::ipc::ids::Ids;
use crate::kernel::ipc::msg::{Message, MsgQueue};
use crate::kernel::ipc::sem::SemSet;
use crate::kernel::ipc::shm::Segment;

/// Objects of each kind, and what calls that wait for them have got.
#[derive(Clone, Debug)]
pub(crate) struct Ipc {
    pub(crate) shm: Ids<Segment>,
    pub(crate) sem: Ids<SemSet>,
    pub(crate) msg: Ids<MsgQueue>,
    /// Ends of calls of semop(2) that slept.
    pub(super) operated: BTreeMap<TaskId, Result<(), Errno>>,
    /// Ends of calls of msgrcv(2) that slept.
    pub(super) handed: BTreeMap<TaskId, Result<Message, Errno>>,
}

impl Default for Ipc {
    fn default() -> Ipc {
        Ipc {
            shm: Ids::new(SHMMNI),
            sem: Ids::new(SEMMNI),
            msg: Ids::new(MSGMNI),
            operated: BTreeMap::new(),
            handed: BTreeMap::new(),
        }
    }
}

impl Ipc {
    /// Bytes that the objects take, the pages of segments not counted.
    pub(crate) fn charged(&mut self) -> u64 {
        self.shm.charged() + self.sem.charged() + self.msg.charged()
    }
}
