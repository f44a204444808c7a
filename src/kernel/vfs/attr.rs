//! Attributes: stat(2), chmod(2), chown(2), utimensat(2).

use crate::abi::capability::{CAP_CHOWN, CAP_FSETID};
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::{IN_ACCESS, IN_ATTRIB, IN_MODIFY};
use crate::guest::GuestMemory;
use crate::kernel::cred::Credentials;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::content::{Content, PAGE};
use crate::kernel::vfs::host;
use crate::kernel::vfs::host_handle::NO_DESCRIPTOR_LEFT;
use crate::kernel::vfs::node::{Body, Ino, set_id_bits};
use crate::kernel::vfs::policy::View;
use crate::kernel::vfs::time::{Time, Times};
use crate::kernel::vfs::tree::FileSystem;

/// Attributes of a file, as the calls of the stat(2) family report them.
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
    /// Flags of chattr(1), FS_*_FL.
    pub(crate) flags: u32,
    /// A file system is mounted there.
    pub(crate) mount_root: bool,
}

impl FileSystem {
    /// The attributes of an inode.
    pub(crate) fn meta(&mut self, ino: Ino) -> Meta {
        self.refresh(ino);
        let number = self.number(ino);
        self.count_subdirectories(ino);
        let node = self.node(ino);
        Meta {
            dev: node.dev,
            ino: number,
            mode: node.mode,
            nlink: node.nlink(),
            uid: node.uid,
            gid: node.gid,
            rdev: node.rdev,
            size: node.size(),
            blocks: node.blocks(),
            times: node.times,
            flags: node.flags,
            mount_root: node
                .dir()
                .is_some_and(|dir| ino == self.root || self.node(dir.parent).dev != node.dev),
        }
    }

    /// The same, with st_blocks of what lies in guest memory.
    pub(crate) fn meta_with(&mut self, ino: Ino, mem: &dyn GuestMemory) -> Meta {
        let mut meta = self.meta(ino);
        if let Body::File(Content::Object(object)) = &self.node(ino).body
            && object.base.is_none()
        {
            meta.blocks = mem.object_pages(object.id) * (PAGE / 512);
        }
        meta
    }

    /// Counts the links of a directory of the host as ext4 does, whatever its file system does:
    /// two, and one from each directory in it. One that cannot be read keeps its two.
    fn count_subdirectories(&mut self, ino: Ino) {
        let node = self.node(ino);
        if let (true, Some(path)) = (node.is_dir() && !node.unlinked(), node.host_path()) {
            let count = match self.policy.view(&path) {
                View::Bare => self.host_names(&path).map(|names| {
                    let is_dir = |name: &Vec<u8>| {
                        let stat = self.look_at_host(&host::join(&path, name));
                        stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.st_mode & S_IFMT == S_IFDIR))
                    };
                    names.iter().filter(|name| is_dir(name)).count() as u32
                }),
                _ => {
                    let shown = |name: &[u8]| self.policy.view(&host::join(&path, name)) != View::Hidden;
                    self.handles.open(|| host::subdirectories(&path, shown))
                }
            };
            if count == Err(host::NO_DESCRIPTOR) {
                self.handles.fail(NO_DESCRIPTOR_LEFT.into());
            }
            self.node_mut(ino).links = 2 + i64::from(count.unwrap_or(0));
        }
    }

    /// Checks that the host lets cgemu read what access(2) asks about, execute included; EACCES.
    pub(crate) fn host_allows(&self, ino: Ino, wanted: u32) -> Result<(), Errno> {
        let node = self.node(ino);
        let whose = match &node.body {
            Body::File(Content::Host(_)) | Body::Dir(_) => node.host_path(),
            _ => None,
        };
        match whose {
            Some(path) if wanted & R_OK != 0 => host::may_read(&path),
            _ => Ok(()),
        }
    }

    /// chmod(2).
    pub(crate) fn chmod(&mut self, caller: &Caller, ino: Ino, mode: u32) -> Result<(), Errno> {
        let node = self.node(ino);
        if node.kind() == S_IFLNK {
            return Err(Errno::EOPNOTSUPP);
        }
        if node.synthetic {
            return Err(Errno::EPERM);
        }
        caller.owns(self.node(ino))?;
        let node = self.node(ino);
        let mode = caller.mode_in_group(mode & 0o7777, node.gid);
        if node.seals & F_SEAL_EXEC != 0 && (mode ^ node.mode) & 0o111 != 0 {
            return Err(Errno::EPERM);
        }
        let bits = node.host_bits(mode);
        match node.host_path() {
            Some(path) if node.keeps_attributes() => host::chmod(&path, bits)?,
            _ => self.node_mut(ino).own_mode = true,
        }
        let node = self.node_mut(ino);
        node.mode = node.kind() | mode;
        node.own_mode |= bits != mode;
        node.touch_meta(caller.now);
        self.notify(ino, IN_ATTRIB);
        Ok(())
    }

    /// Takes the set-id bits from a file whose bytes change, unless the one who changes them may
    /// leave them.
    pub(crate) fn drop_set_id(&mut self, cred: &Credentials, ino: Ino) {
        let node = self.node_mut(ino);
        let bits = set_id_bits(node.mode);
        if node.mode & bits != 0 && !cred.capable_over_file(node.uid, node.gid, CAP_FSETID) {
            node.mode &= !bits;
            node.own_mode = true;
            self.notify(ino, IN_ATTRIB);
        }
    }

    /// chown(2); `None` leaves an id alone. Only the superuser gives files away. Owners are the
    /// emulated machine's: none goes to the host.
    pub(crate) fn chown(
        &mut self,
        caller: &Caller,
        ino: Ino,
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<(), Errno> {
        let node = self.node(ino);
        if node.is_immutable() {
            return Err(Errno::EPERM);
        }
        let (uid, gid, free) = caller.new_owner((node.uid, node.gid), uid, gid)?;
        if node.synthetic && node.subject.is_none() || !free && !caller.capable(node, CAP_CHOWN) {
            return Err(Errno::EPERM);
        }
        if node.synthetic {
            return Ok(()); // the owner is that of the process
        }
        let node = self.node_mut(ino);
        let mode = node.mode;
        node.uid = uid.unwrap_or(node.uid);
        node.gid = gid.unwrap_or(node.gid);
        if !node.is_dir() {
            // Even where neither id is given.
            node.mode &= !set_id_bits(node.mode);
            node.own_mode = true;
        }
        let told = uid.is_some() || gid.is_some() || node.mode != mode;
        node.touch_meta(caller.now);
        if told {
            self.notify(ino, IN_ATTRIB);
        }
        Ok(())
    }

    /// utimensat(2); `None` leaves a time alone. `explicit` times need ownership, the current time
    /// only permission to write.
    pub(crate) fn set_times(
        &mut self,
        caller: &Caller,
        ino: Ino,
        access: Option<Time>,
        modify: Option<Time>,
        explicit: bool,
    ) -> Result<(), Errno> {
        let node = self.node(ino);
        if node.synthetic && node.subject.is_none() || node.is_immutable() {
            return Err(Errno::EPERM);
        }
        if caller.owns(self.node(ino)).is_err() {
            if explicit {
                return Err(Errno::EPERM);
            }
            caller.may(self.node(ino), W_OK)?;
        }
        if self.node(ino).synthetic {
            return Ok(()); // what shows a process is made anew at any time
        }
        self.refresh(ino);
        let node = self.node_mut(ino);
        node.times.access = access.unwrap_or(node.times.access);
        node.times.modify = modify.unwrap_or(node.times.modify);
        node.touch_meta(caller.now);
        let times = node.times;
        node.own_times |= node.unlinked();
        if let (true, Some(path)) = (node.keeps_attributes(), node.host_path()) {
            let pair = |time: Time| {
                let time = self.host_clock.to_host(time);
                (time.sec, time.nsec)
            };
            host::utimens(&path, pair(times.access), pair(times.modify))?;
        }
        self.notify(
            ino,
            match (access, modify) {
                (Some(_), None) => IN_ACCESS,
                (None, Some(_)) => IN_MODIFY,
                _ => IN_ATTRIB,
            },
        );
        Ok(())
    }

    /// The flags of chattr(1).
    pub(crate) fn file_flags(&self, ino: Ino) -> Result<u32, Errno> {
        let node = self.node(ino);
        match node.host_path() {
            Some(path) if node.keeps_attributes() => host::flags(&path),
            _ => Ok(node.flags),
        }
    }

    /// Sets the flags of chattr(1) that are in `mask`.
    pub(crate) fn set_file_flags(
        &mut self,
        caller: &Caller,
        ino: Ino,
        flags: u32,
        mask: u32,
    ) -> Result<(), Errno> {
        let node = self.node(ino);
        if let (true, Some(path)) = (node.keeps_attributes(), node.host_path()) {
            host::set_flags(&path, flags, mask)?;
        }
        let node = self.node_mut(ino);
        node.flags = flags & mask;
        node.touch_meta(caller.now);
        Ok(())
    }
}
