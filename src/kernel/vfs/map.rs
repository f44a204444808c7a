//! Files as the source of mappings, and programs as execve(2) finds them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::{FileId, GuestMemory, ObjectId, PageSource};
use crate::kernel::fdtable::FdTable;
use crate::kernel::vfs::content::{Content, pages_of};
use crate::kernel::vfs::file::FileKind;
use crate::kernel::vfs::host::{HostSource, as_path};
use crate::kernel::vfs::node::{Body, Device, Ino, Time};
use crate::kernel::vfs::{FileSystem, FsContext, Who, parts};
use crate::syscalls::context::Ctx;

/// A file as mmap(2) needs it.
#[derive(Clone)]
pub struct MapSource {
    /// The bytes, for a private mapping.
    pub source: Source,
    /// The file's name and numbers.
    pub id: FileId,
    /// Whether the descriptor may be read; mmap(2) fails with EACCES if not.
    pub readable: bool,
    /// Whether the descriptor may be written, which a shared writable mapping needs (EACCES).
    pub writable: bool,
    /// `/dev/zero`: to be mapped as anonymous memory.
    pub zero: bool,
}

/// What stands behind a mapping.
#[derive(Clone)]
pub enum Source {
    /// An object of guest memory. The file keeps its own reference.
    Object(ObjectId),
    /// The bytes as they are now; for a shared mapping, those of a file that cannot change.
    View(Arc<dyn PageSource>),
}

/// A program as execve(2) finds it.
#[derive(Clone)]
pub struct ImageFile {
    /// The bytes.
    pub source: Arc<dyn PageSource>,
    /// The file's name and numbers.
    pub id: FileId,
    /// Where it is on the host, if its bytes are the host's.
    pub host_path: Option<PathBuf>,
    /// st_mode.
    pub mode: u32,
    /// Absolute path in the guest's view, without symbolic links.
    pub path: String,
}

struct Zero;

impl PageSource for Zero {
    fn read_at(&self, _offset: u64, _buf: &mut [u8]) -> std::io::Result<usize> {
        Ok(0)
    }

    fn len(&self) -> u64 {
        u64::MAX
    }
}

fn text(path: &[u8]) -> Arc<str> {
    String::from_utf8_lossy(path).into()
}

impl FileSystem {
    fn file_id(&self, ino: Ino, path: &[u8]) -> FileId {
        let node = self.node(ino);
        FileId { path: text(path), inode: node.number, device: node.dev }
    }

    /// The bytes of a regular file as they are now; what is written later is not seen.
    fn snapshot(&mut self, ino: Ino, mem: &mut dyn GuestMemory) -> Result<Arc<dyn PageSource>, Errno> {
        self.hold_content(ino, true, false)?;
        match &self.node(ino).body {
            Body::File(Content::Host(Some(held))) => Ok(Arc::new(HostSource { file: held.file.clone() })),
            Body::File(Content::Pages(pages)) => Ok(Arc::new(pages.clone())),
            Body::File(Content::Object(object)) => Ok(Arc::new(pages_of(mem, object.id, object.len)?)),
            _ => Err(Errno::EACCES),
        }
    }

    /// A descriptor's file for mmap(2). EBADF; ENODEV for what cannot be mapped; EACCES if it is not open
    /// for reading. Code (`exec`) is never a view of an object, so that it can be told which file it is from.
    pub fn page_source(
        &mut self,
        fds: &FdTable,
        fd: i32,
        exec: bool,
        mem: &mut dyn GuestMemory,
    ) -> Result<MapSource, Errno> {
        let open = self.files.get(fds.get(fd)?);
        if open.is_path() {
            return Err(Errno::EBADF);
        }
        let FileKind::Inode(ino) = open.kind else { return Err(Errno::ENODEV) };
        let (readable, writable, path) = (open.readable(), open.writable(), open.path.clone());
        let id = self.file_id(ino, &path);
        let zero = matches!(self.node(ino).body, Body::Device(Device::Zero));
        let source = match &self.node(ino).body {
            Body::Device(Device::Zero) => Source::View(Arc::new(Zero)),
            Body::File(_) if !readable => return Err(Errno::EACCES),
            Body::File(Content::Object(object)) if !exec => Source::Object(object.id),
            Body::File(_) => Source::View(self.snapshot(ino, mem)?),
            _ => return Err(Errno::ENODEV),
        };
        Ok(MapSource { source, id, readable, writable, zero })
    }

    /// What a shared mapping of a descriptor's file is made of. `write` is whether it may ever be written.
    pub fn shared_source(
        &mut self,
        fds: &FdTable,
        fd: i32,
        write: bool,
        mem: &mut dyn GuestMemory,
    ) -> Result<Source, Errno> {
        let open = self.files.get(fds.get(fd)?);
        let FileKind::Inode(ino) = open.kind else { return Err(Errno::ENODEV) };
        let of_host = matches!(self.node(ino).body, Body::File(Content::Host(_)));
        if of_host
            && !write
            && (!self.node(ino).writes_through() || self.hold_content(ino, true, true).is_err())
        {
            return Ok(Source::View(self.snapshot(ino, mem)?));
        }
        if write && self.node(ino).seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) != 0 {
            return Err(Errno::EPERM);
        }
        Ok(Source::Object(self.share(ino, mem)?))
    }

    /// The program at an absolute path, for the session: ENOENT and the like, EACCES if it may not be run.
    pub(in crate::kernel) fn image(
        &mut self,
        context: &FsContext,
        path: &[u8],
        mem: &mut dyn GuestMemory,
    ) -> Result<ImageFile, Errno> {
        let fds = FdTable::empty();
        let who = Who { context, fds: &fds, pid: 0, exe: b"", now: Time::default() };
        let found = self.resolve(&who, context.cwd, path, true)?;
        let ino = found.exists()?;
        let path = self.path_in(&found);
        self.image_of(ino, &path, mem)
    }

    fn image_of(&mut self, ino: Ino, path: &[u8], mem: &mut dyn GuestMemory) -> Result<ImageFile, Errno> {
        if !matches!(self.node(ino).body, Body::File(_)) {
            return Err(Errno::EACCES);
        }
        self.may(ino, X_OK)?;
        let source = self.snapshot(ino, mem)?;
        let node = self.node(ino);
        let on_host = matches!(node.body, Body::File(Content::Host(_)));
        let host_path = node.host.as_ref().filter(|_| on_host).map(|host| as_path(&host.path).into());
        let (mode, id) = (node.mode, self.file_id(ino, path));
        let path = String::from_utf8_lossy(path).into_owned();
        self.forget_if_unused(ino, mem);
        Ok(ImageFile { source, id, host_path, mode, path })
    }
}

/// The program that execve(2) and execveat(2) name. `flags` are AT_EMPTY_PATH and AT_SYMLINK_NOFOLLOW.
pub fn image(ctx: &mut Ctx, dirfd: i32, path: &[u8], flags: u32) -> Result<ImageFile, Errno> {
    let (fs, who, mem) = parts(ctx);
    if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
        let open = fs.files.get(who.fds.get(dirfd)?);
        let (path, ino) = (open.path.clone(), open.ino().ok_or(Errno::EACCES)?);
        return fs.image_of(ino, &path, mem);
    }
    let base = if path.starts_with(b"/") { who.context.root } else { fs.base(&who, dirfd)? };
    let found = fs.resolve(&who, base, path, flags & AT_SYMLINK_NOFOLLOW == 0)?;
    let ino = found.exists()?;
    if fs.node(ino).kind() == S_IFLNK {
        return Err(Errno::ELOOP);
    }
    // A program reached by `/proc/self/exe` has the name of the program, not of the link.
    let path = match &fs.node(ino).host {
        Some(host) if found.dir != who.context.cwd && fs.node(found.dir).synthetic => host.path.clone(),
        _ => fs.path_in(&found),
    };
    fs.image_of(ino, &path, mem)
}
