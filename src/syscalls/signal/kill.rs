//! The calls that send signals. There is one process, so the only target is oneself.

use crate::abi::errno::Errno;
use crate::syscalls::kernel::{Ctx, SysResult};
use crate::syscalls::process::{self, PID};
use crate::syscalls::table::{Row, Support};
use crate::syscalls::uaccess::get_array;

use super::info::{SigInfo, si_code};
use super::{bit, signo::SIGRTMAX};

const NOTE: &str = "only to the process itself";

/// Calls that send signals.
pub const ROWS: &[Row] = &[
    Row { number: 62, name: "kill", handler: kill, support: Support::Partial, note: NOTE },
    Row {
        number: 129,
        name: "rt_sigqueueinfo",
        handler: rt_sigqueueinfo,
        support: Support::Partial,
        note: NOTE,
    },
    Row { number: 200, name: "tkill", handler: tkill, support: Support::Partial, note: NOTE },
    Row { number: 234, name: "tgkill", handler: tgkill, support: Support::Partial, note: NOTE },
    Row {
        number: 297,
        name: "rt_tgsigqueueinfo",
        handler: rt_tgsigqueueinfo,
        support: Support::Partial,
        note: NOTE,
    },
];

/// EINVAL for a number that is neither a signal nor 0, the question whether the target exists.
fn check(signo: i32) -> Result<(), Errno> {
    if (0..=SIGRTMAX).contains(&signo) { Ok(()) } else { Err(Errno::EINVAL) }
}

fn send(ctx: &mut Ctx, signo: i32, info: SigInfo, to_task: bool) -> SysResult {
    check(signo)?;
    if bit(signo) != 0 {
        ctx.kernel.signals.send(info, to_task);
    }
    Ok(0)
}

/// kill(2).
fn kill(ctx: &mut Ctx, [pid, signo, ..]: [u64; 6]) -> SysResult {
    let (pid, signo) = (pid as i32, signo as i32);
    let own_group = pid == 0 || pid < -1 && pid == -ctx.kernel.process.pgid;
    if pid != PID && !own_group {
        return Err(Errno::ESRCH.into());
    }
    let info = SigInfo::user(signo, si_code::SI_USER, PID as u32, process::host_uid());
    send(ctx, signo, info, false)
}

/// tkill(2).
fn tkill(ctx: &mut Ctx, [tid, signo, ..]: [u64; 6]) -> SysResult {
    to_thread(ctx, None, tid as i32, signo as i32)
}

/// tgkill(2).
fn tgkill(ctx: &mut Ctx, [tgid, tid, signo, ..]: [u64; 6]) -> SysResult {
    to_thread(ctx, Some(tgid as i32), tid as i32, signo as i32)
}

fn find_thread(tgid: Option<i32>, tid: i32) -> Result<(), Errno> {
    if tid <= 0 || tgid.is_some_and(|tgid| tgid <= 0) {
        return Err(Errno::EINVAL);
    }
    if tid != PID || tgid.is_some_and(|tgid| tgid != PID) {
        return Err(Errno::ESRCH);
    }
    Ok(())
}

fn to_thread(ctx: &mut Ctx, tgid: Option<i32>, tid: i32, signo: i32) -> SysResult {
    find_thread(tgid, tid)?;
    let info = SigInfo::user(signo, si_code::SI_TKILL, PID as u32, process::host_uid());
    send(ctx, signo, info, true)
}

/// rt_sigqueueinfo(2).
fn rt_sigqueueinfo(ctx: &mut Ctx, [pid, signo, info, ..]: [u64; 6]) -> SysResult {
    let info = SigInfo::queued(signo as i32, get_array(ctx.mem, info)?);
    if pid as i32 != PID {
        let forged = info.code() >= 0 || info.code() == si_code::SI_TKILL;
        return Err(if forged { Errno::EPERM } else { Errno::ESRCH }.into());
    }
    send(ctx, signo as i32, info, false)
}

/// rt_tgsigqueueinfo(2).
fn rt_tgsigqueueinfo(ctx: &mut Ctx, [tgid, tid, signo, info, ..]: [u64; 6]) -> SysResult {
    let info = SigInfo::queued(signo as i32, get_array(ctx.mem, info)?);
    find_thread(Some(tgid as i32), tid as i32)?;
    send(ctx, signo as i32, info, true)
}
