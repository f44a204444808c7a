//! Inodes: files apart from their names.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use rustix::fs::Stat;

use crate::abi::fs::*;
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::slab::Charged;
use crate::kernel::vfs::content::Content;
use crate::kernel::vfs::host::{HostPath, Xattrs};
use crate::kernel::vfs::pipe::PipeId;
use crate::kernel::vfs::proc_file::{Magic, ProcFile, Subject};
use crate::kernel::vfs::time::{Time, Times};

/// The bits that a file with a mode loses when its bytes or its owner change: set-group-id is one
/// only where the group may execute it.
pub(crate) fn set_id_bits(mode: u32) -> u32 {
    S_ISUID | if mode & S_IXGRP != 0 { S_ISGID } else { 0 }
}

/// Key of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ino(pub(crate) u32);

/// Value of a name in a directory of the overlay: an inode, or none if the host's name was removed.
pub(crate) type Entry = Option<Ino>;

/// The entries of the overlay in a directory, by name. What they take is known without a look at
/// each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    names: BTreeMap<Arc<[u8]>, Entry>,
    bytes: u64,
    /// Entries that lead to an inode.
    present: usize,
}

impl Entries {
    /// Bytes that an entry takes beside its name: the name's reference, its head and a place in
    /// the tree that is two thirds full.
    const ENTRY: u64 = 64;

    /// Sets an entry.
    pub(crate) fn insert(&mut self, name: Arc<[u8]>, entry: Entry) {
        let bytes = Entries::ENTRY + name.len() as u64;
        self.present += usize::from(entry.is_some());
        match self.names.insert(name, entry) {
            Some(before) => self.present -= usize::from(before.is_some()),
            None => self.bytes += bytes,
        }
    }

    /// Drops an entry.
    pub(crate) fn remove(&mut self, name: &[u8]) {
        if let Some(before) = self.names.remove(name) {
            self.present -= usize::from(before.is_some());
            self.bytes -= Entries::ENTRY + name.len() as u64;
        }
    }

    /// Tells if any entry leads to an inode.
    pub(crate) fn has_names(&self) -> bool {
        self.present > 0
    }
}

impl Deref for Entries {
    type Target = BTreeMap<Arc<[u8]>, Entry>;

    fn deref(&self) -> &Self::Target {
        &self.names
    }
}

/// A directory: entries of the overlay above those of the host's directory.
#[derive(Clone, Debug)]
pub(crate) struct Dir {
    pub(crate) entries: Entries,
    pub(crate) parent: Ino,
    pub(crate) name: Arc<[u8]>,
    pub(crate) kind: DirKind,
}

/// Kinds of directory, by the entries that they have beside those of the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirKind {
    /// Nothing, or the host's directory.
    Plain,
    /// `/proc`: processes by their numbers.
    Proc,
    /// `/proc/PID`.
    Process,
    /// `/proc/PID/task`: its tasks by their numbers.
    Tasks,
    /// `/proc/PID/task/TID`.
    Task,
    /// `/proc/PID/fd`.
    Fd,
    /// `/proc/PID/fdinfo`.
    FdInfo,
    /// `/proc/PID/ns`.
    Namespaces,
    /// `/proc/PID/net`.
    Net,
}

/// A device that the kernel itself provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Null,
    Zero,
    Full,
    /// `/dev/random`, which can be polled.
    Random,
    Urandom,
    Tty,
    /// `/dev/ptmx`, which makes a pseudo-terminal.
    Ptmx,
    /// `/dev/pts/N`.
    Pts(u32),
}

/// Devices of `/dev`: name, device, number.
pub(crate) const DEVICES: [(&str, Device, u64); 7] = [
    ("null", Device::Null, makedev(1, 3)),
    ("zero", Device::Zero, makedev(1, 5)),
    ("full", Device::Full, makedev(1, 7)),
    ("random", Device::Random, makedev(1, 8)),
    ("urandom", Device::Urandom, makedev(1, 9)),
    ("tty", Device::Tty, makedev(5, 0)),
    ("ptmx", Device::Ptmx, makedev(5, 2)),
];

/// The kinds of inode.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    File(Content),
    Dir(Dir),
    Symlink(Arc<[u8]>),
    /// A link of `/proc`.
    Magic(Magic),
    /// A file of `/proc` or `/sys`.
    Proc(ProcFile),
    Device(Device),
    /// A pipe with a name, and the pipe while somebody has it open.
    Fifo(Option<PipeId>),
    /// A socket or a device of the host: seen, never opened.
    Opaque,
    /// A namespace, namespaces(7).
    Namespace(Kind, NsId),
}

/// Bytes that extended attributes take.
pub(super) fn xattr_space(attributes: &Xattrs) -> usize {
    attributes.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// Place of an inode on the host.
#[derive(Clone, Debug)]
pub(crate) struct HostRef {
    pub(crate) path: HostPath,
    /// Device and inode on the host.
    pub(crate) key: (u64, u64),
    /// Changes go to the host.
    pub(crate) write: bool,
}

/// A name of an inode.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) dir: Ino,
    pub(crate) name: Arc<[u8]>,
    /// The name is gone, and the inode holds its directory.
    pub(crate) held: bool,
}

/// An inode.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) body: Body,
    /// Permission bits and type, as in st_mode.
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) rdev: u64,
    /// Size on the host; files of the overlay know theirs themselves.
    pub(crate) size: u64,
    /// Names on the host, and how many the overlay has added or taken away.
    pub(crate) links: i64,
    pub(crate) link_delta: i64,
    /// Descriptions that hold the inode, tasks that are in it, and removed directories that have it
    /// above them.
    pub(crate) opens: u32,
    pub(crate) times: Times,
    /// The name by which it was last reached; directories know theirs.
    pub(crate) place: Option<Place>,
    /// Inode and device number shown to the guest. The inode number of a file of the host is 0
    /// until the guest first sees it.
    pub(crate) number: u64,
    pub(crate) dev: u64,
    pub(crate) host: Option<HostRef>,
    /// The mode is the overlay's, no longer the host's.
    pub(crate) own_mode: bool,
    /// Times are the overlay's, no longer the host's.
    pub(crate) own_times: bool,
    /// Bytes or attributes differ from the host's.
    pub(crate) changed: bool,
    /// The host's file does not have the time of the last change yet.
    pub(crate) time_due: bool,
    /// Part of `/proc`, `/sys` or `/dev`.
    pub(crate) synthetic: bool,
    /// The program made it.
    pub(crate) made: bool,
    /// The process or task whose directory of `/proc` it is in.
    pub(crate) subject: Option<Subject>,
    /// The PID namespace whose numbers are shown there, in `/proc`.
    pub(crate) pid_ns: NsId,
    /// A directory that was removed while somebody held it.
    pub(crate) removed: bool,
    /// RWH_* of fcntl(2) F_SET_RW_HINT.
    pub(crate) write_hint: u8,
    /// F_SEAL_*; only a memfd has any.
    pub(crate) seals: u32,
    /// Extended attributes; `None` while they are the host's.
    pub(crate) xattrs: Option<Xattrs>,
    /// Flags of chattr(1), FS_*_FL.
    pub(crate) flags: u32,
}

impl Charged for Node {
    fn charge(&self) -> u64 {
        let body = match &self.body {
            Body::File(Content::Pages(pages)) => pages.charge(),
            Body::Dir(dir) => dir.entries.bytes + dir.name.len() as u64 + 16,
            Body::Symlink(target) => target.len() as u64 + 16,
            _ => 0,
        };
        let attributes = self.xattrs.as_ref().map_or(0, |held| xattr_space(held) + held.len() * 80);
        let place = self.place.as_ref().map_or(0, |place| place.name.len() as u64 + 16);
        body + self.host.as_ref().map_or(0, |host| host.path.len() as u64 + 16) + attributes as u64 + place
    }

    fn vacant() -> Node {
        let mut node = Node::new(Body::Opaque, 0, 0, 0, Time::default());
        node.links = 0;
        node
    }
}

impl Node {
    /// A fresh inode with one link.
    pub(crate) fn new(body: Body, mode: u32, uid: u32, gid: u32, now: Time) -> Node {
        let links = if matches!(body, Body::Dir(_)) { 2 } else { 1 };
        Node {
            body,
            mode,
            uid,
            gid,
            rdev: 0,
            size: 0,
            links,
            link_delta: 0,
            opens: 0,
            times: Times::all(now),
            place: None,
            number: 0,
            dev: 0,
            host: None,
            own_mode: true,
            own_times: true,
            changed: false,
            time_due: false,
            synthetic: false,
            made: false,
            subject: None,
            pid_ns: Kind::Pid.first(),
            removed: false,
            write_hint: 0,
            seals: F_SEAL_SEAL,
            xattrs: None,
            flags: 0,
        }
    }

    /// Takes over the host's attributes, except those that the guest has changed, and those that
    /// are the emulated machine's: the owner, and what file systems of hosts do not agree on.
    pub(crate) fn refresh(&mut self, stat: &Stat) {
        if !self.own_mode {
            self.mode = stat.st_mode;
        }
        if !self.own_times {
            let nsec = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
            self.times = Times::all(Time::of_host(stat.st_mtime, nsec));
        }
        self.rdev = stat.st_rdev;
        if !self.is_dir() {
            self.size = u64::try_from(stat.st_size).unwrap_or(0);
            self.links = i64::try_from(stat.st_nlink).unwrap_or(1);
        }
    }

    /// st_mode's type bits.
    pub(crate) fn kind(&self) -> u32 {
        self.mode & S_IFMT
    }

    pub(crate) fn is_dir(&self) -> bool {
        matches!(self.body, Body::Dir(_))
    }

    pub(crate) fn dir(&self) -> Option<&Dir> {
        match &self.body {
            Body::Dir(dir) => Some(dir),
            _ => None,
        }
    }

    pub(crate) fn dir_mut(&mut self) -> Option<&mut Dir> {
        match &mut self.body {
            Body::Dir(dir) => Some(dir),
            _ => None,
        }
    }

    /// Tells if changes to it go to the host.
    pub(crate) fn writes_through(&self) -> bool {
        self.host.as_ref().is_some_and(|host| host.write)
    }

    /// Tells if its attributes are changed on the host, by its path: another file may have the path
    /// of one whose last name is gone.
    pub(crate) fn keeps_attributes(&self) -> bool {
        self.writes_through() && !self.unlinked()
    }

    /// The permission bits that go to the host for those that the guest wants: a program that runs
    /// there would run as whoever runs cgemu, so no set-user-id and set-group-id bit does.
    pub(crate) fn host_bits(&self, mode: u32) -> u32 {
        if self.is_dir() { mode } else { mode & !(S_ISUID | S_ISGID) }
    }

    /// Path on the host, if it is there: a directory that was removed is not.
    pub(crate) fn host_path(&self) -> Option<HostPath> {
        self.host.as_ref().filter(|_| !self.removed).map(|host| host.path.clone())
    }

    /// st_nlink.
    pub(crate) fn nlink(&self) -> u64 {
        if self.is_dir() && self.removed {
            return 0;
        }
        u64::try_from(self.links + self.link_delta).unwrap_or(0)
    }

    /// Tells if no name is left.
    pub(crate) fn unlinked(&self) -> bool {
        if self.is_dir() { self.removed } else { self.links + self.link_delta <= 0 }
    }

    /// st_size.
    pub(crate) fn size(&self) -> u64 {
        match &self.body {
            Body::File(Content::Pages(pages)) => pages.len(),
            Body::File(Content::Object(object)) => object.len,
            Body::File(Content::Host(_)) => self.size,
            Body::Symlink(target) => target.len() as u64,
            Body::Dir(_) if !self.synthetic => PATH_MAX as u64, // one block
            _ => 0,
        }
    }

    /// st_blocks, in units of 512 bytes.
    pub(crate) fn blocks(&self) -> u64 {
        let bytes = match &self.body {
            Body::File(Content::Pages(pages)) => pages.allocated(),
            Body::Symlink(target) if target.len() < 60 => 0,
            _ => self.size(),
        };
        bytes.div_ceil(4096).saturating_mul(8)
    }

    /// Marks a change of the bytes.
    pub(crate) fn touch(&mut self, now: Time) {
        self.times.modify = now;
        self.times.change = now;
        self.own_times = true;
        self.changed = true;
        self.time_due = true;
    }

    /// Marks a change of anything but the bytes.
    pub(crate) fn touch_meta(&mut self, now: Time) {
        self.times.change = now;
        self.own_times = true;
        self.changed = true;
    }
}

/// Device number of the host's files, however many devices the host has them on: the disk of
/// `/proc/mounts`.
pub(crate) const HOST_DEV: u64 = makedev(8, 1);
/// Device number of `/proc`.
pub(crate) const PROC_DEV: u64 = makedev(0, 5);
/// Device number of namespaces.
pub(crate) const NSFS_DEV: u64 = makedev(0, 4);
/// Device number of `/sys`.
pub(crate) const SYS_DEV: u64 = makedev(0, 6);
/// Device number of `/dev`.
pub(crate) const DEV_DEV: u64 = makedev(0, 7);
/// Device number of `/dev/shm`.
pub(crate) const SHM_DEV: u64 = makedev(0, 8);
/// Device number of files of memfd_create(2).
pub(crate) const MEMFD_DEV: u64 = makedev(0, 1);
/// Device number of POSIX message queues.
pub(crate) const MQUEUE_DEV: u64 = makedev(0, 16);
/// Device number of pipes.
pub(crate) const PIPE_DEV: u64 = makedev(0, 13);
/// Device number of sockets.
pub(crate) const SOCK_DEV: u64 = makedev(0, 9);
/// Device number of terminals.
pub(crate) const PTS_DEV: u64 = makedev(0, 15);
/// Device number of descriptions without an inode of their own.
pub(crate) const ANON_DEV: u64 = makedev(0, 14);

impl Node {
    /// Tests whether nobody may change it: the directory of a process or a thread in `/proc`.
    pub(crate) fn is_immutable(&self) -> bool {
        self.dir().is_some_and(|dir| matches!(dir.kind, DirKind::Process | DirKind::Task))
    }
}

/// The type of an entry as getdents64(2) reports it.
pub(crate) fn dirent_type(mode: u32) -> u8 {
    match mode & S_IFMT {
        S_IFREG => DT_REG,
        S_IFDIR => DT_DIR,
        S_IFLNK => DT_LNK,
        S_IFCHR => DT_CHR,
        S_IFBLK => DT_BLK,
        S_IFIFO => DT_FIFO,
        S_IFSOCK => DT_SOCK,
        _ => DT_UNKNOWN,
    }
}
