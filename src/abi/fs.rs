//! Constants of the file system calls, spelled as the x86-64 kernel headers spell them.
#![allow(missing_docs)]

pub(crate) const O_ACCMODE: u32 = 0o3;
pub(crate) const O_RDONLY: u32 = 0o0;
pub(crate) const O_WRONLY: u32 = 0o1;
pub(crate) const O_RDWR: u32 = 0o2;
pub(crate) const O_CREAT: u32 = 0o100;
pub(crate) const O_NOCTTY: u32 = 0o400;
pub(crate) const O_EXCL: u32 = 0o200;
pub(crate) const O_TRUNC: u32 = 0o1000;
pub(crate) const O_APPEND: u32 = 0o2000;
pub(crate) const O_NONBLOCK: u32 = 0o4000;
pub(crate) const O_ASYNC: u32 = 0o20000;
pub(crate) const O_DIRECT: u32 = 0o40000;
pub(crate) const O_LARGEFILE: u32 = 0o100000;
pub(crate) const O_DIRECTORY: u32 = 0o200000;
pub(crate) const O_NOFOLLOW: u32 = 0o400000;
pub(crate) const O_NOATIME: u32 = 0o1000000;
pub(crate) const O_CLOEXEC: u32 = 0o2000000;
pub(crate) const O_SYNC: u32 = 0o4010000;
pub(crate) const O_PATH: u32 = 0o10000000;
pub(crate) const O_TMPFILE: u32 = 0o20200000;

pub(crate) const S_IFMT: u32 = 0o170000;
pub(crate) const S_IFSOCK: u32 = 0o140000;
pub(crate) const S_IFLNK: u32 = 0o120000;
pub(crate) const S_IFREG: u32 = 0o100000;
pub(crate) const S_IFBLK: u32 = 0o060000;
pub(crate) const S_IFDIR: u32 = 0o040000;
pub(crate) const S_IFCHR: u32 = 0o020000;
pub(crate) const S_IFIFO: u32 = 0o010000;
pub(crate) const S_ISUID: u32 = 0o4000;
pub(crate) const S_ISGID: u32 = 0o2000;
pub(crate) const S_IXGRP: u32 = 0o10;
pub(crate) const S_ISVTX: u32 = 0o1000;

pub(crate) const AT_FDCWD: i32 = -100;
pub(crate) const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
pub(crate) const AT_EACCESS: u32 = 0x200;
pub(crate) const AT_REMOVEDIR: u32 = 0x200;
pub(crate) const AT_SYMLINK_FOLLOW: u32 = 0x400;
pub(crate) const AT_NO_AUTOMOUNT: u32 = 0x800;
pub(crate) const AT_EMPTY_PATH: u32 = 0x1000;
pub(crate) const AT_EXECVE_CHECK: u32 = 0x1_0000;
pub(crate) const AT_STATX_SYNC_TYPE: u32 = 0x6000;

pub(crate) const PATH_MAX: usize = 4096;
pub(crate) const NAME_MAX: usize = 255;
pub(crate) const SYMLINK_MAX: u32 = 40;

pub(crate) const RENAME_NOREPLACE: u32 = 1;
pub(crate) const RENAME_EXCHANGE: u32 = 2;
pub(crate) const RENAME_WHITEOUT: u32 = 4;

/// Most bytes that one call reads or writes.
pub(crate) const MAX_RW_COUNT: u64 = 0x7fff_f000;

pub(crate) const SEEK_SET: u64 = 0;
pub(crate) const SEEK_CUR: u64 = 1;
pub(crate) const SEEK_END: u64 = 2;
pub(crate) const SEEK_DATA: u64 = 3;
pub(crate) const SEEK_HOLE: u64 = 4;

pub(crate) const R_OK: u32 = 4;
pub(crate) const W_OK: u32 = 2;
pub(crate) const X_OK: u32 = 1;

pub(crate) const DT_UNKNOWN: u8 = 0;
pub(crate) const DT_FIFO: u8 = 1;
pub(crate) const DT_CHR: u8 = 2;
pub(crate) const DT_DIR: u8 = 4;
pub(crate) const DT_BLK: u8 = 6;
pub(crate) const DT_REG: u8 = 8;
pub(crate) const DT_LNK: u8 = 10;
pub(crate) const DT_SOCK: u8 = 12;

pub(crate) const UTIME_NOW: u64 = 0x3fff_ffff;
pub(crate) const UTIME_OMIT: u64 = 0x3fff_fffe;

pub(crate) const XATTR_CREATE: u32 = 1;
pub(crate) const XATTR_REPLACE: u32 = 2;

pub(crate) const RESOLVE_NO_XDEV: u64 = 1;
pub(crate) const RESOLVE_NO_MAGICLINKS: u64 = 2;
pub(crate) const RESOLVE_NO_SYMLINKS: u64 = 4;
pub(crate) const RESOLVE_BENEATH: u64 = 8;
pub(crate) const RESOLVE_IN_ROOT: u64 = 16;
pub(crate) const RESOLVE_CACHED: u64 = 32;

pub(crate) const F_DUPFD: u64 = 0;
pub(crate) const F_GETFD: u64 = 1;
pub(crate) const F_SETFD: u64 = 2;
pub(crate) const F_GETFL: u64 = 3;
pub(crate) const F_SETFL: u64 = 4;
pub(crate) const F_GETLK: u64 = 5;
pub(crate) const F_SETLK: u64 = 6;
pub(crate) const F_SETLKW: u64 = 7;
pub(crate) const F_SETOWN: u64 = 8;
pub(crate) const F_GETOWN: u64 = 9;
pub(crate) const F_SETSIG: u64 = 10;
pub(crate) const F_GETSIG: u64 = 11;
pub(crate) const F_SETOWN_EX: u64 = 15;
pub(crate) const F_GETOWN_EX: u64 = 16;
pub(crate) const F_GETOWNER_UIDS: u64 = 17;
pub(crate) const F_OFD_GETLK: u64 = 36;
pub(crate) const F_OFD_SETLK: u64 = 37;
pub(crate) const F_OFD_SETLKW: u64 = 38;
pub(crate) const F_SETLEASE: u64 = 1024;
pub(crate) const F_GETLEASE: u64 = 1025;
pub(crate) const F_NOTIFY: u64 = 1026;
pub(crate) const F_DUPFD_QUERY: u64 = 1027;
pub(crate) const F_DUPFD_CLOEXEC: u64 = 1030;
pub(crate) const F_SETPIPE_SZ: u64 = 1031;
pub(crate) const F_GETPIPE_SZ: u64 = 1032;
pub(crate) const F_GET_RW_HINT: u64 = 1035;
pub(crate) const F_SET_RW_HINT: u64 = 1036;
pub(crate) const F_CREATED_QUERY: u64 = 1028;
pub(crate) const RWH_WRITE_LIFE_EXTREME: u64 = 5;
pub(crate) const F_ADD_SEALS: u64 = 1033;
pub(crate) const F_GET_SEALS: u64 = 1034;
pub(crate) const FD_CLOEXEC: u64 = 1;
pub(crate) const F_RDLCK: u16 = 0;
pub(crate) const F_WRLCK: u16 = 1;
pub(crate) const F_UNLCK: u16 = 2;
pub(crate) const F_OWNER_TID: u32 = 0;
pub(crate) const F_OWNER_PID: u32 = 1;
pub(crate) const F_OWNER_PGRP: u32 = 2;

pub(crate) const LOCK_SH: u32 = 1;
pub(crate) const LOCK_EX: u32 = 2;
pub(crate) const LOCK_NB: u32 = 4;
pub(crate) const LOCK_UN: u32 = 8;
pub(crate) const LOCK_MAND: u32 = 32;

pub(crate) const F_SEAL_SEAL: u32 = 1;
pub(crate) const F_SEAL_SHRINK: u32 = 2;
pub(crate) const F_SEAL_GROW: u32 = 4;
pub(crate) const F_SEAL_WRITE: u32 = 8;
pub(crate) const F_SEAL_FUTURE_WRITE: u32 = 16;
pub(crate) const F_SEAL_EXEC: u32 = 32;

pub(crate) const MFD_CLOEXEC: u32 = 1;
pub(crate) const MFD_ALLOW_SEALING: u32 = 2;
pub(crate) const MFD_NOEXEC_SEAL: u32 = 8;
pub(crate) const MFD_EXEC: u32 = 16;

pub(crate) const FALLOC_FL_KEEP_SIZE: u32 = 1;
pub(crate) const FALLOC_FL_PUNCH_HOLE: u32 = 2;
pub(crate) const FALLOC_FL_COLLAPSE_RANGE: u32 = 8;
pub(crate) const FALLOC_FL_ZERO_RANGE: u32 = 16;
pub(crate) const FALLOC_FL_INSERT_RANGE: u32 = 0x20;
pub(crate) const FALLOC_FL_UNSHARE_RANGE: u32 = 0x40;

pub(crate) const FIONREAD: u64 = 0x541b;
pub(crate) const FIONBIO: u64 = 0x5421;
pub(crate) const FIONCLEX: u64 = 0x5450;
pub(crate) const FIOCLEX: u64 = 0x5451;
pub(crate) const FIOASYNC: u64 = 0x5452;
pub(crate) const FIOQSIZE: u64 = 0x5460;
pub(crate) const FIBMAP: u64 = 1;
pub(crate) const FIGETBSZ: u64 = 2;
pub(crate) const FIFREEZE: u64 = 0xc004_5877;
pub(crate) const FITHAW: u64 = 0xc004_5878;
pub(crate) const FS_IOC_FIEMAP: u64 = 0xc020_660b;
pub(crate) const FS_IOC_GETFLAGS: u64 = 0x8008_6601;
pub(crate) const FS_IOC_SETFLAGS: u64 = 0x4008_6602;
pub(crate) const FS_APPEND_FL: u32 = 0x20;
pub(crate) const FS_IMMUTABLE_FL: u32 = 0x10;
pub(crate) const FS_NODUMP_FL: u32 = 0x40;
pub(crate) const FS_NOATIME_FL: u32 = 0x80;
pub(crate) const FICLONE: u64 = 0x4004_9409;
pub(crate) const FICLONERANGE: u64 = 0x4020_940d;

pub(crate) const FIEMAP_FLAG_SYNC: u32 = 1;
pub(crate) const FIEMAP_FLAG_XATTR: u32 = 2;
pub(crate) const FIEMAP_FLAG_CACHE: u32 = 4;
pub(crate) const FIEMAP_EXTENT_LAST: u32 = 1;
/// Bytes of a `struct fiemap` and of a `struct fiemap_extent`.
pub(crate) const FIEMAP_HEAD: u64 = 32;
pub(crate) const FIEMAP_EXTENT: u64 = 56;
/// Most extents that a program may ask for.
pub(crate) const FIEMAP_MAX_EXTENTS: u32 = u32::MAX / FIEMAP_EXTENT as u32;

pub(crate) const POLLIN: u16 = 0x001;
pub(crate) const POLLPRI: u16 = 0x002;
pub(crate) const POLLOUT: u16 = 0x004;
pub(crate) const POLLERR: u16 = 0x008;
pub(crate) const POLLHUP: u16 = 0x010;
pub(crate) const POLLNVAL: u16 = 0x020;
pub(crate) const POLLRDNORM: u16 = 0x040;
pub(crate) const POLLWRNORM: u16 = 0x100;
pub(crate) const POLLWRBAND: u16 = 0x200;
pub(crate) const POLLMSG: u16 = 0x400;
pub(crate) const POLLRDHUP: u16 = 0x2000;

pub(crate) const EPOLL_CTL_ADD: u64 = 1;
pub(crate) const EPOLL_CTL_DEL: u64 = 2;
pub(crate) const EPOLL_CTL_MOD: u64 = 3;
pub(crate) const EPOLLEXCLUSIVE: u32 = 1 << 28;
pub(crate) const EPOLLWAKEUP: u32 = 1 << 29;
pub(crate) const EPOLLONESHOT: u32 = 1 << 30;
pub(crate) const EPOLLET: u32 = 1 << 31;

pub(crate) const SPLICE_F_NONBLOCK: u32 = 2;
pub(crate) const SPLICE_F_ALL: u32 = 15;

pub(crate) const EXT4_SUPER_MAGIC: u64 = 0xef53;
pub(crate) const PROC_SUPER_MAGIC: u64 = 0x9fa0;
pub(crate) const SYSFS_MAGIC: u64 = 0x6265_6572;
pub(crate) const TMPFS_MAGIC: u64 = 0x0102_1994;
pub(crate) const RAMFS_MAGIC: u64 = 0x8584_58f6;
pub(crate) const PIPEFS_MAGIC: u64 = 0x5049_5045;
pub(crate) const SOCKFS_MAGIC: u64 = 0x534f_434b;
pub(crate) const ANON_INODE_FS_MAGIC: u64 = 0x0904_1934;
pub(crate) const MQUEUE_MAGIC: u64 = 0x1980_0202;
pub(crate) const NSFS_MAGIC: u64 = 0x6e73_6673;

/// A device number as `makedev(3)` packs small ones.
pub(crate) const fn makedev(major: u64, minor: u64) -> u64 {
    major << 8 | minor
}

/// Flags of mount(2).
pub(crate) const MS_RDONLY: u64 = 1;
pub(crate) const MS_NOSUID: u64 = 2;
pub(crate) const MS_NODEV: u64 = 4;
pub(crate) const MS_NOEXEC: u64 = 8;
pub(crate) const MS_REMOUNT: u64 = 0x20;
pub(crate) const MS_NOSYMFOLLOW: u64 = 0x100;
pub(crate) const MS_NOATIME: u64 = 0x400;
pub(crate) const MS_NODIRATIME: u64 = 0x800;
pub(crate) const MS_BIND: u64 = 0x1000;
pub(crate) const MS_MOVE: u64 = 0x2000;
pub(crate) const MS_REC: u64 = 0x4000;
pub(crate) const MS_UNBINDABLE: u64 = 0x2_0000;
pub(crate) const MS_PRIVATE: u64 = 0x4_0000;
pub(crate) const MS_SLAVE: u64 = 0x8_0000;
pub(crate) const MS_SHARED: u64 = 0x10_0000;
pub(crate) const MS_RELATIME: u64 = 0x20_0000;
pub(crate) const MS_STRICTATIME: u64 = 0x100_0000;
pub(crate) const MS_NOUSER: u64 = 0xffff_ffff_8000_0000;
pub(crate) const MS_MGC_VAL: u64 = 0xc0ed_0000;
pub(crate) const MS_MGC_MSK: u64 = 0xffff_0000;
/// Flags of umount2(2).
pub(crate) const MNT_FORCE: u32 = 1;
pub(crate) const MNT_DETACH: u32 = 2;
pub(crate) const MNT_EXPIRE: u32 = 4;
pub(crate) const UMOUNT_NOFOLLOW: u32 = 8;

/// Parameters of busy polling, epoll(7).
pub(crate) const EPIOCSPARAMS: u64 = 0x4008_8a01;
pub(crate) const EPIOCGPARAMS: u64 = 0x8008_8a02;
