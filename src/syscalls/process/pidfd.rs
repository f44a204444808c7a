//! Processes by descriptors: pidfd_open(2), pidfd_send_signal(2), pidfd_getfd(2).

use crate::abi::errno::Errno;
use crate::abi::fs::{O_EXCL, O_NONBLOCK, O_RDWR};
use crate::abi::signal::si_code;
use crate::kernel::arena::ProcessId;
use crate::kernel::file::description::Description;
use crate::kernel::file::pidfd::PidFd;
use crate::kernel::send::Receivers;
use crate::kernel::signal::state::To;
use crate::kernel::vfs::node::DirKind;
use crate::kernel::vfs::proc_file::Subject;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::fd::{install, limit};
use crate::syscalls::row::{Row, full, partial};
use crate::syscalls::signal::{check, get_siginfo};

/// Flags of pidfd_open(2) and pidfd_send_signal(2).
const PIDFD_THREAD: u32 = O_EXCL;
const PIDFD_SIGNAL_THREAD: u32 = 1;
const PIDFD_SIGNAL_THREAD_GROUP: u32 = 2;
const PIDFD_SIGNAL_PROCESS_GROUP: u32 = 4;

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    full(424, "pidfd_send_signal", pidfd_send_signal),
    partial(434, "pidfd_open", pidfd_open, "PIDFD_THREAD for the first thread of a process only"),
    full(438, "pidfd_getfd", pidfd_getfd),
];

/// Gives a process a descriptor, which execve(2) closes.
pub(in crate::syscalls) fn open(ctx: &mut Ctx, process: ProcessId, flags: u32) -> SysResult {
    let pid = ctx.kernel.pid_of(process);
    let (queue, ended) = ctx.kernel.queue_of(process);
    let open = Description::new(PidFd { process, pid, ended, queue }, O_RDWR | flags, b"anon_inode:[pidfd]");
    install(ctx, open, true)
}

/// pidfd_open(2).
fn pidfd_open(ctx: &mut Ctx, [pid, flags, ..]: [u64; 6]) -> SysResult {
    let (pid, flags) = (pid as i32, flags as u32);
    if flags & !(O_NONBLOCK | PIDFD_THREAD) != 0 || pid <= 0 {
        return Err(Errno::EINVAL.into());
    }
    ctx.kernel.named_task(pid).ok_or(Errno::ESRCH)?;
    let process = ctx.kernel.named_process(pid).ok_or(Errno::EINVAL)?;
    open(ctx, process, flags)
}

/// The process of a descriptor: EBADF for others, ESRCH if nothing is left of it.
pub(in crate::syscalls) fn process(ctx: &Ctx, fd: u64) -> Result<ProcessId, Errno> {
    let file = ctx.opened(fd as i32)?;
    let process = ctx.kernel.files.get(file).ops.process().ok_or(Errno::EBADF)?;
    if ctx.kernel.has_process(process) { Ok(process) } else { Err(Errno::ESRCH) }
}

/// The same, or the process of a descriptor of its directory in `/proc`.
pub(in crate::syscalls) fn process_or_directory(ctx: &Ctx, fd: u64) -> Result<ProcessId, Errno> {
    let file = ctx.opened(fd as i32)?;
    let node = ctx.kernel.files.get(file).ops.inode().map(|ino| ctx.kernel.fs.node(ino));
    match node.map(|node| (node.subject, node.dir().map(|dir| dir.kind))) {
        Some((Some(Subject::Process(process)), Some(DirKind::Process))) => {
            if ctx.kernel.has_process(process) { Ok(process) } else { Err(Errno::ESRCH) }
        }
        _ => process(ctx, fd),
    }
}

/// pidfd_send_signal(2).
fn pidfd_send_signal(ctx: &mut Ctx, [fd, signo, info, flags, ..]: [u64; 6]) -> SysResult {
    let (signo, flags) = (signo as i32, flags as u32);
    if !matches!(flags, 0 | PIDFD_SIGNAL_THREAD | PIDFD_SIGNAL_THREAD_GROUP | PIDFD_SIGNAL_PROCESS_GROUP) {
        return Err(Errno::EINVAL.into());
    }
    let process = match process_or_directory(ctx, fd) {
        // What is gone is only found out when the signal is sent.
        Err(Errno::ESRCH) => None,
        result => Some(result?),
    };
    let named_thread =
        ctx.opened(fd as i32).is_ok_and(|file| ctx.kernel.files.get(file).flags & PIDFD_THREAD != 0);
    let to_thread = flags == PIDFD_SIGNAL_THREAD || flags == 0 && named_thread;
    let info = match info {
        0 if to_thread => ctx.kernel.signal_from_task(signo, si_code::SI_TKILL),
        0 => ctx.kernel.signal_from_task(signo, si_code::SI_USER),
        addr => {
            let info = get_siginfo(ctx, addr, None)?;
            if info.signo() != signo {
                return Err(Errno::EINVAL.into());
            }
            let forged = info.code() >= 0 || info.code() == si_code::SI_TKILL;
            if forged && process != Some(ctx.kernel.task().shared.process) {
                return Err(Errno::EPERM.into());
            }
            info
        }
    };
    check(signo)?;
    let process = process.ok_or(Errno::ESRCH)?;
    if flags == PIDFD_SIGNAL_PROCESS_GROUP {
        let group = ctx.kernel.pid_of(process);
        ctx.kernel.kill(Receivers::Group(group), signo, (signo != 0).then_some(info))?;
        return Ok(0);
    }
    ctx.kernel.may_signal(process, signo)?;
    match to_thread {
        true => ctx.kernel.send_signal(ctx.kernel.task_of(process), info, To::Task),
        false => ctx.kernel.send_to(process, info),
    }
    Ok(0)
}

/// pidfd_getfd(2).
fn pidfd_getfd(ctx: &mut Ctx, [pidfd, fd, flags, ..]: [u64; 6]) -> SysResult {
    if flags as u32 != 0 {
        return Err(Errno::EINVAL.into());
    }
    let process = process(ctx, pidfd)?;
    ctx.kernel.may_look_into(ctx.kernel.task_of(process))?;
    let file = ctx.kernel.fds_of(process).ok_or(Errno::ESRCH)?.get(fd as i32)?;
    let limit = limit(ctx);
    let new = ctx.kernel.fds_mut().install(file, true, 0, limit)?;
    ctx.kernel.files.hold(file);
    Ok(new as u64)
}
