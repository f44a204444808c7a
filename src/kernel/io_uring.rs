//! Rings of io_uring_setup(2), `struct io_ring_ctx`: the memory that they share with programs, and
//! what is registered with them.
//!
//! The program may change its side at any time. So the kernel's own places are kept here, and an
//! index that is read there is masked or checked before it is used.

use std::collections::{BTreeMap, VecDeque};

use crate::abi::errno::Errno;
use crate::abi::fs::{POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM};
use crate::abi::io_uring::*;
use crate::guest::{GuestMemory, ObjectId, PAGE_SIZE};
use crate::kernel::arena::TaskId;
use crate::kernel::fdtable::FileNo;
use crate::kernel::wait_queue::QueueId;

/// Offsets in the memory of the rings, `struct io_rings`.
const SQ_HEAD: u64 = 0;
const SQ_TAIL: u64 = 64;
const CQ_HEAD: u64 = 128;
const CQ_TAIL: u64 = 192;
const SQ_MASK: u64 = 256;
const CQ_MASK: u64 = 260;
const SQ_ENTRIES: u64 = 264;
const CQ_ENTRIES: u64 = 268;
const SQ_DROPPED: u64 = 272;
const SQ_FLAGS: u64 = 276;
const CQ_FLAGS: u64 = 280;
const CQ_OVERFLOW: u64 = 284;
const CQES: u64 = 320;

/// Limits of what a ring may be asked for, IORING_REGISTER_RESTRICTIONS.
#[derive(Clone, Debug)]
pub(crate) struct Restrictions {
    /// Commands of io_uring_register(2), a bit for each.
    pub(crate) commands: u64,
    /// Operations, a bit for each.
    pub(crate) operations: u64,
    /// Flags of entries that may be set, and those that must be.
    pub(crate) allowed: u8,
    pub(crate) required: u8,
}

/// A ring.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// IORING_SETUP_*.
    pub(crate) flags: u32,
    pub(crate) sq_entries: u32,
    pub(crate) cq_entries: u32,
    rings: ObjectId,
    sqes: ObjectId,
    /// The next entry to take, and the place of the next result.
    sq_head: u32,
    cq_tail: u32,
    /// Results that had no room.
    overflow: VecDeque<Cqe>,
    /// Results so far but for those of timeouts, which wait for them.
    pub(crate) completions: u64,
    /// Not enabled yet, IORING_SETUP_R_DISABLED.
    pub(crate) disabled: bool,
    /// The task that alone may submit, IORING_SETUP_SINGLE_ISSUER.
    pub(crate) submitter: Option<TaskId>,
    /// Registered files; a place may be empty.
    pub(crate) files: Option<Vec<Option<FileNo>>>,
    /// Registered buffers: address and length.
    pub(crate) buffers: Option<Vec<(u64, u64)>>,
    /// The eventfd that counts results.
    pub(crate) eventfd: Option<FileNo>,
    pub(crate) restrictions: Option<Restrictions>,
}

impl Ring {
    /// A ring of so many entries and results, powers of two; ENOMEM.
    pub(crate) fn new(
        mem: &mut dyn GuestMemory,
        sq_entries: u32,
        cq_entries: u32,
        flags: u32,
    ) -> Result<Ring, Errno> {
        let [rings, sqes] = Ring::memory(sq_entries, cq_entries).map(|len| mem.object_create(len, None));
        let ring = Ring {
            flags,
            sq_entries,
            cq_entries,
            rings,
            sqes,
            sq_head: 0,
            cq_tail: 0,
            overflow: VecDeque::new(),
            completions: 0,
            disabled: flags & IORING_SETUP_R_DISABLED != 0,
            submitter: None,
            files: None,
            buffers: None,
            eventfd: None,
            restrictions: None,
        };
        let words = [
            (SQ_MASK, sq_entries - 1),
            (CQ_MASK, cq_entries - 1),
            (SQ_ENTRIES, sq_entries),
            (CQ_ENTRIES, cq_entries),
        ];
        for (at, word) in words {
            if ring.store(mem, at, word).is_err() {
                ring.release(mem);
                return Err(Errno::ENOMEM);
            }
        }
        Ok(ring)
    }

    /// Bytes of memory that the rings and the entries of so many take, in whole pages.
    pub(crate) fn memory(sq_entries: u32, cq_entries: u32) -> [u64; 2] {
        let rings = Ring::array_offset(cq_entries) + u64::from(sq_entries) * 4;
        [rings, u64::from(sq_entries) * SQE as u64].map(|len| len.next_multiple_of(PAGE_SIZE))
    }

    /// Gives its memory up; mappings keep theirs.
    fn release(&self, mem: &mut dyn GuestMemory) {
        mem.object_release(self.rings);
        mem.object_release(self.sqes);
    }

    fn array_offset(cq_entries: u32) -> u64 {
        CQES + u64::from(cq_entries) * CQE
    }

    /// `struct io_sqring_offsets` and `struct io_cqring_offsets`.
    pub(crate) fn offsets(&self) -> [u32; 20] {
        let array = Ring::array_offset(self.cq_entries);
        let sq = [SQ_HEAD, SQ_TAIL, SQ_MASK, SQ_ENTRIES, SQ_FLAGS, SQ_DROPPED, array, 0, 0, 0];
        let cq = [CQ_HEAD, CQ_TAIL, CQ_MASK, CQ_ENTRIES, CQ_OVERFLOW, CQES, CQ_FLAGS, 0, 0, 0];
        std::array::from_fn(|at| sq.iter().chain(&cq).nth(at).map_or(0, |offset| *offset as u32))
    }

    /// The memory behind an offset of mmap(2), for so many bytes; EINVAL.
    pub(crate) fn mapped(&self, mem: &mut dyn GuestMemory, offset: u64, len: u64) -> Result<ObjectId, Errno> {
        let object = match offset {
            IORING_OFF_SQ_RING | IORING_OFF_CQ_RING => self.rings,
            IORING_OFF_SQES => self.sqes,
            _ => return Err(Errno::EINVAL),
        };
        if len > mem.object_len(object) { Err(Errno::EINVAL) } else { Ok(object) }
    }

    fn load(&self, mem: &mut dyn GuestMemory, at: u64) -> u32 {
        let mut bytes = [0; 4];
        let read = mem.object_read(self.rings, at, &mut bytes);
        if read.is_ok() { u32::from_le_bytes(bytes) } else { 0 }
    }

    fn store(&self, mem: &mut dyn GuestMemory, at: u64, word: u32) -> Result<(), Errno> {
        Ok(mem.object_write(self.rings, at, &word.to_le_bytes()).map(|_| ())?)
    }

    /// Number of entries that wait to be taken.
    pub(crate) fn submitted(&self, mem: &mut dyn GuestMemory) -> u32 {
        self.load(mem, SQ_TAIL).wrapping_sub(self.sq_head).min(self.sq_entries)
    }

    /// Takes the next entry; `None` if the place that the program names for it is none, which is
    /// counted. The program sees that it is taken with `commit`.
    pub(crate) fn take(&mut self, mem: &mut dyn GuestMemory) -> Option<Sqe> {
        let at = Ring::array_offset(self.cq_entries) + u64::from(self.sq_head & (self.sq_entries - 1)) * 4;
        self.sq_head = self.sq_head.wrapping_add(1);
        let index = self.load(mem, at);
        let mut bytes = [0; SQE];
        let there = index < self.sq_entries
            && mem.object_read(self.sqes, u64::from(index) * SQE as u64, &mut bytes).is_ok();
        if !there {
            let dropped = self.load(mem, SQ_DROPPED).wrapping_add(1);
            let _ = self.store(mem, SQ_DROPPED, dropped);
            return None;
        }
        Some(Sqe::parse(&bytes))
    }

    /// Shows the program what was taken.
    pub(crate) fn commit(&self, mem: &mut dyn GuestMemory) {
        // Without memory the run ends before the program sees it.
        let _ = self.store(mem, SQ_HEAD, self.sq_head);
    }

    /// Number of results that the program has not taken.
    pub(crate) fn results(&self, mem: &mut dyn GuestMemory) -> u32 {
        self.cq_tail.wrapping_sub(self.load(mem, CQ_HEAD))
    }

    /// Adds a result, or keeps it until there is room.
    fn post(&mut self, mem: &mut dyn GuestMemory, cqe: Cqe) {
        if !self.overflow.is_empty() || !self.put(mem, &cqe) {
            self.overflow.push_back(cqe);
            let flags = self.load(mem, SQ_FLAGS) | IORING_SQ_CQ_OVERFLOW;
            let _ = self.store(mem, SQ_FLAGS, flags);
        }
    }

    fn put(&mut self, mem: &mut dyn GuestMemory, cqe: &Cqe) -> bool {
        if self.results(mem) >= self.cq_entries {
            return false;
        }
        let at = CQES + u64::from(self.cq_tail & (self.cq_entries - 1)) * CQE;
        let next = self.cq_tail.wrapping_add(1);
        let written = mem.object_write(self.rings, at, &cqe.bytes()).is_ok();
        let put = written && self.store(mem, CQ_TAIL, next).is_ok();
        if put {
            self.cq_tail = next;
        }
        put
    }

    /// Moves results that had no room to where there is some now.
    pub(crate) fn flush(&mut self, mem: &mut dyn GuestMemory) {
        while let Some(cqe) = self.overflow.front().copied() {
            if !self.put(mem, &cqe) {
                return;
            }
            self.overflow.pop_front();
            if self.overflow.is_empty() {
                let flags = self.load(mem, SQ_FLAGS) & !IORING_SQ_CQ_OVERFLOW;
                let _ = self.store(mem, SQ_FLAGS, flags);
            }
        }
    }

    /// Tells if results still wait for room.
    pub(crate) fn has_overflow(&self) -> bool {
        !self.overflow.is_empty()
    }

    /// Events of poll(2) that are ready.
    pub(crate) fn ready(&self, mem: &mut dyn GuestMemory) -> u16 {
        let full = self.load(mem, SQ_TAIL).wrapping_sub(self.sq_head) == self.sq_entries;
        let readable = self.results(mem) != 0 || self.has_overflow();
        let write = if full { 0 } else { POLLOUT | POLLWRNORM };
        if readable { write | POLLIN | POLLRDNORM } else { write }
    }

    /// The files that it refers to.
    fn held(self) -> Vec<FileNo> {
        self.files.into_iter().flatten().flatten().chain(self.eventfd).collect()
    }

    fn bytes(&self) -> usize {
        let files = self.files.as_ref().map_or(0, Vec::len) * size_of::<Option<FileNo>>();
        let buffers = self.buffers.as_ref().map_or(0, Vec::len) * size_of::<(u64, u64)>();
        size_of::<Ring>() + 64 + files + buffers + self.overflow.len() * size_of::<Cqe>()
    }
}

/// Every ring, by the queue that wakes for its results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rings {
    held: BTreeMap<QueueId, Ring>,
    /// Rings that are closed, whose requests are still to be cancelled.
    closed: Vec<QueueId>,
}

impl Rings {
    /// Bytes that the rings take beside the memory that they share.
    pub(crate) fn bytes(&self) -> u64 {
        self.held.values().map(|ring| ring.bytes() as u64).sum()
    }

    /// Adds a ring.
    pub(crate) fn add(&mut self, queue: QueueId, ring: Ring) {
        self.held.insert(queue, ring);
    }

    pub(crate) fn get(&self, queue: QueueId) -> Option<&Ring> {
        self.held.get(&queue)
    }

    pub(crate) fn get_mut(&mut self, queue: QueueId) -> Option<&mut Ring> {
        self.held.get_mut(&queue)
    }

    /// Adds a result to a ring, if it is still there. Returns the eventfd to be told of it.
    pub(crate) fn post(&mut self, queue: QueueId, mem: &mut dyn GuestMemory, cqe: Cqe) -> Option<FileNo> {
        let ring = self.held.get_mut(&queue)?;
        ring.post(mem, cqe);
        let told = ring.load(mem, CQ_FLAGS) & IORING_CQ_EVENTFD_DISABLED == 0;
        ring.eventfd.filter(|_| told)
    }

    /// Drops a ring; returns the files that it referred to.
    pub(crate) fn close(&mut self, queue: QueueId, mem: &mut dyn GuestMemory) -> Vec<FileNo> {
        let Some(ring) = self.held.remove(&queue) else { return Vec::new() };
        ring.release(mem);
        self.closed.push(queue);
        ring.held()
    }

    /// Takes the rings that were closed since the last time.
    pub(crate) fn take_closed(&mut self) -> Vec<QueueId> {
        std::mem::take(&mut self.closed)
    }
}
