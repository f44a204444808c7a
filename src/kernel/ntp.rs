//! What adjtimex(2) remembers of how CLOCK_REALTIME is kept.

use crate::abi::time::*;

/// Largest estimated error, `NTP_PHASE_LIMIT`, in microseconds.
const PHASE_LIMIT: i64 = 16_000_000;
/// Microseconds that the largest error grows by in a second.
const ERROR_PER_SECOND: i64 = 500;
/// Largest time constant of the loop, `MAXTC`.
const MAX_CONSTANT: i64 = 10;

/// State of the clock's discipline. Its pace is fixed.
#[derive(Clone, Debug)]
pub(crate) struct Ntp {
    /// STA_*.
    pub(crate) status: u32,
    /// Largest error in microseconds when it was set, and the second of CLOCK_MONOTONIC then.
    max_error: (i64, u64),
    /// Estimated error in microseconds.
    pub(crate) error: i64,
    pub(crate) constant: i64,
    /// Seconds that CLOCK_TAI is ahead of CLOCK_REALTIME.
    pub(crate) tai: i32,
}

impl Default for Ntp {
    /// A clock that nobody has set against another, and the largest error it can have.
    fn default() -> Ntp {
        Ntp { status: STA_UNSYNC, max_error: (PHASE_LIMIT, 0), error: PHASE_LIMIT, constant: 2, tai: 0 }
    }
}

impl Ntp {
    /// Lets the largest error grow until a second of CLOCK_MONOTONIC, and returns it. At its limit
    /// the clock is no longer in step.
    pub(crate) fn max_error(&mut self, second: u64) -> i64 {
        let (from, since) = self.max_error;
        let passed = i64::try_from(second.saturating_sub(since)).unwrap_or(i64::MAX);
        let grown = from.saturating_add(passed.saturating_mul(ERROR_PER_SECOND));
        if grown > PHASE_LIMIT {
            self.status |= STA_UNSYNC;
        }
        grown.min(PHASE_LIMIT)
    }

    /// Sets the largest error.
    pub(crate) fn set_max_error(&mut self, error: i64, second: u64) {
        self.max_error = (error.clamp(0, PHASE_LIMIT), second);
    }

    /// Sets the estimated error.
    pub(crate) fn set_error(&mut self, error: i64) {
        self.error = error.clamp(0, PHASE_LIMIT);
    }

    /// Sets the time constant, which counts from 4 on where the clock shows microseconds.
    pub(crate) fn set_constant(&mut self, constant: i64) {
        let constant = constant.clamp(0, MAX_CONSTANT);
        let offset = if self.status & STA_NANO == 0 { 4 } else { 0 };
        self.constant = (constant + offset).min(MAX_CONSTANT);
    }

    /// Sets the status but for what only the kernel sets.
    pub(crate) fn set_status(&mut self, status: u32) {
        if self.status & STA_PLL != 0 && status & STA_PLL == 0 {
            self.status = STA_UNSYNC;
        }
        self.status = self.status & STA_RONLY | status & !STA_RONLY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates and limits of Linux's `second_overflow`.
    #[test]
    fn an_error_grows_to_its_limit() {
        let mut ntp = Ntp::default();
        ntp.set_status(0);
        ntp.set_max_error(1000, 10);
        assert_eq!((ntp.max_error(10), ntp.max_error(12), ntp.status), (1000, 2000, 0));
        assert_eq!((ntp.max_error(1_000_000), ntp.status), (16_000_000, STA_UNSYNC));
    }
}
