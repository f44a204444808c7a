//! The tree at the start: `/dev`, `/proc` and `/sys`, the same on every machine, above the host's
//! root.

use std::path::{Path, PathBuf};

use crate::abi::fs::*;
use crate::kernel::clock::REALTIME_START;
use crate::kernel::cred::User;
use crate::kernel::vfs::caller::Caller;
use crate::kernel::vfs::content::{Content, Pages};
use crate::kernel::vfs::context::FsContext;
use crate::kernel::vfs::host::{self, HostPath};
use crate::kernel::vfs::mount::{At, MountId};
use crate::kernel::vfs::node::{
    Body, DEV_DEV, DEVICES, Device, Dir, DirKind, Entries, HOST_DEV, HostRef, Ino, MEMFD_DEV, Node, PROC_DEV,
    PTS_DEV, SHM_DEV, SYS_DEV,
};
use crate::kernel::vfs::policy::Policy;
use crate::kernel::vfs::proc_file::{Magic, ProcFile};
use crate::kernel::vfs::proc_tables::{PROC_FILES, SYSCTLS, SYSVIPC_FILES};
use crate::kernel::vfs::sys_tables::{SYS_DIRS, SYS_FILES};
use crate::kernel::vfs::time::Time;
use crate::kernel::vfs::tmpfs::Options;
use crate::kernel::vfs::tree::FileSystem;

/// Permission bits that the first program's files do not get, whatever the host's umask is.
const UMASK: u32 = 0o022;

/// The group `tty`, to which terminals belong.
const TTY_GROUP: u32 = 5;

/// Symbolic links of `/dev`.
const DEV_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

impl FileSystem {
    /// The host's tree, as far as `policy` shows it, with nothing changed yet. `user` owns the
    /// host's files and `/proc/PID`; `journal` says that the run may go back. A directory of
    /// `allow_write` that does not exist is ignored.
    pub(crate) fn new(
        allow_write: &[PathBuf],
        policy: Policy,
        memory_limit: u64,
        journal: bool,
        user: User,
    ) -> FileSystem {
        let mut fs = FileSystem::empty(allow_write, policy, memory_limit, journal, user);
        fs.boot_root();
        fs.boot_dev();
        fs.boot_proc();
        fs.boot_sys();
        fs.boot_mounts();
        fs
    }

    /// The context of the first task: a directory of the host, or `/`, and the usual umask.
    pub(crate) fn first_context(&mut self, cwd: &Path) -> FsContext {
        let cwd = host::canonical(cwd).unwrap_or_else(|| b"/"[..].into());
        let cwd = self.walk_host(&cwd).unwrap_or(self.root);
        self.hold(self.root);
        self.hold(cwd);
        let at = |ino| self.mounts.cross(At { mount: MountId::FIRST, ino });
        FsContext { root: at(self.root), cwd: self.place_of(cwd), umask: UMASK }
    }

    /// The place of a directory among the machine's own mounts.
    fn place_of(&self, dir: Ino) -> At {
        let tops = std::iter::successors(Some(dir), |at| (*at != self.root).then(|| self.parent(*at)));
        let tops: Vec<MountId> =
            tops.map(|ino| self.mounts.cross(At { mount: MountId::FIRST, ino }).mount).collect();
        let mount = tops.into_iter().find(|mount| *mount != MountId::FIRST).unwrap_or(MountId::FIRST);
        At { mount, ino: dir }
    }

    fn boot_mounts(&mut self) {
        let child = |fs: &mut FileSystem, dir: Ino, name: &str| {
            fs.lookup_plain(dir, name.as_bytes()).ok().flatten().unwrap_or(dir)
        };
        let root = self.root;
        let (sys, dev) = (child(self, root, "sys"), child(self, root, "dev"));
        let shm = child(self, dev, "shm");
        for (ino, source, kind, device) in [
            (root, "/dev/root", "ext4", HOST_DEV),
            (self.proc, "proc", "proc", PROC_DEV),
            (sys, "sysfs", "sysfs", SYS_DEV),
            (dev, "devtmpfs", "devtmpfs", DEV_DEV),
            (shm, "tmpfs", "tmpfs", SHM_DEV),
            (self.pts, "devpts", "devpts", PTS_DEV),
        ] {
            self.mounts.boot(ino, source, kind, device);
        }
        let upon_dev = self.mounts.cross(At { mount: MountId::FIRST, ino: dev });
        for ino in [shm, self.pts] {
            let id = self.mounts.cross(At { mount: MountId::FIRST, ino }).mount;
            self.mounts.move_to(id, Some(At { mount: upon_dev.mount, ino }));
        }
    }

    /// The top of a new tmpfs, its device, and the options that are shown; without options that of
    /// a ramfs, which nothing bounds.
    pub(crate) fn make_tmpfs(
        &mut self,
        options: Option<&Options>,
        (mode, (uid, gid)): (u32, (u32, u32)),
        now: Time,
    ) -> (Ino, u64, String) {
        let entries = Entries::default();
        let dir = Dir { entries, parent: self.root, name: b"/"[..].into(), kind: DirKind::Plain };
        let device = makedev(0, self.mounts.next_device());
        let shown = options.map(|options| self.tmpfs.add(device, options, (mode, (uid, gid))));
        let mut node = Node::new(Body::Dir(dir), S_IFDIR | mode & 0o7777, uid, gid, now);
        node.dev = device;
        let ino = self.add(node);
        if let Some(dir) = self.node_mut(ino).dir_mut() {
            dir.parent = ino;
        }
        (ino, device, shown.unwrap_or_default())
    }

    /// Drops the top of a tmpfs that was not mounted.
    pub(crate) fn drop_tmpfs(&mut self, ino: Ino) {
        let device = self.node(ino).dev;
        self.remove(ino);
        self.tmpfs.remove(device);
    }

    fn boot_root(&mut self) {
        let dir =
            Dir { entries: Entries::default(), parent: Ino(0), name: b"/"[..].into(), kind: DirKind::Plain };
        let User { uid, gid } = self.owner;
        let mut root = Node::new(Body::Dir(dir), S_IFDIR | 0o755, uid, gid, Time::default());
        root.own_mode = false;
        root.own_times = false;
        root.number = 2;
        let path: HostPath = self.policy.root().into();
        if let Ok(stat) = host::lstat(&path) {
            root.refresh(&stat);
            root.dev = HOST_DEV;
            self.numbers.insert((stat.st_dev, stat.st_ino), 2);
            let write = self.may_write_host(&path);
            root.host = Some(HostRef { path: path.clone(), key: (stat.st_dev, stat.st_ino), write });
        }
        self.last_number = 2;
        self.root = self.add(root);
        self.dirs.insert(path, self.root);
    }

    fn plant(&mut self, dir: Ino, name: &str, body: Body, mode: u32, dev: u64) -> Ino {
        let mut node = Node::new(body, mode, 0, 0, Time::from_ns(REALTIME_START));
        node.dev = dev;
        node.synthetic = true;
        if node.is_dir() && dir != self.root {
            self.node_mut(dir).link_delta += 1;
        }
        let ino = self.add(node);
        if let Some(dir) = self.node_mut(dir).dir_mut() {
            dir.entries.insert(name.as_bytes().into(), Some(ino));
        }
        ino
    }

    fn plant_dir(&mut self, dir: Ino, name: &str, kind: DirKind, mode: u32, dev: u64) -> Ino {
        let body = Dir { entries: Entries::default(), parent: dir, name: name.as_bytes().into(), kind };
        self.plant(dir, name, Body::Dir(body), S_IFDIR | mode, dev)
    }

    /// The directory with a name, made if it is not there.
    fn plant_path(&mut self, dir: Ino, name: &str, mode: u32, dev: u64) -> Ino {
        let known = self.lookup_plain(dir, name.as_bytes()).ok().flatten();
        known.unwrap_or_else(|| self.plant_dir(dir, name, DirKind::Plain, mode, dev))
    }

    fn plant_files(&mut self, dir: Ino, dev: u64, files: &[(&str, ProcFile)]) {
        for (name, file) in files {
            self.plant(dir, name, Body::Proc(*file), S_IFREG | 0o444, dev);
        }
    }

    fn plant_links(&mut self, dir: Ino, dev: u64, links: &[(&str, Magic)]) {
        for (name, magic) in links {
            self.plant(dir, name, Body::Magic(*magic), S_IFLNK | 0o777, dev);
        }
    }

    fn boot_dev(&mut self) {
        let dev = self.plant_dir(self.root, "dev", DirKind::Plain, 0o755, DEV_DEV);
        for (name, device, rdev) in DEVICES {
            let ino = self.plant(dev, name, Body::Device(device), S_IFCHR | 0o666, DEV_DEV);
            self.node_mut(ino).rdev = rdev;
        }
        for (name, target) in DEV_LINKS {
            self.plant(dev, name, Body::Symlink(target.as_bytes().into()), S_IFLNK | 0o777, DEV_DEV);
        }
        self.pts = self.plant_dir(dev, "pts", DirKind::Plain, 0o755, PTS_DEV);
        self.tmpfs.add(SHM_DEV, &Options::default(), (0o1777, (0, 0)));
        self.plant_dir(dev, "shm", DirKind::Plain, 0o1777, SHM_DEV);
    }

    /// Makes a pseudo-terminal and its name in `/dev/pts`; its number, or `None` if there are too
    /// many. Like that of devpts the slave belongs to who made it.
    pub(crate) fn make_pty(&mut self, uid: u32) -> Option<u32> {
        let queues = (self.queues.add(), self.queues.add());
        let number = self.ptys.add(queues)?;
        let name = number.to_string();
        let ino = match self.terminals.get(&number) {
            Some(ino) => *ino,
            None => {
                let device = Body::Device(Device::Pts(number));
                let ino = self.plant(self.pts, &name, device, S_IFCHR | 0o620, PTS_DEV);
                self.node_mut(ino).rdev = makedev(136, number.into());
                self.terminals.insert(number, ino);
                ino
            }
        };
        let node = self.node_mut(ino);
        (node.uid, node.gid, node.mode) = (uid, TTY_GROUP, S_IFCHR | 0o620);
        if let Some(dir) = self.node_mut(self.pts).dir_mut() {
            dir.entries.insert(name.as_bytes().into(), Some(ino));
        }
        Some(number)
    }

    /// The inode of the slave of a pseudo-terminal.
    pub(crate) fn terminal(&self, number: u32) -> Option<Ino> {
        self.terminals.get(&number).copied()
    }

    /// Takes the name of a pseudo-terminal whose master is closed out of `/dev/pts`.
    pub(crate) fn hide_pty(&mut self, number: u32) {
        if let Some(dir) = self.node_mut(self.pts).dir_mut() {
            dir.entries.remove(number.to_string().as_bytes());
        }
    }

    /// The device of `/dev` with a number.
    pub(crate) fn device(&self, rdev: u64) -> Option<Ino> {
        let dev = self.node(self.root).dir()?.entries.get(&b"dev"[..]).copied()??;
        let (name, _, _) = DEVICES.iter().find(|(_, _, number)| *number == rdev)?;
        self.node(dev).dir()?.entries.get(name.as_bytes()).copied()?
    }

    /// Has `/etc/hosts` begin with some lines, before those of the host.
    pub(crate) fn name_hosts(&mut self, lines: &str) {
        let etc = self.plant_path(self.root, "etc", 0o755, HOST_DEV);
        let shown = self.lookup_plain(etc, b"hosts").ok().flatten();
        let path = shown.and_then(|ino| self.node(ino).host_path());
        let own = path.and_then(|path| std::fs::read(host::as_path(&path)).ok()).unwrap_or_default();
        let mut pages = Pages::default();
        // There is room for it.
        let _ = pages.write(0, &[lines.as_bytes(), &own].concat(), u64::MAX);
        self.plant(etc, "hosts", Body::File(Content::Pages(pages)), S_IFREG | 0o644, HOST_DEV);
    }

    fn boot_proc(&mut self) {
        let proc = self.plant_dir(self.root, "proc", DirKind::Proc, 0o555, PROC_DEV);
        self.plant_links(proc, PROC_DEV, &[("self", Magic::Pid), ("thread-self", Magic::Thread)]);
        for (name, target) in [("mounts", &b"self/mounts"[..]), ("net", b"self/net")] {
            self.plant(proc, name, Body::Symlink(target.into()), S_IFLNK | 0o777, PROC_DEV);
        }
        self.plant_files(proc, PROC_DEV, PROC_FILES);
        let sysvipc = self.plant_dir(proc, "sysvipc", DirKind::Plain, 0o555, PROC_DEV);
        self.plant_files(sysvipc, PROC_DEV, SYSVIPC_FILES);
        let sys = self.plant_dir(proc, "sys", DirKind::Plain, 0o555, PROC_DEV);
        for (path, files) in SYSCTLS {
            let dir = path.split('/').fold(sys, |at, name| self.plant_path(at, name, 0o555, PROC_DEV));
            self.plant_files(dir, PROC_DEV, files);
        }
        self.proc = proc;
    }

    fn boot_sys(&mut self) {
        let sys = self.plant_dir(self.root, "sys", DirKind::Plain, 0o555, SYS_DEV);
        for path in SYS_DIRS {
            self.plant_all(sys, path);
        }
        for (path, files) in SYS_FILES {
            let dir = self.plant_all(sys, path);
            for (name, text) in files {
                self.plant_files(dir, SYS_DEV, &[(name, ProcFile::Text(text))]);
            }
        }
    }

    /// The directory at a path of `/sys`, with those on the way to it.
    fn plant_all(&mut self, sys: Ino, path: &str) -> Ino {
        path.split('/').fold(sys, |at, name| self.plant_path(at, name, 0o755, SYS_DEV))
    }

    /// Makes a regular file without a name, memfd_create(2).
    pub(crate) fn memfd(&mut self, caller: &Caller, seals: u32, mode: u32) -> Ino {
        let body = Body::File(Content::Pages(Default::default()));
        let mut node = Node::new(body, S_IFREG | mode, caller.cred.uid.fs, caller.cred.gid.fs, caller.now);
        (node.links, node.link_delta) = (1, -1);
        node.dev = MEMFD_DEV;
        node.seals = seals;
        self.add(node)
    }
}
