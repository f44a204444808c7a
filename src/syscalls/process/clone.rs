//! Making tasks: clone(2), clone3(2), fork(2), vfork(2).

use crate::abi::capability::{CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN};
use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::abi::signal::{bit, signo::SIGCHLD};
use crate::guest::{PAGE_SIZE, USER_END};
use crate::kernel::fork::CloneError;
use crate::kernel::uaccess::{copy_from_user, get_u32, put_u32};
use crate::syscalls::context::{Break, Ctx, Spawn, SysResult};
use crate::syscalls::fd::limit;
use crate::syscalls::process::pidfd;
use crate::syscalls::row::{Row, full, partial};

const NAMESPACES: &str = "CLONE_INTO_CGROUP and set_tid are refused";

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    partial(56, "clone", clone, NAMESPACES),
    full(57, "fork", fork),
    full(58, "vfork", vfork),
    partial(435, "clone3", clone3, NAMESPACES),
];

/// Arguments of clone3(2), `struct clone_args`.
#[derive(Clone, Copy, Debug, Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    /// The stack pointer of the new task; 0 for the caller's.
    stack: u64,
    tls: u64,
}

/// clone(2).
fn clone(ctx: &mut Ctx, [flags, stack, parent_tid, child_tid, tls, _]: [u64; 6]) -> SysResult {
    // As in Linux the flags are 32 bits wide here.
    let flags = flags & 0xffff_ffff;
    let exit_signal = flags & CSIGNAL;
    let flags = flags & !CSIGNAL;
    if flags & CLONE_PIDFD != 0 && flags & CLONE_PARENT_SETTID != 0 {
        return Err(Errno::EINVAL.into()); // both would be stored at the same address
    }
    make(ctx, CloneArgs { flags, pidfd: parent_tid, child_tid, parent_tid, exit_signal, stack, tls })
}

/// fork(2).
fn fork(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    make(ctx, CloneArgs { exit_signal: SIGCHLD as u64, ..CloneArgs::default() })
}

/// vfork(2).
fn vfork(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    let (flags, exit_signal) = (CLONE_VM | CLONE_VFORK, SIGCHLD as u64);
    make(ctx, CloneArgs { flags, exit_signal, ..CloneArgs::default() })
}

/// clone3(2).
fn clone3(ctx: &mut Ctx, [addr, size, ..]: [u64; 6]) -> SysResult {
    const FLAGS: u64 = 0xffff_ffff & !CSIGNAL | CLONE_CLEAR_SIGHAND | CLONE_INTO_CGROUP;
    if size > PAGE_SIZE {
        return Err(Errno::E2BIG.into());
    }
    if size < CLONE_ARGS_SIZE_VER0 {
        return Err(Errno::EINVAL.into());
    }
    let mut bytes = vec![0; size.max(CLONE_ARGS_SIZE_VER2) as usize];
    copy_from_user(ctx.mem, addr, &mut bytes[..size as usize])?;
    if bytes[CLONE_ARGS_SIZE_VER2 as usize..].iter().any(|byte| *byte != 0) {
        return Err(Errno::E2BIG.into());
    }
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at * 8 + byte]));
    let [flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls] =
        std::array::from_fn(word);
    let (set_tid, set_tid_size, cgroup) = (word(8), word(9), word(10));
    const MAX_PID_NS_LEVEL: u64 = 32;
    let bad_signal = exit_signal & !CSIGNAL != 0 || exit_signal > 64;
    let bad_set = set_tid_size > MAX_PID_NS_LEVEL || (set_tid == 0) != (set_tid_size == 0);
    let no_cgroup =
        flags & CLONE_INTO_CGROUP != 0 && (cgroup > i32::MAX as u64 || size < CLONE_ARGS_SIZE_VER2);
    if bad_set || bad_signal || no_cgroup {
        return Err(Errno::EINVAL.into());
    }
    let mut wanted = [0; 4 * MAX_PID_NS_LEVEL as usize];
    copy_from_user(ctx.mem, set_tid, &mut wanted[..4 * set_tid_size as usize])?;
    let stack_is_bad = match (stack, stack_size) {
        (0, size) => size > 0,
        (_, 0) => true,
        (stack, size) => stack.checked_add(size).is_none_or(|end| end > USER_END),
    };
    let bad_flags = flags & !FLAGS != 0
        || flags & (CLONE_DETACHED | CSIGNAL) != 0
        || flags & (CLONE_SIGHAND | CLONE_CLEAR_SIGHAND) == CLONE_SIGHAND | CLONE_CLEAR_SIGHAND
        || flags & (CLONE_THREAD | CLONE_PARENT) != 0 && exit_signal != 0;
    if bad_flags || stack_is_bad {
        return Err(Errno::EINVAL.into());
    }
    let args = CloneArgs { flags, pidfd, child_tid, parent_tid, exit_signal, stack: stack + stack_size, tls };
    check(flags)?;
    if flags & CLONE_INTO_CGROUP != 0 {
        return Err(Errno::EBADF.into()); // no descriptor is a cgroup
    }
    if set_tid_size > 0 {
        return Err(refused_set_tid(
            ctx,
            set_tid_size,
            u32::from_le_bytes([wanted[0], wanted[1], wanted[2], wanted[3]]),
        ));
    }
    make(ctx, args)
}

/// The answer to a wish for certain numbers: who may choose them is told that it is not done.
fn refused_set_tid(ctx: &mut Ctx, count: u64, wanted: u32) -> Break {
    let privileged =
        [CAP_SYS_ADMIN, CAP_CHECKPOINT_RESTORE].iter().any(|cap| ctx.kernel.task().cred.capable(*cap));
    if count > 1 || wanted as i32 <= 0 {
        return Errno::EINVAL.into();
    }
    if privileged {
        ctx.kernel.notices.once("clone3: set_tid is refused with EPERM".into());
    }
    Errno::EPERM.into()
}

/// Flags that do not go together, `copy_process`.
fn check(flags: u64) -> Result<(), Errno> {
    let has = |flag| flags & flag != 0;
    let wrong = has(CLONE_NEWNS) && has(CLONE_FS)
        || has(CLONE_NEWUSER) && has(CLONE_FS)
        || has(CLONE_THREAD) && !has(CLONE_SIGHAND)
        || has(CLONE_SIGHAND) && !has(CLONE_VM)
        || has(CLONE_THREAD) && (has(CLONE_NEWUSER) || has(CLONE_NEWPID))
        || has(CLONE_PIDFD) && (has(CLONE_DETACHED) || has(CLONE_THREAD));
    if wrong { Err(Errno::EINVAL) } else { Ok(()) }
}

/// Makes a task, in the order of `copy_process`.
fn make(ctx: &mut Ctx, args: CloneArgs) -> SysResult {
    let CloneArgs { flags, child_tid, parent_tid, .. } = args;
    let has = |flag| flags & flag != 0;
    check(flags)?;
    if has(CLONE_SETTLS) && args.tls >= USER_END {
        return Err(Errno::EPERM.into());
    }
    if has(CLONE_PIDFD) {
        // It must be writable before anything is made.
        get_u32(ctx.mem, args.pidfd)?;
        put_u32(ctx.mem, args.pidfd, 0)?;
        ctx.kernel.fds().has_room(limit(ctx))?;
    }
    let signal = args.exit_signal as i32;
    let task = match ctx.kernel.clone_task(flags, if bit(signal) == 0 { 0 } else { signal }, ctx.mem) {
        Ok(task) => task,
        Err(CloneError::Errno(errno)) => return Err(errno.into()),
        Err(CloneError::TooMany(most)) => {
            return Err(Break::Limit(format!(
                "the program has {most} processes and threads and wants more (--max-processes)"
            )));
        }
    };
    let tid = ctx.kernel.shown_pid(ctx.kernel.tid_of(task)) as u32;
    if has(CLONE_PIDFD) {
        let process = ctx.kernel.other_task(task).shared.process;
        let fd = pidfd::open(ctx, process, 0)?;
        put_u32(ctx.mem, args.pidfd, fd as u32)?;
    }
    if has(CLONE_PARENT_SETTID) {
        let _ = put_u32(ctx.mem, parent_tid, tid); // as in Linux it may fail
    }
    let now = ctx.now();
    let child = ctx.kernel.other_task_mut(task);
    child.started = now;
    if has(CLONE_CHILD_CLEARTID) {
        child.clear_child_tid = child_tid;
    }
    if has(CLONE_CHILD_SETTID) {
        child.set_child_tid = child_tid;
    }
    let stack = (args.stack != 0).then_some(args.stack);
    let tls = has(CLONE_SETTLS).then_some(args.tls);
    Err(Break::Spawn(Spawn { task, stack, tls }))
}
