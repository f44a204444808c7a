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

/// Modes of adjtimex(2).
pub(crate) const ADJ_OFFSET: u32 = 1;
pub(crate) const ADJ_FREQUENCY: u32 = 2;
pub(crate) const ADJ_MAXERROR: u32 = 4;
pub(crate) const ADJ_ESTERROR: u32 = 8;
pub(crate) const ADJ_STATUS: u32 = 0x10;
pub(crate) const ADJ_TIMECONST: u32 = 0x20;
pub(crate) const ADJ_TAI: u32 = 0x80;
pub(crate) const ADJ_SETOFFSET: u32 = 0x100;
pub(crate) const ADJ_MICRO: u32 = 0x1000;
pub(crate) const ADJ_NANO: u32 = 0x2000;
pub(crate) const ADJ_TICK: u32 = 0x4000;
/// adjtime(3): alone of the modes, with ADJ_OFFSET.
pub(crate) const ADJ_ADJTIME: u32 = 0x8000;
/// Only asks what is left, with ADJ_ADJTIME.
pub(crate) const ADJ_OFFSET_READONLY: u32 = 0x2000;

/// Status of adjtimex(2).
pub(crate) const STA_PLL: u32 = 1;
pub(crate) const STA_INS: u32 = 0x10;
pub(crate) const STA_DEL: u32 = 0x20;
pub(crate) const STA_UNSYNC: u32 = 0x40;
pub(crate) const STA_NANO: u32 = 0x2000;
/// Bits that only the kernel sets.
pub(crate) const STA_RONLY: u32 = 0xff00;

/// The words of a `struct timeval`.
pub(crate) fn timeval(ns: u64) -> [u64; 2] {
    [ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000]
}
