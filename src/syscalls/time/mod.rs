//! The guest's time: a clock made of executed instructions and of the time slept. One instruction takes one
//! nanosecond. `timers` holds what is armed, `wait` makes time pass, `calls` serves the system calls.

mod calls;
mod timer_calls;
pub mod timers;
pub mod wait;

pub use calls::ROWS;
pub use timer_calls::ROWS as TIMER_ROWS;

use crate::abi::errno::Errno;
use crate::guest::GuestMemory;
use crate::syscalls::kernel::Ctx;
use crate::syscalls::uaccess::{get_words, put_words};

use timers::Timers;

/// Nanoseconds in a second.
pub const NSEC_PER_SEC: u64 = 1_000_000_000;
/// CLOCK_REALTIME at the first instruction: 2024-01-01T00:00:00Z in nanoseconds.
pub const REALTIME_START: u64 = 1_704_067_200 * NSEC_PER_SEC;
/// CLOCK_MONOTONIC and CLOCK_BOOTTIME at the first instruction: the machine has been up for 1000 s.
pub const MONOTONIC_START: u64 = 1000 * NSEC_PER_SEC;

/// The clock. All values are nanoseconds; `instructions` is what `GuestCpu::instructions` counts.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    slept: u64,
    /// Interval timers and POSIX timers.
    pub timers: Timers,
}

impl Clock {
    /// The clock at the program's first instruction.
    pub fn new() -> Clock {
        Clock::default()
    }

    /// Time since the program's first instruction.
    pub fn now_ns(&self, instructions: u64) -> u64 {
        self.slept.saturating_add(instructions)
    }

    /// CLOCK_REALTIME.
    pub fn realtime_ns(&self, instructions: u64) -> u64 {
        REALTIME_START.saturating_add(self.now_ns(instructions))
    }

    /// CLOCK_MONOTONIC.
    pub fn monotonic_ns(&self, instructions: u64) -> u64 {
        MONOTONIC_START.saturating_add(self.now_ns(instructions))
    }

    /// The instruction count at which a timer is due if the program makes no call until then.
    pub fn next_due(&self) -> Option<u64> {
        self.timers.next_due(self.slept)
    }

    /// Lets time pass in which the program does nothing.
    pub fn advance(&mut self, ns: u64) {
        self.slept = self.slept.saturating_add(ns);
    }
}

/// Time since the program's first instruction, in nanoseconds. Asking costs a synchronisation with the CPU.
pub fn now(ctx: &mut Ctx) -> u64 {
    ctx.kernel.clock.now_ns(ctx.cpu.instructions())
}

/// The moment CLOCK_REALTIME shows: seconds since the epoch, and nanoseconds.
pub fn real_time(ctx: &mut Ctx) -> (i64, u32) {
    let ns = ctx.kernel.clock.realtime_ns(ctx.cpu.instructions());
    ((ns / NSEC_PER_SEC) as i64, (ns % NSEC_PER_SEC) as u32)
}

/// A `struct timespec` or `timeval` as nanoseconds; EINVAL where it is negative or not normal.
fn checked(seconds: u64, part: u64, parts_per_sec: u64) -> Result<u64, Errno> {
    if seconds as i64 >= 0 && part < parts_per_sec {
        let ns = part * (NSEC_PER_SEC / parts_per_sec);
        Ok(seconds.saturating_mul(NSEC_PER_SEC).saturating_add(ns))
    } else {
        Err(Errno::EINVAL)
    }
}

/// Reads a `struct timespec`: nanoseconds, EFAULT, or EINVAL where it is negative or not normal.
pub fn get_timespec(mem: &mut dyn GuestMemory, addr: u64) -> Result<u64, Errno> {
    let [seconds, ns] = get_words(mem, addr)?;
    checked(seconds, ns, NSEC_PER_SEC)
}

/// Writes a `struct timespec`.
pub fn put_timespec(mem: &mut dyn GuestMemory, addr: u64, ns: u64) -> Result<(), Errno> {
    put_words(mem, addr, &[ns / NSEC_PER_SEC, ns % NSEC_PER_SEC])
}

/// Reads a `struct timeval`: nanoseconds, EFAULT, or EINVAL where it is negative or not normal.
pub fn get_timeval(mem: &mut dyn GuestMemory, addr: u64) -> Result<u64, Errno> {
    let [seconds, us] = get_words(mem, addr)?;
    checked(seconds, us, 1_000_000)
}

/// The words of a `struct timeval`.
pub fn timeval(ns: u64) -> [u64; 2] {
    [ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_run_together() {
        let mut clock = Clock::new();
        assert_eq!(clock.realtime_ns(0), 1_704_067_200_000_000_000);
        clock.advance(5 * NSEC_PER_SEC);
        assert_eq!(clock.now_ns(7), 5_000_000_007);
        assert_eq!(clock.monotonic_ns(7), 1_005_000_000_007);
        assert_eq!(clock.realtime_ns(7) - REALTIME_START, clock.monotonic_ns(7) - MONOTONIC_START);
    }

    #[test]
    fn the_clock_stops_at_its_end() {
        let mut clock = Clock::new();
        clock.advance(u64::MAX);
        clock.advance(u64::MAX);
        assert_eq!(clock.realtime_ns(u64::MAX), u64::MAX);
    }

    #[test]
    fn odd_times_are_refused() {
        assert_eq!(checked(1, 999_999_999, NSEC_PER_SEC), Ok(1_999_999_999));
        assert_eq!(checked(1, 999_999, 1_000_000), Ok(1_999_999_000));
        assert_eq!(checked(0, NSEC_PER_SEC, NSEC_PER_SEC), Err(Errno::EINVAL));
        assert_eq!(checked(u64::MAX, 0, NSEC_PER_SEC), Err(Errno::EINVAL));
        assert_eq!(checked(0, u64::MAX, NSEC_PER_SEC), Err(Errno::EINVAL));
        assert_eq!(checked(i64::MAX as u64, 0, NSEC_PER_SEC), Ok(u64::MAX));
    }
}
