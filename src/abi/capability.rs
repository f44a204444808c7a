//! Numbers of capabilities(7) and of the secure bits.
#![allow(missing_docs)]

pub(crate) const CAP_CHOWN: u64 = 0;
pub(crate) const CAP_DAC_OVERRIDE: u64 = 1;
pub(crate) const CAP_DAC_READ_SEARCH: u64 = 2;
pub(crate) const CAP_FOWNER: u64 = 3;
pub(crate) const CAP_FSETID: u64 = 4;
pub(crate) const CAP_KILL: u64 = 5;
pub(crate) const CAP_SETGID: u64 = 6;
pub(crate) const CAP_SETUID: u64 = 7;
pub(crate) const CAP_SETPCAP: u64 = 8;
pub(crate) const CAP_LINUX_IMMUTABLE: u64 = 9;
pub(crate) const CAP_NET_BIND_SERVICE: u64 = 10;
pub(crate) const CAP_NET_ADMIN: u64 = 12;
pub(crate) const CAP_NET_RAW: u64 = 13;
pub(crate) const CAP_IPC_LOCK: u64 = 14;
pub(crate) const CAP_IPC_OWNER: u64 = 15;
pub(crate) const CAP_SYS_MODULE: u64 = 16;
pub(crate) const CAP_SYS_RAWIO: u64 = 17;
pub(crate) const CAP_SYS_CHROOT: u64 = 18;
pub(crate) const CAP_SYS_PTRACE: u64 = 19;
pub(crate) const CAP_SYS_PACCT: u64 = 20;
pub(crate) const CAP_SYS_ADMIN: u64 = 21;
pub(crate) const CAP_SYS_BOOT: u64 = 22;
pub(crate) const CAP_SYS_NICE: u64 = 23;
pub(crate) const CAP_SYS_RESOURCE: u64 = 24;
pub(crate) const CAP_SYS_TIME: u64 = 25;
pub(crate) const CAP_SYS_TTY_CONFIG: u64 = 26;
pub(crate) const CAP_MKNOD: u64 = 27;
pub(crate) const CAP_LEASE: u64 = 28;
pub(crate) const CAP_SYSLOG: u64 = 34;
pub(crate) const CAP_WAKE_ALARM: u64 = 35;

pub(crate) const CAP_CHECKPOINT_RESTORE: u64 = 40;

/// Highest capability, CAP_CHECKPOINT_RESTORE.
pub(crate) const CAP_LAST_CAP: u64 = 40;
/// Every capability there is.
pub(crate) const CAP_FULL_SET: u64 = (1 << (CAP_LAST_CAP + 1)) - 1;
/// Those that follow setfsuid(2): CAP_CHOWN to CAP_FSETID, CAP_LINUX_IMMUTABLE, CAP_MKNOD and
/// CAP_MAC_OVERRIDE.
pub(crate) const CAP_FS_SET: u64 = 0x1f | 1 << 9 | 1 << CAP_MKNOD | 1 << 32;

pub(crate) const _LINUX_CAPABILITY_VERSION_1: u32 = 0x1998_0330;
pub(crate) const _LINUX_CAPABILITY_VERSION_2: u32 = 0x2007_1026;
pub(crate) const _LINUX_CAPABILITY_VERSION_3: u32 = 0x2008_0522;

pub(crate) const SECBIT_NOROOT: u32 = 1;
pub(crate) const SECBIT_NO_SETUID_FIXUP: u32 = 1 << 2;
pub(crate) const SECBIT_KEEP_CAPS: u32 = 1 << 4;
pub(crate) const SECBIT_KEEP_CAPS_LOCKED: u32 = 1 << 5;
pub(crate) const SECBIT_NO_CAP_AMBIENT_RAISE: u32 = 1 << 6;
/// Every bit, without and with its lock.
pub(crate) const SECURE_ALL_BITS: u32 = 0x555;
pub(crate) const SECURE_ALL_LOCKS: u32 = SECURE_ALL_BITS << 1;
pub(crate) const SECURE_ALL_UNPRIVILEGED: u32 = 0xf00;
