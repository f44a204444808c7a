//! userfaultfd(2), and the wait of a task for a page that the program is to give.

use crate::abi::capability::CAP_SYS_PTRACE;
use crate::abi::errno::Errno;
use crate::abi::fs::{O_CLOEXEC, O_NONBLOCK, POLLIN};
use crate::abi::userfault::UFFD_USER_MODE_ONLY;
use crate::guest::{Fault, GuestMemory, Prot};
use crate::kernel::Kernel;
use crate::kernel::file::description::Description;
use crate::kernel::file::userfaultfd::UserfaultFd;
use crate::kernel::sched::WaitKey;
use crate::kernel::userfault::Missed;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::fd::install;
use crate::syscalls::row::{Row, partial};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[partial(
    323,
    "userfaultfd",
    userfaultfd,
    "missing pages of anonymous memory and of files in memory, given by COPY and ZEROPAGE; the run stops where a \
     system call would have to wait for one; no write protection, no minor faults, no events",
)];

/// userfaultfd(2).
fn userfaultfd(ctx: &mut Ctx, [flags, ..]: [u64; 6]) -> SysResult {
    let flags = flags as u32;
    let user_mode_only = flags & UFFD_USER_MODE_ONLY != 0;
    if !user_mode_only {
        // vm.unprivileged_userfaultfd is 0.
        ctx.kernel.task().cred.require(CAP_SYS_PTRACE)?;
    }
    if flags & !(O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let space = ctx.kernel.space_of_task(ctx.kernel.current());
    let fs = &mut ctx.kernel.fs;
    let queue = fs.queues.add();
    fs.userfaults.add(queue, space, user_mode_only);
    let open = Description::new(UserfaultFd(queue), flags & O_NONBLOCK, b"anon_inode:[userfaultfd]");
    install(ctx, open, flags & O_CLOEXEC != 0)
}

/// Outcome of a page fault.
pub(crate) enum Outcome {
    /// The fault that the program sees.
    Fault(Fault),
    /// The task waits for the page, see [`wait`].
    Waits,
}

/// Tells the userfaultfd of a missing page of an access of the program's own.
pub(crate) fn begin(kernel: &mut Kernel, mem: &mut dyn GuestMemory, fault: Fault) -> Outcome {
    mem.take_missed();
    let Fault::Page { addr, write, fetch, mapped: false } = fault else { return Outcome::Fault(fault) };
    let access = match (write, fetch) {
        (true, _) => Prot::WRITE,
        (_, true) => Prot::EXEC,
        _ => Prot::READ,
    };
    let Some(id) = mem.missing(addr, access) else { return Outcome::Fault(fault) };
    let Some((queue, held)) = kernel.fs.userfaults.find(id) else { return Outcome::Fault(fault) };
    if held.sends_sigbus() {
        return Outcome::Fault(Fault::Bus { addr });
    }
    let task = kernel.current();
    let tid = kernel.own_tid(task);
    kernel.fs.userfaults.miss(queue, Missed::new(task, tid, addr, write));
    kernel.fs.queues.wake(queue, POLLIN);
    Outcome::Waits
}

/// Waits for the page that the running task's access is about, after which the access is made
/// again, or for a signal.
///
/// # Errors
/// `Break::Sleep`.
pub(crate) fn wait(ctx: &mut Ctx) -> Result<(), Break> {
    let Some(queue) = ctx.kernel.fs.userfaults.awaited_by(ctx.kernel.current()) else { return Ok(()) };
    ctx.sleep("an access to a page of a userfaultfd", &[WaitKey::Queue(queue)], None)?;
    Ok(())
}

/// The reason to stop the run, if a page that the kernel could not access has to be waited for.
pub(crate) fn refusal(kernel: &Kernel, mem: &mut dyn GuestMemory) -> Option<String> {
    let (_, held) = kernel.fs.userfaults.find(mem.take_missed()?)?;
    (!held.user_mode_only && !held.sends_sigbus()).then(|| {
        "a system call has to access a page that userfaultfd(2) is to give; only the program's own accesses can wait \
         for one: have it touch the page before"
            .into()
    })
}
