//! Files and directories as the guest sees them: the host's tree for reading, an overlay in memory for
//! writing, and `/proc`, `/sys` and `/dev` made here. Inodes and names are kept apart as in the kernel, so
//! hard links, renames and files without a name behave as they must. What the guest changes is dropped with
//! this value, except under the directories that it may change for good.

pub(crate) mod attr;
mod boot;
pub(crate) mod change;
pub(crate) mod content;
pub(crate) mod data;
pub(crate) mod file;
pub(crate) mod host;
mod list;
mod map;
pub(crate) mod node;
pub(crate) mod open;
pub(crate) mod pipe;
pub(crate) mod procfs;
mod resolve;
pub mod streams;
#[cfg(test)]
mod tests;
pub mod witness;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use rustix::fs::Stat;
use rustix::process;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::time::NSEC_PER_SEC;
use crate::guest::GuestMemory;
use crate::kernel::config::KernelConfig;
use crate::kernel::fdtable::FdTable;
use crate::kernel::state::Parts;
use crate::syscalls::context::Ctx;
use content::{Content, Object};
use file::Files;
use host::HostPath;
pub(crate) use list::Listed;
pub use map::{ImageFile, MapSource, Source, image};
use node::{Body, Dir, DirKind, HostRef, Node};
pub use node::{Ino, Time};
use pipe::Pipes;
pub(crate) use resolve::{Found, Last};
use streams::Streams;
use witness::Witness;

/// Working directory, root and umask of a task (CLONE_FS), `struct fs_struct`.
#[derive(Clone, Debug)]
pub struct FsContext {
    /// Root directory.
    pub(crate) root: Ino,
    /// Working directory.
    pub(crate) cwd: Ino,
    /// umask(2).
    pub(crate) umask: u32,
}

/// Who calls, and when: what path resolution and time stamps need to know beside the file system.
pub(crate) struct Who<'a> {
    pub(crate) context: &'a FsContext,
    pub(crate) fds: &'a FdTable,
    pub(crate) pid: i32,
    pub(crate) exe: &'a [u8],
    pub(crate) now: Time,
}

/// The three parts of a call that file handlers work with, for calls that change nothing: `now` is not set,
/// since asking for the time costs a synchronisation with the CPU.
pub(crate) fn parts<'b>(ctx: &'b mut Ctx) -> (&'b mut FileSystem, Who<'b>, &'b mut dyn GuestMemory) {
    parts_at(ctx, Time::default())
}

/// The same for calls that leave time stamps.
pub(crate) fn parts_now<'b>(ctx: &'b mut Ctx) -> (&'b mut FileSystem, Who<'b>, &'b mut dyn GuestMemory) {
    let now = now(ctx);
    parts_at(ctx, now)
}

/// CLOCK_REALTIME.
pub(crate) fn now(ctx: &mut Ctx) -> Time {
    let ns = ctx.kernel.clock.realtime_ns(ctx.cpu.instructions());
    Time { sec: (ns / NSEC_PER_SEC) as i64, nsec: (ns % NSEC_PER_SEC) as u32 }
}

fn parts_at<'b>(ctx: &'b mut Ctx, now: Time) -> (&'b mut FileSystem, Who<'b>, &'b mut dyn GuestMemory) {
    let Parts { fs, fds, fs_context, mm, process, .. } = ctx.kernel.parts();
    let who = Who { context: fs_context, fds, pid: process.pid, exe: mm.exe.as_bytes(), now };
    (fs, who, &mut *ctx.mem)
}

/// The user the guest runs as: the host's real one.
#[derive(Clone, Debug)]
struct Credentials {
    uid: u32,
    gid: u32,
    groups: BTreeSet<u32>,
}

/// The file system and every open file description.
#[derive(Clone, Debug)]
pub struct FileSystem {
    nodes: Vec<Node>,
    /// Directories of the host by path, other files by device, inode and whether they may be changed.
    dirs: FxHashMap<HostPath, Ino>,
    files_seen: FxHashMap<(u64, u64, bool), Ino>,
    numbers: FxHashMap<(u64, u64), u64>,
    devices: BTreeMap<u64, u64>,
    last_number: u64,
    root: Ino,
    proc_self: Ino,
    proc_task: Ino,
    who: Credentials,
    allow_write: Vec<HostPath>,
    memory_limit: u64,
    memory_used: u64,
    /// Open file descriptions, shared by the descriptors that were duplicated from one another.
    pub(crate) files: Files,
    pub(crate) pipes: Pipes,
    /// The host's standard streams.
    pub streams: Streams,
    /// The host's files that were opened, if the run may go back.
    pub witness: Option<Witness>,
}

impl FileSystem {
    /// The host's tree with nothing changed yet. A directory of `allow_write` that does not exist is ignored.
    pub fn new(config: &KernelConfig) -> FileSystem {
        let groups = process::getgroups().unwrap_or_default();
        let mut fs = FileSystem {
            nodes: Vec::new(),
            dirs: FxHashMap::default(),
            files_seen: FxHashMap::default(),
            numbers: FxHashMap::default(),
            devices: BTreeMap::new(),
            last_number: 1,
            root: Ino(0),
            proc_self: Ino(0),
            proc_task: Ino(0),
            who: Credentials {
                uid: process::geteuid().as_raw(),
                gid: process::getegid().as_raw(),
                groups: groups.iter().map(|gid| gid.as_raw()).collect(),
            },
            allow_write: config.allow_write.iter().filter_map(|path| host::canonical(path)).collect(),
            memory_limit: config.memory_limit,
            memory_used: 0,
            files: Files::default(),
            pipes: Pipes::default(),
            streams: Streams::new(config),
            witness: config.journal.then(Witness::default),
        };
        fs.boot();
        fs
    }

    /// The context of the first task: the host's umask and the working directory that was asked for.
    pub(super) fn first_context(&mut self, config: &KernelConfig) -> FsContext {
        let cwd = host::canonical(&config.cwd).unwrap_or_else(|| b"/"[..].into());
        let cwd = self.walk_host(&cwd).unwrap_or(self.root);
        FsContext { root: self.root, cwd, umask: host::umask() }
    }

    /// Bytes that files of the overlay hold in memory.
    pub fn memory_used(&self) -> u64 {
        self.memory_used
    }

    /// How many files and directories the guest made, changed or removed outside the directories it may
    /// change for good, and left so. They are dropped with this value.
    pub fn dropped(&self) -> usize {
        let mut seen = BTreeSet::new();
        let mut count = 0;
        let named = self.nodes.iter().filter(|node| !node.synthetic && !node.unlinked());
        for entry in named.filter_map(Node::dir).flat_map(|dir| dir.entries.values()) {
            match entry {
                None => count += 1,
                Some(ino) if self.node(*ino).synthetic => {}
                Some(ino) if seen.insert(*ino) => count += 1,
                Some(_) => {}
            }
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let overlaid = node.changed && !node.writes_through() && node.host.is_some() && !node.is_dir();
            if overlaid && !node.unlinked() && seen.insert(Ino(at as u32)) {
                count += 1;
            }
        }
        count
    }

    pub(crate) fn node(&self, ino: Ino) -> &Node {
        &self.nodes[ino.0 as usize]
    }

    pub(crate) fn node_mut(&mut self, ino: Ino) -> &mut Node {
        &mut self.nodes[ino.0 as usize]
    }

    /// Adds an inode and numbers it.
    pub(crate) fn add(&mut self, mut node: Node) -> Ino {
        if node.number == 0 {
            self.last_number += 1;
            node.number = self.last_number;
        }
        self.nodes.push(node);
        Ino((self.nodes.len() - 1) as u32)
    }

    /// A fresh inode number for something without an inode.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// The number shown for a device of the host, in order of first sight.
    pub(crate) fn device_number(&mut self, dev: u64) -> u64 {
        let next = makedev(8, self.devices.len() as u64 + 1);
        *self.devices.entry(dev).or_insert(next)
    }

    /// The number shown for an inode of the host, in order of first sight.
    pub(crate) fn inode_number(&mut self, dev: u64, ino: u64) -> u64 {
        let last = &mut self.last_number;
        *self.numbers.entry((dev, ino)).or_insert_with(|| {
            *last += 1;
            *last
        })
    }

    /// Whether a path of the host may be changed for good.
    fn may_write_host(&self, path: &[u8]) -> bool {
        self.allow_write.iter().any(|allowed| match path.strip_prefix(&allowed[..]) {
            Some(rest) => rest.is_empty() || rest[0] == b'/' || allowed.ends_with(b"/"),
            None => false,
        })
    }

    /// Whether a path is itself one of the directories that may be changed: like a mount point it stays.
    fn is_write_root(&self, path: &[u8]) -> bool {
        self.allow_write.iter().any(|allowed| **allowed == *path)
    }

    /// The inode of something found on the host at `path`, in the directory `parent` under `name`.
    fn intern(&mut self, path: HostPath, stat: &Stat, parent: Ino, name: &[u8]) -> Result<Ino, Errno> {
        let write = self.may_write_host(&path);
        let is_dir = stat.st_mode & S_IFMT == S_IFDIR;
        let key = (stat.st_dev, stat.st_ino, write);
        let known = if is_dir { self.dirs.get(&path) } else { self.files_seen.get(&key) }.copied();
        if let Some(ino) = known
            && self.node(ino).kind() == stat.st_mode & S_IFMT
        {
            let node = self.node_mut(ino);
            node.refresh(stat);
            if let Some(host) = &mut node.host {
                host.path = path;
            }
            return Ok(ino);
        }
        let body = match stat.st_mode & S_IFMT {
            S_IFREG => Body::File(Content::Host(None)),
            S_IFDIR => {
                Body::Dir(Dir { entries: BTreeMap::new(), parent, name: name.into(), kind: DirKind::Plain })
            }
            S_IFLNK => Body::Symlink(host::readlink(&path)?.into()),
            _ => Body::Opaque,
        };
        let mut node = Node::new(body, stat.st_mode, stat.st_uid, stat.st_gid, Time::default());
        node.own_mode = false;
        node.own_times = false;
        node.refresh(stat);
        node.dev = self.device_number(stat.st_dev);
        node.number = self.inode_number(stat.st_dev, stat.st_ino);
        node.host = Some(HostRef { path: path.clone(), key: (stat.st_dev, stat.st_ino), write });
        let ino = self.add(node);
        if is_dir {
            self.dirs.insert(path, ino);
        } else {
            self.files_seen.insert(key, ino);
        }
        Ok(ino)
    }

    /// Asks the host again what it knows of an inode.
    fn refresh(&mut self, ino: Ino) {
        let node = self.node(ino);
        let stat = match (&node.body, &node.host) {
            (Body::File(Content::Host(Some(open))), _) => host::fstat(&open.file),
            (Body::File(Content::Object(Object { behind: Some(file), .. })), _) => host::fstat(file),
            (Body::File(Content::Host(None)) | Body::Dir(_), Some(at)) => host::lstat(&at.path),
            _ => return,
        };
        if let Ok(stat) = stat {
            self.node_mut(ino).refresh(&stat);
        }
    }

    /// Whether the process may read (4), write (2) and execute or search (1) an inode, as the permission bits
    /// say; EACCES. The superuser needs only one execute bit.
    pub(crate) fn may(&self, ino: Ino, wanted: u32) -> Result<(), Errno> {
        let node = self.node(ino);
        let who = &self.who;
        let granted = if who.uid == 0 {
            if node.is_dir() || node.mode & 0o111 != 0 { 7 } else { 6 }
        } else if who.uid == node.uid {
            node.mode >> 6
        } else if who.gid == node.gid || who.groups.contains(&node.gid) {
            node.mode >> 3
        } else {
            node.mode
        };
        if granted & wanted == wanted { Ok(()) } else { Err(Errno::EACCES) }
    }

    /// Whether the process owns an inode or is the superuser; EPERM.
    pub(crate) fn owns(&self, ino: Ino) -> Result<(), Errno> {
        if self.who.uid == 0 || self.who.uid == self.node(ino).uid { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Frees what an inode holds once neither a name nor a description refers to it.
    pub(crate) fn forget_if_unused(&mut self, ino: Ino, mem: &mut dyn GuestMemory) {
        let node = self.node_mut(ino);
        if node.opens > 0 {
            return;
        }
        let unlinked = node.unlinked();
        let mut freed = 0;
        match &mut node.body {
            Body::File(Content::Host(open)) => *open = None,
            Body::File(content) if unlinked => {
                match content {
                    Content::Pages(pages) => freed = pages.memory(),
                    Content::Object(object) => mem.object_release(object.id),
                    Content::Host(_) => {}
                }
                *content = Content::Pages(Default::default());
            }
            _ => {}
        }
        self.memory_used = self.memory_used.saturating_sub(freed);
    }
}
