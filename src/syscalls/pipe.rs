//! Descriptions without a name: pipe(2), eventfd(2), memfd_create(2).

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::file::description::Description;
use crate::kernel::file::eventfd::EventFd;
use crate::kernel::file::pipe::PipeEnd;
use crate::kernel::file::regular::Regular;
use crate::kernel::uaccess::{copy_to_user, strncpy_from_user};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::{install, refuse};
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[
    full(22, "pipe", pipe),
    full(293, "pipe2", pipe2),
    full(284, "eventfd", eventfd),
    full(290, "eventfd2", eventfd2),
    partial(319, "memfd_create", memfd_create, "MFD_HUGETLB is refused"),
];

const EFD_SEMAPHORE: u32 = 1;
/// Longest name of a memfd, its `memfd:` not counted.
const MEMFD_NAME_MAX: usize = 249;

/// pipe(2).
fn pipe(ctx: &mut Ctx, [fds, ..]: [u64; 6]) -> SysResult {
    pipe2(ctx, [fds, 0, 0, 0, 0, 0])
}

/// pipe2(2).
fn pipe2(ctx: &mut Ctx, [fds, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK | O_DIRECT) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let fs = &mut ctx.kernel.fs;
    let number = fs.next_number();
    let pipe = fs.pipes.add(number, &mut fs.queues);
    let path = format!("pipe:[{number}]");
    let kept = flags & (O_NONBLOCK | O_DIRECT);
    let mut ends = [0i32; 2];
    for (end, access) in [(0, 0), (1, O_WRONLY)] {
        let fs = &mut ctx.kernel.fs;
        fs.pipes.open(pipe, access == 0, access != 0);
        let open = Description::new(
            PipeEnd::nameless(pipe),
            access | kept & if end == 0 { O_NONBLOCK } else { !0 },
            path.as_bytes(),
        );
        match install(ctx, open, flags & O_CLOEXEC != 0) {
            Ok(fd) => ends[end] = fd as i32,
            Err(why) => {
                if end == 1 {
                    ctx.kernel.close(ends[0], ctx.mem)?;
                }
                return Err(why);
            }
        }
    }
    let bytes: Vec<u8> = ends.iter().flat_map(|fd| fd.to_le_bytes()).collect();
    if let Err(errno) = copy_to_user(ctx.mem, fds, &bytes) {
        ctx.kernel.close(ends[0], ctx.mem)?;
        ctx.kernel.close(ends[1], ctx.mem)?;
        return Err(errno.into());
    }
    Ok(0)
}

/// eventfd(2), the first system call, which has no flags.
fn eventfd(ctx: &mut Ctx, [count, ..]: [u64; 6]) -> SysResult {
    eventfd2(ctx, [count, 0, 0, 0, 0, 0])
}

/// eventfd(2).
fn eventfd2(ctx: &mut Ctx, [count, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK | EFD_SEMAPHORE) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let queue = ctx.kernel.fs.queues.add();
    let counter = EventFd { count: u64::from(count as u32), semaphore: flags & EFD_SEMAPHORE != 0, queue };
    let open = Description::new(counter, O_RDWR | flags & O_NONBLOCK, b"anon_inode:[eventfd]");
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// memfd_create(2).
fn memfd_create(ctx: &mut Ctx, [name, flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    let known = MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL | MFD_EXEC;
    if flags & !known != 0 {
        return Err(refuse(ctx, format!("memfd_create flags {:#x}", flags & !known)));
    }
    if flags & MFD_NOEXEC_SEAL != 0 && flags & MFD_EXEC != 0 {
        return Err(Errno::EINVAL.into());
    }
    let name = strncpy_from_user(ctx.mem, name, MEMFD_NAME_MAX + 1)?.ok_or(Errno::EINVAL)?;
    let seals = match flags & (MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL) {
        0 => F_SEAL_SEAL,
        MFD_ALLOW_SEALING => 0,
        _ => F_SEAL_EXEC,
    };
    let mode = if flags & MFD_NOEXEC_SEAL != 0 { 0o666 } else { 0o777 };
    let (fs, caller, _) = ctx.paths_now();
    let ino = fs.memfd(&caller, seals, mode);
    fs.hold(ino);
    let path = [b"/memfd:", &name[..], b" (deleted)"].concat();
    let open = Description::new(Regular(ino), O_RDWR | O_LARGEFILE, &path);
    install(ctx, open, flags & MFD_CLOEXEC != 0)
}
