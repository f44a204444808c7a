//! Ctrl-C while the editor, which takes keys as they are, computes.

use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// As long as it lives, Ctrl-C at the terminal is a signal (termios(3), ISIG).
pub(super) struct SignalKeys(Option<Termios>);

impl SignalKeys {
    /// Makes Ctrl-C a signal, if standard input is a terminal.
    pub(super) fn on() -> SignalKeys {
        let Ok(before) = tcgetattr(stdin()) else { return SignalKeys(None) };
        let mut modes = before.clone();
        modes.local_modes |= LocalModes::ISIG;
        let set = tcsetattr(stdin(), OptionalActions::Now, &modes);
        SignalKeys(set.is_ok().then_some(before))
    }
}

impl Drop for SignalKeys {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // The editor sets its modes again for the next line anyway.
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}
