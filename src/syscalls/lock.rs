//! Locks and leases of files: flock(2), and the commands of fcntl(2) about them.

use crate::abi::capability::CAP_LEASE;
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::fasync::Owner;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::lease::BREAK_TIME;
use crate::kernel::file::locks::{Holder, LAST_BYTE, Record};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{copy_to_user, get_array};
use crate::kernel::vfs::node::{Body, Ino};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full};
use crate::syscalls::transfer::block;

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[full(73, "flock", flock)];

/// flock(2).
fn flock(ctx: &mut Ctx, [fd, operation, ..]: [u64; 6]) -> SysResult {
    let operation = operation as u32;
    if operation & LOCK_MAND != 0 {
        return Ok(0); // Linux has dropped them and answers so
    }
    let exclusive = match operation & !LOCK_NB {
        LOCK_SH => Some(false),
        LOCK_EX => Some(true),
        LOCK_UN => None,
        _ => return Err(Errno::EINVAL.into()),
    };
    let file = ctx.pin_opened(fd as i32)?;
    let open = ctx.kernel.files.get(file);
    if exclusive.is_some() && !open.readable() && !open.writable() {
        return Err(Errno::EBADF.into()); // opened for neither
    }
    let pid = ctx.kernel.process().pid;
    match ctx.kernel.files.flock(file, exclusive, pid) {
        Err(Errno::EAGAIN) if operation & LOCK_NB == 0 => {
            let key = WaitKey::Lock(ctx.kernel.files.locked(file));
            Err(block(ctx, "flock of a file that another description has locked", &[key]))
        }
        result => result.map(|()| 0).map_err(Into::into),
    }
}

/// Bytes of `struct flock`.
const FLOCK: usize = 32;

/// A `struct flock` as it came, with its range from the beginning of the file.
struct Request {
    bytes: [u8; FLOCK],
    kind: u16,
    record: Record,
}

/// Reads a `struct flock`; EFAULT, EINVAL, EOVERFLOW.
fn get_flock(ctx: &mut Ctx, file: FileNo, addr: u64, own: bool, test: bool) -> Result<Request, Errno> {
    let bytes: [u8; FLOCK] = get_array(ctx.mem, addr)?;
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let word = |at: usize| i64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
    let (kind, whence, offset, len) = (half(0), half(2), word(8), word(16));
    let any = test && own; // since Linux 6.6 F_OFD_GETLK with F_UNLCK finds any lock
    if test && !any && kind != F_RDLCK && kind != F_WRLCK {
        return Err(Errno::EINVAL);
    }
    let base = match u64::from(whence) {
        SEEK_SET => 0,
        SEEK_CUR => ctx.kernel.files.get(file).offset,
        SEEK_END => {
            let (files, mut cx) = ctx.file_ops();
            files.get(file).ops.attributes(&mut cx)?.size
        }
        _ => return Err(Errno::EINVAL),
    };
    let first = i64::try_from(base).ok().and_then(|base| base.checked_add(offset)).ok_or(Errno::EOVERFLOW)?;
    let (start, end) = match len {
        _ if first < 0 => return Err(Errno::EINVAL),
        0 => (first, LAST_BYTE as i64),
        1.. => (first, first.checked_add(len - 1).ok_or(Errno::EOVERFLOW)?),
        _ if first.saturating_add(len) < 0 => return Err(Errno::EINVAL),
        _ => (first + len, first - 1),
    };
    if kind > F_UNLCK {
        return Err(Errno::EINVAL);
    }
    let holder = if own { Holder::Description(file) } else { Holder::Table(ctx.kernel.fds().owner()) };
    let pid = ctx.kernel.process().pid;
    let exclusive = kind != F_RDLCK;
    let record = Record { holder, file, pid, exclusive, start: start as u64, end: end as u64 };
    Ok(Request { bytes, kind, record })
}

/// Tells if `l_pid` is 0, as the commands on locks of descriptions demand.
fn names_no_process(request: &Request) -> bool {
    request.bytes[24..28] == [0; 4]
}

/// F_GETLK, and with `own` F_OFD_GETLK.
pub(super) fn get(ctx: &mut Ctx, file: FileNo, addr: u64, own: bool) -> SysResult {
    let request = get_flock(ctx, file, addr, own, true)?;
    if own && !names_no_process(&request) {
        return Err(Errno::EINVAL.into());
    }
    let mut bytes = request.bytes;
    match ctx.kernel.files.lock_conflict(file, &request.record) {
        None => bytes[..2].copy_from_slice(&F_UNLCK.to_le_bytes()),
        Some(held) => {
            let kind = if held.exclusive { F_WRLCK } else { F_RDLCK };
            let len = if held.end == LAST_BYTE { 0 } else { held.end - held.start + 1 };
            let pid = match held.holder {
                Holder::Table(_) => ctx.kernel.shown_pid(held.pid),
                Holder::Description(_) => -1,
            };
            bytes[..2].copy_from_slice(&kind.to_le_bytes());
            bytes[2..4].copy_from_slice(&[0; 2]);
            bytes[8..16].copy_from_slice(&held.start.to_le_bytes());
            bytes[16..24].copy_from_slice(&len.to_le_bytes());
            bytes[24..28].copy_from_slice(&pid.to_le_bytes());
        }
    }
    copy_to_user(ctx.mem, addr, &bytes)?;
    Ok(0)
}

/// F_SETLK and F_SETLKW (with `wait`), and with `own` the same of descriptions.
pub(super) fn set(ctx: &mut Ctx, file: FileNo, addr: u64, own: bool, wait: bool) -> SysResult {
    let request = get_flock(ctx, file, addr, own, false)?;
    let open = ctx.kernel.files.get(file);
    let allowed = match request.kind {
        F_RDLCK => open.readable(),
        F_WRLCK => open.writable(),
        _ => true,
    };
    if !allowed {
        return Err(Errno::EBADF.into());
    }
    if own && !names_no_process(&request) {
        return Err(Errno::EINVAL.into());
    }
    match ctx.kernel.files.set_lock(file, request.record, request.kind == F_UNLCK) {
        Err(Errno::EAGAIN) if wait => {
            if ctx.kernel.lock_would_deadlock(file, request.record) {
                return Err(Errno::EDEADLK.into());
            }
            ctx.kernel.task_mut().call.lock = Some((ctx.kernel.files.locked(file), request.record));
            let key = WaitKey::Lock(ctx.kernel.files.locked(file));
            Err(block(ctx, "fcntl for a lock that conflicts with another", &[key]))
        }
        result => result.map(|()| 0).map_err(Into::into),
    }
}

/// F_GETLEASE.
pub(super) fn get_lease(ctx: &mut Ctx, file: FileNo) -> SysResult {
    let ino = ctx.kernel.files.get(file).ops.inode();
    Ok(ino.map_or(F_UNLCK, |ino| ctx.kernel.files.leases.get(ino, file)).into())
}

/// F_SETLEASE.
pub(super) fn set_lease(ctx: &mut Ctx, file: FileNo, fd: i32, kind: u64) -> SysResult {
    let kind = u16::try_from(kind as u32).ok().filter(|kind| *kind <= F_UNLCK).ok_or(Errno::EINVAL)?;
    let ops = &ctx.kernel.files.get(file).ops;
    let Some(ino) = ops.inode() else {
        // What has no name belongs to root; pipes and sockets to who made them.
        let cred = &ctx.kernel.task().cred;
        let own = ops.pipe().is_some() || ops.socket().is_some();
        let denied = !own && cred.uid.fs != 0 && !cred.capable(CAP_LEASE);
        return Err(if denied { Errno::EACCES } else { Errno::EINVAL }.into());
    };
    let (fs, caller, _) = ctx.paths();
    if caller.cred.uid.fs != fs.node(ino).uid && !caller.cred.capable(CAP_LEASE) {
        return Err(Errno::EACCES.into());
    }
    if !matches!(fs.node(ino).body, Body::File(_) | Body::Proc(_)) {
        return Err(Errno::EINVAL.into());
    }
    let pid = ctx.kernel.process().pid;
    let awaited = ctx.kernel.awaits_leases(ino);
    let files = &mut ctx.kernel.files;
    if kind == F_UNLCK {
        files.leases.remove(ino, file)?;
        files.get_mut(file).owner = Owner::default();
        return Ok(0);
    }
    if awaited && files.leases.get(ino, file) != kind {
        return Err(Errno::EAGAIN.into());
    }
    let mut others = files.opens_of(ino, file);
    if kind == F_RDLCK && files.get(file).writable() {
        others.1 += 1; // a lease for reading is not for who can write
    }
    files.leases.set(ino, (file, fd, pid), kind == F_WRLCK, others)?;
    ctx.kernel.own_if_nobody_does(file);
    Ok(0)
}

/// Waits until nobody has a lease on a file that conflicts with opening it for `write` or reading:
/// its holder is told, and has 45 seconds. EAGAIN if that is not to be waited for; the caller
/// begins again after it.
pub(super) fn break_leases(ctx: &mut Ctx, ino: Ino, write: bool, nonblocking: bool) -> SysResult {
    ctx.kernel.recall_leases(ino, write);
    if nonblocking {
        return Err(Errno::EAGAIN.into());
    }
    let deadline = ctx.deadline(BREAK_TIME);
    match ctx.sleep("open of a file with a lease", &[WaitKey::Lease(ino)], Some(deadline))? {
        Wake::Signal => Err(ctx.interrupted(Restart::WithFlag)),
        Wake::Timeout | Wake::Event => {
            ctx.kernel.files.leases.expire(ino);
            Ok(0)
        }
    }
}
