//! Pipes, pipe(7). Like those of Linux they hold pages, each with the bytes of one or more writes,
//! so that they are full when Linux's are.

use std::collections::VecDeque;

use crate::abi::errno::Errno;
use crate::kernel::fasync::Reason;
use crate::kernel::slab::{Charged, Slab};
use crate::kernel::wait_queue::{QueueId, WaitQueues};

/// Key of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PipeId(pub(crate) u32);

/// Bytes of a page.
pub(crate) const PIPE_PAGE: usize = 4096;

/// Pages a pipe holds at first, pipe(7).
const PAGES: usize = 16;

/// Largest capacity in bytes an unprivileged process may ask for, `/proc/sys/fs/pipe-max-size`.
const MAX_CAPACITY: usize = 1 << 20;

/// Pages a pipe holds at first once those of the user hold `USER_PAGES` (`PIPE_MIN_DEF_BUFFERS`).
const MIN_PAGES: usize = 2;

/// Pages that the pipes of an unprivileged user may hold together,
/// `/proc/sys/fs/pipe-user-pages-soft`.
const USER_PAGES: usize = 16_384;

/// A page of a pipe.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    bytes: Vec<u8>,
    /// Bytes that were taken out.
    taken: usize,
    /// A further write may join it.
    merges: bool,
    /// It is a message of packet mode (O_DIRECT): what a read leaves of it is lost.
    packet: bool,
}

impl Page {
    /// A page that no write joins, as splice(2) and tee(2) make them.
    pub(crate) fn spliced(bytes: Vec<u8>) -> Page {
        Page { bytes, taken: 0, merges: false, packet: false }
    }

    /// The bytes that are still in it.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Its first bytes.
    fn part(&self, count: usize) -> Page {
        Page { bytes: self.rest()[..count].to_vec(), taken: 0, merges: self.merges, packet: self.packet }
    }
}

/// A pipe, with the number of descriptions that hold its ends.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    pages: VecDeque<Page>,
    max_pages: usize,
    pub(crate) readers: u32,
    pub(crate) writers: u32,
    /// Times that it was opened for reading and for writing.
    pub(crate) reader_count: u64,
    pub(crate) writer_count: u64,
    /// Inode number shown to the guest.
    pub(crate) number: u64,
    /// Queue of those who wait at its ends.
    pub(crate) queue: QueueId,
}

impl Charged for Pipe {
    /// Whole pages, whatever is in them.
    fn charge(&self) -> u64 {
        (self.pages.len() * (PIPE_PAGE + size_of::<Page>() + 16)) as u64
    }

    fn vacant() -> Pipe {
        let (queue, pages) = (QueueId::default(), VecDeque::new());
        let (readers, writers, reader_count, writer_count) = (0, 0, 0, 0);
        Pipe { pages, max_pages: 0, readers, writers, reader_count, writer_count, number: 0, queue }
    }
}

impl Pipe {
    /// Bytes in it.
    pub(crate) fn len(&self) -> usize {
        self.pages.iter().map(|page| page.rest().len()).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.pages.len() >= self.max_pages
    }

    /// Pages that may still be added.
    pub(crate) fn free_pages(&self) -> usize {
        self.max_pages.saturating_sub(self.pages.len())
    }

    /// Bytes that it may hold, F_GETPIPE_SZ.
    pub(crate) fn capacity(&self) -> usize {
        self.max_pages * PIPE_PAGE
    }

    /// Sets the capacity to `wanted` bytes or more, but to `most` pages if that is more than now.
    fn set_capacity(&mut self, wanted: usize, most: usize) -> Result<(), Errno> {
        if wanted > 1 << 31 {
            return Err(Errno::EINVAL);
        }
        let pages = wanted.div_ceil(PIPE_PAGE).max(1).next_power_of_two();
        if pages > self.max_pages && (pages * PIPE_PAGE > MAX_CAPACITY || pages > most) {
            return Err(Errno::EPERM);
        }
        if pages < self.pages.len() {
            return Err(Errno::EBUSY);
        }
        self.max_pages = pages;
        Ok(())
    }

    /// Puts in what there is room for; returns how much that was. In packet mode each page is a
    /// message of its own.
    pub(crate) fn put(&mut self, bytes: &[u8], packet: bool) -> usize {
        let mut done = 0;
        let odd = bytes.len() % PIPE_PAGE;
        if let Some(last) = self.pages.back_mut()
            && odd > 0
            && last.merges
            && last.bytes.len() + odd <= PIPE_PAGE
        {
            last.bytes.reserve_exact(odd);
            last.bytes.extend_from_slice(&bytes[..odd]);
            done = odd;
        }
        while done < bytes.len() && !self.is_full() {
            let count = (bytes.len() - done).min(PIPE_PAGE);
            let bytes = bytes[done..done + count].to_vec();
            self.pages.push_back(Page { bytes, taken: 0, merges: !packet, packet });
            done += count;
        }
        done
    }

    /// Adds a page, if there is room.
    pub(crate) fn put_page(&mut self, page: Page) {
        if !page.rest().is_empty() && !self.is_full() {
            self.pages.push_back(page);
        }
    }

    /// Takes out as many bytes as fit, but of packets one.
    pub(crate) fn take(&mut self, out: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(page) = self.pages.front_mut().filter(|_| done < out.len()) {
            let count = page.rest().len().min(out.len() - done);
            out[done..done + count].copy_from_slice(&page.rest()[..count]);
            page.taken += count;
            done += count;
            let packet = page.packet;
            if packet || page.rest().is_empty() {
                self.pages.pop_front();
            }
            if packet {
                break;
            }
        }
        done
    }

    /// Takes out a page, or the first `max` bytes of it as one that no write joins.
    pub(crate) fn take_page(&mut self, max: usize) -> Option<Page> {
        let page = self.pages.front_mut()?;
        if page.rest().len() <= max {
            return self.pages.pop_front();
        }
        let part = Page { merges: false, ..page.part(max) };
        page.taken += max;
        Some(part)
    }

    /// Copies of the first pages, `max` bytes at most, that no write joins.
    pub(crate) fn copies(&self, max: usize) -> Vec<Page> {
        let mut left = max;
        let mut copies = Vec::new();
        for page in &self.pages {
            let count = page.rest().len().min(left);
            if count == 0 {
                break;
            }
            left -= count;
            copies.push(Page { merges: false, ..page.part(count) });
        }
        copies
    }
}

/// Every pipe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipes {
    held: Slab<Pipe>,
    /// Pages that all may hold together.
    max_pages: usize,
}

impl Pipes {
    /// A new, empty pipe with nobody at its ends.
    pub(crate) fn add(&mut self, number: u64, queues: &mut WaitQueues) -> PipeId {
        let queue = queues.add();
        let max_pages = if self.max_pages + PAGES > USER_PAGES { MIN_PAGES } else { PAGES };
        self.max_pages += max_pages;
        PipeId(self.held.insert(Pipe { max_pages, number, queue, ..Pipe::vacant() }))
    }

    /// A pipe that somebody holds.
    pub(crate) fn get(&self, id: PipeId) -> Option<&Pipe> {
        Some(self.held.get(id.0)).filter(|pipe| pipe.max_pages > 0)
    }

    /// Puts bytes back that were taken and could not be stored anywhere.
    pub(crate) fn give_back(&mut self, id: PipeId, bytes: &[u8]) {
        if let (Some(pipe), 1..) = (self.get_mut(id), bytes.len()) {
            pipe.pages.push_front(Page::spliced(bytes.to_vec()));
        }
    }

    /// A pipe that somebody holds, to be changed.
    pub(crate) fn get_mut(&mut self, id: PipeId) -> Option<&mut Pipe> {
        Some(self.held.get_mut(id.0)).filter(|pipe| pipe.max_pages > 0)
    }

    /// Sets the capacity of a pipe to `wanted` bytes or more, F_SETPIPE_SZ; EINVAL, EPERM, EBUSY.
    pub(crate) fn set_capacity(&mut self, id: PipeId, wanted: usize) -> Result<(), Errno> {
        let room = USER_PAGES.saturating_sub(self.max_pages);
        let pipe = self.get_mut(id).ok_or(Errno::EBADF)?;
        let before = pipe.max_pages;
        pipe.set_capacity(wanted, before + room)?;
        let after = pipe.max_pages;
        self.max_pages = self.max_pages - before + after;
        Ok(())
    }

    /// Bytes that the pipes take.
    pub(super) fn charged(&mut self) -> u64 {
        self.held.charged()
    }

    /// Counts a description at the ends it holds.
    pub(crate) fn open(&mut self, id: PipeId, read: bool, write: bool) {
        if let Some(pipe) = self.get_mut(id) {
            pipe.readers += u32::from(read);
            pipe.writers += u32::from(write);
            pipe.reader_count += u64::from(read);
            pipe.writer_count += u64::from(write);
        }
    }

    /// The reverse of `open`; with nobody left at either end the pipe goes, and this is true.
    pub(crate) fn close(&mut self, id: PipeId, read: bool, write: bool, queues: &mut WaitQueues) -> bool {
        let Some(pipe) = self.get_mut(id) else { return true };
        pipe.readers = pipe.readers.saturating_sub(u32::from(read));
        pipe.writers = pipe.writers.saturating_sub(u32::from(write));
        let gone = pipe.readers == 0 && pipe.writers == 0;
        if gone {
            self.max_pages -= self.held.remove(id.0).max_pages;
        } else if pipe.readers == 0 || pipe.writers == 0 {
            queues.wake(pipe.queue, 0);
            queues.fasync.notify(pipe.queue, Reason::In);
            queues.fasync.notify(pipe.queue, Reason::Out);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> (Pipes, PipeId) {
        let mut pipes = Pipes::default();
        let id = pipes.add(1, &mut WaitQueues::default());
        (pipes, id)
    }

    /// Linux joins a write to the last page only where its odd bytes fit: sixteen of 3000 bytes
    /// fill a pipe of 64 KiB.
    #[test]
    fn a_pipe_is_full_by_pages() {
        let (mut pipes, id) = pipe();
        let pipe = pipes.get_mut(id).unwrap();
        let fits = (0..40).take_while(|_| pipe.put(&[1; 3000], false) == 3000).count();
        assert_eq!((fits, pipe.len(), pipe.is_full()), (16, 48_000, true));
        assert_eq!(pipe.put(&[1; 1000], false), 1000, "joins the last page");
        assert_eq!(pipe.take(&mut [0; 3001]), 3001);
        assert_eq!(pipe.put(&[1; 9000], false), 4096);
    }

    #[test]
    fn a_read_takes_one_packet_and_drops_its_rest() {
        let (mut pipes, id) = pipe();
        let pipe = pipes.get_mut(id).unwrap();
        assert_eq!((pipe.put(b"one", true), pipe.put(b"two", true)), (3, 3));
        let mut out = [0; 2];
        assert_eq!((pipe.take(&mut out), out, pipe.len()), (2, *b"on", 3));
        assert_eq!(pipe.take(&mut [0; 9]), 3);
        assert!(pipe.is_empty());
    }

    #[test]
    fn capacities_are_powers_of_two() {
        let (mut pipes, id) = pipe();
        assert_eq!(pipes.set_capacity(id, 5000), Ok(()));
        assert_eq!(pipes.get(id).unwrap().capacity(), 8192);
        assert_eq!(pipes.set_capacity(id, (1 << 31) + 1), Err(Errno::EINVAL));
        assert_eq!(pipes.get_mut(id).unwrap().put(&[1; 8192], false), 8192);
        assert_eq!(pipes.set_capacity(id, 1), Err(Errno::EBUSY));
    }

    /// pipe(7) of `/proc/sys/fs/pipe-user-pages-soft`, and `PIPE_MIN_DEF_BUFFERS`.
    #[test]
    fn a_users_pipes_have_their_pages_together() {
        let mut pipes = Pipes::default();
        let mut queues = WaitQueues::default();
        let ids: Vec<PipeId> = (0..1100).map(|_| pipes.add(1, &mut queues)).collect();
        let capacity = |pipes: &Pipes, at: usize| pipes.get(ids[at]).unwrap().capacity();
        assert_eq!((capacity(&pipes, 1023), capacity(&pipes, 1024)), (65_536, 8192));
        assert_eq!(pipes.set_capacity(ids[0], 1 << 20), Err(Errno::EPERM));
        assert_eq!(pipes.set_capacity(ids[0], 4096), Ok(()));
        for id in &ids[1..200] {
            pipes.open(*id, true, false);
            assert!(pipes.close(*id, true, false, &mut queues));
            assert!(pipes.get(*id).is_none());
        }
        assert_eq!(pipes.set_capacity(ids[0], 1 << 20), Ok(()));
        let last = pipes.add(2, &mut queues);
        assert_eq!(pipes.get(last).map(Pipe::capacity), Some(65_536));
    }
}
