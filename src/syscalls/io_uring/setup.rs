//! io_uring_setup(2).

use crate::abi::errno::Errno;
use crate::abi::fs::O_RDWR;
use crate::abi::io_uring::*;
use crate::kernel::file::description::Description;
use crate::kernel::file::io_uring::IoUring;
use crate::kernel::io_uring::Ring;
use crate::kernel::uaccess::{copy_to_user, get_array};
use crate::kernel::wait_queue::QueueId;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::{install, refuse};
use crate::syscalls::mm::limits::room_to_lock;
use crate::syscalls::row::{Row, partial};

/// The call of this file.
pub(in crate::syscalls) const ROWS: &[Row] = &[partial(
    425,
    "io_uring_setup",
    io_uring_setup,
    "SQPOLL, IOPOLL, ATTACH_WQ, SQE128, CQE32 and what is newer than DEFER_TASKRUN are EINVAL",
)];

/// The flags that are served.
const KNOWN: u32 = IORING_SETUP_CQSIZE
    | IORING_SETUP_CLAMP
    | IORING_SETUP_R_DISABLED
    | IORING_SETUP_SUBMIT_ALL
    | IORING_SETUP_COOP_TASKRUN
    | IORING_SETUP_TASKRUN_FLAG
    | IORING_SETUP_SINGLE_ISSUER
    | IORING_SETUP_DEFER_TASKRUN;

/// The ring of a descriptor; EBADF, EOPNOTSUPP.
pub(super) fn ring_of(ctx: &mut Ctx, fd: u64) -> Result<QueueId, Errno> {
    let file = ctx.pin_opened(fd as i32)?;
    ctx.kernel.files.get(file).ops.ring().ok_or(Errno::EOPNOTSUPP)
}

/// Places of a ring for so many entries, a power of two; EINVAL.
fn places(entries: u32, most: u32, clamp: bool) -> Result<u32, Errno> {
    match entries {
        0 => Err(Errno::EINVAL),
        entries if entries <= most => Ok(entries.next_power_of_two()),
        _ if clamp => Ok(most),
        _ => Err(Errno::EINVAL),
    }
}

/// Sizes of the two rings; EINVAL.
fn sizes(entries: u32, cq_entries: u32, flags: u32) -> Result<(u32, u32), Errno> {
    let clamp = flags & IORING_SETUP_CLAMP != 0;
    let entries = places(entries, IORING_MAX_ENTRIES, clamp)?;
    if flags & IORING_SETUP_CQSIZE == 0 {
        return Ok((entries, 2 * entries));
    }
    let cq_entries = places(cq_entries, IORING_MAX_CQ_ENTRIES, clamp)?;
    if cq_entries < entries { Err(Errno::EINVAL) } else { Ok((entries, cq_entries)) }
}

/// io_uring_setup(2).
fn io_uring_setup(ctx: &mut Ctx, [entries, addr, ..]: [u64; 6]) -> SysResult {
    let mut params: [u8; PARAMS] = get_array(ctx.mem, addr)?;
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| params[at * 4 + byte]));
    let (cq_entries, flags, reserved) = (word(1), word(2), word(7) | word(8) | word(9));
    if reserved != 0 {
        return Err(Errno::EINVAL.into());
    }
    if flags & !KNOWN != 0 {
        return Err(refuse(ctx, format!("io_uring_setup flags {:#x}", flags & !KNOWN)));
    }
    let (single, deferred) = (flags & IORING_SETUP_SINGLE_ISSUER, flags & IORING_SETUP_DEFER_TASKRUN);
    let tells = flags & IORING_SETUP_TASKRUN_FLAG != 0;
    let alone = flags & (IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN) == 0;
    if deferred != 0 && single == 0 || tells && alone {
        return Err(Errno::EINVAL.into());
    }
    let (sq_entries, cq_entries) = sizes(entries as u32, cq_entries, flags)?;
    if !room_to_lock(ctx, Ring::memory(sq_entries, cq_entries).iter().sum()) {
        return Err(Errno::ENOMEM.into());
    }
    let mut ring = Ring::new(ctx.mem, sq_entries, cq_entries, flags)?;
    if single != 0 && !ring.disabled {
        ring.submitter = Some(ctx.kernel.current());
    }
    let offsets = ring.offsets();
    for (at, word) in [(0, sq_entries), (1, cq_entries), (5, FEATURES)].into_iter().chain((10..).zip(offsets))
    {
        params[at * 4..at * 4 + 4].copy_from_slice(&word.to_le_bytes());
    }
    let queue = ctx.kernel.fs.queues.add();
    ctx.kernel.fs.rings.add(queue, ring);
    let fd = install(ctx, Description::new(IoUring(queue), O_RDWR, b"anon_inode:[io_uring]"), true)?;
    if let Err(errno) = copy_to_user(ctx.mem, addr, &params) {
        ctx.kernel.close(fd as i32, ctx.mem)?;
        return Err(errno.into());
    }
    Ok(fd)
}
