//! The calls about who the process is. Ids can be set only to what they are.

use crate::abi::errno::Errno;
use crate::kernel::uaccess::{copy_to_user, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::table::{Row, Support};

const SAME: &str = "only to the id that it is; EPERM otherwise";

/// Identity calls.
pub const ROWS: &[Row] = &[
    Row { number: 39, name: "getpid", handler: getpid, support: Support::Full, note: "always 1000" },
    Row { number: 102, name: "getuid", handler: getuid, support: Support::Full, note: "" },
    Row { number: 104, name: "getgid", handler: getgid, support: Support::Full, note: "" },
    Row { number: 105, name: "setuid", handler: setuid, support: Support::Partial, note: SAME },
    Row { number: 106, name: "setgid", handler: setgid, support: Support::Partial, note: SAME },
    Row { number: 107, name: "geteuid", handler: getuid, support: Support::Full, note: "" },
    Row { number: 108, name: "getegid", handler: getgid, support: Support::Full, note: "" },
    Row {
        number: 109,
        name: "setpgid",
        handler: setpgid,
        support: Support::Partial,
        note: "only its own group",
    },
    Row { number: 110, name: "getppid", handler: getppid, support: Support::Full, note: "always 999" },
    Row { number: 111, name: "getpgrp", handler: getpgrp, support: Support::Full, note: "" },
    Row {
        number: 112,
        name: "setsid",
        handler: setsid,
        support: Support::Full,
        note: "EPERM: it leads its group",
    },
    Row { number: 113, name: "setreuid", handler: setreuid, support: Support::Partial, note: SAME },
    Row { number: 114, name: "setregid", handler: setregid, support: Support::Partial, note: SAME },
    Row { number: 115, name: "getgroups", handler: getgroups, support: Support::Full, note: "" },
    Row { number: 116, name: "setgroups", handler: setgroups, support: Support::Refused, note: "EPERM" },
    Row { number: 117, name: "setresuid", handler: setresuid, support: Support::Partial, note: SAME },
    Row { number: 118, name: "getresuid", handler: getresuid, support: Support::Full, note: "" },
    Row { number: 119, name: "setresgid", handler: setresgid, support: Support::Partial, note: SAME },
    Row { number: 120, name: "getresgid", handler: getresgid, support: Support::Full, note: "" },
    Row { number: 121, name: "getpgid", handler: getpgid, support: Support::Full, note: "" },
    Row {
        number: 122,
        name: "setfsuid",
        handler: setfsuid,
        support: Support::Partial,
        note: "changes nothing",
    },
    Row {
        number: 123,
        name: "setfsgid",
        handler: setfsgid,
        support: Support::Partial,
        note: "changes nothing",
    },
    Row { number: 124, name: "getsid", handler: getsid, support: Support::Full, note: "" },
    Row { number: 186, name: "gettid", handler: gettid, support: Support::Full, note: "always 1000" },
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
