//! The parts of the tree that are not the host's: `/dev`, `/proc` and `/sys`, the same on every machine.

use std::collections::BTreeMap;

use crate::abi::fs::*;
use crate::kernel::vfs::content::Content;
use crate::kernel::vfs::node::{Body, Device, Dir, DirKind, HostRef, Ino, Node, Time};
use crate::kernel::vfs::procfs::{Magic, Synth};
use crate::kernel::vfs::{FileSystem, host};

/// The device number of `/proc`.
pub(super) const PROC_DEV: u64 = makedev(0, 5);
/// The device number of `/sys`.
pub(super) const SYS_DEV: u64 = makedev(0, 6);
const DEV_DEV: u64 = makedev(0, 7);
const SHM_DEV: u64 = makedev(0, 8);

impl FileSystem {
    /// Makes the root and what lies above the host in it.
    pub(crate) fn boot(&mut self) {
        let root_dir =
            Dir { entries: BTreeMap::new(), parent: Ino(0), name: b"/"[..].into(), kind: DirKind::Plain };
        let mut root = Node::new(Body::Dir(root_dir), S_IFDIR | 0o755, 0, 0, Time::default());
        root.own_mode = false;
        root.own_times = false;
        root.number = 2;
        if let Ok(stat) = host::lstat(b"/") {
            root.refresh(&stat);
            root.dev = self.device_number(stat.st_dev);
            self.numbers.insert((stat.st_dev, stat.st_ino), 2);
            let write = self.may_write_host(b"/");
            root.host = Some(HostRef { path: b"/"[..].into(), key: (stat.st_dev, stat.st_ino), write });
        }
        self.last_number = 2;
        self.root = self.add(root);
        self.dirs.insert(b"/"[..].into(), self.root);
        self.boot_dev();
        self.boot_proc();
        self.boot_sys();
    }

    fn plant(&mut self, dir: Ino, name: &str, body: Body, mode: u32, dev: u64) -> Ino {
        let mut node = Node::new(body, mode, 0, 0, Time::default());
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
        let body = Dir { entries: BTreeMap::new(), parent: dir, name: name.as_bytes().into(), kind };
        self.plant(dir, name, Body::Dir(body), S_IFDIR | mode, dev)
    }

    fn boot_dev(&mut self) {
        let dev = self.plant_dir(self.root, "dev", DirKind::Plain, 0o755, DEV_DEV);
        let devices = [
            ("null", Device::Null, makedev(1, 3), 0o666),
            ("zero", Device::Zero, makedev(1, 5), 0o666),
            ("full", Device::Full, makedev(1, 7), 0o666),
            ("random", Device::Random, makedev(1, 8), 0o666),
            ("urandom", Device::Random, makedev(1, 9), 0o666),
            ("tty", Device::Tty, makedev(5, 0), 0o666),
        ];
        for (name, device, rdev, mode) in devices {
            let ino = self.plant(dev, name, Body::Device(device), S_IFCHR | mode, DEV_DEV);
            self.node_mut(ino).rdev = rdev;
        }
        let links = [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
        ];
        for (name, target) in links {
            self.plant(dev, name, Body::Symlink(target.as_bytes().into()), S_IFLNK | 0o777, DEV_DEV);
        }
        self.plant_dir(dev, "shm", DirKind::Plain, 0o1777, SHM_DEV);
    }

    fn plant_files(&mut self, dir: Ino, dev: u64, files: &[(&str, Synth)]) {
        for (name, synth) in files {
            self.plant(dir, name, Body::Synth(*synth), S_IFREG | 0o444, dev);
        }
    }

    fn boot_proc(&mut self) {
        use Synth::*;
        let proc = self.plant_dir(self.root, "proc", DirKind::Proc, 0o555, PROC_DEV);
        self.plant(proc, "self", Body::Magic(Magic::Pid), S_IFLNK | 0o777, PROC_DEV);
        self.plant(proc, "thread-self", Body::Magic(Magic::Thread), S_IFLNK | 0o777, PROC_DEV);
        self.plant(proc, "mounts", Body::Symlink(b"self/mounts"[..].into()), S_IFLNK | 0o777, PROC_DEV);
        let files = [
            ("cpuinfo", CpuInfo),
            ("meminfo", MemInfo),
            ("stat", KernelStat),
            ("version", Text("Linux version 6.1.0 (cgemu) #1 SMP\n")),
            ("filesystems", Text("nodev\tproc\nnodev\tsysfs\nnodev\ttmpfs\nnodev\tpipefs\n\text4\n")),
            ("uptime", Uptime),
            ("loadavg", LoadAvg),
            ("cmdline", Text("quiet\n")),
            ("devices", Text("Character devices:\n  1 mem\n  5 /dev/tty\n136 pts\n\nBlock devices:\n")),
            ("swaps", Text("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")),
        ];
        self.plant_files(proc, PROC_DEV, &files);
        let sys = self.plant_dir(proc, "sys", DirKind::Plain, 0o555, PROC_DEV);
        let groups: [(&str, &[(&str, Synth)]); 3] = [
            (
                "kernel",
                &[
                    ("ostype", Text("Linux\n")),
                    ("osrelease", Text("6.1.0\n")),
                    ("version", Text("#1 SMP\n")),
                    ("hostname", Text("cgemu\n")),
                    ("domainname", Text("(none)\n")),
                    ("pid_max", Text("32768\n")),
                    ("threads-max", Text("31000\n")),
                    ("ngroups_max", Text("65536\n")),
                    ("cap_last_cap", Text("40\n")),
                    ("randomize_va_space", Text("0\n")),
                    ("core_pattern", Text("core\n")),
                    ("perf_event_paranoid", Text("4\n")),
                    ("sched_child_runs_first", Text("0\n")),
                    ("shmmax", Text("18446744073692774399\n")),
                    ("shmall", Text("18446744073692774399\n")),
                    ("shmmni", Text("4096\n")),
                ],
            ),
            (
                "vm",
                &[
                    ("overcommit_memory", Text("0\n")),
                    ("overcommit_ratio", Text("50\n")),
                    ("max_map_count", Text("65530\n")),
                    ("mmap_min_addr", Text("65536\n")),
                    ("swappiness", Text("60\n")),
                    ("nr_hugepages", Text("0\n")),
                ],
            ),
            (
                "fs",
                &[
                    ("file-max", Text("9223372036854775807\n")),
                    ("nr_open", Text("1048576\n")),
                    ("pipe-max-size", Text("1048576\n")),
                ],
            ),
        ];
        for (name, files) in groups {
            let dir = self.plant_dir(sys, name, DirKind::Plain, 0o555, PROC_DEV);
            self.plant_files(dir, PROC_DEV, files);
        }
        let net = self.plant_dir(sys, "net", DirKind::Plain, 0o555, PROC_DEV);
        let core = self.plant_dir(net, "core", DirKind::Plain, 0o555, PROC_DEV);
        self.plant_files(core, PROC_DEV, &[("somaxconn", Text("4096\n"))]);

        let task = [
            ("cmdline", Cmdline),
            ("comm", Comm),
            ("maps", Maps),
            ("stat", Stat),
            ("statm", Statm),
            ("status", Status),
        ];
        let process = [
            ("environ", Environ),
            ("auxv", Auxv),
            ("limits", Limits),
            ("mounts", Mounts),
            ("mountinfo", MountInfo),
            ("cgroup", Text("0::/\n")),
            ("oom_score", Text("0\n")),
            ("oom_score_adj", Text("0\n")),
            ("loginuid", Text("4294967295")),
            ("sessionid", Text("4294967295")),
            ("coredump_filter", Text("00000033\n")),
            ("personality", Text("00000000\n")),
            ("wchan", Text("0")),
        ];
        let first = self.nodes.len();
        for (name, holder) in [("self", false), ("task", true)] {
            // Neither is in the directory above under a fixed name: the number of the process is its name.
            let dir = Dir {
                entries: BTreeMap::new(),
                parent: proc,
                name: name.as_bytes().into(),
                kind: DirKind::Plain,
            };
            let mut node = Node::new(Body::Dir(dir), S_IFDIR | 0o555, 0, 0, Time::default());
            (node.dev, node.synthetic) = (PROC_DEV, true);
            let ino = self.add(node);
            self.plant_files(ino, PROC_DEV, &task);
            if holder {
                self.proc_task = ino;
            } else {
                self.proc_self = ino;
                self.plant_files(ino, PROC_DEV, &process);
                let links = [("exe", Magic::Exe), ("cwd", Magic::Cwd), ("root", Magic::Root)];
                for (name, magic) in links {
                    self.plant(ino, name, Body::Magic(magic), S_IFLNK | 0o777, PROC_DEV);
                }
                self.plant_dir(ino, "fd", DirKind::Fd, 0o500, PROC_DEV);
            }
        }
        let tasks = self.plant_dir(self.proc_self, "task", DirKind::Task, 0o555, PROC_DEV);
        if let Some(dir) = self.node_mut(self.proc_task).dir_mut() {
            dir.parent = tasks;
        }
        for node in &mut self.nodes[first..] {
            (node.uid, node.gid) = (self.who.uid, self.who.gid);
        }
    }

    fn boot_sys(&mut self) {
        use Synth::Text;
        let sys = self.plant_dir(self.root, "sys", DirKind::Plain, 0o555, SYS_DEV);
        let files = [
            ("devices/system/cpu/online", "0\n"),
            ("devices/system/cpu/possible", "0\n"),
            ("devices/system/cpu/present", "0\n"),
            ("devices/system/cpu/kernel_max", "0\n"),
            ("devices/system/node/online", "0\n"),
            ("devices/system/node/possible", "0\n"),
            ("kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n"),
            ("kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ];
        for (path, text) in files {
            let mut at = sys;
            let mut names = path.split('/').peekable();
            while let Some(name) = names.next() {
                if names.peek().is_none() {
                    self.plant_files(at, SYS_DEV, &[(name, Text(text))]);
                } else {
                    let known = self.lookup_plain(at, name.as_bytes()).ok().flatten();
                    at = known.unwrap_or_else(|| self.plant_dir(at, name, DirKind::Plain, 0o755, SYS_DEV));
                }
            }
        }
        let cpu = self.walk_host(b"/sys/devices/system/cpu").unwrap_or(sys);
        self.plant_dir(cpu, "cpu0", DirKind::Plain, 0o755, SYS_DEV);
    }

    /// A regular file without a name, memfd_create(2).
    pub(crate) fn memfd(&mut self, now: Time, seals: u32, mode: u32) -> Ino {
        let body = Body::File(Content::Pages(Default::default()));
        let mut node = Node::new(body, S_IFREG | mode, self.who.uid, self.who.gid, now);
        (node.links, node.link_delta) = (1, -1);
        node.dev = makedev(0, 1);
        node.seals = seals;
        self.add(node)
    }
}
