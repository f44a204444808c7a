//! io_uring(7): numbers and structures of `linux/io_uring.h`.

/// Most entries of the two rings.
pub(crate) const IORING_MAX_ENTRIES: u32 = 32_768;
pub(crate) const IORING_MAX_CQ_ENTRIES: u32 = 2 * IORING_MAX_ENTRIES;

/// Bytes of `struct io_uring_params`, of an entry and of a result.
pub(crate) const PARAMS: usize = 120;
pub(crate) const SQE: usize = 64;
pub(crate) const CQE: u64 = 16;

/// Flags of io_uring_setup(2).
pub(crate) const IORING_SETUP_CQSIZE: u32 = 1 << 3;
pub(crate) const IORING_SETUP_CLAMP: u32 = 1 << 4;
pub(crate) const IORING_SETUP_R_DISABLED: u32 = 1 << 6;
pub(crate) const IORING_SETUP_SUBMIT_ALL: u32 = 1 << 7;
pub(crate) const IORING_SETUP_COOP_TASKRUN: u32 = 1 << 8;
pub(crate) const IORING_SETUP_TASKRUN_FLAG: u32 = 1 << 9;
pub(crate) const IORING_SETUP_SINGLE_ISSUER: u32 = 1 << 12;
pub(crate) const IORING_SETUP_DEFER_TASKRUN: u32 = 1 << 13;

/// Features: SINGLE_MMAP, NODROP, RW_CUR_POS, CUR_PERSONALITY, FAST_POLL, POLL_32BITS, EXT_ARG,
/// CQE_SKIP. Without SUBMIT_STABLE: the header of a message is read when it is sent or received.
pub(crate) const FEATURES: u32 =
    1 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8 | IORING_FEAT_CQE_SKIP;
const IORING_FEAT_CQE_SKIP: u32 = 1 << 11;

/// Offsets of mmap(2).
pub(crate) const IORING_OFF_SQ_RING: u64 = 0;
pub(crate) const IORING_OFF_CQ_RING: u64 = 0x800_0000;
pub(crate) const IORING_OFF_SQES: u64 = 0x1000_0000;

/// Flags of io_uring_enter(2).
pub(crate) const IORING_ENTER_GETEVENTS: u32 = 1;
pub(crate) const IORING_ENTER_SQ_WAKEUP: u32 = 1 << 1;
pub(crate) const IORING_ENTER_SQ_WAIT: u32 = 1 << 2;
pub(crate) const IORING_ENTER_EXT_ARG: u32 = 1 << 3;
pub(crate) const IORING_ENTER_ABS_TIMER: u32 = 1 << 5;
pub(crate) const IORING_ENTER_EXT_ARG_REG: u32 = 1 << 6;
pub(crate) const IORING_ENTER_NO_IOWAIT: u32 = 1 << 7;

/// Bit of the flags in the submission ring: results wait for room in the other.
pub(crate) const IORING_SQ_CQ_OVERFLOW: u32 = 1 << 1;
/// Bit of the flags in the completion ring: its eventfd is not to be told.
pub(crate) const IORING_CQ_EVENTFD_DISABLED: u32 = 1;

/// Flags of an entry.
pub(crate) const IOSQE_FIXED_FILE: u8 = 1;
pub(crate) const IOSQE_IO_DRAIN: u8 = 1 << 1;
pub(crate) const IOSQE_IO_LINK: u8 = 1 << 2;
pub(crate) const IOSQE_IO_HARDLINK: u8 = 1 << 3;
pub(crate) const IOSQE_BUFFER_SELECT: u8 = 1 << 5;
pub(crate) const IOSQE_CQE_SKIP_SUCCESS: u8 = 1 << 6;

/// Flag of a result: more of the same entry will follow.
pub(crate) const IORING_CQE_F_MORE: u32 = 1 << 1;

/// Operations.
pub(crate) mod op {
    pub(crate) const NOP: u8 = 0;
    pub(crate) const READV: u8 = 1;
    pub(crate) const WRITEV: u8 = 2;
    pub(crate) const FSYNC: u8 = 3;
    pub(crate) const READ_FIXED: u8 = 4;
    pub(crate) const WRITE_FIXED: u8 = 5;
    pub(crate) const POLL_ADD: u8 = 6;
    pub(crate) const POLL_REMOVE: u8 = 7;
    pub(crate) const SYNC_FILE_RANGE: u8 = 8;
    pub(crate) const SENDMSG: u8 = 9;
    pub(crate) const RECVMSG: u8 = 10;
    pub(crate) const TIMEOUT: u8 = 11;
    pub(crate) const TIMEOUT_REMOVE: u8 = 12;
    pub(crate) const ACCEPT: u8 = 13;
    pub(crate) const ASYNC_CANCEL: u8 = 14;
    pub(crate) const LINK_TIMEOUT: u8 = 15;
    pub(crate) const CONNECT: u8 = 16;
    pub(crate) const FALLOCATE: u8 = 17;
    pub(crate) const OPENAT: u8 = 18;
    pub(crate) const CLOSE: u8 = 19;
    pub(crate) const STATX: u8 = 21;
    pub(crate) const READ: u8 = 22;
    pub(crate) const WRITE: u8 = 23;
    pub(crate) const FADVISE: u8 = 24;
    pub(crate) const MADVISE: u8 = 25;
    pub(crate) const SEND: u8 = 26;
    pub(crate) const RECV: u8 = 27;
    pub(crate) const OPENAT2: u8 = 28;
    pub(crate) const EPOLL_CTL: u8 = 29;
    pub(crate) const SPLICE: u8 = 30;
    pub(crate) const TEE: u8 = 33;
    pub(crate) const SHUTDOWN: u8 = 34;
    pub(crate) const RENAMEAT: u8 = 35;
    pub(crate) const UNLINKAT: u8 = 36;
    pub(crate) const MKDIRAT: u8 = 37;
    pub(crate) const SYMLINKAT: u8 = 38;
    pub(crate) const LINKAT: u8 = 39;
    pub(crate) const FSETXATTR: u8 = 41;
    pub(crate) const SETXATTR: u8 = 42;
    pub(crate) const FGETXATTR: u8 = 43;
    pub(crate) const GETXATTR: u8 = 44;
    pub(crate) const SOCKET: u8 = 45;
    pub(crate) const FTRUNCATE: u8 = 55;
}

/// Flags of OP_TIMEOUT and OP_LINK_TIMEOUT.
pub(crate) const IORING_TIMEOUT_ABS: u32 = 1;
pub(crate) const IORING_TIMEOUT_BOOTTIME: u32 = 1 << 2;
pub(crate) const IORING_TIMEOUT_REALTIME: u32 = 1 << 3;
pub(crate) const IORING_TIMEOUT_ETIME_SUCCESS: u32 = 1 << 5;

pub(crate) const IORING_FSYNC_DATASYNC: u32 = 1;
/// Flag of OP_POLL_ADD: it goes on after a result.
pub(crate) const IORING_POLL_ADD_MULTI: u32 = 1;
/// Flag of OP_SEND, OP_RECV and their kin that asks for nothing here.
pub(crate) const IORING_RECVSEND_POLL_FIRST: u16 = 1;

/// Flags of OP_ASYNC_CANCEL.
pub(crate) const IORING_ASYNC_CANCEL_ALL: u32 = 1;
pub(crate) const IORING_ASYNC_CANCEL_FD: u32 = 1 << 1;
pub(crate) const IORING_ASYNC_CANCEL_ANY: u32 = 1 << 2;

/// Commands of io_uring_register(2).
pub(crate) const IORING_REGISTER_BUFFERS: u32 = 0;
pub(crate) const IORING_UNREGISTER_BUFFERS: u32 = 1;
pub(crate) const IORING_REGISTER_FILES: u32 = 2;
pub(crate) const IORING_UNREGISTER_FILES: u32 = 3;
pub(crate) const IORING_REGISTER_EVENTFD: u32 = 4;
pub(crate) const IORING_UNREGISTER_EVENTFD: u32 = 5;
pub(crate) const IORING_REGISTER_FILES_UPDATE: u32 = 6;
pub(crate) const IORING_REGISTER_EVENTFD_ASYNC: u32 = 7;
pub(crate) const IORING_REGISTER_PROBE: u32 = 8;
pub(crate) const IORING_REGISTER_RESTRICTIONS: u32 = 11;
pub(crate) const IORING_REGISTER_ENABLE_RINGS: u32 = 12;

/// Descriptor in IORING_REGISTER_FILES_UPDATE that leaves its place as it is.
pub(crate) const IORING_REGISTER_FILES_SKIP: i32 = -2;
/// Most registered files and buffers, and most restrictions.
pub(crate) const IORING_MAX_FIXED_FILES: u32 = 1 << 20;
pub(crate) const IORING_MAX_REG_BUFFERS: u32 = 1 << 14;
pub(crate) const IORING_MAX_RESTRICTIONS: u32 = 128;
/// Bit of an operation in the answer to IORING_REGISTER_PROBE: it is there.
pub(crate) const IO_URING_OP_SUPPORTED: u16 = 1;

/// An entry, `struct io_uring_sqe`. Fields that are unions have the name of their first member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sqe {
    pub(crate) opcode: u8,
    pub(crate) flags: u8,
    pub(crate) ioprio: u16,
    pub(crate) fd: i32,
    pub(crate) off: u64,
    pub(crate) addr: u64,
    pub(crate) len: u32,
    pub(crate) op_flags: u32,
    pub(crate) user_data: u64,
    pub(crate) buf_index: u16,
    pub(crate) personality: u16,
    pub(crate) splice_fd_in: i32,
    pub(crate) addr3: u64,
}

impl Sqe {
    /// The entry in these bytes.
    pub(crate) fn parse(bytes: &[u8; SQE]) -> Sqe {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at * 8 + byte]));
        let (head, sizes, tail) = (word(0), word(3), word(5));
        Sqe {
            opcode: head as u8,
            flags: (head >> 8) as u8,
            ioprio: (head >> 16) as u16,
            fd: (head >> 32) as i32,
            off: word(1),
            addr: word(2),
            len: sizes as u32,
            op_flags: (sizes >> 32) as u32,
            user_data: word(4),
            buf_index: tail as u16,
            personality: (tail >> 16) as u16,
            splice_fd_in: (tail >> 32) as i32,
            addr3: word(6),
        }
    }

    /// Tells if a flag of the entry is set.
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Tells if the next entry begins when this one is done.
    pub(crate) fn is_linked(&self) -> bool {
        self.has(IOSQE_IO_LINK | IOSQE_IO_HARDLINK)
    }
}

/// A result, `struct io_uring_cqe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cqe {
    pub(crate) user_data: u64,
    pub(crate) res: i32,
    pub(crate) flags: u32,
}

impl Cqe {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> [u8; CQE as usize] {
        let words = [self.user_data, u64::from(self.res as u32) | u64::from(self.flags) << 32];
        let mut bytes = [0; CQE as usize];
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }
}
