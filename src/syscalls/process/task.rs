//! Ending tasks and processes, and waiting for children.

use crate::abi::errno::Errno;
use crate::abi::fs::O_NONBLOCK;
use crate::abi::process::*;
use crate::abi::resource::rusage;
use crate::abi::signal::signo::SIGCHLD;
use crate::kernel::children::{News, Which};
use crate::kernel::process::Status;
use crate::kernel::sched::WaitKey;
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::{copy_to_user, put_u32, put_u64, put_words};
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::row::{Row, full, refused};

/// Task calls.
pub(crate) const ROWS: &[Row] = &[
    full(60, "exit", exit),
    full(61, "wait4", wait4),
    full(218, "set_tid_address", set_tid_address),
    full(231, "exit_group", exit_group),
    full(247, "waitid", waitid),
    full(273, "set_robust_list", set_robust_list),
    full(274, "get_robust_list", get_robust_list),
    refused(334, "rseq", rseq, "ENOSYS as under Valgrind 3.19, or C libraries would execute other code"),
];

/// _exit(2): ends the task.
fn exit(ctx: &mut Ctx, [status, ..]: [u64; 6]) -> SysResult {
    let status = Status::exited(status as i32);
    if ctx.kernel.stops_at_end(ctx.cpu, status, None) {
        return Err(Break::Traced);
    }
    ctx.kernel.exit_task(status, ctx.cpu, ctx.mem);
    Err(Break::Gone)
}

/// exit_group(2): ends the process.
fn exit_group(ctx: &mut Ctx, [status, ..]: [u64; 6]) -> SysResult {
    let status = Status::exited(status as i32);
    if ctx.kernel.stops_at_end(ctx.cpu, status, None) {
        return Err(Break::Traced);
    }
    ctx.kernel.exit_process(status, ctx.cpu, ctx.mem);
    Err(Break::Gone)
}

/// Waits for news of a child; `None` with WNOHANG if there are none yet.
fn wait(ctx: &mut Ctx, which: Which, options: u32) -> Result<Option<News>, Break> {
    if let Some(news) = ctx.kernel.news_of_child(which, options)? {
        return Ok(Some(news));
    }
    if options & WNOHANG != 0 {
        return Ok(None);
    }
    let process = ctx.kernel.task().shared.process;
    let stops = (options & WSTOPPED != 0).then_some(WaitKey::StoppedChild(process));
    let continues = (options & WCONTINUED != 0).then_some(WaitKey::ContinuedChild(process));
    let keys: Vec<WaitKey> = [WaitKey::Child(process)].into_iter().chain(stops).chain(continues).collect();
    ctx.sleep("wait for a child", &keys, None)?;
    Err(ctx.interrupted(Restart::WithFlag))
}

/// wait4(2).
fn wait4(ctx: &mut Ctx, [pid, status, options, usage, ..]: [u64; 6]) -> SysResult {
    const OPTIONS: u32 = WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WALL | __WCLONE;
    let options = options as u32;
    if options & !OPTIONS != 0 {
        return Err(Errno::EINVAL.into());
    }
    let which = match pid as i32 {
        i32::MIN => return Err(Errno::ESRCH.into()),
        -1 => Which::All,
        0 => Which::Group(ctx.kernel.process().pgid),
        pid if pid < 0 => Which::Group(ctx.kernel.global_pid(-pid)),
        pid => Which::Pid(ctx.kernel.global_pid(pid)),
    };
    let Some(news) = wait(ctx, which, options | WEXITED)? else { return Ok(0) };
    if status != 0 {
        put_u32(ctx.mem, status, news.status)?;
    }
    if usage != 0 {
        put_words(ctx.mem, usage, &rusage(news.used.cpu, news.used.resident))?;
    }
    Ok(news.pid as u64)
}

/// waitid(2). The structure is written after an error too, as of no child.
fn waitid(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    let (news, error) = match wait_id(ctx, args) {
        Ok(news) => (news, None),
        Err(Break::Errno(errno)) if errno != Errno::EFAULT => (None, Some(errno)),
        Err(why) => return Err(why),
    };
    let info = args[2];
    if info != 0 {
        // As in Linux it is only filled as far as it has a meaning.
        let signo = if news.is_some() { SIGCHLD as u32 } else { 0 };
        let News { code, pid, uid, value, .. } = news.unwrap_or_default();
        let words = [signo, 0, code as u32, pid as u32, uid, value as u32];
        for (at, word) in [0, 4, 8, 16, 20, 24].into_iter().zip(words) {
            copy_to_user(ctx.mem, info.wrapping_add(at), &word.to_le_bytes())?;
        }
    }
    error.map_or(Ok(0), |errno| Err(errno.into()))
}

/// Waits as waitid(2) is asked to, and tells of the child's use of resources.
fn wait_id(ctx: &mut Ctx, [which, id, _, options, usage, _]: [u64; 6]) -> Result<Option<News>, Break> {
    const EVENTS: u32 = WSTOPPED | WEXITED | WCONTINUED;
    const OPTIONS: u32 = EVENTS | WNOHANG | WNOWAIT | __WNOTHREAD | __WALL | __WCLONE;
    let mut options = options as u32;
    if options & !OPTIONS != 0 || options & EVENTS == 0 {
        return Err(Errno::EINVAL.into());
    }
    let id = id as i32;
    let mut nonblocking = false;
    let which = match which as u32 {
        P_ALL => Which::All,
        P_PID if id > 0 => Which::Pid(ctx.kernel.global_pid(id)),
        P_PGID if id > 0 => Which::Group(ctx.kernel.global_pid(id)),
        P_PGID if id == 0 => Which::Group(ctx.kernel.process().pgid),
        P_PIDFD if id >= 0 => {
            let open = ctx.kernel.file(id)?;
            nonblocking = open.flags & O_NONBLOCK != 0;
            Which::Process(open.ops.process().ok_or(Errno::EBADF)?)
        }
        _ => return Err(Errno::EINVAL.into()),
    };
    if nonblocking {
        options |= WNOHANG;
    }
    let news = wait(ctx, which, options)?;
    if news.is_none() && nonblocking {
        return Err(Errno::EAGAIN.into());
    }
    if let Some(news) = news.filter(|_| usage != 0) {
        put_words(ctx.mem, usage, &rusage(news.used.cpu, news.used.resident))?;
    }
    Ok(news)
}

/// set_tid_address(2).
fn set_tid_address(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.task_mut().clear_child_tid = addr;
    Ok(ctx.kernel.own_tid(ctx.kernel.current()).into())
}

/// set_robust_list(2).
fn set_robust_list(ctx: &mut Ctx, [head, len, ..]: [u64; 6]) -> SysResult {
    if len != ROBUST_LIST_HEAD {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.task_mut().robust_list = head;
    Ok(0)
}

/// get_robust_list(2): of another task it is for who may look into it.
fn get_robust_list(ctx: &mut Ctx, [pid, head, len, ..]: [u64; 6]) -> SysResult {
    let task = match pid as i32 {
        0 => ctx.kernel.current(),
        pid => ctx.kernel.named_task(pid).ok_or(Errno::ESRCH)?,
    };
    ctx.kernel.may_look_into(task)?;
    let list = ctx.kernel.other_task(task).robust_list;
    put_u64(ctx.mem, len, ROBUST_LIST_HEAD)?;
    put_u64(ctx.mem, head, list)?;
    Ok(0)
}

/// rseq(2). Success would have the C library execute other code than under Valgrind 3.19, and
/// oblige us to keep the CPU number up to date in the program's memory.
fn rseq(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::ENOSYS.into())
}
