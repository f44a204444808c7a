//! Runs of commands, with what they take.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What one run took.
#[derive(Clone, Copy)]
pub struct Run {
    pub wall: Duration,
    /// CPU time of all threads and processes.
    #[allow(dead_code, reason = "not every benchmark asks")]
    pub cpu: Duration,
    /// Peak memory of the process itself in KiB.
    #[allow(dead_code, reason = "not every benchmark asks")]
    pub peak: u64,
}

/// Runs a command to its end.
pub fn measure(mut command: Command) -> Run {
    let before = cpu_of_children();
    let begin = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    let wall = loop {
        if child.try_wait().expect("can be waited for").is_some() {
            break begin.elapsed();
        }
        peak = peak.max(high_water_mark(&status));
        std::thread::sleep(Duration::from_millis(2));
    };
    Run { wall, cpu: cpu_of_children() - before, peak }
}

/// CPU time of all children that have ended, in steps of 10 ms (`USER_HZ`).
fn cpu_of_children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may hold spaces.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

fn high_water_mark(status: &Path) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
