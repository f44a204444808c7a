//! Checks of entries before they begin, as the `prep` functions of io_uring make them. An entry
//! that fails here ends the submission; what fails later does not.

use crate::abi::errno::Errno;
use crate::abi::fs::{AT_REMOVEDIR, SPLICE_F_ALL};
use crate::abi::io_uring::*;
use crate::kernel::io_uring::Ring;

/// The last operation that there is.
pub(super) const LAST: u8 = op::FTRUNCATE;

/// Tells if there is an operation of a number.
pub(super) fn is_there(opcode: u8) -> bool {
    opcode <= LAST && !matches!(opcode, 20 | 31 | 32 | 40 | 46..55)
}

/// Tells if an operation is about its descriptor, which may be a registered one.
pub(super) fn needs_file(opcode: u8) -> bool {
    use op::*;
    matches!(opcode, READV..=POLL_ADD | SYNC_FILE_RANGE..=RECVMSG | ACCEPT | CONNECT | FALLOCATE)
        || matches!(opcode, READ..=FADVISE | SEND | RECV | SPLICE | TEE | SHUTDOWN)
        || matches!(opcode, FSETXATTR | FGETXATTR | FTRUNCATE)
}

/// Tells if an operation waits for its file to become ready.
pub(super) fn awaits_file(opcode: u8) -> bool {
    use op::*;
    has_priority(opcode) || opcode == CONNECT
}

/// Tells if an operation looks at the priority of its entry.
fn has_priority(opcode: u8) -> bool {
    use op::*;
    let moves = matches!(opcode, READV | WRITEV | READ_FIXED | WRITE_FIXED | READ | WRITE);
    moves || matches!(opcode, SENDMSG | RECVMSG | SEND | RECV | ACCEPT)
}

/// Checks an entry for a ring; EINVAL, EBADF, EACCES, EOPNOTSUPP.
pub(super) fn check(ring: &Ring, sqe: &Sqe) -> Result<(), Errno> {
    const FLAGS: u8 = 0x7f;
    let opcode = sqe.opcode;
    if !is_there(opcode) || sqe.flags & !FLAGS != 0 {
        return Err(Errno::EINVAL);
    }
    let selects = matches!(opcode, op::READV | op::READ | op::RECV | op::RECVMSG);
    if sqe.has(IOSQE_BUFFER_SELECT) && !selects {
        return Err(Errno::EOPNOTSUPP);
    }
    if let Some(only) = &ring.restrictions {
        let operation = only.operations >> opcode & 1 != 0;
        let required = sqe.flags & only.required == only.required;
        if !operation || !required || sqe.flags & !(only.allowed | only.required) != 0 {
            return Err(Errno::EACCES);
        }
    }
    let priority = if has_priority(opcode) { 0 } else { sqe.ioprio };
    if priority != 0 || sqe.personality != 0 {
        return Err(Errno::EINVAL);
    }
    operation(sqe)
}

/// Checks the fields that an operation uses, and that the others are 0.
fn operation(sqe: &Sqe) -> Result<(), Errno> {
    use op::*;
    let indices = sqe.buf_index == 0 && sqe.splice_fd_in == 0;
    let (addr, off, len, flags) = (sqe.addr == 0, sqe.off == 0, sqe.len == 0, sqe.op_flags);
    let messages = sqe.ioprio & !IORING_RECVSEND_POLL_FIRST == 0;
    let timeout =
        IORING_TIMEOUT_ABS | IORING_TIMEOUT_BOOTTIME | IORING_TIMEOUT_REALTIME | IORING_TIMEOUT_ETIME_SUCCESS;
    let by_path = matches!(sqe.opcode, OPENAT | CLOSE | STATX | OPENAT2 | RENAMEAT..=LINKAT);
    if sqe.has(IOSQE_FIXED_FILE) && (by_path || matches!(sqe.opcode, SETXATTR | GETXATTR)) {
        return Err(Errno::EBADF);
    }
    let good = match sqe.opcode {
        FSYNC => addr && indices && flags & !IORING_FSYNC_DATASYNC == 0,
        SYNC_FILE_RANGE => addr && indices,
        FALLOCATE => indices && flags == 0,
        POLL_ADD => addr && off && sqe.buf_index == 0 && sqe.len & !IORING_POLL_ADD_MULTI == 0,
        POLL_REMOVE => indices && len && off && flags == 0,
        SENDMSG | SEND => messages && (sqe.opcode == SEND || indices),
        RECVMSG => messages && indices,
        RECV => messages && off && sqe.splice_fd_in == 0,
        TIMEOUT => sqe.len == 1 && indices && flags & !timeout == 0,
        LINK_TIMEOUT => sqe.len == 1 && indices && off && flags & !timeout == 0,
        TIMEOUT_REMOVE => indices && len && flags == 0,
        ACCEPT => len && indices && sqe.ioprio == 0,
        ASYNC_CANCEL => {
            let known = IORING_ASYNC_CANCEL_ALL | IORING_ASYNC_CANCEL_FD | IORING_ASYNC_CANCEL_ANY;
            let one = flags & (IORING_ASYNC_CANCEL_FD | IORING_ASYNC_CANCEL_ANY);
            let any_fd = one == IORING_ASYNC_CANCEL_FD | IORING_ASYNC_CANCEL_ANY;
            off && len && sqe.splice_fd_in == 0 && flags & !known == 0 && !any_fd
        }
        CONNECT => len && indices && flags == 0,
        OPENAT | OPENAT2 | STATX | FADVISE | EPOLL_CTL | RENAMEAT | LINKAT => indices,
        CLOSE => off && addr && len && flags == 0 && indices,
        MADVISE => indices,
        SPLICE => flags & !SPLICE_F_ALL == 0,
        TEE => flags & !SPLICE_F_ALL == 0 && addr && off,
        SHUTDOWN => addr && off && flags == 0 && indices,
        UNLINKAT => off && len && indices && flags & !AT_REMOVEDIR == 0,
        MKDIRAT => off && flags == 0 && indices,
        SYMLINKAT => len && flags == 0 && indices,
        GETXATTR | FGETXATTR => flags == 0,
        SOCKET => addr && flags == 0 && indices,
        FTRUNCATE => addr && len && flags == 0 && indices && sqe.addr3 == 0,
        _ => true,
    };
    if good { Ok(()) } else { Err(Errno::EINVAL) }
}
