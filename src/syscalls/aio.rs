//! Linux AIO: io_setup(2), io_submit(2), io_getevents(2). A request is done when it is submitted,
//! in the order of the call, and its result is in the ring when the call returns.

use crate::abi::aio::*;
use crate::abi::errno::Errno;
use crate::guest::{Backing, MapRequest, Place, Prot, VmFlags};
use crate::kernel::aio::AioContext;
use crate::kernel::fdtable::FileNo;
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{get_array, get_u64, get_words, put_u32, put_u64};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::iovec::{access_ok, get_iovec};
use crate::syscalls::poll::swap_mask;
use crate::syscalls::row::{Row, full, partial};
use crate::syscalls::transfer::{check_flags, operate, read_to, seekable, write_from};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(206, "io_setup", io_setup),
    full(207, "io_destroy", io_destroy),
    full(208, "io_getevents", io_getevents),
    partial(209, "io_submit", io_submit, "requests are done at once; IOCB_CMD_POLL is EINVAL"),
    full(210, "io_cancel", io_cancel).noted("EINVAL: no request is still to be done"),
    full(333, "io_pgetevents", io_pgetevents),
];

/// io_setup(2).
fn io_setup(ctx: &mut Ctx, [requests, addr, ..]: [u64; 6]) -> SysResult {
    let requests = u64::from(requests as u32);
    if get_u64(ctx.mem, addr)? != 0 || requests == 0 {
        return Err(Errno::EINVAL.into());
    }
    let queue = ctx.kernel.fs.queues.add();
    let (context, len) = AioContext::new(requests, queue)?;
    if ctx.kernel.aio_requests() + requests > AIO_MAX_NR {
        return Err(Errno::EAGAIN.into());
    }
    let request = MapRequest {
        addr: 0,
        len,
        prot: Prot::RW,
        may_write: true,
        place: Place::Hint,
        backing: Backing::Anonymous,
        file: None,
        label: Some("/[aio] (deleted)"),
        flags: VmFlags::NONE,
    };
    let ring = ctx.mem.map(request).map_err(Errno::from)?;
    let begun = context.begin(ctx.mem, ring).and_then(|()| put_u64(ctx.mem, addr, ring));
    if let Err(errno) = begun {
        ctx.mem.unmap(ring, len).map_err(Errno::from)?;
        return Err(errno.into());
    }
    ctx.kernel.mm_mut().aio.insert(ring, (context, len));
    Ok(0)
}

/// The context of an address; EINVAL, also where its ring cannot be read any more.
fn find(ctx: &mut Ctx, ring: u64) -> Result<AioContext, Errno> {
    let (context, _) = *ctx.kernel.mm().aio.get(&ring).ok_or(Errno::EINVAL)?;
    context.results(ctx.mem, ring).map_err(|_| Errno::EINVAL)?;
    Ok(context)
}

/// io_destroy(2).
fn io_destroy(ctx: &mut Ctx, [ring, ..]: [u64; 6]) -> SysResult {
    let context = find(ctx, ring)?;
    if let Some((_, len)) = ctx.kernel.mm_mut().aio.remove(&ring) {
        ctx.mem.unmap(ring, len).map_err(Errno::from)?;
    }
    ctx.kernel.fs.queues.wake(context.queue, 0);
    Ok(0)
}

/// A request, `struct iocb`.
struct Iocb {
    data: u64,
    rw_flags: u32,
    opcode: u16,
    fd: i32,
    buf: u64,
    bytes: u64,
    offset: u64,
    reserved: u64,
    flags: u32,
    result_fd: i32,
}

impl Iocb {
    fn parse(bytes: &[u8; IOCB]) -> Iocb {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at * 8 + byte]));
        let (key_flags, kind_fd, tail) = (word(1), word(2), word(7));
        Iocb {
            data: word(0),
            rw_flags: (key_flags >> 32) as u32,
            opcode: kind_fd as u16,
            fd: (kind_fd >> 32) as i32,
            buf: word(3),
            bytes: word(4),
            offset: word(5),
            reserved: word(6),
            flags: tail as u32,
            result_fd: (tail >> 32) as i32,
        }
    }
}

/// Does a request. What is wrong with itself fails the call; a failure of the operation is its
/// result, a negative error number.
fn perform(ctx: &mut Ctx, iocb: &Iocb, file: FileNo) -> Result<u64, Break> {
    let open = ctx.kernel.files.get(file);
    let result = match iocb.opcode {
        IOCB_CMD_PREAD | IOCB_CMD_PREADV | IOCB_CMD_PWRITE | IOCB_CMD_PWRITEV => {
            let write = matches!(iocb.opcode, IOCB_CMD_PWRITE | IOCB_CMD_PWRITEV);
            let vector = matches!(iocb.opcode, IOCB_CMD_PREADV | IOCB_CMD_PWRITEV);
            if !(if write { open.writable() } else { open.readable() }) {
                return Err(Errno::EBADF.into());
            }
            let fixed = if write { open.ops.write_error() } else { open.ops.read_error() };
            let directory = open.ops.inode().is_some_and(|ino| ctx.kernel.fs.node(ino).is_dir());
            if fixed == Some(Errno::EINVAL) || directory {
                return Err(Errno::EINVAL.into());
            }
            let pieces = match vector {
                true => get_iovec(ctx.mem, iocb.buf, iocb.bytes)?,
                false => vec![(iocb.buf, iocb.bytes)],
            };
            access_ok(&pieces)?;
            if iocb.offset > i64::MAX as u64 {
                return Err(Errno::EINVAL.into());
            }
            check_flags(ctx, file, &pieces, iocb.rw_flags, write)?;
            let at = seekable(ctx, file).then_some(iocb.offset);
            let fd = iocb.fd as u64;
            match write {
                true => write_from(ctx, fd, at, &pieces, iocb.rw_flags),
                false => read_to(ctx, fd, at, &pieces, iocb.rw_flags),
            }
        }
        IOCB_CMD_FSYNC | IOCB_CMD_FDSYNC => {
            let unused = iocb.buf | iocb.offset | iocb.bytes | u64::from(iocb.rw_flags);
            if unused != 0 {
                return Err(Errno::EINVAL.into());
            }
            let result = operate(ctx, file, |open, cx| Ok(open.ops.sync(cx)?));
            if let Err(Break::Errno(Errno::EINVAL)) = result {
                return Err(Errno::EINVAL.into()); // nothing to write anywhere
            }
            result.map(|()| 0)
        }
        IOCB_CMD_POLL => {
            ctx.kernel.notices.once("io_submit: IOCB_CMD_POLL is refused with EINVAL".into());
            return Err(Errno::EINVAL.into());
        }
        _ => return Err(Errno::EINVAL.into()),
    };
    match result {
        Err(Break::Errno(errno)) => {
            ctx.kernel.task_mut().signals.interrupted = None; // EINTR is a result too
            Ok(errno.to_rax())
        }
        result => result,
    }
}

/// Submits one request; an error leaves the ring as it is.
fn submit(ctx: &mut Ctx, ring: u64, addr: u64) -> Result<(), Break> {
    let iocb = Iocb::parse(&get_array(ctx.mem, addr)?);
    if iocb.reserved != 0 || (iocb.bytes as i64) < 0 {
        return Err(Errno::EINVAL.into());
    }
    let context = find(ctx, ring)?;
    if !context.has_room(ctx.mem, ring)? {
        return Err(Errno::EAGAIN.into());
    }
    let file = ctx.pin_opened(iocb.fd)?;
    let counter = match iocb.flags & IOCB_FLAG_RESFD != 0 {
        true => Some(ctx.opened(iocb.result_fd)?),
        false => None,
    };
    if counter.is_some_and(|counter| !ctx.kernel.files.get(counter).ops.counts_events()) {
        return Err(Errno::EINVAL.into());
    }
    const KEY: u64 = 8;
    put_u32(ctx.mem, addr.wrapping_add(KEY), 0)?;
    let result = perform(ctx, &iocb, file)?;
    if let Some((context, _)) = ctx.kernel.mm_mut().aio.get_mut(&ring) {
        context.put(ctx.mem, ring, [iocb.data, addr, result, 0])?;
    }
    if let Some(counter) = counter {
        // A counter that is full stays so.
        let _ = operate(ctx, counter, |open, cx| {
            open.patiently(true, |open| open.write(cx, None, &1u64.to_le_bytes()))
        });
    }
    ctx.kernel.fs.queues.wake(context.queue, 0);
    Ok(())
}

/// io_submit(2).
fn io_submit(ctx: &mut Ctx, [ring, count, addrs, ..]: [u64; 6]) -> SysResult {
    if (count as i64) < 0 {
        return Err(Errno::EINVAL.into());
    }
    // A call that is made again goes on with the request that it waited for.
    let mut done = ctx.kernel.task().call.decided.first().copied().unwrap_or(0);
    find(ctx, ring)?;
    while done < count {
        let addr = match get_u64(ctx.mem, addrs.wrapping_add(done * 8)) {
            Ok(addr) => addr,
            Err(errno) if done == 0 => return Err(errno.into()),
            Err(_) => break,
        };
        match submit(ctx, ring, addr) {
            Ok(()) => done += 1,
            Err(Break::Errno(_)) if done > 0 => break,
            Err(why) => {
                ctx.kernel.task_mut().call.decided = vec![done];
                return Err(why);
            }
        }
        ctx.kernel.task_mut().call.done = 0;
    }
    Ok(done)
}

/// Takes results, as many as there are but no fewer than `least` before the end of a time.
fn get_events(ctx: &mut Ctx, [ring, least, most, events]: [u64; 4], timeout: Option<u64>) -> SysResult {
    let context = find(ctx, ring)?;
    let (least, most) = (least as i64, most as i64);
    if least < 0 || least > most {
        return Err(Errno::EINVAL.into());
    }
    // What was taken before the call slept is not taken again.
    let before = ctx.kernel.task().call.done;
    let left = most as u64 - before;
    let taken = context.take(ctx.mem, ring, events.wrapping_add(before * IO_EVENT), left);
    let done = match taken {
        Ok(taken) => before + taken,
        Err(_) if before > 0 => return Ok(before),
        Err(errno) => return Err(errno.into()),
    };
    ctx.kernel.task_mut().call.done = done;
    if done >= least as u64 {
        return Ok(done);
    }
    let deadline = match timeout {
        Some(0) => return Ok(done),
        Some(ns) => Some(ctx.deadline(ns)),
        None => None,
    };
    match ctx.sleep("io_getevents without results", &[WaitKey::Queue(context.queue)], deadline)? {
        Wake::Timeout => Ok(done),
        Wake::Signal if done > 0 => Ok(done),
        Wake::Signal => Err(ctx.interrupted(Restart::Never)),
        Wake::Event => Err(Break::Sleep),
    }
}

/// The nanoseconds of a timeout that nobody checks: a negative one never ends.
fn timeout(ctx: &mut Ctx, addr: u64) -> Result<Option<u64>, Errno> {
    if addr == 0 {
        return Ok(None);
    }
    let [sec, nsec] = get_words(ctx.mem, addr)?;
    Ok(u64::try_from((sec as i64).saturating_mul(1_000_000_000).saturating_add(nsec as i64)).ok())
}

/// io_getevents(2).
fn io_getevents(ctx: &mut Ctx, [ring, least, most, events, time, _]: [u64; 6]) -> SysResult {
    let timeout = timeout(ctx, time)?;
    get_events(ctx, [ring, least, most, events], timeout)
}

/// io_pgetevents(2): the sixth argument points at a mask and its size.
fn io_pgetevents(ctx: &mut Ctx, [ring, least, most, events, time, mask]: [u64; 6]) -> SysResult {
    let timeout = timeout(ctx, time)?;
    if mask != 0 {
        let [addr, size] = get_words(ctx.mem, mask)?;
        swap_mask(ctx, addr, size)?;
    }
    get_events(ctx, [ring, least, most, events], timeout)
}

/// io_cancel(2): every request is done already.
fn io_cancel(ctx: &mut Ctx, [ring, iocb, ..]: [u64; 6]) -> SysResult {
    get_array::<4>(ctx.mem, iocb.wrapping_add(8))?;
    find(ctx, ring)?;
    Err(Errno::EINVAL.into())
}
