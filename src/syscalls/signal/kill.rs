//! The calls that send signals. There is one process, so the only target is oneself.

use crate::abi::errno::Errno;
use crate::abi::signal::{bit, si_code, signo::SIGRTMAX};
use crate::kernel::arena::TaskId;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::To;
use crate::kernel::uaccess::get_array;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, partial};

const NOTE: &str = "only to the process itself";

/// Calls that send signals.
pub const ROWS: &[Row] = &[
    partial(62, "kill", kill, NOTE),
    partial(129, "rt_sigqueueinfo", rt_sigqueueinfo, NOTE),
    partial(200, "tkill", tkill, NOTE),
    partial(234, "tgkill", tgkill, NOTE),
    partial(297, "rt_tgsigqueueinfo", rt_tgsigqueueinfo, NOTE),
];

/// EINVAL for a number that is neither a signal nor 0, the question whether the target exists.
fn check(signo: i32) -> Result<(), Errno> {
    if (0..=SIGRTMAX).contains(&signo) { Ok(()) } else { Err(Errno::EINVAL) }
}

fn send_to_process(ctx: &mut Ctx, signo: i32, info: SigInfo) -> SysResult {
    check(signo)?;
    if bit(signo) != 0 {
        ctx.kernel.signals().send(info, To::Process);
    }
    Ok(0)
}

fn send_to_task(ctx: &mut Ctx, task: TaskId, signo: i32, info: SigInfo) -> SysResult {
    check(signo)?;
    if bit(signo) != 0 {
        ctx.kernel.signals_of(task).send(info, To::Task);
    }
    Ok(0)
}

/// kill(2).
fn kill(ctx: &mut Ctx, [pid, signo, ..]: [u64; 6]) -> SysResult {
    let (pid, signo) = (pid as i32, signo as i32);
    let process = ctx.kernel.process();
    let own_group = pid == 0 || pid < -1 && pid == -process.pgid;
    if pid != process.pid && !own_group {
        return Err(Errno::ESRCH.into());
    }
    let info = ctx.kernel.signal_from_task(signo, si_code::SI_USER);
    send_to_process(ctx, signo, info)
}

/// tkill(2).
fn tkill(ctx: &mut Ctx, [tid, signo, ..]: [u64; 6]) -> SysResult {
    to_thread(ctx, None, tid as i32, signo as i32)
}

/// tgkill(2).
fn tgkill(ctx: &mut Ctx, [tgid, tid, signo, ..]: [u64; 6]) -> SysResult {
    to_thread(ctx, Some(tgid as i32), tid as i32, signo as i32)
}

fn find_thread(ctx: &Ctx, tgid: Option<i32>, tid: i32) -> Result<TaskId, Errno> {
    if tid <= 0 || tgid.is_some_and(|tgid| tgid <= 0) {
        return Err(Errno::EINVAL);
    }
    if tgid.is_some_and(|tgid| tgid != ctx.kernel.process().pid) {
        return Err(Errno::ESRCH);
    }
    ctx.kernel.find_task(tid).ok_or(Errno::ESRCH)
}

fn to_thread(ctx: &mut Ctx, tgid: Option<i32>, tid: i32, signo: i32) -> SysResult {
    let task = find_thread(ctx, tgid, tid)?;
    let info = ctx.kernel.signal_from_task(signo, si_code::SI_TKILL);
    send_to_task(ctx, task, signo, info)
}

/// rt_sigqueueinfo(2).
fn rt_sigqueueinfo(ctx: &mut Ctx, [pid, signo, info, ..]: [u64; 6]) -> SysResult {
    let info = SigInfo::queued(signo as i32, get_array(ctx.mem, info)?);
    if pid as i32 != ctx.kernel.process().pid {
        let forged = info.code() >= 0 || info.code() == si_code::SI_TKILL;
        return Err(if forged { Errno::EPERM } else { Errno::ESRCH }.into());
    }
    send_to_process(ctx, signo as i32, info)
}

/// rt_tgsigqueueinfo(2).
fn rt_tgsigqueueinfo(ctx: &mut Ctx, [tgid, tid, signo, info, ..]: [u64; 6]) -> SysResult {
    let info = SigInfo::queued(signo as i32, get_array(ctx.mem, info)?);
    let task = find_thread(ctx, Some(tgid as i32), tid as i32)?;
    send_to_task(ctx, task, signo as i32, info)
}
