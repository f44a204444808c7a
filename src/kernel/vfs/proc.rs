//! Directories of processes and tasks in `/proc`. Their inodes are made when they are asked for and
//! belong to one process or task: an open descriptor shows that one, whoever reads it, and nothing
//! once it is gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::clock::REALTIME_START;
use crate::kernel::namespace::kind::{Kind, NsId};
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::node::{Body, Dir, DirKind, Entries, Ino, NSFS_DEV, Node, PROC_DEV};
use crate::kernel::vfs::proc_file::{Magic, ProcFile, Subject};
use crate::kernel::vfs::proc_tables::{Item, items};
use crate::kernel::vfs::time::Time;
use crate::kernel::vfs::tree::FileSystem;

/// A name that is a number as `/proc` writes it.
fn number(name: &[u8]) -> Option<i32> {
    let text =
        std::str::from_utf8(name).ok().filter(|text| text.starts_with(|c: char| c.is_ascii_digit()))?;
    text.parse().ok().filter(|number: &i32| number.to_string() == text)
}

fn name_of(number: i32) -> Arc<[u8]> {
    number.to_string().into_bytes().into()
}

impl FileSystem {
    /// Looks up a name that depends on processes; `None` if it is not one of those.
    pub(super) fn lookup_proc(&mut self, caller: &Caller, dir: Ino, name: &[u8]) -> Option<Option<Ino>> {
        let node = self.node(dir);
        let (kind, subject, pid_ns) = (node.dir()?.kind, node.subject, node.pid_ns);
        if kind == DirKind::Plain || kind == DirKind::Proc && number(name).is_none() {
            return None;
        }
        let Ok(tasks) = caller.tasks() else { return Some(None) };
        let found = match (kind, subject, number(name)) {
            (DirKind::Proc, _, Some(number)) => {
                tasks.find(pid_ns, number).and_then(|subject| self.subject(caller, pid_ns, subject))
            }
            (_, Some(subject), _) if tasks.number(pid_ns, subject).is_none() => None,
            (DirKind::Tasks, Some(of), Some(number)) if tasks.tasks(pid_ns, of).contains(&number) => {
                let subject = match tasks.find(pid_ns, number) {
                    Some(Subject::Process(process)) => tasks.leader(process),
                    found => found,
                };
                subject.and_then(|subject| self.subject(caller, pid_ns, subject))
            }
            (DirKind::Fd | DirKind::FdInfo, _, Some(fd)) => {
                let item = match kind {
                    DirKind::Fd => Item::Link(Magic::Fd(fd)),
                    _ => Item::File(0o444, ProcFile::FdInfo(fd)),
                };
                caller.file_of(subject, fd).is_ok().then(|| self.item(dir, name, item))
            }
            _ => {
                let item = items(kind).find(|(known, _)| known.as_bytes() == name);
                item.map(|(_, item)| self.item(dir, name, item))
            }
        };
        if let Some(ino) = found {
            self.own(caller, ino);
        }
        Some(found)
    }

    /// Names of a directory that depend on processes.
    pub(super) fn proc_names(&self, caller: &Caller, dir: Ino) -> Result<BTreeSet<Arc<[u8]>>, Errno> {
        let node = self.node(dir);
        let Some(kind) = node.dir().map(|dir| dir.kind).filter(|kind| *kind != DirKind::Plain) else {
            return Ok(BTreeSet::new());
        };
        let (tasks, pid_ns) = (caller.tasks()?, node.pid_ns);
        let numbers = match (kind, node.subject) {
            (DirKind::Proc, _) => tasks.processes(pid_ns),
            (_, Some(subject)) if tasks.number(pid_ns, subject).is_none() => return Err(Errno::ENOENT),
            (DirKind::Tasks, Some(subject)) => tasks.tasks(pid_ns, subject),
            (DirKind::Fd | DirKind::FdInfo, Some(subject)) => {
                tasks.fds(subject).map_or(Vec::new(), |fds| fds.numbers().collect())
            }
            _ => Vec::new(),
        };
        let fixed = items(kind).map(|(name, _)| name.as_bytes().into());
        Ok(numbers.into_iter().map(name_of).chain(fixed).collect())
    }

    /// The directory of a process or task.
    fn subject(&mut self, caller: &Caller, pid_ns: NsId, subject: Subject) -> Option<Ino> {
        let tasks = caller.tasks().ok()?;
        let name = name_of(tasks.number(pid_ns, subject)?);
        if let Some(ino) = self.subjects.get(&(subject, pid_ns)).copied() {
            if let Some(dir) = self.node_mut(ino).dir_mut().filter(|dir| dir.name != name) {
                dir.name = name; // execve(2) has given a task the number of its leader
            }
            return Some(ino);
        }
        let (parent, kind) = match subject {
            Subject::Process(_) => (self.proc_of(pid_ns), DirKind::Process),
            Subject::Task(_) => {
                let process = self.subject(caller, pid_ns, tasks.process(subject)?)?;
                let tasks = self.item(process, b"task", Item::Dir(0o555, DirKind::Tasks));
                (tasks, DirKind::Task)
            }
        };
        let ino = self.add_proc(parent, Some(subject), &name, Item::Dir(0o555, kind));
        self.subjects.insert((subject, pid_ns), ino);
        Some(ino)
    }

    /// An entry of a directory of a process or task, made at first sight.
    fn item(&mut self, dir: Ino, name: &[u8], item: Item) -> Ino {
        if let Some(Some(ino)) = self.node(dir).dir().and_then(|dir| dir.entries.get(name)) {
            return *ino;
        }
        let ino = self.add_proc(dir, self.node(dir).subject, name, item);
        if let Some(dir) = self.node_mut(dir).dir_mut() {
            dir.entries.insert(name.into(), Some(ino));
        }
        ino
    }

    fn add_proc(&mut self, parent: Ino, subject: Option<Subject>, name: &[u8], item: Item) -> Ino {
        let (body, mode) = match item {
            Item::File(mode, file) => (Body::Proc(file), S_IFREG | mode),
            Item::Link(magic @ Magic::Fd(_)) => (Body::Magic(magic), S_IFLNK | 0o700),
            Item::Link(magic) => (Body::Magic(magic), S_IFLNK | 0o777),
            Item::Dir(mode, kind) => {
                let dir = Dir { entries: Entries::default(), parent, name: name.into(), kind };
                (Body::Dir(dir), S_IFDIR | mode)
            }
        };
        let mut node = Node::new(body, mode, 0, 0, Time::from_ns(REALTIME_START));
        (node.dev, node.synthetic, node.subject) = (PROC_DEV, true, subject);
        node.pid_ns = self.node(parent).pid_ns;
        self.add(node)
    }

    /// Gives an inode the owner that it has now, and the link of a descriptor the rights that the
    /// descriptor has.
    fn own(&mut self, caller: &Caller, ino: Ino) {
        let (Some(subject), Ok(tasks)) = (self.node(ino).subject, caller.tasks()) else { return };
        let Some(owner) = tasks.owner(subject) else { return };
        let open = match self.node(ino).body {
            Body::Magic(Magic::Fd(fd)) => {
                caller.file_of(Some(subject), fd).ok().map(|file| caller.files.link(file))
            }
            _ => None,
        };
        if let Body::Magic(Magic::Namespace(link)) = self.node(ino).body
            && let Some(id) = tasks.namespace(subject, link)
        {
            self.add_namespace_node(link.kind(), id);
        }
        let node = self.node_mut(ino);
        (node.uid, node.gid) = if node.mode == S_IFDIR | 0o555 { owner.of_directory } else { owner.of_files };
        if let Some(open) = open {
            let bits = if open.readable { 0o500 } else { 0 } | if open.writable { 0o300 } else { 0 };
            node.mode = S_IFLNK | bits;
        }
    }

    /// The inode of a namespace, if it was ever looked up.
    pub(super) fn namespace_node(&self, id: NsId) -> Option<Ino> {
        self.namespaces.get(&id).copied()
    }

    fn add_namespace_node(&mut self, kind: Kind, id: NsId) {
        if !self.namespaces.contains_key(&id) {
            let body = Body::Namespace(kind, id);
            let mut node = Node::new(body, S_IFREG | 0o444, 0, 0, Time::from_ns(REALTIME_START));
            (node.dev, node.number, node.synthetic) = (NSFS_DEV, id.0.into(), true);
            let ino = self.add(node);
            self.namespaces.insert(id, ino);
        }
    }

    /// The namespaces that somebody holds open.
    pub(in crate::kernel) fn held_namespaces(&self) -> BTreeSet<NsId> {
        let held = self.namespaces.iter().filter(|(_, ino)| self.node(**ino).opens > 0);
        held.map(|(id, _)| *id).collect()
    }

    /// Forgets the inode of a namespace that is gone.
    pub(in crate::kernel) fn forget_namespace(&mut self, id: NsId) {
        if let Some(ino) = self.namespaces.remove(&id) {
            self.remove(ino);
        }
    }

    /// Takes the directory of a process or task out that is gone. Who holds an inode there keeps
    /// it, and finds nothing in it.
    pub(crate) fn forget_subject(&mut self, subject: Subject) {
        let all = (subject, NsId(0))..=(subject, NsId(u32::MAX));
        let held: Vec<(Subject, NsId)> = self.subjects.range(all).map(|(key, _)| *key).collect();
        for key in held {
            if let Some(ino) = self.subjects.remove(&key) {
                self.forget_below(ino);
            }
        }
    }

    /// The root of `/proc` as a PID namespace has it: its own processes beside what is the
    /// machine's.
    pub(in crate::kernel) fn proc_of(&mut self, pid_ns: NsId) -> Ino {
        if pid_ns == Kind::Pid.first() {
            return self.proc;
        }
        if let Some(ino) = self.procs.get(&pid_ns) {
            return *ino;
        }
        let entries = self.node(self.proc).dir().map(|dir| dir.entries.clone()).unwrap_or_default();
        let ino = self.add_proc(self.root, None, b"proc", Item::Dir(0o555, DirKind::Proc));
        self.node_mut(ino).pid_ns = pid_ns;
        let own = [("self", Magic::Pid), ("thread-self", Magic::Thread)];
        let own =
            own.map(|(name, magic)| (name, self.add_proc(ino, None, name.as_bytes(), Item::Link(magic))));
        if let Some(dir) = self.node_mut(ino).dir_mut() {
            dir.entries = entries;
            own.iter().for_each(|(name, ino)| {
                dir.entries.insert(name.as_bytes().into(), Some(*ino));
            });
        }
        self.procs.insert(pid_ns, ino);
        self.hold(ino); // until its namespace is gone
        ino
    }

    /// Forgets the root of `/proc` of a PID namespace that is gone; mounts of it show no process.
    pub(in crate::kernel) fn forget_proc_of(&mut self, pid_ns: NsId) {
        let Some(ino) = self.procs.remove(&pid_ns) else { return };
        for name in [&b"self"[..], b"thread-self"] {
            let link = self.node(ino).dir().and_then(|dir| dir.entries.get(name).copied().flatten());
            if let Some(dir) = self.node_mut(ino).dir_mut() {
                dir.entries.remove(name);
            }
            if let Some(link) = link.filter(|link| self.node(*link).opens == 0) {
                self.remove(link);
            }
        }
        let node = self.node_mut(ino);
        node.opens -= 1;
        if node.opens == 0 {
            if let Some(dir) = node.dir_mut() {
                dir.entries = Entries::default();
            }
            self.remove(ino);
        }
    }

    fn forget_below(&mut self, ino: Ino) {
        let entries = self.node(ino).dir().map(|dir| dir.entries.values().flatten().copied().collect());
        let entries: Vec<Ino> = entries.unwrap_or_default();
        entries.into_iter().for_each(|entry| self.forget_below(entry));
        let node = self.node_mut(ino);
        (node.links, node.link_delta, node.removed) = (0, 0, true);
        let parent = node.dir_mut().map(|dir| {
            dir.entries = Entries::default();
            dir.parent
        });
        if node.opens == 0 {
            self.remove(ino);
        } else if let Some(parent) = parent {
            self.hold(parent); // as directories do that are removed
        }
    }
}
