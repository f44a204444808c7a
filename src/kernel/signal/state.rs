//! The signal state of a task, and the rules by which signals are sent and taken.

use crate::abi::errno::Errno;
use crate::abi::signal::{
    AltStack, MINSIGSTKSZ, SIG_DFL, SIG_IGN, SigAction, UNBLOCKABLE, bit, signo::*, ss,
};
use crate::kernel::signal::handlers::SignalHandlers;
use crate::kernel::signal::info::SigInfo;
use crate::kernel::signal::queue::Queue;
use crate::kernel::signal::queued::Queued;

/// State that the last exception left for the signal frame: `thread.trap_nr`, `error_code`, `cr2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trap {
    /// Vector.
    pub number: u64,
    /// Error code as the CPU pushes it.
    pub error: u64,
    /// Address of the last page fault.
    pub cr2: u64,
}

/// Fate of a call that a signal interrupts, signal(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Started again after a handler with SA_RESTART, EINTR after another (`ERESTARTSYS`).
    WithFlag,
    /// Started again after any handler (`ERESTARTNOINTR`).
    Always,
    /// EINTR after any handler (`ERESTARTNOHAND`, `ERESTART_RESTARTBLOCK`).
    Never,
    /// EINTR even without a handler, after the process was stopped and continued (`EINTR`).
    Fails,
}

/// Target of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// The task alone.
    Task,
    /// Its process: any task of it may take the signal.
    Process,
}

/// The signal state that every task has for itself.
#[derive(Clone, Debug)]
pub struct TaskSignals {
    /// Blocked signals; bit 0 is signal 1.
    pub blocked: u64,
    /// The mask to go back to after a call that waits with another one (sigsuspend, ppoll,
    /// pselect).
    pub saved_mask: Option<u64>,
    /// Signals pending for this task alone.
    pub pending: Queue,
    /// The alternate stack.
    pub altstack: AltStack,
    /// The last exception.
    pub trap: Trap,
    /// The system call that a signal is about to interrupt: its number, its fate and the end of its
    /// wait.
    pub interrupted: Option<(u64, Restart, Option<u64>)>,
    /// The end of the wait of the call that is about to be made again.
    pub(crate) deadline: Option<u64>,
    /// A signal that the tracer is to be told of before it takes effect.
    pub(in crate::kernel) trapped: Option<SigInfo>,
    /// The signal that the tracer has let take effect.
    pub(in crate::kernel) injected: Option<SigInfo>,
    /// The signal whose handler was started last, until a debugger takes note of it.
    pub delivered: Option<i32>,
    /// Signals that it has taken, until the transcript has them.
    pub taken: Vec<SigInfo>,
}

impl TaskSignals {
    /// Nothing blocked, nothing pending.
    pub(in crate::kernel) fn new() -> TaskSignals {
        TaskSignals {
            blocked: 0,
            saved_mask: None,
            pending: Queue::default(),
            altstack: AltStack::NONE,
            trap: Trap::default(),
            interrupted: None,
            deadline: None,
            trapped: None,
            injected: None,
            delivered: None,
            taken: Vec::new(),
        }
    }

    /// The state of a task that this one makes: nothing is pending for it.
    pub(in crate::kernel) fn child(&self) -> TaskSignals {
        TaskSignals { blocked: self.blocked, altstack: self.altstack, trap: self.trap, ..TaskSignals::new() }
    }

    /// Sets the alternate stack (`do_sigaltstack`); the stack pointer tells whether the old one is
    /// in use. EPERM, EINVAL, ENOMEM.
    pub fn set_altstack(&mut self, new: AltStack, sp: u64) -> Result<(), Errno> {
        if self.altstack.active(sp) {
            return Err(Errno::EPERM);
        }
        self.altstack = match new.flags & !ss::AUTODISARM {
            ss::DISABLE => AltStack { sp: 0, size: 0, flags: new.flags },
            0 | ss::ONSTACK if new.size < MINSIGSTKSZ => return Err(Errno::ENOMEM),
            0 | ss::ONSTACK => new,
            _ => return Err(Errno::EINVAL),
        };
        Ok(())
    }
}

/// The signals of a task: its own state and what it shares with others.
pub struct Signals<'a> {
    /// State of the task.
    pub task: &'a mut TaskSignals,
    /// Signals pending for its process.
    pub shared: &'a mut Queue,
    /// Those that another task of it takes.
    pub of_others: u64,
    /// It has a tracer, which is told of what is taken and may have more than that stop it.
    pub(in crate::kernel) traced: bool,
    /// Its tracer, or a stop of its process, asks for a stop.
    pub(in crate::kernel) traps: bool,
    /// It is the first of its PID namespace: what has no handler does nothing to it.
    pub(in crate::kernel) unkillable: bool,
    /// Its actions.
    pub handlers: &'a mut SignalHandlers,
    /// The user to whose limit its signals count.
    pub(in crate::kernel) user: u32,
    /// Numbers of waiting signals.
    pub(in crate::kernel) queued: &'a mut Queued,
}

impl Signals<'_> {
    /// Sets the action of a signal, and drops the signal if it is pending and now ignored,
    /// sigaction(2).
    pub fn set_action(&mut self, signo: i32, action: SigAction) {
        self.handlers.set(signo, action);
        if self.handlers.ignores(signo) {
            self.shared.remove(bit(signo), self.queued);
            self.task.pending.remove(bit(signo), self.queued);
        }
    }

    /// Returns whether a pending signal interrupts a waiting call; `killable`: by ending the
    /// process.
    pub(in crate::kernel) fn interrupt_pending(&self, killable: bool) -> bool {
        let mut ready = self.to_take();
        if self.traced {
            let wanted = if killable { bit(SIGKILL) } else { u64::MAX };
            return ready & wanted != 0 || self.traps && !killable;
        }
        while ready != 0 {
            let signo = ready.trailing_zeros() as i32 + 1;
            let ends = if killable { SignalHandlers::kills } else { SignalHandlers::interrupts };
            if ends(self.handlers, signo, self.task.blocked) {
                return true;
            }
            ready &= ready - 1;
        }
        false
    }

    /// The pending signals that the task takes now: not what it blocks, nor what was sent to its
    /// process and another task takes.
    pub(super) fn to_take(&self) -> u64 {
        (self.shared.set() & !self.of_others | self.task.pending.set()) & !self.task.blocked
    }

    /// The signals pending for the task or its process.
    pub fn pending(&self) -> u64 {
        self.shared.set() | self.task.pending.set()
    }

    /// The queue of a target.
    pub(in crate::kernel) fn queue(&mut self, to: To) -> &mut Queue {
        match to {
            To::Task => &mut self.task.pending,
            To::Process => self.shared,
        }
    }

    fn push(&mut self, info: SigInfo, to: To) {
        let queue = match to {
            To::Task => &mut self.task.pending,
            To::Process => &mut *self.shared,
        };
        queue.push(info, self.user, self.queued);
    }

    /// Queues a signal unless its action ignores it.
    pub fn send(&mut self, info: SigInfo, to: To) {
        let signo = info.signo();
        if bit(signo) == 0 {
            return;
        }
        if !self.traced && self.task.blocked & bit(signo) == 0 && self.handlers.ignores(signo) {
            return;
        }
        self.push(info, to);
    }

    /// Lets a signal wait that was taken already.
    pub(super) fn requeue(&mut self, info: SigInfo) {
        self.push(info, To::Task);
    }

    /// Sends a signal that cannot be put off: one that is blocked or ignored ends the process
    /// (`force_sig`).
    pub fn force(&mut self, info: SigInfo) {
        let signo = info.signo();
        let action = self.handlers.get(signo);
        if self.task.blocked & bit(signo) != 0 || action.handler == SIG_IGN {
            self.set_action(signo, SigAction { handler: SIG_DFL, ..action });
            self.task.blocked &= !bit(signo);
        }
        self.push(info, To::Task);
    }

    /// Sends a signal that ends the process whatever its action is (`HANDLER_EXIT`).
    pub fn force_exit(&mut self, info: SigInfo) {
        self.set_action(info.signo(), SigAction::default());
        self.force(info);
    }

    /// Takes the next pending signal out of `wanted`: SIGKILL before all others, the task's before
    /// the process's, faults first, then by rising number, as `dequeue_signal` does.
    pub fn dequeue(&mut self, wanted: u64) -> Option<SigInfo> {
        let kill = self.pending() & wanted & bit(SIGKILL);
        let wanted = if kill != 0 { kill } else { wanted };
        let own = self.task.pending.pop(wanted, self.queued);
        own.or_else(|| self.shared.pop(wanted, self.queued))
    }

    /// Sets the mask for the rest of this call (ppoll(2), pselect(2), sigsuspend(2)). The old one
    /// comes back when the call ends: at once if no signal interrupted it, so that what the mask
    /// let through stays pending, and otherwise when the handler returns.
    pub fn set_temporary_mask(&mut self, mask: u64) {
        self.task.saved_mask = Some(self.task.blocked);
        self.task.blocked = mask & !UNBLOCKABLE;
    }

    /// Restores the mask that `set_temporary_mask` replaced.
    pub(super) fn restore_mask(&mut self) {
        if let Some(mask) = self.task.saved_mask.take() {
            self.task.blocked = mask;
        }
    }

    /// Resets handlers and the alternate stack, as execve(2) does. What is ignored, blocked and
    /// pending stays.
    pub(in crate::kernel) fn exec(&mut self) {
        self.handlers.exec();
        self.task.altstack = AltStack::NONE;
        self.task.saved_mask = None;
        self.task.interrupted = None;
    }
}

/// Describes for people what is not as it was at the start.
pub(in crate::kernel) fn describe(handlers: &SignalHandlers, blocked: u64, pending: u64) -> Vec<String> {
    let mut lines = Vec::new();
    for signo in 1..=SIGRTMAX {
        let blocked = if blocked & bit(signo) != 0 { ", blocked" } else { "" };
        let pending = if pending & bit(signo) != 0 { ", pending" } else { "" };
        let action = match handlers.get(signo).handler {
            SIG_DFL => "default".to_owned(),
            SIG_IGN => "ignored".to_owned(),
            handler => format!("handled at {handler:#x}"),
        };
        if action != "default" || !blocked.is_empty() || !pending.is_empty() {
            lines.push(format!("signal {signo}: {action}{blocked}{pending}"));
        }
    }
    if lines.is_empty() {
        lines.push("every signal has its default action; none is blocked or pending".to_owned());
    }
    lines
}
