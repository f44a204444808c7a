//! ioctl(2): terminals and the few commands that work on any descriptor.

use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::kernel::uaccess::{copy_to_user, get_u32, put_u32};
use crate::kernel::vfs::file::{FileKind, FileNo};
use crate::kernel::vfs::node::Body;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, partial};

/// The calls of this file.
pub const ROWS: &[Row] = &[partial(
    16,
    "ioctl",
    ioctl,
    "terminals (always 80x24, settings are not kept), FIONREAD, FIONBIO, FIOCLEX; others are ENOTTY",
)];

/// `struct termios` of a fresh terminal: ICRNL|IXON, OPOST|ONLCR, B38400|CS8|CREAD, and the usual local modes.
fn termios() -> [u8; 36] {
    const CC: [u8; 19] =
        [3, 0x1c, 0x7f, 0x15, 4, 0, 1, 0, 0x11, 0x13, 0x1a, 0, 0x12, 0x0f, 0x17, 0x16, 0, 0, 0];
    let mut bytes = [0; 36];
    for (at, flags) in [(0, 0x500u32), (4, 5), (8, 0xbf), (12, 0x8a3b)] {
        bytes[at..at + 4].copy_from_slice(&flags.to_le_bytes());
    }
    bytes[17..].copy_from_slice(&CC);
    bytes
}

fn is_terminal(ctx: &Ctx, file: FileNo) -> bool {
    match ctx.kernel.fs.files.get(file).kind {
        FileKind::Host(stream) => ctx.kernel.fs.streams.is_terminal(stream),
        _ => false,
    }
}

/// ioctl(2).
fn ioctl(ctx: &mut Ctx, [fd, command, arg, ..]: [u64; 6]) -> SysResult {
    let file = ctx.kernel.fds().get(fd as i32)?;
    if ctx.kernel.fs.files.get(file).is_path() {
        return Err(Errno::EBADF.into());
    }
    let command = command & 0xffff_ffff;
    let terminal = is_terminal(ctx, file);
    match command {
        FIOCLEX | FIONCLEX => {
            ctx.kernel.fds_mut().set_cloexec(fd as i32, command == FIOCLEX)?;
            Ok(0)
        }
        FIONBIO => {
            let on = get_u32(ctx.mem, arg)? != 0;
            let open = ctx.kernel.fs.files.get_mut(file);
            open.flags = if on { open.flags | O_NONBLOCK } else { open.flags & !O_NONBLOCK };
            Ok(0)
        }
        FIONREAD => {
            let count = readable_bytes(ctx, file)?;
            put_u32(ctx.mem, arg, u32::try_from(count).unwrap_or(i32::MAX as u32))?;
            Ok(0)
        }
        FICLONE | FICLONERANGE => Err(Errno::EOPNOTSUPP.into()),
        TCGETS if terminal => {
            copy_to_user(ctx.mem, arg, &termios())?;
            Ok(0)
        }
        TIOCGWINSZ if terminal => {
            copy_to_user(ctx.mem, arg, &[24, 0, 80, 0, 0, 0, 0, 0])?;
            Ok(0)
        }
        TIOCGPGRP if terminal => {
            put_u32(ctx.mem, arg, ctx.kernel.process().pgid as u32)?;
            Ok(0)
        }
        TCSETS | TCSETSW | TCSETSF | TIOCSPGRP | TIOCSWINSZ if terminal => Ok(0),
        TCGETS..=0x54ff => Err(Errno::ENOTTY.into()),
        _ => {
            ctx.kernel.notices.once(format!("ioctl {command:#x}: answered with ENOTTY"));
            Err(Errno::ENOTTY.into())
        }
    }
}

/// Bytes that a read would find; ENOTTY where the question has no answer.
fn readable_bytes(ctx: &mut Ctx, file: FileNo) -> Result<u64, Errno> {
    let open = ctx.kernel.fs.files.get(file);
    let offset = open.offset;
    match open.kind {
        FileKind::Pipe(pipe, _) => Ok(ctx.kernel.fs.pipes.get(pipe).map_or(0, |pipe| pipe.buf.len() as u64)),
        FileKind::Inode(ino) if matches!(ctx.kernel.fs.node(ino).body, Body::File(_)) => {
            Ok(ctx.kernel.fs.meta(ino).size.saturating_sub(offset))
        }
        FileKind::Host(stream) => ctx.kernel.fs.streams.readable_bytes(stream),
        _ => Err(Errno::ENOTTY),
    }
}

#[cfg(test)]
mod tests {
    /// `stty sane` on Linux: intr ^C, eof ^D, erase ^?, susp ^Z.
    #[test]
    fn control_characters_are_where_linux_has_them() {
        let termios = super::termios();
        assert_eq!((termios[17], termios[17 + 4], termios[17 + 2], termios[17 + 10]), (3, 4, 0x7f, 0x1a));
    }
}
