//! Page faults that the program answers itself, userfaultfd(2): who waits for a page, and who is to
//! be told.

use std::collections::BTreeMap;

use crate::abi::userfault::*;
use crate::guest::{SpaceId, UserfaultId, page_down};
use crate::kernel::arena::TaskId;
use crate::kernel::wait_queue::QueueId;

/// A task that waits for a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missed {
    task: TaskId,
    /// Its number, as it has it.
    tid: u32,
    /// Address of its access.
    addr: u64,
    /// A store.
    write: bool,
    /// The message was read.
    told: bool,
}

impl Missed {
    /// A fault that nobody was told of yet.
    pub(crate) fn new(task: TaskId, tid: u32, addr: u64, write: bool) -> Missed {
        Missed { task, tid, addr, write, told: false }
    }

    /// The message, `struct uffd_msg`.
    fn message(&self, features: u64) -> [u8; UFFD_MSG] {
        let exact = features & UFFD_FEATURE_EXACT_ADDRESS != 0;
        let addr = if exact { self.addr } else { page_down(self.addr) };
        let flags = if self.write { UFFD_PAGEFAULT_FLAG_WRITE } else { 0 };
        let tid = if features & UFFD_FEATURE_THREAD_ID != 0 { self.tid } else { 0 };
        let mut message = [0; UFFD_MSG];
        message[0] = UFFD_EVENT_PAGEFAULT;
        message[8..16].copy_from_slice(&flags.to_le_bytes());
        message[16..24].copy_from_slice(&addr.to_le_bytes());
        message[24..28].copy_from_slice(&tid.to_le_bytes());
        message
    }
}

/// Context of a descriptor, `struct userfaultfd_ctx`.
#[derive(Clone, Debug)]
pub(crate) struct Userfault {
    pub(crate) id: UserfaultId,
    /// The address space that it is about, while that is there.
    pub(crate) space: Option<SpaceId>,
    /// Only the program's own accesses wait, UFFD_USER_MODE_ONLY.
    pub(crate) user_mode_only: bool,
    /// Features, once they are agreed on.
    pub(crate) features: Option<u64>,
    /// Those that wait, in the order in which they came.
    missed: Vec<Missed>,
}

impl Userfault {
    /// Tests whether a fault waits to be read.
    pub(crate) fn is_readable(&self) -> bool {
        self.missed.iter().any(|missed| !missed.told)
    }

    /// Tests whether an access gets SIGBUS in place of a wait.
    pub(crate) fn sends_sigbus(&self) -> bool {
        self.features.is_some_and(|features| features & UFFD_FEATURE_SIGBUS != 0)
    }

    /// Takes the message of the next fault.
    pub(crate) fn take(&mut self) -> Option<[u8; UFFD_MSG]> {
        let features = self.features.unwrap_or(0);
        let next = self.missed.iter_mut().find(|missed| !missed.told)?;
        next.told = true;
        Some(next.message(features))
    }

    /// Lets those go on that wait for a page of a range.
    pub(crate) fn wake(&mut self, start: u64, len: u64) {
        self.missed.retain(|missed| page_down(missed.addr).wrapping_sub(start) >= len);
    }

    /// The lines of `/proc/PID/fdinfo`.
    pub(crate) fn describe(&self) -> String {
        let pending = self.missed.iter().filter(|missed| !missed.told).count();
        let features = self.features.map_or(0, |features| features | UFFD_FEATURE_INITIALIZED);
        let total = self.missed.len();
        let known = UFFD_API_IOCTLS | UFFD_API_RANGE_IOCTLS;
        format!("pending:\t{pending}\ntotal:\t{total}\nAPI:\t{UFFD_API:x}:{features:x}:{known:x}\n")
    }
}

/// The descriptors of userfaultfd(2), by the queues of those who wait for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Userfaults {
    held: BTreeMap<QueueId, Userfault>,
    last: u32,
}

impl Userfaults {
    /// Adds one for an address space.
    pub(crate) fn add(&mut self, queue: QueueId, space: SpaceId, user_mode_only: bool) {
        self.last += 1;
        let id = UserfaultId(self.last);
        let space = Some(space);
        self.held.insert(queue, Userfault { id, space, user_mode_only, features: None, missed: Vec::new() });
    }

    /// The one of a queue.
    pub(crate) fn get(&self, queue: QueueId) -> Option<&Userfault> {
        self.held.get(&queue)
    }

    /// The one of a queue, mutably.
    pub(crate) fn get_mut(&mut self, queue: QueueId) -> Option<&mut Userfault> {
        self.held.get_mut(&queue)
    }

    /// The one that mappings are registered with, and its queue.
    pub(crate) fn find(&self, id: UserfaultId) -> Option<(QueueId, &Userfault)> {
        self.held.iter().find(|(_, held)| held.id == id).map(|(queue, held)| (*queue, held))
    }

    /// Notes that a task waits for a page.
    pub(crate) fn miss(&mut self, queue: QueueId, missed: Missed) {
        if let Some(held) = self.held.get_mut(&queue) {
            held.missed.push(missed);
        }
    }

    /// The queue of the one that a task waits for.
    pub(crate) fn awaited_by(&self, task: TaskId) -> Option<QueueId> {
        let waits = |held: &Userfault| held.missed.iter().any(|missed| missed.task == task);
        self.held.iter().find(|(_, held)| waits(held)).map(|(queue, _)| *queue)
    }

    /// Takes note that a task waits no more.
    pub(crate) fn forget(&mut self, task: TaskId) {
        for held in self.held.values_mut() {
            held.missed.retain(|missed| missed.task != task);
        }
    }

    /// Takes note that an address space has ended, or has a new program.
    pub(crate) fn space_ended(&mut self, space: SpaceId) {
        for held in self.held.values_mut().filter(|held| held.space == Some(space)) {
            held.space = None;
        }
    }

    /// Removes the one of a queue.
    pub(crate) fn remove(&mut self, queue: QueueId) -> Option<Userfault> {
        self.held.remove(&queue)
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> u64 {
        (self.held.len() * 2 * size_of::<(QueueId, Userfault)>()) as u64
    }
}
