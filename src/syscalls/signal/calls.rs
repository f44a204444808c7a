//! The calls that set and wait for signals.

use crate::abi::errno::Errno;
use crate::guest::Gpr;
use crate::syscalls::kernel::{Break, Ctx, SysResult};
use crate::syscalls::table::{Row, Support};
use crate::syscalls::time::{self, wait::Wake};
use crate::syscalls::uaccess::{copy_to_user, get_u64, get_words, put_u64, put_words};

use super::frame::{self, BadFrame};
use super::info::SigInfo;
use super::{AltStack, Restart, SigAction, UNBLOCKABLE, bit, deliver, signo::*, ss};

/// Bytes of the kernel's `sigset_t`.
const SIGSET_SIZE: u64 = 8;
/// Least size of an alternate stack. 2048 in the headers; the kernel needs no more without XSAVE.
const MINSIGSTKSZ: u64 = 2048;
/// Flags that sigaction(2) keeps; it clears the others, so that programs can tell what is known.
const SA_FLAGS: u64 = 0xdc00_0807;

/// Signal calls.
pub const ROWS: &[Row] = &[
    Row { number: 13, name: "rt_sigaction", handler: rt_sigaction, support: Support::Full, note: "" },
    Row { number: 14, name: "rt_sigprocmask", handler: rt_sigprocmask, support: Support::Full, note: "" },
    Row { number: 15, name: "rt_sigreturn", handler: rt_sigreturn, support: Support::Full, note: "" },
    Row {
        number: 34,
        name: "pause",
        handler: pause,
        support: Support::Partial,
        note: "the run stops where no timer can end the wait",
    },
    Row { number: 127, name: "rt_sigpending", handler: rt_sigpending, support: Support::Full, note: "" },
    Row {
        number: 128,
        name: "rt_sigtimedwait",
        handler: rt_sigtimedwait,
        support: Support::Partial,
        note: "the run stops where nothing can end the wait",
    },
    Row {
        number: 130,
        name: "rt_sigsuspend",
        handler: rt_sigsuspend,
        support: Support::Partial,
        note: "the run stops where no timer can end the wait",
    },
    Row { number: 131, name: "sigaltstack", handler: sigaltstack, support: Support::Full, note: "" },
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
    let old = ctx.kernel.signals.action(signo);
    if let Some(new) = new {
        ctx.kernel.signals.set_action(signo, new);
    }
    if oldact != 0 {
        put_words(ctx.mem, oldact, &[old.handler, old.flags, old.restorer, old.mask])?;
    }
    Ok(0)
}

/// rt_sigprocmask(2).
fn rt_sigprocmask(ctx: &mut Ctx, [how, set, oldset, size, ..]: [u64; 6]) -> SysResult {
    const SIG_BLOCK: i32 = 0;
    const SIG_UNBLOCK: i32 = 1;
    const SIG_SETMASK: i32 = 2;
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let old = ctx.kernel.signals.task.blocked;
    if set != 0 {
        let set = get_u64(ctx.mem, set)? & !UNBLOCKABLE;
        ctx.kernel.signals.task.blocked = match how as i32 {
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
    let signals = &ctx.kernel.signals;
    let pending = (signals.pending() & signals.task.blocked).to_le_bytes();
    copy_to_user(ctx.mem, set, &pending[..size as usize])?;
    Ok(0)
}

/// rt_sigreturn(2).
fn rt_sigreturn(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    match frame::pop(ctx.cpu, ctx.mem) {
        Ok(popped) => {
            ctx.kernel.signals.task.blocked = popped.mask & !UNBLOCKABLE;
            // Linux ignores a bad `uc_stack` here.
            let _ = set_altstack(ctx, popped.altstack);
        }
        Err(BadFrame::Fault) => ctx.kernel.signals.force(SigInfo::kernel(SIGSEGV)),
        Err(BadFrame::CompatMode) => {
            return Err(Break::Refuse("rt_sigreturn into 32-bit code: only 64-bit code is emulated".into()));
        }
    }
    Err(Break::Resume)
}

/// The message for a wait that nothing can end.
fn endless(call: &str) -> Break {
    Break::Refuse(format!(
        "{call}: waits for a signal that cannot come: no timer and no other process is running"
    ))
}

/// pause(2).
fn pause(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    match time::wait::wait(ctx, None, 0) {
        Wake::Signal => Err(deliver::interrupted(ctx, Restart::Never)),
        Wake::Timeout | Wake::Never => Err(endless("pause")),
    }
}

/// rt_sigsuspend(2).
fn rt_sigsuspend(ctx: &mut Ctx, [set, size, ..]: [u64; 6]) -> SysResult {
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let mask = get_u64(ctx.mem, set)?;
    ctx.kernel.signals.set_temporary_mask(mask);
    match time::wait::wait(ctx, None, 0) {
        Wake::Signal => Err(deliver::interrupted(ctx, Restart::Never)),
        Wake::Timeout | Wake::Never => Err(endless("rt_sigsuspend")),
    }
}

/// rt_sigtimedwait(2).
fn rt_sigtimedwait(ctx: &mut Ctx, [set, info, timeout, size, ..]: [u64; 6]) -> SysResult {
    if size != SIGSET_SIZE {
        return Err(Errno::EINVAL.into());
    }
    let wanted = get_u64(ctx.mem, set)? & !UNBLOCKABLE;
    let deadline = match timeout {
        0 => None,
        timeout => Some(time::get_timespec(ctx.mem, timeout)?),
    };
    time::timers::expire(ctx);
    let mut found = ctx.kernel.signals.dequeue(wanted);
    if found.is_none() {
        let deadline = deadline.map(|ns| time::now(ctx).saturating_add(ns));
        let wake = time::wait::wait(ctx, deadline, wanted);
        found = ctx.kernel.signals.dequeue(wanted);
        match wake {
            _ if found.is_some() => {}
            Wake::Signal => return Err(deliver::interrupted(ctx, Restart::Never)),
            Wake::Timeout => return Err(Errno::EAGAIN.into()),
            Wake::Never => return Err(endless("rt_sigtimedwait")),
        }
    }
    let found = found.ok_or(Errno::EAGAIN)?;
    if info != 0 {
        copy_to_user(ctx.mem, info, found.bytes())?;
    }
    Ok(found.signo() as u64)
}

/// Sets the alternate stack (`do_sigaltstack`); the stack pointer says whether it is in use.
fn set_altstack(ctx: &mut Ctx, new: AltStack) -> Result<(), Errno> {
    let current = ctx.kernel.signals.task.altstack;
    if current.active(ctx.cpu.gpr(Gpr::Rsp)) {
        return Err(Errno::EPERM);
    }
    let mode = new.flags & !ss::AUTODISARM;
    if !matches!(mode, 0 | ss::ONSTACK | ss::DISABLE) {
        return Err(Errno::EINVAL);
    }
    let set = if mode == ss::DISABLE {
        AltStack { sp: 0, size: 0, flags: new.flags }
    } else if new.size < MINSIGSTKSZ {
        return Err(Errno::ENOMEM);
    } else {
        new
    };
    ctx.kernel.signals.task.altstack = set;
    Ok(())
}

/// sigaltstack(2).
fn sigaltstack(ctx: &mut Ctx, [new, old, ..]: [u64; 6]) -> SysResult {
    let current = ctx.kernel.signals.task.altstack;
    if new != 0 {
        let [sp, flags, size] = get_words(ctx.mem, new)?;
        set_altstack(ctx, AltStack { sp, flags: flags as u32, size })?;
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
