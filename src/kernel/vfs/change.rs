//! Operations on names: making, linking, removing.

use crate::abi::capability::CAP_MKNOD;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::{IN_ATTRIB, IN_CREATE, IN_DELETE};
use crate::guest::GuestMemory;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::content::{Content, HostFile};
use crate::kernel::vfs::host::{self, HostPath};
use crate::kernel::vfs::host_handle::HostHandle;
use crate::kernel::vfs::mount::MountId;
use crate::kernel::vfs::node::{
    Body, DEVICES, Dir, DirKind, Entries, Entry, HostRef, Ino, Node, PROC_DEV, SYS_DEV,
};
use crate::kernel::vfs::policy::View;
use crate::kernel::vfs::resolve::Found;
use crate::kernel::vfs::tree::FileSystem;

/// File that a new name is made for.
#[derive(Clone, Debug)]
pub(crate) enum Make<'a> {
    File,
    Dir,
    Fifo,
    /// A socket or a device: its type and its number.
    Special {
        kind: u32,
        rdev: u64,
    },
    Symlink(&'a [u8]),
}

/// Number of the character device that stands for a removed name in an overlay of Linux's; anybody
/// may make one.
pub(super) const WHITEOUT_DEV: u64 = 0;

/// A device of this machine if it has one with the number; one that nobody drives otherwise.
pub(super) fn special(kind: u32, rdev: u64) -> Body {
    let found = DEVICES.iter().find(|(_, _, number)| kind == S_IFCHR && *number == rdev);
    found.map_or(Body::Opaque, |(_, device, _)| Body::Device(*device))
}

impl FileSystem {
    /// Checks that names in a directory may be changed: permission, and that it still has a name.
    pub(super) fn may_change(&self, caller: &Caller, dir: Ino) -> Result<(), Errno> {
        let node = self.node(dir);
        if node.unlinked() {
            return Err(Errno::ENOENT);
        }
        if node.synthetic && node.dir().is_none_or(|dir| *dir.name != *b"shm") {
            // As Linux says of each: no name can come into being in /proc.
            return Err(match node.dev {
                PROC_DEV => Errno::ENOENT,
                SYS_DEV => Errno::EPERM,
                _ => Errno::EACCES,
            });
        }
        caller.may(self.node(dir), W_OK | X_OK)
    }

    /// Checks that a mount may be written to; EROFS.
    pub(crate) fn writable(&self, mount: MountId) -> Result<(), Errno> {
        if self.mounts.flags(mount) & MS_RDONLY != 0 { Err(Errno::EROFS) } else { Ok(()) }
    }

    /// Checks that nothing is mounted at a name; EBUSY.
    pub(super) fn is_no_point(&self, found: &Found) -> Result<(), Errno> {
        let mounted = found.ino.is_some() && found.mount_there != found.mount;
        if mounted { Err(Errno::EBUSY) } else { Ok(()) }
    }

    /// Checks that a name may be taken out of a directory, as that of a directory or of another
    /// file (`may_delete`).
    pub(super) fn may_remove(
        &self,
        caller: &Caller,
        dir: Ino,
        ino: Ino,
        directory: bool,
    ) -> Result<(), Errno> {
        let in_proc = self.node(dir).dev == PROC_DEV;
        if in_proc {
            let is_root = dir == self.proc || self.procs.values().any(|root| *root == dir);
            let denied = caller.may(self.node(dir), W_OK);
            denied.map_err(|errno| if is_root { errno } else { Errno::EPERM })?;
        } else {
            self.may_change(caller, dir)?;
        }
        if self.node(dir).mode & S_ISVTX != 0 && caller.owns(self.node(dir)).is_err() {
            caller.owns(self.node(ino))?;
        }
        match (directory, self.node(ino).is_dir()) {
            (true, false) => return Err(Errno::ENOTDIR),
            (false, true) => return Err(Errno::EISDIR),
            _ if in_proc => return Err(Errno::EPERM),
            _ => {}
        }
        if self.node(ino).is_dir() && self.node(ino).dev != self.node(dir).dev {
            return Err(Errno::EBUSY); // something is mounted there
        }
        let stays = |path: &[u8]| self.is_write_root(path) || self.policy.holds_hidden(path);
        if self.node(ino).host.as_ref().is_some_and(|host| host.write && stays(&host.path)) {
            return Err(Errno::EBUSY);
        }
        Ok(())
    }

    /// The host's directory behind `dir` if changes to it go to the host.
    pub(super) fn write_dir(&self, dir: Ino) -> Option<HostPath> {
        self.node(dir).host.as_ref().filter(|host| host.write).map(|host| host.path.clone())
    }

    /// Checks that a name that the host gets is one that is shown; EACCES, as there may be a file.
    pub(super) fn may_name(&self, dir: &[u8], name: &[u8]) -> Result<(), Errno> {
        match self.policy.view(&host::join(dir, name)) {
            View::Hidden => Err(Errno::EACCES),
            _ => Ok(()),
        }
    }

    /// Makes a file for a path that leads nowhere yet. The umask is applied to `mode`.
    pub(crate) fn make(
        &mut self,
        caller: &Caller,
        found: &Found,
        what: &Make,
        mode: u32,
        mem: &mut dyn GuestMemory,
    ) -> Result<Ino, Errno> {
        if found.ino.is_some() {
            return Err(Errno::EEXIST);
        }
        if found.slash && !matches!(what, Make::Dir) {
            return Err(Errno::ENOENT);
        }
        self.writable(found.mount)?;
        self.may_change(caller, found.dir)?;
        let mode = match what {
            Make::Dir => mode & 0o1777 & !caller.context.umask,
            _ => mode & 0o7777 & !caller.context.umask,
        };
        if let Make::Special { kind: kind @ (S_IFCHR | S_IFBLK), rdev } = what
            && (*rdev != WHITEOUT_DEV || *kind == S_IFBLK)
        {
            caller.cred.require(CAP_MKNOD)?;
        }
        let (dir, name) = (found.dir, &found.name[..]);
        if let Some(path) = self.write_dir(dir) {
            self.may_name(&path, name)?;
            let mut file = None;
            let bits = mode & !(S_ISUID | S_ISGID);
            match what {
                Make::File => file = Some(host::create_file(&path, name, bits)?),
                Make::Dir => host::mkdir(&path, name, mode)?,
                Make::Fifo => host::mkfifo(&path, name, bits)?,
                // The name alone: nobody is ever behind it there.
                Make::Special { kind: S_IFSOCK, .. } => host::mksock(&path, name, bits)?,
                Make::Special { .. } => return Err(Errno::EPERM), // none leaves the emulated machine
                Make::Symlink(target) => host::symlink(&path, name, target)?,
            }
            self.touch_dir(dir, caller);
            let ino = self.lookup_plain(dir, name)?.ok_or(Errno::ENOENT)?;
            self.count_made(ino);
            let node = self.node_mut(ino);
            if matches!(what, Make::File | Make::Fifo) && bits != mode {
                node.mode |= mode; // see `Node::host_bits`
                node.own_mode = true;
            }
            if matches!(what, Make::Fifo) {
                node.body = Body::Fifo(None); // the bytes stay here: the host's pipe is never opened
            }
            if let Some(file) = file {
                // Kept, since its mode may forbid to open it once more.
                node.body =
                    Body::File(Content::Host(Some(HostFile { file: HostHandle::kept(file), write: true })));
            }
            node.touch(caller.now);
            node.times.access = caller.now;
            self.notify_name(dir, name, ino, IN_CREATE, 0);
            return Ok(ino);
        }
        let (body, mode) = match what {
            Make::File => (Body::File(Content::Pages(Default::default())), S_IFREG | mode),
            Make::Dir => (Body::Dir(self.new_dir(dir, name)), S_IFDIR | mode),
            Make::Fifo => (Body::Fifo(None), S_IFIFO | mode),
            Make::Special { kind, rdev } => (special(*kind, *rdev), kind | mode),
            Make::Symlink(target) => (Body::Symlink((*target).into()), S_IFLNK | 0o777),
        };
        let dev = self.node(dir).dev;
        self.tmpfs.inode_room(dev)?;
        if let Make::Symlink(target) = what
            && let Some(pool) = self.tmpfs.pool_of_link(dev, target, mem)
        {
            mem.pool_take(pool)?;
        }
        let ino = self.add_new(caller, dir, body, mode)?;
        if let Make::Special { rdev, .. } = what {
            self.node_mut(ino).rdev = *rdev;
        }
        self.put(dir, name, Some(ino));
        if matches!(what, Make::Dir) {
            self.node_mut(dir).link_delta += 1;
        }
        self.touch_dir(dir, caller);
        self.notify_name(dir, name, ino, IN_CREATE, 0);
        Ok(ino)
    }

    fn new_dir(&self, parent: Ino, name: &[u8]) -> Dir {
        Dir { entries: Entries::default(), parent, name: name.into(), kind: DirKind::Plain }
    }

    /// An inode of the overlay on the file system of `dir`; a set-group-id directory passes its
    /// group on. ENOSPC.
    pub(crate) fn add_new(&mut self, caller: &Caller, dir: Ino, body: Body, mode: u32) -> Result<Ino, Errno> {
        let above = self.node(dir);
        self.tmpfs.inode_room(above.dev)?;
        let inherits = above.mode & S_ISGID != 0;
        let gid = if inherits { above.gid } else { caller.cred.gid.fs };
        let dev = above.dev;
        let mode = match mode & S_IFMT {
            S_IFDIR if inherits => mode | S_ISGID,
            S_IFREG if inherits && mode & S_IXGRP != 0 => caller.mode_in_group(mode, gid),
            _ => mode,
        };
        let mut node = Node::new(body, mode, caller.cred.uid.fs, gid, caller.now);
        node.dev = dev;
        node.changed = true;
        Ok(self.add(node))
    }

    /// A file without a name (O_TMPFILE), on the file system of `dir`. Until it gets one it is kept
    /// here, whatever the directory.
    pub(crate) fn make_nameless(&mut self, caller: &Caller, dir: Ino, mode: u32) -> Result<Ino, Errno> {
        self.may_change(caller, dir)?;
        let mode = S_IFREG | mode & 0o7777 & !caller.context.umask;
        let ino = self.add_new(caller, dir, Body::File(Content::Pages(Default::default())), mode)?;
        self.node_mut(ino).links = 0;
        Ok(ino)
    }

    pub(super) fn touch_dir(&mut self, dir: Ino, caller: &Caller) {
        let node = self.node_mut(dir);
        node.touch(caller.now);
        if node.writes_through() {
            self.refresh(dir);
        }
    }

    /// Sets an entry of the overlay. A removed name leaves a mark only if the host has the name
    /// too.
    pub(super) fn put(&mut self, dir: Ino, name: &[u8], entry: Entry) {
        let below =
            self.node(dir).host_path().is_some_and(|path| host::lstat(&host::join(&path, name)).is_ok());
        let Some(held) = self.node_mut(dir).dir_mut() else { return };
        if entry.is_some() || below {
            held.entries.insert(name.into(), entry);
        } else {
            held.entries.remove(name);
        }
    }

    /// Marks a directory as removed. It may still be held, and `..` in it be looked up.
    fn mark_removed(&mut self, ino: Ino) {
        self.node_mut(ino).removed = true;
        let above = self.parent(ino);
        self.hold(above);
    }

    /// Takes a name away from an inode; with `on_host` the host has done so too.
    pub(super) fn drop_name(
        &mut self,
        caller: &Caller,
        ino: Ino,
        found: &Found,
        on_host: bool,
        mem: &mut dyn GuestMemory,
    ) {
        if on_host {
            self.drop_host_link(ino);
        } else if self.node(ino).is_dir() {
            self.mark_removed(ino);
        } else {
            if self.node(ino).nlink() > 1 {
                self.tmpfs.inode_gone(self.node(ino).dev); // each name after the first counts as one
            }
            self.node_mut(ino).link_delta -= 1;
        }
        self.node_mut(ino).touch_meta(caller.now);
        self.lose_place(ino, found.dir, &found.name);
        self.forget_if_unused(ino, mem);
    }

    /// Takes note that the host has taken a name away: its count is asked for again if it can be.
    fn drop_host_link(&mut self, ino: Ino) {
        let node = self.node_mut(ino);
        let path = node.host_path();
        if node.is_dir() {
            self.mark_removed(ino);
            if let Some(path) = path.filter(|path| self.dirs.get(path) == Some(&ino)) {
                self.dirs.remove(&path);
            }
        } else if matches!(node.body, Body::File(Content::Host(Some(_)))) {
            self.refresh(ino);
        } else {
            node.links -= 1;
        }
        if let (true, Some(host)) = (self.node(ino).unlinked(), &self.node(ino).host) {
            // The host may use the number again, for what the guest must not take for this file.
            let (dev, inode) = host.key;
            self.numbers.remove(&(dev, inode));
            self.files_seen.remove(&(dev, inode, self.node(ino).writes_through()));
        }
    }

    /// unlink(2).
    pub(crate) fn unlink(
        &mut self,
        caller: &Caller,
        found: &Found,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        if found.is_dots() {
            return Err(Errno::EISDIR);
        }
        self.writable(found.mount)?;
        let ino = found.exists()?;
        if found.slash {
            return Err(if self.node(ino).is_dir() { Errno::EISDIR } else { Errno::ENOTDIR });
        }
        self.may_remove(caller, found.dir, ino, false)?;
        self.is_no_point(found)?;
        let through = self.write_dir(found.dir);
        if let Some(path) = &through {
            host::unlink(path, &found.name, false)?;
        } else {
            self.put(found.dir, &found.name, None);
        }
        self.notify_self(ino, IN_ATTRIB);
        self.notify_name(found.dir, &found.name, ino, IN_DELETE, 0);
        self.drop_name(caller, ino, found, through.is_some(), mem);
        self.touch_dir(found.dir, caller);
        Ok(())
    }

    /// rmdir(2).
    pub(crate) fn rmdir(
        &mut self,
        caller: &Caller,
        found: &Found,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        match &found.name[..] {
            b"." => return Err(Errno::EINVAL),
            b".." => return Err(Errno::ENOTEMPTY),
            b"/" => return Err(Errno::EBUSY),
            _ => {}
        }
        self.writable(found.mount)?;
        let ino = found.exists()?;
        self.may_remove(caller, found.dir, ino, true)?;
        self.is_no_point(found)?;
        let through = self.write_dir(found.dir);
        if let Some(path) = &through {
            host::unlink(path, &found.name, true)?;
        } else {
            self.must_be_empty(caller, ino)?;
            self.put(found.dir, &found.name, None);
            self.node_mut(found.dir).link_delta -= 1;
        }
        self.notify_name(found.dir, &found.name, ino, IN_DELETE, 0);
        self.drop_name(caller, ino, found, through.is_some(), mem);
        self.touch_dir(found.dir, caller);
        Ok(())
    }

    /// link(2): a further name for an inode.
    pub(crate) fn link(
        &mut self,
        caller: &Caller,
        ino: Ino,
        to: &Found,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        if to.ino.is_some() {
            return Err(Errno::EEXIST);
        }
        if to.slash {
            return Err(Errno::ENOENT);
        }
        if self.node(to.dir).dev == PROC_DEV {
            return Err(Errno::ENOENT); // no name is free there
        }
        let node = self.node(ino);
        self.writable(to.mount)?;
        let through = self.write_dir(to.dir).is_some();
        let nameless = node.links == 0 && node.unlinked();
        if self.node(to.dir).unlinked() {
            return Err(Errno::ENOENT);
        }
        if node.dev != self.node(to.dir).dev {
            return Err(Errno::EXDEV);
        }
        if node.is_dir() {
            return Err(Errno::EPERM);
        }
        // A file that never had a name may get one; one that lost its last, or must not have one,
        // may not.
        if node.unlinked() && node.links != 0 {
            return Err(Errno::ENOENT);
        }
        if !nameless && node.writes_through() != through {
            return Err(Errno::EXDEV);
        }
        self.may_change(caller, to.dir)?;
        if let Some(dir) = self.write_dir(to.dir) {
            self.may_name(&dir, &to.name)?;
        }
        match (self.write_dir(to.dir), self.node(ino).host_path()) {
            (Some(dir), None) => self.give_to_host(ino, &dir, &to.name, mem)?,
            (Some(dir), Some(from)) => {
                host::link(&from, &dir, &to.name)?;
                self.lookup_plain(to.dir, &to.name)?;
            }
            _ => {
                if !nameless {
                    let dev = self.node(ino).dev;
                    self.tmpfs.inode_room(dev)?;
                    self.tmpfs.inode_made(dev);
                }
                self.put(to.dir, &to.name, Some(ino));
                self.node_mut(ino).link_delta += 1;
            }
        }
        self.node_mut(ino).touch_meta(caller.now);
        self.touch_dir(to.dir, caller);
        self.notify_self(ino, IN_ATTRIB);
        self.notify_name(to.dir, &to.name, ino, IN_CREATE, 0);
        Ok(())
    }

    /// Makes a file that had no name one of the host's.
    fn give_to_host(
        &mut self,
        ino: Ino,
        dir: &[u8],
        name: &[u8],
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Errno> {
        let node = self.node(ino);
        let pages = match &node.body {
            Body::File(Content::Pages(pages)) => pages.clone(),
            Body::File(Content::Object(object)) => object.snapshot(mem)?,
            _ => return Err(Errno::EXDEV),
        };
        let bits = node.host_bits(node.mode & 0o7777);
        let path = host::join(dir, name);
        let file = host::create_file(dir, name, bits)?;
        let written = pages.written().try_for_each(|(at, page)| {
            let count = pages.len().saturating_sub(at).min(page.len() as u64) as usize;
            host::write_at(&file, at, &page[..count])
        });
        let stat = written
            .and_then(|()| Ok(rustix::fs::ftruncate(&file, pages.len())?))
            .and_then(|()| host::fstat(&file));
        let stat = match stat {
            Ok(stat) => stat,
            Err(errno) => {
                let _ = host::unlink(dir, name, false); // half a file is worse than none
                return Err(errno);
            }
        };
        for (name, value) in
            self.node(ino).xattrs.iter().flatten().filter(|(name, _)| name.starts_with(b"user."))
        {
            // Kept where the host keeps them.
            let _ = host::look(&path).and_then(|file| host::setxattr(&file, name, Some(value), 0));
        }
        let key = (stat.st_dev, stat.st_ino);
        let handle = HostHandle::kept(file);
        let number = self.node(ino).number;
        self.numbers.insert(key, number);
        self.files_seen.insert((key.0, key.1, true), ino);
        let node = self.node_mut(ino);
        node.host = Some(HostRef { path, key, write: true });
        node.refresh(&stat);
        match &mut node.body {
            Body::File(Content::Object(object)) => {
                (object.base, object.through) = (Some((handle, pages.len())), true);
            }
            body => *body = Body::File(Content::Host(Some(HostFile { file: handle, write: true }))),
        }
        Ok(())
    }
}
