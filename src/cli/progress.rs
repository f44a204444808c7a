//! The progress line of a long run: on a terminal only, and gone before anything else is printed,
//! by us or by the guest.

use std::io::IsTerminal as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::console::status_line;
use crate::profile::grouped;
use crate::session::{Control, TerminalObserver};

/// A run shorter than this shows nothing, nor does one in which the guest used the terminal so
/// recently.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two looks at the counters.
const INTERVAL: Duration = Duration::from_millis(200);

/// The line, and what it has to stand back for.
#[derive(Debug)]
struct Line {
    /// It is on the screen.
    drawn: bool,
    /// Time at which the guest last used the terminal.
    used: Instant,
    /// The guest's output ends in the middle of a line, or it waits for input: the rest of the line
    /// is its own.
    shared: bool,
}

impl Line {
    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            status_line(None);
        }
    }
}

/// The guest's side of the line. It may be shown only after [`Progress::watch`].
#[derive(Debug)]
pub(super) struct Shared {
    line: Mutex<Line>,
    /// Which of the guest's streams are a terminal.
    terminals: [bool; 3],
}

impl Shared {
    /// For a run on the streams of this process, if there is a terminal to draw on.
    pub(super) fn new() -> Option<Arc<Shared>> {
        let terminals = [
            std::io::stdin().is_terminal(),
            std::io::stdout().is_terminal(),
            std::io::stderr().is_terminal(),
        ];
        let line = Mutex::new(Line { drawn: false, used: Instant::now(), shared: false });
        terminals[2].then(|| Arc::new(Shared { line, terminals }))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the line away before the guest uses a stream.
    fn stand_back(&self, stream: u8, shared: bool) {
        if self.terminals.get(usize::from(stream)) != Some(&true) {
            return;
        }
        let mut line = self.line();
        line.clear();
        line.used = Instant::now();
        line.shared = shared;
    }

    /// Takes the line away before the front end prints.
    pub(super) fn clear(&self) {
        let mut line = self.line();
        line.clear();
        line.used = Instant::now();
        line.shared = false;
    }

    fn draw(&self, text: String) {
        let mut line = self.line();
        if text.is_empty() {
            line.clear();
        } else if !line.shared && line.used.elapsed() >= PATIENCE {
            status_line(Some(&text));
            line.drawn = true;
        }
    }
}

impl TerminalObserver for Shared {
    fn reading(&self, stream: u8) {
        self.stand_back(stream, true);
    }

    fn writing(&self, stream: u8, bytes: &[u8]) {
        self.stand_back(stream, bytes.last() != Some(&b'\n'));
    }
}

/// The thread that draws the line; dropping this clears the line.
pub(super) struct Progress {
    /// Closed to end the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to watch a run.
    pub(super) fn watch(shared: Arc<Shared>, control: Arc<Control>) -> Progress {
        Progress::follow(shared, move |elapsed| match control.interrupt.load(Relaxed) {
            0 => message(control.instructions.load(Relaxed), control.resident.load(Relaxed), elapsed),
            // A signal ends the run, and the next one cgemu: no line is left behind.
            _ => String::new(),
        })
    }

    /// Starts to show a text that depends on the time since then; an empty one is no line.
    pub(super) fn follow(
        shared: Arc<Shared>,
        text: impl Fn(Duration) -> String + Send + 'static,
    ) -> Progress {
        let (running, ended) = channel();
        let thread = std::thread::spawn(move || {
            let begin = Instant::now();
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                shared.draw(text(begin.elapsed()));
            }
            shared.line().clear();
        });
        Progress { running: Some(running), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            // Waited for, so that the line is gone when the caller prints.
            let _ = thread.join();
        }
    }
}

/// The text of the line: instructions so far, per second, and the guest's memory in MiB.
fn message(instructions: u64, resident: u64, elapsed: Duration) -> String {
    let per_second = instructions as f64 / elapsed.as_secs_f64().max(0.001) / 1e6;
    format!(
        "{} M instructions so far, {per_second:.0} M a second; {} MiB of the program's memory",
        grouped(instructions / 1_000_000),
        grouped(resident.div_ceil(1 << 20))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let two = Duration::from_secs(2);
        assert_eq!(
            message(2_468_000_000, 5 << 20, two),
            "2,468 M instructions so far, 1234 M a second; 5 MiB of the program's memory"
        );
        assert_eq!(
            message(0, 1, Duration::ZERO),
            "0 M instructions so far, 0 M a second; 1 MiB of the program's memory"
        );
        // Counters at their limit must not upset it.
        message(u64::MAX, u64::MAX, Duration::ZERO);
    }

    #[test]
    fn a_short_run_ends_at_once() {
        let begin = Instant::now();
        let line = Mutex::new(Line { drawn: false, used: begin, shared: false });
        let shared = Arc::new(Shared { line, terminals: [true; 3] });
        drop(Progress::watch(Arc::clone(&shared), Arc::default()));
        assert!(begin.elapsed() < PATIENCE);
        assert!(!shared.line().drawn);
    }

    #[test]
    fn the_rest_of_a_line_is_the_guests() {
        let long_ago = Instant::now().checked_sub(2 * PATIENCE).expect("a clock that runs");
        let line = Mutex::new(Line { drawn: false, used: long_ago, shared: false });
        let shared = Shared { line, terminals: [true, true, false] };
        let drawn = |shared: &Shared| {
            shared.line().used = long_ago;
            shared.draw("text".into());
            shared.line().drawn
        };
        assert!(drawn(&shared));
        shared.writing(1, b"Name: ");
        assert!(!drawn(&shared));
        shared.writing(2, b"no terminal\n");
        assert!(!drawn(&shared));
        shared.writing(1, b"Thanks.\n");
        assert!(drawn(&shared));
        shared.reading(0);
        assert!(!drawn(&shared));
    }
}
