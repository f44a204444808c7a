//! Taking pending signals to their handlers or default actions, and turning faults of the CPU into
//! signals.

use crate::abi::signal::{
    AltStack, SIG_DFL, SIG_IGN, SigAction, UNBLOCKABLE, bit, sa, si_code::*, signo::*, ss,
};
use crate::guest::{Fault, Gpr, GuestCpu, GuestMemory, USER_END};
use crate::kernel::signal::frame::{self, BadFrame};
use crate::kernel::signal::handlers::{STOPS, default_ignores};
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::state::{Restart, Signals, Trap};

/// Bytes of the `syscall` instruction.
const SYSCALL_LEN: u64 = 2;

/// A default action of a signal that the process does not survive as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The signal ends the process.
    Killed(i32),
    /// The signal stops it.
    Stopped(i32),
    /// The tracer is to be told of a signal first.
    Trapped,
    /// The task has stopped for its tracer.
    Traced,
}

/// A signal frame of 32-bit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompatMode;

impl Signals<'_> {
    /// Sets up the handlers of all signals that are pending and not blocked; runs at the end of
    /// every system call. As in Linux each has its frame on top of the one before, so the last one
    /// found runs first.
    ///
    /// # Errors
    /// What a signal does to the process.
    pub(in crate::kernel) fn deliver_pending(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), Fate> {
        if self.task.interrupted.is_none() {
            // No signal interrupted a call that waited with a temporary mask: the signals that the
            // mask let through stay pending.
            self.restore_mask();
        }
        if let Some(info) = self.task.injected.take() {
            if self.task.blocked & bit(info.signo()) != 0 {
                self.requeue(info);
            } else {
                self.deliver(cpu, mem, &info)?;
            }
        }
        let idle = self.to_take() == 0;
        if idle && self.task.saved_mask.is_none() {
            // A stop, or a signal that another task has taken: the call goes on.
            self.go_on_with_call(cpu);
            return Ok(());
        }
        while let Some(info) = self.dequeue(self.to_take()) {
            if self.traced && info.signo() != SIGKILL {
                self.task.trapped = Some(info);
                return Err(Fate::Trapped);
            }
            self.deliver(cpu, mem, &info)?;
        }
        self.go_on_with_call(cpu);
        self.restore_mask();
        Ok(())
    }

    /// Starts the call again that was interrupted, as no handler was run.
    fn go_on_with_call(&mut self, cpu: &mut dyn GuestCpu) {
        if let Some((number, restart, deadline)) = self.task.interrupted.take()
            && restart != Restart::Fails
        {
            self.task.deadline = deadline;
            start_again(cpu, number);
        }
    }

    /// Takes one signal to its action.
    fn deliver(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
        info: &SigInfo,
    ) -> Result<(), Fate> {
        let signo = info.signo();
        let action = self.handlers.get(signo);
        self.task.taken.push(*info);
        match action.handler {
            SIG_IGN => Ok(()),
            SIG_DFL if default_ignores(signo) => Ok(()),
            SIG_DFL if self.unkillable && bit(signo) & UNBLOCKABLE == 0 && !is_fault(info) => Ok(()),
            SIG_DFL if bit(signo) & STOPS != 0 => Err(Fate::Stopped(signo)),
            SIG_DFL => Err(Fate::Killed(signo)),
            _ => self.run_handler(cpu, mem, &action, info),
        }
    }

    fn run_handler(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
        action: &SigAction,
        info: &SigInfo,
    ) -> Result<(), Fate> {
        let signo = info.signo();
        if let Some((number, restart, _)) = self.task.interrupted.take()
            && (restart == Restart::Always || restart == Restart::WithFlag && action.flags & sa::RESTART != 0)
        {
            start_again(cpu, number);
        }
        let mask = self.task.saved_mask.take().unwrap_or(self.task.blocked);
        if frame::push(cpu, mem, self.task, action, info, mask).is_err() {
            self.task.blocked = mask;
            if signo == SIGSEGV {
                return Err(Fate::Killed(SIGSEGV));
            }
            self.force(SigInfo::kernel(SIGSEGV));
            return Ok(());
        }
        self.task.delivered = Some(signo);
        self.task.blocked |= action.mask;
        if action.flags & sa::NODEFER == 0 {
            self.task.blocked |= bit(signo);
        }
        self.task.blocked &= !UNBLOCKABLE;
        if self.task.altstack.flags & ss::AUTODISARM != 0 {
            self.task.altstack = AltStack::NONE;
        }
        if action.flags & sa::RESETHAND != 0 {
            self.set_action(signo, SigAction { handler: SIG_DFL, ..*action });
        }
        Ok(())
    }

    /// Restores mask, alternate stack and registers from the frame that the stack pointer is at,
    /// rt_sigreturn(2). A bad frame is a SIGSEGV.
    ///
    /// # Errors
    /// A frame that returns to 32-bit code; nothing has changed.
    pub fn return_from_handler(
        &mut self,
        cpu: &mut dyn GuestCpu,
        mem: &mut dyn GuestMemory,
    ) -> Result<(), CompatMode> {
        match frame::pop(cpu, mem) {
            Ok(popped) => {
                self.task.blocked = popped.mask & !UNBLOCKABLE;
                // Linux ignores a bad `uc_stack` here.
                let _ = self.task.set_altstack(popped.altstack, cpu.gpr(Gpr::Rsp));
            }
            Err(BadFrame::Fault) => self.force(SigInfo::kernel(SIGSEGV)),
            Err(BadFrame::CompatMode) => return Err(CompatMode),
        }
        Ok(())
    }

    /// Queues the signal of a fault. RIP must be where Linux would see it: at the instruction, for
    /// `int3` after it.
    pub(in crate::kernel) fn raise_fault(&mut self, cpu: &mut dyn GuestCpu, fault: Fault) {
        let (trap, info) = signal_of(cpu, fault, self.task.trap.cr2);
        self.task.trap = trap;
        self.task.interrupted = None;
        self.force(info);
    }
}

/// Tells if the CPU or the kernel has sent a signal for what the program did.
fn is_fault(info: &SigInfo) -> bool {
    matches!(info.signo(), SIGSEGV | SIGBUS | SIGFPE | SIGILL | SIGTRAP | SIGSYS) && info.code() > 0
}

/// Makes the interrupted call run again, from its `syscall` instruction.
fn start_again(cpu: &mut dyn GuestCpu, number: u64) {
    cpu.set_gpr(Gpr::Rax, number);
    cpu.set_rip(cpu.rip().wrapping_sub(SYSCALL_LEN));
}

/// The trap and the signal of a fault; `cr2` is the address of the last page fault.
fn signal_of(cpu: &mut dyn GuestCpu, fault: Fault, cr2: u64) -> (Trap, SigInfo) {
    let rip = cpu.rip();
    match fault {
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
        Fault::Protection { error } => {
            (Trap { number: 13, error: error.into(), cr2 }, SigInfo::kernel(SIGSEGV))
        }
        Fault::Stack => (Trap { number: 12, error: 0, cr2 }, SigInfo::kernel(SIGBUS)),
        // `force_sig_info_umip_fault`
        Fault::KernelStore { addr } => {
            (Trap { number: 14, error: 6, cr2: addr }, SigInfo::fault(SIGSEGV, SEGV_MAPERR, addr))
        }
        Fault::Overflow => (Trap { number: 4, error: 0, cr2 }, SigInfo::kernel(SIGSEGV)),
        Fault::Divide => (Trap { number: 0, error: 0, cr2 }, SigInfo::fault(SIGFPE, FPE_INTDIV, rip)),
        Fault::InvalidOpcode => (Trap { number: 6, error: 0, cr2 }, SigInfo::fault(SIGILL, ILL_ILLOPN, rip)),
        Fault::Breakpoint => (Trap { number: 3, error: 0, cr2 }, SigInfo::kernel(SIGTRAP)),
        Fault::Debug => (Trap { number: 1, error: 0, cr2 }, SigInfo::fault(SIGTRAP, TRAP_TRACE, rip)),
        Fault::Icebp => (Trap { number: 1, error: 0, cr2 }, SigInfo::fault(SIGTRAP, TRAP_BRKPT, rip)),
        Fault::FloatingPoint => {
            let (number, code) = float_code(&cpu.fpu());
            (Trap { number, error: 0, cr2 }, SigInfo::fault(SIGFPE, code, rip))
        }
        Fault::Alignment => (Trap { number: 17, error: 0, cr2 }, SigInfo::fault(SIGBUS, BUS_ADRALN, 0)),
    }
}

/// Vector and `si_code` of a floating-point exception, from the unmasked flags of x87 or else of
/// MXCSR (`fpu__exception_code`).
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
