//! Segments of shared memory, shmget(2).

use crate::abi::ipc::SHM_DEST;
use crate::guest::{GuestMemory, ObjectId};
use crate::kernel::ipc::ids::{Charged, Ids};

/// A segment. Who has it attached is known by the mappings of its object.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Bytes that were asked for.
    pub(crate) size: u64,
    /// Its memory, of which it has a reference.
    pub(crate) object: ObjectId,
    /// Moments of the last attach, the last detach and the last change, in seconds.
    pub(crate) attached: i64,
    pub(crate) detached: i64,
    pub(crate) changed: i64,
    /// Processes that made it and that attached or detached it last.
    pub(crate) creator: i32,
    pub(crate) last: i32,
}

impl Charged for Segment {
    fn charge(&self) -> u64 {
        0
    }
}

impl Ids<Segment> {
    /// Removes a segment, IPC_RMID: while it is attached it stays, without a key.
    pub(crate) fn destroy(&mut self, id: i32, mem: &mut dyn GuestMemory) {
        self.forget_key(id);
        if let Ok(entry) = self.find_mut(id) {
            entry.perm.mode |= SHM_DEST;
            self.doomed.insert(id);
        }
        self.sweep(mem);
    }

    /// Frees the segments that were removed and that nobody has attached any more.
    pub(crate) fn sweep(&mut self, mem: &mut dyn GuestMemory) {
        let doomed = self.doomed.iter().filter_map(|id| self.find(*id).ok());
        let gone: Vec<i32> =
            doomed.filter(|entry| mem.object_views(entry.object.object) == 0).map(|entry| entry.id).collect();
        for id in gone {
            if let Some(segment) = self.remove(id) {
                mem.object_release(segment.object);
            }
        }
    }

    /// Notes that a process gives up the segments that it has attached in a range, `shm_close`.
    pub(crate) fn note_detached(&mut self, pid: i32, now: i64, range: (u64, u64), mem: &dyn GuestMemory) {
        let (start, end) = range;
        let mappings = std::iter::successors(mem.next_mapping(start), |last| mem.next_mapping(last.end));
        let within = mappings.take_while(|mapping| mapping.start < end);
        for object in within.filter_map(|mapping| mapping.object) {
            let id = self.iter().find(|entry| entry.object.object == object).map(|entry| entry.id);
            if let Some(entry) = id.and_then(|id| self.find_mut(id).ok()) {
                (entry.object.last, entry.object.detached) = (pid, now);
            }
        }
    }
}
