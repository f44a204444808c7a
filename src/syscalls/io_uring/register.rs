//! io_uring_register(2): buffers, files and an eventfd, the operations that there are, and what a
//! ring may be asked for.

use crate::abi::errno::Errno;
use crate::abi::io_uring::*;
use crate::guest::{PAGE_SIZE, page_down};
use crate::kernel::fdtable::FileNo;
use crate::kernel::io_uring::{Restrictions, Ring};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array, get_u32};
use crate::kernel::wait_queue::QueueId;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd;
use crate::syscalls::io_uring::check::{LAST, is_there};
use crate::syscalls::io_uring::setup::ring_of;
use crate::syscalls::mm::limits::room_to_lock;
use crate::syscalls::row::{Row, partial};

/// The call of this file.
pub(in crate::syscalls) const ROWS: &[Row] = &[partial(
    427,
    "io_uring_register",
    io_uring_register,
    "buffers, files, eventfds, probe, restrictions and enabling; the others are EINVAL",
)];

/// Bytes of the largest registered buffer.
const BUFFER_MOST: u64 = 1 << 30;

/// The ring, to be changed. It is there while its descriptor is.
fn held<'a>(ctx: &'a mut Ctx<'_>, queue: QueueId) -> Result<&'a mut Ring, Errno> {
    ctx.kernel.fs.rings.get_mut(queue).ok_or(Errno::EBADF)
}

/// EEXIST for a ring of which another task is the only one that submits.
pub(super) fn may_use(ctx: &mut Ctx, queue: QueueId) -> Result<(), Errno> {
    let task = ctx.kernel.current();
    if held(ctx, queue)?.submitter.is_some_and(|only| only != task) { Err(Errno::EEXIST) } else { Ok(()) }
}

/// io_uring_register(2).
fn io_uring_register(ctx: &mut Ctx, [fd, command, arg, count, ..]: [u64; 6]) -> SysResult {
    let (command, count) = (command as u32, count as u32);
    const COMMANDS: u32 = 37;
    // Without a ring there are only commands that are not served.
    if command >= COMMANDS || fd as i32 == -1 {
        return Err(Errno::EINVAL.into());
    }
    let ring = ring_of(ctx, fd)?;
    may_use(ctx, ring)?;
    let allowed = held(ctx, ring)?.restrictions.as_ref().is_none_or(|only| only.commands >> command & 1 != 0);
    if !allowed && !held(ctx, ring)?.disabled {
        return Err(Errno::EACCES.into());
    }
    let bare = arg == 0 && count == 0;
    match command {
        IORING_REGISTER_BUFFERS => buffers(ctx, ring, arg, count),
        IORING_UNREGISTER_BUFFERS if bare => {
            held(ctx, ring)?.buffers.take().ok_or(Errno::ENXIO)?;
            Ok(0)
        }
        IORING_REGISTER_FILES => files(ctx, ring, arg, count),
        IORING_UNREGISTER_FILES if bare => {
            let files = held(ctx, ring)?.files.take().ok_or(Errno::ENXIO)?;
            let_go(ctx, files);
            Ok(0)
        }
        IORING_REGISTER_FILES_UPDATE => update_files(ctx, ring, arg, count),
        IORING_REGISTER_EVENTFD | IORING_REGISTER_EVENTFD_ASYNC if count == 1 => eventfd(ctx, ring, arg),
        IORING_UNREGISTER_EVENTFD if bare => {
            let file = held(ctx, ring)?.eventfd.take().ok_or(Errno::ENXIO)?;
            let_go(ctx, vec![Some(file)]);
            Ok(0)
        }
        IORING_REGISTER_PROBE if arg != 0 && count <= 256 => probe(ctx, arg, count),
        IORING_REGISTER_RESTRICTIONS => restrict(ctx, ring, arg, count),
        IORING_REGISTER_ENABLE_RINGS if bare => {
            let task = ctx.kernel.current();
            let ring = held(ctx, ring)?;
            if !std::mem::take(&mut ring.disabled) {
                return Err(Errno::EBADFD.into());
            }
            if ring.flags & IORING_SETUP_SINGLE_ISSUER != 0 {
                ring.submitter = Some(task);
            }
            Ok(0)
        }
        _ => Err(Errno::EINVAL.into()),
    }
}

/// Gives up references to files.
fn let_go(ctx: &mut Ctx, files: Vec<Option<FileNo>>) {
    for file in files.into_iter().flatten() {
        fd::drop_file(ctx, file);
    }
}

/// Tells if all pages of a range are mapped.
fn is_mapped(ctx: &mut Ctx, addr: u64, len: u64) -> bool {
    let start = page_down(addr);
    addr.checked_add(len).is_some_and(|end| ctx.mem.is_mapped(start, end - start))
}

/// IORING_REGISTER_BUFFERS.
fn buffers(ctx: &mut Ctx, ring: QueueId, arg: u64, count: u32) -> SysResult {
    if held(ctx, ring)?.buffers.is_some() {
        return Err(Errno::EBUSY.into());
    }
    if count == 0 || count > IORING_MAX_REG_BUFFERS {
        return Err(Errno::EINVAL.into());
    }
    let (mut buffers, mut locked) = (Vec::new(), 0u64);
    for at in 0..u64::from(count) {
        let bytes: [u8; 16] = get_array(ctx.mem, arg.wrapping_add(at * 16))?;
        let [addr, len] =
            [0, 8].map(|from| u64::from_le_bytes(std::array::from_fn(|byte| bytes[from + byte])));
        let empty = addr == 0 && len == 0;
        if (len as i64) < 0 {
            return Err(Errno::EINVAL.into());
        }
        if !empty && (len == 0 || len > BUFFER_MOST || addr == 0) {
            return Err(Errno::EFAULT.into());
        }
        let end = addr.checked_add(len).ok_or(Errno::EOVERFLOW)?;
        if !empty && !is_mapped(ctx, addr, len) {
            return Err(Errno::EFAULT.into());
        }
        locked += (end - page_down(addr)).next_multiple_of(PAGE_SIZE);
        if !room_to_lock(ctx, locked) {
            return Err(Errno::ENOMEM.into());
        }
        buffers.push((addr, len));
    }
    held(ctx, ring)?.buffers = Some(buffers);
    Ok(0)
}

/// The description of a descriptor that is to be registered, with a reference; none for -1. EBADF,
/// also for a ring.
fn registered(ctx: &mut Ctx, fd: i32) -> Result<Option<FileNo>, Errno> {
    if fd == -1 {
        return Ok(None);
    }
    let file = ctx.opened(fd)?;
    if ctx.kernel.files.get(file).ops.ring().is_some() {
        return Err(Errno::EBADF);
    }
    ctx.kernel.files.hold(file);
    Ok(Some(file))
}

/// IORING_REGISTER_FILES.
fn files(ctx: &mut Ctx, ring: QueueId, arg: u64, count: u32) -> SysResult {
    if held(ctx, ring)?.files.is_some() {
        return Err(Errno::EBUSY.into());
    }
    if count == 0 {
        return Err(Errno::EINVAL.into());
    }
    if count > IORING_MAX_FIXED_FILES || u64::from(count) > fd::limit(ctx) {
        return Err(Errno::EMFILE.into());
    }
    let mut files = Vec::new();
    for at in 0..u64::from(count) {
        let file = match arg {
            0 => Ok(None), // every place is empty
            arg => get_u32(ctx.mem, arg.wrapping_add(at * 4)).and_then(|fd| registered(ctx, fd as i32)),
        };
        match file {
            Ok(file) => files.push(file),
            Err(errno) => {
                let_go(ctx, files);
                return Err(errno.into());
            }
        }
    }
    held(ctx, ring)?.files = Some(files);
    Ok(0)
}

/// IORING_REGISTER_FILES_UPDATE: how many places were changed.
fn update_files(ctx: &mut Ctx, ring: QueueId, arg: u64, count: u32) -> SysResult {
    if count == 0 {
        return Err(Errno::EINVAL.into());
    }
    let bytes: [u8; 16] = get_array(ctx.mem, arg)?;
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at * 4 + byte]));
    let (first, reserved, fds) = (word(0), word(1), u64::from(word(2)) | u64::from(word(3)) << 32);
    if reserved != 0 {
        return Err(Errno::EINVAL.into());
    }
    let size = held(ctx, ring)?.files.as_ref().ok_or(Errno::ENXIO)?.len() as u64;
    let end = first.checked_add(count).ok_or(Errno::EOVERFLOW)?;
    if u64::from(end) > size {
        return Err(Errno::EINVAL.into());
    }
    for done in 0..count {
        let fd = get_u32(ctx.mem, fds.wrapping_add(u64::from(done) * 4)).map(|fd| fd as i32);
        let file = match fd {
            Ok(IORING_REGISTER_FILES_SKIP) => continue,
            fd => fd.and_then(|fd| registered(ctx, fd)),
        };
        match file {
            Ok(file) => {
                let place =
                    held(ctx, ring)?.files.as_mut().and_then(|all| all.get_mut((first + done) as usize));
                let before = place.and_then(|place| std::mem::replace(place, file));
                let_go(ctx, vec![before]);
            }
            Err(errno) if done == 0 => return Err(errno.into()),
            Err(_) => return Ok(u64::from(done)),
        }
    }
    Ok(u64::from(count))
}

/// IORING_REGISTER_EVENTFD.
fn eventfd(ctx: &mut Ctx, ring: QueueId, arg: u64) -> SysResult {
    if held(ctx, ring)?.eventfd.is_some() {
        return Err(Errno::EBUSY.into());
    }
    let fd = get_u32(ctx.mem, arg)?;
    let file = ctx.opened(fd as i32)?;
    if !ctx.kernel.files.get(file).ops.counts_events() {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.files.hold(file);
    held(ctx, ring)?.eventfd = Some(file);
    Ok(0)
}

/// IORING_REGISTER_PROBE: `struct io_uring_probe`, which the program has cleared.
fn probe(ctx: &mut Ctx, arg: u64, count: u32) -> SysResult {
    let ops = (count as usize).min(usize::from(LAST) + 1);
    let mut bytes = vec![0; 16 + ops * 8];
    copy_from_user(ctx.mem, arg, &mut bytes)?;
    if bytes.iter().any(|byte| *byte != 0) {
        return Err(Errno::EINVAL.into());
    }
    bytes[..2].copy_from_slice(&[LAST, ops as u8]);
    for (opcode, place) in (0..).zip(bytes[16..].as_chunks_mut::<8>().0) {
        let flags = if is_there(opcode) { IO_URING_OP_SUPPORTED } else { 0 };
        place[0] = opcode;
        place[2..4].copy_from_slice(&flags.to_le_bytes());
    }
    copy_to_user(ctx.mem, arg, &bytes)?;
    Ok(0)
}

/// IORING_REGISTER_RESTRICTIONS.
fn restrict(ctx: &mut Ctx, ring: QueueId, arg: u64, count: u32) -> SysResult {
    const BYTES: u64 = 16;
    if !held(ctx, ring)?.disabled {
        return Err(Errno::EBADFD.into());
    }
    if held(ctx, ring)?.restrictions.is_some() {
        return Err(Errno::EBUSY.into());
    }
    if arg == 0 || count > IORING_MAX_RESTRICTIONS {
        return Err(Errno::EINVAL.into());
    }
    let mut only = Restrictions { commands: 0, operations: 0, allowed: 0, required: 0 };
    for at in 0..u64::from(count) {
        let [kind, high, value, ..]: [u8; BYTES as usize] = get_array(ctx.mem, arg.wrapping_add(at * BYTES))?;
        match u16::from_le_bytes([kind, high]) {
            0 if value < 64 => only.commands |= 1 << value,
            1 if value <= LAST => only.operations |= 1 << value,
            2 => only.allowed = value,
            3 => only.required = value,
            _ => return Err(Errno::EINVAL.into()),
        }
    }
    held(ctx, ring)?.restrictions = Some(only);
    Ok(0)
}

/// The pieces of a registered buffer that an entry names; EFAULT if they are not all in it.
pub(super) fn in_buffer(ctx: &mut Ctx, ring: QueueId, sqe: &Sqe) -> Result<Vec<(u64, u64)>, Errno> {
    let buffers = held(ctx, ring)?.buffers.as_ref();
    let buffer = buffers.and_then(|all| all.get(usize::from(sqe.buf_index)).copied());
    let (start, len) = buffer.ok_or(Errno::EFAULT)?;
    let within = sqe.addr.checked_sub(start).and_then(|from| from.checked_add(u64::from(sqe.len)));
    if within.is_some_and(|end| end <= len) {
        Ok(vec![(sqe.addr, sqe.len.into())])
    } else {
        Err(Errno::EFAULT)
    }
}
