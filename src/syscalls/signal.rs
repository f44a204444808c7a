//! The calls about signals: actions, masks, waits, and sending.

use crate::abi::errno::Errno;
use crate::abi::signal::signo::{SIGBUS, SIGCHLD, SIGFPE, SIGILL, SIGRTMAX, SIGSEGV, SIGSYS, SIGTRAP};
use crate::abi::signal::*;
use crate::guest::Gpr;
use crate::kernel::sched::Wake;
use crate::kernel::send::Receivers;
use crate::kernel::signal::deliver::CompatMode;
use crate::kernel::signal::info::{SIGINFO_SIZE, SigInfo};
use crate::kernel::signal::state::{Restart, To};
use crate::kernel::uaccess::{
    copy_from_user, copy_to_user, get_timeout, get_u64, get_words, put_u64, put_words,
};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

/// Signal calls.
pub(super) const ROWS: &[Row] = &[
    full(13, "rt_sigaction", rt_sigaction),
    full(14, "rt_sigprocmask", rt_sigprocmask),
    full(15, "rt_sigreturn", rt_sigreturn),
    partial(34, "pause", pause, "the run stops where no timer can end the wait"),
    full(127, "rt_sigpending", rt_sigpending),
    partial(128, "rt_sigtimedwait", rt_sigtimedwait, "the run stops where nothing can end the wait"),
    partial(130, "rt_sigsuspend", rt_sigsuspend, "the run stops where no timer can end the wait"),
    full(131, "sigaltstack", sigaltstack),
    full(62, "kill", kill),
    full(129, "rt_sigqueueinfo", rt_sigqueueinfo),
    full(200, "tkill", tkill),
    full(234, "tgkill", tgkill),
    full(297, "rt_tgsigqueueinfo", rt_tgsigqueueinfo),
];

/// rt_sigaction(2).
fn rt_sigaction(ctx: &mut Ctx, [signo, act, oldact, size, ..]: [u64; 6]) -> SysResult {
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let signo = signo as i32;
    let new = match act {
        0 => None,
        act => {
            let [handler, flags, restorer, mask] = get_words(ctx.mem, act)?;
            Some(SigAction { handler, flags: flags & SA_FLAGS, restorer, mask: mask & !UNBLOCKABLE })
        }
    };
    if bit(signo) == 0 || new.is_some() && bit(signo) & UNBLOCKABLE != 0 {
        return Err(Errno::EINVAL.into());
    }
    let old = ctx.kernel.handlers().get(signo);
    if let Some(new) = new {
        ctx.kernel.signals().set_action(signo, new);
    }
    if oldact != 0 {
        put_words(ctx.mem, oldact, &[old.handler, old.flags, old.restorer, old.mask])?;
    }
    Ok(0)
}

/// rt_sigprocmask(2).
fn rt_sigprocmask(ctx: &mut Ctx, [how, set, oldset, size, ..]: [u64; 6]) -> SysResult {
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let old = ctx.kernel.task().signals.blocked;
    if set != 0 {
        let set = get_u64(ctx.mem, set)? & !UNBLOCKABLE;
        ctx.kernel.task_mut().signals.blocked = match how as i32 {
            SIG_BLOCK => old | set,
            SIG_UNBLOCK => old & !set,
            SIG_SETMASK => set,
            _ => return Err(Errno::EINVAL.into()),
        };
    }
    if oldset != 0 {
        put_u64(ctx.mem, oldset, old)?;
    }
    Ok(0)
}

/// rt_sigpending(2). A smaller set than the kernel's is filled as far as it goes.
fn rt_sigpending(ctx: &mut Ctx, [set, size, ..]: [u64; 6]) -> SysResult {
    if size > SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let signals = ctx.kernel.signals();
    let pending = (signals.pending() & signals.task.blocked).to_le_bytes();
    copy_to_user(ctx.mem, set, &pending[..size as usize])?;
    Ok(0)
}

/// rt_sigreturn(2).
fn rt_sigreturn(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(match ctx.kernel.signals().return_from_handler(ctx.cpu, ctx.mem) {
        Ok(()) => Break::Resume,
        Err(CompatMode) => Break::Refuse(
            "rt_sigreturn into 32-bit code: only 64-bit code is emulated; build the program without -m32"
                .into(),
        ),
    })
}

/// Waits for a signal that has a handler or ends the process.
fn wait_for_signal(ctx: &mut Ctx, call: &'static str) -> SysResult {
    match ctx.sleep(call, &[], None)? {
        Wake::Signal => Err(ctx.interrupted(Restart::Never)),
        Wake::Timeout | Wake::Event => Err(Break::Sleep),
    }
}

/// pause(2).
fn pause(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    wait_for_signal(ctx, "pause")
}

/// rt_sigsuspend(2).
fn rt_sigsuspend(ctx: &mut Ctx, [set, size, ..]: [u64; 6]) -> SysResult {
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let mask = get_u64(ctx.mem, set)?;
    ctx.mask_for_this_call(mask);
    wait_for_signal(ctx, "rt_sigsuspend")
}

/// rt_sigtimedwait(2).
fn rt_sigtimedwait(ctx: &mut Ctx, [set, info, timeout, size, ..]: [u64; 6]) -> SysResult {
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let wanted = get_u64(ctx.mem, set)? & !UNBLOCKABLE;
    let timeout = get_timeout(ctx.mem, timeout)?;
    ctx.kernel.expire_timers(ctx.cpu);
    let Some(found) = ctx.kernel.signals().dequeue(wanted) else {
        let deadline = timeout.map(|ns| ctx.deadline(ns));
        let call = &mut ctx.kernel.task_mut().call;
        (call.signals, call.frail) = (wanted, true);
        return Err(match ctx.sleep("rt_sigtimedwait", &[], deadline)? {
            Wake::Signal => ctx.interrupted(Restart::Fails),
            Wake::Timeout => Errno::EAGAIN.into(),
            Wake::Event => Break::Sleep,
        });
    };
    if info != 0 {
        copy_to_user(ctx.mem, info, found.bytes())?;
    }
    Ok(found.signo() as u64)
}

/// sigaltstack(2).
fn sigaltstack(ctx: &mut Ctx, [new, old, ..]: [u64; 6]) -> SysResult {
    let current = ctx.kernel.task().signals.altstack;
    if new != 0 {
        let [sp, flags, size] = get_words(ctx.mem, new)?;
        let new = AltStack { sp, flags: flags as u32, size };
        ctx.kernel.task_mut().signals.set_altstack(new, ctx.cpu.gpr(Gpr::Rsp))?;
    }
    if old != 0 {
        let state = if current.size == 0 {
            ss::DISABLE
        } else if current.active(ctx.cpu.gpr(Gpr::Rsp)) {
            ss::ONSTACK
        } else {
            0
        };
        let flags = state | current.flags & ss::AUTODISARM;
        put_words(ctx.mem, old, &[current.sp, u64::from(flags), current.size])?;
    }
    Ok(0)
}

/// EINVAL for a number that is neither a signal nor 0, the question whether the target exists.
pub(super) fn check(signo: i32) -> Result<(), Errno> {
    if (0..=SIGRTMAX).contains(&signo) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// kill(2).
fn kill(ctx: &mut Ctx, [pid, signo, ..]: [u64; 6]) -> SysResult {
    let (pid, signo) = (pid as i32, signo as i32);
    let to = match pid {
        i32::MIN => return Err(Errno::ESRCH.into()),
        -1 => Receivers::All,
        0 => Receivers::Group(ctx.kernel.process().pgid),
        pid if pid < 0 => Receivers::Group(ctx.kernel.global_pid(-pid)),
        pid => Receivers::Process(ctx.kernel.global_pid(pid)),
    };
    let info = ctx.kernel.signal_from_task(signo, si_code::SI_USER);
    send(ctx, to, signo, info)
}

/// Sends a signal to processes. In Linux nobody notices a bad number where nobody would get it.
fn send(ctx: &mut Ctx, to: Receivers, signo: i32, info: SigInfo) -> SysResult {
    ctx.kernel.kill(to, 0, None)?;
    check(signo)?;
    if let (Receivers::Process(pid), true) = (to, signo != 0)
        && let Some(task) = ctx.kernel.find_task(pid)
    {
        ctx.kernel.may_queue(task, &info)?;
    }
    ctx.kernel.kill(to, signo, Some(info))?;
    Ok(0)
}

/// tkill(2).
fn tkill(ctx: &mut Ctx, [tid, signo, ..]: [u64; 6]) -> SysResult {
    to_thread(ctx, None, tid as i32, signo as i32)
}

/// tgkill(2).
fn tgkill(ctx: &mut Ctx, [tgid, tid, signo, ..]: [u64; 6]) -> SysResult {
    to_thread(ctx, Some(tgid as i32), tid as i32, signo as i32)
}

fn to_thread(ctx: &mut Ctx, tgid: Option<i32>, tid: i32, signo: i32) -> SysResult {
    let info = ctx.kernel.signal_from_task(signo, si_code::SI_TKILL);
    send_to_task(ctx, tgid, tid, signo, info)
}

/// Sends a signal to a task, of a certain process if one is named.
fn send_to_task(ctx: &mut Ctx, tgid: Option<i32>, tid: i32, signo: i32, info: SigInfo) -> SysResult {
    if tid <= 0 || tgid.is_some_and(|tgid| tgid <= 0) {
        return Err(Errno::EINVAL.into());
    }
    let task = ctx.kernel.named_task(tid).ok_or(Errno::ESRCH)?;
    let process = ctx.kernel.other_task(task).shared.process;
    if tgid.is_some_and(|tgid| ctx.kernel.global_pid(tgid) != ctx.kernel.pid_of(process)) {
        return Err(Errno::ESRCH.into());
    }
    check(signo)?;
    ctx.kernel.may_signal(process, signo)?;
    ctx.kernel.may_queue(task, &info)?;
    ctx.kernel.send_signal(task, info, To::Task);
    Ok(0)
}

/// Tells if a signal claims to come from the kernel or from kill(2), which a program may only tell
/// itself.
fn is_forged(info: &SigInfo) -> bool {
    info.code() >= 0 || info.code() == si_code::SI_TKILL
}

/// Reads a `siginfo_t`, of this signal if it does not say itself of which one. Its rest is looked
/// at only where the code does not tell what is in it; EFAULT, E2BIG.
pub(super) fn get_siginfo(ctx: &mut Ctx, addr: u64, signo: Option<i32>) -> Result<SigInfo, Errno> {
    /// `sizeof(struct kernel_siginfo)`.
    const KNOWN: usize = 48;
    /// NSIGPOLL, the highest code of signals without codes of their own.
    const GENERAL: i32 = 6;
    let mut bytes = [0; SIGINFO_SIZE];
    copy_from_user(ctx.mem, addr, &mut bytes[..KNOWN])?;
    let signo = signo.unwrap_or_else(|| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let info = SigInfo::queued(signo, bytes);
    let highest = match signo {
        SIGILL => 11,
        SIGFPE => 15,
        SIGSEGV => 10,
        SIGBUS => 5,
        SIGTRAP => 6,
        SIGCHLD => 6,
        SIGSYS => 2,
        _ => GENERAL,
    };
    let known = match info.code() {
        si_code::SI_KERNEL | -60 => true,
        code if code > 0 => code <= highest,
        code => code >= -7,
    };
    if !known {
        copy_from_user(ctx.mem, addr.wrapping_add(KNOWN as u64), &mut bytes[KNOWN..])?;
        if bytes[KNOWN..].iter().any(|byte| *byte != 0) {
            return Err(Errno::E2BIG);
        }
    }
    Ok(info)
}

/// rt_sigqueueinfo(2).
fn rt_sigqueueinfo(ctx: &mut Ctx, [pid, signo, info, ..]: [u64; 6]) -> SysResult {
    let (pid, signo) = (ctx.kernel.global_pid(pid as i32), signo as i32);
    let info = get_siginfo(ctx, info, Some(signo))?;
    if is_forged(&info) && pid != ctx.kernel.task().tid {
        return Err(Errno::EPERM.into());
    }
    send(ctx, Receivers::Process(pid), signo, info)
}

/// rt_tgsigqueueinfo(2).
fn rt_tgsigqueueinfo(ctx: &mut Ctx, [tgid, tid, signo, info, ..]: [u64; 6]) -> SysResult {
    let (tgid, tid, signo) = (tgid as i32, tid as i32, signo as i32);
    let info = get_siginfo(ctx, info, Some(signo))?;
    if tgid > 0 && tid > 0 && ctx.kernel.global_pid(tid) != ctx.kernel.task().tid && is_forged(&info) {
        return Err(Errno::EPERM.into());
    }
    send_to_task(ctx, Some(tgid), tid, signo, info)
}

#[cfg(test)]
mod tests;
