//! Operations of io_uring(7). Each is the system call of its name, made for the task that submitted
//! it; those that no call has are here.

use crate::abi::errno::Errno;
use crate::abi::fs::{POLLERR, POLLHUP};
use crate::abi::io_uring::*;
use crate::abi::net::MSG_NOSIGNAL;
use crate::kernel::clock::ClockId;
use crate::kernel::fdtable::LENT;
use crate::kernel::requests::{Request, RequestId};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::timerfd::TimerFd;
use crate::kernel::timers::Alarm;
use crate::kernel::uaccess::get_timespec;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::io_uring::register::in_buffer;
use crate::syscalls::iovec::{access_ok, get_iovec};
use crate::syscalls::mm::advice::madvise;
use crate::syscalls::net::message::{recvfrom, recvmsg, sendmsg, sendto};
use crate::syscalls::net::setup::{accept4, connect, shutdown, socket};
use crate::syscalls::transfer::{read_to, seekable, write_from};
use crate::syscalls::{attr, copy, epoll, fd, fs, stat};

/// Does what the entry of a request asks for, or sleeps.
pub(super) fn run(ctx: &mut Ctx, request: &mut Request) -> SysResult {
    use op::*;
    let sqe = request.sqe;
    if sqe.has(IOSQE_BUFFER_SELECT) {
        return Err(Errno::ENOBUFS.into()); // no group of buffers can be provided
    }
    let fd = if request.file.is_some() { LENT } else { sqe.fd } as u64;
    let (addr, off, len, flags) = (sqe.addr, sqe.off, u64::from(sqe.len), u64::from(sqe.op_flags));
    let six = |args: [u64; 5]| [args[0], args[1], args[2], args[3], args[4], 0];
    match sqe.opcode {
        NOP => Ok(0),
        READV | WRITEV | READ | WRITE | READ_FIXED | WRITE_FIXED => transfer(ctx, request, fd),
        FSYNC => copy::fsync(ctx, six([fd, 0, 0, 0, 0])),
        POLL_ADD => poll(ctx, fd, sqe.op_flags as u16),
        SYNC_FILE_RANGE => copy::sync_file_range(ctx, six([fd, off, len, flags, 0])),
        SENDMSG => sendmsg(ctx, six([fd, addr, flags | u64::from(MSG_NOSIGNAL), 0, 0])),
        RECVMSG => recvmsg(ctx, six([fd, addr, flags, 0, 0])),
        TIMEOUT | LINK_TIMEOUT => timeout(ctx, request),
        TIMEOUT_REMOVE | POLL_REMOVE | ASYNC_CANCEL => cancel(ctx, request),
        ACCEPT => accept4(ctx, six([fd, addr, off, flags, 0])),
        CONNECT => connect(ctx, six([fd, addr, off, 0, 0])),
        FALLOCATE => copy::fallocate(ctx, six([fd, len, off, addr, 0])),
        OPENAT => fs::openat(ctx, six([fd, addr, flags, len, 0])),
        CLOSE => close(ctx, fd),
        STATX => stat::statx(ctx, six([fd, addr, flags, len, off])),
        FADVISE => copy::fadvise64(ctx, six([fd, off, if addr == 0 { len } else { addr }, flags, 0])),
        MADVISE => madvise(ctx, six([addr, if off == 0 { len } else { off }, flags, 0, 0])),
        SEND => {
            let name_len = u64::from(sqe.splice_fd_in as u16);
            sendto(ctx, [fd, addr, len, flags | u64::from(MSG_NOSIGNAL), off, name_len])
        }
        RECV => recvfrom(ctx, six([fd, addr, len, flags, 0])),
        OPENAT2 => fs::openat2(ctx, six([fd, addr, off, len, 0])),
        EPOLL_CTL => epoll::epoll_ctl(ctx, six([fd, len, off, addr, 0])),
        SPLICE => splice(ctx, &sqe, fd),
        TEE => copy::tee(ctx, six([sqe.splice_fd_in as u64, fd, len, flags, 0])),
        SHUTDOWN => shutdown(ctx, six([fd, len, 0, 0, 0])),
        RENAMEAT => fs::renameat2(ctx, six([fd, addr, sqe.len as i32 as u64, off, flags])),
        UNLINKAT => fs::unlinkat(ctx, six([fd, addr, flags, 0, 0])),
        MKDIRAT => fs::mkdirat(ctx, six([fd, addr, len, 0, 0])),
        SYMLINKAT => fs::symlinkat(ctx, six([addr, fd, off, 0, 0])),
        LINKAT => fs::linkat(ctx, six([fd, addr, sqe.len as i32 as u64, off, flags])),
        FSETXATTR => attr::fsetxattr(ctx, six([fd, addr, off, len, flags])),
        SETXATTR => attr::setxattr(ctx, six([sqe.addr3, addr, off, len, flags])),
        FGETXATTR => attr::fgetxattr(ctx, six([fd, addr, off, len, 0])),
        GETXATTR => attr::getxattr(ctx, six([sqe.addr3, addr, off, len, 0])),
        SOCKET => socket(ctx, six([fd, off, len, 0, 0])),
        FTRUNCATE => copy::ftruncate(ctx, six([fd, off, 0, 0, 0])),
        _ => Err(Errno::EINVAL.into()),
    }
}

/// Tells if a result that is no error breaks the chain of an entry nevertheless: less was moved
/// than was asked for.
pub(super) fn is_short(request: &Request, moved: u64) -> bool {
    use op::*;
    let len = u64::from(request.sqe.len);
    match request.sqe.opcode {
        READV | WRITEV | READ | WRITE | READ_FIXED | WRITE_FIXED => {
            let pieces = request.pieces.iter().flatten();
            moved != pieces.fold(0u64, |sum, (_, len)| sum.saturating_add(*len))
        }
        SPLICE | TEE => moved != len,
        _ => false,
    }
}

/// Reads or writes, at an offset where that makes sense; -1 is the description's own.
fn transfer(ctx: &mut Ctx, request: &mut Request, fd: u64) -> SysResult {
    let sqe = request.sqe;
    let file = ctx.pin_opened(fd as i32)?;
    if request.pieces.is_none() {
        let pieces = match sqe.opcode {
            op::READV | op::WRITEV => get_iovec(ctx.mem, sqe.addr, sqe.len.into())?,
            op::READ | op::WRITE => vec![(sqe.addr, sqe.len.into())],
            _ => in_buffer(ctx, request.ring, &sqe)?,
        };
        access_ok(&pieces)?;
        request.pieces = Some(pieces);
    }
    let pieces = request.pieces.as_deref().unwrap_or_default();
    let at = Some(sqe.off).filter(|off| *off != u64::MAX && seekable(ctx, file));
    match sqe.opcode {
        op::READV | op::READ | op::READ_FIXED => read_to(ctx, fd, at, pieces, sqe.op_flags),
        _ => write_from(ctx, fd, at, pieces, sqe.op_flags),
    }
}

/// Waits for events of poll(2). The keys stay, since the entry may go on.
fn poll(ctx: &mut Ctx, fd: u64, wanted: u16) -> SysResult {
    let file = ctx.pin_opened(fd as i32)?;
    let (files, mut cx) = ctx.file_ops();
    let ready = files.poll(file, &mut cx, false)? & (wanted | POLLERR | POLLHUP);
    let mut keys = Vec::new();
    ctx.kernel.await_file(file, &mut keys);
    ctx.kernel.task_mut().call.keys.clone_from(&keys);
    if ready != 0 {
        return Ok(ready.into());
    }
    sleep(ctx, "io_uring: poll", &keys)
}

fn sleep(ctx: &mut Ctx, what: &'static str, keys: &[WaitKey]) -> SysResult {
    match ctx.sleep(what, keys, None)? {
        Wake::Signal => Err(Errno::EINTR.into()), // the task is about to end
        Wake::Timeout | Wake::Event => Err(Break::Sleep),
    }
}

/// Waits for a time, or for so many results of the ring. One that limits another request cancels
/// that.
fn timeout(ctx: &mut Ctx, request: &mut Request) -> SysResult {
    let sqe = request.sqe;
    let flags = sqe.op_flags;
    let completions = ctx.kernel.fs.rings.get(request.ring).map_or(0, |ring| ring.completions);
    let timer = match request.timer {
        Some(timer) => timer,
        None => {
            let clock = match flags & IORING_TIMEOUT_REALTIME {
                0 => ClockId::Monotonic,
                _ => ClockId::Realtime,
            };
            let ns = get_timespec(ctx.mem, sqe.addr)?;
            let now = ctx.now();
            let at = match flags & IORING_TIMEOUT_ABS {
                0 => now.saturating_add(ns),
                _ => ns.saturating_sub(ctx.kernel.clock.start(clock)),
            };
            let fs = &mut ctx.kernel.fs;
            let timer = fs.queues.add();
            fs.timer_fds.add(timer, TimerFd::new(1, false));
            let alarm = Alarm { expires: Some(at.max(now)), interval: 0 };
            let (_, set) = fs.timer_fds.set(timer, now, alarm, 0);
            request.timer = Some(timer);
            set?;
            let counts = sqe.opcode == op::TIMEOUT && sqe.off as u32 != 0;
            request.awaited = counts.then(|| completions + u64::from(sqe.off as u32));
            timer
        }
    };
    if request.awaited.is_some_and(|awaited| completions >= awaited) {
        return Ok(0);
    }
    let result = sleep(ctx, "io_uring: timeout", &[WaitKey::Queue(timer)]);
    if !ctx.kernel.fs.timer_fds.is_readable(timer) {
        return result;
    }
    if let Some(id) = request.limits {
        ctx.kernel.cancel_request(id);
    }
    Err(Errno::ETIME.into())
}

/// Cancels other requests of the ring; ENOENT if there is none such.
fn cancel(ctx: &mut Ctx, request: &Request) -> SysResult {
    let sqe = request.sqe;
    let flags = if sqe.opcode == op::ASYNC_CANCEL { sqe.op_flags } else { 0 };
    let file = match flags & IORING_ASYNC_CANCEL_FD {
        0 => None,
        _ => Some(ctx.opened(sqe.fd)?),
    };
    let wanted = |other: &Request| match sqe.opcode {
        op::TIMEOUT_REMOVE => other.sqe.opcode == op::TIMEOUT && other.sqe.user_data == sqe.addr,
        op::POLL_REMOVE => other.sqe.opcode == op::POLL_ADD && other.sqe.user_data == sqe.addr,
        _ if other.sqe.opcode == op::LINK_TIMEOUT => false,
        _ if flags & IORING_ASYNC_CANCEL_ANY != 0 => true,
        _ => match file {
            Some(file) => other.is_about(file),
            None => other.sqe.user_data == sqe.addr,
        },
    };
    let all = flags & (IORING_ASYNC_CANCEL_ALL | IORING_ASYNC_CANCEL_ANY) != 0;
    let of_ring = ctx.kernel.requests.of(request.ring);
    let found: Vec<RequestId> =
        of_ring.filter(|(_, other)| !other.cancelled && wanted(other)).map(|(id, _)| id).collect();
    let count = if all { found.len() } else { found.len().min(1) };
    for id in &found[..count] {
        ctx.kernel.cancel_request(*id);
    }
    match count {
        _ if all => Ok(count as u64),
        0 => Err(Errno::ENOENT.into()),
        _ => Ok(0),
    }
}

/// Closes a descriptor, but not of a ring.
fn close(ctx: &mut Ctx, fd: u64) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if ctx.kernel.files.get(file).ops.ring().is_some() {
        return Err(Errno::EBADF.into());
    }
    fd::close(ctx, [fd, 0, 0, 0, 0, 0])
}

/// splice(2), whose offsets are in the entry; -1 stands for none.
fn splice(ctx: &mut Ctx, sqe: &Sqe, fd: u64) -> SysResult {
    let offset = |at: u64| if at == u64::MAX { None } else { Some(at) };
    let ends = (ctx.pin_opened(sqe.splice_fd_in)?, ctx.pin_opened(fd as i32)?);
    let starts = (offset(sqe.addr), offset(sqe.off));
    if sqe.len == 0 {
        return Ok(0);
    }
    copy::splice_between(ctx, ends, starts, sqe.len.into(), sqe.op_flags)
}
