//! Opening files, open(2): from a path and flags to an open file description.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::IN_OPEN;
use crate::guest::GuestMemory;
use crate::kernel::file::description::{Description, Descriptions};
use crate::kernel::file::device::Device;
use crate::kernel::file::directory::Directory;
use crate::kernel::file::namespace::NamespaceFile;
use crate::kernel::file::operations::FileOperations;
use crate::kernel::file::pagemap::PageMap;
use crate::kernel::file::path::PathOnly;
use crate::kernel::file::pipe::PipeEnd;
use crate::kernel::file::proc_mem::ProcMem;
use crate::kernel::file::proc_text::ProcText;
use crate::kernel::file::pty::PtySide;
use crate::kernel::file::regular::Regular;
use crate::kernel::file::stream;
use crate::kernel::mm::space_of;
use crate::kernel::streams::Streams;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::change::Make;
use crate::kernel::vfs::host;
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::node::{Body, Device as Model, Ino};
use crate::kernel::vfs::proc_file::{ProcFile, ProcSource, Subject};
use crate::kernel::vfs::resolve::{Found, Last};
use crate::kernel::vfs::tree::FileSystem;

/// Flags that stay with a description and that F_GETFL shows; the rest only matter while it is
/// opened.
const KEPT: u32 = O_ACCMODE
    | O_APPEND
    | O_NONBLOCK
    | O_SYNC
    | O_ASYNC
    | O_DIRECT
    | O_TMPFILE
    | O_NOFOLLOW
    | O_NOATIME
    | O_LARGEFILE;

/// Result of open(2).
pub(crate) enum Opened {
    /// A description, which is still to be given a number.
    File(Description),
    /// Leases on a regular file, to be opened for writing or not, must be given back first.
    Leased(Ino, bool),
    /// A pipe with a name whose other end nobody holds: the call waits until it has been opened
    /// more often than this.
    Waits(Description, u64),
}

/// open(2) on behalf of a caller.
pub(crate) struct Opener<'a> {
    pub(crate) fs: &'a mut FileSystem,
    /// Every description, for names that lead to one.
    pub(crate) files: &'a Descriptions,
    pub(crate) streams: &'a Streams,
    pub(crate) caller: Caller<'a>,
    /// The caller's controlling terminal, which `/dev/tty` is: the number of a pseudo-terminal.
    pub(crate) terminal: Option<u32>,
    pub(crate) mem: &'a mut dyn GuestMemory,
}

impl Opener<'_> {
    /// Opens `path` from `base` as open(2) and openat(2) do.
    pub(crate) fn open(&mut self, base: At, path: &[u8], flags: u32, mode: u32) -> Result<Opened, Errno> {
        let flags = if flags & O_PATH != 0 {
            flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW)
        } else {
            flags | O_LARGEFILE // every file that a 64-bit process opens is a large one
        };
        let create = flags & O_CREAT != 0;
        let exclusive = create && flags & O_EXCL != 0;
        let writes = flags & O_ACCMODE != 0;
        if flags & O_TMPFILE == O_TMPFILE {
            if !writes {
                return Err(Errno::EINVAL);
            }
            return self.open_nameless(base, path, flags, mode);
        }
        if create && flags & O_DIRECTORY != 0 {
            return Err(Errno::EINVAL);
        }
        let follow = flags & O_NOFOLLOW == 0 && !exclusive;
        if create && path.ends_with(b"/") {
            // No file can be made under such a name; but the way to it must exist.
            let found = self.fs.resolve(&self.caller, base, path, Last::Parent)?;
            return Err(if exclusive && found.is_dots() { Errno::EEXIST } else { Errno::EISDIR });
        }
        let last = if create && follow { Last::Create } else { Last::from(follow) };
        let found = match self.fs.resolve(&self.caller, base, path, last) {
            Err(Errno::ENXIO) => return self.reopen(base, path, flags),
            found => found?,
        };
        let (ino, made) = match found.ino {
            Some(_) if exclusive => return Err(Errno::EEXIST),
            Some(ino) => (ino, false),
            None if !create => return Err(Errno::ENOENT),
            None if found.slash => return Err(Errno::EISDIR),
            None => (self.fs.make(&self.caller, &found, &Make::File, mode, self.mem)?, true),
        };
        self.fs.note_place(ino, found.dir, &found.name);
        let mount = found.mount_there;
        let path = self.fs.path_in(self.caller.context.root, &Found { ino: Some(ino), ..found });
        let mut opened = self.open_inode(At { mount, ino }, path, flags, made)?;
        if let Opened::File(open) = &mut opened
            && !open.is_path()
        {
            open.created = made;
            self.fs.notify(ino, IN_OPEN);
        }
        Ok(opened)
    }

    /// Opens the inode of a handle, open_by_handle_at(2).
    pub(crate) fn open_handle(&mut self, at: At, flags: u32) -> Result<Opened, Errno> {
        let node = self.fs.node(at.ino);
        let path: Arc<[u8]> = match &node.host {
            Some(host) => host.path[..].into(),
            None if node.is_dir() => self.fs.path_of(self.caller.context.root, at).into(),
            None => b"/"[..].into(),
        };
        let large = if flags & O_PATH == 0 { O_LARGEFILE } else { 0 };
        self.open_inode(at, path, flags | large, false)
    }

    /// Opens an inode, which was `made` for it or was there.
    fn open_inode(&mut self, at: At, path: Arc<[u8]>, flags: u32, made: bool) -> Result<Opened, Errno> {
        let writes = flags & O_ACCMODE != 0 || flags & O_TRUNC != 0;
        let to_disk = matches!(self.fs.node(at.ino).body, Body::File(_));
        if writes && to_disk && flags & O_PATH == 0 {
            self.fs.writable(at.mount)?;
        }
        let device = matches!(self.fs.node(at.ino).kind(), S_IFCHR | S_IFBLK) && flags & O_PATH == 0;
        if device && self.fs.mounts.flags(at.mount) & MS_NODEV != 0 {
            return Err(Errno::EACCES);
        }
        let mut opened = self.open_it(at.ino, path, flags, made)?;
        if let Opened::File(open) | Opened::Waits(open, _) = &mut opened {
            open.mount = at.mount;
        }
        Ok(opened)
    }

    /// Opens an inode of a mount that it may be changed in.
    fn open_it(&mut self, ino: Ino, path: Arc<[u8]>, flags: u32, made: bool) -> Result<Opened, Errno> {
        let node = self.fs.node(ino);
        if flags & O_DIRECTORY != 0 && !node.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        if flags & O_PATH != 0 {
            self.fs.hold(ino);
            return Ok(Opened::File(Description::new(PathOnly(ino), flags, &path)));
        }
        let access = flags & O_ACCMODE;
        let (read, write) = (access != O_WRONLY, access != 0);
        match &node.body {
            Body::Symlink(_) | Body::Magic(_) => return Err(Errno::ELOOP),
            Body::Dir(_) if write || flags & (O_CREAT | O_TRUNC) != 0 => return Err(Errno::EISDIR),
            Body::Dir(_) if flags & O_DIRECT != 0 => return Err(Errno::EINVAL),
            Body::Opaque if node.kind() == S_IFSOCK || node.host.is_none() => {
                let wanted = if read { R_OK } else { 0 } | if write { W_OK } else { 0 };
                self.caller.may(node, wanted)?;
                return Err(Errno::ENXIO);
            }
            Body::Opaque => return Err(Errno::EACCES),
            _ => {}
        }
        let truncate = flags & O_TRUNC != 0;
        if !made {
            let wanted = if read { R_OK } else { 0 } | if write || truncate { W_OK } else { 0 };
            self.caller.may(node, wanted)?;
        }
        if write || truncate {
            self.fs.may_become_other(&self.caller, ino)?;
        }
        let kept = flags & KEPT;
        let open = match &node.body {
            Body::File(_) if !made && self.files.leases.conflict(ino, write) => {
                return Ok(Opened::Leased(ino, write));
            }
            Body::File(_) => {
                self.fs.hold_content(ino, read, write || truncate)?;
                if truncate && !made {
                    self.fs.drop_set_id(self.caller.cred, ino);
                    self.fs.truncate(self.caller.now, ino, 0, self.mem)?;
                }
                self.fs.hold(ino);
                Description::new(Regular(ino), kept, &path)
            }
            Body::Proc(file) => {
                let (file, subject) = (*file, node.subject);
                let open = self.proc(ino, file, subject, write)?;
                self.fs.hold(ino);
                Description::boxed(open, kept, path)
            }
            Body::Fifo(_) => return self.open_fifo(ino, &path, kept, (read, write)),
            Body::Device(Model::Tty) if let Some(number) = self.terminal => {
                let slave = self.fs.terminal(number).ok_or(Errno::ENXIO)?;
                self.fs.ptys.get(number).map_or(Ok(()), |pty| pty.may_open(self.caller.cred))?;
                Description::new(PtySide::open(self.fs, number, false, slave), kept, &path)
            }
            Body::Device(Model::Tty) => {
                let stream = stream::terminal(self.streams).ok_or(Errno::ENXIO)?;
                Description::new(stream, kept, &path)
            }
            Body::Device(Model::Ptmx) => {
                let number = self.fs.make_pty(self.caller.cred.uid.fs).ok_or(Errno::ENOSPC)?;
                Description::new(PtySide::open(self.fs, number, true, ino), kept, &path)
            }
            Body::Device(Model::Pts(number)) => {
                let number = *number;
                let pty = self.fs.ptys.get(number).filter(|pty| !pty.locked && pty.masters > 0);
                pty.ok_or(Errno::EIO)?.may_open(self.caller.cred)?;
                Description::new(PtySide::open(self.fs, number, false, ino), kept, &path)
            }
            Body::Device(device) => {
                let device = *device;
                self.fs.hold(ino);
                Description::new(Device(ino, device), kept, &path)
            }
            Body::Namespace(kind, id) => {
                let file = NamespaceFile { ino, kind: *kind, id: *id };
                self.fs.hold(ino);
                Description::new(file, kept, &path)
            }
            Body::Dir(_) | Body::Symlink(_) | Body::Magic(_) | Body::Opaque => {
                self.fs.hold(ino);
                Description::new(Directory(ino), kept, &path)
            }
        };
        Ok(Opened::File(open))
    }

    /// Opens a file of `/proc` or `/sys`: EACCES for what the caller may not see or write, ESRCH
    /// where the process is gone.
    fn proc(
        &self,
        ino: Ino,
        file: ProcFile,
        subject: Option<Subject>,
        write: bool,
    ) -> Result<Box<dyn FileOperations>, Errno> {
        // Root opens what it cannot write of a process, and nothing of what the kernel is set by.
        if write && !file.is_written() && subject.is_none() {
            return Err(Errno::EACCES);
        }
        let (mut mm, pid_ns) = (None, self.fs.node(ino).pid_ns);
        if let Some(subject) = subject {
            let tasks = self.caller.tasks()?;
            tasks.number(pid_ns, subject).ok_or(Errno::ESRCH)?;
            if file.is_private() {
                tasks.may_look_into(subject)?;
            }
            mm = tasks.mm(subject);
        }
        let space = mm.map(space_of);
        Ok(match (file, space) {
            (ProcFile::PageMap, Some(space)) => Box::new(PageMap { ino, space }),
            (ProcFile::Mem, space) => Box::new(ProcMem { ino, space }),
            _ => {
                Box::new(ProcText::new(ino, ProcSource { file, subject, pid_ns, mm, len: 0, next: Some(0) }))
            }
        })
    }

    fn open_fifo(
        &mut self,
        ino: Ino,
        path: &[u8],
        kept: u32,
        (read, write): (bool, bool),
    ) -> Result<Opened, Errno> {
        let number = self.fs.number(ino);
        let held = if let Body::Fifo(pipe) = self.fs.node(ino).body { pipe } else { None };
        let pipe = held.unwrap_or_else(|| self.fs.pipes.add(number, &mut self.fs.queues));
        let Some(held) = self.fs.pipes.get(pipe) else { return Err(Errno::EIO) };
        let (ends, queue) = ((held.readers, held.writers), held.queue);
        let written = held.writer_count;
        let partners = if write { held.reader_count } else { written };
        let waits = match kept & O_ACCMODE {
            O_WRONLY => ends.0 == 0,
            O_RDWR => false,
            _ => ends.1 == 0,
        };
        let nonblocking = kept & O_NONBLOCK != 0;
        if kept & O_ACCMODE == O_ACCMODE || kept & O_DIRECT != 0 {
            self.fs.pipes.close(pipe, false, false, &mut self.fs.queues);
            return Err(Errno::EINVAL); // one for neither, and one that is no pipe of packets
        }
        let no_writer_since = (waits && nonblocking).then_some(written);
        if waits && write && nonblocking {
            self.fs.pipes.close(pipe, false, false, &mut self.fs.queues);
            return Err(Errno::ENXIO);
        }
        self.fs.pipes.open(pipe, read, write);
        if read && ends.0 == 0 || write && ends.1 == 0 {
            self.fs.queues.wake(queue, 0); // who waits for this end
        }
        self.fs.node_mut(ino).body = Body::Fifo(Some(pipe));
        self.fs.hold(ino);
        let open = Description::new(PipeEnd { pipe, ino: Some(ino), no_writer_since }, kept, path);
        Ok(if waits && !nonblocking { Opened::Waits(open, partners) } else { Opened::File(open) })
    }

    /// Makes and opens a file without a name, O_TMPFILE.
    fn open_nameless(&mut self, base: At, path: &[u8], flags: u32, mode: u32) -> Result<Opened, Errno> {
        let at = self.fs.resolve(&self.caller, base, path, true)?.there()?;
        let dir = at.ino;
        if !self.fs.node(dir).is_dir() {
            return Err(Errno::ENOTDIR);
        }
        self.fs.writable(at.mount)?;
        let ino = self.fs.make_nameless(&self.caller, dir, mode)?;
        if flags & O_EXCL != 0 {
            let node = self.fs.node_mut(ino);
            (node.links, node.link_delta) = (1, -1); // can never be given a name
        }
        let name = format!("#{} (deleted)", self.fs.node(ino).number);
        let path = host::join(&self.fs.path_of(self.caller.context.root, at), name.as_bytes());
        self.fs.hold(ino);
        let mut open = Description::new(Regular(ino), flags & KEPT, &path);
        open.mount = at.mount;
        Ok(Opened::File(open))
    }

    /// Opens the description of a descriptor once more, by its name in `/proc/self/fd`. No other
    /// name leads there.
    fn reopen(&mut self, base: At, path: &[u8], flags: u32) -> Result<Opened, Errno> {
        let file = self.fs.magic_file(&self.caller, base, path).ok_or(Errno::ENXIO)?;
        if flags & O_DIRECTORY != 0 {
            return Err(Errno::ENOTDIR);
        }
        if flags & O_PATH != 0 {
            return Err(Errno::ENXIO); // it only stands for what is there
        }
        let open = self.files.get(file);
        let reopened = open.reopen(self.fs, flags & KEPT);
        let anonymous = open.ops.socket().is_none() && open.ops.mqueue().is_none();
        if anonymous && reopened.as_ref().is_err_and(|errno| *errno == Errno::ENXIO) {
            let access = [R_OK, W_OK, R_OK | W_OK, R_OK | W_OK][(flags & O_ACCMODE) as usize];
            self.caller.granted((0, 0), 0o600, false, access)?;
        }
        reopened.map(Opened::File)
    }
}
