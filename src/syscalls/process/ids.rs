//! The calls about who the process is. Ids can be set only to what they are.

use crate::abi::errno::Errno;
use crate::kernel::uaccess::{copy_to_user, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial, refused};

const SAME: &str = "only to the id that it is; EPERM otherwise";

/// Identity calls.
pub const ROWS: &[Row] = &[
    full(39, "getpid", getpid).noted("always 1000"),
    full(102, "getuid", getuid),
    full(104, "getgid", getgid),
    partial(105, "setuid", setuid, SAME),
    partial(106, "setgid", setgid, SAME),
    full(107, "geteuid", getuid),
    full(108, "getegid", getgid),
    partial(109, "setpgid", setpgid, "only its own group"),
    full(110, "getppid", getppid).noted("always 999"),
    full(111, "getpgrp", getpgrp),
    full(112, "setsid", setsid).noted("EPERM: it leads its group"),
    partial(113, "setreuid", setreuid, SAME),
    partial(114, "setregid", setregid, SAME),
    full(115, "getgroups", getgroups),
    refused(116, "setgroups", setgroups, "EPERM"),
    partial(117, "setresuid", setresuid, SAME),
    full(118, "getresuid", getresuid),
    partial(119, "setresgid", setresgid, SAME),
    full(120, "getresgid", getresgid),
    full(121, "getpgid", getpgid),
    partial(122, "setfsuid", setfsuid, "changes nothing"),
    partial(123, "setfsgid", setfsgid, "changes nothing"),
    full(124, "getsid", getsid),
    full(186, "gettid", gettid).noted("always 1000"),
];

/// getpid(2).
fn getpid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.process().pid as u64)
}

/// gettid(2).
fn gettid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.task().tid as u64)
}

/// getppid(2).
fn getppid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.process().ppid as u64)
}

/// getuid(2), geteuid(2).
fn getuid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(u64::from(ctx.kernel.task().cred.uid))
}

/// getgid(2), getegid(2).
fn getgid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(u64::from(ctx.kernel.task().cred.gid))
}

/// Whether every id is the one that is held already; `u32::MAX` means "leave it" where `keep` is set.
fn same(ids: &[u64], held: u32, keep: bool) -> SysResult {
    for id in ids {
        match *id as u32 {
            u32::MAX if keep => {}
            u32::MAX => return Err(Errno::EINVAL.into()),
            id if id == held => {}
            _ => return Err(Errno::EPERM.into()),
        }
    }
    Ok(0)
}

/// setuid(2).
fn setuid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    same(&args[..1], ctx.kernel.task().cred.uid, false)
}

/// setgid(2).
fn setgid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    same(&args[..1], ctx.kernel.task().cred.gid, false)
}

/// setreuid(2).
fn setreuid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    same(&args[..2], ctx.kernel.task().cred.uid, true)
}

/// setregid(2).
fn setregid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    same(&args[..2], ctx.kernel.task().cred.gid, true)
}

/// setresuid(2).
fn setresuid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    same(&args[..3], ctx.kernel.task().cred.uid, true)
}

/// setresgid(2).
fn setresgid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    same(&args[..3], ctx.kernel.task().cred.gid, true)
}

/// getresuid(2).
fn getresuid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let uid = ctx.kernel.task().cred.uid;
    for addr in &args[..3] {
        put_u32(ctx.mem, *addr, uid)?;
    }
    Ok(0)
}

/// getresgid(2).
fn getresgid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let gid = ctx.kernel.task().cred.gid;
    for addr in &args[..3] {
        put_u32(ctx.mem, *addr, gid)?;
    }
    Ok(0)
}

/// setfsuid(2): gives the id that was held, whatever was asked.
fn setfsuid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(u64::from(ctx.kernel.task().cred.uid))
}

/// setfsgid(2): gives the id that was held, whatever was asked.
fn setfsgid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(u64::from(ctx.kernel.task().cred.gid))
}

/// getgroups(2).
fn getgroups(ctx: &mut Ctx, [size, addr, ..]: [u64; 6]) -> SysResult {
    let groups = &ctx.kernel.task().cred.groups;
    let count = groups.len() as u64;
    match size as i32 {
        0 => Ok(count),
        size if size < 0 || (size as u64) < count => Err(Errno::EINVAL.into()),
        _ => {
            let bytes: Vec<u8> = groups.iter().flat_map(|gid| gid.to_le_bytes()).collect();
            copy_to_user(ctx.mem, addr, &bytes)?;
            Ok(count)
        }
    }
}

/// setgroups(2).
fn setgroups(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::EPERM.into())
}

/// setpgid(2).
fn setpgid(ctx: &mut Ctx, [pid, pgid, ..]: [u64; 6]) -> SysResult {
    if (pgid as i32) < 0 {
        return Err(Errno::EINVAL.into());
    }
    let process = ctx.kernel.process_mut();
    if !process.is_self(pid) {
        return Err(Errno::ESRCH.into());
    }
    if process.sid == process.pid || !process.is_self(pgid) {
        return Err(Errno::EPERM.into());
    }
    process.pgid = process.pid;
    Ok(0)
}

/// getpgrp(2).
fn getpgrp(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.process().pgid as u64)
}

/// getpgid(2).
fn getpgid(ctx: &mut Ctx, [pid, ..]: [u64; 6]) -> SysResult {
    let process = ctx.kernel.process();
    if process.is_self(pid) { Ok(process.pgid as u64) } else { Err(Errno::ESRCH.into()) }
}

/// getsid(2).
fn getsid(ctx: &mut Ctx, [pid, ..]: [u64; 6]) -> SysResult {
    let process = ctx.kernel.process();
    if process.is_self(pid) { Ok(process.sid as u64) } else { Err(Errno::ESRCH.into()) }
}

/// setsid(2).
fn setsid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let process = ctx.kernel.process_mut();
    if process.pgid == process.pid {
        return Err(Errno::EPERM.into());
    }
    process.sid = process.pid;
    process.pgid = process.pid;
    Ok(process.sid as u64)
}
