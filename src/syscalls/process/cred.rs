//! The calls about who the process is: ids and capabilities.

use crate::abi::capability::*;
use crate::abi::errno::Errno;
use crate::kernel::arena::ProcessId;
use crate::kernel::cred::{Change, Credentials};
use crate::kernel::process::PPID;
use crate::kernel::state::Parts;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array, get_u32, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full};

/// Most supplementary groups (`/proc/sys/kernel/ngroups_max`).
const NGROUPS_MAX: u64 = 65_536;

/// Identity calls.
pub(crate) const ROWS: &[Row] = &[
    full(39, "getpid", getpid),
    full(102, "getuid", getuid),
    full(104, "getgid", getgid),
    full(105, "setuid", setuid),
    full(106, "setgid", setgid),
    full(107, "geteuid", geteuid),
    full(108, "getegid", getegid),
    full(109, "setpgid", setpgid),
    full(110, "getppid", getppid).noted("999 for the first process, 1 for orphans"),
    full(111, "getpgrp", getpgrp),
    full(112, "setsid", setsid),
    full(113, "setreuid", setreuid),
    full(114, "setregid", setregid),
    full(115, "getgroups", getgroups),
    full(116, "setgroups", setgroups),
    full(117, "setresuid", setresuid),
    full(118, "getresuid", getresuid),
    full(119, "setresgid", setresgid),
    full(120, "getresgid", getresgid),
    full(121, "getpgid", getpgid),
    full(122, "setfsuid", setfsuid),
    full(123, "setfsgid", setfsgid),
    full(124, "getsid", getsid),
    full(125, "capget", capget),
    full(126, "capset", capset),
    full(186, "gettid", gettid),
];

/// getpid(2).
fn getpid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.shown_pid(ctx.kernel.process().pid) as u64)
}

/// gettid(2).
fn gettid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.shown_pid(ctx.kernel.task().tid) as u64)
}

/// getppid(2).
fn getppid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.shown_pid(ctx.kernel.process().ppid) as u64)
}

/// getuid(2).
fn getuid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    Ok(u64::from(cred.user_ns.uids.shown(cred.uid.real)))
}

/// geteuid(2).
fn geteuid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    Ok(u64::from(cred.user_ns.uids.shown(cred.uid.effective)))
}

/// getgid(2).
fn getgid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    Ok(u64::from(cred.user_ns.gids.shown(cred.gid.real)))
}

/// getegid(2).
fn getegid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    Ok(u64::from(cred.user_ns.gids.shown(cred.gid.effective)))
}

/// Changes the credentials of the running task, unless `change` fails.
fn commit(ctx: &mut Ctx, change: impl FnOnce(&mut Credentials) -> Result<(), Errno>) -> SysResult {
    let Parts { task, mm, .. } = ctx.kernel.parts();
    let mut cred = task.cred.clone();
    change(&mut cred)?;
    task.commit(cred, mm);
    Ok(0)
}

/// setuid(2).
fn setuid(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    commit(ctx, |cred| cred.set_uid(Change::One(id as u32)))
}

/// setgid(2).
fn setgid(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    commit(ctx, |cred| cred.set_gid(Change::One(id as u32)))
}

/// setreuid(2).
fn setreuid(ctx: &mut Ctx, [real, effective, ..]: [u64; 6]) -> SysResult {
    commit(ctx, |cred| cred.set_uid(Change::Two(real as u32, effective as u32)))
}

/// setregid(2).
fn setregid(ctx: &mut Ctx, [real, effective, ..]: [u64; 6]) -> SysResult {
    commit(ctx, |cred| cred.set_gid(Change::Two(real as u32, effective as u32)))
}

fn three(args: [u64; 6]) -> Change {
    Change::Three([args[0] as u32, args[1] as u32, args[2] as u32])
}

/// setresuid(2).
fn setresuid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    commit(ctx, |cred| cred.set_uid(three(args)))
}

/// setresgid(2).
fn setresgid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    commit(ctx, |cred| cred.set_gid(three(args)))
}

/// Writes the three ids that a process is told of.
fn put_ids(ctx: &mut Ctx, ids: [u32; 3], args: [u64; 6]) -> SysResult {
    for (id, addr) in ids.into_iter().zip(args) {
        put_u32(ctx.mem, addr, id)?;
    }
    Ok(0)
}

/// getresuid(2).
fn getresuid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    let ids = [cred.uid.real, cred.uid.effective, cred.uid.saved].map(|id| cred.user_ns.uids.shown(id));
    put_ids(ctx, ids, args)
}

/// getresgid(2).
fn getresgid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    let ids = [cred.gid.real, cred.gid.effective, cred.gid.saved].map(|id| cred.user_ns.gids.shown(id));
    put_ids(ctx, ids, args)
}

/// setfsuid(2): gives the id that was held, whatever becomes of it.
fn setfsuid(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    let before = cred.user_ns.uids.shown(cred.uid.fs);
    commit(ctx, |cred| cred.set_uid(Change::Fs(id as u32)))?;
    Ok(u64::from(before))
}

/// setfsgid(2): gives the id that was held, whatever becomes of it.
fn setfsgid(ctx: &mut Ctx, [id, ..]: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    let before = cred.user_ns.gids.shown(cred.gid.fs);
    commit(ctx, |cred| cred.set_gid(Change::Fs(id as u32)))?;
    Ok(u64::from(before))
}

/// getgroups(2).
fn getgroups(ctx: &mut Ctx, [size, addr, ..]: [u64; 6]) -> SysResult {
    let cred = &ctx.kernel.task().cred;
    let groups: Vec<u32> = cred.groups.iter().map(|gid| cred.user_ns.gids.shown(*gid)).collect();
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
fn setgroups(ctx: &mut Ctx, [size, addr, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.task().cred.may_set_groups()?;
    let size = u64::from(size as u32);
    if size > NGROUPS_MAX {
        return Err(Errno::EINVAL.into());
    }
    let mut bytes = vec![0; size as usize * 4];
    copy_from_user(ctx.mem, addr, &mut bytes)?;
    let groups: Vec<u32> =
        bytes.chunks_exact(4).map(|gid| u32::from_le_bytes([gid[0], gid[1], gid[2], gid[3]])).collect();
    ctx.kernel.task_mut().cred.set_groups(&groups)?;
    Ok(0)
}

/// setpgid(2).
fn setpgid(ctx: &mut Ctx, [pid, pgid, ..]: [u64; 6]) -> SysResult {
    let led = if pgid as i32 == 0 { pid } else { pgid };
    if (led as i32) < 0 {
        return Err(Errno::EINVAL.into());
    }
    // 0 is the caller.
    let [pid, pgid] = [pid, pgid].map(|id| if id as i32 == 0 { 0 } else { ctx.kernel.global_pid(id as i32) });
    ctx.kernel.set_group(pid, pgid)?;
    Ok(0)
}

/// getpgrp(2).
fn getpgrp(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(ctx.kernel.shown_pid(ctx.kernel.process().pgid) as u64)
}

/// The process of the task with a number, 0 for the caller; ESRCH.
fn of(ctx: &Ctx, pid: u64) -> Result<ProcessId, Errno> {
    match pid as i32 {
        0 => Ok(ctx.kernel.task().shared.process),
        pid => {
            let task = ctx.kernel.named_task(pid).ok_or(Errno::ESRCH)?;
            Ok(ctx.kernel.other_task(task).shared.process)
        }
    }
}

/// getpgid(2).
fn getpgid(ctx: &mut Ctx, [pid, ..]: [u64; 6]) -> SysResult {
    if ctx.kernel.global_pid(pid as i32) == PPID {
        return Ok(PPID as u64);
    }
    Ok(ctx.kernel.shown_pid(ctx.kernel.other_process(of(ctx, pid)?).pgid) as u64)
}

/// getsid(2).
fn getsid(ctx: &mut Ctx, [pid, ..]: [u64; 6]) -> SysResult {
    if ctx.kernel.global_pid(pid as i32) == PPID {
        return Ok(PPID as u64);
    }
    Ok(ctx.kernel.shown_pid(ctx.kernel.other_process(of(ctx, pid)?).sid) as u64)
}

/// setsid(2).
fn setsid(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let sid = ctx.kernel.new_session()?;
    Ok(ctx.kernel.shown_pid(sid) as u64)
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
    let task = match pid {
        0 => ctx.kernel.current(),
        pid => ctx.kernel.named_task(pid).ok_or(Errno::ESRCH)?,
    };
    if data == 0 {
        return Ok(0);
    }
    let caps = ctx.kernel.other_task(task).cred.caps;
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
    if pid != 0 && pid as i32 != ctx.kernel.shown_pid(ctx.kernel.task().tid) {
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
    commit(ctx, |cred| cred.set_caps(effective, permitted, inheritable))
}
