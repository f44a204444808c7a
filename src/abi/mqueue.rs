//! POSIX message queues, mq_overview(7).

/// Priorities are below this.
pub(crate) const MQ_PRIO_MAX: u32 = 32_768;
/// Messages and bytes of one in a queue that is made without attributes: `msg_default`,
/// `msgsize_default` of `/proc/sys/fs/mqueue`.
pub(crate) const MSG_DEFAULT: i64 = 10;
pub(crate) const MSGSIZE_DEFAULT: i64 = 8192;
/// The most of both: `msg_max`, `msgsize_max`.
pub(crate) const MSG_MAX: i64 = 10;
pub(crate) const MSGSIZE_MAX: i64 = 8192;
/// The same for the privileged.
pub(crate) const HARD_MSG_MAX: i64 = 65_536;
pub(crate) const HARD_MSGSIZE_MAX: i64 = 16 << 20;
/// Most queues, `queues_max`.
pub(crate) const QUEUES_MAX: usize = 256;

/// Bytes of the cookie of SIGEV_THREAD; the last one says what happened.
pub(crate) const NOTIFY_COOKIE: usize = 32;
/// There is a message.
pub(crate) const NOTIFY_WOKENUP: u8 = 1;
/// The registration is gone.
pub(crate) const NOTIFY_REMOVED: u8 = 2;
