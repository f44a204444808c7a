//! Entries of io_uring(7) are taken and begun, and requests that waited go on.

use crate::abi::errno::Errno;
use crate::abi::fs::O_NONBLOCK;
use crate::abi::io_uring::*;
use crate::guest::{GuestCpu, GuestMemory};
use crate::kernel::Kernel;
use crate::kernel::fdtable::{FileNo, LENT};
use crate::kernel::requests::{Chain, Request, RequestId};
use crate::kernel::vfs::host::NO_DESCRIPTOR;
use crate::kernel::vfs::host_handle::NO_DESCRIPTOR_LEFT;
use crate::kernel::wait_queue::QueueId;
use crate::syscalls::context::{Action, Break, Ctx, SysResult};
use crate::syscalls::io_uring::check::{awaits_file, check, needs_file};
use crate::syscalls::io_uring::operations::{is_short, run};

/// Number of io_uring_enter(2), the call that requests are part of.
pub(super) const ENTER: u64 = 426;
/// Times that requests are looked at in a row which wake each other.
const ROUNDS: usize = 8;

/// Result of trying a request.
enum Outcome {
    Done(Result<u64, Errno>),
    /// A result after which it goes on.
    More(u64),
    Waits,
    /// The run stops in the middle of it.
    Stopped(Break),
}

/// Tries a request in a call of its own.
fn attempt(ctx: &mut Ctx, request: &mut Request) -> Outcome {
    let sqe = request.sqe;
    if request.cancelled {
        return Outcome::Done(Err(Errno::ECANCELED));
    }
    if sqe.has(IOSQE_FIXED_FILE) && needs_file(sqe.opcode) && request.file.is_none() {
        let ring = ctx.kernel.fs.rings.get(request.ring);
        let files = ring.and_then(|ring| ring.files.as_ref());
        let Some(file) = files.and_then(|all| *all.get(usize::try_from(sqe.fd).ok()?)?) else {
            return Outcome::Done(Err(Errno::EBADF));
        };
        ctx.kernel.files.hold(file);
        request.file = Some(file);
    }
    let mut call = std::mem::take(&mut request.call);
    call.keys.clear();
    (call.deadline, call.wake, call.killable) = (None, None, true);
    let task = ctx.kernel.task_mut();
    let (outer, interrupted) = (std::mem::replace(&mut task.call, call), task.signals.interrupted);
    ctx.kernel.fds_mut().lend(request.file);
    let result = patiently(ctx, request);
    ctx.kernel.fds_mut().lend(None);
    let task = ctx.kernel.task_mut();
    task.signals.interrupted = interrupted; // EINTR is a result too
    request.call = std::mem::replace(&mut task.call, outer);
    request.call.number = Some(ENTER);
    let goes_on = sqe.opcode == op::POLL_ADD && sqe.len & IORING_POLL_ADD_MULTI != 0;
    let outcome = match result {
        _ if ctx.kernel.streams.has_given_up() => Outcome::Stopped(Break::Pause),
        Ok(mask) if goes_on => Outcome::More(mask),
        Ok(value) => Outcome::Done(Ok(value)),
        Err(Break::Sleep) => Outcome::Waits,
        Err(Break::Errno(errno)) if errno != NO_DESCRIPTOR => Outcome::Done(Err(errno)),
        Err(why) => Outcome::Stopped(why),
    };
    if !matches!(outcome, Outcome::Done(_)) && !std::mem::replace(&mut request.call.holds_files, true) {
        for (_, file) in request.call.files.iter().flatten() {
            ctx.kernel.files.hold(*file);
        }
    }
    outcome
}

/// Runs an operation. One that can wait for its file does so even if that has O_NONBLOCK.
fn patiently(ctx: &mut Ctx, request: &mut Request) -> SysResult {
    let fd = if request.file.is_some() { LENT } else { request.sqe.fd };
    let file = if awaits_file(request.sqe.opcode) { ctx.kernel.pin(fd).ok() } else { None };
    let able = |file: &FileNo| ctx.kernel.files.get(*file).ops.can_be_hasty();
    let Some(file) = file.filter(able) else { return run(ctx, request) };
    let flags = &mut ctx.kernel.files.get_mut(file).flags;
    let held = *flags & O_NONBLOCK;
    *flags &= !O_NONBLOCK;
    let result = run(ctx, request);
    ctx.kernel.files.get_mut(file).flags |= held;
    result
}

/// Adds the result of an entry to its ring; `more` will follow.
fn post(ctx: &mut Ctx, ring: QueueId, sqe: &Sqe, result: Result<u64, Errno>, more: bool) {
    let late = sqe.op_flags & IORING_TIMEOUT_ETIME_SUCCESS != 0 && result == Err(Errno::ETIME);
    if sqe.has(IOSQE_CQE_SKIP_SUCCESS) && (result.is_ok() || late) && !more {
        return;
    }
    let res = result.map_or_else(|errno| -i32::from(errno.0), |value| value as i32);
    let flags = if more { IORING_CQE_F_MORE } else { 0 };
    let counts = !matches!(sqe.opcode, op::TIMEOUT | op::LINK_TIMEOUT);
    let Ctx { kernel, cpu, mem } = ctx;
    kernel.post(*cpu, *mem, ring, Cqe { user_data: sqe.user_data, res, flags }, counts);
}

/// Ends a request. What is left of its chain is returned if that goes on, and cancelled if not.
fn complete(ctx: &mut Ctx, id: Option<RequestId>, mut request: Request, result: Result<u64, Errno>) -> Chain {
    let (ring, sqe) = (request.ring, request.sqe);
    post(ctx, ring, &sqe, result, false);
    let late = sqe.op_flags & IORING_TIMEOUT_ETIME_SUCCESS != 0 && result == Err(Errno::ETIME);
    let fails = match result {
        Ok(moved) => is_short(&request, moved),
        Err(_) => !(request.is_timeout() && late),
    };
    ctx.kernel.release_request(&request, ctx.mem);
    let limit = id.and_then(|id| ctx.kernel.requests.limit_of(id));
    if let Some(limit) = limit.and_then(|id| ctx.kernel.requests.take(id)) {
        post(ctx, ring, &limit.sqe, Err(Errno::ECANCELED), false);
        ctx.kernel.release_request(&limit, ctx.mem);
    }
    if id.is_none() && request.links.front().is_some_and(|(next, _)| next.opcode == op::LINK_TIMEOUT) {
        let limit = request.links.pop_front();
        limit.into_iter().for_each(|(limit, _)| post(ctx, ring, &limit, Err(Errno::ECANCELED), false));
    }
    if fails && !sqe.has(IOSQE_IO_HARDLINK) {
        fail(ctx, ring, std::mem::take(&mut request.links));
    }
    request.links
}

/// Ends entries that cannot begin.
fn fail(ctx: &mut Ctx, ring: QueueId, chain: Chain) {
    for (sqe, errno) in chain {
        post(ctx, ring, &sqe, Err(errno.unwrap_or(Errno::ECANCELED)), false);
    }
}

/// Begins the entries of a chain, one after the other, as far as they need not wait.
fn begin(ctx: &mut Ctx, ring: QueueId, mut chain: Chain) -> Result<(), Break> {
    if chain.iter().any(|(_, errno)| errno.is_some()) {
        fail(ctx, ring, chain);
        return Ok(());
    }
    while let Some((sqe, _)) = chain.pop_front() {
        let mut request = Request::new(ring, ctx.kernel.current(), sqe);
        // Nothing is before it that it could limit.
        let outcome = match sqe.opcode {
            op::LINK_TIMEOUT => Outcome::Done(Err(Errno::EINVAL)),
            _ => attempt(ctx, &mut request),
        };
        request.links = chain;
        match outcome {
            Outcome::Done(result) => chain = complete(ctx, None, request, result),
            Outcome::Stopped(why) => {
                ctx.kernel.requests.add(request, true);
                return Err(why);
            }
            outcome => {
                if let Outcome::More(mask) = outcome {
                    post(ctx, ring, &sqe, Ok(mask), true);
                }
                let next = request.links.front().filter(|(next, _)| next.opcode == op::LINK_TIMEOUT);
                let limit = next.map(|(next, _)| *next);
                if limit.is_some() {
                    request.links.pop_front();
                }
                let id = ctx.kernel.requests.add(request, false);
                return limit.map_or(Ok(()), |limit| begin_limit(ctx, ring, limit, id));
            }
        }
    }
    Ok(())
}

/// Begins to limit the time of a request.
fn begin_limit(ctx: &mut Ctx, ring: QueueId, sqe: Sqe, limits: RequestId) -> Result<(), Break> {
    let mut request = Request::new(ring, ctx.kernel.current(), sqe);
    request.limits = Some(limits);
    match attempt(ctx, &mut request) {
        Outcome::Done(result) => {
            complete(ctx, None, request, result);
        }
        Outcome::Stopped(why) => {
            ctx.kernel.requests.add(request, true);
            return Err(why);
        }
        Outcome::Waits | Outcome::More(_) => {
            ctx.kernel.requests.add(request, false);
        }
    }
    Ok(())
}

/// Tries a request that waited once more.
fn retry(ctx: &mut Ctx, id: RequestId) -> Result<(), Break> {
    let Some(mut request) = ctx.kernel.requests.take(id) else { return Ok(()) };
    match attempt(ctx, &mut request) {
        Outcome::Done(result) => {
            let ring = request.ring;
            let links = complete(ctx, Some(id), request, result);
            begin(ctx, ring, links)
        }
        Outcome::Stopped(why) => {
            ctx.kernel.requests.put_back(id, request, true);
            Err(why)
        }
        outcome => {
            if let Outcome::More(mask) = outcome {
                post(ctx, request.ring, &request.sqe, Ok(mask), true);
            }
            ctx.kernel.requests.put_back(id, request, false);
            Ok(())
        }
    }
}

/// Lets the requests of the running task go on that can. Those that wake each other without end
/// leave the program its turn.
pub(super) fn go_on(ctx: &mut Ctx) -> Result<(), Break> {
    let task = ctx.kernel.current();
    for _ in 0..ROUNDS {
        ctx.kernel.wake_queues();
        let ready = ctx.kernel.requests.ready(task);
        for id in &ready {
            retry(ctx, *id)?;
        }
        let mut begun = false;
        while let Some((ring, chain)) = ctx.kernel.requests.undefer(task) {
            begin(ctx, ring, chain)?;
            begun = true;
        }
        if ready.is_empty() && !begun {
            break;
        }
    }
    Ok(())
}

/// Lets the requests of the running task go on before it does. Gives the end of the run if that is
/// what comes of it.
pub(in crate::syscalls) fn work(
    kernel: &mut Kernel,
    cpu: &mut dyn GuestCpu,
    mem: &mut dyn GuestMemory,
) -> Option<Action> {
    if kernel.requests.is_empty() || !kernel.requests.has(kernel.current()) {
        return None;
    }
    kernel.expire_timers(cpu);
    kernel.look_for_signals();
    let result = go_on(&mut Ctx { kernel, cpu, mem });
    kernel.wake_queues();
    match result {
        _ if kernel.streams.take_given_up() => Some(Action::GivenUp),
        Err(Break::Limit(why)) => Some(Action::Limit(why)),
        Err(Break::Refuse(why)) => Some(Action::Refuse(why)),
        Err(Break::Errno(NO_DESCRIPTOR)) => Some(Action::Refuse(NO_DESCRIPTOR_LEFT.into())),
        _ => None,
    }
}

/// Takes up to `count` entries of a ring, those included that this call took before it was broken
/// off. Returns how many those are.
pub(super) fn submit(ctx: &mut Ctx, ring: QueueId, count: u32, before: u32) -> Result<u32, Break> {
    let mut done = before;
    let mut chain = Chain::new();
    let result = loop {
        let Some(held) = ctx.kernel.fs.rings.get_mut(ring) else { break Ok(()) };
        if done >= count || held.submitted(ctx.mem) == 0 {
            break Ok(());
        }
        let Some(sqe) = held.take(ctx.mem) else { break Ok(()) };
        let (wrong, all) = (check(held, &sqe).err(), held.flags & IORING_SETUP_SUBMIT_ALL != 0);
        done += 1;
        chain.push_back((sqe, wrong));
        if !sqe.is_linked()
            && let Err(why) = start(ctx, ring, std::mem::take(&mut chain))
        {
            break Err(why);
        }
        if wrong.is_some() && !sqe.is_linked() && !all {
            break Ok(());
        }
    };
    let result = result.and_then(|()| if chain.is_empty() { Ok(()) } else { start(ctx, ring, chain) });
    if let Some(held) = ctx.kernel.fs.rings.get(ring) {
        held.commit(ctx.mem);
    }
    ctx.kernel.task_mut().call.decided = vec![done.into(), 0];
    result.map(|()| done)
}

/// Begins a chain, or keeps it until those before it are done.
fn start(ctx: &mut Ctx, ring: QueueId, chain: Chain) -> Result<(), Break> {
    let task = ctx.kernel.current();
    if ctx.kernel.requests.has_deferred(ring) || ctx.kernel.requests.is_held_up(ring, &chain) {
        ctx.kernel.requests.defer(ring, task, chain);
        return Ok(());
    }
    begin(ctx, ring, chain)
}
