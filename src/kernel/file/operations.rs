//! Operations of open file descriptions: the trait that each kind implements.

use std::fmt::Debug;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::{GuestCpu, GuestMemory, ObjectId, SpaceId};
use crate::kernel::arena::ProcessId;
use crate::kernel::clock::Clock;
use crate::kernel::cred::Credentials;
pub(crate) use crate::kernel::file::error::FileError;
use crate::kernel::mqueue::MqueueId;
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::net::sock::SockId;
use crate::kernel::random::Random;
use crate::kernel::signal::state::Signals;
use crate::kernel::streams::Streams;
use crate::kernel::vfs::attr::Meta;
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::nameless::Nameless;
use crate::kernel::vfs::node::{ANON_DEV, Ino};
use crate::kernel::vfs::pipe::PipeId;
use crate::kernel::vfs::proc_file::ProcSource;
use crate::kernel::vfs::time::{Time, Times};
use crate::kernel::vfs::tree::FileSystem;
use crate::kernel::wait_queue::QueueId;

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
    /// Signals of the caller.
    pub(crate) signals: Signals<'a>,
    /// Process of the caller.
    pub(crate) pid: i32,
    /// Process group of the caller, as it has it.
    pub(crate) pgid: i32,
    /// RLIMIT_FSIZE.
    pub(crate) size_limit: u64,
    /// Bytes that the caller's memory takes from a socket: a message that reaches beyond stays
    /// there.
    pub(crate) reach: usize,
    /// Signal that the caller gets although part of the work is done: the rest has failed.
    pub(crate) late_signal: Option<i32>,
}

impl FileContext<'_> {
    /// CLOCK_REALTIME. Asking costs a synchronisation with the CPU.
    pub(crate) fn now(&mut self) -> Time {
        Time::from_ns(self.clock.realtime_ns(self.cpu.instructions()))
    }
}

/// Flags of a description that an operation looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// O_NONBLOCK.
    pub(crate) nonblocking: bool,
    /// O_DIRECT: packet mode of a pipe.
    pub(crate) direct: bool,
}

impl Mode {
    /// The mode of flags of open(2). O_PATH allows neither to read nor to write.
    pub(crate) fn of(flags: u32) -> Mode {
        let access = if flags & O_PATH != 0 { O_ACCMODE } else { flags & O_ACCMODE };
        Mode {
            readable: matches!(access, O_RDONLY | O_RDWR),
            writable: matches!(access, O_WRONLY | O_RDWR),
            nonblocking: flags & O_NONBLOCK != 0,
            direct: flags & O_DIRECT != 0,
        }
    }
}

/// Operations of a kind of file, `struct file_operations`. The defaults refuse as Linux does.
pub(crate) trait FileOperations: CloneOperations + Debug + Send {
    /// The kind in a word.
    fn kind(&self) -> &'static str;

    /// Lines of `/proc/PID/fdinfo` that only this kind has. `now` counts nanoseconds since the
    /// program's start.
    fn details(&self, _fs: &FileSystem, _now: u64) -> String {
        String::new()
    }

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

    /// The epoll instance behind the description, epoll(7).
    fn epoll(&self) -> Option<QueueId> {
        None
    }

    /// The timer behind the description, timerfd_create(2).
    fn timer(&self) -> Option<QueueId> {
        None
    }

    /// The namespace that it is, namespaces(7).
    fn namespace(&self) -> Option<(Kind, NsId)> {
        None
    }

    /// The message queue behind the description, mq_open(2).
    fn mqueue(&self) -> Option<MqueueId> {
        None
    }

    /// Tells if a write adds to a counter of events, eventfd(2).
    fn counts_events(&self) -> bool {
        false
    }

    /// The process behind the description, pidfd_open(2).
    fn process(&self) -> Option<ProcessId> {
        None
    }

    /// Takes note that a process has ended; `gone`: nothing is left of it.
    fn process_ended(&mut self, _process: ProcessId, _gone: bool) {}

    /// The source of its text, if it is a file of `/proc` or `/sys`.
    fn proc_source(&self) -> Option<ProcSource> {
        None
    }

    /// Gives such a file the first part of its text, or another, and notes the place of the next.
    fn add_text(&mut self, _first: bool, _part: Vec<u8>, _next: Option<u64>) {}

    /// The instance behind the description, inotify(7).
    fn inotify(&self) -> Option<QueueId> {
        None
    }

    /// The signals that are read from it, signalfd(2), to be changed.
    fn signals(&mut self) -> Option<&mut u64> {
        None
    }

    /// The same to be looked at: none for other kinds.
    fn signal_mask(&self) -> u64 {
        0
    }

    /// The ring behind the description, io_uring_setup(2).
    fn ring(&self) -> Option<QueueId> {
        None
    }

    /// The queue that wakes when something becomes ready. A kind without one is asked again and
    /// again.
    fn wait_queue(&self, _fs: &FileSystem) -> Option<QueueId> {
        None
    }

    /// The socket behind the description, socket(7).
    fn socket(&self) -> Option<SockId> {
        None
    }

    /// Tells if epoll(7) can watch the description; EPERM is the answer if not, as for all that
    /// never blocks.
    fn can_be_watched(&self, _streams: &Streams) -> bool {
        true
    }

    /// The number of the pseudo-terminal whose master it is.
    fn pty_master(&self) -> Option<u32> {
        None
    }

    /// The number of the pseudo-terminal whose slave this is.
    fn pty_slave(&self) -> Option<u32> {
        None
    }

    /// The address space that it shows, a file of `/proc/PID`. It goes on showing that one after
    /// execve(2).
    fn address_space(&self) -> Option<SpaceId> {
        None
    }

    /// Tells if RWF_NOWAIT of preadv2(2) applies; EOPNOTSUPP is the answer if not.
    fn can_be_hasty(&self) -> bool {
        false
    }

    /// Tells if O_ASYNC has signals sent.
    fn sends_signals(&self) -> bool {
        false
    }

    /// Tells if splice(2) and sendfile(2) can move bytes into it; EINVAL is the answer if not.
    fn can_splice(&self) -> bool {
        false
    }

    /// Tells if splice(2) and sendfile(2) can move bytes out of it.
    fn can_splice_out(&self) -> bool {
        self.can_splice()
    }

    /// Error of every read, whatever is asked for: of a kind without one.
    fn read_error(&self) -> Option<Errno> {
        None
    }

    /// Error of every write, whatever its bytes.
    fn write_error(&self) -> Option<Errno> {
        None
    }

    /// Tells if reads and writes begin at the offset of the description.
    fn has_offset(&self) -> bool {
        false
    }

    /// Tells if reads and writes at an offset make sense; ESPIPE is the answer if not.
    fn is_seekable(&self, _streams: &Streams) -> bool {
        self.has_offset()
    }

    /// Tells if writes at an offset make sense where reads do; ESPIPE is the answer if not.
    fn is_written_at(&self) -> bool {
        true
    }

    /// Tells if a vector is read or written as one message rather than piece by piece.
    fn moves_whole(&self) -> bool {
        false
    }

    /// Bytes that are copied before any of them counts: where one of them cannot be accessed, none
    /// of these is read or written.
    fn chunk(&self) -> usize {
        if self.moves_whole() { usize::MAX } else { 1 }
    }

    /// Tells if a vector is written as one message.
    fn gathers(&self) -> bool {
        self.moves_whole()
    }

    /// Tells if written bytes are not even looked at.
    fn discards(&self) -> bool {
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

    /// Tells if lseek(2) is accepted and moves nothing, `noop_llseek`; ESPIPE is the answer if not.
    fn ignores_seeks(&self) -> bool {
        false
    }

    /// Moves `offset`, lseek(2), and returns the new one.
    fn seek(&self, _cx: &mut FileContext, _offset: &mut u64, _by: u64, _whence: u64) -> Result<u64, Errno> {
        if self.ignores_seeks() { Ok(0) } else { Err(Errno::ESPIPE) }
    }

    /// Events of poll(2) that are ready. `wait` lets a question about the host's input wait there.
    fn poll(&self, _cx: &mut FileContext, _mode: Mode, _wait: bool) -> Result<u16, Errno> {
        Ok(READABLE | WRITABLE)
    }

    /// Bytes that a read at `offset` would find, FIONREAD; of a file, the way to its end, which is
    /// negative behind it.
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
            Some(ino) => cx.fs.meta_with(ino, cx.mem),
            None => anonymous(),
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
        Err(if self.looks_regular() { Errno::EOPNOTSUPP } else { Errno::ENODEV }.into())
    }

    /// Writes to the disk, fsync(2).
    fn sync(&mut self, _cx: &mut FileContext) -> Result<(), Errno> {
        Err(Errno::EINVAL)
    }

    /// Tells if stat(2) says that it is a regular file, though it is of a kind of its own.
    fn looks_regular(&self) -> bool {
        false
    }

    /// Writes a range to the disk, sync_file_range(2).
    fn sync_range(&mut self) -> Result<(), Errno> {
        if self.looks_regular() { Ok(()) } else { Err(Errno::ESPIPE) }
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

    /// The memory that a ring shares at an offset, for a mapping of so many bytes; `None` for other
    /// kinds.
    fn map_ring(&self, _cx: &mut FileContext, _offset: u64, _len: u64) -> Option<Result<ObjectId, Errno>> {
        None
    }

    /// Opens a kind without `link_target` once more.
    fn reopen(&self, _fs: &mut FileSystem, _mode: Mode) -> Result<Box<dyn FileOperations>, Errno> {
        Err(Errno::ENXIO)
    }

    /// Releases the objects that the description holds, when its last reference goes: its inode.
    fn release(&mut self, fs: &mut FileSystem, _mode: Mode, mem: &mut dyn GuestMemory) {
        if let Some(ino) = self.inode() {
            fs.let_go(ino, mem);
        }
    }
}

/// Copies of operations behind the trait, for checkpoints. (`dyn-clone` would do it for a
/// dependency.)
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

/// Attributes of a description without an inode of its own: those of the one that the kernel made
/// when it started.
fn anonymous() -> Meta {
    Meta { dev: ANON_DEV, ino: 1, mode: 0o600, nlink: 1, ..Meta::default() }
}

/// Attributes of a pipe or a socket, which has a number: those that it was given, or its first.
pub(crate) fn numbered(cx: &FileContext, dev: u64, ino: u64, mode: u32) -> Meta {
    let (uid, gid) = (cx.cred.uid.fs, cx.cred.gid.fs);
    let first = Nameless { mode, uid, gid, times: Times::default() };
    let Nameless { mode, uid, gid, times } = cx.fs.nameless.get(&ino).copied().unwrap_or(first);
    Meta { dev, ino, mode, nlink: 1, uid, gid, times, ..Meta::default() }
}

/// `FileOperations::read` of records of one size: as many as there are and fit. `what` says for
/// people what a read without any waits for.
pub(crate) fn read_records<const N: usize>(
    buf: &mut [u8],
    mode: Mode,
    what: &'static str,
    mut next: impl FnMut() -> Option<[u8; N]>,
) -> Result<usize, FileError> {
    if buf.len() < N {
        return Err(Errno::EINVAL.into());
    }
    let mut done = 0;
    for place in buf.chunks_exact_mut(N) {
        let Some(record) = next() else { break };
        place.copy_from_slice(&record);
        done += N;
    }
    match done {
        0 if mode.nonblocking => Err(Errno::EAGAIN.into()),
        0 => Err(FileError::WouldBlock(what)),
        done => Ok(done),
    }
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
