//! Signals from outside. Those that would end cgemu end the run instead, so that its profile is
//! written.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
    SIGXFSZ,
};
use signal_hook::flag;
use signal_hook::low_level::pipe;

/// SIGSTKFLT and SIGPWR, which are Linux's own.
const LINUX_SIGNALS: [i32; 2] = [16, 30];

/// Real-time signals that the C library leaves to programs.
const REAL_TIME: std::ops::RangeInclusive<i32> = 34..=64;

/// Signals by which people and their tools end a process; the second ends cgemu at once.
const BY_HAND: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Other signals whose default action ends a process (signal(7)). What is left out is a fault of
/// cgemu's own, cannot be caught, or is an error of a write.
const OTHERS: [i32; 8] = [SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO];

/// Time in which a second signal is the same request: timeout(1) sends SIGTERM to the process and
/// to its group, a terminal that closes and the shell in it both send SIGHUP.
const SAME_REQUEST: Duration = Duration::from_millis(200);

/// Most of the CPU time that is kept for the profile where the host kills at a limit.
const FOR_THE_PROFILE: Duration = Duration::from_secs(1);

/// Signals that would end cgemu, but for those that its parent had it ignore, as nohup(1) does.
fn ending() -> impl Iterator<Item = i32> {
    let ignored = ignored();
    BY_HAND
        .into_iter()
        .chain(OTHERS)
        .chain(LINUX_SIGNALS)
        .chain(REAL_TIME)
        .filter(move |signal| ignored & (1 << (signal - 1)) == 0)
}

/// The signals that are ignored, signal 1 in the lowest bit; none if `/proc` does not tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Makes signals that would end cgemu ask the run to end, through `interrupt`, which gets their
/// number; so does a limit on CPU time at which the host would kill.
///
/// # Errors
/// Those of sigaction(2).
pub(super) fn end_the_run(interrupt: &Arc<AtomicUsize>) -> io::Result<()> {
    let impatient = Arc::new(AtomicBool::new(false));
    let (mut first, sender) = UnixStream::pair()?;
    for signal in ending() {
        if BY_HAND.contains(&signal) {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&impatient))?;
            pipe::register(signal, sender.try_clone()?)?;
        }
        flag::register_usize(signal, Arc::clone(interrupt), signal.unsigned_abs() as usize)?;
    }
    thread("signals", move || {
        if first.read_exact(&mut [0]).is_ok() {
            std::thread::sleep(SAME_REQUEST);
            impatient.store(true, Relaxed);
        }
    });
    watch_cpu_time(interrupt);
    Ok(())
}

/// Makes signals that would end the shell, but for Ctrl-C, wait for the end of the command at work,
/// which `interrupt` asks to end. While the shell is `resting` they do as they always do.
///
/// # Errors
/// Those of sigaction(2).
pub(super) fn end_the_command(interrupt: &Arc<AtomicUsize>, resting: &Arc<AtomicBool>) -> io::Result<()> {
    let ignored = ignored();
    for signal in [SIGHUP, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU] {
        if ignored & (1 << (signal - 1)) == 0 {
            flag::register_conditional_default(signal, Arc::clone(resting))?;
            flag::register_usize(signal, Arc::clone(interrupt), signal.unsigned_abs() as usize)?;
        }
    }
    Ok(())
}

/// Makes a file that grows beyond the host's limit an error of the write.
///
/// # Errors
/// Those of sigaction(2).
pub(super) fn survive_large_files() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Starts a thread. A host that has none left is soon named by what cannot do without.
fn thread(name: &str, run: impl FnOnce() + Send + 'static) {
    let _ = std::thread::Builder::new().name(name.to_owned()).spawn(run);
}

/// Asks the run to end shortly before the hard limit on CPU time, where the host would kill
/// (setrlimit(2)); `ulimit -t` sets it together with the soft limit, so no SIGXCPU comes before.
fn watch_cpu_time(interrupt: &Arc<AtomicUsize>) {
    let Some(limit) = getrlimit(Resource::Cpu).maximum.map(Duration::from_secs) else { return };
    let end = limit - (limit / 4).min(FOR_THE_PROFILE);
    let interrupt = Arc::clone(interrupt);
    thread("cpu time", move || {
        loop {
            let used = clock_gettime(ClockId::ProcessCPUTime);
            let used = Duration::try_from(used).unwrap_or_default();
            let Some(left) = end.checked_sub(used).filter(|left| !left.is_zero()) else { break };
            // No more threads than that use it up.
            std::thread::sleep((left / 4).clamp(Duration::from_millis(5), Duration::from_secs(1)));
        }
        let _ = interrupt.compare_exchange(0, SIGXCPU.unsigned_abs() as usize, Relaxed, Relaxed);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_is_named_once() {
        let mut all: Vec<i32> =
            BY_HAND.into_iter().chain(OTHERS).chain(LINUX_SIGNALS).chain(REAL_TIME).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(!all.iter().any(|signal| signal_hook::consts::FORBIDDEN.contains(signal)));
    }
}
