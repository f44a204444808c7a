//! Requests of io_uring(7) that wait: for a file, a time, or other requests. Each is tried again in
//! the context of the task that submitted it, once a key that it waits on has woken.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::abi::errno::Errno;
use crate::abi::io_uring::{IOSQE_IO_DRAIN, Sqe, op};
use crate::kernel::arena::TaskId;
use crate::kernel::fdtable::FileNo;
use crate::kernel::sched::{Call, WaitKey};
use crate::kernel::wait_queue::QueueId;

/// Name of a request.
pub(crate) type RequestId = u64;

/// Entries that are done one after the other, and what is wrong with one that cannot be.
pub(crate) type Chain = VecDeque<(Sqe, Option<Errno>)>;

/// Request that was begun.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) ring: QueueId,
    /// The task that submitted it.
    pub(crate) task: TaskId,
    pub(crate) sqe: Sqe,
    /// Memory of the operation, as of a call that sleeps.
    pub(crate) call: Call,
    /// The registered file that it is about, to which it has a reference.
    pub(crate) file: Option<FileNo>,
    /// The pieces of its vector, which is read once.
    pub(crate) pieces: Option<Vec<(u64, u64)>>,
    /// The timer that it waits for.
    pub(crate) timer: Option<QueueId>,
    /// Results of the ring after which a timeout ends.
    pub(crate) awaited: Option<u64>,
    /// The request whose time it limits.
    pub(crate) limits: Option<RequestId>,
    /// It is to end with ECANCELED.
    pub(crate) cancelled: bool,
    /// Entries that begin when it is done.
    pub(crate) links: Chain,
}

impl Request {
    /// A request of the entry that begins.
    pub(crate) fn new(ring: QueueId, task: TaskId, sqe: Sqe) -> Request {
        Request {
            ring,
            task,
            sqe,
            call: Call::default(),
            file: None,
            pieces: None,
            timer: None,
            awaited: None,
            limits: None,
            cancelled: false,
            links: Chain::new(),
        }
    }

    /// Tells if it waits for time rather than for something to be done.
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self.sqe.opcode, op::TIMEOUT | op::LINK_TIMEOUT)
    }

    /// Tells if it is about a description.
    pub(crate) fn is_about(&self, file: FileNo) -> bool {
        self.file == Some(file) || self.call.files.iter().flatten().any(|(_, own)| *own == file)
    }

    fn bytes(&self) -> usize {
        let links = self.links.capacity() * size_of::<(Sqe, Option<Errno>)>();
        let pieces = self.pieces.as_ref().map_or(0, Vec::capacity) * size_of::<(u64, u64)>();
        let keys = self.call.keys.capacity() * (2 * size_of::<WaitKey>() + 16);
        size_of::<Request>() + 64 + links + pieces + keys + self.call.decided.capacity() * 8
    }
}

/// Entries that wait until others are done, IOSQE_IO_DRAIN.
#[derive(Clone, Debug)]
struct Deferred {
    ring: QueueId,
    task: TaskId,
    chain: Chain,
}

/// Numbers of requests that are asked for at every call, when there may be many.
#[derive(Clone, Debug, Default)]
struct Counts {
    bytes: u64,
    /// Those with IOSQE_IO_DRAIN.
    drains: usize,
    /// Those that wait for results.
    awaiting: usize,
    /// Those that wait for signals.
    signalled: usize,
    tasks: BTreeMap<TaskId, usize>,
}

impl Counts {
    /// Adds a request that is put in.
    fn add(&mut self, request: &Request) {
        self.bytes += request.bytes() as u64;
        self.drains += usize::from(request.sqe.has(IOSQE_IO_DRAIN));
        self.awaiting += usize::from(request.awaited.is_some());
        self.signalled += usize::from(request.call.signals != 0);
        *self.tasks.entry(request.task).or_default() += 1;
    }

    /// Takes away a request that is taken out, as it was put in.
    fn take(&mut self, request: &Request) {
        self.bytes -= request.bytes() as u64;
        self.drains -= usize::from(request.sqe.has(IOSQE_IO_DRAIN));
        self.awaiting -= usize::from(request.awaited.is_some());
        self.signalled -= usize::from(request.call.signals != 0);
        if let Some(count) = self.tasks.get_mut(&request.task) {
            *count -= 1;
            if *count == 0 {
                self.tasks.remove(&request.task);
            }
        }
    }
}

/// Every request that waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    held: BTreeMap<RequestId, Request>,
    counts: Counts,
    /// Those that limit the time of others, by these.
    limits: BTreeMap<RequestId, RequestId>,
    last: RequestId,
    waits: BTreeSet<(WaitKey, RequestId)>,
    /// Those to be tried again, by task.
    ready: BTreeSet<(TaskId, RequestId)>,
    deferred: VecDeque<Deferred>,
}

impl Requests {
    /// Tells if nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.deferred.is_empty()
    }

    /// Bytes that the requests take.
    pub(crate) fn bytes(&self) -> u64 {
        let entry = size_of::<(Sqe, Option<Errno>)>();
        let deferred = self.deferred.iter().map(|one| size_of::<Deferred>() + one.chain.capacity() * entry);
        self.counts.bytes + deferred.map(|bytes| bytes as u64).sum::<u64>()
    }

    /// Adds a request that waits on the keys of its call, or is to be tried `again` at once.
    pub(crate) fn add(&mut self, request: Request, again: bool) -> RequestId {
        self.last += 1;
        self.put_back(self.last, request, again);
        self.last
    }

    /// Puts a request back that was taken.
    pub(crate) fn put_back(&mut self, id: RequestId, request: Request, again: bool) {
        self.counts.add(&request);
        self.limits.extend(request.limits.map(|limited| (limited, id)));
        self.waits.extend(request.call.keys.iter().map(|key| (*key, id)));
        if again {
            self.ready.insert((request.task, id));
        }
        self.held.insert(id, request);
    }

    /// Takes a request out.
    pub(crate) fn take(&mut self, id: RequestId) -> Option<Request> {
        let request = self.held.remove(&id)?;
        self.counts.take(&request);
        request.limits.map(|limited| self.limits.remove(&limited));
        for key in &request.call.keys {
            self.waits.remove(&(*key, id));
        }
        self.ready.remove(&(request.task, id));
        Some(request)
    }

    /// The requests of a task that are to be tried again.
    pub(crate) fn ready(&self, task: TaskId) -> Vec<RequestId> {
        self.ready.range((task, 0)..=(task, RequestId::MAX)).map(|(_, id)| *id).collect()
    }

    /// Tells if a task has requests that wait.
    pub(crate) fn has(&self, task: TaskId) -> bool {
        let deferred = self.deferred.iter().any(|one| one.task == task);
        deferred || self.counts.tasks.contains_key(&task)
    }

    /// The requests of a ring, in the order in which they came.
    pub(crate) fn of(&self, ring: QueueId) -> impl Iterator<Item = (RequestId, &Request)> {
        self.held.iter().filter(move |(_, request)| request.ring == ring).map(|(id, request)| (*id, request))
    }

    /// Tells if any waits for results.
    pub(super) fn awaits_results(&self) -> bool {
        self.counts.awaiting > 0
    }

    /// The request that limits the time of another.
    pub(crate) fn limit_of(&self, id: RequestId) -> Option<RequestId> {
        self.limits.get(&id).copied()
    }

    /// Blocked signals that requests of a task wait for, signalfd(2).
    pub(crate) fn signals(&self, task: TaskId) -> u64 {
        if self.counts.signalled == 0 {
            return 0;
        }
        let own = self.held.values().filter(|request| request.task == task);
        own.fold(0, |all, request| all | request.call.signals)
    }

    /// Has the requests of a task that wait for signals be tried again.
    pub(super) fn signalled(&mut self, task: TaskId) {
        let waits = |request: &Request| request.task == task && request.call.signals != 0;
        let of_signals = self.held.iter().filter(|(_, request)| waits(request));
        self.ready.extend(of_signals.map(|(id, _)| (task, *id)));
    }

    /// Has those that wait on a key be tried again; their tasks.
    pub(super) fn wake(&mut self, key: WaitKey) -> Vec<TaskId> {
        let waiting = self.waits.range((key, 0)..=(key, RequestId::MAX));
        let woken: Vec<RequestId> = waiting.map(|(_, id)| *id).collect();
        self.again(woken)
    }

    /// Has requests be tried again; their tasks.
    pub(super) fn again(&mut self, ids: Vec<RequestId>) -> Vec<TaskId> {
        let tasks = ids.iter().filter_map(|id| Some((self.held.get(id)?.task, *id)));
        let found: Vec<(TaskId, RequestId)> = tasks.collect();
        self.ready.extend(found.iter().copied());
        found.into_iter().map(|(task, _)| task).collect()
    }

    /// Has a request end with ECANCELED; its task.
    pub(super) fn cancel(&mut self, id: RequestId) -> Vec<TaskId> {
        if let Some(request) = self.held.get_mut(&id) {
            request.cancelled = true;
        }
        self.again(vec![id])
    }

    /// The requests of a task, in the order in which they came.
    pub(super) fn of_task(&self, task: TaskId) -> Vec<RequestId> {
        self.held.iter().filter(|(_, request)| request.task == task).map(|(id, _)| *id).collect()
    }

    /// Drops the entries that wait of a task, or of a ring.
    pub(super) fn drop_deferred(&mut self, task: Option<TaskId>, ring: Option<QueueId>) {
        self.deferred.retain(|one| Some(one.task) != task && Some(one.ring) != ring);
    }

    /// Keeps entries until those before them are done.
    pub(crate) fn defer(&mut self, ring: QueueId, task: TaskId, chain: Chain) {
        self.deferred.push_back(Deferred { ring, task, chain });
    }

    /// Tells if entries of a ring wait until others are done.
    pub(crate) fn has_deferred(&self, ring: QueueId) -> bool {
        self.deferred.iter().any(|one| one.ring == ring)
    }

    /// Tells if entries may not begin: one that waits for all before it, or while such a one is
    /// under way.
    pub(crate) fn is_held_up(&self, ring: QueueId, chain: &Chain) -> bool {
        let drains = chain.iter().any(|(sqe, _)| sqe.has(IOSQE_IO_DRAIN));
        if !drains && self.counts.drains == 0 {
            return false;
        }
        let mut others = self.of(ring).filter(|(_, request)| !request.is_timeout());
        others.any(|(_, request)| drains || request.sqe.has(IOSQE_IO_DRAIN))
    }

    /// Takes the next entries of a task that waited and may begin now, and their ring.
    pub(crate) fn undefer(&mut self, task: TaskId) -> Option<(QueueId, Chain)> {
        let mut seen = BTreeSet::new();
        let at = self.deferred.iter().position(|one| {
            seen.insert(one.ring) && one.task == task && !self.is_held_up(one.ring, &one.chain)
        })?;
        self.deferred.remove(at).map(|one| (one.ring, one.chain))
    }

    /// Tasks whose entries come first of those of their ring that wait.
    pub(super) fn first_deferred(&self) -> BTreeSet<TaskId> {
        let mut seen = BTreeSet::new();
        self.deferred.iter().filter(|one| seen.insert(one.ring)).map(|one| one.task).collect()
    }
}
