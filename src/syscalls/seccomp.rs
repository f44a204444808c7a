//! seccomp(2) and what else stands before a system call: filters, and the user's own dispatch.

use crate::abi::capability::CAP_SYS_ADMIN;
use crate::abi::errno::Errno;
use crate::abi::seccomp::*;
use crate::abi::signal::si_code::{SYS_SECCOMP, SYS_USER_DISPATCH};
use crate::abi::signal::signo::{SIGKILL, SIGSEGV, SIGSYS};
use crate::guest::USER_END;
use crate::kernel::process::Status;
use crate::kernel::seccomp::{Call, Filter, UserDispatch};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::task::Task;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_array, get_u32, get_words};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, partial};

/// The call of this file.
pub(super) const ROWS: &[Row] = &[partial(
    317,
    "seccomp",
    seccomp,
    "no listener: SECCOMP_FILTER_FLAG_NEW_LISTENER is EINVAL; SECCOMP_RET_LOG says it in the log",
)];

/// Largest error number of a filter.
const MAX_ERRNO: u32 = 4095;

/// Lets a call through, or sends it back to the program where its own dispatch asks for it.
pub(super) fn dispatch(ctx: &mut Ctx, number: u32, args: [u64; 6]) -> Result<(), Break> {
    let Some(dispatch) = ctx.kernel.task().user_dispatch else { return Ok(()) };
    let call = Call { number, rip: ctx.cpu.rip(), args };
    user_dispatch(ctx, dispatch, &call)
}

/// Lets a call through that the filters allow, or says what becomes of it instead. With `told` the
/// tracer was told of it already.
pub(super) fn filters(ctx: &mut Ctx, number: u32, args: [u64; 6], told: bool) -> Result<(), Break> {
    let task = ctx.kernel.task();
    if task.seccomp.mode() == 0 || task.tracing.suspends_seccomp() {
        return Ok(());
    }
    let call = Call { number, rip: ctx.cpu.rip(), args };
    filtered(ctx, &call, told)
}

/// Sends the call back to the program where its own dispatch asks for it.
fn user_dispatch(ctx: &mut Ctx, dispatch: UserDispatch, call: &Call) -> Result<(), Break> {
    if call.rip.wrapping_sub(dispatch.start) < dispatch.len {
        return Ok(());
    }
    let info = SigInfo::sigsys(SYS_USER_DISPATCH, call.number, call.rip, 0);
    if dispatch.selector != 0 {
        match get_array(ctx.mem, dispatch.selector) {
            Ok([SYSCALL_DISPATCH_FILTER_ALLOW]) => return Ok(()),
            Ok([SYSCALL_DISPATCH_FILTER_BLOCK]) => {}
            Ok(_) => ctx.kernel.signals().force_exit(info),
            Err(_) => ctx.kernel.signals().force_exit(SigInfo::kernel(SIGSEGV)),
        }
    }
    ctx.kernel.signals().force(info);
    Err(Break::Resume)
}

/// Carries out the verdict of the filters.
fn filtered(ctx: &mut Ctx, call: &Call, told: bool) -> Result<(), Break> {
    let seccomp = &ctx.kernel.task().seccomp;
    let (verdict, mode) = (seccomp.verdict(call), seccomp.mode());
    let data = verdict & SECCOMP_RET_DATA;
    let info = SigInfo::sigsys(SYS_SECCOMP, call.number, call.rip, data as u16);
    match verdict & SECCOMP_RET_ACTION_FULL {
        SECCOMP_RET_ALLOW => return Ok(()),
        SECCOMP_RET_LOG => {
            ctx.kernel.notices.count("seccomp: the filter logs system call ", &call.number.to_string());
            return Ok(());
        }
        SECCOMP_RET_ERRNO => {
            // Error 0 is a call that does nothing and succeeds.
            return Err(Errno(data.min(MAX_ERRNO) as u16).into());
        }
        SECCOMP_RET_TRACE if told => return Ok(()),
        SECCOMP_RET_TRACE if ctx.kernel.stops_for_seccomp(ctx.cpu, data.into()) => {
            return Err(Break::Traced);
        }
        // The tracer does not want to know, and nobody listens.
        SECCOMP_RET_TRACE | SECCOMP_RET_USER_NOTIF => return Err(Errno::ENOSYS.into()),
        SECCOMP_RET_TRAP => ctx.kernel.signals().force(info),
        SECCOMP_RET_KILL_THREAD if mode == SECCOMP_MODE_STRICT => {
            ctx.kernel.signals().force_exit(SigInfo::kernel(SIGKILL));
        }
        SECCOMP_RET_KILL_THREAD if ctx.kernel.process().tasks.len() > 1 => {
            ctx.kernel.exit_task(Status::killed(SIGSYS, false), ctx.cpu, ctx.mem);
            return Err(Break::Gone);
        }
        _ => ctx.kernel.signals().force_exit(info),
    }
    Err(Break::Resume)
}

/// seccomp(2).
fn seccomp(ctx: &mut Ctx, [operation, flags, args, ..]: [u64; 6]) -> SysResult {
    /// Sizes of `struct seccomp_notif`, `seccomp_notif_resp` and `seccomp_data`.
    const NOTIF_SIZES: [u8; 6] = [80, 0, 24, 0, SECCOMP_DATA_SIZE as u8, 0];
    // The kernel's prototype has `unsigned int` for both.
    let flags = u64::from(flags as u32);
    let plain = flags == 0;
    match operation as u32 {
        SECCOMP_SET_MODE_STRICT if plain && args == 0 => strict(ctx),
        SECCOMP_SET_MODE_FILTER => filter(ctx, flags, args),
        SECCOMP_GET_ACTION_AVAIL if plain => match get_u32(ctx.mem, args)? {
            SECCOMP_RET_KILL_PROCESS
            | SECCOMP_RET_KILL_THREAD
            | SECCOMP_RET_TRAP
            | SECCOMP_RET_ERRNO
            | SECCOMP_RET_TRACE
            | SECCOMP_RET_LOG
            | SECCOMP_RET_ALLOW => Ok(0),
            _ => Err(Errno::EOPNOTSUPP.into()),
        },
        SECCOMP_GET_NOTIF_SIZES if plain => {
            copy_to_user(ctx.mem, args, &NOTIF_SIZES)?;
            Ok(0)
        }
        _ => Err(Errno::EINVAL.into()),
    }
}

/// PR_SET_SECCOMP of prctl(2).
pub(super) fn set_mode(ctx: &mut Ctx, mode: u64, program: u64) -> SysResult {
    match mode {
        SECCOMP_MODE_STRICT => strict(ctx),
        SECCOMP_MODE_FILTER => filter(ctx, 0, program),
        _ => Err(Errno::EINVAL.into()),
    }
}

fn strict(ctx: &mut Ctx) -> SysResult {
    let task = ctx.kernel.task_mut();
    task.seccomp.set_strict()?;
    task.tsc_faults = true; // no clock for who is not trusted
    Ok(0)
}

/// Adds the filter of a `struct sock_fprog`, for the other threads too with
/// SECCOMP_FILTER_FLAG_TSYNC: 0, or a thread that has filters of its own.
fn filter(ctx: &mut Ctx, flags: u64, program: u64) -> SysResult {
    let sync = flags & SECCOMP_FILTER_FLAG_TSYNC != 0;
    let listener = flags & SECCOMP_FILTER_FLAG_NEW_LISTENER != 0;
    if flags & !SECCOMP_FILTER_FLAG_MASK != 0
        || sync && listener && flags & SECCOMP_FILTER_FLAG_TSYNC_ESRCH == 0
        || flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV != 0 && !listener
    {
        return Err(Errno::EINVAL.into());
    }
    if listener {
        ctx.kernel.notices.once("seccomp: SECCOMP_FILTER_FLAG_NEW_LISTENER is refused with EINVAL".into());
        return Err(Errno::EINVAL.into());
    }
    let filter = read_filter(ctx, program)?;
    let mut synced = ctx.kernel.task().seccomp.clone();
    synced.add(filter)?;
    if sync {
        let other = |task: &&mut Task| !task.seccomp.begins(&synced);
        let without = ctx.kernel.siblings_mut().find(other).map(|task| task.tid);
        if let Some(tid) = without {
            let esrch = flags & SECCOMP_FILTER_FLAG_TSYNC_ESRCH != 0;
            return if esrch { Err(Errno::ESRCH.into()) } else { Ok(ctx.kernel.shown_pid(tid) as u64) };
        }
        let no_new_privs = ctx.kernel.task().no_new_privs;
        for task in ctx.kernel.siblings_mut() {
            task.seccomp = synced.clone();
            task.no_new_privs |= no_new_privs;
        }
    }
    ctx.kernel.task_mut().seccomp = synced;
    Ok(0)
}

fn read_filter(ctx: &mut Ctx, program: u64) -> Result<Filter, Errno> {
    let [len, insns] = get_words(ctx.mem, program)?;
    let len = len as u16 as usize;
    if len == 0 || len > BPF_MAXINSNS {
        return Err(Errno::EINVAL);
    }
    let task = ctx.kernel.task();
    if !task.no_new_privs && !task.cred.capable_here(CAP_SYS_ADMIN) {
        return Err(Errno::EACCES);
    }
    let mut bytes = vec![0; len * 8];
    copy_from_user(ctx.mem, insns, &mut bytes)?;
    Filter::new(&bytes)
}

/// PR_SET_SYSCALL_USER_DISPATCH of prctl(2).
pub(super) fn user_dispatch_of(
    [mode, start, len, selector]: [u64; 4],
) -> Result<Option<UserDispatch>, Errno> {
    let (start, len) = match mode {
        PR_SYS_DISPATCH_OFF if start == 0 && len == 0 && selector == 0 => return Ok(None),
        // The range must not wrap around, and must not be empty beyond address 0.
        PR_SYS_DISPATCH_EXCLUSIVE_ON if start == 0 || start.wrapping_add(len) > start => (start, len),
        // What lies outside of the range is let through.
        PR_SYS_DISPATCH_INCLUSIVE_ON if len != 0 && start.wrapping_add(len) > start => {
            (start.wrapping_add(len), len.wrapping_neg())
        }
        _ => return Err(Errno::EINVAL),
    };
    if selector >= USER_END {
        return Err(Errno::EFAULT);
    }
    Ok(Some(UserDispatch { start, len, selector }))
}
