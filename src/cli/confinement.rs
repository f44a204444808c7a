//! The second wall: before the program starts, cgemu gives up what of the host it does not need.
//! Landlock leaves it the files that the program may see and those that it writes, seccomp the
//! calls of the table. Both hold for the rest of the process, whatever a program makes of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, NetPort, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fd::BorrowedFd;
use rustix::fs::FileType;
use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, apply_filter_all_threads,
};

use crate::session::MachineConfig;
use crate::syscalls::table;

/// The newest Landlock whose rights are given up; an older kernel gives up those that it knows.
const LANDLOCK: ABI = ABI::V6;

/// Files that the C library and cgemu read beside those of the program.
const OWN_FILES: [&str; 4] =
    ["/proc/self", "/proc/sys/vm/overcommit_memory", "/sys/fs/cgroup", "/usr/lib/debug"];

/// A row of the table: calls, and what their arguments must be.
struct Allowed(&'static [&'static str], Condition);

enum Condition {
    None,
    /// The lower half of an argument is one of these.
    OneOf(u8, &'static [u64]),
    /// These bits of an argument are set.
    Bits(u8, u64),
    /// The first argument is this process.
    ThisProcess,
}

/// Of clone(2): CLONE_VM, CLONE_SIGHAND and CLONE_THREAD, as for a thread.
const THREAD: u64 = 0x100 | 0x800 | 0x1_0000;

/// Of ioctl(2): what asks terminals and pipes, sets the modes of terminals (TCSETS and its forms),
/// and the flags of files.
const IOCTLS: [u64; 18] = [
    0x5401,
    0x5402,
    0x5403,
    0x5404,
    0x5409,
    0x540a,
    0x540b,
    0x540f,
    0x5411,
    0x5413,
    0x541b,
    0x5421,
    0x5429,
    0x802c_542a,
    0x402c_542b,
    0x402c_542c,
    0x8008_6601,
    0x4008_6602,
];

/// Of prctl(2): PR_SET_NAME and PR_SET_VMA.
const PRCTLS: [u64; 2] = [15, 0x5356_4d41];

/// The calls that `run` makes after the program's start. Everything else is EPERM.
const RUN: &[Allowed] = &[
    Allowed(
        &["read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "lseek"],
        Condition::None,
    ),
    Allowed(
        &["open", "openat", "openat2", "close", "close_range", "dup", "dup2", "dup3", "fcntl", "flock"],
        Condition::None,
    ),
    Allowed(
        &[
            "stat",
            "lstat",
            "fstat",
            "newfstatat",
            "statx",
            "statfs",
            "fstatfs",
            "access",
            "faccessat",
            "faccessat2",
        ],
        Condition::None,
    ),
    Allowed(&["getdents64", "getcwd", "readlink", "readlinkat"], Condition::None),
    Allowed(
        &[
            "mkdirat",
            "mknodat",
            "symlinkat",
            "linkat",
            "unlink",
            "unlinkat",
            "rename",
            "renameat",
            "renameat2",
        ],
        Condition::None,
    ),
    Allowed(
        &["chmod", "fchmod", "fchmodat", "utimensat", "ftruncate", "fallocate", "fsync", "fdatasync"],
        Condition::None,
    ),
    Allowed(&["getxattr", "setxattr", "listxattr", "removexattr"], Condition::None),
    Allowed(
        &[
            "copy_file_range",
            "sendfile",
            "splice",
            "pipe2",
            "eventfd2",
            "poll",
            "ppoll",
            "select",
            "pselect6",
        ],
        Condition::None,
    ),
    Allowed(&["socketpair", "sendto", "recvfrom"], Condition::None),
    Allowed(&["ioctl"], Condition::OneOf(1, &IOCTLS)),
    Allowed(&["mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "mincore"], Condition::None),
    Allowed(
        &["rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall"],
        Condition::None,
    ),
    Allowed(&["kill", "tgkill"], Condition::ThisProcess),
    Allowed(
        &["futex", "sched_yield", "sched_getaffinity", "nanosleep", "clock_nanosleep", "membarrier"],
        Condition::None,
    ),
    Allowed(
        &["clock_gettime", "clock_getres", "gettimeofday", "time", "times", "getrusage"],
        Condition::None,
    ),
    Allowed(
        &[
            "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getpgrp", "getpgid",
            "getsid",
        ],
        Condition::None,
    ),
    Allowed(
        &["uname", "sysinfo", "getrandom", "prlimit64", "getrlimit", "set_robust_list", "rseq"],
        Condition::None,
    ),
    Allowed(&["prctl"], Condition::OneOf(0, &PRCTLS)),
    Allowed(&["clone"], Condition::Bits(0, THREAD)),
    // Its flags lie in memory, where no filter looks: a filter of its own answers ENOSYS, and the C
    // library then takes clone(2).
    Allowed(&["clone3"], Condition::None),
    Allowed(&["exit", "exit_group"], Condition::None),
];

/// Those that it makes besides where it is controlled through a socket.
const CONTROLLED: &[Allowed] = &[Allowed(&["accept4"], Condition::None)];

/// Those that it makes besides where some of the host's network is open: sockets of AF_INET and
/// AF_INET6, which Landlock lets connect to the ports that are open; SO_ERROR, and options of
/// SOL_SOCKET and TCP.
const NETWORKED: &[Allowed] = &[
    Allowed(&["socket"], Condition::OneOf(0, &[2, 10])),
    Allowed(&["connect", "shutdown"], Condition::None),
    Allowed(&["getsockopt"], Condition::OneOf(1, &[1])),
    Allowed(&["setsockopt"], Condition::OneOf(1, &[1, 6])),
];

/// Parts of the host that are open to a run beside its files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doors {
    /// It is controlled through a socket.
    pub controlled: bool,
    /// It reaches some of the host's network.
    pub networked: bool,
}

/// The calls that are EPERM in the shell and in the commands that it starts for its user, which may
/// make all others.
const NOT_IN_THE_SHELL: &[&str] = &[
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "mount",
    "umount2",
    "pivot_root",
    "swapon",
    "swapoff",
    "reboot",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "add_key",
    "request_key",
    "keyctl",
    "open_by_handle_at",
    "iopl",
    "ioperm",
    "acct",
    "settimeofday",
    "clock_settime",
    "sethostname",
    "setdomainname",
    "syslog",
    "quotactl",
    "unshare",
    "setns",
];

/// The parts of the wall that stand, and those that do not.
pub(super) struct Confinement {
    /// The parts that hold.
    pub holds: Vec<&'static str>,
    /// The parts that this host does not have, and why.
    pub lacks: Vec<String>,
}

/// Confines this thread and those that it starts, for a run whose output goes to these places, and
/// which has its socket in the directory `control`, if it is controlled through one.
pub(super) fn of_a_run(
    config: &MachineConfig,
    outputs: &[BorrowedFd<'_>],
    control: Option<BorrowedFd<'_>>,
) -> Confinement {
    let mut done = Confinement { holds: Vec::new(), lacks: Vec::new() };
    done.note("Landlock", landlock(config, outputs, control));
    let doors = Doors { controlled: control.is_some(), networked: !config.outside.is_empty() };
    done.note("seccomp", allow_calls(doors));
    done
}

/// Confines this process, for the shell.
pub(super) fn of_the_shell() -> Confinement {
    let mut done = Confinement { holds: Vec::new(), lacks: Vec::new() };
    done.note("seccomp", refuse_calls());
    done
}

impl Confinement {
    fn note(&mut self, part: &'static str, result: Result<(), String>) {
        match result {
            Ok(()) => self.holds.push(part),
            Err(why) => self.lacks.push(format!("cgemu is not confined by {part}: {why}; the run goes on")),
        }
    }
}

fn landlock(
    config: &MachineConfig,
    outputs: &[BorrowedFd<'_>],
    control: Option<BorrowedFd<'_>>,
) -> Result<(), String> {
    let text = |error: landlock::RulesetError| error.to_string();
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::from_all(LANDLOCK)
        & !(AccessFs::Execute | AccessFs::IoctlDev | AccessFs::MakeChar | AccessFs::MakeBlock);
    let output = read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg | AccessFs::RemoveFile;
    let mut readable = config.policy.readable();
    readable.extend(OWN_FILES.iter().map(PathBuf::from));
    readable.extend(debug_files(config));
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(LANDLOCK)))
        .and_then(|rules| rules.scope(Scope::from_all(LANDLOCK)))
        .and_then(|rules| rules.create())
        .and_then(|rules| rules.add_rules(path_beneath_rules(readable, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(&config.allow_write, write)))
        .and_then(|rules| {
            rules.add_rules(path_beneath_rules(["/dev/null"], AccessFs::WriteFile | AccessFs::ReadFile))
        })
        .map_err(text)?;
    for held in outputs {
        let is_dir = rustix::fs::fstat(held)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        let rights = if is_dir { output } else { output & AccessFs::from_file(LANDLOCK) };
        rules = rules.add_rule(PathBeneath::new(held, rights)).map_err(text)?;
    }
    for port in config.outside.iter().flat_map(|host| &host.addresses).map(SocketAddr::port) {
        rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp)).map_err(text)?;
    }
    if let Some(directory) = control {
        rules = rules.add_rule(PathBeneath::new(directory, AccessFs::RemoveFile)).map_err(text)?;
    }
    match rules.restrict_self().map_err(text)?.ruleset {
        RulesetStatus::NotEnforced => Err("the host's kernel has none (Linux 5.19 or later has)".into()),
        _ => Ok(()),
    }
}

/// The files that debug information may be in beside the program.
fn debug_files(config: &MachineConfig) -> Vec<PathBuf> {
    let Some(program) = std::fs::canonicalize(&config.program).ok().filter(|_| config.policy.root() == b"/")
    else {
        return Vec::new();
    };
    let beside = |ending: &str| {
        let mut name = program.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    vec![beside(".debug"), beside(".dwp"), beside(".dwo"), program.with_file_name(".debug")]
}

/// The rows of a run.
fn rows(doors: Doors) -> impl Iterator<Item = &'static Allowed> {
    let open = |rows: &'static [Allowed], open: bool| rows.iter().filter(move |_| open);
    RUN.iter().chain(open(CONTROLLED, doors.controlled)).chain(open(NETWORKED, doors.networked))
}

fn allow_calls(doors: Doors) -> Result<(), String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for Allowed(names, condition) in rows(doors) {
        for name in *names {
            rules.insert(number(name)?, condition.rules()?);
        }
    }
    // Installed before the other, which lets the call pass: of two answers the stricter counts.
    let no_clone3 = BTreeMap::from([(number("clone3")?, Vec::new())]);
    let refused = SeccompAction::Errno(Errno::NOSYS.raw_os_error().unsigned_abs());
    install(no_clone3, SeccompAction::Allow, refused)?;
    install(rules, SeccompAction::Errno(Errno::PERM.raw_os_error().unsigned_abs()), SeccompAction::Allow)
}

/// Tells if the wall of a run lets this call of this process pass; traces of runs are compared with
/// that.
pub fn allows_in_a_run(doors: Doors, process: u64, name: &str, arguments: &[u64]) -> bool {
    let row = rows(doors).find(|Allowed(names, _)| names.contains(&name));
    row.is_some_and(|Allowed(_, condition)| condition.holds(process, arguments))
}

fn refuse_calls() -> Result<(), String> {
    let rules = NOT_IN_THE_SHELL.iter().map(|name| Ok((number(name)?, Vec::new())));
    let refused = SeccompAction::Errno(Errno::PERM.raw_os_error().unsigned_abs());
    install(rules.collect::<Result<_, String>>()?, SeccompAction::Allow, refused)
}

fn number(name: &str) -> Result<i64, String> {
    let row = table::rows().iter().find(|row| row.name == name);
    row.map(|row| row.number.into()).ok_or_else(|| format!("{name}: no such call"))
}

impl Condition {
    /// As the filter decides: by the lower halves of arguments.
    fn holds(&self, process: u64, arguments: &[u64]) -> bool {
        let lower = |argument: u8| arguments.get(usize::from(argument)).map(|value| value & 0xffff_ffff);
        match self {
            Condition::None => true,
            Condition::OneOf(argument, values) => {
                lower(*argument).is_some_and(|value| values.contains(&value))
            }
            Condition::Bits(argument, bits) => lower(*argument).is_some_and(|value| value & bits == *bits),
            Condition::ThisProcess => lower(0) == Some(process),
        }
    }

    /// Rules of which one must hold; none for a call that is always allowed.
    fn rules(&self) -> Result<Vec<SeccompRule>, String> {
        let rule = |argument: u8, operator: SeccompCmpOp, value: u64| {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
                .and_then(|condition| SeccompRule::new(vec![condition]))
                .map_err(|error| error.to_string())
        };
        match self {
            Condition::None => Ok(Vec::new()),
            Condition::OneOf(argument, values) => {
                values.iter().map(|value| rule(*argument, SeccompCmpOp::Eq, *value)).collect()
            }
            Condition::Bits(argument, bits) => {
                Ok(vec![rule(*argument, SeccompCmpOp::MaskedEq(*bits), *bits)?])
            }
            Condition::ThisProcess => Ok(vec![rule(0, SeccompCmpOp::Eq, u64::from(std::process::id()))?]),
        }
    }
}

fn install(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    others: SeccompAction,
    matched: SeccompAction,
) -> Result<(), String> {
    let filter = SeccompFilter::new(rules, others, matched, TargetArch::x86_64);
    let program: BpfProgram = filter.and_then(BpfProgram::try_from).map_err(|error| error.to_string())?;
    // The threads that there are, too; those of the shell may have begun.
    apply_filter_all_threads(&program).or_else(|_| apply_filter(&program)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_name_calls_once() {
        let doors = Doors { controlled: true, networked: true };
        let all: Vec<&str> = rows(doors).flat_map(|Allowed(names, _)| names.iter().copied()).collect();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), all.len());
        for name in all.iter().chain(NOT_IN_THE_SHELL) {
            assert!(number(name).is_ok(), "{name}");
        }
        assert!(NOT_IN_THE_SHELL.iter().all(|name| !all.contains(name)));
        for Allowed(_, condition) in rows(doors) {
            condition.rules().expect("a filter");
        }
    }

    #[test]
    fn arguments_decide_too() {
        let allows = |name, arguments: &[u64]| allows_in_a_run(Doors::default(), 7, name, arguments);
        assert!(allows("read", &[]) && allows("tgkill", &[7, 8, 9]) && allows("clone", &[0x3d_0f00]));
        assert!(allows("ioctl", &[1, 0x5401]) && allows("prctl", &[15]));
        // TIOCSTI, another process, a process of its own, PR_SET_DUMPABLE.
        assert!(!allows("ioctl", &[1, 0x5412]) && !allows("tgkill", &[8, 8, 9]) && !allows("clone", &[17]));
        assert!(!allows("prctl", &[4]) && !allows("execve", &[0]) && !allows("ptrace", &[0]));
        assert!(!allows("ioctl", &[]));
        let controlled = Doors { controlled: true, ..Doors::default() };
        assert!(!allows("accept4", &[3]) && allows_in_a_run(controlled, 7, "accept4", &[3]));
        assert!(
            !allows_in_a_run(controlled, 7, "connect", &[3]) && allows_in_a_run(controlled, 7, "read", &[3])
        );
        // SO_ERROR; a socket of AF_UNIX, IP_ADD_MEMBERSHIP, bind(2), accept(2).
        let open = |name, arguments: &[u64]| {
            let doors = Doors { networked: true, ..Doors::default() };
            !allows(name, arguments) && allows_in_a_run(doors, 7, name, arguments)
        };
        assert!(open("connect", &[3]) && open("socket", &[2, 1]) && open("getsockopt", &[3, 1, 4]));
        assert!(!open("socket", &[1, 1]) && !open("setsockopt", &[3, 0, 35]) && !open("bind", &[3]));
        assert!(!open("accept4", &[3]) && !open("listen", &[3]));
    }
}
