//! The calls about resource limits and usage.

use crate::abi::capability::CAP_SYS_RESOURCE;
use crate::abi::errno::Errno;
use crate::abi::resource::{RUSAGE_CHILDREN, RUSAGE_SELF, RUSAGE_THREAD, rusage};
use crate::kernel::process::Usage;
use crate::kernel::uaccess::{get_words, put_words};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

const NOTE: &str = "RSS is remembered but not enforced";

/// Limit calls.
pub(crate) const ROWS: &[Row] = &[
    full(97, "getrlimit", getrlimit),
    full(98, "getrusage", getrusage).noted("no system time"),
    partial(160, "setrlimit", setrlimit, NOTE),
    partial(302, "prlimit64", prlimit64, NOTE),
];

/// getrlimit(2).
fn getrlimit(ctx: &mut Ctx, [resource, addr, ..]: [u64; 6]) -> SysResult {
    let (soft, hard) = ctx.kernel.process().limits.numbered(resource)?;
    put_words(ctx.mem, addr, &[soft, hard])?;
    Ok(0)
}

/// setrlimit(2).
fn setrlimit(ctx: &mut Ctx, [resource, addr, ..]: [u64; 6]) -> SysResult {
    let [soft, hard] = get_words(ctx.mem, addr)?;
    let raise = ctx.kernel.task().cred.capable(CAP_SYS_RESOURCE);
    ctx.kernel.process_mut().limits.set(resource, soft, hard, raise)?;
    limit_growth(ctx);
    Ok(0)
}

/// Tells the memory how far stacks may grow.
fn limit_growth(ctx: &mut Ctx) {
    let (stack, total) = ctx.kernel.growth_limits();
    ctx.mem.limit_growth(stack, total);
}

/// prlimit(2).
fn prlimit64(ctx: &mut Ctx, [pid, resource, new, old, ..]: [u64; 6]) -> SysResult {
    let new = match new {
        0 => None,
        new => Some(get_words(ctx.mem, new)?),
    };
    let process = match pid as i32 {
        0 => ctx.kernel.task().shared.process,
        pid => {
            let task = ctx.kernel.named_task(pid).ok_or(Errno::ESRCH)?;
            ctx.kernel.may_limit(task)?;
            ctx.kernel.other_task(task).shared.process
        }
    };
    let (soft, hard) = ctx.kernel.other_process(process).limits.numbered(resource)?;
    if let Some([soft, hard]) = new {
        let raise = ctx.kernel.task().cred.capable(CAP_SYS_RESOURCE);
        ctx.kernel.other_process_mut(process).limits.set(resource, soft, hard, raise)?;
        if process == ctx.kernel.task().shared.process {
            limit_growth(ctx);
        }
    }
    if old != 0 {
        put_words(ctx.mem, old, &[soft, hard])?;
    }
    Ok(0)
}

/// getrusage(2). Time is that of the emulated clock.
fn getrusage(ctx: &mut Ctx, [who, addr, ..]: [u64; 6]) -> SysResult {
    let mut usage: [u64; 18];
    match who as i32 {
        who @ (RUSAGE_SELF | RUSAGE_THREAD) => {
            let now = ctx.cpu.instructions();
            let one = who == RUSAGE_THREAD;
            let used = if one { ctx.kernel.task_cpu(now) } else { ctx.kernel.process_cpu(now) };
            let memory = ctx.mem.usage();
            usage = rusage(used, memory.resident_peak.max(ctx.kernel.process().max_rss));
            usage[8] = memory.faults;
        }
        RUSAGE_CHILDREN => {
            let Usage { cpu, resident } = ctx.kernel.process().of_children;
            usage = rusage(cpu, resident);
        }
        _ => return Err(Errno::EINVAL.into()),
    }
    put_words(ctx.mem, addr, &usage)?;
    Ok(0)
}
