//! Ending and waiting for tasks.

use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::kernel::uaccess::put_u64;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial, refused};

const NO_CHILD: &str = "ECHILD: there are no children";

/// Task calls.
pub(crate) const ROWS: &[Row] = &[
    full(60, "exit", exit),
    partial(61, "wait4", wait4, NO_CHILD),
    full(218, "set_tid_address", set_tid_address),
    full(231, "exit_group", exit),
    partial(247, "waitid", waitid, NO_CHILD),
    full(273, "set_robust_list", set_robust_list),
    full(274, "get_robust_list", get_robust_list),
    refused(334, "rseq", rseq, "ENOSYS, which C libraries take as \"do without\""),
];

/// _exit(2), exit_group(2). With one task they are the same.
fn exit(_: &mut Ctx, [status, ..]: [u64; 6]) -> SysResult {
    Err(Break::Exit(status as i32 & 0xff))
}

/// wait4(2).
fn wait4(_: &mut Ctx, [pid, _, options, ..]: [u64; 6]) -> SysResult {
    const OPTIONS: u32 = WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WALL | __WCLONE;
    if options as u32 & !OPTIONS != 0 {
        return Err(Errno::EINVAL.into());
    }
    Err(if pid as i32 == i32::MIN { Errno::ESRCH } else { Errno::ECHILD }.into())
}

/// waitid(2).
fn waitid(_: &mut Ctx, [which, id, _, options, ..]: [u64; 6]) -> SysResult {
    const EVENTS: u32 = WSTOPPED | WEXITED | WCONTINUED;
    const OPTIONS: u32 = EVENTS | WNOHANG | WNOWAIT | __WNOTHREAD | __WALL | __WCLONE;
    let options = options as u32;
    if options & !OPTIONS != 0 || options & EVENTS == 0 {
        return Err(Errno::EINVAL.into());
    }
    let id = id as i32;
    Err(match which as u32 {
        P_ALL => Errno::ECHILD,
        P_PID if id > 0 => Errno::ECHILD,
        P_PGID if id >= 0 => Errno::ECHILD,
        P_PIDFD if id >= 0 => Errno::EBADF,
        _ => Errno::EINVAL,
    }
    .into())
}

/// set_tid_address(2).
fn set_tid_address(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    let task = ctx.kernel.task_mut();
    task.clear_child_tid = addr;
    Ok(task.tid as u64)
}

/// set_robust_list(2).
fn set_robust_list(ctx: &mut Ctx, [head, len, ..]: [u64; 6]) -> SysResult {
    if len != ROBUST_LIST_HEAD {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.task_mut().robust_list = head;
    Ok(0)
}

/// get_robust_list(2).
fn get_robust_list(ctx: &mut Ctx, [pid, head, len, ..]: [u64; 6]) -> SysResult {
    if !ctx.kernel.process().is_self(pid) {
        return Err(Errno::ESRCH.into());
    }
    put_u64(ctx.mem, len, ROBUST_LIST_HEAD)?;
    put_u64(ctx.mem, head, ctx.kernel.task().robust_list)?;
    Ok(0)
}

/// rseq(2). Success would oblige us to keep the CPU number up to date in the program's memory.
fn rseq(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::ENOSYS.into())
}
