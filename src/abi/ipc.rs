//! Numbers of System V IPC, sysvipc(7). Limits are Linux's defaults.
#![allow(missing_docs)]

pub(crate) const IPC_PRIVATE: i32 = 0;
pub(crate) const IPC_CREAT: u32 = 0o1000;
pub(crate) const IPC_EXCL: u32 = 0o2000;
pub(crate) const IPC_NOWAIT: u32 = 0o4000;

pub(crate) const IPC_RMID: i32 = 0;
pub(crate) const IPC_SET: i32 = 1;
pub(crate) const IPC_STAT: i32 = 2;
pub(crate) const IPC_INFO: i32 = 3;

/// Bits of an identifier that are the place in the table; the others count how often it was used.
pub(crate) const IPCMNI_SHIFT: u32 = 15;

pub(crate) const SHM_HUGETLB: u32 = 0o4000;
pub(crate) const SHM_NORESERVE: u32 = 0o10000;
pub(crate) const SHM_RDONLY: u32 = 0o10000;
pub(crate) const SHM_RND: u32 = 0o20000;
pub(crate) const SHM_REMAP: u32 = 0o40000;
pub(crate) const SHM_EXEC: u32 = 0o100000;
/// Marks in `shm_perm.mode`: removed while attached, and locked.
pub(crate) const SHM_DEST: u32 = 0o1000;
pub(crate) const SHM_LOCKED: u32 = 0o2000;
pub(crate) const SHM_LOCK: i32 = 11;
pub(crate) const SHM_UNLOCK: i32 = 12;
pub(crate) const SHM_STAT: i32 = 13;
pub(crate) const SHM_INFO: i32 = 14;
pub(crate) const SHM_STAT_ANY: i32 = 15;
/// Most bytes of a segment, and most pages of all: `ULONG_MAX - (1UL << 24)`.
pub(crate) const SHMMAX: u64 = u64::MAX - (1 << 24);
pub(crate) const SHMMNI: usize = 4096;

pub(crate) const SEM_UNDO: u16 = 0x1000;
pub(crate) const GETPID: i32 = 11;
pub(crate) const GETVAL: i32 = 12;
pub(crate) const GETALL: i32 = 13;
pub(crate) const GETNCNT: i32 = 14;
pub(crate) const GETZCNT: i32 = 15;
pub(crate) const SETVAL: i32 = 16;
pub(crate) const SETALL: i32 = 17;
pub(crate) const SEM_STAT: i32 = 18;
pub(crate) const SEM_INFO: i32 = 19;
pub(crate) const SEM_STAT_ANY: i32 = 20;
pub(crate) const SEMMSL: usize = 32_000;
pub(crate) const SEMMNI: usize = 32_000;
pub(crate) const SEMMNS: usize = 1_024_000_000;
pub(crate) const SEMOPM: usize = 500;
pub(crate) const SEMVMX: i32 = 32_767;

pub(crate) const MSG_NOERROR: u32 = 0o10000;
pub(crate) const MSG_EXCEPT: u32 = 0o20000;
pub(crate) const MSG_COPY: u32 = 0o40000;
pub(crate) const MSG_STAT: i32 = 11;
pub(crate) const MSG_INFO: i32 = 12;
pub(crate) const MSG_STAT_ANY: i32 = 13;
pub(crate) const MSGMNI: usize = 32_000;
pub(crate) const MSGMAX: u64 = 8192;
pub(crate) const MSGMNB: u64 = 16_384;
