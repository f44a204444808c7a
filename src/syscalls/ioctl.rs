//! ioctl(2): the few commands that work on any descriptor; a kind answers to its own.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::uaccess::{get_u32, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, partial};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[partial(
    16,
    "ioctl",
    ioctl,
    "terminals (always 80x24, settings are not kept), FIONREAD, FIONBIO, FIOCLEX; others are ENOTTY",
)];

/// Commands of terminals, which programs try on anything: ENOTTY is no news.
const TERMINAL_COMMANDS: std::ops::RangeInclusive<u64> = TCGETS..=0x54ff;

/// ioctl(2).
fn ioctl(ctx: &mut Ctx, [fd, command, arg, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if ctx.kernel.files.get(file).is_path() {
        return Err(Errno::EBADF.into());
    }
    let command = command & 0xffff_ffff;
    match command {
        FIOCLEX | FIONCLEX => ctx.kernel.fds_mut().set_cloexec(fd as i32, command == FIOCLEX)?,
        FIONBIO => {
            let on = get_u32(ctx.mem, arg)? != 0;
            let open = ctx.kernel.files.get_mut(file);
            open.flags = if on { open.flags | O_NONBLOCK } else { open.flags & !O_NONBLOCK };
        }
        FIONREAD => {
            let (files, mut cx) = ctx.file_ops();
            let open = files.get(file);
            let count = open.ops.readable_bytes(&mut cx, open.offset)?;
            put_u32(ctx.mem, arg, u32::try_from(count).unwrap_or(i32::MAX as u32))?;
        }
        FICLONE | FICLONERANGE => return Err(Errno::EOPNOTSUPP.into()),
        _ => {
            let (files, mut cx) = ctx.file_ops();
            let result = files.get_mut(file).ops.ioctl(&mut cx, command, arg);
            if result == Err(Errno::ENOTTY) && !TERMINAL_COMMANDS.contains(&command) {
                ctx.kernel.notices.count("ioctl ", &format!("{command:#x}: answered with ENOTTY"));
            }
            return Ok(result?);
        }
    }
    Ok(0)
}
