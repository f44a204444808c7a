//! Buffers of pipes, pipe(7).

use std::collections::{BTreeMap, VecDeque};

use crate::abi::errno::Errno;

/// Key of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PipeId(pub(crate) u32);

/// Bytes a pipe holds at first, pipe(7).
const CAPACITY: usize = 65536;

/// Bytes that are written in one piece or not at all, limits.h.
pub(crate) const PIPE_BUF: usize = 4096;

/// Largest capacity an unprivileged process may ask for, `/proc/sys/fs/pipe-max-size`.
const MAX_CAPACITY: usize = 1 << 20;

/// A pipe, with the number of descriptions that hold its ends.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    pub(crate) buf: VecDeque<u8>,
    pub(crate) capacity: usize,
    pub(crate) readers: u32,
    pub(crate) writers: u32,
    /// Inode number shown to the guest.
    pub(crate) number: u64,
}

impl Pipe {
    /// Bytes that can be written now.
    pub(crate) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.buf.len())
    }

    /// Sets the capacity to `wanted` bytes or more, F_SETPIPE_SZ; EPERM, EBUSY.
    pub(crate) fn set_capacity(&mut self, wanted: usize) -> Result<(), Errno> {
        if wanted > MAX_CAPACITY {
            return Err(Errno::EPERM);
        }
        let capacity = wanted.max(4096).next_power_of_two();
        if capacity < self.buf.len() {
            return Err(Errno::EBUSY);
        }
        self.capacity = capacity;
        Ok(())
    }

    /// Takes bytes out.
    pub(crate) fn take(&mut self, out: &mut [u8]) -> usize {
        let count = out.len().min(self.buf.len());
        for (to, from) in out.iter_mut().zip(self.buf.drain(..count)) {
            *to = from;
        }
        count
    }
}

/// Every pipe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipes {
    held: BTreeMap<PipeId, Pipe>,
    last: u32,
}

impl Pipes {
    /// A new, empty pipe with nobody at its ends.
    pub(crate) fn add(&mut self, number: u64) -> PipeId {
        self.last += 1;
        let pipe = Pipe { buf: VecDeque::new(), capacity: CAPACITY, readers: 0, writers: 0, number };
        self.held.insert(PipeId(self.last), pipe);
        PipeId(self.last)
    }

    pub(crate) fn get(&self, id: PipeId) -> Option<&Pipe> {
        self.held.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: PipeId) -> Option<&mut Pipe> {
        self.held.get_mut(&id)
    }

    /// Counts a description at the ends it holds.
    pub(crate) fn open(&mut self, id: PipeId, read: bool, write: bool) {
        if let Some(pipe) = self.held.get_mut(&id) {
            pipe.readers += u32::from(read);
            pipe.writers += u32::from(write);
        }
    }

    /// The reverse of `open`; with nobody left at either end the pipe goes, and this is true.
    pub(crate) fn close(&mut self, id: PipeId, read: bool, write: bool) -> bool {
        let Some(pipe) = self.held.get_mut(&id) else { return true };
        pipe.readers = pipe.readers.saturating_sub(u32::from(read));
        pipe.writers = pipe.writers.saturating_sub(u32::from(write));
        let gone = pipe.readers == 0 && pipe.writers == 0;
        if gone {
            self.held.remove(&id);
        }
        gone
    }
}
