//! The clock, made of executed instructions and of time slept. One instruction takes one nanosecond.

use crate::abi::time::NSEC_PER_SEC;

/// CLOCK_REALTIME at the first instruction: 2024-01-01T00:00:00Z in nanoseconds.
pub const REALTIME_START: u64 = 1_704_067_200 * NSEC_PER_SEC;
/// CLOCK_MONOTONIC and CLOCK_BOOTTIME at the first instruction: the machine has been up for 1000 s.
pub const MONOTONIC_START: u64 = 1000 * NSEC_PER_SEC;

/// The clock. All values are nanoseconds; `instructions` is the count of `GuestCpu::instructions`.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    slept: u64,
}

impl Clock {
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

    /// Time slept so far, by which the clock is ahead of the instructions.
    pub fn slept(&self) -> u64 {
        self.slept
    }

    /// Lets time pass in which the program does nothing.
    pub fn advance(&mut self, ns: u64) {
        self.slept = self.slept.saturating_add(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_run_together() {
        let mut clock = Clock::default();
        assert_eq!(clock.realtime_ns(0), 1_704_067_200_000_000_000);
        clock.advance(5 * NSEC_PER_SEC);
        assert_eq!(clock.now_ns(7), 5_000_000_007);
        assert_eq!(clock.monotonic_ns(7), 1_005_000_000_007);
        assert_eq!(clock.realtime_ns(7) - REALTIME_START, clock.monotonic_ns(7) - MONOTONIC_START);
    }

    #[test]
    fn the_clock_stops_at_its_end() {
        let mut clock = Clock::default();
        clock.advance(u64::MAX);
        clock.advance(u64::MAX);
        assert_eq!(clock.realtime_ns(u64::MAX), u64::MAX);
    }
}
