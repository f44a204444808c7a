//! Names of `/proc` and `/sys`, and the texts of those that never change.

use crate::abi::net::{IPPROTO_UDP, IPPROTO_UDPLITE};
use crate::kernel::namespace::kind::{Kind, NsLink};
use crate::kernel::net::addr::Family;
use crate::kernel::uts;
use crate::kernel::vfs::node::DirKind;
use crate::kernel::vfs::proc_file::{Magic, NetFile, ProcFile};

use ProcFile::Text;

/// `/proc/filesystems`: kinds of file systems, by their numbers in sysfs(2).
pub(crate) const FILESYSTEMS: &str = "nodev\tproc\nnodev\tsysfs\nnodev\ttmpfs\nnodev\tpipefs\n\text4\n";

/// Names of a directory, each with its text.
type Files = &'static [(&'static str, ProcFile)];

/// Files of `/proc`.
pub(super) const PROC_FILES: Files = &[
    ("cpuinfo", ProcFile::CpuInfo),
    ("meminfo", ProcFile::MemInfo),
    ("stat", ProcFile::KernelStat),
    ("version", Text(uts::PROC_VERSION)),
    ("filesystems", Text(FILESYSTEMS)),
    ("uptime", ProcFile::Uptime),
    ("loadavg", ProcFile::LoadAvg),
    ("cmdline", Text("quiet\n")),
    ("devices", Text("Character devices:\n  1 mem\n  5 /dev/tty\n136 pts\n\nBlock devices:\n")),
    ("vmstat", ProcFile::VmStat),
    ("diskstats", Text(DISKSTATS)),
    (
        "partitions",
        Text("major minor  #blocks  name\n\n   8        0   67108864 sda\n   8        1   67107840 sda1\n"),
    ),
    ("cgroups", Text("#subsys_name\thierarchy\tnum_cgroups\tenabled\n")),
    ("locks", ProcFile::Locks),
    ("keys", ProcFile::Keys),
    ("key-users", ProcFile::KeyUsers),
    ("interrupts", Text(INTERRUPTS)),
    ("softirqs", Text(SOFTIRQS)),
    ("modules", Text("")),
    ("misc", Text("")),
    ("consoles", Text("")),
    (
        "buddyinfo",
        Text(
            "Node 0, zone   Normal      0      0      0      0      0      0      0      0      0      0   1024 \n",
        ),
    ),
    ("swaps", Text("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")),
];

/// Files of `/proc/sysvipc`.
pub(super) const SYSVIPC_FILES: Files =
    &[("msg", ProcFile::SysvMsg), ("sem", ProcFile::SysvSem), ("shm", ProcFile::SysvShm)];

/// Most namespaces of each kind, as `namespace/table.rs` allows them.
const MOST_NAMESPACES: &str = "1024\n";

/// Directories of `/proc/sys`.
pub(super) const SYSCTLS: [(&str, Files); 15] = [
    (
        "user",
        &[
            ("max_cgroup_namespaces", Text(MOST_NAMESPACES)),
            ("max_ipc_namespaces", Text(MOST_NAMESPACES)),
            ("max_mnt_namespaces", Text(MOST_NAMESPACES)),
            ("max_net_namespaces", Text(MOST_NAMESPACES)),
            ("max_pid_namespaces", Text(MOST_NAMESPACES)),
            ("max_time_namespaces", Text(MOST_NAMESPACES)),
            ("max_user_namespaces", Text(MOST_NAMESPACES)),
            ("max_uts_namespaces", Text(MOST_NAMESPACES)),
        ],
    ),
    ("fs/epoll", &[("max_user_watches", Text("912384\n"))]),
    (
        "fs/inotify",
        &[
            ("max_queued_events", Text("16384\n")),
            ("max_user_instances", Text("128\n")),
            ("max_user_watches", Text("65536\n")),
        ],
    ),
    (
        "kernel/keys",
        &[
            ("gc_delay", Text("300\n")),
            ("maxbytes", Text("20000\n")),
            ("maxkeys", Text("200\n")),
            ("persistent_keyring_expiry", Text("259200\n")),
            ("root_maxbytes", Text("25000000\n")),
            ("root_maxkeys", Text("1000000\n")),
        ],
    ),
    (
        "kernel/random",
        &[
            // One boot of one machine.
            ("boot_id", Text("c9e6a2d4-5b1f-4c38-9a70-2f8d61b3e450\n")),
            ("entropy_avail", Text("256\n")),
            ("poolsize", Text("256\n")),
            ("urandom_min_reseed_secs", Text("60\n")),
            ("uuid", ProcFile::Uuid),
            ("write_wakeup_threshold", Text("256\n")),
        ],
    ),
    (
        "kernel",
        &[
            ("ostype", Text("Linux\n")),
            ("osrelease", Text(uts::OSRELEASE_LINE)),
            ("version", Text(uts::VERSION_LINE)),
            ("hostname", ProcFile::HostName),
            ("domainname", ProcFile::DomainName),
            ("pid_max", Text("4194304\n")),
            ("overflowuid", Text("65534\n")),
            ("overflowgid", Text("65534\n")),
            ("threads-max", Text("31000\n")),
            ("ngroups_max", Text("65536\n")),
            ("cap_last_cap", Text("40\n")),
            ("randomize_va_space", Text("0\n")),
            ("core_pattern", Text("core\n")),
            ("perf_event_paranoid", Text("4\n")),
            ("sched_child_runs_first", Text("0\n")),
            ("sched_rt_period_us", Text("1000000\n")),
            ("sched_rt_runtime_us", Text("-1\n")),
            ("shmmax", Text("18446744073692774399\n")),
            ("shmall", Text("18446744073692774399\n")),
            ("shmmni", Text("4096\n")),
            ("shm_rmid_forced", Text("0\n")),
            ("sem", Text("32000\t1024000000\t500\t32000\n")),
            ("msgmax", Text("8192\n")),
            ("msgmnb", Text("16384\n")),
            ("msgmni", Text("32000\n")),
        ],
    ),
    (
        "vm",
        &[
            ("overcommit_memory", Text("0\n")),
            ("overcommit_ratio", Text("50\n")),
            ("max_map_count", Text("65530\n")),
            ("mmap_min_addr", Text("65536\n")),
            ("overcommit_kbytes", Text("0\n")),
            ("page-cluster", Text("3\n")),
            ("swappiness", Text("60\n")),
            ("unprivileged_userfaultfd", Text("0\n")),
            ("nr_hugepages", Text("0\n")),
        ],
    ),
    (
        "fs",
        &[
            ("file-max", Text("9223372036854775807\n")),
            ("nr_open", Text("1048576\n")),
            ("pipe-max-size", Text("1048576\n")),
            ("pipe-user-pages-soft", Text("16384\n")),
            ("pipe-user-pages-hard", Text("0\n")),
            ("aio-max-nr", Text("65536\n")),
            ("aio-nr", ProcFile::AioNr),
            ("dir-notify-enable", Text("1\n")),
            ("lease-break-time", Text("45\n")),
            ("leases-enable", Text("1\n")),
            ("mount-max", Text("65536\n")),
            ("overflowuid", Text("65534\n")),
            ("overflowgid", Text("65534\n")),
            ("protected_fifos", Text("0\n")),
            ("protected_hardlinks", Text("0\n")),
            ("protected_regular", Text("0\n")),
            ("protected_symlinks", Text("0\n")),
            ("suid_dumpable", Text("0\n")),
        ],
    ),
    (
        "fs/mqueue",
        &[
            ("msg_default", Text("10\n")),
            ("msg_max", Text("10\n")),
            ("msgsize_default", Text("8192\n")),
            ("msgsize_max", Text("8192\n")),
            ("queues_max", Text("256\n")),
        ],
    ),
    (
        "net/core",
        &[
            ("rmem_default", Text("212992\n")),
            ("rmem_max", Text("212992\n")),
            ("somaxconn", Text("4096\n")),
            ("wmem_default", Text("212992\n")),
            ("wmem_max", Text("212992\n")),
        ],
    ),
    (
        "net/ipv4",
        &[
            ("ip_default_ttl", Text("64\n")),
            ("ip_forward", Text("0\n")),
            ("ip_local_port_range", Text("32768\t60999\n")),
            ("ip_unprivileged_port_start", Text("1024\n")),
            ("tcp_available_congestion_control", Text("reno cubic\n")),
            ("tcp_congestion_control", Text("cubic\n")),
            ("tcp_fin_timeout", Text("60\n")),
            ("tcp_keepalive_intvl", Text("75\n")),
            ("tcp_keepalive_probes", Text("9\n")),
            ("tcp_keepalive_time", Text("7200\n")),
            ("tcp_syn_retries", Text("6\n")),
        ],
    ),
    ("net/ipv6", &[("bindv6only", Text("0\n"))]),
    ("net/ipv6/conf/all", &[("disable_ipv6", Text("0\n"))]),
    ("net/ipv6/conf/lo", &[("disable_ipv6", Text("0\n"))]),
    ("net/unix", &[("max_dgram_qlen", Text("10\n"))]),
];

/// Entry of a directory of a process or task.
#[derive(Clone, Copy)]
pub(super) enum Item {
    /// A file, with its permission bits.
    File(u32, ProcFile),
    Link(Magic),
    /// A directory, with its permission bits.
    Dir(u32, DirKind),
}

use Item::{Dir, File, Link};

/// Names of such a directory, each with what is there.
type Items = &'static [(&'static str, Item)];

/// Entries of `/proc/PID` and of `/proc/PID/task/TID`.
const OF_BOTH: Items = &[
    ("auxv", File(0o400, ProcFile::Auxv)),
    ("cgroup", File(0o444, Text("0::/\n"))),
    ("clear_refs", File(0o200, ProcFile::ClearRefs)),
    ("cmdline", File(0o444, ProcFile::Cmdline)),
    ("comm", File(0o644, ProcFile::Comm)),
    ("cpuset", File(0o444, Text("/\n"))),
    ("cwd", Link(Magic::Cwd)),
    ("environ", File(0o400, ProcFile::Environ)),
    ("exe", Link(Magic::Exe)),
    ("fd", Dir(0o500, DirKind::Fd)),
    ("fdinfo", Dir(0o555, DirKind::FdInfo)),
    ("gid_map", File(0o644, ProcFile::GidMap)),
    ("io", File(0o400, ProcFile::Io)),
    ("limits", File(0o444, ProcFile::Limits)),
    ("loginuid", File(0o644, Text("4294967295"))),
    ("maps", File(0o444, ProcFile::Maps)),
    ("mem", File(0o600, ProcFile::Mem)),
    ("mountinfo", File(0o444, ProcFile::MountInfo)),
    ("mounts", File(0o444, ProcFile::Mounts)),
    ("net", Dir(0o555, DirKind::Net)),
    ("ns", Dir(0o511, DirKind::Namespaces)),
    ("oom_adj", File(0o644, ProcFile::OomAdj)),
    ("oom_score", File(0o444, Text("0\n"))),
    ("oom_score_adj", File(0o644, ProcFile::OomScoreAdj)),
    ("pagemap", File(0o400, ProcFile::PageMap)),
    ("personality", File(0o400, ProcFile::Personality)),
    ("projid_map", File(0o644, ProcFile::ProjidMap)),
    ("root", Link(Magic::Root)),
    ("sched", File(0o644, ProcFile::Sched)),
    ("schedstat", File(0o444, ProcFile::SchedStat)),
    ("sessionid", File(0o444, Text("4294967295"))),
    ("setgroups", File(0o644, ProcFile::SetGroups)),
    ("smaps", File(0o444, ProcFile::Smaps)),
    ("smaps_rollup", File(0o444, ProcFile::SmapsRollup)),
    ("stat", File(0o444, ProcFile::Stat)),
    ("statm", File(0o444, ProcFile::Statm)),
    ("status", File(0o444, ProcFile::Status)),
    ("uid_map", File(0o644, ProcFile::UidMap)),
    ("wchan", File(0o444, Text("0"))),
];

/// Entries of `/proc/PID` alone.
const OF_PROCESSES: Items = &[
    ("autogroup", File(0o644, Text("/autogroup-1 nice 0\n"))),
    ("coredump_filter", File(0o644, ProcFile::CoreDumpFilter)),
    ("mountstats", File(0o400, ProcFile::MountStats)),
    ("task", Dir(0o555, DirKind::Tasks)),
    ("timerslack_ns", File(0o666, ProcFile::TimerSlack)),
];

/// Entries of `/proc/PID/task/TID` alone.
const OF_TASKS: Items = &[("children", File(0o444, ProcFile::Children))];

/// The fixed entries of a directory.
pub(super) fn items(kind: DirKind) -> impl Iterator<Item = (&'static str, Item)> {
    let (items, files): ([Items; 2], Files) = match kind {
        DirKind::Process => ([OF_BOTH, OF_PROCESSES], &[]),
        DirKind::Task => ([OF_BOTH, OF_TASKS], &[]),
        DirKind::Namespaces => ([NAMESPACES, &[]], &[]),
        DirKind::Net => ([&[], &[]], NET_FILES),
        DirKind::Plain | DirKind::Proc | DirKind::Tasks | DirKind::Fd | DirKind::FdInfo => ([&[], &[]], &[]),
    };
    let files = files.iter().map(|(name, file)| (*name, File(0o444, *file)));
    items.into_iter().flatten().copied().chain(files)
}

/// Files of `/proc/PID/net` on a machine that has nothing but its loopback.
const NET_FILES: Files = &[
    ("arp", Text("IP address       HW type     Flags       HW address            Mask     Device\n")),
    (
        "dev",
        Text(
            "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo \
             colls carrier compressed\n    lo:       0       0    0    0    0     0          0         0        \
             0       0    0    0    0     0       0          0\n",
        ),
    ),
    ("dev_mcast", Text("")),
    ("icmp", Text(INET_SEQ)),
    ("if_inet6", Text("00000000000000000000000000000001 01 80 10 80       lo\n")),
    (
        "igmp",
        Text(
            "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n1\tlo        :     1      V3\n\
             \t\t\t\t010000E0     1 0:00000000\t\t0\n",
        ),
    ),
    (
        "ipv6_route",
        Text(
            "00000000000000000000000000000001 80 00000000000000000000000000000000 00 \
             00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo\n\
             00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
             00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n",
        ),
    ),
    ("netlink", ProcFile::Net(NetFile::Netlink)),
    ("packet", Text("sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n")),
    (
        "protocols",
        Text(
            "protocol  size sockets  memory press maxhdr  slab module     cl co di ac io in de sh ss gs se re bi br \
             ha uh gp em\n",
        ),
    ),
    ("psched", Text("000003e8 00000040 000f4240 3b9aca00\n")),
    ("ptype", Text("Type Device      Function\n0800          ip_rcv\n86dd          ipv6_rcv\n")),
    ("raw", Text(INET_SEQ)),
    ("raw6", Text(INET6_SEQ)),
    (
        "route",
        Text(
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\
             \x20                                                      \n",
        ),
    ),
    ("snmp", ProcFile::Net(NetFile::Snmp)),
    ("sockstat", ProcFile::Net(NetFile::SockStat)),
    ("sockstat6", ProcFile::Net(NetFile::SockStat6)),
    ("tcp", ProcFile::Net(NetFile::Tcp(Family::Inet))),
    ("tcp6", ProcFile::Net(NetFile::Tcp(Family::Inet6))),
    ("udp", ProcFile::Net(NetFile::Udp(Family::Inet, IPPROTO_UDP))),
    ("udp6", ProcFile::Net(NetFile::Udp(Family::Inet6, IPPROTO_UDP))),
    ("udplite", ProcFile::Net(NetFile::Udp(Family::Inet, IPPROTO_UDPLITE))),
    ("udplite6", ProcFile::Net(NetFile::Udp(Family::Inet6, IPPROTO_UDPLITE))),
    ("unix", ProcFile::Net(NetFile::Unix)),
];

const INET_SEQ: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout \
    inode ref pointer drops\n";
const INET6_SEQ: &str = "  sl  local_address                         remote_address                        st \
    tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n";

/// `/proc/PID/ns`.
const NAMESPACES: Items = &[
    ("cgroup", Link(Magic::Namespace(NsLink::Own(Kind::Cgroup)))),
    ("ipc", Link(Magic::Namespace(NsLink::Own(Kind::Ipc)))),
    ("mnt", Link(Magic::Namespace(NsLink::Own(Kind::Mnt)))),
    ("net", Link(Magic::Namespace(NsLink::Own(Kind::Net)))),
    ("pid", Link(Magic::Namespace(NsLink::Own(Kind::Pid)))),
    ("pid_for_children", Link(Magic::Namespace(NsLink::OfChildren(Kind::Pid)))),
    ("time", Link(Magic::Namespace(NsLink::Own(Kind::Time)))),
    ("time_for_children", Link(Magic::Namespace(NsLink::OfChildren(Kind::Time)))),
    ("user", Link(Magic::Namespace(NsLink::Own(Kind::User)))),
    ("uts", Link(Magic::Namespace(NsLink::Own(Kind::Uts)))),
];

/// A disk with one partition, at rest.
const DISKSTATS: &str = "   8       0 sda 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n   8       1 sda1 0 0 0 0 0 0 0 0 0 0 0 0 \
    0 0 0 0 0\n";

/// Interrupts of one CPU, none of which ever came: the clock is made of instructions.
const INTERRUPTS: &str = "           CPU0\x20\x20\x20\x20\x20\x20\x20
NMI:          0   Non-maskable interrupts
LOC:          0   Local timer interrupts
SPU:          0   Spurious interrupts
PMI:          0   Performance monitoring interrupts
IWI:          0   IRQ work interrupts
RTR:          0   APIC ICR read retries
RES:          0   Rescheduling interrupts
CAL:          0   Function call interrupts
TLB:          0   TLB shootdowns
TRM:          0   Thermal event interrupts
THR:          0   Threshold APIC interrupts
DFR:          0   Deferred Error APIC interrupts
MCE:          0   Machine check exceptions
MCP:          0   Machine check polls
ERR:          0
MIS:          0
PIN:          0   Posted-interrupt notification event
NPI:          0   Nested posted-interrupt event
PIW:          0   Posted-interrupt wakeup event
";

const SOFTIRQS: &str = "                    CPU0\x20\x20\x20\x20\x20\x20\x20
          HI:          0
       TIMER:          0
      NET_TX:          0
      NET_RX:          0
       BLOCK:          0
    IRQ_POLL:          0
     TASKLET:          0
       SCHED:          0
     HRTIMER:          0
         RCU:          0
";
