//! Scheduling: policies, priorities and nice values; there is one CPU.

use crate::abi::capability::{CAP_SYS_ADMIN, CAP_SYS_NICE};
use crate::abi::errno::Errno;
use crate::abi::resource::Resource;
use crate::abi::sched::*;
use crate::guest::PAGE_SIZE;
use crate::kernel::arena::TaskId;
use crate::kernel::process::PPID;
use crate::kernel::task::Policy;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_u32, put_timespec, put_u32, put_words};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

const POLICIES: &str = "SCHED_DEADLINE is EPERM";
const ONE_CPU: &str = "there is one CPU";

/// Scheduling calls.
pub(super) const ROWS: &[Row] = &[
    full(24, "sched_yield", sched_yield),
    full(140, "getpriority", getpriority),
    full(141, "setpriority", setpriority),
    full(142, "sched_setparam", sched_setparam),
    full(143, "sched_getparam", sched_getparam),
    partial(144, "sched_setscheduler", sched_setscheduler, POLICIES),
    full(145, "sched_getscheduler", sched_getscheduler),
    full(146, "sched_get_priority_max", sched_get_priority_max),
    full(147, "sched_get_priority_min", sched_get_priority_min),
    full(148, "sched_rr_get_interval", sched_rr_get_interval),
    full(203, "sched_setaffinity", sched_setaffinity).noted(ONE_CPU),
    full(204, "sched_getaffinity", sched_getaffinity).noted(ONE_CPU),
    full(251, "ioprio_set", ioprio_set).noted("remembered"),
    full(252, "ioprio_get", ioprio_get),
    full(309, "getcpu", getcpu).noted(ONE_CPU),
    partial(314, "sched_setattr", sched_setattr, POLICIES),
    full(315, "sched_getattr", sched_getattr),
];

/// Bytes of the CPU mask that the kernel itself uses.
const CPUMASK_SIZE: u64 = 8;

/// The task with an id, 0 for the caller: EINVAL for a negative one, ESRCH.
fn target(ctx: &Ctx, pid: u64) -> Result<TaskId, Errno> {
    match pid as i32 {
        0 => Ok(ctx.kernel.current()),
        pid if pid < 0 => Err(Errno::EINVAL),
        pid => ctx.kernel.named_task(pid).ok_or(Errno::ESRCH),
    }
}

/// Checks that a task is the caller's user's, `check_same_owner`; EPERM.
fn owns(ctx: &Ctx, task: TaskId) -> Result<(), Errno> {
    let (own, uid) = (&ctx.kernel.task().cred, ctx.kernel.other_task(task).cred.uid);
    let same = [uid.real, uid.effective].contains(&own.uid.effective);
    if same { Ok(()) } else { own.require(CAP_SYS_NICE) }
}

/// Checks that a task has no capability that the caller lacks, `cap_safe_nice`; EPERM.
fn outranks(ctx: &Ctx, task: TaskId) -> Result<(), Errno> {
    let (own, other) = (&ctx.kernel.task().cred, &ctx.kernel.other_task(task).cred);
    let same = own.user_ns.id == other.user_ns.id;
    let covered = same && other.caps.permitted & !own.caps.permitted == 0;
    if covered || own.capable_over(&other.user_ns, CAP_SYS_NICE) { Ok(()) } else { Err(Errno::EPERM) }
}

/// sched_yield(2).
fn sched_yield(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Break::Yield)
}

/// The tasks that PRIO_PROCESS, PRIO_PGRP or PRIO_USER mean with an id, 0 for the caller's; EINVAL
/// for others, ESRCH if there are none.
fn named(ctx: &Ctx, which: u64, who: u64) -> Result<Vec<TaskId>, Errno> {
    let kernel = &ctx.kernel;
    let tasks: Vec<TaskId> = match which as u32 {
        PRIO_PROCESS if who as i32 == 0 => vec![kernel.current()],
        PRIO_PROCESS => kernel.named_task(who as i32).into_iter().collect(),
        PRIO_PGRP => {
            let pgid = if who as i32 == 0 { kernel.process().pgid } else { who as i32 };
            kernel
                .group(pgid)
                .iter()
                .flat_map(|process| &kernel.other_process(*process).tasks)
                .copied()
                .collect()
        }
        PRIO_USER => {
            let uid = if who as u32 == 0 { kernel.task().cred.uid.real } else { who as u32 };
            kernel.live().filter(|task| kernel.other_task(*task).cred.uid.real == uid).collect()
        }
        _ => return Err(Errno::EINVAL),
    };
    if tasks.is_empty() { Err(Errno::ESRCH) } else { Ok(tasks) }
}

/// getpriority(2): the call gives 20 less the nice value, so that it is never negative; of several
/// tasks the best.
fn getpriority(ctx: &mut Ctx, [which, who, ..]: [u64; 6]) -> SysResult {
    if which as u32 == PRIO_PROCESS && who as i32 == PPID {
        return Ok(20);
    }
    let nice = named(ctx, which, who)?.into_iter().map(|task| ctx.kernel.other_task(task).nice).min();
    Ok((20 - nice.unwrap_or(0)) as u64)
}

/// setpriority(2).
fn setpriority(ctx: &mut Ctx, [which, who, nice, ..]: [u64; 6]) -> SysResult {
    let nice = (nice as i32).clamp(-20, 19);
    let mut result = Ok(0);
    for task in named(ctx, which, who)? {
        let uid = ctx.kernel.other_task(task).cred.uid;
        let own = ctx.kernel.task().cred.uid.effective;
        if ![uid.real, uid.effective].contains(&own) && !capable(ctx, CAP_SYS_NICE) {
            result = Err(Errno::EPERM.into());
        } else if nice < ctx.kernel.other_task(task).nice && !may_be_nice(ctx, nice) {
            result = Err(Errno::EACCES.into());
        } else if let Err(errno) = outranks(ctx, task) {
            result = Err(errno.into());
        } else {
            let policy = ctx.kernel.other_task(task).policy;
            ctx.kernel.set_policy(task, policy, nice);
        }
    }
    result
}

/// Tests whether the task has a capability.
fn capable(ctx: &Ctx, capability: u64) -> bool {
    ctx.kernel.task().cred.capable(capability)
}

/// Tests whether the nice value may become so low: RLIMIT_NICE allows some, and CAP_SYS_NICE all.
fn may_be_nice(ctx: &Ctx, nice: i32) -> bool {
    let limit = ctx.kernel.process().limits.soft(Resource::Nice);
    (20 - nice) as u64 <= limit || capable(ctx, CAP_SYS_NICE)
}

/// Tests whether runtime, deadline and period of SCHED_DEADLINE, in nanoseconds, agree
/// (`__checkparam_dl`).
fn is_deadline([runtime, deadline, period]: [u64; 3]) -> bool {
    const PERIODS_US: std::ops::RangeInclusive<u64> = 100..=1 << 22;
    let period = if period == 0 { deadline } else { period };
    deadline != 0
        && runtime >= 1 << 10
        && (deadline | period) >> 63 == 0
        && period >= deadline
        && deadline >= runtime
        && PERIODS_US.contains(&(period / 1000))
}

/// Gives the task a policy and, with an ordinary one, perhaps a nice value: EINVAL for what cannot
/// be, EPERM for what it may not have. `times` are those of SCHED_DEADLINE.
fn set_policy(
    ctx: &mut Ctx,
    task: TaskId,
    new: Policy,
    nice: Option<i32>,
    times: [u64; 3],
) -> Result<(), Errno> {
    let old = ctx.kernel.other_task(task).policy;
    let ordinary = matches!(new.number, SCHED_OTHER | SCHED_BATCH);
    let realtime = matches!(new.number, SCHED_FIFO | SCHED_RR);
    if !ordinary && !realtime && !matches!(new.number, SCHED_IDLE | SCHED_DEADLINE)
        || new.priority > MAX_RT_PRIO
        || realtime != (new.priority != 0)
    {
        return Err(Errno::EINVAL);
    }
    if new.number == SCHED_DEADLINE {
        if !is_deadline(times) {
            return Err(Errno::EINVAL);
        }
        ctx.kernel.notices.once("SCHED_DEADLINE is refused with EPERM".into());
        return Err(Errno::EPERM);
    }
    owns(ctx, task)?;
    let old_nice = ctx.kernel.other_task(task).nice;
    let nice = nice.filter(|_| ordinary);
    let most = ctx.kernel.process().limits.soft(Resource::Rtprio);
    let may = capable(ctx, CAP_SYS_NICE)
        || !(realtime
            && (old.number != new.number && most == 0
                || u64::from(new.priority) > most.max(old.priority.into()))
            || nice.is_some_and(|nice| nice < old_nice && !may_be_nice(ctx, nice))
            || old.number == SCHED_IDLE && new.number != SCHED_IDLE && !may_be_nice(ctx, old_nice)
            || old.reset_on_fork && !new.reset_on_fork);
    if !may {
        return Err(Errno::EPERM);
    }
    outranks(ctx, task)?;
    ctx.kernel.set_policy(task, new, nice.unwrap_or(old_nice));
    Ok(())
}

/// sched_setscheduler(2).
fn sched_setscheduler(ctx: &mut Ctx, [pid, policy, param, ..]: [u64; 6]) -> SysResult {
    if param == 0 || (policy as i32) < 0 || (pid as i32) < 0 {
        return Err(Errno::EINVAL.into());
    }
    let priority = get_u32(ctx.mem, param)?;
    let task = target(ctx, pid)?;
    let reset_on_fork = policy as u32 & SCHED_RESET_ON_FORK != 0;
    let number = policy as u32 & !SCHED_RESET_ON_FORK;
    set_policy(ctx, task, Policy { number, priority, reset_on_fork }, None, [0; 3])?;
    Ok(0)
}

/// sched_getscheduler(2).
fn sched_getscheduler(ctx: &mut Ctx, [pid, ..]: [u64; 6]) -> SysResult {
    if ctx.kernel.global_pid(pid as i32) == PPID {
        return Ok(SCHED_OTHER.into());
    }
    let policy = ctx.kernel.other_task(target(ctx, pid)?).policy;
    Ok(u64::from(policy.number | if policy.reset_on_fork { SCHED_RESET_ON_FORK } else { 0 }))
}

/// sched_setparam(2).
fn sched_setparam(ctx: &mut Ctx, [pid, param, ..]: [u64; 6]) -> SysResult {
    if param == 0 || (pid as i32) < 0 {
        return Err(Errno::EINVAL.into());
    }
    let priority = get_u32(ctx.mem, param)?;
    let task = target(ctx, pid)?;
    let policy = ctx.kernel.other_task(task).policy;
    set_policy(ctx, task, Policy { priority, ..policy }, None, [0; 3])?;
    Ok(0)
}

/// sched_getparam(2).
fn sched_getparam(ctx: &mut Ctx, [pid, param, ..]: [u64; 6]) -> SysResult {
    if param == 0 {
        return Err(Errno::EINVAL.into());
    }
    let priority = match pid as i32 {
        PPID => 0,
        _ => ctx.kernel.other_task(target(ctx, pid)?).policy.priority,
    };
    put_u32(ctx.mem, param, priority)?;
    Ok(0)
}

/// sched_get_priority_max(2).
fn sched_get_priority_max(_: &mut Ctx, [policy, ..]: [u64; 6]) -> SysResult {
    match policy as u32 {
        SCHED_FIFO | SCHED_RR => Ok(99),
        SCHED_OTHER | SCHED_BATCH | SCHED_IDLE | SCHED_DEADLINE | SCHED_EXT => Ok(0),
        _ => Err(Errno::EINVAL.into()),
    }
}

/// sched_get_priority_min(2).
fn sched_get_priority_min(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    sched_get_priority_max(ctx, args).map(|max| max.min(1))
}

/// sched_rr_get_interval(2): the turn of a SCHED_RR task; an ordinary one alone on its CPU has no
/// slice.
fn sched_rr_get_interval(ctx: &mut Ctx, [pid, addr, ..]: [u64; 6]) -> SysResult {
    let task = target(ctx, pid)?;
    let rotates = ctx.kernel.other_task(task).policy.number == SCHED_RR;
    put_timespec(ctx.mem, addr, if rotates { ctx.kernel.round_robin_turn() } else { 0 })?;
    Ok(0)
}

/// sched_getaffinity(2): the size of the kernel's mask is the result.
fn sched_getaffinity(ctx: &mut Ctx, [pid, size, mask, ..]: [u64; 6]) -> SysResult {
    let size = u64::from(size as u32);
    // Linux counts bits, in 32 bits.
    if size < CPUMASK_SIZE || (size as u32).wrapping_mul(8) == 0 || !size.is_multiple_of(8) {
        return Err(Errno::EINVAL.into());
    }
    if ctx.kernel.global_pid(pid as i32) != PPID {
        target(ctx, pid).map_err(|_| Errno::ESRCH)?;
    }
    put_words(ctx.mem, mask, &[1])?;
    Ok(CPUMASK_SIZE)
}

/// sched_setaffinity(2): the mask must hold the one CPU.
fn sched_setaffinity(ctx: &mut Ctx, [pid, size, mask, ..]: [u64; 6]) -> SysResult {
    // As many bytes as Linux has of 64 CPUs.
    let mut bytes = [0; 8];
    copy_from_user(ctx.mem, mask, &mut bytes[..(size as u32).min(8) as usize])?;
    let task = target(ctx, pid).map_err(|_| Errno::ESRCH)?;
    owns(ctx, task)?;
    outranks(ctx, task)?;
    if bytes[0] & 1 == 0 {
        return Err(Errno::EINVAL.into());
    }
    Ok(0)
}

/// getcpu(2).
fn getcpu(ctx: &mut Ctx, [cpu, node, ..]: [u64; 6]) -> SysResult {
    // Both are written before a bad address is told of.
    let put = [cpu, node].map(|addr| if addr == 0 { Ok(()) } else { put_u32(ctx.mem, addr, 0) });
    put[0].and(put[1])?;
    Ok(0)
}

/// sched_setattr(2).
fn sched_setattr(ctx: &mut Ctx, [pid, attr, flags, ..]: [u64; 6]) -> SysResult {
    if attr == 0 || (pid as i32) < 0 || flags as u32 != 0 {
        return Err(Errno::EINVAL.into());
    }
    let size = match get_u32(ctx.mem, attr)? {
        0 => SCHED_ATTR_SIZE_VER0,
        size => size,
    };
    let mut bytes = [0; PAGE_SIZE as usize];
    let fits = (SCHED_ATTR_SIZE_VER0..=PAGE_SIZE as u32).contains(&size);
    if fits {
        copy_from_user(ctx.mem, attr, &mut bytes[..size as usize])?;
    }
    // What a later kernel would understand must be zero; the answer is the size that is known.
    if !fits || bytes[SCHED_ATTR_SIZE_VER1 as usize..].iter().any(|byte| *byte != 0) {
        put_u32(ctx.mem, attr, SCHED_ATTR_SIZE_VER1)?;
        return Err(Errno::E2BIG.into());
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (number, priority, nice) = (word(4), word(20), word(16) as i32);
    let flags = u64::from(word(8)) | u64::from(word(12)) << 32;
    if flags & SCHED_FLAG_UTIL_CLAMP != 0 && size < SCHED_ATTR_SIZE_VER1 || (number as i32) < 0 {
        return Err(Errno::EINVAL.into());
    }
    let task = target(ctx, pid)?;
    let (old, old_nice) = (ctx.kernel.other_task(task).policy, ctx.kernel.other_task(task).nice);
    let keep = flags & SCHED_FLAG_KEEP_PARAMS != 0;
    let new = Policy {
        number: if flags & SCHED_FLAG_KEEP_POLICY != 0 { old.number } else { number },
        priority: if keep { old.priority } else { priority },
        reset_on_fork: flags & SCHED_FLAG_RESET_ON_FORK != 0,
    };
    if flags & !SCHED_FLAG_ALL != 0 {
        return Err(Errno::EINVAL.into());
    }
    if flags & SCHED_FLAG_UTIL_CLAMP != 0 {
        ctx.kernel.notices.once("sched_setattr: SCHED_FLAG_UTIL_CLAMP is refused with EOPNOTSUPP".into());
        return Err(Errno::EOPNOTSUPP.into());
    }
    let times = [24, 32, 40].map(|at| u64::from(word(at)) | u64::from(word(at + 4)) << 32);
    set_policy(ctx, task, new, Some(if keep { old_nice } else { nice.clamp(-20, 19) }), times)?;
    Ok(0)
}

/// sched_getattr(2).
fn sched_getattr(ctx: &mut Ctx, [pid, attr, size, flags, ..]: [u64; 6]) -> SysResult {
    let size = size as u32;
    if attr == 0 || flags as u32 != 0 || !(SCHED_ATTR_SIZE_VER0..=PAGE_SIZE as u32).contains(&size) {
        return Err(Errno::EINVAL.into());
    }
    let task = target(ctx, pid)?;
    let size = size.min(SCHED_ATTR_SIZE_VER1);
    let (policy, nice) = (ctx.kernel.other_task(task).policy, ctx.kernel.other_task(task).nice);
    let ordinary = matches!(policy.number, SCHED_OTHER | SCHED_BATCH);
    let reset = if policy.reset_on_fork { SCHED_FLAG_RESET_ON_FORK } else { 0 };
    let mut bytes = [0; SCHED_ATTR_SIZE_VER1 as usize];
    bytes[..4].copy_from_slice(&size.to_le_bytes());
    bytes[4..8].copy_from_slice(&policy.number.to_le_bytes());
    bytes[8..16].copy_from_slice(&reset.to_le_bytes());
    bytes[16..20].copy_from_slice(&if ordinary { nice } else { 0 }.to_le_bytes());
    bytes[20..24].copy_from_slice(&policy.priority.to_le_bytes());
    copy_to_user(ctx.mem, attr, &bytes[..size as usize])?;
    Ok(0)
}

/// ioprio_set(2).
fn ioprio_set(ctx: &mut Ctx, [which, who, ioprio, ..]: [u64; 6]) -> SysResult {
    // IOPRIO_CLASS_*.
    const NONE: u32 = 0;
    const REALTIME: u32 = 1;
    const BEST_EFFORT: u32 = 2;
    const IDLE: u32 = 3;
    let ioprio = ioprio as u32;
    let (class, level) = (ioprio >> 13 & 7, ioprio & 7);
    match class {
        REALTIME if !capable(ctx, CAP_SYS_ADMIN) && !capable(ctx, CAP_SYS_NICE) => {
            return Err(Errno::EPERM.into());
        }
        REALTIME | BEST_EFFORT | IDLE => {}
        NONE if level == 0 => {}
        _ => return Err(Errno::EINVAL.into()),
    }
    for task in named(ctx, which.wrapping_sub(1), who)? {
        let uid = ctx.kernel.other_task(task).cred.uid.real;
        let own = ctx.kernel.task().cred.uid;
        if uid != own.effective && uid != own.real && !capable(ctx, CAP_SYS_NICE) {
            return Err(Errno::EPERM.into());
        }
        outranks(ctx, task)?;
        ctx.kernel.other_task_mut(task).ioprio = ioprio;
    }
    Ok(0)
}

/// ioprio_get(2).
fn ioprio_get(ctx: &mut Ctx, [which, who, ..]: [u64; 6]) -> SysResult {
    let best =
        named(ctx, which.wrapping_sub(1), who)?.into_iter().map(|task| ctx.kernel.other_task(task).ioprio);
    // A class of 0 stands for best effort in the middle; lower numbers are better.
    Ok(u64::from(best.min_by_key(|ioprio| if *ioprio == 0 { 2 << 13 | 4 } else { *ioprio }).unwrap_or(0)))
}
