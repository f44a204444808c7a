//! Open file descriptions and the trait of their kinds.

use std::fmt::Debug;
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::{FileId, GuestCpu, GuestMemory};
use crate::kernel::clock::Clock;
use crate::kernel::cred::Credentials;
use crate::kernel::fdtable::{FdTable, FileNo};
use crate::kernel::file::interest::InterestList;
use crate::kernel::random::Random;
use crate::kernel::streams::Streams;
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::caller::{FdLink, FdLinks};
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::list::DirEntry;
use crate::kernel::vfs::node::{ANON_DEV, Ino, Time};
use crate::kernel::vfs::pipe::PipeId;
use crate::kernel::vfs::tree::FileSystem;

/// Events of poll(2) that say "can be read".
pub(crate) const READABLE: u16 = POLLIN | POLLRDNORM;
/// Events of poll(2) that say "can be written".
pub(crate) const WRITABLE: u16 = POLLOUT | POLLWRNORM;

/// The kernel objects that file operations work with.
pub(crate) struct FileContext<'a> {
    pub(crate) fs: &'a mut FileSystem,
    pub(crate) streams: &'a Streams,
    pub(crate) random: &'a mut Random,
    pub(crate) clock: &'a Clock,
    pub(crate) cpu: &'a mut dyn GuestCpu,
    pub(crate) mem: &'a mut dyn GuestMemory,
    pub(crate) cred: &'a Credentials,
    /// Process group of the caller.
    pub(crate) pgid: i32,
    /// RLIMIT_FSIZE.
    pub(crate) size_limit: u64,
}

impl FileContext<'_> {
    /// CLOCK_REALTIME. Asking costs a synchronisation with the CPU.
    pub(crate) fn now(&mut self) -> Time {
        Time::from_ns(self.clock.realtime_ns(self.cpu.instructions()))
    }
}

/// Failure of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileError {
    /// The error number.
    Errno(Errno),
    /// The error number, after a signal to the caller.
    Signal(i32, Errno),
    /// The operation would wait; the text names what for.
    WouldBlock(&'static str),
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> FileError {
        FileError::Errno(errno)
    }
}

/// Flags of a description that an operation looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// O_NONBLOCK.
    pub(crate) nonblocking: bool,
}

/// The `Mode` of flags. O_PATH allows neither to read nor to write.
fn mode_of(flags: u32) -> Mode {
    let access = if flags & O_PATH != 0 { O_ACCMODE } else { flags & O_ACCMODE };
    Mode {
        readable: matches!(access, O_RDONLY | O_RDWR),
        writable: matches!(access, O_WRONLY | O_RDWR),
        nonblocking: flags & O_NONBLOCK != 0,
    }
}

/// Operations of a kind of file, `struct file_operations`. What a kind leaves out refuses.
pub(crate) trait FileOperations: CloneOperations + Debug + Send {
    /// The kind in a word.
    fn kind(&self) -> &'static str;

    /// The inode behind the description.
    fn inode(&self) -> Option<Ino> {
        None
    }

    /// The inode that the link in `/proc/PID/fd` leads to. A kind without one is opened anew by
    /// `reopen`.
    fn link_target(&self) -> Option<Ino> {
        None
    }

    /// The pipe behind the description, pipe(7).
    fn pipe(&self) -> Option<PipeId> {
        None
    }

    /// The interest list of an epoll instance, epoll(7).
    fn interest_list(&mut self) -> Option<&mut InterestList> {
        None
    }

    /// Tells if calls of socket(7) apply; ENOTSOCK is the answer if not.
    fn is_socket(&self) -> bool {
        false
    }

    /// Tells if epoll(7) can watch the description; EPERM is the answer if not.
    fn can_be_watched(&self, _fs: &FileSystem) -> bool {
        true
    }

    /// Tells if reads and writes begin at the offset of the description.
    fn has_offset(&self) -> bool {
        false
    }

    /// Tells if reads and writes at an offset make sense; ESPIPE is the answer if not.
    fn is_seekable(&self, _streams: &Streams) -> bool {
        self.has_offset()
    }

    /// Tells if a vector is written as one message rather than piece by piece.
    fn writes_whole(&self) -> bool {
        false
    }

    /// Tells if written bytes are not even looked at.
    fn discards(&self) -> bool {
        false
    }

    /// Tells if the caller could read on at once after a piece without an offset was filled.
    fn has_more(&self, _cx: &FileContext) -> bool {
        false
    }

    /// Reads once: at `at`, or the next bytes of a kind without offsets.
    fn read(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        _buf: &mut [u8],
    ) -> Result<usize, FileError> {
        Err(Errno::EINVAL.into())
    }

    /// Writes once: at `at`, or next for a kind without offsets.
    fn write(
        &mut self,
        _cx: &mut FileContext,
        _mode: Mode,
        _at: Option<u64>,
        _bytes: &[u8],
    ) -> Result<usize, FileError> {
        Err(Errno::EINVAL.into())
    }

    /// The offset at which O_APPEND writes.
    fn end(&self, _cx: &mut FileContext) -> Option<u64> {
        None
    }

    /// Moves `offset`, lseek(2), and returns the new one.
    fn seek(&self, _cx: &mut FileContext, _offset: &mut u64, _by: u64, _whence: u64) -> Result<u64, Errno> {
        Err(Errno::ESPIPE)
    }

    /// Events of poll(2) that are ready. `wait` lets a question about the host's input wait there.
    fn poll(&self, _cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(READABLE | WRITABLE)
    }

    /// Bytes that a read at `offset` would find, FIONREAD.
    fn readable_bytes(&self, _cx: &mut FileContext, _offset: u64) -> Result<u64, Errno> {
        Err(Errno::ENOTTY)
    }

    /// A command of ioctl(2) that is the kind's own.
    fn ioctl(&mut self, _cx: &mut FileContext, _command: u64, _arg: u64) -> Result<u64, Errno> {
        Err(Errno::ENOTTY)
    }

    /// Attributes, fstat(2).
    fn attributes(&self, cx: &mut FileContext) -> Result<Meta, Errno> {
        Ok(match self.inode() {
            Some(ino) => cx.fs.meta(ino),
            None => anonymous(cx),
        })
    }

    /// Cuts or extends the file, ftruncate(2).
    fn truncate(&mut self, _cx: &mut FileContext, _len: u64) -> Result<(), FileError> {
        Err(Errno::EINVAL.into())
    }

    /// Reserves or clears a range, fallocate(2).
    fn allocate(
        &mut self,
        _cx: &mut FileContext,
        _mode: u32,
        _offset: u64,
        _len: u64,
    ) -> Result<(), FileError> {
        Err(Errno::ENODEV.into())
    }

    /// Writes to the disk, fsync(2).
    fn sync(&mut self, _cx: &mut FileContext) -> Result<(), Errno> {
        Err(Errno::EINVAL)
    }

    /// Writes a range to the disk, sync_file_range(2).
    fn sync_range(&mut self) -> Result<(), Errno> {
        Err(Errno::ESPIPE)
    }

    /// Takes advice on the use of a range, posix_fadvise(2).
    fn advise(&self, _cx: &mut FileContext) -> Result<(), Errno> {
        Ok(())
    }

    /// Bytes for a private mapping, mmap(2).
    fn map_private(&self, _cx: &mut FileContext, _mode: Mode, _exec: bool) -> Result<Source, Errno> {
        Err(Errno::ENODEV)
    }

    /// Bytes for a shared mapping, which may ever be written if `write`.
    fn map_shared(&self, _cx: &mut FileContext, _write: bool) -> Result<Source, Errno> {
        Err(Errno::ENODEV)
    }

    /// Opens a kind without `link_target` once more.
    fn reopen(&self, _fs: &mut FileSystem, _mode: Mode) -> Result<Box<dyn FileOperations>, Errno> {
        Err(Errno::ENXIO)
    }

    /// Gives up everything that the description holds, when its last reference goes.
    fn release(&mut self, _fs: &mut FileSystem, _mode: Mode, _mem: &mut dyn GuestMemory) {}
}

/// Copies of operations behind the trait, which checkpoints need (what the crate `dyn-clone` does).
pub(crate) trait CloneOperations {
    fn clone_box(&self) -> Box<dyn FileOperations>;
}

impl<T: FileOperations + Clone + 'static> CloneOperations for T {
    fn clone_box(&self) -> Box<dyn FileOperations> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn FileOperations> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

/// Attributes of a description without an inode.
pub(crate) fn anonymous(cx: &FileContext) -> Meta {
    let (uid, gid) = (cx.cred.uid, cx.cred.gid);
    Meta { dev: ANON_DEV, ino: 1, mode: 0o600, nlink: 1, uid, gid, ..Meta::default() }
}

/// `FileOperations::seek` in a file of `size` bytes; `find` serves SEEK_DATA (true) and SEEK_HOLE.
pub(crate) fn seek_within(
    offset: &mut u64,
    size: u64,
    by: u64,
    whence: u64,
    find: impl FnOnce(bool) -> Result<u64, Errno>,
) -> Result<u64, Errno> {
    let target = match whence {
        SEEK_SET => Some(by),
        SEEK_CUR => offset.checked_add_signed(by as i64),
        SEEK_END => size.checked_add_signed(by as i64),
        _ if by > i64::MAX as u64 => return Err(Errno::ENXIO),
        _ => Some(find(whence == SEEK_DATA)?),
    };
    *offset = target.filter(|target| *target <= i64::MAX as u64).ok_or(Errno::EINVAL)?;
    Ok(*offset)
}

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
        mode_of(self.flags)
    }

    /// `FileOperations::reopen`, with other flags.
    pub(crate) fn reopen(&self, fs: &mut FileSystem, flags: u32) -> Result<Description, Errno> {
        let ops = self.ops.reopen(fs, mode_of(flags))?;
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

    /// The file as mmap(2) needs it: EBADF; ENODEV for what cannot be mapped; EACCES if it is not open
    /// for reading.
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

    /// Gives up a reference to a description, and with the last one what it holds.
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

    /// Takes a descriptor out of a table, and out of the interest lists that the table leads to; EBADF.
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

    /// Events of poll(2) that are ready on a description. `wait` lets a question about the host's input
    /// wait there.
    pub(crate) fn poll(&mut self, file: FileNo, cx: &mut FileContext, wait: bool) -> Result<u16, Errno> {
        let open = self.get_mut(file);
        if open.ops.interest_list().is_some() {
            return Ok(if self.watched_events(file, cx, false)?.is_empty() { 0 } else { READABLE });
        }
        open.ops.poll(cx, open.mode(), wait)
    }

    /// The descriptors on the interest list of an epoll instance with something to report, and what.
    /// EINVAL for other kinds.
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
