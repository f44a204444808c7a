//! The way into the kernel: system calls, faults and timers that are due.

use crate::abi::errno::Errno;
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory};
use crate::kernel::Kernel;
use crate::kernel::clock::{CALL_NS, EXEC_NS, SPAWN_NS};
use crate::kernel::ptrace::tracee::Place;
use crate::kernel::sched::TaskState;
use crate::kernel::signal::deliver::Fate;
use crate::kernel::streams::Patience;
use crate::kernel::uaccess::put_u32;
use crate::kernel::vfs::host::NO_DESCRIPTOR;
use crate::kernel::vfs::host_handle::NO_DESCRIPTOR_LEFT;
use crate::syscalls::context::{Action, Break, Ctx, SysResult};
use crate::syscalls::io_uring;
use crate::syscalls::mm::userfault::{self, Outcome};
use crate::syscalls::seccomp;
use crate::syscalls::strace::lines as strace;
use crate::syscalls::{table, vsyscall};

/// The work after signals were delivered. What the call left in the kernel is charged here, and a
/// delivery that failed for want of memory is no fault of the program's.
fn settle(
    kernel: &mut Kernel,
    cpu: &mut dyn GuestCpu,
    mem: &mut dyn GuestMemory,
    delivered: Result<(), Fate>,
) -> Action {
    let taken = std::mem::take(&mut kernel.task_mut().signals.taken);
    if kernel.transcript.is_some() {
        strace::signals(kernel, cpu, &taken);
        if let Err(Fate::Stopped(signo)) = delivered {
            strace::stopped(kernel, cpu, signo);
        }
    }
    if let Some(end) = beyond_limits(kernel, mem) {
        return end;
    }
    if let Some(why) = userfault::refusal(kernel, mem) {
        return Action::Refuse(why);
    }
    match delivered {
        Ok(()) => Action::Continue,
        Err(Fate::Stopped(_) | Fate::Trapped | Fate::Traced) => Action::Sleep,
        Err(Fate::Killed(signo)) if kernel.holds_fatal_signals() => Action::Killed(signo),
        Err(Fate::Killed(signo)) => kill(kernel, cpu, mem, signo),
    }
}

/// Charges what the kernel keeps now. Gives the end of the run if that, or what the program has
/// opened or written, is beyond a limit.
fn beyond_limits(kernel: &mut Kernel, mem: &mut dyn GuestMemory) -> Option<Action> {
    if kernel.charge(mem).is_err() {
        return Some(Action::OutOfMemory);
    }
    kernel.exceeded().map(Action::Limit)
}

/// Ends the process of the running task by a signal.
pub(crate) fn kill(
    kernel: &mut Kernel,
    cpu: &mut dyn GuestCpu,
    mem: &mut dyn GuestMemory,
    signo: i32,
) -> Action {
    let status = kernel.status_of_signal(signo);
    if kernel.stops_at_end(cpu, status, Some(signo)) {
        return Action::Sleep;
    }
    kernel.exit_process(status, cpu, mem);
    Action::Gone
}

/// Serves the system call whose number and arguments are in the registers, as the x86-64 ABI has
/// it, and then delivers a pending signal if there is one. RAX, RCX and R11 are set as the
/// instruction sets them.
pub(crate) fn syscall(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Action {
    // The kernel looks at the low half only.
    let number = u64::from(cpu.gpr(Gpr::Rax) as u32);
    serve(kernel, cpu, mem, number, Stage::New)
}

/// Lets the running task go on where it was: makes the call again in which it was asleep, with RAX
/// and the arguments as they were, or leaves the stop that its tracer has let it go from.
pub(crate) fn resume(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Action {
    if kernel.task().tracing.stop.is_some() {
        let number = |kernel: &Kernel| u64::from(kernel.task().orig_rax as u32);
        return match kernel.leave_stop(cpu) {
            Some(Place::Entry { .. }) => serve(kernel, cpu, mem, number(kernel), Stage::Entered),
            Some(Place::Seccomp) => serve(kernel, cpu, mem, number(kernel), Stage::Judged),
            Some(Place::End(None)) => serve(kernel, cpu, mem, number(kernel), Stage::Ending),
            Some(Place::End(Some(signo))) => kill(kernel, cpu, mem, signo),
            Some(Place::Exit | Place::Signal | Place::Between) | None => interrupt(kernel, cpu, mem),
        };
    }
    match kernel.task().call.number {
        Some(number) => match io_uring::submit::work(kernel, cpu, mem) {
            Some(action) => action,
            None if number == PAGE_FAULT => wait_for_page(kernel, cpu, mem),
            None => serve(kernel, cpu, mem, number, Stage::Again),
        },
        None => interrupt(kernel, cpu, mem),
    }
}

/// Number of the call in which a task is that waits for a page, userfaultfd(2); no call has it.
const PAGE_FAULT: u64 = u64::MAX;

/// Lets the running task wait for a page, and then access it again.
fn wait_for_page(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Action {
    let mut ctx = Ctx { kernel, cpu, mem };
    if userfault::wait(&mut ctx).is_err() {
        ctx.kernel.fall_asleep(Some(PAGE_FAULT));
        return beyond_limits(ctx.kernel, ctx.mem).unwrap_or(Action::Sleep);
    }
    ctx.kernel.end_call(ctx.mem);
    interrupt(ctx.kernel, ctx.cpu, ctx.mem)
}

/// Progress of a call that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It begins.
    New,
    /// Its task has stopped for its tracer at the beginning.
    Entered,
    /// A filter has told the tracer of it.
    Judged,
    /// It ends its task, whose tracer was told.
    Ending,
    /// It has slept, and is made again.
    Again,
}

/// Asks who stands before a call: the tracer, and filters.
fn gate(ctx: &mut Ctx, number: u64, args: [u64; 6], stage: Stage) -> Result<(), Break> {
    let number = number as u32;
    if stage == Stage::New {
        seccomp::dispatch(ctx, number, args)?;
        if ctx.kernel.stops_at_entry(ctx.cpu) {
            return Err(Break::Traced);
        }
    }
    match stage {
        Stage::New | Stage::Entered => seccomp::filters(ctx, number, args, false),
        Stage::Judged => seccomp::filters(ctx, number, args, true),
        Stage::Ending | Stage::Again => Ok(()),
    }
}

fn serve(
    kernel: &mut Kernel,
    cpu: &mut dyn GuestCpu,
    mem: &mut dyn GuestMemory,
    number: u64,
    stage: Stage,
) -> Action {
    // Before the call has done anything, so that it can be made again.
    if kernel.look_outside(Patience::None).is_err() && kernel.streams.take_given_up() {
        if stage != Stage::New {
            kernel.task_mut().call.number = Some(number);
        }
        return Action::GivenUp;
    }
    let args = [Gpr::Rdi, Gpr::Rsi, Gpr::Rdx, Gpr::R10, Gpr::R8, Gpr::R9].map(|reg| cpu.gpr(reg));
    let clobbered = [Gpr::Rcx, Gpr::R11].map(|reg| (reg, cpu.gpr(reg)));
    if matches!(stage, Stage::New | Stage::Again) {
        cpu.set_gpr(Gpr::Rcx, cpu.rip());
        cpu.set_gpr(Gpr::R11, cpu.rflags());
    }
    let mut ctx = Ctx { kernel, cpu, mem };
    pass_time(&mut ctx);
    let traced = ctx.kernel.transcript.is_some();
    let stops_first = stage == Stage::New && ctx.kernel.task().tracing.stops_at_entry();
    if traced && (stage == Stage::New && !stops_first || stage == Stage::Entered) {
        strace::entered(&mut ctx, number, args);
    }
    if stage == Stage::New {
        // Once, however often it is made again; before it, so that a wait begins at its end.
        ctx.kernel.work(CALL_NS);
        let task = ctx.kernel.task_mut();
        task.orig_rax = number;
        if let Some(deadline) = task.signals.deadline.take() {
            task.call.deadline = Some(deadline);
        }
    }
    let gate = gate(&mut ctx, number, args, stage);
    if matches!(gate, Err(Break::Traced)) {
        return Action::Sleep;
    }
    let result = match (gate, table::find(number)) {
        (Err(denied), _) => Err(denied),
        (Ok(()), Some(row)) => (row.handler)(&mut ctx, args),
        (Ok(()), None) => Err(unknown(&mut ctx, number)),
    };
    pass_time(&mut ctx);
    let paused = matches!(result, Err(Break::Pause));
    let given_up = ctx.kernel.streams.take_given_up() || paused;
    if given_up && !paused && stage == Stage::New {
        ctx.kernel.take_back(CALL_NS);
    }
    ctx.kernel.work(further_cost(&result));
    if given_up || matches!(result, Err(Break::Sleep)) {
        for (reg, value) in clobbered {
            ctx.cpu.set_gpr(reg, value);
        }
        if given_up {
            if paused || !matches!(stage, Stage::New | Stage::Again) {
                ctx.kernel.task_mut().call.number = Some(number);
            } else if stage == Stage::New {
                strace::forgotten(ctx.kernel);
            }
            return Action::GivenUp;
        }
    }
    if let Some(why) = ctx.kernel.fs.handles.take_failure() {
        return Action::Refuse(why);
    }
    if let Some(why) = userfault::refusal(ctx.kernel, ctx.mem) {
        return Action::Refuse(why);
    }
    ctx.kernel.wake_queues();
    if let Err(Break::Sleep) = result {
        ctx.kernel.fall_asleep(Some(number));
        return beyond_limits(ctx.kernel, ctx.mem).unwrap_or(Action::Sleep);
    }
    if let Err(Break::Traced) = result {
        return Action::Sleep;
    }
    ctx.kernel.end_call(ctx.mem);
    ctx.kernel.task_mut().tracing.returned = ctx.kernel.task().tracing.trace.is_some();
    if traced {
        strace::left(&mut ctx, number, args, &result);
        strace::stops(ctx.kernel, ctx.cpu);
    }
    if ctx.kernel.holds_returns {
        ctx.kernel.task_mut().returned = Some(number);
    }
    match result {
        Ok(value) => ctx.cpu.set_gpr(Gpr::Rax, value),
        Err(Break::Errno(NO_DESCRIPTOR)) => return Action::Refuse(NO_DESCRIPTOR_LEFT.into()),
        Err(Break::Errno(errno)) => ctx.cpu.set_gpr(Gpr::Rax, errno.to_rax()),
        Err(Break::Resume) => ctx.kernel.task_mut().orig_rax = u64::MAX,
        Err(Break::Sleep | Break::Pause | Break::Traced) => {}
        Err(Break::Yield) => {
            ctx.cpu.set_gpr(Gpr::Rax, 0);
            if ctx.kernel.yields() {
                return Action::Sleep;
            }
        }
        Err(Break::Gone) => return Action::Gone,
        Err(Break::Spawn(spawn)) => {
            let tid = ctx.kernel.shown_pid(ctx.kernel.tid_of(spawn.task));
            ctx.cpu.set_gpr(Gpr::Rax, tid as u64);
            return Action::Spawn(spawn);
        }
        Err(Break::Exec(request)) => return Action::Exec(request),
        Err(Break::Limit(why)) => return Action::Limit(why),
        Err(Break::Refuse(why)) => return Action::Refuse(why),
    }
    interrupt(ctx.kernel, ctx.cpu, ctx.mem)
}

/// Between two instructions of the program: timers that are due send their signals, and what is
/// pending and not blocked is delivered.
pub(crate) fn interrupt(kernel: &mut Kernel, cpu: &mut dyn GuestCpu, mem: &mut dyn GuestMemory) -> Action {
    let first = std::mem::take(&mut kernel.task_mut().set_child_tid);
    if first != 0 {
        let tid = kernel.own_tid(kernel.current());
        let _ = put_u32(mem, first, tid); // as in Linux it may fail
    }
    kernel.drop_unused_spaces(mem);
    let idle = kernel.task().tracing.is_idle();
    if !idle && kernel.stops_for_event(cpu, false) {
        return Action::Sleep;
    }
    let parent = kernel.task().vfork.is_some();
    if kernel.waits_for_vfork() || kernel.task().state == TaskState::Stopped {
        return Action::Sleep;
    }
    if parent && kernel.transcript.is_some() {
        strace::child_let_go(kernel, cpu);
    }
    if let Some(number) = kernel.task_mut().returned.take() {
        return Action::Returned(number);
    }
    if !idle && (kernel.stops_for_event(cpu, true) || kernel.stops_at_exit_of_call(cpu)) {
        return Action::Sleep;
    }
    if let Some(action) = io_uring::submit::work(kernel, cpu, mem) {
        return action;
    }
    let delivered = kernel.deliver_pending(cpu, mem);
    settle(kernel, cpu, mem, delivered)
}

/// Turns a fault of the CPU into its signal: runs the guest's handler, or ends the process.
pub(crate) fn fault(
    kernel: &mut Kernel,
    cpu: &mut dyn GuestCpu,
    mem: &mut dyn GuestMemory,
    fault: Fault,
) -> Action {
    // The page of a file may be the fault's reason.
    if let Some(why) = kernel.fs.handles.take_failure() {
        return Action::Refuse(why);
    }
    if matches!(fault, Fault::Page { fetch: true, .. }) && vsyscall::is_here(cpu.rip()) {
        return match vsyscall::emulate(kernel, cpu, mem) {
            Ok(()) => interrupt(kernel, cpu, mem),
            Err(action) => action,
        };
    }
    if fault == Fault::Debug && kernel.step_is_stale(cpu) {
        return interrupt(kernel, cpu, mem);
    }
    let fault = match userfault::begin(kernel, mem, fault) {
        Outcome::Fault(fault) => fault,
        Outcome::Waits => return wait_for_page(kernel, cpu, mem),
    };
    let delivered = kernel.deliver_fault(cpu, mem, fault);
    settle(kernel, cpu, mem, delivered)
}

/// Lets what is left of connections age. Asking for the time costs a synchronisation with the CPU.
fn pass_time(ctx: &mut Ctx) {
    if ctx.kernel.fs.net.has_lingering() {
        let now = ctx.now();
        ctx.kernel.fs.net.pass_time(now);
    }
}

/// Nanoseconds that a call takes longer for what has become of it.
fn further_cost(result: &SysResult) -> u64 {
    match result {
        Err(Break::Spawn(_)) => SPAWN_NS,
        Err(Break::Exec(_)) => EXEC_NS,
        _ => 0,
    }
}

fn unknown(ctx: &mut Ctx, number: u64) -> Break {
    ctx.kernel.notices.count("unknown system call ", &format!("{number}: answered with ENOSYS"));
    Break::Errno(Errno::ENOSYS)
}
