//! State that a run shares with signal handlers and the front end while it goes on.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use crate::kernel::config::TerminalObserver;
use crate::requests::Voice;

/// Value of [`Control::interrupt`] that asks for a pause; no signal has this number.
pub const PAUSE: usize = usize::MAX - 1;

/// Value of [`Control::interrupt`] that says that the time limit is reached.
pub(super) const TIME_IS_UP: usize = usize::MAX;

/// Counters and requests that others read and set while the guest runs.
#[derive(Debug, Default)]
pub struct Control {
    /// The number of the signal that asks the run to end; 0 for none.
    pub interrupt: Arc<AtomicUsize>,
    /// A front end has not begun, or cannot end in good order: a signal does what it always does.
    pub resting: Arc<AtomicBool>,
    /// Instructions executed, roughly.
    pub instructions: AtomicU64,
    /// Bytes of guest memory in use, roughly.
    pub resident: AtomicU64,
    /// Told when the guest is about to use the host's streams.
    pub terminal: Option<Arc<dyn TerminalObserver>>,
    /// Takes what the program wants in the log at once.
    pub log: Option<Arc<dyn LogSink>>,
    /// Takes the lines about calls and signals, if they are not for the log.
    pub transcript: Option<Arc<dyn LogSink>>,
}

/// The log while the program runs.
pub trait LogSink: fmt::Debug + Send + Sync {
    /// Adds text, with the prefix of `voice` at the beginning of each line.
    fn say(&self, voice: Voice, text: &[u8]);
}
