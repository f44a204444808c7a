//! Contexts of Linux AIO, io_setup(2). Requests are done when they are submitted, so a context is
//! only the ring of their results, which lies in the program's memory.

use crate::abi::aio::*;
use crate::abi::errno::Errno;
use crate::guest::{GuestMemory, PAGE_SIZE};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array, put_u32};
use crate::kernel::wait_queue::QueueId;

/// A context. Its name is the address of its ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AioContext {
    /// Requests that were asked for, which the machine's limit counts.
    pub(crate) requests: u64,
    /// Places of the ring.
    places: u32,
    /// The place of the next result. Where the results begin is for the program to change.
    tail: u32,
    /// Queue of those who wait for results.
    pub(crate) queue: QueueId,
}

/// Offsets in the head of a ring.
const HEAD: u64 = 8;
const TAIL: u64 = 12;

impl AioContext {
    /// A context for so many requests, and the bytes of its ring; EINVAL, EAGAIN.
    pub(crate) fn new(requests: u64, queue: QueueId) -> Result<(AioContext, u64), Errno> {
        const LEAST: u64 = 4;
        let places = u64::from((requests.max(LEAST) as u32).wrapping_mul(2));
        if places > RING_MOST {
            return Err(Errno::EINVAL);
        }
        let bytes = (RING_HEAD + (places + 2) * IO_EVENT).next_multiple_of(PAGE_SIZE);
        let places = ((bytes - RING_HEAD) / IO_EVENT) as u32;
        Ok((AioContext { requests, places, tail: 0, queue }, bytes))
    }

    /// Writes the head of the ring.
    pub(crate) fn begin(&self, mem: &mut dyn GuestMemory, ring: u64) -> Result<(), Errno> {
        let words = [0, self.places, 0, 0, RING_MAGIC, 1, 0, RING_HEAD as u32];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        copy_to_user(mem, ring, &bytes)
    }

    /// Number of results in the ring, and the place of the first.
    pub(crate) fn results(&self, mem: &mut dyn GuestMemory, ring: u64) -> Result<(u32, u32), Errno> {
        let head = u32::from_le_bytes(get_array(mem, ring + HEAD)?) % self.places;
        Ok(((self.tail + self.places - head) % self.places, head))
    }

    /// Tells if a further result has a place.
    pub(crate) fn has_room(&self, mem: &mut dyn GuestMemory, ring: u64) -> Result<bool, Errno> {
        Ok(self.results(mem, ring)?.0 + 1 < self.places)
    }

    /// Adds a result: the words of a `struct io_event`.
    pub(crate) fn put(&mut self, mem: &mut dyn GuestMemory, ring: u64, event: [u64; 4]) -> Result<(), Errno> {
        let bytes: Vec<u8> = event.iter().flat_map(|word| word.to_le_bytes()).collect();
        copy_to_user(mem, ring + RING_HEAD + u64::from(self.tail) * IO_EVENT, &bytes)?;
        self.tail = (self.tail + 1) % self.places;
        put_u32(mem, ring + TAIL, self.tail)
    }

    /// Moves up to `most` results from the ring to `to`; how many those were. EFAULT.
    pub(crate) fn take(
        &self,
        mem: &mut dyn GuestMemory,
        ring: u64,
        to: u64,
        most: u64,
    ) -> Result<u64, Errno> {
        let (count, head) = self.results(mem, ring)?;
        let count = most.min(u64::from(count));
        let mut event = [0; IO_EVENT as usize];
        for at in 0..count {
            let place = (u64::from(head) + at) % u64::from(self.places);
            copy_from_user(mem, ring + RING_HEAD + place * IO_EVENT, &mut event)?;
            copy_to_user(mem, to.wrapping_add(at * IO_EVENT), &event)?;
        }
        put_u32(mem, ring + HEAD, ((u64::from(head) + count) % u64::from(self.places)) as u32)?;
        Ok(count)
    }
}
