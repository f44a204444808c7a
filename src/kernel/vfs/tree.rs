//! The table of inodes, and how inodes of the host enter it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use rustix::fs::Stat;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::inotify::IN_DELETE_SELF;
use crate::guest::GuestMemory;
use crate::kernel::cred::User;
use crate::kernel::io_uring::Rings;
use crate::kernel::mqueue::Mqueues;
use crate::kernel::namespace::kind::NsId;
use crate::kernel::net::table::Net;
use crate::kernel::slab::Slab;
use crate::kernel::timerfd::TimerFds;
use crate::kernel::userfault::Userfaults;
use crate::kernel::vfs::content::Content;
use crate::kernel::vfs::host::{self, HostPath};
use crate::kernel::vfs::host_fingerprint::HostFingerprint;
use crate::kernel::vfs::host_handle::HostHandles;
use crate::kernel::vfs::mount::Mounts;
use crate::kernel::vfs::nameless::Nameless;
use crate::kernel::vfs::node::{
    Body, DEV_DEV, Dir, DirKind, Entries, HOST_DEV, HostRef, Ino, MEMFD_DEV, Node, SHM_DEV, SYS_DEV,
};
use crate::kernel::vfs::notify::{Happening, Notify};
use crate::kernel::vfs::pipe::Pipes;
use crate::kernel::vfs::policy::{NotShown, Policy, View};
use crate::kernel::vfs::proc_file::Subject;
use crate::kernel::vfs::pty::Ptys;
use crate::kernel::vfs::quota::Quota;
use crate::kernel::vfs::time::{HostClock, Time};
use crate::kernel::vfs::tmpfs::TmpfsTable;
use crate::kernel::wait_queue::WaitQueues;

/// Every inode, the pipes and sockets, and who waits for something to become ready.
#[derive(Clone, Debug)]
pub struct FileSystem {
    nodes: Slab<Node>,
    /// Directories of the host by path.
    pub(super) dirs: FxHashMap<HostPath, Ino>,
    /// Other files of the host by device, inode and permission to change them.
    pub(super) files_seen: FxHashMap<(u64, u64, bool), Ino>,
    pub(super) numbers: FxHashMap<(u64, u64), u64>,
    /// Owner of the host's files.
    pub(super) owner: User,
    pub(super) last_number: u64,
    pub(in crate::kernel) root: Ino,
    /// `/proc`, and its directories of processes and tasks that were asked for.
    pub(crate) mounts: Mounts,
    pub(in crate::kernel) proc: Ino,
    pub(super) subjects: BTreeMap<(Subject, NsId), Ino>,
    /// Its roots as PID namespaces have them, beside the first.
    pub(super) procs: BTreeMap<NsId, Ino>,
    /// Inodes of namespaces.
    pub(super) namespaces: BTreeMap<NsId, Ino>,
    allow_write: Vec<HostPath>,
    pub(super) policy: Policy,
    /// Files of the host that the policy kept from the guest.
    pub not_shown: NotShown,
    pub(crate) memory_limit: u64,
    pub(crate) quota: Quota,
    pub(crate) tmpfs: TmpfsTable,
    /// The limit has kept the bytes of a file out.
    pub(super) out_of_memory: bool,
    pub(crate) pipes: Pipes,
    /// Attributes that pipes and sockets were given, by their numbers.
    pub(crate) nameless: BTreeMap<u64, Nameless>,
    pub(crate) ptys: Ptys,
    /// `/dev/pts`, and the inodes of its terminals by number.
    pub(super) pts: Ino,
    pub(super) terminals: BTreeMap<u32, Ino>,
    pub(crate) queues: WaitQueues,
    pub(crate) net: Net,
    pub(crate) timer_fds: TimerFds,
    pub(crate) userfaults: Userfaults,
    /// Rings of io_uring_setup(2).
    pub(crate) rings: Rings,
    /// POSIX message queues.
    pub(crate) mqueues: Mqueues,
    pub(crate) notify: Notify,
    /// Moment of the host at which the guest's clock began.
    pub(super) host_clock: HostClock,
    /// Open files of the host.
    pub(crate) handles: HostHandles,
    /// The host's files that were opened, if the run may go back.
    pub fingerprint: Option<HostFingerprint>,
}

impl FileSystem {
    /// A table without inodes; `boot` fills it. A directory of `allow_write` that does not exist is
    /// ignored.
    pub(super) fn empty(
        allow_write: &[PathBuf],
        policy: Policy,
        memory_limit: u64,
        journal: bool,
        owner: User,
    ) -> FileSystem {
        FileSystem {
            nodes: Slab::default(),
            dirs: FxHashMap::default(),
            files_seen: FxHashMap::default(),
            numbers: FxHashMap::default(),
            owner,
            last_number: 1,
            root: Ino(0),
            mounts: Mounts::default(),
            proc: Ino(0),
            procs: BTreeMap::new(),
            subjects: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            allow_write: allow_write.iter().filter_map(|path| host::canonical(path)).collect(),
            policy,
            not_shown: NotShown::default(),
            memory_limit,
            quota: Quota::default(),
            tmpfs: TmpfsTable::default(),
            out_of_memory: false,
            pipes: Pipes::default(),
            nameless: BTreeMap::new(),
            ptys: Ptys::default(),
            pts: Ino(0),
            terminals: BTreeMap::new(),
            queues: WaitQueues::default(),
            net: Net::default(),
            timer_fds: TimerFds::default(),
            userfaults: Userfaults::default(),
            rings: Rings::default(),
            mqueues: Mqueues::default(),
            notify: Notify::default(),
            host_clock: HostClock::now(),
            handles: HostHandles::default(),
            fingerprint: journal.then(HostFingerprint::default),
        }
    }

    /// Sets the bounds on files and output.
    pub(in crate::kernel) fn bound(&mut self, files: Option<u64>, output: Option<u64>) {
        self.quota = Quota::new(files, output);
    }

    /// Bytes that files, pipes, sockets and epoll instances take.
    pub(crate) fn charged(&mut self) -> u64 {
        fn table<K, V>(map: &FxHashMap<K, V>) -> u64 {
            (map.capacity() * (size_of::<(K, V)>() + 1) * 8 / 7) as u64
        }
        let tables = table(&self.dirs) + table(&self.files_seen) + table(&self.numbers);
        let waiting = self.queues.bytes()
            + self.timer_fds.bytes()
            + self.userfaults.bytes()
            + self.rings.bytes()
            + self.notify.charged();
        self.nodes.charged()
            + tables
            + self.pipes.charged()
            + self.ptys.charged()
            + waiting
            + self.net.bytes()
            + self.mqueues.charged()
    }

    /// Lets the timers of timerfd_create(2) that are due wake who waits for them.
    pub(crate) fn expire_timer_fds(&mut self, now: u64) {
        for queue in self.timer_fds.expire(now) {
            self.queues.wake(queue, POLLIN);
        }
    }

    /// Tells those timers that CLOCK_REALTIME was set forward by `by` nanoseconds.
    pub(crate) fn clock_was_set(&mut self, by: i64) {
        for queue in self.timer_fds.clock_was_set(by) {
            self.queues.wake(queue, POLLIN);
        }
    }

    /// Tells if the limit of memory has kept bytes of a file out since the last call.
    pub(crate) fn take_out_of_memory(&mut self) -> bool {
        std::mem::take(&mut self.out_of_memory)
    }

    /// Counts the files and directories that the guest made, changed or removed outside the
    /// directories that it may change for good, and left so. They are dropped with this value.
    pub fn dropped(&self) -> usize {
        let mut seen = BTreeSet::new();
        let mut count = 0;
        let named = self.nodes().map(|(_, node)| node).filter(|node| !node.synthetic && !node.unlinked());
        for entry in named.filter_map(Node::dir).flat_map(|dir| dir.entries.values()) {
            match entry {
                None => count += 1,
                Some(ino) if self.node(*ino).synthetic => {}
                Some(ino) if seen.insert(*ino) => count += 1,
                Some(_) => {}
            }
        }
        for (ino, node) in self.nodes() {
            let overlaid = node.changed && !node.writes_through() && node.host.is_some() && !node.is_dir();
            if overlaid && !node.unlinked() && seen.insert(ino) {
                count += 1;
            }
        }
        count
    }

    /// The owner of the host's files.
    pub(crate) fn owner(&self) -> User {
        self.owner
    }

    pub(crate) fn node(&self, ino: Ino) -> &Node {
        self.nodes.get(ino.0)
    }

    pub(crate) fn node_mut(&mut self, ino: Ino) -> &mut Node {
        self.nodes.get_mut(ino.0)
    }

    /// Every inode; those that are gone have no name.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (Ino, &Node)> {
        self.nodes.iter().map(|(at, node)| (Ino(at), node))
    }

    /// Takes an inode out that nobody holds and no name leads to.
    pub(super) fn remove(&mut self, ino: Ino) {
        self.notify.forget(ino, &mut self.queues);
        let node = self.nodes.remove(ino.0);
        self.count_gone(&node);
    }

    /// Counts a file that the program has made.
    pub(super) fn count_made(&mut self, ino: Ino) {
        if !std::mem::replace(&mut self.node_mut(ino).made, true) {
            self.quota.made();
        }
    }

    fn count_gone(&mut self, node: &Node) {
        self.tmpfs.inode_gone(node.dev);
        if node.made {
            self.quota.gone();
        }
    }

    /// Adds an inode, and numbers it unless it is one of the host's.
    pub(crate) fn add(&mut self, mut node: Node) -> Ino {
        if node.number == 0 && node.host.is_none() {
            self.last_number += 1;
            node.number = self.last_number;
        }
        let made = node.host.is_none() && !node.synthetic;
        self.tmpfs.inode_made(node.dev);
        let ino = Ino(self.nodes.insert(node));
        if made {
            self.count_made(ino);
        }
        ino
    }

    /// A fresh inode number for something without an inode.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// The number shown for an inode. One of the host's gets it here, when the guest first sees it:
    /// not when a path leads through it, which may begin in any directory of the host.
    pub(crate) fn number(&mut self, ino: Ino) -> u64 {
        let node = self.node(ino);
        match (node.number, &node.host) {
            (0, Some(host)) => {
                let (dev, inode) = host.key;
                let number = self.inode_number(dev, inode);
                self.node_mut(ino).number = number;
                number
            }
            (number, _) => number,
        }
    }

    /// The number shown for an inode, if it was ever asked for.
    pub(in crate::kernel) fn number_if_shown(&self, ino: Ino) -> Option<u64> {
        let node = self.node(ino);
        match (node.number, &node.host) {
            (0, Some(host)) => self.numbers.get(&host.key).copied(),
            (number, _) => Some(number),
        }
    }

    /// The number shown for an inode of the host, in order of first sight.
    pub(crate) fn inode_number(&mut self, dev: u64, ino: u64) -> u64 {
        let last = &mut self.last_number;
        *self.numbers.entry((dev, ino)).or_insert_with(|| {
            *last += 1;
            *last
        })
    }

    /// Tests whether an inode lies in memory: in a tmpfs, or among the files of memfd_create(2).
    pub(crate) fn is_in_memory(&self, ino: Ino) -> bool {
        self.is_tmpfs(self.node(ino).dev)
    }

    /// Tests whether files of a device lie in memory.
    pub(crate) fn is_tmpfs(&self, device: u64) -> bool {
        [MEMFD_DEV, SHM_DEV].contains(&device) || self.mounts.is_of_tmpfs(device)
    }

    /// The number in the handle of an inode; none where the file system gives no handles.
    pub(crate) fn handle_of(&mut self, ino: Ino) -> Option<u64> {
        let exported = [HOST_DEV, DEV_DEV, SHM_DEV, MEMFD_DEV, SYS_DEV];
        let node = self.node(ino);
        (exported.contains(&node.dev) || !node.synthetic).then(|| self.number(ino))
    }

    /// The inode of a handle on a device, unless it is gone.
    pub(crate) fn by_handle(&self, device: u64, number: u64) -> Option<Ino> {
        let same = |node: &Node| node.dev == device && node.number == number;
        self.nodes().find(|(_, node)| same(node)).map(|(ino, _)| ino)
    }

    /// Tells if a path of the host may be changed for good.
    pub(super) fn may_write_host(&self, path: &[u8]) -> bool {
        self.allow_write.iter().any(|allowed| match path.strip_prefix(&allowed[..]) {
            Some(rest) => rest.is_empty() || rest[0] == b'/' || allowed.ends_with(b"/"),
            None => false,
        })
    }

    /// Tells if a path is one of the directories that may be changed: like a mount point it stays.
    pub(super) fn is_write_root(&self, path: &[u8]) -> bool {
        self.allow_write.iter().any(|allowed| **allowed == *path)
    }

    /// The attributes of a file of the host at a path without links; `None` if there is none, or
    /// none that is shown.
    pub(super) fn look_at_host(&self, path: &[u8]) -> Result<Option<Stat>, Errno> {
        if self.policy.view(path) == View::Hidden {
            return Ok(None);
        }
        match self.handles.open(|| host::lstat(path)) {
            Ok(stat) => Ok(self.policy.shows(path, stat.st_mode).then_some(stat)),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Notes that the guest looked for a name that the host has and that is not shown.
    pub(super) fn note_not_shown(&mut self, dir: Ino, name: &[u8]) {
        let node = self.node(dir);
        let removed = node.dir().is_some_and(|held| held.entries.contains_key(name));
        let Some(path) = node.host_path().filter(|_| !removed) else { return };
        let path = host::join(&path, name);
        if let Ok(stat) = self.handles.open(|| host::lstat(&path))
            && !self.policy.shows(&path, stat.st_mode)
        {
            self.not_shown.note(&path);
        }
    }

    /// The names in a directory of the host, in no order; of a bare one those that may be shown.
    pub(super) fn host_names(&self, path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
        match self.policy.view(path) {
            View::Bare => Ok(self.policy.bare_names(path).into_iter().collect()),
            _ => self.handles.open(|| host::names(path)),
        }
    }

    /// Those of the names in a directory of the host that may be shown.
    pub(super) fn shown_names(&self, path: &[u8], names: Vec<Vec<u8>>) -> impl Iterator<Item = Vec<u8>> {
        let bare = self.policy.view(path) == View::Bare;
        names.into_iter().filter(move |name| match host::join(path, name) {
            path if bare => self.look_at_host(&path).is_ok_and(|stat| stat.is_some()),
            path => self.policy.view(&path) != View::Hidden,
        })
    }

    /// The inode of something found on the host at `path`, in the directory `parent` under `name`.
    pub(super) fn intern(
        &mut self,
        path: HostPath,
        stat: &Stat,
        parent: Ino,
        name: &[u8],
    ) -> Result<Ino, Errno> {
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
            S_IFDIR => Body::Dir(Dir {
                entries: Entries::default(),
                parent,
                name: name.into(),
                kind: DirKind::Plain,
            }),
            S_IFLNK => Body::Symlink(host::readlink(&path)?.into()),
            _ => Body::Opaque,
        };
        let User { uid, gid } = self.owner;
        let mut node = Node::new(body, stat.st_mode, uid, gid, Time::default());
        node.own_mode = false;
        node.own_times = false;
        node.refresh(stat);
        node.dev = HOST_DEV;
        node.host = Some(HostRef { path: path.clone(), key: (stat.st_dev, stat.st_ino), write });
        let ino = self.add(node);
        if is_dir {
            self.dirs.insert(path, ino);
        } else {
            self.files_seen.insert(key, ino);
        }
        Ok(ino)
    }

    /// Takes over the attributes that the host has for an inode now.
    pub(super) fn refresh(&mut self, ino: Ino) {
        let node = self.node(ino);
        let behind = match &node.body {
            Body::File(Content::Object(object)) => object.behind(),
            _ => None,
        };
        let stat = match (&node.body, &node.host) {
            (Body::File(Content::Host(Some(open))), _) => {
                open.file.file().and_then(|file| host::fstat(&file))
            }
            (Body::File(Content::Object(_)), _) if let Some(file) = behind => {
                file.file().and_then(|file| host::fstat(&file))
            }
            (Body::File(Content::Host(None)) | Body::Dir(_), Some(at)) => {
                self.handles.open(|| host::lstat(&at.path))
            }
            _ => return,
        };
        if let Ok(stat) = stat {
            self.node_mut(ino).refresh(&stat);
        }
    }

    /// Counts a holder of an inode.
    pub(crate) fn hold(&mut self, ino: Ino) {
        self.node_mut(ino).opens += 1;
    }

    /// The reverse of `hold`.
    pub(crate) fn let_go(&mut self, ino: Ino, mem: &mut dyn GuestMemory) {
        let node = self.node_mut(ino);
        node.opens = node.opens.saturating_sub(1);
        self.forget_if_unused(ino, mem);
    }

    /// Closes the host's file behind an inode that nobody holds, and frees the inode if it has no
    /// name left either.
    pub(crate) fn forget_if_unused(&mut self, ino: Ino, mem: &mut dyn GuestMemory) {
        let mut next = Some(ino);
        while let Some(ino) = next.take() {
            let node = self.node_mut(ino);
            if node.opens > 0 {
                return;
            }
            self.settle_time(ino);
            let node = self.node_mut(ino);
            if let Body::File(Content::Host(open)) = &mut node.body {
                *open = None;
            }
            if !node.unlinked() {
                return;
            }
            let gone = Happening { mask: IN_DELETE_SELF, name: None, cookie: 0, unlinked: false };
            self.notify.post(ino, gone, &mut self.queues);
            self.notify.forget(ino, &mut self.queues);
            let node = self.nodes.remove(ino.0);
            self.count_gone(&node);
            if let Some(HostRef { path, key, write }) = &node.host {
                let key = (key.0, key.1, *write);
                if self.files_seen.get(&key) == Some(&ino) {
                    self.files_seen.remove(&key);
                }
                if self.dirs.get(path) == Some(&ino) {
                    self.dirs.remove(path);
                }
            }
            match &node.body {
                Body::File(Content::Object(object)) => mem.object_release(object.id),
                Body::Symlink(target) => {
                    let pool = self.tmpfs.pool_of_link(node.dev, target, mem);
                    pool.into_iter().for_each(|pool| mem.pool_give(pool));
                }
                Body::Dir(dir) => next = Some(dir.parent),
                _ => {}
            }
            next = next.or(node.place.filter(|place| place.held).map(|place| place.dir));
            if let Some(above) = next {
                let above = self.node_mut(above);
                above.opens = above.opens.saturating_sub(1);
            }
        }
    }
}
