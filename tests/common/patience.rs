//! How long tests wait for others. Turns are counted, not the clock: a machine that stood still for
//! a minute, as virtual ones do, has not kept anybody waiting.

use std::fs;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

const TURN: Duration = Duration::from_millis(2);

/// A number of short sleeps.
pub struct Patience {
    turns: u128,
}

impl Patience {
    /// At least this long, and longer where the sleeps take longer.
    pub fn of(limit: Duration) -> Self {
        Self { turns: limit.as_nanos() / TURN.as_nanos() }
    }

    /// Sleeps for a turn; whether there was one left.
    pub fn turn(&mut self) -> bool {
        let left = self.turns > 0;
        if left {
            self.turns -= 1;
            thread::sleep(TURN);
        }
        left
    }
}

/// How a process ended. One that does not is still there afterwards.
///
/// # Errors
/// If it has not ended: for how long, and what it waits for as Linux tells it.
pub fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus, String> {
    let mut patience = Patience::of(limit);
    loop {
        if let Some(status) = child.try_wait().expect("wait") {
            return Ok(status);
        }
        if !patience.turn() {
            return Err(format!("did not end within {limit:?}; {}", doing(child.id())));
        }
    }
}

/// The call a process is in and its signals.
fn doing(pid: u32) -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let mut text = format!("call {}, at {}", read("syscall").trim(), read("wchan"));
    for line in read("status").lines() {
        if ["State", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"]
            .iter()
            .any(|name| line.starts_with(name))
        {
            text += &format!(", {}", line.replace('\t', " "));
        }
    }
    text
}
