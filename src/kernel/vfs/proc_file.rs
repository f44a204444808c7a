//! The files of `/proc`, by what they say.

use crate::kernel::arena::{MmId, ProcessId, TaskId};
use crate::kernel::namespace::kind::{NsId, NsLink};
use crate::kernel::net::addr::Family;

/// Subject of a directory of `/proc` and of all that is below it. It is never another one, not
/// even when its number is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// A process: of its tasks, its leader.
    Process(ProcessId),
    /// A task.
    Task(TaskId),
}

/// A link of `/proc` that leads to an object rather than to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    /// `/proc/self`.
    Pid,
    /// `/proc/thread-self`.
    Thread,
    /// `/proc/PID/exe`.
    Exe,
    /// `/proc/PID/cwd`.
    Cwd,
    /// `/proc/PID/root`.
    Root,
    /// `/proc/PID/fd/N`.
    Fd(i32),
    /// `/proc/PID/ns/NAME`.
    Namespace(NsLink),
}

/// A file of `/proc/PID/net` that depends on sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetFile {
    Tcp(Family),
    /// UDP or UDP-Lite.
    Udp(Family, u32),
    Unix,
    Netlink,
    SockStat,
    SockStat6,
    Snmp,
}

/// A file of `/proc` or `/sys`, whose text is made when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcFile {
    /// A text that never changes.
    Text(&'static str),
    CpuInfo,
    MemInfo,
    VmStat,
    Locks,
    /// A table of `/proc/PID/net`.
    Net(NetFile),
    SysvMsg,
    SysvSem,
    /// `/proc/keys`.
    Keys,
    /// `/proc/key-users`.
    KeyUsers,
    SysvShm,
    KernelStat,
    Uptime,
    HostName,
    DomainName,
    LoadAvg,
    Uuid,
    AioNr,
    Maps,
    Smaps,
    SmapsRollup,
    PageMap,
    /// The memory of a process, which is no text.
    Mem,
    Status,
    Stat,
    Statm,
    Cmdline,
    Comm,
    Environ,
    Auxv,
    Limits,
    Personality,
    TimerSlack,
    Io,
    FdInfo(i32),
    UidMap,
    GidMap,
    ProjidMap,
    SetGroups,
    Mounts,
    MountInfo,
    MountStats,
    OomScoreAdj,
    OomAdj,
    CoreDumpFilter,
    ClearRefs,
    SchedStat,
    Sched,
    Children,
}

impl ProcFile {
    /// Tells if it shows what only those may see who may trace the process, ptrace(2).
    pub(crate) fn is_private(self) -> bool {
        use ProcFile::*;
        matches!(
            self,
            Maps | Smaps | SmapsRollup | PageMap | Mem | Environ | Auxv | Io | Personality | FdInfo(_)
        )
    }

    /// Tells if it is one of the `seq_file`s, to which pwrite(2) cannot write.
    pub(crate) fn is_sequential(self) -> bool {
        use ProcFile::*;
        !matches!(
            self,
            Text(_)
                | HostName
                | DomainName
                | Uuid
                | AioNr
                | PageMap
                | Mem
                | Cmdline
                | Environ
                | Auxv
                | OomScoreAdj
                | OomAdj
                | CoreDumpFilter
                | ClearRefs
        )
    }

    /// Tells if it is a map of ids of a user namespace, or says what those are for.
    pub(crate) fn is_user_map(self) -> bool {
        use ProcFile::*;
        matches!(self, UidMap | GidMap | ProjidMap | SetGroups)
    }

    /// Tells if a write to it means something.
    pub(crate) fn is_written(self) -> bool {
        use ProcFile::*;
        matches!(self, Mem | Comm | TimerSlack | OomScoreAdj | OomAdj | CoreDumpFilter | ClearRefs)
            || self.is_user_map()
    }
}

/// Source of the text of an open file of `/proc`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcSource {
    pub(crate) file: ProcFile,
    pub(crate) subject: Option<Subject>,
    /// The PID namespace whose numbers it shows.
    pub(crate) pid_ns: NsId,
    /// The address space of the process when the file was opened.
    pub(crate) mm: Option<MmId>,
    /// Bytes of text that there are.
    pub(crate) len: usize,
    /// Place from which on the text is still to be made, 0 before any is. Long ones are made in
    /// parts, as they are read.
    pub(crate) next: Option<u64>,
}
