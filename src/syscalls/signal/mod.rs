//! Signals: what is pending, blocked and handled. `send` queues, `deliver` picks and runs handlers, `frame`
//! lays out the stack as Linux does, `calls` and `kill` serve the system calls.

mod calls;
mod deliver;
mod frame;
mod info;
mod kill;
mod queue;
#[cfg(test)]
mod tests;

pub use calls::ROWS;
pub use deliver::{Restart, deliver_fault, deliver_pending, interrupted};
pub use info::{SigInfo, si_code};
pub use kill::ROWS as KILL_ROWS;
pub use queue::Queue;

use crate::syscalls::process;

pub use crate::abi::signal::*;
use signo::*;

/// What the last exception left for the signal frame: `thread.trap_nr`, `error_code` and `cr2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trap {
    /// Vector.
    pub number: u64,
    /// Error code as the CPU pushes it.
    pub error: u64,
    /// Address of the last page fault.
    pub cr2: u64,
}

/// The signal state that every task has for itself.
#[derive(Clone, Debug)]
pub struct TaskSignals {
    /// Blocked signals; bit 0 is signal 1.
    pub blocked: u64,
    /// The mask to go back to after a call that waits with another one (sigsuspend, ppoll, pselect).
    pub saved_mask: Option<u64>,
    /// Pending for this task alone.
    pub pending: Queue,
    /// The alternate stack.
    pub altstack: AltStack,
    /// The last exception.
    pub trap: Trap,
    /// The system call that a signal is about to interrupt: its number and how it restarts.
    pub interrupted: Option<(u64, Restart)>,
}

/// Signal actions, masks and what is pending.
#[derive(Clone, Debug)]
pub struct Signals {
    actions: [SigAction; 64],
    /// Pending for the process.
    pub shared: Queue,
    /// State of the running task.
    pub task: TaskSignals,
    /// A stop signal that was dropped and is still to be mentioned.
    dropped_stop: Option<i32>,
    /// The signal whose handler was started last, if nobody has taken note of it.
    pub delivered: Option<i32>,
}

impl Default for Signals {
    fn default() -> Self {
        Signals::new()
    }
}

/// Whether the default action is to do nothing, signal(7).
fn default_ignores(signo: i32) -> bool {
    matches!(signo, SIGCHLD | SIGCONT | SIGURG | SIGWINCH)
}

/// Whether the default action is to stop the process, signal(7).
fn default_stops(signo: i32) -> bool {
    matches!(signo, SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU)
}

impl Signals {
    /// Nothing handled, nothing blocked, nothing pending.
    pub fn new() -> Signals {
        Signals {
            actions: [SigAction::default(); 64],
            shared: Queue::default(),
            task: TaskSignals {
                blocked: 0,
                saved_mask: None,
                pending: Queue::default(),
                altstack: AltStack::NONE,
                trap: Trap::default(),
                interrupted: None,
            },
            dropped_stop: None,
            delivered: None,
        }
    }

    /// The action of a signal; the default one for a number that is not a signal.
    pub fn action(&self, signo: i32) -> SigAction {
        let at = usize::try_from(signo).unwrap_or(0).wrapping_sub(1);
        self.actions.get(at).copied().unwrap_or_default()
    }

    /// Sets the action of a signal and drops what is pending and would now be ignored, sigaction(2).
    pub fn set_action(&mut self, signo: i32, action: SigAction) {
        let at = usize::try_from(signo).unwrap_or(0).wrapping_sub(1);
        if let Some(slot) = self.actions.get_mut(at) {
            *slot = action;
            if self.ignores(signo) {
                self.shared.remove(bit(signo));
                self.task.pending.remove(bit(signo));
            }
        }
    }

    /// What is not as it was at the start, in lines for people.
    pub fn described(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for signo in 1..=64 {
            let blocked = if self.task.blocked & bit(signo) != 0 { ", blocked" } else { "" };
            let pending = if self.pending() & bit(signo) != 0 { ", pending" } else { "" };
            let action = match self.action(signo).handler {
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

    /// Whether a signal that arrives now would be thrown away by its action.
    pub fn ignores(&self, signo: i32) -> bool {
        match self.action(signo).handler {
            SIG_IGN => true,
            SIG_DFL => default_ignores(signo),
            _ => false,
        }
    }

    /// Whether the signal, arriving now, would interrupt a waiting call: it is not blocked, and it runs a
    /// handler or ends the process.
    pub fn interrupts(&self, signo: i32) -> bool {
        let stops = self.action(signo).handler == SIG_DFL && default_stops(signo);
        self.task.blocked & bit(signo) == 0 && !self.ignores(signo) && !stops
    }

    /// Whether a pending signal interrupts a waiting call.
    pub fn interrupt_pending(&self) -> bool {
        let mut ready = self.pending() & !self.task.blocked;
        while ready != 0 {
            let signo = ready.trailing_zeros() as i32 + 1;
            if self.interrupts(signo) {
                return true;
            }
            ready &= ready - 1;
        }
        false
    }

    /// The signals pending for the task or its process.
    pub fn pending(&self) -> u64 {
        self.shared.set() | self.task.pending.set()
    }

    /// Sends a signal of the kernel's own (SIGPIPE, SIGXFSZ) to the running task. The program sees SI_USER and
    /// its own ids, as Linux has it.
    pub fn raise(&mut self, signo: i32) {
        self.send(SigInfo::user(signo, si_code::SI_USER, process::PID as u32, process::host_uid()), true);
    }

    /// Queues a signal for the task alone or for the process, unless its action ignores it.
    pub fn send(&mut self, info: SigInfo, to_task: bool) {
        let signo = info.signo();
        if bit(signo) == 0 {
            return;
        }
        const STOPS: u64 = 1 << (SIGSTOP - 1) | 1 << (SIGTSTP - 1) | 1 << (SIGTTIN - 1) | 1 << (SIGTTOU - 1);
        let opposite = match signo {
            SIGCONT => STOPS,
            _ if bit(signo) & STOPS != 0 => bit(SIGCONT),
            _ => 0,
        };
        self.shared.remove(opposite);
        self.task.pending.remove(opposite);
        if self.task.blocked & bit(signo) == 0 {
            if self.ignores(signo) {
                return;
            }
            if self.action(signo).handler == SIG_DFL && default_stops(signo) {
                self.dropped_stop = Some(signo);
                return;
            }
        }
        let queue = if to_task { &mut self.task.pending } else { &mut self.shared };
        queue.push(info);
    }

    /// Takes the next pending signal out of `wanted`: the task's before the process's, faults first, then by
    /// rising number, as `dequeue_signal` does.
    pub fn dequeue(&mut self, wanted: u64) -> Option<SigInfo> {
        self.task.pending.pop(wanted).or_else(|| self.shared.pop(wanted))
    }

    /// Sets the mask for the rest of this call (ppoll(2), pselect(2), sigsuspend(2)). The old one comes back
    /// when the call ends: at once if no signal interrupted it, so that what the mask let through stays
    /// pending, and otherwise when the handler returns.
    pub fn set_temporary_mask(&mut self, mask: u64) {
        self.task.saved_mask = Some(self.task.blocked);
        self.task.blocked = mask & !UNBLOCKABLE;
    }

    /// Takes the mask of before `set_temporary_mask` back.
    fn restore_mask(&mut self) {
        if let Some(mask) = self.task.saved_mask.take() {
            self.task.blocked = mask;
        }
    }

    /// What execve(2) does to signals: handled ones go back to their default, the alternate stack goes, what
    /// is ignored, blocked and pending stays.
    pub fn exec(&mut self) {
        for action in &mut self.actions {
            let handler = if action.handler == SIG_IGN { SIG_IGN } else { SIG_DFL };
            *action = SigAction { handler, ..SigAction::default() };
        }
        self.task.altstack = AltStack::NONE;
        self.task.saved_mask = None;
        self.task.interrupted = None;
    }
}
