//! The progress line of a long run: on a terminal only, and gone before anything else is printed.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::top::grouped;
use crate::session::Control;

/// A run shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two looks at the counters.
const INTERVAL: Duration = Duration::from_millis(200);

/// The thread that draws the line; dropping this clears the line.
pub struct Progress {
    /// Closed to end the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to watch a run, if standard error is a terminal.
    pub fn watch(control: Arc<Control>) -> Option<Progress> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let (running, ended) = channel();
        let thread = std::thread::spawn(move || {
            let begin = Instant::now();
            let mut bar: Option<ProgressBar> = None;
            let mut pause = PATIENCE;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = INTERVAL;
                let bar = bar.get_or_insert_with(line);
                bar.set_message(message(
                    control.instructions.load(Relaxed),
                    control.resident.load(Relaxed),
                    begin.elapsed(),
                ));
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        Some(Progress { running: Some(running), thread: Some(thread) })
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

fn line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// The text of the line: instructions so far, per second, and the guest's memory in MiB.
fn message(instructions: u64, resident: u64, elapsed: Duration) -> String {
    let per_second = instructions as f64 / elapsed.as_secs_f64().max(0.001) / 1e6;
    format!(
        "{} M instructions, {per_second:.0} M/s, {} MiB",
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
        assert_eq!(message(2_468_000_000, 5 << 20, two), "2,468 M instructions, 1234 M/s, 5 MiB");
        assert_eq!(message(0, 1, Duration::ZERO), "0 M instructions, 0 M/s, 1 MiB");
        // Counters at their limit must not upset it.
        message(u64::MAX, u64::MAX, Duration::ZERO);
    }

    #[test]
    fn a_short_run_ends_at_once() {
        let begin = Instant::now();
        drop(Progress::watch(Arc::default()));
        assert!(begin.elapsed() < PATIENCE);
    }
}
