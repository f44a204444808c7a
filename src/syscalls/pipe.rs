//! pipe(2), eventfd(2) and memfd_create(2): what is open without having a name.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::uaccess::{copy_to_user, strncpy_from_user};
use crate::kernel::vfs::file::{Description, FileKind};
use crate::kernel::vfs::now;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::{close_fd, install, refuse};
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub const ROWS: &[Row] = &[
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
    if flags & O_DIRECT != 0 {
        return Err(refuse(ctx, "pipe2 flag O_DIRECT".to_owned()));
    }
    let fs = &mut ctx.kernel.fs;
    let number = fs.next_number();
    let pipe = fs.pipes.add(number);
    let path = format!("pipe:[{number}]");
    let kept = flags & O_NONBLOCK;
    let mut ends = [0i32; 2];
    for (end, access) in [(0, 0), (1, O_WRONLY)] {
        let fs = &mut ctx.kernel.fs;
        fs.pipes.open(pipe, access == 0, access != 0);
        let file = fs.files.add(Description::new(FileKind::Pipe(pipe, None), access | kept, path.as_bytes()));
        match install(ctx, file, flags & O_CLOEXEC != 0) {
            Ok(fd) => ends[end] = fd as i32,
            Err(why) => {
                if end == 1 {
                    close_fd(ctx, ends[0])?;
                }
                return Err(why);
            }
        }
    }
    let bytes: Vec<u8> = ends.iter().flat_map(|fd| fd.to_le_bytes()).collect();
    if let Err(errno) = copy_to_user(ctx.mem, fds, &bytes) {
        close_fd(ctx, ends[0])?;
        close_fd(ctx, ends[1])?;
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
    let kind = FileKind::Event(u64::from(count as u32), flags & EFD_SEMAPHORE != 0);
    let file =
        ctx.kernel.fs.files.add(Description::new(kind, O_RDWR | flags & O_NONBLOCK, b"anon_inode:[eventfd]"));
    install(ctx, file, flags & O_CLOEXEC != 0)
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
    let seals = if flags & (MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL) != 0 { 0 } else { F_SEAL_SEAL };
    let mode = if flags & MFD_NOEXEC_SEAL != 0 { 0o666 } else { 0o777 };
    let now = now(ctx);
    let fs = &mut ctx.kernel.fs;
    let ino = fs.memfd(now, seals, mode);
    fs.node_mut(ino).opens += 1;
    let path = [b"/memfd:", &name[..], b" (deleted)"].concat();
    let file = fs.files.add(Description::new(FileKind::Inode(ino), O_RDWR | O_LARGEFILE, &path));
    install(ctx, file, flags & MFD_CLOEXEC != 0)
}
