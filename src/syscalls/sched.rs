//! Scheduling: one CPU, the ordinary policy, nobody to compete with.

use crate::abi::capability::CAP_SYS_NICE;
use crate::abi::errno::Errno;
use crate::abi::resource::Resource;
use crate::abi::sched::*;
use crate::guest::PAGE_SIZE;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_u32, put_u32, put_words};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

const ONLY_OTHER: &str =
    "SCHED_OTHER, SCHED_BATCH and SCHED_IDLE are accepted and change nothing; others EPERM";
const ONE_CPU: &str = "there is one CPU";

/// Scheduling calls.
pub(super) const ROWS: &[Row] = &[
    full(24, "sched_yield", sched_yield),
    full(140, "getpriority", getpriority),
    full(141, "setpriority", setpriority),
    full(142, "sched_setparam", sched_setparam),
    full(143, "sched_getparam", sched_getparam),
    partial(144, "sched_setscheduler", sched_setscheduler, ONLY_OTHER),
    full(145, "sched_getscheduler", sched_getscheduler),
    full(146, "sched_get_priority_max", sched_get_priority_max),
    full(147, "sched_get_priority_min", sched_get_priority_min),
    full(148, "sched_rr_get_interval", sched_rr_get_interval),
    full(203, "sched_setaffinity", sched_setaffinity).noted(ONE_CPU),
    full(204, "sched_getaffinity", sched_getaffinity).noted(ONE_CPU),
    full(251, "ioprio_set", ioprio_set).noted("remembered"),
    full(252, "ioprio_get", ioprio_get),
    full(309, "getcpu", getcpu).noted(ONE_CPU),
    partial(314, "sched_setattr", sched_setattr, ONLY_OTHER),
    full(315, "sched_getattr", sched_getattr),
];

/// Bytes of the CPU mask that the kernel itself uses.
const CPUMASK_SIZE: u64 = 8;

/// EINVAL for a negative id, ESRCH for one that is not this process.
fn target(ctx: &Ctx, pid: u64) -> Result<(), Errno> {
    if (pid as i32) < 0 {
        return Err(Errno::EINVAL);
    }
    if ctx.kernel.process().is_self(pid) { Ok(()) } else { Err(Errno::ESRCH) }
}

/// sched_yield(2).
fn sched_yield(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(0)
}

/// ESRCH unless PRIO_PROCESS, PRIO_PGRP or PRIO_USER with this id means the process; EINVAL for
/// others.
fn names_self(ctx: &Ctx, which: u64, who: u64) -> Result<(), Errno> {
    let process = ctx.kernel.process();
    let named = match which as u32 {
        PRIO_PROCESS => process.is_self(who),
        PRIO_PGRP => who as i32 == 0 || who as i32 == process.pgid,
        PRIO_USER => who as u32 == 0 || who as u32 == ctx.kernel.task().cred.uid.real,
        _ => return Err(Errno::EINVAL),
    };
    if named { Ok(()) } else { Err(Errno::ESRCH) }
}

/// getpriority(2): the call gives 20 less the nice value, so that it is never negative.
fn getpriority(ctx: &mut Ctx, [which, who, ..]: [u64; 6]) -> SysResult {
    names_self(ctx, which, who)?;
    Ok((20 - ctx.kernel.task().nice) as u64)
}

/// setpriority(2).
fn setpriority(ctx: &mut Ctx, [which, who, nice, ..]: [u64; 6]) -> SysResult {
    names_self(ctx, which, who)?;
    let nice = (nice as i32).clamp(-20, 19);
    let lowest = 20 - ctx.kernel.process().limits.soft(Resource::Nice) as i64;
    let task = ctx.kernel.task_mut();
    if nice < task.nice && i64::from(nice) < lowest && !task.cred.capable(CAP_SYS_NICE) {
        return Err(Errno::EACCES.into());
    }
    task.nice = nice;
    Ok(0)
}

/// Checks a policy and the priority that comes with it.
fn check_policy(ctx: &mut Ctx, policy: u32, priority: u32) -> Result<(), Errno> {
    match policy & !SCHED_RESET_ON_FORK {
        SCHED_OTHER | SCHED_BATCH | SCHED_IDLE if priority == 0 => Ok(()),
        SCHED_FIFO | SCHED_RR if (1..=99).contains(&priority) => {
            ctx.kernel.notices.count("scheduling policy ", &format!("{policy} is refused with EPERM"));
            Err(Errno::EPERM)
        }
        SCHED_DEADLINE => Err(Errno::EPERM),
        _ => Err(Errno::EINVAL),
    }
}

/// sched_setscheduler(2).
fn sched_setscheduler(ctx: &mut Ctx, [pid, policy, param, ..]: [u64; 6]) -> SysResult {
    if param == 0 || (policy as i32) < 0 {
        return Err(Errno::EINVAL.into());
    }
    let priority = get_u32(ctx.mem, param)?;
    target(ctx, pid)?;
    check_policy(ctx, policy as u32, priority)?;
    Ok(0)
}

/// sched_getscheduler(2).
fn sched_getscheduler(ctx: &mut Ctx, [pid, ..]: [u64; 6]) -> SysResult {
    target(ctx, pid)?;
    Ok(u64::from(SCHED_OTHER))
}

/// sched_setparam(2).
fn sched_setparam(ctx: &mut Ctx, [pid, param, ..]: [u64; 6]) -> SysResult {
    if param == 0 {
        return Err(Errno::EINVAL.into());
    }
    let priority = get_u32(ctx.mem, param)?;
    target(ctx, pid)?;
    check_policy(ctx, SCHED_OTHER, priority)?;
    Ok(0)
}

/// sched_getparam(2).
fn sched_getparam(ctx: &mut Ctx, [pid, param, ..]: [u64; 6]) -> SysResult {
    if param == 0 {
        return Err(Errno::EINVAL.into());
    }
    target(ctx, pid)?;
    put_u32(ctx.mem, param, 0)?;
    Ok(0)
}

/// sched_get_priority_max(2).
fn sched_get_priority_max(_: &mut Ctx, [policy, ..]: [u64; 6]) -> SysResult {
    match policy as u32 {
        SCHED_FIFO | SCHED_RR => Ok(99),
        SCHED_OTHER | SCHED_BATCH | SCHED_IDLE | SCHED_DEADLINE => Ok(0),
        _ => Err(Errno::EINVAL.into()),
    }
}

/// sched_get_priority_min(2).
fn sched_get_priority_min(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    sched_get_priority_max(ctx, args).map(|max| max.min(1))
}

/// sched_rr_get_interval(2): an ordinary task alone on its CPU has no slice.
fn sched_rr_get_interval(ctx: &mut Ctx, [pid, addr, ..]: [u64; 6]) -> SysResult {
    target(ctx, pid)?;
    put_words(ctx.mem, addr, &[0, 0])?;
    Ok(0)
}

/// sched_getaffinity(2): the size of the kernel's mask is the result.
fn sched_getaffinity(ctx: &mut Ctx, [pid, size, mask, ..]: [u64; 6]) -> SysResult {
    let size = u64::from(size as u32);
    if size < CPUMASK_SIZE || !size.is_multiple_of(8) {
        return Err(Errno::EINVAL.into());
    }
    if !ctx.kernel.process().is_self(pid) {
        return Err(Errno::ESRCH.into());
    }
    put_words(ctx.mem, mask, &[1])?;
    Ok(CPUMASK_SIZE)
}

/// sched_setaffinity(2): the mask must hold the one CPU.
fn sched_setaffinity(ctx: &mut Ctx, [pid, size, mask, ..]: [u64; 6]) -> SysResult {
    let mut bytes = [0];
    if size as u32 != 0 {
        copy_from_user(ctx.mem, mask, &mut bytes)?;
    }
    if !ctx.kernel.process().is_self(pid) {
        return Err(Errno::ESRCH.into());
    }
    if bytes[0] & 1 == 0 {
        return Err(Errno::EINVAL.into());
    }
    Ok(0)
}

/// getcpu(2).
fn getcpu(ctx: &mut Ctx, [cpu, node, ..]: [u64; 6]) -> SysResult {
    for addr in [cpu, node] {
        if addr != 0 {
            put_u32(ctx.mem, addr, 0)?;
        }
    }
    Ok(0)
}

/// sched_setattr(2).
fn sched_setattr(ctx: &mut Ctx, [pid, attr, flags, ..]: [u64; 6]) -> SysResult {
    if attr == 0 || (pid as i32) < 0 || flags != 0 {
        return Err(Errno::EINVAL.into());
    }
    let size = get_u32(ctx.mem, attr)?;
    if size != 0 && size < SCHED_ATTR_SIZE_VER0 {
        return Err(Errno::E2BIG.into());
    }
    let policy = get_u32(ctx.mem, attr.wrapping_add(4))?;
    let priority = get_u32(ctx.mem, attr.wrapping_add(20))?;
    target(ctx, pid)?;
    check_policy(ctx, policy, priority)?;
    Ok(0)
}

/// sched_getattr(2).
fn sched_getattr(ctx: &mut Ctx, [pid, attr, size, flags, ..]: [u64; 6]) -> SysResult {
    let size = size as u32;
    if attr == 0 || flags != 0 || !(SCHED_ATTR_SIZE_VER0..=PAGE_SIZE as u32).contains(&size) {
        return Err(Errno::EINVAL.into());
    }
    target(ctx, pid)?;
    let mut bytes = [0; SCHED_ATTR_SIZE_VER0 as usize];
    bytes[..4].copy_from_slice(&SCHED_ATTR_SIZE_VER0.to_le_bytes());
    bytes[16..20].copy_from_slice(&ctx.kernel.task().nice.to_le_bytes());
    copy_to_user(ctx.mem, attr, &bytes)?;
    Ok(0)
}

/// ioprio_set(2).
fn ioprio_set(ctx: &mut Ctx, [which, who, ioprio, ..]: [u64; 6]) -> SysResult {
    names_self(ctx, which.wrapping_sub(1), who)?;
    let class = ioprio as u32 >> 13;
    if ioprio as u32 > 0xffff || class > 3 {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.task_mut().ioprio = ioprio as u32;
    Ok(0)
}

/// ioprio_get(2).
fn ioprio_get(ctx: &mut Ctx, [which, who, ..]: [u64; 6]) -> SysResult {
    names_self(ctx, which.wrapping_sub(1), who)?;
    Ok(u64::from(ctx.kernel.task().ioprio))
}
