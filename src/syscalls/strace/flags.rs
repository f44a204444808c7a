//! Constants by their names, as strace(1) writes them.

use std::borrow::Cow;

use crate::syscalls::strace::kind::Names;

/// O_* without the access mode; O_SYNC and O_TMPFILE come before what they contain.
#[rustfmt::skip]
pub(super) const OPEN: Names = &[
    (0o100, "O_CREAT"), (0o200, "O_EXCL"), (0o400, "O_NOCTTY"), (0o1000, "O_TRUNC"),
    (0o2000, "O_APPEND"), (0o4000, "O_NONBLOCK"), (0o4010000, "O_SYNC"), (0o10000, "O_DSYNC"),
    (0o20000, "FASYNC"), (0o40000, "O_DIRECT"), (0o100000, "O_LARGEFILE"),
    (0o400000, "O_NOFOLLOW"), (0o1000000, "O_NOATIME"), (0o2000000, "O_CLOEXEC"),
    (0o10000000, "O_PATH"), (0o20200000, "O_TMPFILE"), (0o200000, "O_DIRECTORY"),
];
/// Access modes of open(2).
pub(super) const ACCESS_MODES: [&str; 4] = ["O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"];
/// PROT_*.
#[rustfmt::skip]
pub(super) const PROT: Names = &[
    (1, "PROT_READ"), (2, "PROT_WRITE"), (4, "PROT_EXEC"), (0x100_0000, "PROT_GROWSDOWN"),
];
/// MAP_*; MAP_SHARED_VALIDATE contains others and comes first.
#[rustfmt::skip]
pub(super) const MAP: Names = &[
    (3, "MAP_SHARED_VALIDATE"), (1, "MAP_SHARED"), (2, "MAP_PRIVATE"), (0x10, "MAP_FIXED"),
    (0x20, "MAP_ANONYMOUS"), (0x40, "MAP_32BIT"), (0x4000, "MAP_NORESERVE"),
    (0x8000, "MAP_POPULATE"), (0x100, "MAP_GROWSDOWN"), (0x800, "MAP_DENYWRITE"),
    (0x1000, "MAP_EXECUTABLE"), (0x2000, "MAP_LOCKED"), (0x10000, "MAP_NONBLOCK"),
    (0x20000, "MAP_STACK"), (0x40000, "MAP_HUGETLB"), (0x80000, "MAP_SYNC"),
    (0x100000, "MAP_FIXED_NOREPLACE"),
];
/// CLONE_*.
#[rustfmt::skip]
pub(super) const CLONE: Names = &[
    (0x100, "CLONE_VM"), (0x200, "CLONE_FS"), (0x400, "CLONE_FILES"), (0x800, "CLONE_SIGHAND"),
    (0x1000, "CLONE_PIDFD"), (0x2000, "CLONE_PTRACE"), (0x4000, "CLONE_VFORK"),
    (0x8000, "CLONE_PARENT"), (0x10000, "CLONE_THREAD"), (0x20000, "CLONE_NEWNS"),
    (0x40000, "CLONE_SYSVSEM"), (0x80000, "CLONE_SETTLS"), (0x100000, "CLONE_PARENT_SETTID"),
    (0x200000, "CLONE_CHILD_CLEARTID"), (0x400000, "CLONE_DETACHED"), (0x800000, "CLONE_UNTRACED"),
    (0x1000000, "CLONE_CHILD_SETTID"), (0x2000000, "CLONE_NEWCGROUP"), (0x4000000, "CLONE_NEWUTS"),
    (0x8000000, "CLONE_NEWIPC"), (0x10000000, "CLONE_NEWUSER"), (0x20000000, "CLONE_NEWPID"),
    (0x40000000, "CLONE_NEWNET"), (0x80000000, "CLONE_IO"), (0x1_0000_0000, "CLONE_CLEAR_SIGHAND"),
    (0x2_0000_0000, "CLONE_INTO_CGROUP"),
];
/// AT_* of the calls with a directory's descriptor.
#[rustfmt::skip]
pub(super) const AT: Names = &[
    (0x100, "AT_SYMLINK_NOFOLLOW"), (0x200, "AT_REMOVEDIR"), (0x400, "AT_SYMLINK_FOLLOW"),
    (0x800, "AT_NO_AUTOMOUNT"), (0x1000, "AT_EMPTY_PATH"),
];
/// Modes of access(2).
#[rustfmt::skip]
pub(super) const ACCESS: Names = &[
    (4, "R_OK"), (2, "W_OK"), (1, "X_OK"),
];
/// Options of wait(2).
#[rustfmt::skip]
pub(super) const WAIT: Names = &[
    (1, "WNOHANG"), (2, "WSTOPPED"), (4, "WEXITED"), (8, "WCONTINUED"), (0x0100_0000, "WNOWAIT"),
    (0x2000_0000, "__WNOTHREAD"), (0x4000_0000, "__WALL"), (0x8000_0000, "__WCLONE"),
];
/// SA_*.
#[rustfmt::skip]
pub(super) const SIGACTION: Names = &[
    (0x0400_0000, "SA_RESTORER"), (0x0800_0000, "SA_ONSTACK"), (0x1000_0000, "SA_RESTART"),
    (0x4000_0000, "SA_NODEFER"), (0x8000_0000, "SA_RESETHAND"), (1, "SA_NOCLDSTOP"),
    (2, "SA_NOCLDWAIT"), (4, "SA_SIGINFO"),
];
/// Whences of lseek(2).
#[rustfmt::skip]
pub(super) const WHENCE: Names = &[
    (0, "SEEK_SET"), (1, "SEEK_CUR"), (2, "SEEK_END"), (3, "SEEK_DATA"), (4, "SEEK_HOLE"),
];
/// Operations of rt_sigprocmask(2).
#[rustfmt::skip]
pub(super) const HOW: Names = &[
    (0, "SIG_BLOCK"), (1, "SIG_UNBLOCK"), (2, "SIG_SETMASK"),
];
/// Operations of epoll_ctl(2).
#[rustfmt::skip]
pub(super) const EPOLL_CTL: Names = &[
    (1, "EPOLL_CTL_ADD"), (2, "EPOLL_CTL_DEL"), (3, "EPOLL_CTL_MOD"),
];
/// Flags of io_uring_enter(2).
#[rustfmt::skip]
pub(super) const IO_URING_ENTER: Names = &[
    (1, "IORING_ENTER_GETEVENTS"), (2, "IORING_ENTER_SQ_WAKEUP"), (4, "IORING_ENTER_SQ_WAIT"),
    (8, "IORING_ENTER_EXT_ARG"), (16, "IORING_ENTER_REGISTERED_RING"),
    (32, "IORING_ENTER_ABS_TIMER"), (64, "IORING_ENTER_EXT_ARG_REG"), (128, "IORING_ENTER_NO_IOWAIT"),
];
/// Commands of io_uring_register(2).
#[rustfmt::skip]
pub(super) const IO_URING_REGISTER: Names = &[
    (0, "IORING_REGISTER_BUFFERS"), (1, "IORING_UNREGISTER_BUFFERS"),
    (2, "IORING_REGISTER_FILES"), (3, "IORING_UNREGISTER_FILES"), (4, "IORING_REGISTER_EVENTFD"),
    (5, "IORING_UNREGISTER_EVENTFD"), (6, "IORING_REGISTER_FILES_UPDATE"),
    (7, "IORING_REGISTER_EVENTFD_ASYNC"), (8, "IORING_REGISTER_PROBE"),
    (9, "IORING_REGISTER_PERSONALITY"), (10, "IORING_UNREGISTER_PERSONALITY"),
    (11, "IORING_REGISTER_RESTRICTIONS"), (12, "IORING_REGISTER_ENABLE_RINGS"),
];
/// Commands of keyctl(2).
#[rustfmt::skip]
pub(super) const KEYCTL: Names = &[
    (0, "KEYCTL_GET_KEYRING_ID"), (1, "KEYCTL_JOIN_SESSION_KEYRING"), (2, "KEYCTL_UPDATE"),
    (3, "KEYCTL_REVOKE"), (4, "KEYCTL_CHOWN"), (5, "KEYCTL_SETPERM"), (6, "KEYCTL_DESCRIBE"),
    (7, "KEYCTL_CLEAR"), (8, "KEYCTL_LINK"), (9, "KEYCTL_UNLINK"), (10, "KEYCTL_SEARCH"),
    (11, "KEYCTL_READ"), (12, "KEYCTL_INSTANTIATE"), (13, "KEYCTL_NEGATE"),
    (14, "KEYCTL_SET_REQKEY_KEYRING"), (15, "KEYCTL_SET_TIMEOUT"), (16, "KEYCTL_ASSUME_AUTHORITY"),
    (17, "KEYCTL_GET_SECURITY"), (18, "KEYCTL_SESSION_TO_PARENT"), (19, "KEYCTL_REJECT"),
    (20, "KEYCTL_INSTANTIATE_IOV"), (21, "KEYCTL_INVALIDATE"), (22, "KEYCTL_GET_PERSISTENT"),
    (23, "KEYCTL_DH_COMPUTE"), (24, "KEYCTL_PKEY_QUERY"), (25, "KEYCTL_PKEY_ENCRYPT"),
    (26, "KEYCTL_PKEY_DECRYPT"), (27, "KEYCTL_PKEY_SIGN"), (28, "KEYCTL_PKEY_VERIFY"),
    (29, "KEYCTL_RESTRICT_KEYRING"), (30, "KEYCTL_MOVE"), (31, "KEYCTL_CAPABILITIES"),
    (32, "KEYCTL_WATCH_KEY"),
];
/// Special keyrings.
#[rustfmt::skip]
pub(super) const KEYRING: Names = &[
    (0xffff_ffff, "KEY_SPEC_THREAD_KEYRING"), (0xffff_fffe, "KEY_SPEC_PROCESS_KEYRING"),
    (0xffff_fffd, "KEY_SPEC_SESSION_KEYRING"), (0xffff_fffc, "KEY_SPEC_USER_KEYRING"),
    (0xffff_fffb, "KEY_SPEC_USER_SESSION_KEYRING"), (0xffff_fffa, "KEY_SPEC_GROUP_KEYRING"),
    (0xffff_fff9, "KEY_SPEC_REQKEY_AUTH_KEY"), (0xffff_fff8, "KEY_SPEC_REQUESTOR_KEYRING"),
];
/// Clocks.
#[rustfmt::skip]
pub(super) const CLOCKS: Names = &[
    (0, "CLOCK_REALTIME"), (1, "CLOCK_MONOTONIC"), (2, "CLOCK_PROCESS_CPUTIME_ID"),
    (3, "CLOCK_THREAD_CPUTIME_ID"), (4, "CLOCK_MONOTONIC_RAW"), (5, "CLOCK_REALTIME_COARSE"),
    (6, "CLOCK_MONOTONIC_COARSE"), (7, "CLOCK_BOOTTIME"), (8, "CLOCK_REALTIME_ALARM"),
    (9, "CLOCK_BOOTTIME_ALARM"), (11, "CLOCK_TAI"),
];
/// Commands of fcntl(2).
#[rustfmt::skip]
pub(super) const FCNTL: Names = &[
    (0, "F_DUPFD"), (1, "F_GETFD"), (2, "F_SETFD"), (3, "F_GETFL"), (4, "F_SETFL"), (5, "F_GETLK"),
    (6, "F_SETLK"), (7, "F_SETLKW"), (8, "F_SETOWN"), (9, "F_GETOWN"), (10, "F_SETSIG"),
    (11, "F_GETSIG"), (15, "F_SETOWN_EX"), (16, "F_GETOWN_EX"), (36, "F_OFD_GETLK"),
    (37, "F_OFD_SETLK"), (38, "F_OFD_SETLKW"), (1024, "F_SETLEASE"), (1025, "F_GETLEASE"),
    (1026, "F_NOTIFY"), (1030, "F_DUPFD_CLOEXEC"), (1031, "F_SETPIPE_SZ"), (1032, "F_GETPIPE_SZ"),
    (1033, "F_ADD_SEALS"), (1034, "F_GET_SEALS"),
];
/// Operations of futex(2).
#[rustfmt::skip]
pub(super) const FUTEX: Names = &[
    (0, "FUTEX_WAIT"), (1, "FUTEX_WAKE"), (2, "FUTEX_FD"), (3, "FUTEX_REQUEUE"),
    (4, "FUTEX_CMP_REQUEUE"), (5, "FUTEX_WAKE_OP"), (6, "FUTEX_LOCK_PI"), (7, "FUTEX_UNLOCK_PI"),
    (8, "FUTEX_TRYLOCK_PI"), (9, "FUTEX_WAIT_BITSET"), (10, "FUTEX_WAKE_BITSET"),
    (11, "FUTEX_WAIT_REQUEUE_PI"), (12, "FUTEX_CMP_REQUEUE_PI"), (13, "FUTEX_LOCK_PI2"),
];

/// Flags of epoll_create1(2).
#[rustfmt::skip]
pub(super) const EPOLL: Names = &[
    (0o2000000, "EPOLL_CLOEXEC"),
];
/// Events of epoll_ctl(2).
#[rustfmt::skip]
pub(super) const EPOLL_EVENTS: Names = &[
    (1, "EPOLLIN"), (2, "EPOLLPRI"), (4, "EPOLLOUT"), (0x40, "EPOLLRDNORM"), (0x80, "EPOLLRDBAND"),
    (0x100, "EPOLLWRNORM"), (0x200, "EPOLLWRBAND"), (0x400, "EPOLLMSG"), (8, "EPOLLERR"),
    (0x10, "EPOLLHUP"), (0x2000, "EPOLLRDHUP"), (0x10000000, "EPOLLEXCLUSIVE"),
    (0x20000000, "EPOLLWAKEUP"), (0x40000000, "EPOLLONESHOT"), (0x80000000, "EPOLLET"),
];
/// Events of poll(2).
#[rustfmt::skip]
pub(super) const POLL: Names = &[
    (1, "POLLIN"), (2, "POLLPRI"), (4, "POLLOUT"), (0x40, "POLLRDNORM"), (0x80, "POLLRDBAND"),
    (0x100, "POLLWRNORM"), (0x200, "POLLWRBAND"), (8, "POLLERR"), (0x10, "POLLHUP"),
    (0x20, "POLLNVAL"), (0x400, "POLLMSG"), (0x2000, "POLLRDHUP"),
];
/// Flags of eventfd(2).
#[rustfmt::skip]
pub(super) const EFD: Names = &[
    (1, "EFD_SEMAPHORE"), (0o4000, "EFD_NONBLOCK"), (0o2000000, "EFD_CLOEXEC"),
];
/// Flags of signalfd(2).
#[rustfmt::skip]
pub(super) const SFD: Names = &[
    (0o2000000, "SFD_CLOEXEC"), (0o4000, "SFD_NONBLOCK"),
];
/// Flags of timerfd_create(2).
#[rustfmt::skip]
pub(super) const TFD: Names = &[
    (0o2000000, "TFD_CLOEXEC"), (0o4000, "TFD_NONBLOCK"),
];
/// Flags of userfaultfd(2).
pub(super) const UFFD: Names =
    &[(0o2000000, "O_CLOEXEC"), (0o4000, "O_NONBLOCK"), (1, "UFFD_USER_MODE_ONLY")];
/// Flags of timerfd_settime(2).
#[rustfmt::skip]
pub(super) const TFD_TIMER: Names = &[
    (1, "TFD_TIMER_ABSTIME"), (2, "TFD_TIMER_CANCEL_ON_SET"),
];
/// Flags of clock_nanosleep(2).
#[rustfmt::skip]
pub(super) const TIMER: Names = &[
    (1, "TIMER_ABSTIME"),
];
/// Flags of inotify_init1(2).
#[rustfmt::skip]
pub(super) const IN: Names = &[
    (0o2000000, "IN_CLOEXEC"), (0o4000, "IN_NONBLOCK"),
];
/// Events of inotify(7).
#[rustfmt::skip]
pub(super) const INOTIFY: Names = &[
    (1, "IN_ACCESS"), (2, "IN_MODIFY"), (4, "IN_ATTRIB"), (8, "IN_CLOSE_WRITE"),
    (0x10, "IN_CLOSE_NOWRITE"), (0x20, "IN_OPEN"), (0x40, "IN_MOVED_FROM"), (0x80, "IN_MOVED_TO"),
    (0x100, "IN_CREATE"), (0x200, "IN_DELETE"), (0x400, "IN_DELETE_SELF"), (0x800, "IN_MOVE_SELF"),
    (0x2000, "IN_UNMOUNT"), (0x4000, "IN_Q_OVERFLOW"), (0x8000, "IN_IGNORED"),
    (0x1000000, "IN_ONLYDIR"), (0x2000000, "IN_DONT_FOLLOW"), (0x4000000, "IN_EXCL_UNLINK"),
    (0x10000000, "IN_MASK_CREATE"), (0x20000000, "IN_MASK_ADD"), (0x40000000, "IN_ISDIR"),
    (0x80000000, "IN_ONESHOT"),
];
/// Flags of getrandom(2).
#[rustfmt::skip]
pub(super) const GRND: Names = &[
    (1, "GRND_NONBLOCK"), (2, "GRND_RANDOM"), (4, "GRND_INSECURE"),
];
/// Flags of memfd_create(2).
#[rustfmt::skip]
pub(super) const MFD: Names = &[
    (1, "MFD_CLOEXEC"), (2, "MFD_ALLOW_SEALING"), (4, "MFD_HUGETLB"),
];
/// Advice of madvise(2).
#[rustfmt::skip]
pub(super) const MADVISE: Names = &[
    (0, "MADV_NORMAL"), (1, "MADV_RANDOM"), (2, "MADV_SEQUENTIAL"), (3, "MADV_WILLNEED"),
    (4, "MADV_DONTNEED"), (8, "MADV_FREE"), (9, "MADV_REMOVE"), (10, "MADV_DONTFORK"),
    (11, "MADV_DOFORK"), (12, "MADV_MERGEABLE"), (13, "MADV_UNMERGEABLE"), (14, "MADV_HUGEPAGE"),
    (15, "MADV_NOHUGEPAGE"), (16, "MADV_DONTDUMP"), (17, "MADV_DODUMP"), (18, "MADV_WIPEONFORK"),
    (19, "MADV_KEEPONFORK"), (20, "MADV_COLD"), (21, "MADV_PAGEOUT"), (22, "MADV_POPULATE_READ"),
    (23, "MADV_POPULATE_WRITE"), (24, "MADV_DONTNEED_LOCKED"), (25, "MADV_COLLAPSE"),
];
/// Advice of posix_fadvise(2).
#[rustfmt::skip]
pub(super) const FADVISE: Names = &[
    (0, "POSIX_FADV_NORMAL"), (1, "POSIX_FADV_RANDOM"), (2, "POSIX_FADV_SEQUENTIAL"),
    (3, "POSIX_FADV_WILLNEED"), (4, "POSIX_FADV_DONTNEED"), (5, "POSIX_FADV_NOREUSE"),
];
/// Flags of mremap(2).
#[rustfmt::skip]
pub(super) const MREMAP: Names = &[
    (1, "MREMAP_MAYMOVE"), (2, "MREMAP_FIXED"), (4, "MREMAP_DONTUNMAP"),
];
/// Flags of msync(2).
#[rustfmt::skip]
pub(super) const MS: Names = &[
    (1, "MS_ASYNC"), (2, "MS_INVALIDATE"), (4, "MS_SYNC"),
];
/// Flags of mlockall(2).
#[rustfmt::skip]
pub(super) const MCL: Names = &[
    (1, "MCL_CURRENT"), (2, "MCL_FUTURE"), (4, "MCL_ONFAULT"),
];
/// Flags of mlock2(2).
#[rustfmt::skip]
pub(super) const MLOCK: Names = &[
    (1, "MLOCK_ONFAULT"),
];
/// Operations of flock(2).
#[rustfmt::skip]
pub(super) const FLOCK: Names = &[
    (1, "LOCK_SH"), (2, "LOCK_EX"), (4, "LOCK_NB"), (8, "LOCK_UN"),
];
/// Types of locks of fcntl(2).
#[rustfmt::skip]
pub(super) const LOCK: Names = &[
    (0, "F_RDLCK"), (1, "F_WRLCK"), (2, "F_UNLCK"),
];
/// Kinds of owners of fcntl(2).
#[rustfmt::skip]
pub(super) const OWNERS: Names = &[
    (0, "F_OWNER_TID"), (1, "F_OWNER_PID"), (2, "F_OWNER_PGRP"),
];
/// Flags of a descriptor.
#[rustfmt::skip]
pub(super) const FD: Names = &[
    (1, "FD_CLOEXEC"),
];
/// Modes of fallocate(2).
#[rustfmt::skip]
pub(super) const FALLOC: Names = &[
    (1, "FALLOC_FL_KEEP_SIZE"), (2, "FALLOC_FL_PUNCH_HOLE"), (4, "FALLOC_FL_NO_HIDE_STALE"),
    (8, "FALLOC_FL_COLLAPSE_RANGE"), (0x10, "FALLOC_FL_ZERO_RANGE"),
    (0x20, "FALLOC_FL_INSERT_RANGE"), (0x40, "FALLOC_FL_UNSHARE_RANGE"),
];
/// Flags of renameat2(2).
#[rustfmt::skip]
pub(super) const RENAME: Names = &[
    (1, "RENAME_NOREPLACE"), (2, "RENAME_EXCHANGE"), (4, "RENAME_WHITEOUT"),
];
/// Flags of splice(2).
#[rustfmt::skip]
pub(super) const SPLICE: Names = &[
    (1, "SPLICE_F_MOVE"), (2, "SPLICE_F_NONBLOCK"), (4, "SPLICE_F_MORE"), (8, "SPLICE_F_GIFT"),
];
/// Flags of sync_file_range(2).
#[rustfmt::skip]
pub(super) const SYNC_RANGE: Names = &[
    (1, "SYNC_FILE_RANGE_WAIT_BEFORE"), (2, "SYNC_FILE_RANGE_WRITE"),
    (4, "SYNC_FILE_RANGE_WAIT_AFTER"),
];
/// Flags of setxattr(2).
#[rustfmt::skip]
pub(super) const XATTR: Names = &[
    (1, "XATTR_CREATE"), (2, "XATTR_REPLACE"),
];
/// Flags of preadv2(2).
#[rustfmt::skip]
pub(super) const RWF: Names = &[
    (1, "RWF_HIPRI"), (2, "RWF_DSYNC"), (4, "RWF_SYNC"), (8, "RWF_NOWAIT"), (0x10, "RWF_APPEND"),
];
/// Mask of statx(2).
#[rustfmt::skip]
pub(super) const STATX: Names = &[
    (0xfff, "STATX_ALL"), (0x7ff, "STATX_BASIC_STATS"), (1, "STATX_TYPE"), (2, "STATX_MODE"),
    (4, "STATX_NLINK"), (8, "STATX_UID"), (0x10, "STATX_GID"), (0x20, "STATX_ATIME"),
    (0x40, "STATX_MTIME"), (0x80, "STATX_CTIME"), (0x100, "STATX_INO"), (0x200, "STATX_SIZE"),
    (0x400, "STATX_BLOCKS"), (0x800, "STATX_BTIME"), (0x1000, "STATX_MNT_ID"),
];
/// Agreement of statx(2) with the server of a file.
#[rustfmt::skip]
pub(super) const STATX_SYNC: Names = &[
    (0, "AT_STATX_SYNC_AS_STAT"), (0x2000, "AT_STATX_FORCE_SYNC"), (0x4000, "AT_STATX_DONT_SYNC"),
    (0x6000, "AT_STATX_SYNC_TYPE"),
];
/// STATX_ATTR_*.
#[rustfmt::skip]
pub(super) const STATX_ATTRIBUTES: Names = &[
    (4, "STATX_ATTR_COMPRESSED"), (0x10, "STATX_ATTR_IMMUTABLE"), (0x20, "STATX_ATTR_APPEND"),
    (0x40, "STATX_ATTR_NODUMP"), (0x800, "STATX_ATTR_ENCRYPTED"), (0x1000, "STATX_ATTR_AUTOMOUNT"),
    (0x2000, "STATX_ATTR_MOUNT_ROOT"), (0x10_0000, "STATX_ATTR_VERITY"), (0x20_0000, "STATX_ATTR_DAX"),
];
/// ST_* of statfs(2).
#[rustfmt::skip]
pub(super) const MOUNTED: Names = &[
    (0x20, "ST_VALID"), (1, "ST_RDONLY"), (2, "ST_NOSUID"), (4, "ST_NODEV"), (8, "ST_NOEXEC"),
    (0x10, "ST_SYNCHRONOUS"), (0x40, "ST_MANDLOCK"), (0x80, "ST_WRITE"), (0x100, "ST_APPEND"),
    (0x200, "ST_IMMUTABLE"), (0x400, "ST_NOATIME"), (0x800, "ST_NODIRATIME"), (0x1000, "ST_RELATIME"),
    (0x2000, "ST_NOSYMFOLLOW"),
];
/// Kinds of file systems.
#[rustfmt::skip]
pub(super) const FILE_SYSTEMS: Names = &[
    (0x1cd1, "DEVPTS_SUPER_MAGIC"), (0x9fa0, "PROC_SUPER_MAGIC"), (0xef53, "EXT2_SUPER_MAGIC"),
    (0x27_e0eb, "CGROUP_SUPER_MAGIC"), (0x0102_1994, "TMPFS_MAGIC"), (0x0904_1934, "ANON_INODE_FS_MAGIC"),
    (0x1980_0202, "MQUEUE_MAGIC"), (0x5049_5045, "PIPEFS_MAGIC"), (0x534f_434b, "SOCKFS_MAGIC"),
    (0x5846_5342, "XFS_SUPER_MAGIC"), (0x6265_6572, "SYSFS_MAGIC"), (0x6367_7270, "CGROUP2_SUPER_MAGIC"),
    (0x794c_7630, "OVERLAYFS_SUPER_MAGIC"), (0x8584_58f6, "RAMFS_MAGIC"), (0x9123_683e, "BTRFS_SUPER_MAGIC"),
];
/// Flags of faccessat2(2).
#[rustfmt::skip]
pub(super) const AT_ACCESS: Names = &[
    (0x100, "AT_SYMLINK_NOFOLLOW"), (0x200, "AT_EACCESS"), (0x1000, "AT_EMPTY_PATH"),
];
/// Flags of unlinkat(2).
#[rustfmt::skip]
pub(super) const AT_REMOVE: Names = &[
    (0x200, "AT_REMOVEDIR"),
];
/// Flags of close_range(2).
#[rustfmt::skip]
pub(super) const CLOSE_RANGE: Names = &[
    (2, "CLOSE_RANGE_UNSHARE"), (4, "CLOSE_RANGE_CLOEXEC"),
];
/// Flags of pidfd_open(2).
#[rustfmt::skip]
pub(super) const PIDFD: Names = &[
    (0o4000, "PIDFD_NONBLOCK"),
];
/// Kinds of ids of waitid(2).
#[rustfmt::skip]
pub(super) const ID: Names = &[
    (0, "P_ALL"), (1, "P_PID"), (2, "P_PGID"), (3, "P_PIDFD"),
];
/// Requests of ptrace(2).
#[rustfmt::skip]
pub(super) const PTRACE: Names = &[
    (0, "PTRACE_TRACEME"), (1, "PTRACE_PEEKTEXT"), (2, "PTRACE_PEEKDATA"), (3, "PTRACE_PEEKUSER"),
    (4, "PTRACE_POKETEXT"), (5, "PTRACE_POKEDATA"), (6, "PTRACE_POKEUSER"), (7, "PTRACE_CONT"),
    (8, "PTRACE_KILL"), (9, "PTRACE_SINGLESTEP"), (12, "PTRACE_GETREGS"), (13, "PTRACE_SETREGS"),
    (14, "PTRACE_GETFPREGS"), (15, "PTRACE_SETFPREGS"), (16, "PTRACE_ATTACH"), (17, "PTRACE_DETACH"),
    (21, "PTRACE_OLDSETOPTIONS"), (24, "PTRACE_SYSCALL"), (25, "PTRACE_GET_THREAD_AREA"),
    (26, "PTRACE_SET_THREAD_AREA"), (30, "PTRACE_ARCH_PRCTL"), (31, "PTRACE_SYSEMU"),
    (32, "PTRACE_SYSEMU_SINGLESTEP"), (33, "PTRACE_SINGLEBLOCK"), (0x4200, "PTRACE_SETOPTIONS"),
    (0x4201, "PTRACE_GETEVENTMSG"), (0x4202, "PTRACE_GETSIGINFO"), (0x4203, "PTRACE_SETSIGINFO"),
    (0x4204, "PTRACE_GETREGSET"), (0x4205, "PTRACE_SETREGSET"), (0x4206, "PTRACE_SEIZE"),
    (0x4207, "PTRACE_INTERRUPT"), (0x4208, "PTRACE_LISTEN"), (0x4209, "PTRACE_PEEKSIGINFO"),
    (0x420a, "PTRACE_GETSIGMASK"), (0x420b, "PTRACE_SETSIGMASK"), (0x420c, "PTRACE_SECCOMP_GET_FILTER"),
    (0x420d, "PTRACE_SECCOMP_GET_METADATA"), (0x420e, "PTRACE_GET_SYSCALL_INFO"),
    (0x420f, "PTRACE_GET_RSEQ_CONFIGURATION"), (0x4210, "PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG"),
    (0x4211, "PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG"), (0x4212, "PTRACE_SET_SYSCALL_INFO"),
];
/// Kinds of ids of getpriority(2).
#[rustfmt::skip]
pub(super) const PRIO: Names = &[
    (0, "PRIO_PROCESS"), (1, "PRIO_PGRP"), (2, "PRIO_USER"),
];
/// Kinds of ids of ioprio_get(2).
#[rustfmt::skip]
pub(super) const IOPRIO: Names = &[
    (1, "IOPRIO_WHO_PROCESS"), (2, "IOPRIO_WHO_PGRP"), (3, "IOPRIO_WHO_USER"),
];
/// Timers of setitimer(2).
#[rustfmt::skip]
pub(super) const ITIMER: Names = &[
    (0, "ITIMER_REAL"), (1, "ITIMER_VIRTUAL"), (2, "ITIMER_PROF"),
];
/// Resources of getrlimit(2).
#[rustfmt::skip]
pub(super) const RLIMIT: Names = &[
    (0, "RLIMIT_CPU"), (1, "RLIMIT_FSIZE"), (2, "RLIMIT_DATA"), (3, "RLIMIT_STACK"),
    (4, "RLIMIT_CORE"), (5, "RLIMIT_RSS"), (6, "RLIMIT_NPROC"), (7, "RLIMIT_NOFILE"),
    (8, "RLIMIT_MEMLOCK"), (9, "RLIMIT_AS"), (10, "RLIMIT_LOCKS"), (11, "RLIMIT_SIGPENDING"),
    (12, "RLIMIT_MSGQUEUE"), (13, "RLIMIT_NICE"), (14, "RLIMIT_RTPRIO"), (15, "RLIMIT_RTTIME"),
];
/// Subjects of getrusage(2).
#[rustfmt::skip]
pub(super) const RUSAGE: Names = &[
    (0, "RUSAGE_SELF"), (1, "RUSAGE_THREAD"), (0xffff_ffff, "RUSAGE_CHILDREN"),
];
/// Scheduling policies.
#[rustfmt::skip]
pub(super) const SCHED: Names = &[
    (0, "SCHED_OTHER"), (1, "SCHED_FIFO"), (2, "SCHED_RR"), (3, "SCHED_BATCH"), (5, "SCHED_IDLE"),
    (6, "SCHED_DEADLINE"),
];
/// Subjects of kcmp(2).
#[rustfmt::skip]
pub(super) const KCMP: Names = &[
    (0, "KCMP_FILE"), (1, "KCMP_VM"), (2, "KCMP_FILES"), (3, "KCMP_FS"), (4, "KCMP_SIGHAND"),
    (5, "KCMP_IO"), (6, "KCMP_SYSVSEM"), (7, "KCMP_EPOLL_TFD"),
];
/// Operations of seccomp(2).
#[rustfmt::skip]
pub(super) const SECCOMP: Names = &[
    (0, "SECCOMP_SET_MODE_STRICT"), (1, "SECCOMP_SET_MODE_FILTER"), (2, "SECCOMP_GET_ACTION_AVAIL"),
    (3, "SECCOMP_GET_NOTIF_SIZES"),
];
/// Commands of membarrier(2).
#[rustfmt::skip]
pub(super) const MEMBARRIER: Names = &[
    (0, "MEMBARRIER_CMD_QUERY"), (1, "MEMBARRIER_CMD_GLOBAL"),
    (2, "MEMBARRIER_CMD_GLOBAL_EXPEDITED"), (4, "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED"),
    (8, "MEMBARRIER_CMD_PRIVATE_EXPEDITED"), (0x10, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED"),
    (0x20, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE"),
    (0x40, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"),
    (0x80, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ"), (0x100, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ"),
    (0x200, "MEMBARRIER_CMD_GET_REGISTRATIONS"),
];
/// Codes of arch_prctl(2).
#[rustfmt::skip]
pub(super) const ARCH: Names = &[
    (0x1001, "ARCH_SET_GS"), (0x1002, "ARCH_SET_FS"), (0x1003, "ARCH_GET_FS"),
    (0x1004, "ARCH_GET_GS"), (0x1011, "ARCH_GET_CPUID"), (0x1012, "ARCH_SET_CPUID"),
];
/// Families of addresses.
#[rustfmt::skip]
pub(super) const AF: Names = &[
    (0, "AF_UNSPEC"), (1, "AF_UNIX"), (2, "AF_INET"), (10, "AF_INET6"), (16, "AF_NETLINK"),
    (17, "AF_PACKET"),
];
/// Flags of a socket.
#[rustfmt::skip]
pub(super) const SOCK: Names = &[
    (0o4000, "SOCK_NONBLOCK"), (0o2000000, "SOCK_CLOEXEC"),
];
/// Types of sockets.
#[rustfmt::skip]
pub(super) const SOCK_TYPES: Names = &[
    (1, "SOCK_STREAM"), (2, "SOCK_DGRAM"), (3, "SOCK_RAW"), (4, "SOCK_RDM"), (5, "SOCK_SEQPACKET"),
];
/// Requests of ioctl(2).
#[rustfmt::skip]
pub(super) const IOCTL: Names = &[
    (0x5401, "TCGETS"), (0x5402, "TCSETS"), (0x5403, "TCSETSW"), (0x5404, "TCSETSF"),
    (0x5405, "TCGETA"), (0x5406, "TCSETA"), (0x5407, "TCSETAW"), (0x5408, "TCSETAF"),
    (0x5409, "TCSBRK"), (0x540a, "TCXONC"), (0x540b, "TCFLSH"), (0x540c, "TIOCEXCL"),
    (0x540d, "TIOCNXCL"), (0x540e, "TIOCSCTTY"), (0x540f, "TIOCGPGRP"), (0x5410, "TIOCSPGRP"),
    (0x5411, "TIOCOUTQ"), (0x5412, "TIOCSTI"), (0x5413, "TIOCGWINSZ"), (0x5414, "TIOCSWINSZ"),
    (0x5415, "TIOCMGET"), (0x5416, "TIOCMBIS"), (0x5417, "TIOCMBIC"), (0x5418, "TIOCMSET"),
    (0x5419, "TIOCGSOFTCAR"), (0x541a, "TIOCSSOFTCAR"), (0x541b, "FIONREAD"), (0x541d, "TIOCCONS"),
    (0x5420, "TIOCPKT"), (0x5421, "FIONBIO"), (0x5422, "TIOCNOTTY"), (0x5423, "TIOCSETD"),
    (0x5424, "TIOCGETD"), (0x5425, "TCSBRKP"), (0x5427, "TIOCSBRK"), (0x5428, "TIOCCBRK"),
    (0x5429, "TIOCGSID"), (0x5437, "TIOCVHANGUP"), (0x5441, "TIOCGPTPEER"), (0x5450, "FIONCLEX"),
    (0x5451, "FIOCLEX"), (0x5452, "FIOASYNC"), (0x5456, "TIOCGLCKTRMIOS"),
    (0x5457, "TIOCSLCKTRMIOS"), (0x40045431, "TIOCSPTLCK"), (0x40045436, "TIOCSIG"),
    (0x40049409, "FICLONE"), (0x40086602, "FS_IOC_SETFLAGS"), (0x402c542b, "TCSETS2"),
    (0x402c542c, "TCSETSW2"), (0x402c542d, "TCSETSF2"), (0x80045430, "TIOCGPTN"),
    (0x80045432, "TIOCGDEV"), (0x80045438, "TIOCGPKT"), (0x80045439, "TIOCGPTLCK"),
    (0x80045440, "TIOCGEXCL"), (0x80086601, "FS_IOC_GETFLAGS"), (0x8010aa01, "UFFDIO_UNREGISTER"),
    (0x8010aa02, "UFFDIO_WAKE"), (0x802c542a, "TCGETS2"), (0xc018aa3f, "UFFDIO_API"),
    (0xc020660b, "FS_IOC_FIEMAP"), (0xc020aa00, "UFFDIO_REGISTER"), (0xc020aa04, "UFFDIO_ZEROPAGE"), (0xc028aa03, "UFFDIO_COPY"),
];
/// Options of prctl(2).
#[rustfmt::skip]
pub(super) const PRCTL: Names = &[
    (1, "PR_SET_PDEATHSIG"), (2, "PR_GET_PDEATHSIG"), (3, "PR_GET_DUMPABLE"),
    (4, "PR_SET_DUMPABLE"), (5, "PR_GET_UNALIGN"), (6, "PR_SET_UNALIGN"), (7, "PR_GET_KEEPCAPS"),
    (8, "PR_SET_KEEPCAPS"), (9, "PR_GET_FPEMU"), (10, "PR_SET_FPEMU"), (11, "PR_GET_FPEXC"),
    (12, "PR_SET_FPEXC"), (13, "PR_GET_TIMING"), (14, "PR_SET_TIMING"), (15, "PR_SET_NAME"),
    (16, "PR_GET_NAME"), (19, "PR_GET_ENDIAN"), (20, "PR_SET_ENDIAN"), (21, "PR_GET_SECCOMP"),
    (22, "PR_SET_SECCOMP"), (23, "PR_CAPBSET_READ"), (24, "PR_CAPBSET_DROP"), (25, "PR_GET_TSC"),
    (26, "PR_SET_TSC"), (27, "PR_GET_SECUREBITS"), (28, "PR_SET_SECUREBITS"),
    (29, "PR_SET_TIMERSLACK"), (30, "PR_GET_TIMERSLACK"), (31, "PR_TASK_PERF_EVENTS_DISABLE"),
    (32, "PR_TASK_PERF_EVENTS_ENABLE"), (33, "PR_MCE_KILL"), (34, "PR_MCE_KILL_GET"),
    (35, "PR_SET_MM"), (36, "PR_SET_CHILD_SUBREAPER"), (37, "PR_GET_CHILD_SUBREAPER"),
    (38, "PR_SET_NO_NEW_PRIVS"), (39, "PR_GET_NO_NEW_PRIVS"), (40, "PR_GET_TID_ADDRESS"),
    (41, "PR_SET_THP_DISABLE"), (42, "PR_GET_THP_DISABLE"), (43, "PR_MPX_ENABLE_MANAGEMENT"),
    (44, "PR_MPX_DISABLE_MANAGEMENT"), (45, "PR_SET_FP_MODE"), (46, "PR_GET_FP_MODE"),
    (47, "PR_CAP_AMBIENT"), (50, "PR_SVE_SET_VL"), (51, "PR_SVE_GET_VL"),
    (52, "PR_GET_SPECULATION_CTRL"), (53, "PR_SET_SPECULATION_CTRL"), (54, "PR_PAC_RESET_KEYS"),
    (55, "PR_SET_TAGGED_ADDR_CTRL"), (56, "PR_GET_TAGGED_ADDR_CTRL"), (57, "PR_SET_IO_FLUSHER"),
    (58, "PR_GET_IO_FLUSHER"), (59, "PR_SET_SYSCALL_USER_DISPATCH"),
    (60, "PR_PAC_SET_ENABLED_KEYS"), (61, "PR_PAC_GET_ENABLED_KEYS"), (62, "PR_SCHED_CORE"),
    (63, "PR_SME_SET_VL"), (64, "PR_SME_GET_VL"), (65, "PR_SET_MDWE"), (66, "PR_GET_MDWE"),
    (67, "PR_SET_MEMORY_MERGE"), (68, "PR_GET_MEMORY_MERGE"), (69, "PR_RISCV_V_SET_CONTROL"),
    (70, "PR_RISCV_V_GET_CONTROL"), (71, "PR_RISCV_SET_ICACHE_FLUSH_CTX"), (72, "PR_PPC_GET_DEXCR"),
    (73, "PR_PPC_SET_DEXCR"), (74, "PR_GET_SHADOW_STACK_STATUS"),
    (75, "PR_SET_SHADOW_STACK_STATUS"), (76, "PR_LOCK_SHADOW_STACK_STATUS"),
    (77, "PR_TIMER_CREATE_RESTORE_IDS"), (78, "PR_FUTEX_HASH"), (0x41555856, "PR_GET_AUXV"),
    (0x53564d41, "PR_SET_VMA"), (0x59616d61, "PR_SET_PTRACER"),
];

/// The name of an option of prctl(2), or its number.
pub(in crate::syscalls) fn prctl_option(option: u32) -> Cow<'static, str> {
    value(option.into(), PRCTL)
}

/// Names of the set bits, and what is left in hexadecimal.
pub(super) fn bits(value: u64, names: Names) -> String {
    let mut left = value;
    let mut parts: Vec<Cow<'static, str>> = Vec::new();
    for (bit, name) in names {
        if left & bit == *bit {
            left &= !bit;
            parts.push((*name).into());
        }
    }
    if left != 0 || parts.is_empty() {
        parts.push(if left == 0 { "0".into() } else { format!("{left:#x}").into() });
    }
    parts.join("|")
}

/// The name of a value, or the value.
pub(super) fn value(value: u64, names: Names) -> Cow<'static, str> {
    match names.iter().find(|(known, _)| *known == value) {
        Some((_, name)) => (*name).into(),
        None => format!("{value:#x}").into(),
    }
}

/// The name of `si_code`.
pub(super) fn signal_code(signo: i32, code: i32) -> Cow<'static, str> {
    let name = match (signo, code) {
        (_, 0) => "SI_USER",
        (_, 0x80) => "SI_KERNEL",
        (_, -1) => "SI_QUEUE",
        (_, -2) => "SI_TIMER",
        (_, -3) => "SI_MESGQ",
        (_, -4) => "SI_ASYNCIO",
        (_, -5) => "SI_SIGIO",
        (_, -6) => "SI_TKILL",
        (17, 1) => "CLD_EXITED",
        (17, 2) => "CLD_KILLED",
        (17, 3) => "CLD_DUMPED",
        (17, 4) => "CLD_TRAPPED",
        (17, 5) => "CLD_STOPPED",
        (17, 6) => "CLD_CONTINUED",
        (11, 1) => "SEGV_MAPERR",
        (11, 2) => "SEGV_ACCERR",
        (11, 4) => "SEGV_PKUERR",
        (29, 1) => "POLL_IN",
        (29, 2) => "POLL_OUT",
        (29, 3) => "POLL_MSG",
        (29, 4) => "POLL_ERR",
        (29, 5) => "POLL_PRI",
        (29, 6) => "POLL_HUP",
        (7, 1) => "BUS_ADRALN",
        (7, 2) => "BUS_ADRERR",
        (4, 1) => "ILL_ILLOPC",
        (4, 2) => "ILL_ILLOPN",
        (8, 1) => "FPE_INTDIV",
        (8, 2) => "FPE_INTOVF",
        (8, 3) => "FPE_FLTDIV",
        (8, 4) => "FPE_FLTOVF",
        (8, 5) => "FPE_FLTUND",
        (8, 6) => "FPE_FLTRES",
        (8, 7) => "FPE_FLTINV",
        (5, 1) => "TRAP_BRKPT",
        (5, 2) => "TRAP_TRACE",
        (31, 1) => "SYS_SECCOMP",
        (31, 2) => "SYS_USER_DISPATCH",
        _ => return code.to_string().into(),
    };
    name.into()
}
