//! Numbers of the task and process calls: clone(2), wait4(2), waitid(2), prctl(2), arch_prctl(2),
//! personality(2), kcmp(2).
#![allow(missing_docs)]

/// The signal at the end of the child, in the flags of clone(2).
pub(crate) const CSIGNAL: u64 = 0xff;
pub(crate) const CLONE_VM: u64 = 0x100;
pub(crate) const CLONE_FS: u64 = 0x200;
pub(crate) const CLONE_FILES: u64 = 0x400;
pub(crate) const CLONE_SIGHAND: u64 = 0x800;
pub(crate) const CLONE_PIDFD: u64 = 0x1000;
pub(crate) const CLONE_PTRACE: u64 = 0x2000;
pub(crate) const CLONE_VFORK: u64 = 0x4000;
pub(crate) const CLONE_PARENT: u64 = 0x8000;
pub(crate) const CLONE_THREAD: u64 = 0x1_0000;
pub(crate) const CLONE_NEWNS: u64 = 0x2_0000;
pub(crate) const CLONE_SETTLS: u64 = 0x8_0000;
pub(crate) const CLONE_PARENT_SETTID: u64 = 0x10_0000;
pub(crate) const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
pub(crate) const CLONE_DETACHED: u64 = 0x40_0000;
pub(crate) const CLONE_UNTRACED: u64 = 0x80_0000;
pub(crate) const CLONE_CHILD_SETTID: u64 = 0x100_0000;
pub(crate) const CLONE_NEWUSER: u64 = 0x1000_0000;
pub(crate) const CLONE_NEWPID: u64 = 0x2000_0000;
/// Commands of ioctl(2) for namespaces, ioctl_ns(2).
pub(crate) const NS_GET_USERNS: u64 = 0xb701;
pub(crate) const NS_GET_PARENT: u64 = 0xb702;
pub(crate) const NS_GET_NSTYPE: u64 = 0xb703;
pub(crate) const NS_GET_OWNER_UID: u64 = 0xb704;
pub(crate) const CLONE_NEWNET: u64 = 0x4000_0000;
pub(crate) const CLONE_NEWTIME: u64 = 0x80;
pub(crate) const CLONE_NEWCGROUP: u64 = 0x200_0000;
pub(crate) const CLONE_NEWUTS: u64 = 0x400_0000;
pub(crate) const CLONE_NEWIPC: u64 = 0x800_0000;
pub(crate) const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;
pub(crate) const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
/// Flags of unshare(2) that a process alone meets: CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND,
/// CLONE_THREAD, CLONE_SYSVSEM.
pub(crate) const CLONE_UNSHARED: u64 = 0x5_0f00;
/// Flags for namespaces but the user's: CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWPID and
/// NEWNET.
pub(crate) const CLONE_NAMESPACES: u64 = 0x6e02_0080;
/// Bytes of the first version of `struct clone_args`.
pub(crate) const CLONE_ARGS_SIZE_VER0: u64 = 64;

/// Bytes of the version of `struct clone_args` of Linux 6.1.
pub(crate) const CLONE_ARGS_SIZE_VER2: u64 = 88;

/// `si_code` of SIGCHLD.
pub(crate) const CLD_EXITED: i32 = 1;
pub(crate) const CLD_KILLED: i32 = 2;
pub(crate) const CLD_DUMPED: i32 = 3;
pub(crate) const CLD_TRAPPED: i32 = 4;
pub(crate) const CLD_STOPPED: i32 = 5;
pub(crate) const CLD_CONTINUED: i32 = 6;

pub(crate) const WNOHANG: u32 = 1;
pub(crate) const WUNTRACED: u32 = 2;
pub(crate) const WSTOPPED: u32 = WUNTRACED;
pub(crate) const WEXITED: u32 = 4;
pub(crate) const WCONTINUED: u32 = 8;
pub(crate) const WNOWAIT: u32 = 0x0100_0000;
pub(crate) const __WNOTHREAD: u32 = 0x2000_0000;
pub(crate) const __WALL: u32 = 0x4000_0000;
pub(crate) const __WCLONE: u32 = 0x8000_0000;

pub(crate) const P_ALL: u32 = 0;
pub(crate) const P_PID: u32 = 1;
pub(crate) const P_PGID: u32 = 2;
pub(crate) const P_PIDFD: u32 = 3;

/// Bytes of `struct robust_list_head`.
pub(crate) const ROBUST_LIST_HEAD: u64 = 24;

pub(crate) const PR_SET_PDEATHSIG: u32 = 1;
pub(crate) const PR_GET_PDEATHSIG: u32 = 2;
pub(crate) const PR_GET_DUMPABLE: u32 = 3;
pub(crate) const PR_SET_DUMPABLE: u32 = 4;
pub(crate) const PR_GET_KEEPCAPS: u32 = 7;
pub(crate) const PR_SET_KEEPCAPS: u32 = 8;
pub(crate) const PR_GET_TIMING: u32 = 13;
pub(crate) const PR_SET_TIMING: u32 = 14;
pub(crate) const PR_SET_NAME: u32 = 15;
pub(crate) const PR_GET_NAME: u32 = 16;
pub(crate) const PR_GET_SECCOMP: u32 = 21;
pub(crate) const PR_SET_SECCOMP: u32 = 22;
pub(crate) const PR_CAPBSET_READ: u32 = 23;
pub(crate) const PR_CAPBSET_DROP: u32 = 24;
pub(crate) const PR_GET_TSC: u32 = 25;
pub(crate) const PR_SET_TSC: u32 = 26;
pub(crate) const PR_TSC_ENABLE: u32 = 1;
pub(crate) const PR_TSC_SIGSEGV: u32 = 2;
pub(crate) const PR_GET_SECUREBITS: u32 = 27;
pub(crate) const PR_SET_SECUREBITS: u32 = 28;
pub(crate) const PR_SET_TIMERSLACK: u32 = 29;
pub(crate) const PR_GET_TIMERSLACK: u32 = 30;
pub(crate) const PR_TASK_PERF_EVENTS_DISABLE: u32 = 31;
pub(crate) const PR_TASK_PERF_EVENTS_ENABLE: u32 = 32;
pub(crate) const PR_MCE_KILL: u32 = 33;
pub(crate) const PR_MCE_KILL_CLEAR: u64 = 0;
pub(crate) const PR_MCE_KILL_SET: u64 = 1;
pub(crate) const PR_MCE_KILL_GET: u32 = 34;
pub(crate) const PR_MCE_KILL_DEFAULT: u64 = 2;
pub(crate) const PR_SET_CHILD_SUBREAPER: u32 = 36;
pub(crate) const PR_GET_CHILD_SUBREAPER: u32 = 37;
pub(crate) const PR_SET_NO_NEW_PRIVS: u32 = 38;
pub(crate) const PR_GET_NO_NEW_PRIVS: u32 = 39;
pub(crate) const PR_GET_TID_ADDRESS: u32 = 40;
pub(crate) const PR_SET_THP_DISABLE: u32 = 41;
pub(crate) const PR_GET_THP_DISABLE: u32 = 42;
pub(crate) const PR_THP_DISABLE_EXCEPT_ADVISED: u64 = 2;
pub(crate) const PR_CAP_AMBIENT: u32 = 47;
pub(crate) const PR_CAP_AMBIENT_IS_SET: u64 = 1;
pub(crate) const PR_CAP_AMBIENT_RAISE: u64 = 2;
pub(crate) const PR_CAP_AMBIENT_LOWER: u64 = 3;
pub(crate) const PR_CAP_AMBIENT_CLEAR_ALL: u64 = 4;
pub(crate) const PR_SET_MM: u32 = 35;
pub(crate) const PR_SET_MM_START_CODE: u64 = 1;
pub(crate) const PR_SET_MM_END_CODE: u64 = 2;
pub(crate) const PR_SET_MM_START_DATA: u64 = 3;
pub(crate) const PR_SET_MM_END_DATA: u64 = 4;
pub(crate) const PR_SET_MM_START_STACK: u64 = 5;
pub(crate) const PR_SET_MM_START_BRK: u64 = 6;
pub(crate) const PR_SET_MM_BRK: u64 = 7;
pub(crate) const PR_SET_MM_ARG_START: u64 = 8;
pub(crate) const PR_SET_MM_ARG_END: u64 = 9;
pub(crate) const PR_SET_MM_ENV_START: u64 = 10;
pub(crate) const PR_SET_MM_ENV_END: u64 = 11;
pub(crate) const PR_SET_MM_AUXV: u64 = 12;
pub(crate) const PR_SET_MM_EXE_FILE: u64 = 13;
pub(crate) const PR_SET_MM_MAP: u64 = 14;
pub(crate) const PR_SET_MM_MAP_SIZE: u64 = 15;
pub(crate) const PR_GET_SPECULATION_CTRL: u32 = 52;
pub(crate) const PR_SET_SPECULATION_CTRL: u32 = 53;
pub(crate) const PR_SPEC_STORE_BYPASS: u64 = 0;
pub(crate) const PR_SPEC_INDIRECT_BRANCH: u64 = 1;
pub(crate) const PR_SPEC_L1D_FLUSH: u64 = 2;
pub(crate) const PR_SPEC_NOT_AFFECTED: u64 = 0;
pub(crate) const PR_SPEC_ENABLE: u64 = 2;
pub(crate) const PR_SPEC_DISABLE: u64 = 4;
pub(crate) const PR_SPEC_FORCE_DISABLE: u64 = 8;
pub(crate) const PR_SET_IO_FLUSHER: u32 = 57;
pub(crate) const PR_GET_IO_FLUSHER: u32 = 58;
pub(crate) const PR_SET_SYSCALL_USER_DISPATCH: u32 = 59;
pub(crate) const PR_SET_MDWE: u32 = 65;
pub(crate) const PR_GET_MDWE: u32 = 66;
pub(crate) const PR_MDWE_REFUSE_EXEC_GAIN: u64 = 1;
pub(crate) const PR_MDWE_NO_INHERIT: u64 = 2;
pub(crate) const PR_SET_MEMORY_MERGE: u32 = 67;
pub(crate) const PR_GET_MEMORY_MERGE: u32 = 68;
pub(crate) const PR_TIMER_CREATE_RESTORE_IDS: u32 = 77;
pub(crate) const PR_TIMER_CREATE_RESTORE_IDS_OFF: u64 = 0;
pub(crate) const PR_TIMER_CREATE_RESTORE_IDS_ON: u64 = 1;
pub(crate) const PR_TIMER_CREATE_RESTORE_IDS_GET: u64 = 2;
pub(crate) const PR_GET_AUXV: u32 = 0x4155_5856;
pub(crate) const PR_SET_VMA: u32 = 0x5356_4d41;
pub(crate) const PR_SET_VMA_ANON_NAME: u64 = 0;
pub(crate) const PR_SET_PTRACER: u32 = 0x5961_6d61;

pub(crate) const ARCH_SET_GS: u32 = 0x1001;
pub(crate) const ARCH_SET_FS: u32 = 0x1002;
pub(crate) const ARCH_GET_FS: u32 = 0x1003;
pub(crate) const ARCH_GET_GS: u32 = 0x1004;
pub(crate) const ARCH_GET_CPUID: u32 = 0x1011;
pub(crate) const ARCH_SET_CPUID: u32 = 0x1012;

/// personality(2) with this argument changes nothing.
pub(crate) const PERSONALITY_QUERY: u32 = 0xffff_ffff;
pub(crate) const UNAME26: u32 = 0x0002_0000;
pub(crate) const MMAP_PAGE_ZERO: u32 = 0x0010_0000;
pub(crate) const ADDR_COMPAT_LAYOUT: u32 = 0x0020_0000;
pub(crate) const READ_IMPLIES_EXEC: u32 = 0x0040_0000;
pub(crate) const ADDR_LIMIT_32BIT: u32 = 0x0080_0000;
pub(crate) const ADDR_LIMIT_3GB: u32 = 0x0800_0000;

pub(crate) const KCMP_FILE: u64 = 0;
pub(crate) const KCMP_VM: u64 = 1;
pub(crate) const KCMP_FILES: u64 = 2;
pub(crate) const KCMP_FS: u64 = 3;
pub(crate) const KCMP_SIGHAND: u64 = 4;
pub(crate) const KCMP_EPOLL_TFD: u64 = 7;
