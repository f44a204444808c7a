//! Open file descriptions, `struct file`, and the table of them.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::{FileId, GuestMemory};
use crate::kernel::fdtable::{FdTable, FileNo};
use crate::kernel::file::interest::InterestList;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, READABLE};
use crate::kernel::vfs::caller::{FdLink, FdLinks};
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::list::DirEntry;
use crate::kernel::vfs::tree::FileSystem;

/// A descriptor's file as mmap(2) needs it.
pub(crate) struct MapSource {
    /// The bytes, for a private mapping.
    pub(crate) source: Source,
    /// The file's name and numbers.
    pub(crate) id: FileId,
}

/// An open file description, `struct file`.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    refs: u32,
    /// O_* as F_GETFL shows them.
    pub(crate) flags: u32,
    pub(crate) offset: u64,
    /// The path it was opened by, for `/proc/self/fd` and mappings.
    pub(crate) path: Arc<[u8]>,
    /// A directory's entries, read when getdents64(2) first asks.
    pub(crate) listing: Option<Arc<Vec<DirEntry>>>,
    pub(crate) ops: Box<dyn FileOperations>,
}

impl Description {
    /// A description with one reference.
    pub(crate) fn new(ops: impl FileOperations + 'static, flags: u32, path: &[u8]) -> Description {
        Description::boxed(Box::new(ops), flags, path.into())
    }

    /// `new`, of operations behind the trait.
    pub(crate) fn boxed(ops: Box<dyn FileOperations>, flags: u32, path: Arc<[u8]>) -> Description {
        Description { refs: 1, flags, offset: 0, path, listing: None, ops }
    }

    pub(crate) fn is_path(&self) -> bool {
        self.flags & O_PATH != 0
    }

    /// Tells if read(2) may be used.
    pub(crate) fn readable(&self) -> bool {
        self.mode().readable
    }

    /// Tells if write(2) may be used.
    pub(crate) fn writable(&self) -> bool {
        self.mode().writable
    }

    /// The flags that operations look at.
    pub(crate) fn mode(&self) -> Mode {
        Mode::of(self.flags)
    }

    /// `FileOperations::reopen`, with other flags.
    pub(crate) fn reopen(&self, fs: &mut FileSystem, flags: u32) -> Result<Description, Errno> {
        let ops = self.ops.reopen(fs, Mode::of(flags))?;
        Ok(Description::boxed(ops, flags, self.path.clone()))
    }

    /// `FileOperations::read`.
    pub(crate) fn read(
        &mut self,
        cx: &mut FileContext,
        at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        self.ops.read(cx, self.mode(), at, buf)
    }

    /// `FileOperations::write`.
    pub(crate) fn write(
        &mut self,
        cx: &mut FileContext,
        at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        self.ops.write(cx, self.mode(), at, bytes)
    }

    /// `FileOperations::seek`.
    pub(crate) fn seek(&mut self, cx: &mut FileContext, by: u64, whence: u64) -> Result<u64, Errno> {
        self.ops.seek(cx, &mut self.offset, by, whence)
    }

    /// The file as mmap(2) needs it: EBADF; ENODEV for kinds that cannot be mapped; EACCES if it is
    /// not open for reading.
    pub(crate) fn map_source(&self, cx: &mut FileContext, exec: bool) -> Result<MapSource, Errno> {
        if self.is_path() {
            return Err(Errno::EBADF);
        }
        let source = self.ops.map_private(cx, self.mode(), exec)?;
        let id = cx.fs.file_id(self.ops.inode().ok_or(Errno::ENODEV)?, &self.path);
        Ok(MapSource { source, id })
    }
}

/// Every open file description. The first three are the host's standard streams and stay open.
#[derive(Clone, Debug)]
pub(crate) struct Descriptions {
    slots: Vec<Description>,
    free: Vec<u32>,
}

impl Descriptions {
    /// The descriptions of the standard streams, which stay open without a descriptor.
    pub(crate) fn with_streams(streams: [Description; 3]) -> Descriptions {
        let mut slots = Vec::from(streams);
        slots.iter_mut().for_each(|stream| stream.refs += 1);
        Descriptions { slots, free: Vec::new() }
    }

    pub(crate) fn get(&self, file: FileNo) -> &Description {
        &self.slots[file.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, file: FileNo) -> &mut Description {
        &mut self.slots[file.0 as usize]
    }

    /// Adds a description.
    pub(crate) fn add(&mut self, description: Description) -> FileNo {
        if let Some(at) = self.free.pop() {
            self.slots[at as usize] = description;
            return FileNo(at);
        }
        self.slots.push(description);
        FileNo((self.slots.len() - 1) as u32)
    }

    /// Adds a reference.
    pub(crate) fn hold(&mut self, file: FileNo) {
        self.get_mut(file).refs += 1;
    }

    /// Gives up a reference to a description. The last one releases the objects that it holds.
    pub(crate) fn release(&mut self, file: FileNo, fs: &mut FileSystem, mem: &mut dyn GuestMemory) {
        let open = self.get_mut(file);
        open.refs = open.refs.saturating_sub(1);
        if open.refs > 0 {
            return;
        }
        let mode = open.mode();
        open.ops.release(fs, mode, mem);
        open.ops = Box::new(Closed);
        open.listing = None;
        self.free.push(file.0);
    }

    /// Takes a descriptor out of a table, and out of the interest lists that the table leads to;
    /// EBADF.
    pub(crate) fn close(
        &mut self,
        fds: &mut FdTable,
        fd: i32,
        fs: &mut FileSystem,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let file = fds.remove(fd)?;
        self.closed(fds, fd, file, fs, mem);
        Ok(())
    }

    /// Gives up the reference of a descriptor that no longer refers to a description.
    pub(crate) fn closed(
        &mut self,
        fds: &FdTable,
        fd: i32,
        file: FileNo,
        fs: &mut FileSystem,
        mem: &mut dyn GuestMemory,
    ) {
        self.release(file, fs, mem);
        for other in fds.numbers() {
            let open = fds.get(other).map(|file| self.get_mut(file));
            if let Some(list) = open.ok().and_then(|open| open.ops.interest_list()) {
                list.forget(fd);
            }
        }
    }

    /// Events of poll(2) that are ready on a description. `wait` lets a question about the host's
    /// input wait there.
    pub(crate) fn poll(&mut self, file: FileNo, cx: &mut FileContext, wait: bool) -> Result<u16, Errno> {
        let open = self.get_mut(file);
        if open.ops.interest_list().is_some() {
            return Ok(if self.watched_events(file, cx, false)?.is_empty() { 0 } else { READABLE });
        }
        open.ops.poll(cx, open.mode(), wait)
    }

    /// The descriptors on the interest list of an epoll instance that have events to report, and
    /// these events. EINVAL for other kinds.
    pub(crate) fn watched_events(
        &mut self,
        epoll: FileNo,
        cx: &mut FileContext,
        wait: bool,
    ) -> Result<Vec<(i32, u32)>, Errno> {
        let mut found = Vec::new();
        for (fd, watch) in self.interest_list(epoll)?.watches() {
            let wait = wait && watch.events & u32::from(POLLIN) != 0;
            let ready = self.poll(watch.file, cx, wait)?;
            let news = self.interest_list(epoll)?.news(fd, u32::from(ready));
            found.extend(news.map(|events| (fd, events)));
        }
        Ok(found)
    }

    /// The interest list of an epoll instance; EINVAL for other kinds.
    pub(crate) fn interest_list(&mut self, epoll: FileNo) -> Result<&mut InterestList, Errno> {
        self.get_mut(epoll).ops.interest_list().ok_or(Errno::EINVAL)
    }
}

impl FdLinks for Descriptions {
    fn link(&self, file: FileNo) -> FdLink {
        let open = self.get(file);
        FdLink {
            target: open.ops.link_target(),
            inode: open.ops.inode(),
            is_path: open.is_path(),
            path: open.path.clone(),
        }
    }
}

/// Operations of a slot without a description.
#[derive(Clone, Debug)]
struct Closed;

impl FileOperations for Closed {
    fn kind(&self) -> &'static str {
        "closed"
    }
}
