//! Open file descriptions, open(2): what descriptors that were duplicated from one another share.

use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::GuestMemory;
use crate::kernel::fdtable::FdTable;
use crate::kernel::vfs::node::{Body, Ino};
use crate::kernel::vfs::pipe::PipeId;
use crate::kernel::vfs::{FileSystem, Listed, Who};
use crate::syscalls::epoll::Epoll;

/// An open file description, by its place in the table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileNo(pub(crate) u32);

/// What a description refers to.
#[derive(Clone, Debug)]
pub(crate) enum FileKind {
    /// A file, directory or device with an inode.
    Inode(Ino),
    /// The host's own standard input (0), output (1) or error (2).
    Host(u8),
    /// A file of `/proc` or `/sys`, as it was when it was opened.
    Text(Ino, Arc<[u8]>),
    /// An end of a pipe, or both; the inode if it has a name.
    Pipe(PipeId, Option<Ino>),
    /// eventfd(2): the counter, and whether reads take one at a time.
    Event(u64, bool),
    /// epoll(7).
    Epoll(Epoll),
    /// A socket that will never be connected.
    Socket,
}

impl FileKind {
    /// What it is, in a word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            FileKind::Inode(_) => "file",
            FileKind::Host(_) => "standard stream",
            FileKind::Text(..) => "proc",
            FileKind::Pipe(..) => "pipe",
            FileKind::Event(..) => "eventfd",
            FileKind::Epoll(_) => "epoll",
            FileKind::Socket => "socket",
        }
    }
}

/// An open file description.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) refs: u32,
    /// O_* as F_GETFL shows them.
    pub(crate) flags: u32,
    pub(crate) offset: u64,
    pub(crate) kind: FileKind,
    /// The path it was opened by, for `/proc/self/fd` and mappings.
    pub(crate) path: Arc<[u8]>,
    /// A directory's names, read when getdents64(2) first asks.
    pub(crate) listing: Option<Arc<Vec<Listed>>>,
}

impl Description {
    pub(crate) fn new(kind: FileKind, flags: u32, path: &[u8]) -> Description {
        Description { refs: 1, flags, offset: 0, kind, path: path.into(), listing: None }
    }

    pub(crate) fn is_path(&self) -> bool {
        self.flags & O_PATH != 0
    }

    /// Whether read(2) may be used.
    pub(crate) fn readable(&self) -> bool {
        !self.is_path() && matches!(self.flags & O_ACCMODE, O_RDONLY | O_RDWR)
    }

    /// Whether write(2) may be used.
    pub(crate) fn writable(&self) -> bool {
        !self.is_path() && matches!(self.flags & O_ACCMODE, O_WRONLY | O_RDWR)
    }

    pub(crate) fn nonblocking(&self) -> bool {
        self.flags & O_NONBLOCK != 0
    }

    /// The inode, if there is one.
    pub(crate) fn ino(&self) -> Option<Ino> {
        match self.kind {
            FileKind::Inode(ino) | FileKind::Text(ino, _) | FileKind::Pipe(_, Some(ino)) => Some(ino),
            _ => None,
        }
    }
}

/// Every open file description. The first three are the host's standard streams and stay open.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    slots: Vec<Description>,
    free: Vec<u32>,
}

impl Default for Files {
    fn default() -> Files {
        let stream = |at: u8| Description::new(FileKind::Host(at), O_RDWR, b"/dev/console");
        Files { slots: (0..3).map(stream).collect(), free: Vec::new() }
    }
}

impl Files {
    pub(crate) fn get(&self, file: FileNo) -> &Description {
        &self.slots[file.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, file: FileNo) -> &mut Description {
        &mut self.slots[file.0 as usize]
    }

    /// Adds a description with one reference.
    pub(crate) fn add(&mut self, description: Description) -> FileNo {
        if let Some(at) = self.free.pop() {
            self.slots[at as usize] = description;
            return FileNo(at);
        }
        self.slots.push(description);
        FileNo((self.slots.len() - 1) as u32)
    }
}

impl FileSystem {
    /// Gives up a reference to a description, and with the last one what it holds.
    pub(crate) fn release(&mut self, file: FileNo, mem: &mut dyn GuestMemory) {
        let open = self.files.get_mut(file);
        open.refs = open.refs.saturating_sub(1);
        if open.refs > 0 || file.0 < 3 {
            return;
        }
        let kind = std::mem::replace(&mut open.kind, FileKind::Socket);
        open.listing = None;
        let (read, write) = (open.readable(), open.writable());
        self.files.free.push(file.0);
        match kind {
            FileKind::Inode(ino) | FileKind::Text(ino, _) => self.close_inode(ino, mem),
            FileKind::Pipe(pipe, ino) => {
                let gone = self.pipes.close(pipe, read, write);
                if let Some(ino) = ino {
                    if gone {
                        self.node_mut(ino).body = Body::Fifo(None);
                    }
                    self.close_inode(ino, mem);
                }
            }
            _ => {}
        }
    }

    fn close_inode(&mut self, ino: Ino, mem: &mut dyn GuestMemory) {
        let node = self.node_mut(ino);
        node.opens = node.opens.saturating_sub(1);
        self.forget_if_unused(ino, mem);
    }

    /// Closes the descriptors that do not survive execve(2).
    pub fn close_on_exec(&mut self, fds: &mut FdTable, mem: &mut dyn GuestMemory) {
        for file in fds.take_close_on_exec() {
            self.release(file, mem);
        }
    }

    /// The inode a directory descriptor stands for; `fd` may be AT_FDCWD. EBADF, ENOTDIR.
    pub(crate) fn base(&self, who: &Who, fd: i32) -> Result<Ino, Errno> {
        if fd == AT_FDCWD {
            return Ok(who.context.cwd);
        }
        match self.files.get(who.fds.get(fd)?).kind {
            FileKind::Inode(ino) if self.node(ino).is_dir() => Ok(ino),
            _ => Err(Errno::ENOTDIR),
        }
    }
}
