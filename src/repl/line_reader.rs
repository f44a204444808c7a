//! One line from the editor, which gives up when a signal from outside comes.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::history::History;
use rustyline::{Editor, Helper};

use super::typed_ahead::NOW;
use crate::console::{self, Elsewhere};
use crate::session::{Control, PAUSE};

/// Interval at which a signal is looked for.
const TURN: Duration = Duration::from_millis(20);

/// Sequence that ends the marking of pasted text by the terminal, which the editor asks for.
const PLAIN_PASTE: &str = "\x1b[?2004l";

/// Lets the user edit a line that begins so. `None`: a signal has come that is to end the shell, or
/// the terminal is gone, which is SIGHUP too.
pub(super) fn read_line<H: Helper, I: History>(
    editor: &mut Editor<H, I>,
    prompt: &str,
    begun: &str,
    control: &Arc<Control>,
) -> Option<Result<String, ReadlineError>> {
    let modes = tcgetattr(stdin());
    let (read, wait) = channel();
    let watched = Arc::clone(control);
    let watch = move || watch(&watched, &wait);
    // Without another thread the signal is heeded after the line.
    let watch = std::thread::Builder::new().name("signals".to_owned()).spawn(watch);
    let line = editor.readline_with_initial(prompt, (begun, ""));
    drop(read);
    let Some(elsewhere) = watch.ok().and_then(|watch| watch.join().ok()).flatten() else {
        if line.is_err() && hung_up() {
            let hang_up = Signal::HUP.as_raw().unsigned_abs() as usize;
            let _ = control.interrupt.compare_exchange(0, hang_up, Relaxed, Relaxed);
            return None;
        }
        return Some(line);
    };
    // The editor has put back the modes of the other terminal.
    drop(elsewhere);
    if let Ok(modes) = modes {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
    let _ = writeln!(console::output(), "{PLAIN_PASTE}");
    None
}

/// Waits until the line is read, and ends the reading if a signal comes before: it goes on where a
/// Return is to be read.
fn watch(control: &Control, read: &Receiver<()>) -> Option<Elsewhere> {
    while read.recv_timeout(TURN) == Err(RecvTimeoutError::Timeout) {
        let signal = control.interrupt.load(Relaxed);
        if matches!(signal, 0 | PAUSE) {
            continue;
        }
        let Ok(elsewhere) = Elsewhere::go() else {
            // Nothing is spoiled by what the signal does of itself.
            control.resting.store(true, Relaxed);
            let signal = i32::try_from(signal).ok().and_then(Signal::from_named_raw);
            let _ = kill_process(getpid(), signal.unwrap_or(Signal::TERM));
            return None;
        };
        // The editor waits at the old terminal until something happens: to it, the window changes.
        let _ = kill_process(getpid(), Signal::WINCH);
        let _ = read.recv();
        return Some(elsewhere);
    }
    None
}

/// True if standard input is a terminal that is no longer there.
fn hung_up() -> bool {
    let mut input = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
    poll(&mut input, Some(&NOW)).is_ok() && input[0].revents().contains(PollFlags::HUP)
}
