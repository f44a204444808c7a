//! The bytes of a regular file: the host's, pages of the overlay above them, or an object of guest
//! memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::guest::{GuestMemory, ObjectId, PageSource};
use crate::kernel::vfs::host;
use crate::kernel::vfs::host_handle::HostHandle;

/// Bytes in a page of an overlay file; the smallest hole there is.
pub(crate) const PAGE: u64 = 4096;

/// Longest file, as ext4 and x86-64 have it.
pub(crate) const MAX_LEN: u64 = i64::MAX as u64;

type Page = [u8; PAGE as usize];

/// Content of a regular file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A file of the host, open if anybody has it open.
    Host(Option<HostFile>),
    /// Pages of the overlay.
    Pages(Pages),
    /// An object that mappings share.
    Object(Object),
}

/// The part of a file of the host that shows through: its first bytes, as many as the number says.
pub(crate) type Base = (Arc<HostHandle>, u64);

/// A file whose bytes are an object of guest memory.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    pub(crate) len: u64,
    /// The file of the host below the pages that were touched.
    pub(crate) base: Option<Base>,
    /// Changes go to the file below: calls change both, stores through a mapping are written back.
    /// All of the file shows.
    pub(crate) through: bool,
}

impl Object {
    /// The file of the host that changes go to.
    pub(crate) fn behind(&self) -> Option<&Arc<HostHandle>> {
        self.base.as_ref().filter(|_| self.through).map(|(file, _)| file)
    }

    /// Offset of the next data (`data`) or the next hole, lseek(2); ENXIO past the end.
    pub(crate) fn seek(&self, offset: u64, data: bool, mem: &dyn GuestMemory) -> Result<u64, Errno> {
        seek(self.len, self.base.as_ref(), |from| mem.object_next_page(self.id, from), offset, data)
    }

    /// The bytes as they are now. Pages that were not touched stay on the host.
    pub(crate) fn snapshot(&self, mem: &mut dyn GuestMemory) -> Result<Pages, Errno> {
        let base = self.base.as_ref().map(|(file, visible)| (file.clone(), (*visible).min(self.len)));
        let mut pages = Pages { len: self.len, base, map: Arc::default() };
        let mut buf = [0; PAGE as usize];
        let mut from = 0;
        while let Some(at) = mem.object_next_page(self.id, from) {
            let count = mem.object_read(self.id, at, &mut buf)?;
            if count == 0 {
                break;
            }
            pages.write(at, &buf[..count], u64::MAX)?;
            from = at + PAGE;
        }
        Ok(pages)
    }
}

/// An open file of the host.
#[derive(Clone, Debug)]
pub(crate) struct HostFile {
    pub(crate) file: Arc<HostHandle>,
    pub(crate) write: bool,
}

/// A file of the overlay: pages that were written, above the visible part of a file of the host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    len: u64,
    base: Option<Base>,
    map: Arc<BTreeMap<u64, Arc<Page>>>,
}

impl Pages {
    /// A file that begins as a copy of `file`, of which nothing is copied yet.
    pub(crate) fn over(file: Arc<HostHandle>, len: u64) -> Pages {
        Pages { len, base: Some((file, len)), map: Arc::default() }
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of memory that the pages take.
    pub(crate) fn memory(&self) -> u64 {
        self.map.len() as u64 * PAGE
    }

    /// Bytes that the pages take on the host, with their places.
    pub(crate) fn charge(&self) -> u64 {
        self.map.len() as u64 * (PAGE + 48)
    }

    /// The file of the host below.
    pub(crate) fn base(&self) -> Option<&Base> {
        self.base.as_ref()
    }

    /// The pages that were written, each with its offset.
    pub(crate) fn written(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.map.iter().map(|(page, bytes)| (page * PAGE, &**bytes))
    }

    /// Bytes on the disk that the file would take.
    pub(crate) fn allocated(&self) -> u64 {
        let base = self.base.as_ref().map_or(0, |base| base.1);
        self.memory().max(base)
    }

    fn load(&self, page: u64, buf: &mut Page) -> Result<(), Errno> {
        if let Some(bytes) = self.map.get(&page) {
            *buf = **bytes;
            return Ok(());
        }
        buf.fill(0);
        self.load_base(page * PAGE, buf)
    }

    fn load_base(&self, offset: u64, buf: &mut [u8]) -> Result<(), Errno> {
        if let Some((file, len)) = &self.base
            && offset < *len
        {
            let count = (buf.len() as u64).min(len - offset) as usize;
            host::read_at(&*file.file()?, offset, &mut buf[..count])?;
        }
        Ok(())
    }

    /// Reads until `buf` is full or the file ends; 0 at its end.
    pub(crate) fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        let count = (buf.len() as u64).min(self.len.saturating_sub(offset)) as usize;
        let mut done = 0;
        while done < count {
            let at = offset + done as u64;
            let (page, within) = (at / PAGE, (at % PAGE) as usize);
            let piece = (PAGE as usize - within).min(count - done);
            let out = &mut buf[done..done + piece];
            match self.map.get(&page) {
                Some(bytes) => out.copy_from_slice(&bytes[within..within + piece]),
                None => {
                    out.fill(0);
                    self.load_base(at, out)?;
                }
            }
            done += piece;
        }
        Ok(count)
    }

    /// Writes within `room` further bytes of memory; returns how many bytes fitted, ENOSPC if none
    /// did.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8], mut room: u64) -> Result<usize, Errno> {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let (page, within) = (at / PAGE, (at % PAGE) as usize);
            let piece = (PAGE as usize - within).min(bytes.len() - done);
            if !self.map.contains_key(&page) {
                if room < PAGE {
                    break;
                }
                room -= PAGE;
                let mut fresh = [0; PAGE as usize];
                if piece < PAGE as usize {
                    self.load(page, &mut fresh)?;
                }
                Arc::make_mut(&mut self.map).insert(page, Arc::new(fresh));
            }
            if let Some(held) = Arc::make_mut(&mut self.map).get_mut(&page) {
                Arc::make_mut(held)[within..within + piece].copy_from_slice(&bytes[done..done + piece]);
            }
            done += piece;
        }
        if done == 0 && !bytes.is_empty() {
            return Err(Errno::ENOSPC);
        }
        self.len = self.len.max(offset + done as u64);
        Ok(done)
    }

    /// Cuts or extends; bytes that were cut read as zero if the file grows again.
    pub(crate) fn resize(&mut self, len: u64) {
        if len < self.len {
            if let Some(base) = &mut self.base {
                base.1 = base.1.min(len);
            }
            let map = Arc::make_mut(&mut self.map);
            drop(map.split_off(&len.div_ceil(PAGE)));
            if let Some(last) = map.get_mut(&(len / PAGE)) {
                Arc::make_mut(last)[(len % PAGE) as usize..].fill(0);
            }
        }
        self.len = len;
    }

    /// Makes a range read as zero. Pages that lie above nothing are dropped.
    pub(crate) fn punch(&mut self, offset: u64, len: u64, room: u64) -> Result<(), Errno> {
        let end = offset.saturating_add(len).min(self.len);
        let mut at = offset;
        while at < end {
            let within = at % PAGE;
            let piece = (PAGE - within).min(end - at);
            let covered = self.base.as_ref().is_some_and(|base| at / PAGE * PAGE < base.1);
            if piece == PAGE && !covered {
                // Whole pages above nothing: drop what is there and go on at the next page that
                // exists.
                let map = Arc::make_mut(&mut self.map);
                map.remove(&(at / PAGE));
                let next = map.range(at / PAGE..).next().map_or(end, |(page, _)| page * PAGE);
                at = next.max(at + piece);
                continue;
            }
            if covered || self.map.contains_key(&(at / PAGE)) {
                self.write(at, &[0; PAGE as usize][..piece as usize], room.saturating_sub(self.memory()))?;
            }
            at += piece;
        }
        Ok(())
    }

    /// Offset of the next data (`data`) or the next hole, lseek(2); ENXIO past the end.
    pub(crate) fn seek(&self, offset: u64, data: bool) -> Result<u64, Errno> {
        let next = |from| self.map.range(from / PAGE..).next().map(|(page, _)| page * PAGE);
        seek(self.len, self.base.as_ref(), next, offset, data)
    }
}

/// lseek(2) in a file of `len` bytes made of pages above a file of the host. `next_page` gives the
/// first page that ends behind an offset.
fn seek(
    len: u64,
    base: Option<&Base>,
    next_page: impl Fn(u64) -> Option<u64>,
    offset: u64,
    data: bool,
) -> Result<u64, Errno> {
    if offset >= len {
        return Err(Errno::ENXIO);
    }
    let mut at = offset;
    while at < len {
        let next = next_page(at).unwrap_or(len);
        if next <= at {
            if data {
                return Ok(at);
            }
            at = (at / PAGE + 1) * PAGE;
            continue;
        }
        let Some((file, visible)) = base.filter(|base| at < base.1) else {
            if !data {
                return Ok(at);
            }
            at = next;
            continue;
        };
        let found = file.file().and_then(|file| host::seek(&file, at, data));
        let found = match found {
            Err(host::NO_DESCRIPTOR) => return Err(host::NO_DESCRIPTOR),
            found => found.unwrap_or(u64::MAX),
        };
        let end = next.min(*visible);
        if found < end {
            return Ok(found.max(offset));
        }
        at = end;
    }
    if data { Err(Errno::ENXIO) } else { Ok(len) }
}

impl PageSource for Pages {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        self.read(offset, buf).map_err(|errno| std::io::Error::from_raw_os_error(errno.0.into()))
    }

    fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_and_growing_shows_zeros_and_frees_pages() {
        let mut pages = Pages::default();
        pages.write(10, b"hello", u64::MAX).unwrap();
        pages.resize(12);
        pages.resize(1 << 40);
        let mut buf = [1; 20];
        assert_eq!(pages.read(0, &mut buf).unwrap(), 20);
        assert_eq!(&buf[..], b"\0\0\0\0\0\0\0\0\0\0he\0\0\0\0\0\0\0\0");
        assert_eq!(pages.memory(), PAGE);
        pages.resize(0);
        assert_eq!((pages.memory(), pages.len()), (0, 0));
    }

    #[test]
    fn holes_and_data_are_found() {
        let mut pages = Pages::default();
        pages.write(3 * PAGE, b"x", u64::MAX).unwrap();
        pages.resize(10 * PAGE);
        assert_eq!(pages.seek(0, true), Ok(3 * PAGE));
        assert_eq!(pages.seek(0, false), Ok(0));
        assert_eq!(pages.seek(3 * PAGE + 1, true), Ok(3 * PAGE + 1));
        assert_eq!(pages.seek(3 * PAGE, false), Ok(4 * PAGE));
        assert_eq!(pages.seek(4 * PAGE, true), Err(Errno::ENXIO));
        assert_eq!(pages.seek(10 * PAGE, false), Err(Errno::ENXIO));
    }

    #[test]
    fn memory_is_charged_before_it_is_taken() {
        let mut pages = Pages::default();
        assert_eq!(pages.write(0, &[1; 3 * PAGE as usize], 2 * PAGE), Ok(2 * PAGE as usize));
        assert_eq!(pages.write(2 * PAGE, b"x", 0), Err(Errno::ENOSPC));
        assert_eq!(pages.write(5, b"y", 0), Ok(1));
    }

    #[test]
    fn a_copied_file_reads_through_until_written_or_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, vec![7; 10000]).unwrap();
        let file = HostHandle::kept(std::fs::File::open(&path).unwrap());
        let mut pages = Pages::over(file, 10000);
        pages.write(5000, b"x", u64::MAX).unwrap();
        assert_eq!(pages.memory(), PAGE);
        let mut buf = [0; 3];
        pages.read(4999, &mut buf).unwrap();
        assert_eq!(&buf, &[7, b'x', 7]);
        pages.resize(9000);
        pages.resize(9500);
        pages.read(8999, &mut buf).unwrap();
        assert_eq!(&buf, &[7, 0, 0]);
        pages.punch(0, 100, u64::MAX).unwrap();
        pages.read(99, &mut buf).unwrap();
        assert_eq!(&buf, &[0, 7, 7]);
        assert_eq!(std::fs::read(&path).unwrap(), vec![7; 10000]);
    }
}
