//! Signal actions: sigaction(2), signal(7).

use crate::abi::signal::{SIG_DFL, SIG_IGN, SigAction, bit, signo::*};

/// The table of signal actions, `struct sighand_struct` (CLONE_SIGHAND).
#[derive(Clone, Debug)]
pub struct SignalHandlers {
    actions: [SigAction; 64],
}

impl Default for SignalHandlers {
    fn default() -> Self {
        SignalHandlers { actions: [SigAction::default(); 64] }
    }
}

/// Returns whether the default action is to do nothing, signal(7).
pub(super) fn default_ignores(signo: i32) -> bool {
    matches!(signo, SIGCHLD | SIGCONT | SIGURG | SIGWINCH)
}

/// Signals whose default action is to stop the process, signal(7).
pub(in crate::kernel) const STOPS: u64 =
    1 << (SIGSTOP - 1) | 1 << (SIGTSTP - 1) | 1 << (SIGTTIN - 1) | 1 << (SIGTTOU - 1);

impl SignalHandlers {
    /// The action of a signal; the default one for a number that is not a signal.
    pub fn get(&self, signo: i32) -> SigAction {
        let at = usize::try_from(signo).unwrap_or(0).wrapping_sub(1);
        self.actions.get(at).copied().unwrap_or_default()
    }

    /// Sets the action of a signal; nothing happens for a number that is not a signal.
    pub(super) fn set(&mut self, signo: i32, action: SigAction) {
        let at = usize::try_from(signo).unwrap_or(0).wrapping_sub(1);
        if let Some(slot) = self.actions.get_mut(at) {
            *slot = action;
        }
    }

    /// Returns whether the action of a signal drops it.
    pub(in crate::kernel) fn ignores(&self, signo: i32) -> bool {
        match self.get(signo).handler {
            SIG_IGN => true,
            SIG_DFL => default_ignores(signo),
            _ => false,
        }
    }

    /// Returns whether a signal has its default action and that is to stop the process.
    pub(in crate::kernel) fn stops(&self, signo: i32) -> bool {
        self.get(signo).handler == SIG_DFL && bit(signo) & STOPS != 0
    }

    /// Returns whether a signal interrupts a waiting call: it is not blocked, and it runs a handler
    /// or ends the process.
    pub fn interrupts(&self, signo: i32, blocked: u64) -> bool {
        blocked & bit(signo) == 0 && !self.ignores(signo) && !self.stops(signo)
    }

    /// Returns whether a signal ends the process: it is not blocked, and that is its default
    /// action.
    pub fn kills(&self, signo: i32, blocked: u64) -> bool {
        self.interrupts(signo, blocked) && self.get(signo).handler == SIG_DFL
    }

    /// Takes handled signals back to their default action, as execve(2) does; ignored ones stay so.
    pub(in crate::kernel) fn exec(&mut self) {
        for action in &mut self.actions {
            let handler = if action.handler == SIG_IGN { SIG_IGN } else { SIG_DFL };
            *action = SigAction { handler, ..SigAction::default() };
        }
    }
}
