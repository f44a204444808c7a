//! Taking pending signals to their handlers or default actions, and turning faults of the CPU into signals.

use crate::abi::errno::Errno;
use crate::guest::{Fault, Gpr, USER_END};
use crate::syscalls::kernel::{Action, Break, Ctx};
use crate::syscalls::time;

use super::frame;
use super::info::{SigInfo, si_code::*};
use super::{
    SIG_DFL, SIG_IGN, SigAction, Signals, Trap, UNBLOCKABLE, bit, default_ignores, default_stops, sa,
    signo::*,
};

/// TF in RFLAGS.
const TRAP_FLAG: u64 = 0x100;
/// Bytes of the `syscall` instruction.
const SYSCALL_LEN: u64 = 2;

/// What becomes of a call that a signal interrupts, signal(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Started again after a handler with SA_RESTART, EINTR after another (`ERESTARTSYS`).
    WithFlag,
    /// EINTR after any handler (`ERESTARTNOHAND`, `ERESTART_RESTARTBLOCK`).
    Never,
}

/// To be returned by a call that a pending signal interrupts (`Signals::interrupt_pending`,
/// `time::wait::Wake::Signal`): the call fails with EINTR, or starts again once the handler is done.
/// Must be called before RAX is changed, since it holds the call's number.
pub fn interrupted(ctx: &mut Ctx, restart: Restart) -> Break {
    ctx.kernel.signals.task.interrupted = Some((ctx.cpu.gpr(Gpr::Rax), restart));
    Break::Errno(Errno::EINTR)
}

/// Runs at the end of every system call: lets timers that are due fire and sets up the handlers of all
/// signals that are pending and not blocked. As in Linux each has its frame on top of the one before, so the
/// last one found runs first.
pub fn deliver_pending(ctx: &mut Ctx) -> Action {
    time::timers::expire(ctx);
    let signals = &mut ctx.kernel.signals;
    if signals.task.interrupted.is_none() {
        // A call that waited with a mask of its own and was not interrupted: what it let through waits on.
        signals.restore_mask();
    }
    let idle = signals.pending() & !signals.task.blocked == 0;
    if idle && signals.task.saved_mask.is_none() && signals.dropped_stop.is_none() {
        signals.task.interrupted = None;
        return Action::Continue;
    }
    loop {
        let signals = &mut ctx.kernel.signals;
        let Some(info) = signals.dequeue(!signals.task.blocked) else { break };
        if let Some(end) = deliver(ctx, &info) {
            return end;
        }
    }
    if let Some((number, _)) = ctx.kernel.signals.task.interrupted.take() {
        start_again(ctx, number);
    }
    ctx.kernel.signals.restore_mask();
    if let Some(signo) = ctx.kernel.signals.dropped_stop.take() {
        let text = format!("signal {signo} would stop the program: ignored, as nothing could continue it");
        ctx.kernel.notices.once(text);
    }
    Action::Continue
}

/// Makes the interrupted call run again, from its `syscall` instruction.
fn start_again(ctx: &mut Ctx, number: u64) {
    ctx.cpu.set_gpr(Gpr::Rax, number);
    ctx.cpu.set_rip(ctx.cpu.rip().wrapping_sub(SYSCALL_LEN));
}

/// Takes one signal to its action; `Some` if that ends the process.
fn deliver(ctx: &mut Ctx, info: &SigInfo) -> Option<Action> {
    let signo = info.signo();
    let action = ctx.kernel.signals.action(signo);
    match action.handler {
        SIG_IGN => None,
        SIG_DFL if default_ignores(signo) => None,
        SIG_DFL if default_stops(signo) => {
            ctx.kernel.signals.dropped_stop = Some(signo);
            None
        }
        SIG_DFL => Some(Action::Killed(signo)),
        _ => run_handler(ctx, &action, info),
    }
}

fn run_handler(ctx: &mut Ctx, action: &SigAction, info: &SigInfo) -> Option<Action> {
    let signo = info.signo();
    if let Some((number, restart)) = ctx.kernel.signals.task.interrupted.take()
        && restart == Restart::WithFlag
        && action.flags & sa::RESTART != 0
    {
        start_again(ctx, number);
    }
    let task = &mut ctx.kernel.signals.task;
    let mask = task.saved_mask.take().unwrap_or(task.blocked);
    if frame::push(ctx.cpu, ctx.mem, task, action, info, mask).is_err() {
        task.blocked = mask;
        if signo == SIGSEGV {
            return Some(Action::Killed(SIGSEGV));
        }
        ctx.kernel.signals.force(SigInfo::kernel(SIGSEGV));
        return None;
    }
    ctx.kernel.signals.delivered = Some(signo);
    let task = &mut ctx.kernel.signals.task;
    task.blocked |= action.mask;
    if action.flags & sa::NODEFER == 0 {
        task.blocked |= bit(signo);
    }
    task.blocked &= !UNBLOCKABLE;
    if task.altstack.flags & super::ss::AUTODISARM != 0 {
        task.altstack = super::AltStack::NONE;
    }
    if action.flags & sa::RESETHAND != 0 {
        ctx.kernel.signals.set_action(signo, SigAction { handler: SIG_DFL, ..*action });
    }
    None
}

impl Signals {
    /// Sends a signal that cannot be put off: one that is blocked or ignored ends the process (`force_sig`).
    pub(super) fn force(&mut self, info: SigInfo) {
        let signo = info.signo();
        let action = self.action(signo);
        if self.task.blocked & bit(signo) != 0 || action.handler == SIG_IGN {
            self.set_action(signo, SigAction { handler: SIG_DFL, ..action });
            self.task.blocked &= !bit(signo);
        }
        self.task.pending.push(info);
    }
}

/// Turns a fault into its signal and delivers it. RIP must be where Linux would see it: at the instruction,
/// for `int3` after it.
pub fn deliver_fault(ctx: &mut Ctx, fault: Fault) -> Action {
    let rip = ctx.cpu.rip();
    let cr2 = ctx.kernel.signals.task.trap.cr2;
    let (trap, info) = match fault {
        Fault::Page { addr, write, fetch, mapped } => {
            let kernel_half = addr >= USER_END;
            let present = u64::from(mapped || kernel_half);
            let error = present | u64::from(write) << 1 | 4 | u64::from(fetch) << 4;
            let code = if mapped { SEGV_ACCERR } else { SEGV_MAPERR };
            (Trap { number: 14, error, cr2: addr }, SigInfo::fault(SIGSEGV, code, addr))
        }
        Fault::Bus { addr } => {
            (Trap { number: 14, error: 4, cr2: addr }, SigInfo::fault(SIGBUS, BUS_ADRERR, addr))
        }
        Fault::Protection => (Trap { number: 13, error: 0, cr2 }, SigInfo::kernel(SIGSEGV)),
        Fault::Divide => (Trap { number: 0, error: 0, cr2 }, SigInfo::fault(SIGFPE, FPE_INTDIV, rip)),
        Fault::InvalidOpcode => (Trap { number: 6, error: 0, cr2 }, SigInfo::fault(SIGILL, ILL_ILLOPN, rip)),
        Fault::Breakpoint => (Trap { number: 3, error: 0, cr2 }, SigInfo::kernel(SIGTRAP)),
        Fault::Debug => {
            let stepped = ctx.cpu.rflags() & TRAP_FLAG != 0;
            let code = if stepped { TRAP_TRACE } else { TRAP_BRKPT };
            (Trap { number: 1, error: 0, cr2 }, SigInfo::fault(SIGTRAP, code, rip))
        }
        Fault::FloatingPoint => {
            let (number, code) = float_code(&ctx.cpu.fpu());
            (Trap { number, error: 0, cr2 }, SigInfo::fault(SIGFPE, code, rip))
        }
        Fault::Alignment => (Trap { number: 17, error: 0, cr2 }, SigInfo::fault(SIGBUS, BUS_ADRALN, 0)),
    };
    ctx.kernel.signals.task.trap = trap;
    ctx.kernel.signals.task.interrupted = None;
    ctx.kernel.signals.force(info);
    deliver_pending(ctx)
}

/// Vector and `si_code` of a floating-point exception, from the unmasked flags of x87 or else of MXCSR
/// (`fpu__exception_code`).
fn float_code(image: &[u8; 512]) -> (u64, i32) {
    let control = u16::from_le_bytes([image[0], image[1]]);
    let status = u16::from_le_bytes([image[2], image[3]]);
    let mxcsr = u32::from_le_bytes([image[24], image[25], image[26], image[27]]);
    let x87 = u32::from(status & !control) & 0x3f;
    let (number, raised) = if x87 != 0 { (16, x87) } else { (19, mxcsr & !(mxcsr >> 7) & 0x3f) };
    let code = match raised {
        r if r & 1 != 0 => FPE_FLTINV,
        r if r & 4 != 0 => FPE_FLTDIV,
        r if r & 8 != 0 => FPE_FLTOVF,
        r if r & 0x12 != 0 => FPE_FLTUND,
        r if r & 0x20 != 0 => FPE_FLTRES,
        _ => 0,
    };
    (number, code)
}
