//! The System V objects of every IPC namespace. Those of the running task's are at hand.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crate::guest::GuestMemory;
use crate::kernel::ipc::namespace::Ipc;
use crate::kernel::namespace::kind::{Kind, NsId};

/// Objects by namespace.
#[derive(Clone, Debug)]
pub(crate) struct Ipcs {
    here: NsId,
    own: Ipc,
    others: BTreeMap<NsId, Ipc>,
}

impl Default for Ipcs {
    fn default() -> Ipcs {
        Ipcs { here: Kind::Ipc.first(), own: Ipc::default(), others: BTreeMap::new() }
    }
}

impl Deref for Ipcs {
    type Target = Ipc;

    fn deref(&self) -> &Ipc {
        &self.own
    }
}

impl DerefMut for Ipcs {
    fn deref_mut(&mut self) -> &mut Ipc {
        &mut self.own
    }
}

impl Ipcs {
    /// Takes the objects of a namespace to hand, that of a task that is about to run.
    pub(crate) fn enter(&mut self, namespace: NsId) {
        if namespace != self.here {
            let next = self.others.remove(&namespace).unwrap_or_default();
            let before = std::mem::replace(&mut self.own, next);
            self.others.insert(std::mem::replace(&mut self.here, namespace), before);
        }
    }

    /// Bytes that all objects take, the pages of segments not counted.
    pub(crate) fn charged_in_all(&mut self) -> u64 {
        self.own.charged() + self.others.values_mut().map(Ipc::charged).sum::<u64>()
    }

    /// Removes segments that nobody has attached any more and that were marked for it.
    pub(crate) fn sweep(&mut self, mem: &mut dyn GuestMemory) {
        self.own.shm.sweep(mem);
        self.others.values_mut().for_each(|ipc| ipc.shm.sweep(mem));
    }

    /// Removes the objects of a namespace without tasks; false if a segment is still attached.
    pub(crate) fn destroy(&mut self, namespace: NsId, mem: &mut dyn GuestMemory) -> bool {
        let Some(ipc) = self.others.get_mut(&namespace) else { return namespace != self.here };
        let segments: Vec<i32> = ipc.shm.iter().map(|entry| entry.id).collect();
        segments.into_iter().for_each(|id| ipc.shm.destroy(id, mem));
        ipc.shm.sweep(mem);
        let empty = ipc.shm.len() == 0;
        if empty {
            self.others.remove(&namespace);
        }
        empty
    }
}
