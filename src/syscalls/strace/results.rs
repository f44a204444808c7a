//! Text of what calls return.

use crate::abi::errno::Errno;
use crate::abi::errno_names::ERRORS;
use crate::abi::signal_names::name;
use crate::kernel::signal::state::Restart;
use crate::syscalls::strace::flags;
use crate::syscalls::strace::kind::Shape;
use crate::syscalls::strace::kinds::{Arguments, mode, open_flags};
use crate::syscalls::strace::signatures::returns_address;
use crate::syscalls::strace::text::{SHOWN, list};

/// Calls that Linux does not start again by themselves: the time left is somewhere else
/// (`ERESTART_RESTARTBLOCK`).
const RESTART_BLOCKS: [&str; 4] = ["clock_nanosleep", "futex", "nanosleep", "poll"];

/// The result of a call that failed.
pub(super) fn failure(errno: Errno) -> String {
    match ERRORS.iter().find(|(number, ..)| *number == errno.0) {
        Some((_, name, text)) => format!("-1 {name} ({text})"),
        None => format!("-1 (errno {})", errno.0),
    }
}

/// The result of a call that a signal has interrupted.
pub(super) fn interruption(call: &str, restart: Restart) -> String {
    match restart {
        Restart::WithFlag => "? ERESTARTSYS (To be restarted if SA_RESTART is set)".into(),
        Restart::Always => "? ERESTARTNOINTR (To be restarted)".into(),
        Restart::Never if RESTART_BLOCKS.contains(&call) => {
            "? ERESTART_RESTARTBLOCK (Interrupted by signal)".into()
        }
        Restart::Never => "? ERESTARTNOHAND (To be restarted if no handler)".into(),
        Restart::Fails => failure(Errno::EINTR),
    }
}

impl Arguments<'_> {
    /// The value of a call that did not fail, with the names that strace adds.
    pub(super) fn value(&mut self, call: &str) -> String {
        const F_GETFD: u64 = 1;
        const F_GETFL: u64 = 3;
        let value = self.returned();
        let plain = (value as i64).to_string();
        let [first, second, ..] = self.args;
        match call {
            "umask" => mode(value),
            "sched_getscheduler" => format!("{plain} ({})", flags::value(value, flags::SCHED)),
            "rt_sigtimedwait" => format!("{plain} ({})", name(value as i32)),
            "poll" | "ppoll" | "select" | "pselect6" if value == 0 => "0 (Timeout)".into(),
            "poll" | "ppoll" => format!("{plain} ({})", self.ready(first, second)),
            "select" | "pselect6" => format!("{plain} ({})", self.chosen(call)),
            "fcntl" if second == F_GETFD && value != 0 => {
                format!("{value:#x} (flags {})", flags::bits(value, flags::FD))
            }
            "fcntl" if second == F_GETFL => format!("{value:#x} (flags {})", open_flags(value)),
            _ if returns_address(call) => format!("{value:#x}"),
            _ => plain,
        }
    }

    /// The descriptors of poll(2) that have events.
    fn ready(&mut self, addr: u64, count: u64) -> String {
        let mut parts = Vec::new();
        for at in 0..u64::from(count as u32) {
            let Some(word) = self.word(addr.wrapping_add(8 * at)) else { break };
            let events = word >> 48;
            if events == 0 {
                continue;
            }
            if parts.len() == SHOWN {
                parts.push("...".into());
                break;
            }
            parts.push(format!("{{fd={}, revents={}}}", word as i32, flags::bits(events, flags::POLL)));
        }
        list(parts)
    }

    /// The descriptors that select(2) has left in its sets, and the time that it has.
    fn chosen(&mut self, call: &str) -> String {
        let [_, read, write, except, timeout, _] = self.args;
        let mut parts = Vec::new();
        for (what, set) in [("in", read), ("out", write), ("except", except)] {
            if set != 0 {
                let text = self.shape(Shape::Fds, set, 0);
                if text != "[]" {
                    parts.push(format!("{what} {text}"));
                }
            }
        }
        if timeout != 0 {
            let shape = if call == "select" { Shape::Timeval } else { Shape::Timespec };
            parts.push(format!("left {}", self.shape(shape, timeout, 4)));
        }
        parts.join(", ")
    }
}
