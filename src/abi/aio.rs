//! Linux AIO, io_submit(2).

/// Operations of a `struct iocb`.
pub(crate) const IOCB_CMD_PREAD: u16 = 0;
pub(crate) const IOCB_CMD_PWRITE: u16 = 1;
pub(crate) const IOCB_CMD_FSYNC: u16 = 2;
pub(crate) const IOCB_CMD_FDSYNC: u16 = 3;
pub(crate) const IOCB_CMD_POLL: u16 = 5;
pub(crate) const IOCB_CMD_PREADV: u16 = 7;
pub(crate) const IOCB_CMD_PWRITEV: u16 = 8;

/// An eventfd is to count the completion.
pub(crate) const IOCB_FLAG_RESFD: u32 = 1;

/// Bytes of a `struct iocb`, of a `struct io_event` and of the head of a ring.
pub(crate) const IOCB: usize = 64;
pub(crate) const IO_EVENT: u64 = 32;
pub(crate) const RING_HEAD: u64 = 32;
/// Mark in the head of a ring.
pub(crate) const RING_MAGIC: u32 = 0xa10a_10a1;
/// Most requests of all contexts, `/proc/sys/fs/aio-max-nr`.
pub(crate) const AIO_MAX_NR: u64 = 65_536;
/// Most entries of a ring that are asked for.
pub(crate) const RING_MOST: u64 = 0x1000_0000 / IO_EVENT;
