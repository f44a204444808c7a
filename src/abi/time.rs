//! Numbers of the time calls: clock_gettime(2), timer_create(2), times(2).

/// Nanoseconds in a second.
pub(crate) const NSEC_PER_SEC: u64 = 1_000_000_000;
/// Microseconds in a second.
pub(crate) const USEC_PER_SEC: u64 = 1_000_000;
/// Clock ticks in a second, sysconf(_SC_CLK_TCK).
pub(crate) const CLK_TCK: u64 = 100;
/// Nanoseconds of a clock tick.
pub(crate) const CLK_TCK_NS: u64 = NSEC_PER_SEC / CLK_TCK;

/// TIMER_ABSTIME of clock_nanosleep(2) and timer_settime(2).
pub(crate) const TIMER_ABSTIME: u64 = 1;

/// Sends a signal; the signal's number comes with it.
pub(crate) const SIGEV_SIGNAL: i32 = 0;
/// Sends nothing.
pub(crate) const SIGEV_NONE: i32 = 1;
/// Runs a function in a thread, for which the C library asks for a signal.
pub(crate) const SIGEV_THREAD: i32 = 2;
/// Sends a signal to one thread.
pub(crate) const SIGEV_THREAD_ID: i32 = 4;

pub(crate) const CLOCK_REALTIME: i32 = 0;
pub(crate) const CLOCK_MONOTONIC: i32 = 1;
pub(crate) const CLOCK_BOOTTIME: i32 = 7;
pub(crate) const CLOCK_REALTIME_ALARM: i32 = 8;
pub(crate) const CLOCK_BOOTTIME_ALARM: i32 = 9;

pub(crate) const TFD_TIMER_ABSTIME: u32 = 1;
pub(crate) const TFD_TIMER_CANCEL_ON_SET: u32 = 2;
pub(crate) const TFD_IOC_SET_TICKS: u64 = 0x4008_5400;

/// The words of a `struct timeval`.
pub(crate) fn timeval(ns: u64) -> [u64; 2] {
    [ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000]
}
