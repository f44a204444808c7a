//! Files as the source of mappings, and as programs for execve(2).

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::guest::{FileId, GuestMemory, ObjectId, PageSource};
use crate::kernel::cred::User;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::content::Content;
use crate::kernel::vfs::host::as_path;
use crate::kernel::vfs::host_handle::HostSource;
use crate::kernel::vfs::mount::At;
use crate::kernel::vfs::node::{Body, Ino, MEMFD_DEV};
use crate::kernel::vfs::resolve::DELETED;
use crate::kernel::vfs::tree::FileSystem;

/// Bytes behind a mapping.
#[derive(Clone)]
pub(crate) enum Source {
    /// An object of guest memory. The file keeps its own reference.
    Object(ObjectId),
    /// The bytes as they are now. Mappings of them follow the first change, `begin_change`.
    View(Arc<dyn PageSource>),
    /// Zeros without end: anonymous memory (`/dev/zero`).
    Zeros,
}

/// A program as execve(2) finds it.
#[derive(Clone)]
pub struct ImageFile {
    /// The bytes.
    pub source: Arc<dyn PageSource>,
    /// The file's name and numbers.
    pub id: FileId,
    /// Its path on the host, if its bytes are the host's.
    pub host_path: Option<PathBuf>,
    /// st_mode, without the bits that its mount makes nothing of.
    pub mode: u32,
    /// Owner in the emulated machine.
    pub owner: User,
    /// Absolute path in the guest's view, without symbolic links.
    pub path: String,
    /// Its place in the tree.
    pub(crate) at: At,
}

impl fmt::Debug for ImageFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ImageFile").field(&self.path).finish()
    }
}

impl ImageFile {
    /// The last part of its path, without a word that it is deleted: the name of its directory
    /// entry.
    pub(crate) fn name(&self) -> &[u8] {
        let path = self.path.as_bytes();
        let path = path.strip_suffix(DELETED).unwrap_or(path);
        path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
    }
}

fn text(path: &[u8]) -> Arc<str> {
    String::from_utf8_lossy(path).into()
}

impl FileSystem {
    pub(crate) fn file_id(&mut self, ino: Ino, path: &[u8]) -> FileId {
        let gone = self.node(ino).unlinked() && !path.ends_with(DELETED);
        let path = [path, if gone { DELETED } else { b"" }].concat();
        FileId { path: text(&path), inode: self.number(ino), device: self.node(ino).dev }
    }

    /// The bytes of a regular file as they are now; later writes are not seen.
    fn snapshot(&mut self, ino: Ino, mem: &mut dyn GuestMemory) -> Result<Arc<dyn PageSource>, Errno> {
        self.hold_content(ino, true, false)?;
        match &self.node(ino).body {
            Body::File(Content::Host(Some(held))) => {
                Ok(Arc::new(HostSource::new(held.file.clone(), !self.node(ino).writes_through())))
            }
            Body::File(Content::Pages(pages)) => Ok(Arc::new(pages.clone())),
            Body::File(Content::Object(object)) => Ok(Arc::new(object.snapshot(mem)?)),
            _ => Err(Errno::EACCES),
        }
    }

    /// The bytes of a file for a private mapping. Code (`exec`) is a view of an object only where
    /// bytes may change unseen, so that it can be told which file it is from. ENODEV for files that
    /// cannot be mapped.
    pub(crate) fn private_source(
        &mut self,
        ino: Ino,
        exec: bool,
        mem: &mut dyn GuestMemory,
    ) -> Result<Source, Errno> {
        match &self.node(ino).body {
            Body::File(Content::Object(object)) if !exec || mem.is_object_stored_to(object.id) => {
                Ok(Source::Object(object.id))
            }
            Body::File(Content::Pages(_)) if !exec => Ok(Source::Object(self.share(ino, mem)?)),
            Body::File(_) => Ok(Source::View(self.snapshot(ino, mem)?)),
            _ => Err(Errno::ENODEV),
        }
    }

    /// The bytes of a file for a shared mapping, which may ever be written if `write`.
    pub(crate) fn shared_source(
        &mut self,
        ino: Ino,
        write: bool,
        mem: &mut dyn GuestMemory,
    ) -> Result<Source, Errno> {
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
        let object = self.share(ino, mem)?;
        if write {
            self.turn_views(ino, object, mem);
        }
        Ok(Source::Object(object))
    }

    /// The program that a path leads to, for the loader: ENOENT and the like, EACCES if it may not
    /// be run.
    pub(crate) fn image(
        &mut self,
        caller: &Caller,
        path: &[u8],
        mem: &mut dyn GuestMemory,
    ) -> Result<ImageFile, Errno> {
        let found = self.resolve(caller, caller.context.cwd, path, true)?;
        let at = found.there()?;
        let path = self.path_in(caller.context.root, &found);
        self.image_of(caller, at, &path, mem)
    }

    /// The program that execve(2) and execveat(2) name. `flags` are AT_EMPTY_PATH and
    /// AT_SYMLINK_NOFOLLOW.
    pub(crate) fn image_at(
        &mut self,
        caller: &Caller,
        dirfd: i32,
        path: &[u8],
        flags: u32,
        mem: &mut dyn GuestMemory,
    ) -> Result<ImageFile, Errno> {
        if path.is_empty() && flags & AT_EMPTY_PATH != 0 {
            if dirfd == AT_FDCWD {
                return Err(Errno::EACCES); // a directory cannot be run
            }
            let link = caller.fd_link(dirfd)?;
            let at = At { mount: link.mount, ino: link.inode.ok_or(Errno::EACCES)? };
            if matches!(self.node(at.ino).kind(), S_IFLNK) {
                return Err(Errno::ELOOP);
            }
            return self.image_of(caller, at, &link.path, mem);
        }
        let found = match self.locate(caller, dirfd, path, flags & AT_SYMLINK_NOFOLLOW == 0) {
            // What has no name cannot be run.
            Err(Errno::ENXIO) => return Err(Errno::EACCES),
            found => found?,
        };
        let at = found.there()?;
        if self.node(at.ino).kind() == S_IFLNK {
            return Err(Errno::ELOOP);
        }
        let path = self.path_in(caller.context.root, &found);
        self.image_of(caller, at, &path, mem)
    }

    /// Fails with ETXTBSY for the file of a program that runs, which cannot be written.
    pub(crate) fn may_become_other(&self, caller: &Caller, ino: Ino) -> Result<(), Errno> {
        let Some(number) = self.number_if_shown(ino) else { return Ok(()) };
        let file = (self.node(ino).dev, number);
        match caller.tasks.as_ref().is_some_and(|tasks| tasks.runs(file)) {
            true => Err(Errno::ETXTBSY),
            false => Ok(()),
        }
    }

    fn image_of(
        &mut self,
        caller: &Caller,
        At { mount, ino }: At,
        path: &[u8],
        mem: &mut dyn GuestMemory,
    ) -> Result<ImageFile, Errno> {
        let flags = self.mounts.flags(mount);
        if !matches!(self.node(ino).body, Body::File(_)) || flags & MS_NOEXEC != 0 {
            return Err(Errno::EACCES);
        }
        caller.may(self.node(ino), X_OK)?;
        let dev = self.node(ino).dev;
        let mapped = |number| dev != MEMFD_DEV && mem.has_writer(dev, number);
        if caller.files.is_written(ino) || self.number_if_shown(ino).is_some_and(mapped) {
            return Err(Errno::ETXTBSY);
        }
        let source = self.snapshot(ino, mem)?;
        let node = self.node(ino);
        let on_host = matches!(node.body, Body::File(Content::Host(_)));
        let host_path = node.host.as_ref().filter(|_| on_host).map(|host| as_path(&host.path).into());
        let set_id = if flags & MS_NOSUID != 0 { S_ISUID | S_ISGID } else { 0 };
        let (mode, owner) = (node.mode & !set_id, User { uid: node.uid, gid: node.gid });
        let gone = node.unlinked() && !path.ends_with(DELETED);
        let path = [path, if gone { DELETED } else { b"" }].concat();
        let path = String::from_utf8_lossy(&path).into_owned();
        let id = self.file_id(ino, path.as_bytes());
        self.forget_if_unused(ino, mem);
        Ok(ImageFile { source, id, host_path, mode, owner, path, at: At { mount, ino } })
    }
}
