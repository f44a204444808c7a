//! Numbers of the task and process calls: clone(2), wait4(2), waitid(2), prctl(2), arch_prctl(2),
//! personality(2), capget(2), kcmp(2).
#![allow(missing_docs)]

pub const CLONE_VM: u64 = 0x100;
pub const CLONE_VFORK: u64 = 0x4000;
pub const CLONE_THREAD: u64 = 0x1_0000;
/// Bytes of the first version of `struct clone_args`.
pub const CLONE_ARGS_SIZE_VER0: u64 = 64;

pub const WNOHANG: u32 = 1;
pub const WUNTRACED: u32 = 2;
pub const WSTOPPED: u32 = WUNTRACED;
pub const WEXITED: u32 = 4;
pub const WCONTINUED: u32 = 8;
pub const WNOWAIT: u32 = 0x0100_0000;
pub const __WNOTHREAD: u32 = 0x2000_0000;
pub const __WALL: u32 = 0x4000_0000;
pub const __WCLONE: u32 = 0x8000_0000;

pub const P_ALL: u32 = 0;
pub const P_PID: u32 = 1;
pub const P_PGID: u32 = 2;
pub const P_PIDFD: u32 = 3;

/// Bytes of `struct robust_list_head`.
pub const ROBUST_LIST_HEAD: u64 = 24;

pub const PR_SET_PDEATHSIG: u32 = 1;
pub const PR_GET_PDEATHSIG: u32 = 2;
pub const PR_GET_DUMPABLE: u32 = 3;
pub const PR_SET_DUMPABLE: u32 = 4;
pub const PR_GET_KEEPCAPS: u32 = 7;
pub const PR_SET_KEEPCAPS: u32 = 8;
pub const PR_GET_TIMING: u32 = 13;
pub const PR_SET_NAME: u32 = 15;
pub const PR_GET_NAME: u32 = 16;
pub const PR_GET_SECCOMP: u32 = 21;
pub const PR_SET_SECCOMP: u32 = 22;
pub const PR_CAPBSET_READ: u32 = 23;
pub const PR_GET_TSC: u32 = 25;
pub const PR_TSC_ENABLE: u32 = 1;
pub const PR_GET_SECUREBITS: u32 = 27;
pub const PR_SET_TIMERSLACK: u32 = 29;
pub const PR_GET_TIMERSLACK: u32 = 30;
pub const PR_MCE_KILL_GET: u32 = 34;
pub const PR_MCE_KILL_DEFAULT: u64 = 2;
pub const PR_SET_CHILD_SUBREAPER: u32 = 36;
pub const PR_GET_CHILD_SUBREAPER: u32 = 37;
pub const PR_SET_NO_NEW_PRIVS: u32 = 38;
pub const PR_GET_NO_NEW_PRIVS: u32 = 39;
pub const PR_GET_TID_ADDRESS: u32 = 40;
pub const PR_SET_THP_DISABLE: u32 = 41;
pub const PR_GET_THP_DISABLE: u32 = 42;
pub const PR_CAP_AMBIENT: u32 = 47;
pub const PR_CAP_AMBIENT_IS_SET: u64 = 1;
pub const PR_CAP_AMBIENT_CLEAR_ALL: u64 = 4;
pub const PR_SET_VMA: u32 = 0x5356_4d41;
pub const PR_SET_PTRACER: u32 = 0x5961_6d61;

pub const ARCH_SET_GS: u32 = 0x1001;
pub const ARCH_SET_FS: u32 = 0x1002;
pub const ARCH_GET_FS: u32 = 0x1003;
pub const ARCH_GET_GS: u32 = 0x1004;
pub const ARCH_GET_CPUID: u32 = 0x1011;
pub const ARCH_SET_CPUID: u32 = 0x1012;

/// personality(2) with this argument changes nothing.
pub const PERSONALITY_QUERY: u32 = 0xffff_ffff;
pub const ADDR_NO_RANDOMIZE: u32 = 0x0004_0000;

/// Highest capability, CAP_CHECKPOINT_RESTORE.
pub const CAP_LAST_CAP: u64 = 40;
pub const _LINUX_CAPABILITY_VERSION_1: u32 = 0x1998_0330;
pub const _LINUX_CAPABILITY_VERSION_2: u32 = 0x2007_1026;
pub const _LINUX_CAPABILITY_VERSION_3: u32 = 0x2008_0522;

pub const KCMP_FILE: u64 = 0;
pub const KCMP_EPOLL_TFD: u64 = 7;
