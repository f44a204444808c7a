//! The transcript of a run: a line for each event of a task, in the form of strace(1). A line stays
//! open while its call lasts, and is cut where another task's line comes between.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::signal::info::SigInfo;

/// Column of the equals sign, counted from where the call begins (strace's `acolumn`).
const RESULT_COLUMN: usize = 39;

/// A task's line that has no end yet.
#[derive(Clone, Debug)]
struct Open {
    tid: i32,
    /// Task and time.
    stamp: String,
    text: String,
}

/// Lines of a run.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Whole lines that the session has not taken yet.
    lines: String,
    /// Bytes of all lines until here.
    written: u64,
    /// Bytes that were taken, by whatever copy of the kernel: a run that went back says nothing
    /// twice.
    taken: Arc<AtomicU64>,
    open: Option<Open>,
    /// Signals that have stopped processes, with the task that got each, until lines are made of
    /// them.
    stops: Vec<(i32, SigInfo)>,
    /// Calls that have made a task and wait for it, by the numbers of their tasks.
    waiting: BTreeMap<i32, (Cow<'static, str>, String)>,
}

/// The task and the time that a line begins with; `now` is in nanoseconds since the program's
/// start.
fn stamp(tid: i32, now: u64) -> String {
    format!("[pid {tid}] {}.{:09} ", now / NSEC_PER_SEC, now % NSEC_PER_SEC)
}

impl Transcript {
    fn push(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
        self.written += line.len() as u64 + 1;
    }

    /// Cuts the line that is open, as its call goes on.
    pub fn interrupt(&mut self) {
        if let Some(Open { stamp, text, .. }) = self.open.take() {
            self.push(&format!("{stamp}{text} <unfinished ...>"));
        }
    }

    /// Adds a whole line.
    pub(crate) fn line(&mut self, tid: i32, now: u64, text: &str) {
        self.interrupt();
        self.push(&format!("{}{text}", stamp(tid, now)));
    }

    /// Notes that a signal has stopped a process.
    pub(super) fn stopped(&mut self, tid: i32, info: SigInfo) {
        self.stops.push((tid, info));
    }

    /// Takes the signals that have stopped processes since the last time.
    pub(crate) fn take_stops(&mut self) -> Vec<(i32, SigInfo)> {
        std::mem::take(&mut self.stops)
    }

    /// Notes that the call of a task waits for the task that it has made, vfork(2), and the rest of
    /// its arguments.
    pub(crate) fn waits(&mut self, tid: i32, name: Cow<'static, str>, rest: String) {
        self.waiting.insert(tid, (name, rest));
    }

    /// Ends the call of a task that has waited for the one that it made.
    pub(crate) fn goes_on(&mut self, tid: i32, now: u64, result: &str) {
        if let Some((name, rest)) = self.waiting.remove(&tid) {
            self.end(tid, now, &name, &rest, result);
        }
    }

    /// Opens a line with the beginning of a call.
    pub(crate) fn begin(&mut self, tid: i32, now: u64, text: String) {
        self.interrupt();
        self.open = Some(Open { tid, stamp: stamp(tid, now), text });
    }

    /// Forgets the line that is open: the call counts as not made.
    pub(crate) fn forget(&mut self) {
        self.open = None;
    }

    /// Ends a call's line: the rest of its arguments, and its result.
    pub(crate) fn end(&mut self, tid: i32, now: u64, name: &str, rest: &str, result: &str) {
        let (stamp, mut text) = match self.open.take_if(|open| open.tid == tid) {
            Some(open) => (open.stamp, open.text),
            None => {
                self.interrupt();
                (stamp(tid, now), format!("<... {name} resumed>"))
            }
        };
        text.push_str(rest);
        let _ = write!(text, "{:1$} = {result}", ")", RESULT_COLUMN.saturating_sub(text.chars().count()));
        self.push(&format!("{stamp}{text}"));
    }

    /// The lines since the last time, without those that were taken before the run went back.
    pub fn take(&mut self) -> String {
        let mut lines = std::mem::take(&mut self.lines);
        let taken = self.taken.fetch_max(self.written, Ordering::Relaxed);
        let fresh = self.written.saturating_sub(taken).min(lines.len() as u64);
        lines.drain(..lines.len() - fresh as usize);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms are strace's.
    #[test]
    fn lines_of_two_tasks() {
        let mut transcript = Transcript::default();
        transcript.begin(1000, 1_500_000, "read(3, ".into());
        transcript.line(1001, 2_000_001_000, "+++ exited with 0 +++");
        let before = transcript.clone();
        transcript.end(1000, 2_000_002_000, "read", "\"a\", 4", "1");
        transcript.begin(1000, 2_000_003_000, "close(3".into());
        transcript.end(1000, 2_000_004_000, "close", "", "0");
        let text = "[pid 1000] 0.001500000 read(3,  <unfinished ...>\n\
                    [pid 1001] 2.000001000 +++ exited with 0 +++\n\
                    [pid 1000] 2.000002000 <... read resumed>\"a\", 4)               = 1\n\
                    [pid 1000] 2.000003000 close(3)                                = 0\n";
        assert_eq!(transcript.take(), text);
        assert_eq!(transcript.take(), "");
        let mut again = before;
        again.end(1000, 2_000_002_000, "read", "\"a\", 4", "1");
        assert_eq!(again.take(), "");
    }

    #[test]
    fn a_call_that_waits_for_its_child() {
        let mut transcript = Transcript::default();
        transcript.begin(1000, 10, "vfork(".into());
        transcript.waits(1000, "vfork".into(), String::new());
        transcript.line(1002, 20, "+++ exited with 0 +++");
        transcript.goes_on(1000, 30, "1002");
        transcript.goes_on(1000, 30, "1002");
        let text = "[pid 1000] 0.000000010 vfork( <unfinished ...>\n\
                    [pid 1002] 0.000000020 +++ exited with 0 +++\n\
                    [pid 1000] 0.000000030 <... vfork resumed>)                    = 1002\n";
        assert_eq!(transcript.take(), text);
    }

    #[test]
    fn a_call_that_was_given_up_leaves_nothing() {
        let mut transcript = Transcript::default();
        transcript.begin(1000, 0, "read(0, ".into());
        transcript.forget();
        transcript.interrupt();
        assert_eq!(transcript.take(), "");
    }
}
