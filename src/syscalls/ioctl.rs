//! ioctl(2): the few commands that work on any descriptor; a kind answers to its own.

use crate::abi::capability::{CAP_LINUX_IMMUTABLE, CAP_NET_ADMIN, CAP_SYS_ADMIN};
use crate::abi::errno::Errno;
use crate::abi::fs::*;
use crate::abi::net::{
    FIOGETOWN, FIOSETOWN, IFF_UP, SIOCGPGRP, SIOCGSTAMP, SIOCGSTAMPNS, SIOCSIFFLAGS, SIOCSPGRP,
};
use crate::abi::signal::signo::SIGTTOU;
use crate::abi::tty::*;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::description::Description;
use crate::kernel::file::pty::PtySide;
use crate::kernel::net::interface;
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{get_u32, get_u64, get_words, put_u32, put_u64};
use crate::kernel::vfs::node::{Body, Ino, Node};
use crate::kernel::vfs::termios::Form;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::extents::{fibmap, fiemap};
use crate::syscalls::fd::{install, owner, set_flags};
use crate::syscalls::row::{Row, partial};

/// The calls of this file.
pub(super) const ROWS: &[Row] = &[partial(
    16,
    "ioctl",
    ioctl,
    "pseudo-terminals, the host's terminal (always 80x24, settings are not kept), FIONREAD, FIONBIO, FIOCLEX, \
     FIOASYNC, FIOQSIZE, FIGETBSZ, FS_IOC_GETFLAGS, FS_IOC_FIEMAP (places that follow from a file's number); no \
     clones of files; others are ENOTTY",
)];

/// Commands of terminals, which programs try on anything: ENOTTY is no news.
const TERMINAL_COMMANDS: std::ops::RangeInclusive<u64> = TCGETS..=0x54ff;

/// Bytes of a block, FIGETBSZ.
const BLOCK: u32 = 4096;

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
        _ if !of_any_file(command) && ctx.kernel.is_hung_up(file) => {
            return Err(if command == TIOCSPGRP { Errno::ENOTTY } else { Errno::EIO }.into());
        }
        FIONREAD => {
            let (files, mut cx) = ctx.file_ops();
            let open = files.get(file);
            let count = open.ops.readable_bytes(&mut cx, open.offset)?;
            // Linux cuts it to an int.
            put_u32(ctx.mem, arg, count as u32)?;
        }
        TIOCGPTPEER if is_pty(ctx, file) => return open_peer(ctx, file, arg as u32),
        FS_IOC_GETFLAGS | FS_IOC_SETFLAGS if keeps_flags(ctx, file) => {
            return file_flags(ctx, file, command == FS_IOC_SETFLAGS, arg);
        }
        TIOCSCTTY | TIOCNOTTY | TIOCGPGRP | TIOCSPGRP | TIOCGSID if is_pty(ctx, file) => {
            return job_control(ctx, file, command, arg);
        }
        _ if changes_terminal(command) && ctx.kernel.is_in_background(file, SIGTTOU)? => {
            return Err(ctx.interrupted(Restart::WithFlag));
        }
        TIOCCONS if ctx.kernel.files.get(file).ops.pty_master().is_some() => {
            return Err(Errno::EINVAL.into());
        }
        TIOCCONS | TIOCVHANGUP if is_pty(ctx, file) => {
            ctx.kernel.task().cred.require(CAP_SYS_ADMIN)?;
            ctx.kernel.notices.count("ioctl ", &format!("{command:#x}: answered with EOPNOTSUPP"));
            return Err(Errno::EOPNOTSUPP.into());
        }
        TIOCSTI if is_pty(ctx, file) && !may_type(ctx, file) => return Err(Errno::EPERM.into()),
        FIOASYNC => {
            let on = get_u32(ctx.mem, arg)? != 0;
            let open = ctx.kernel.files.get(file);
            if on != (open.flags & O_ASYNC != 0) && !open.ops.sends_signals() {
                return Err(Errno::ENOTTY.into());
            }
            let flags = open.flags & !O_ASYNC | if on { O_ASYNC } else { 0 };
            return set_flags(ctx, fd as i32, file, flags);
        }
        FIOSETOWN | SIOCSPGRP | FIOGETOWN | SIOCGPGRP if is_socket(ctx, file) => {
            return match command {
                FIOGETOWN | SIOCGPGRP => {
                    let receiver = owner(ctx, file, F_GETOWN, 0)?;
                    put_u32(ctx.mem, arg, receiver as u32)?;
                    Ok(0)
                }
                _ => {
                    let receiver = get_u32(ctx.mem, arg)?;
                    owner(ctx, file, F_SETOWN, receiver.into())
                }
            };
        }
        // No time is noted before it is asked for.
        SIOCGSTAMP | SIOCGSTAMPNS if is_of_inet(ctx, file) => return Err(Errno::ENOENT.into()),
        SIOCSIFFLAGS if is_socket(ctx, file) => return switch_interface(ctx, file, arg),
        FIOQSIZE => {
            let ino = inode_of(ctx, file, |body| {
                matches!(body, Body::File(_) | Body::Dir(_) | Body::Proc(_) | Body::Namespace(..))
            })?;
            let bytes = ctx.kernel.fs.meta_with(ino, ctx.mem).blocks * 512;
            put_u64(ctx.mem, arg, bytes)?;
        }
        FIGETBSZ => put_u32(ctx.mem, arg, BLOCK)?,
        FIBMAP => return fibmap(ctx, file),
        FS_IOC_FIEMAP => return fiemap(ctx, file, arg),
        FIFREEZE | FITHAW if ctx.kernel.files.get(file).ops.inode().is_some() => {
            ctx.kernel.task().cred.require(CAP_SYS_ADMIN)?;
            return Err(Errno::EOPNOTSUPP.into());
        }
        FICLONE | FICLONERANGE => return clone_range(ctx, file, command == FICLONERANGE, arg),
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

/// Tells if a command is answered before the kind of file is asked (`do_vfs_ioctl`).
fn of_any_file(command: u64) -> bool {
    matches!(
        command,
        FIOASYNC | FIOQSIZE | FIGETBSZ | FIFREEZE | FITHAW | FS_IOC_FIEMAP | FICLONE | FICLONERANGE
    )
}

/// Tells if a description is a socket of IPv4 or IPv6.
fn is_of_inet(ctx: &Ctx, file: FileNo) -> bool {
    let id = ctx.kernel.files.get(file).ops.socket();
    id.and_then(|id| ctx.kernel.fs.net.sock(id).ok()).is_some_and(|sock| sock.family.is_inet())
}

/// Tells if a description is a socket.
fn is_socket(ctx: &Ctx, file: FileNo) -> bool {
    ctx.kernel.files.get(file).ops.socket().is_some()
}

/// SIOCSIFFLAGS: switches the loopback of the socket's network namespace on or off; EPERM, ENODEV.
fn switch_interface(ctx: &mut Ctx, file: FileNo, arg: u64) -> SysResult {
    let id = ctx.kernel.files.get(file).ops.socket().ok_or(Errno::ENOTTY)?;
    let namespace = ctx.kernel.fs.net.sock(id)?.namespace;
    let (named, flags) = interface::get_flags(ctx.mem, arg)?;
    ctx.kernel.require_in(namespace, CAP_NET_ADMIN)?;
    if !named {
        return Err(Errno::ENODEV.into());
    }
    ctx.kernel.fs.net.set_up(namespace, u32::from(flags) & IFF_UP != 0);
    Ok(0)
}

/// Tells if a description is a side of a pseudo-terminal.
fn is_pty(ctx: &Ctx, file: FileNo) -> bool {
    let ops = &ctx.kernel.files.get(file).ops;
    ops.pty_master().or(ops.pty_slave()).is_some()
}

/// Tells if a command changes a terminal, for which a group in the background is stopped
/// (`tty_check_change`).
fn changes_terminal(command: u64) -> bool {
    Form::set_by(command).is_some()
        || matches!(command, TCFLSH | TCXONC | TCSBRK | TCSBRKP | TIOCSETD | TIOCSBRK | TIOCCBRK)
}

/// Tells if the caller may type into a pseudo-terminal, TIOCSTI: into its controlling terminal, or
/// with privilege.
fn may_type(ctx: &Ctx, file: FileNo) -> bool {
    let slave = ctx.kernel.files.get(file).ops.pty_slave();
    slave.is_some() && slave == ctx.kernel.process().terminal || ctx.kernel.task().cred.capable(CAP_SYS_ADMIN)
}

/// The commands about controlling terminals.
fn job_control(ctx: &mut Ctx, file: FileNo, command: u64, arg: u64) -> SysResult {
    let ops = &ctx.kernel.files.get(file).ops;
    let (master, slave) = (ops.pty_master(), ops.pty_slave());
    let number = master.or(slave).ok_or(Errno::ENOTTY)?;
    match command {
        TIOCSCTTY => ctx.kernel.take_terminal(number, arg as u32 == 1)?,
        TIOCNOTTY => ctx.kernel.release_terminal(number)?,
        TIOCSPGRP => {
            if ctx.kernel.is_in_background(file, SIGTTOU)? {
                return Err(ctx.interrupted(Restart::WithFlag));
            }
            let pgid = get_u32(ctx.mem, arg)? as i32;
            let pgid = if pgid > 0 { ctx.kernel.global_pid(pgid) } else { pgid };
            ctx.kernel.set_foreground(number, pgid)?;
        }
        _ => {
            let (foreground, session) = ctx.kernel.terminal_groups(number, master.is_some())?;
            if command == TIOCGSID && session == 0 {
                return Err(Errno::ENOTTY.into());
            }
            let group = if command == TIOCGSID { session } else { foreground };
            put_u32(ctx.mem, arg, ctx.kernel.shown_pid(group) as u32)?;
        }
    }
    Ok(0)
}

/// The inode of a description, if it is of the right kind; ENOTTY.
fn inode_of(ctx: &Ctx, file: FileNo, wanted: impl Fn(&Body) -> bool) -> Result<Ino, Errno> {
    let inode = ctx.kernel.files.get(file).ops.inode();
    inode.filter(|ino| wanted(&ctx.kernel.fs.node(*ino).body)).ok_or(Errno::ENOTTY)
}

/// FICLONE and FICLONERANGE: checked as Linux does where a file system cannot share bytes.
fn clone_range(ctx: &mut Ctx, to: FileNo, range: bool, arg: u64) -> SysResult {
    let source = if range { get_u64(ctx.mem, arg)? } else { arg };
    if range {
        get_words::<4>(ctx.mem, arg)?;
    }
    let from = ctx.opened(source as i32)?;
    let files = &ctx.kernel.files;
    let node = |file: FileNo| files.get(file).ops.inode().map(|ino| ctx.kernel.fs.node(ino));
    let (a, b) = (node(from), node(to));
    if a.map(|node| node.dev) != b.map(|node| node.dev) {
        return Err(Errno::EXDEV.into());
    }
    let is = |node: Option<&Node>, wanted: fn(&Body) -> bool| node.is_some_and(|node| wanted(&node.body));
    if is(a, is_tree) || is(b, is_tree) {
        return Err(Errno::EISDIR.into());
    }
    let file = |body: &Body| matches!(body, Body::File(_));
    if !is(a, file) || !is(b, file) {
        return Err(Errno::EINVAL.into());
    }
    if !files.get(from).readable() || !files.get(to).writable() || files.get(to).flags & O_APPEND != 0 {
        return Err(Errno::EBADF.into());
    }
    Err(Errno::EOPNOTSUPP.into())
}

fn is_tree(body: &Body) -> bool {
    matches!(body, Body::Dir(_))
}

/// TIOCGPTPEER: opens the slave of a pseudo-terminal whatever its name leads to; EIO while it is
/// locked and for a slave.
fn open_peer(ctx: &mut Ctx, file: FileNo, flags: u32) -> SysResult {
    let number = ctx.kernel.files.get(file).ops.pty_master().ok_or(Errno::EIO)?;
    let pty = ctx.kernel.fs.ptys.get(number).filter(|pty| !pty.locked).ok_or(Errno::EIO)?;
    pty.may_open(&ctx.kernel.task().cred)?;
    let fs = &mut ctx.kernel.fs;
    let ino = fs.terminal(number).ok_or(Errno::EIO)?;
    let side = PtySide::open(fs, number, false, ino);
    let kept = flags & (O_ACCMODE | O_NONBLOCK) | O_LARGEFILE;
    let open = Description::new(side, kept, format!("/dev/pts/{number}").as_bytes());
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// Tells if a description is of a kind of file that has the flags of chattr(1).
fn keeps_flags(ctx: &Ctx, file: FileNo) -> bool {
    let inode = ctx.kernel.files.get(file).ops.inode();
    let node = inode.map(|ino| ctx.kernel.fs.node(ino));
    node.is_some_and(|node| !node.synthetic && matches!(node.body, Body::File(_) | Body::Dir(_)))
}

/// FS_IOC_GETFLAGS and FS_IOC_SETFLAGS, with the flags that tmpfs has. None of them has an effect,
/// so those that would have one, FS_APPEND_FL and FS_IMMUTABLE_FL, are refused.
fn file_flags(ctx: &mut Ctx, file: FileNo, set: bool, arg: u64) -> SysResult {
    const KEPT: u32 = FS_NODUMP_FL | FS_NOATIME_FL;
    const LOCKS: u32 = FS_APPEND_FL | FS_IMMUTABLE_FL;
    let open = ctx.kernel.files.get(file);
    let (ino, mount) = (open.ops.inode().ok_or(Errno::ENOTTY)?, open.mount);
    let (fs, caller, mem) = ctx.paths_now();
    if !set {
        let flags = fs.file_flags(ino)? & KEPT;
        put_u32(mem, arg, flags)?;
        return Ok(0);
    }
    let flags = get_u32(mem, arg)?;
    fs.writable(mount)?;
    caller.owns(fs.node(ino))?;
    if flags & LOCKS != 0 && !caller.cred.capable(CAP_LINUX_IMMUTABLE) {
        return Err(Errno::EPERM.into());
    }
    if flags & !KEPT != 0 {
        ctx.kernel.notices.count("FS_IOC_SETFLAGS ", &format!("{flags:#x}: answered with EOPNOTSUPP"));
        return Err(Errno::EOPNOTSUPP.into());
    }
    fs.set_file_flags(&caller, ino, flags, KEPT)?;
    Ok(0)
}
