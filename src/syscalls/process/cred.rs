//! The calls about who the process is: ids and capabilities. Ids can be set only to what they are.

use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::kernel::cred::Capabilities;
use crate::kernel::uaccess::{copy_to_user, get_array, get_u32, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial, refused};

const SAME: &str = "only to the id that it is; EPERM otherwise";

/// Identity calls.
pub(crate) const ROWS: &[Row] = &[
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
    full(125, "capget", capget),
    partial(126, "capset", capset, "remembered; permission checks go by the user id"),
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

/// Accepts ids that are held already: EPERM for others, EINVAL for `u32::MAX` unless `keep` makes
/// it "leave it".
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

/// Words per set in the version that a header names. EINVAL for an unknown version, which is
/// replaced by the one that the kernel prefers.
fn words(ctx: &mut Ctx, header: u64) -> Result<usize, Errno> {
    match get_u32(ctx.mem, header)? {
        _LINUX_CAPABILITY_VERSION_1 => Ok(1),
        _LINUX_CAPABILITY_VERSION_2 | _LINUX_CAPABILITY_VERSION_3 => Ok(2),
        _ => {
            put_u32(ctx.mem, header, _LINUX_CAPABILITY_VERSION_3)?;
            Err(Errno::EINVAL)
        }
    }
}

/// capget(2). Asking with no data and an unknown version is how the version is probed.
fn capget(ctx: &mut Ctx, [header, data, ..]: [u64; 6]) -> SysResult {
    let words = match words(ctx, header) {
        Err(Errno::EINVAL) if data == 0 => return Ok(0),
        other => other?,
    };
    let pid = get_u32(ctx.mem, header.wrapping_add(4))? as i32;
    if pid < 0 {
        return Err(Errno::EINVAL.into());
    }
    if !ctx.kernel.process().is_self(pid as u64) {
        return Err(Errno::ESRCH.into());
    }
    if data == 0 {
        return Ok(0);
    }
    let caps = ctx.kernel.task().cred.caps;
    let mut bytes = Vec::new();
    for shift in [0, 32].iter().take(words) {
        for set in [caps.effective, caps.permitted, caps.inheritable] {
            bytes.extend_from_slice(&((set >> shift) as u32).to_le_bytes());
        }
    }
    copy_to_user(ctx.mem, data, &bytes)?;
    Ok(0)
}

/// capset(2).
fn capset(ctx: &mut Ctx, [header, data, ..]: [u64; 6]) -> SysResult {
    let words = words(ctx, header)?;
    let pid = get_u32(ctx.mem, header.wrapping_add(4))?;
    if !ctx.kernel.process().is_self(u64::from(pid)) {
        return Err(Errno::EPERM.into());
    }
    let mut sets = [0u64; 3];
    for (word, shift) in [0, 32].iter().take(words).enumerate() {
        for (index, set) in sets.iter_mut().enumerate() {
            let at = data.wrapping_add(((word * 3 + index) * 4) as u64);
            *set |= u64::from(u32::from_le_bytes(get_array(ctx.mem, at)?)) << shift;
        }
    }
    let [effective, permitted, inheritable] = sets;
    ctx.kernel.task_mut().cred.caps.set(Capabilities { effective, permitted, inheritable })?;
    Ok(0)
}
