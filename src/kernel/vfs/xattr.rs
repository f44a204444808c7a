//! Extended attributes, xattr(7). Files of the overlay keep theirs in memory, under directories
//! that the guest may change the host does.

use std::borrow::Cow;

use rustix::fd::OwnedFd;

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::IN_ATTRIB;
use crate::guest::GuestMemory;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::content::Content;
use crate::kernel::vfs::host::{self, Xattrs};
use crate::kernel::vfs::node::{Body, Ino, PROC_DEV, xattr_space};
use crate::kernel::vfs::tree::FileSystem;

/// Bytes of names and values that an inode may have.
const SPACE: usize = 65_536;

/// Checks a value before anything else is: EINVAL for capabilities and access control lists that
/// are none.
fn is_value(name: &[u8], value: &[u8]) -> Result<(), Errno> {
    const VFS_CAP_REVISION_MASK: u32 = 0xff00_0000;
    const POSIX_ACL_XATTR_VERSION: u32 = 2;
    let first = value.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    match name {
        b"security.capability" if !value.is_empty() => {
            match (value.len(), first.map(|word| word & VFS_CAP_REVISION_MASK)) {
                (20, Some(0x0200_0000)) | (24, Some(0x0300_0000)) => Ok(()),
                _ => Err(Errno::EINVAL),
            }
        }
        b"system.posix_acl_access" | b"system.posix_acl_default" if !value.is_empty() => match first {
            None => Err(Errno::EINVAL),
            Some(POSIX_ACL_XATTR_VERSION) if !(value.len() - 4).is_multiple_of(8) => Err(Errno::EINVAL),
            Some(_) => Ok(()),
        },
        _ => Ok(()),
    }
}

impl FileSystem {
    /// Checks that a caller may read or (with `write`) change an attribute, `xattr_permission`:
    /// EPERM, EACCES, ENODATA, EOPNOTSUPP for a namespace that is not there, EINVAL for a name that
    /// is nothing else.
    fn may_use(&self, caller: &Caller, ino: Ino, name: &[u8], write: bool) -> Result<(), Errno> {
        let node = self.node(ino);
        let prefix = name.iter().position(|byte| *byte == b'.').map_or(name, |at| &name[..=at]);
        let root = caller.cred.capable(CAP_SYS_ADMIN);
        match prefix {
            b"user." => {
                if !matches!(node.kind(), S_IFREG | S_IFDIR) {
                    return Err(if write { Errno::EPERM } else { Errno::ENODATA });
                }
                if write && node.is_dir() && node.mode & S_ISVTX != 0 {
                    caller.owns(node)?;
                }
                caller.may(node, if write { W_OK } else { R_OK })?;
            }
            b"trusted." if !root => return Err(if write { Errno::EPERM } else { Errno::ENODATA }),
            b"security." if !root && write => return Err(Errno::EPERM),
            b"trusted." | b"security." => {}
            b"system." if !write && name.starts_with(b"system.posix_acl_") => return Err(Errno::ENODATA),
            b"system." => return Err(Errno::EOPNOTSUPP),
            _ => {
                caller.may(node, if write { W_OK } else { R_OK })?;
                return Err(Errno::EOPNOTSUPP);
            }
        }
        if name.len() == prefix.len() {
            return Err(Errno::EINVAL);
        }
        if node.dev == PROC_DEV {
            return Err(Errno::EOPNOTSUPP);
        }
        if node.synthetic || matches!(node.body, Body::Proc(_)) {
            return Err(if write { Errno::EOPNOTSUPP } else { Errno::ENODATA });
        }
        Ok(())
    }

    /// The file of the host that keeps an inode's attributes, if one does.
    fn keeper(&self, ino: Ino) -> Result<Option<OwnedFd>, Errno> {
        let node = self.node(ino);
        match (&node.body, node.host_path()) {
            (Body::File(Content::Host(Some(held))), _) if node.unlinked() => {
                let file = held.file.file()?;
                Ok(Some(file.try_clone().map_err(|error| host::errno_of(&error))?.into()))
            }
            (_, Some(path)) if matches!(node.kind(), S_IFREG | S_IFDIR) => Ok(Some(host::look(&path)?)),
            _ => Ok(None),
        }
    }

    /// The attributes of an inode. Of the host's only those of the `user` namespace show.
    fn xattrs(&self, ino: Ino) -> Result<Cow<'_, Xattrs>, Errno> {
        if let Some(held) = &self.node(ino).xattrs {
            return Ok(Cow::Borrowed(held));
        }
        self.keeper(ino)?.map_or(Ok(Xattrs::new()), |file| host::xattrs(&file)).map(Cow::Owned)
    }

    /// getxattr(2).
    pub(crate) fn getxattr(&self, caller: &Caller, ino: Ino, name: &[u8]) -> Result<Vec<u8>, Errno> {
        self.may_use(caller, ino, name, false)?;
        self.xattrs(ino)?.get(name).cloned().ok_or(Errno::ENODATA)
    }

    /// The names, each with a NUL, listxattr(2).
    pub(crate) fn listxattr(&self, caller: &Caller, ino: Ino) -> Result<Vec<u8>, Errno> {
        let mut names = Vec::new();
        for name in self.xattrs(ino)?.keys() {
            if caller.cred.capable(CAP_SYS_ADMIN) || !name.starts_with(b"trusted.") {
                names.extend_from_slice(name);
                names.push(0);
            }
        }
        Ok(names)
    }

    /// setxattr(2), and with no value removexattr(2). `flags` are XATTR_CREATE and XATTR_REPLACE.
    pub(crate) fn setxattr(
        &mut self,
        caller: &Caller,
        ino: Ino,
        name: &[u8],
        value: Option<&[u8]>,
        flags: u32,
        mem: &dyn GuestMemory,
    ) -> Result<(), Errno> {
        if let Some(value) = value {
            is_value(name, value)?;
        }
        self.may_use(caller, ino, name, true)?;
        if let (true, true, Some(file)) =
            (self.node(ino).writes_through(), name.starts_with(b"user."), self.keeper(ino)?)
        {
            host::setxattr(&file, name, value, flags)?;
            self.node_mut(ino).touch_meta(caller.now);
            self.notify(ino, IN_ATTRIB);
            return Ok(());
        }
        let held = self.xattrs(ino)?;
        let (all, old) = (xattr_space(&held), held.get(name).map_or(0, |old| name.len() + old.len()));
        match (value, held.contains_key(name)) {
            (Some(_), true) if flags & XATTR_CREATE != 0 => return Err(Errno::EEXIST),
            (Some(_), false) if flags & XATTR_REPLACE != 0 => return Err(Errno::ENODATA),
            (None, false) => return Err(Errno::ENODATA),
            _ => {}
        }
        let before = self.node(ino).xattrs.as_ref().map_or(0, |_| all);
        let after = all - old + value.map_or(0, |value| name.len() + value.len());
        // Those of memory are changed where they are; of the host's file a copy is.
        let read = if let Cow::Owned(read) = held { Some(read) } else { None };
        if after > SPACE && !self.is_in_memory(ino)
            || (after as u64) > self.room(mem).saturating_add(before as u64)
        {
            return Err(Errno::ENOSPC);
        }
        let held = self.node_mut(ino).xattrs.take().or(read);
        let mut held = held.unwrap_or_default();
        match value {
            Some(value) => held.insert(name.to_vec(), value.to_vec()),
            None => held.remove(name),
        };
        let node = self.node_mut(ino);
        node.xattrs = Some(held);
        node.touch_meta(caller.now);
        self.notify(ino, IN_ATTRIB);
        Ok(())
    }
}
