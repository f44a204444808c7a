//! Open file descriptions, `struct file`, and the table of them.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::{IN_ACCESS, IN_CLOSE_NOWRITE, IN_CLOSE_WRITE, IN_MODIFY};
use crate::guest::{FileId, GuestMemory, SpaceId};
use crate::kernel::arena::ProcessId;
use crate::kernel::fasync::Owner;
use crate::kernel::fdtable::{FdTable, FileNo};
use crate::kernel::file::lease::Leases;
use crate::kernel::file::locks::{Locked, Locks, Record};
use crate::kernel::file::mqueue;
use crate::kernel::file::operations::{FileContext, FileError, FileOperations, Mode, READABLE};
use crate::kernel::net::sock::SockId;
use crate::kernel::slab::{Charged, Slab};
use crate::kernel::vfs::caller::{FdLink, FdLinks};
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::list::Listing;
use crate::kernel::vfs::mount::MountId;
use crate::kernel::vfs::node::Ino;
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

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
    /// The open has made the file, F_CREATED_QUERY.
    pub(crate) created: bool,
    /// Receiver of its signals, F_SETOWN.
    pub(crate) owner: Owner,
    /// The path it was opened by, for `/proc/self/fd` and mappings.
    pub(crate) path: Arc<[u8]>,
    /// The mount that the path led to.
    pub(crate) mount: MountId,
    /// A directory's entries, read when getdents64(2) first asks.
    pub(crate) listing: Option<Arc<Listing>>,
    pub(crate) ops: Box<dyn FileOperations>,
}

/// Bytes charged for a description beside its place: the operations, and a lock, a lease and an
/// owner that it may have.
const DESCRIPTION: u64 = 256;

impl Charged for Description {
    fn charge(&self) -> u64 {
        let listing = self.listing.as_ref().map_or(0, |listing| listing.bytes());
        self.path.len() as u64 + listing + DESCRIPTION
    }

    fn vacant() -> Description {
        Description { refs: 0, ..Description::new(Closed, 0, b"") }
    }
}

impl Description {
    /// A description with one reference.
    pub(crate) fn new(ops: impl FileOperations + 'static, flags: u32, path: &[u8]) -> Description {
        Description::boxed(Box::new(ops), flags, path.into())
    }

    /// `new`, of operations behind the trait.
    pub(crate) fn boxed(ops: Box<dyn FileOperations>, flags: u32, path: Arc<[u8]>) -> Description {
        Description {
            refs: 1,
            flags,
            offset: 0,
            created: false,
            owner: Owner::default(),
            path,
            mount: MountId::NONE,
            listing: None,
            ops,
        }
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
        Ok(Description { mount: self.mount, ..Description::boxed(ops, flags, self.path.clone()) })
    }

    /// `FileOperations::read`.
    pub(crate) fn read(
        &mut self,
        cx: &mut FileContext,
        at: Option<u64>,
        buf: &mut [u8],
    ) -> Result<usize, FileError> {
        let count = self.ops.read(cx, self.mode(), at, buf)?;
        if let (Some(ino), 1..) = (self.ops.inode(), count) {
            cx.fs.notify(ino, IN_ACCESS);
        }
        Ok(count)
    }

    /// `FileOperations::write`.
    pub(crate) fn write(
        &mut self,
        cx: &mut FileContext,
        at: Option<u64>,
        bytes: &[u8],
    ) -> Result<usize, FileError> {
        let count = self.ops.write(cx, self.mode(), at, bytes)?;
        if let (Some(ino), 1..) = (self.ops.inode(), count) {
            cx.fs.notify(ino, IN_MODIFY);
        }
        Ok(count)
    }

    /// Runs an operation, with `nowait` as if O_NONBLOCK were set.
    pub(crate) fn patiently<R>(&mut self, nowait: bool, operation: impl FnOnce(&mut Description) -> R) -> R {
        let held = self.flags;
        self.flags |= if nowait { O_NONBLOCK } else { 0 };
        let result = operation(self);
        self.flags = held;
        result
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
    slots: Slab<Description>,
    locks: Locks,
    pub(crate) leases: Leases,
}

impl Descriptions {
    /// The descriptions of the standard streams, which stay open without a descriptor.
    pub(crate) fn with_streams(streams: [Description; 3]) -> Descriptions {
        let mut slots = Slab::default();
        for stream in streams {
            slots.insert(Description { refs: stream.refs + 1, ..stream });
        }
        Descriptions { slots, locks: Locks::default(), leases: Leases::default() }
    }

    pub(crate) fn get(&self, file: FileNo) -> &Description {
        self.slots.get(file.0)
    }

    pub(crate) fn get_mut(&mut self, file: FileNo) -> &mut Description {
        self.slots.get_mut(file.0)
    }

    /// Bytes that the descriptions take.
    pub(in crate::kernel) fn charged(&mut self) -> u64 {
        self.slots.charged()
    }

    /// Counts the open files.
    pub(in crate::kernel) fn count(&self) -> u64 {
        self.slots.count() as u64
    }

    /// Adds a description.
    pub(crate) fn add(&mut self, description: Description) -> FileNo {
        FileNo(self.slots.insert(description))
    }

    /// Adds a reference.
    pub(crate) fn hold(&mut self, file: FileNo) {
        self.get_mut(file).refs += 1;
    }

    /// Gives up the reference that a descriptor table has to a description, and the table's locks
    /// of the file.
    pub(crate) fn release(
        &mut self,
        file: FileNo,
        table: u32,
        fs: &mut FileSystem,
        mem: &mut dyn GuestMemory,
    ) {
        let at = self.locked(file);
        let open = self.get_mut(file);
        let (is_path, ino) = (open.is_path(), open.ops.inode());
        if !is_path {
            self.locks.closed(at, table);
        }
        if let Some(ino) = ino {
            fs.notify.unwatch_directory(ino, file);
        }
        if let Some(id) = self.get(file).ops.mqueue()
            && let Some(notify) = fs.mqueues.flush(id, table)
        {
            mqueue::tell(fs, &notify, true);
        }
        self.put(file, fs, mem);
    }

    /// Gives up a reference that no descriptor table has. The last one releases the objects that
    /// the description holds, with the descriptors that were on their way to a socket.
    pub(crate) fn put(&mut self, file: FileNo, fs: &mut FileSystem, mem: &mut dyn GuestMemory) {
        let mut gone = vec![file];
        let mut closed_socket = false;
        while let Some(file) = gone.pop() {
            closed_socket |= self.put_one(file, fs, mem);
            gone.append(&mut fs.net.take_dropped());
            if gone.is_empty() && std::mem::take(&mut closed_socket) {
                let holders = |file| self.get(file).refs as usize;
                fs.net.collect(&mut fs.queues, holders, |file| self.get(file).ops.socket());
                gone = fs.net.take_dropped();
            }
        }
    }

    /// Gives up the references that messages held which nobody received.
    pub(crate) fn put_dropped(&mut self, fs: &mut FileSystem, mem: &mut dyn GuestMemory) {
        for file in fs.net.take_dropped() {
            self.put(file, fs, mem);
        }
    }

    /// Gives up one reference; true if it was to a socket.
    fn put_one(&mut self, file: FileNo, fs: &mut FileSystem, mem: &mut dyn GuestMemory) -> bool {
        let at = self.locked(file);
        let open = self.get_mut(file);
        let (is_path, ino) = (open.is_path(), open.ops.inode());
        let is_socket = open.ops.socket().is_some();
        open.refs = open.refs.saturating_sub(1);
        if open.refs > 0 {
            return is_socket;
        }
        let mode = open.mode();
        if let (Some(ino), false) = (ino, is_path) {
            fs.notify(ino, if mode.writable { IN_CLOSE_WRITE } else { IN_CLOSE_NOWRITE });
        }
        fs.queues.forget(file);
        open.ops.release(fs, mode, mem);
        self.locks.forget(at, file);
        if let Some(ino) = ino {
            let _ = self.leases.remove(ino, file); // it may have none
        }
        self.slots.remove(file.0);
        is_socket
    }

    /// Takes note that a process has ended; `gone`: nothing is left of it.
    pub(crate) fn process_ended(&mut self, process: ProcessId, gone: bool) {
        let of_it = |(at, open): (u32, &Description)| (open.ops.process() == Some(process)).then_some(at);
        let places: Vec<u32> = self.slots.iter().filter_map(of_it).collect();
        for at in places {
            self.slots.get_mut(at).ops.process_ended(process, gone);
        }
    }

    /// The thing that locks of a description are about.
    pub(crate) fn locked(&self, file: FileNo) -> Locked {
        let ops = &self.get(file).ops;
        match (ops.inode(), ops.pipe()) {
            (Some(ino), _) => Locked::Inode(ino),
            (None, Some(pipe)) => Locked::Pipe(pipe),
            (None, None) => Locked::Description(file),
        }
    }

    /// Takes what was unlocked, and the files whose leases were given up or became less.
    pub(crate) fn take_freed(&mut self) -> (Vec<Locked>, Vec<Ino>) {
        (self.locks.take_freed(), self.leases.take_freed())
    }

    /// The locks of every file.
    pub(crate) fn locks(&self) -> &Locks {
        &self.locks
    }

    /// `Locks::flock` for a description.
    pub(crate) fn flock(&mut self, file: FileNo, exclusive: Option<bool>, pid: i32) -> Result<(), Errno> {
        self.locks.flock(self.locked(file), file, exclusive, pid)
    }

    /// `Locks::conflict` on the file of a description.
    pub(crate) fn lock_conflict(&self, file: FileNo, wanted: &Record) -> Option<Record> {
        self.locks.conflict(self.locked(file), wanted)
    }

    /// `Locks::set` on the file of a description.
    pub(crate) fn set_lock(&mut self, file: FileNo, wanted: Record, unlock: bool) -> Result<(), Errno> {
        self.locks.set(self.locked(file), wanted, unlock)
    }

    /// Counts the descriptions of an inode but for one: all, and those for writing.
    pub(crate) fn opens_of(&self, ino: Ino, except: FileNo) -> (usize, usize) {
        let others = self.slots.iter().filter(|(at, open)| {
            *at != except.0 && open.refs > 0 && !open.is_path() && open.ops.inode() == Some(ino)
        });
        others.fold((0, 0), |(all, writing), (_, open)| (all + 1, writing + usize::from(open.writable())))
    }

    /// Tells if a file of `/proc` that shows an address space is open.
    pub(crate) fn shows(&self, space: SpaceId) -> bool {
        self.slots.iter().any(|(_, open)| open.refs > 0 && open.ops.address_space() == Some(space))
    }

    /// Takes a descriptor out of a table; EBADF.
    pub(crate) fn close(
        &mut self,
        fds: &mut FdTable,
        fd: i32,
        fs: &mut FileSystem,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let file = fds.remove(fd)?;
        self.release(file, fds.owner(), fs, mem);
        Ok(())
    }

    /// Events of poll(2) that are ready on a description. `wait` lets a question about the host's
    /// input wait there.
    pub(crate) fn poll(&mut self, file: FileNo, cx: &mut FileContext, wait: bool) -> Result<u16, Errno> {
        let open = self.get(file);
        match open.ops.epoll() {
            Some(epoll) => Ok(if self.has_events(epoll, cx, wait)? { READABLE } else { 0 }),
            None => open.ops.poll(cx, open.mode(), wait),
        }
    }

    /// Asks what an epoll instance watches and no queue tells of.
    fn ask(&mut self, epoll: QueueId, cx: &mut FileContext, wait: bool) -> Result<(), Errno> {
        for (key, events) in cx.fs.queues.to_ask(epoll) {
            let wait = wait && events & u32::from(POLLIN) != 0;
            let ready = self.poll(key.0, cx, wait)?;
            cx.fs.queues.asked(epoll, key, ready);
        }
        Ok(())
    }

    /// Tells if an epoll instance has events to report.
    pub(crate) fn has_events(
        &mut self,
        epoll: QueueId,
        cx: &mut FileContext,
        wait: bool,
    ) -> Result<bool, Errno> {
        self.ask(epoll, cx, wait)?;
        while let Some(key) = cx.fs.queues.first_ready(epoll, u64::MAX) {
            let ready = self.poll(key.0, cx, false)?;
            if cx.fs.queues.wanted(epoll, key, ready).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Hands up to `max` events of an epoll instance, each with the caller's word, to `put`; one
    /// that it does not take stays. Returns how many were taken.
    pub(crate) fn report(
        &mut self,
        epoll: QueueId,
        cx: &mut FileContext,
        max: u64,
        mut put: impl FnMut(&mut FileContext, u64, u32, u64) -> Result<(), Errno>,
    ) -> Result<u64, Errno> {
        self.ask(epoll, cx, false)?;
        let last = cx.fs.queues.last_place(epoll);
        let mut count = 0;
        while let Some(key) = cx.fs.queues.first_ready(epoll, last).filter(|_| count < max) {
            let ready = self.poll(key.0, cx, false)?;
            let Some((events, data)) = cx.fs.queues.wanted(epoll, key, ready) else { continue };
            match put(cx, count, events, data) {
                Err(errno) if count == 0 => return Err(errno),
                Err(_) => break,
                Ok(()) => {}
            }
            cx.fs.queues.reported(epoll, key);
            count += 1;
        }
        Ok(count)
    }

    /// The epoll instance behind a description; EINVAL for other kinds.
    pub(crate) fn epoll(&self, file: FileNo) -> Result<QueueId, Errno> {
        self.get(file).ops.epoll().ok_or(Errno::EINVAL)
    }
}

impl Descriptions {
    /// The process or group that F_SETOWN names for the urgent data of a socket.
    pub(crate) fn owner_of_socket(&self, id: SockId) -> Option<Owner> {
        let mut open = self.slots.iter().map(|(_, open)| open);
        open.find(|open| open.ops.socket() == Some(id)).map(|open| open.owner)
    }

    /// The mounts that descriptions of regular files were opened for writing in.
    pub(crate) fn writers(&self) -> impl Iterator<Item = MountId> {
        let writes = |open: &Description| open.writable() && open.ops.inode().is_some();
        self.slots.iter().filter(move |(_, open)| writes(open)).map(|(_, open)| open.mount)
    }

    /// The mounts that descriptions are in.
    pub(crate) fn mounts(&self) -> impl Iterator<Item = MountId> {
        self.slots.iter().map(|(_, open)| open.mount)
    }
}

impl FdLinks for Descriptions {
    fn link(&self, file: FileNo) -> FdLink {
        let open = self.get(file);
        FdLink {
            target: open.ops.link_target(),
            inode: open.ops.inode(),
            mount: open.mount,
            is_path: open.is_path(),
            readable: open.readable(),
            writable: open.writable(),
            path: open.path.clone(),
        }
    }

    /// Files of memfd_create(2) do not count, `alloc_file_pseudo`.
    fn is_written(&self, ino: Ino) -> bool {
        self.slots.iter().any(|(_, open)| {
            let counts = open.refs > 0 && open.writable() && !open.is_path();
            counts && open.ops.inode() == Some(ino) && !open.path.starts_with(b"/memfd:")
        })
    }
}

/// Operations of a place without a description.
#[derive(Clone, Debug)]
struct Closed;

impl FileOperations for Closed {
    fn kind(&self) -> &'static str {
        "closed"
    }
}
