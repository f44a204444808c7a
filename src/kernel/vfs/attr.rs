//! Attributes: what stat(2) shows, and chmod(2), chown(2), utimensat(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::vfs::file::{FileKind, FileNo};
use crate::kernel::vfs::node::{Ino, Time, Times};
use crate::kernel::vfs::{FileSystem, Who, host};

/// Everything that the calls of the stat(2) family report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) mode: u32,
    pub(crate) nlink: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) rdev: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) times: Times,
}

/// Device numbers of the kernel's own file systems.
pub(crate) const PIPE_DEV: u64 = makedev(0, 13);
pub(crate) const ANON_DEV: u64 = makedev(0, 14);

impl FileSystem {
    /// The attributes of an inode.
    pub(crate) fn meta(&mut self, ino: Ino) -> Meta {
        self.refresh(ino);
        let node = self.node(ino);
        Meta {
            dev: node.dev,
            ino: node.number,
            mode: node.mode,
            nlink: node.nlink(),
            uid: node.uid,
            gid: node.gid,
            rdev: node.rdev,
            size: node.size(),
            blocks: node.blocks(),
            times: node.times,
        }
    }

    /// The attributes of what a description refers to.
    pub(crate) fn file_meta(&mut self, file: FileNo) -> Result<Meta, Errno> {
        let (uid, gid) = (self.who.uid, self.who.gid);
        let anonymous = Meta { dev: ANON_DEV, ino: 1, mode: 0o600, nlink: 1, uid, gid, ..Meta::default() };
        Ok(match self.files.get(file).kind {
            FileKind::Inode(ino) | FileKind::Text(ino, _) | FileKind::Pipe(_, Some(ino)) => self.meta(ino),
            FileKind::Pipe(pipe, None) => {
                let ino = self.pipes.get(pipe).map_or(0, |pipe| pipe.number);
                Meta { dev: PIPE_DEV, ino, mode: S_IFIFO | 0o600, ..anonymous }
            }
            FileKind::Host(stream) => self.stream_meta(stream)?,
            FileKind::Socket => Meta { mode: S_IFSOCK | 0o777, ..anonymous },
            _ => anonymous,
        })
    }

    /// A standard stream: its true type and size, our numbers, and for anything but a file no times.
    fn stream_meta(&mut self, stream: u8) -> Result<Meta, Errno> {
        let stat = self.streams.stat(stream)?;
        let kind = stat.st_mode & S_IFMT;
        let mut meta = Meta {
            dev: self.device_number(stat.st_dev),
            ino: self.inode_number(stat.st_dev, stat.st_ino),
            mode: stat.st_mode,
            nlink: 1,
            uid: stat.st_uid,
            gid: stat.st_gid,
            ..Meta::default()
        };
        match kind {
            S_IFREG => {
                meta.size = u64::try_from(stat.st_size).unwrap_or(0);
                meta.blocks = meta.size.div_ceil(4096) * 8;
                meta.nlink = stat.st_nlink;
                let nsec = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
                meta.times = Times::all(Time { sec: stat.st_mtime, nsec });
            }
            S_IFCHR if self.streams.is_terminal(stream) => {
                meta.rdev = makedev(136, 0);
                meta.mode = S_IFCHR | 0o620;
            }
            S_IFCHR => meta.rdev = stat.st_rdev,
            _ => {}
        }
        Ok(meta)
    }

    /// chmod(2).
    pub(crate) fn chmod(&mut self, who: &Who, ino: Ino, mode: u32) -> Result<(), Errno> {
        let node = self.node(ino);
        if node.kind() == S_IFLNK {
            return Err(Errno::EOPNOTSUPP);
        }
        if node.synthetic {
            return Err(Errno::EPERM);
        }
        self.owns(ino)?;
        let mut mode = mode & 0o7777;
        let who_am_i = &self.who;
        let node = self.node(ino);
        let in_group = who_am_i.gid == node.gid || who_am_i.groups.contains(&node.gid);
        if who_am_i.uid != 0 && !in_group {
            mode &= !S_ISGID;
        }
        match node.host_path() {
            Some(path) if node.writes_through() => host::chmod(&path, mode)?,
            _ => self.node_mut(ino).own_mode = true,
        }
        let node = self.node_mut(ino);
        node.mode = node.kind() | mode;
        node.touch_meta(who.now);
        Ok(())
    }

    /// chown(2); `None` leaves an id alone. Only the superuser gives files away.
    pub(crate) fn chown(
        &mut self,
        who: &Who,
        ino: Ino,
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<(), Errno> {
        let node = self.node(ino);
        let me = &self.who;
        let gives = uid.is_some_and(|uid| uid != node.uid);
        let own_group = gid.is_none_or(|gid| gid == node.gid || gid == me.gid || me.groups.contains(&gid));
        if node.synthetic || (me.uid != 0 && (gives || !own_group || me.uid != node.uid)) {
            return Err(Errno::EPERM);
        }
        match node.host_path() {
            Some(path) if node.writes_through() => host::chown(&path, uid, gid)?,
            _ => self.node_mut(ino).own_mode = true,
        }
        let node = self.node_mut(ino);
        node.uid = uid.unwrap_or(node.uid);
        node.gid = gid.unwrap_or(node.gid);
        if !node.is_dir() {
            // Even where neither id is given.
            let group_runs = node.mode & 0o010 != 0;
            node.mode &= !(S_ISUID | if group_runs { S_ISGID } else { 0 });
        }
        node.touch_meta(who.now);
        Ok(())
    }

    /// utimensat(2); `None` leaves a time alone. `explicit` times need ownership, the current time only
    /// permission to write.
    pub(crate) fn set_times(
        &mut self,
        who: &Who,
        ino: Ino,
        access: Option<Time>,
        modify: Option<Time>,
        explicit: bool,
    ) -> Result<(), Errno> {
        if self.node(ino).synthetic {
            return Err(Errno::EPERM);
        }
        if self.owns(ino).is_err() {
            if explicit {
                return Err(Errno::EPERM);
            }
            self.may(ino, W_OK)?;
        }
        self.refresh(ino);
        let node = self.node_mut(ino);
        node.times.access = access.unwrap_or(node.times.access);
        node.times.modify = modify.unwrap_or(node.times.modify);
        node.touch_meta(who.now);
        let times = node.times;
        if let (true, Some(path)) = (node.writes_through(), node.host_path()) {
            let pair = |time: Time| (time.sec, time.nsec);
            host::utimens(&path, pair(times.access), pair(times.modify))?;
        }
        Ok(())
    }

    /// An extended attribute of a file of the host, lgetxattr(2). Only those of the `user` namespace are
    /// shown; others, and files of the overlay, have none.
    pub(crate) fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Vec<u8>, Errno> {
        match self.node(ino).host_path() {
            Some(path) if name.starts_with(b"user.") => host::getxattr(&path, name),
            _ if name.contains(&b'.') => Err(Errno::ENODATA),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }
}
