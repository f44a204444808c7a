//! Times of files. The guest's clock begins at a fixed moment that lies ahead of the host's files,
//! so that their times can be shown as they are and none lies in the future.
//!
//! The two clocks meet at that moment. Before it a time is the same on both sides, but for the last
//! weeks, in which there is room for all later times of the host. What the guest writes afterwards
//! was written, for the host, just after the run began: in the order in which the guest wrote it,
//! after every file that was there, and before anything that the user changes later.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::abi::time::NSEC_PER_SEC;
use crate::kernel::clock::REALTIME_START;

/// Begin of the time before the clock's start that stands for more than itself, in nanoseconds.
const CROWDED: i128 = START - (1 << 21) * SECOND;
/// Nanoseconds of the host in one of that time: 24 days hold 136 years.
const HOST_PER_GUEST: i128 = 1 << 11;
/// Nanoseconds of the guest, since its clock began, in one of the host. The guest sleeps in no
/// time, and what it writes then must not lie in the host's future.
const GUEST_PER_HOST: i128 = 1 << 10;

const START: i128 = REALTIME_START as i128;
const SECOND: i128 = NSEC_PER_SEC as i128;

/// A moment of the guest's real-time clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time {
    /// Seconds since the epoch.
    pub sec: i64,
    /// Nanoseconds, below a thousand million.
    pub nsec: u32,
}

impl Time {
    /// A moment from nanoseconds since the epoch.
    pub(crate) fn from_ns(ns: u64) -> Time {
        Time { sec: (ns / NSEC_PER_SEC) as i64, nsec: (ns % NSEC_PER_SEC) as u32 }
    }

    /// The moment that a time of the host's files is for the guest.
    pub(crate) fn of_host(sec: i64, nsec: u32) -> Time {
        let host = Time { sec, nsec };
        match host.ns() - CROWDED {
            ..0 => host,
            late => Time::of_ns((CROWDED + late / HOST_PER_GUEST).min(START - 1)),
        }
    }

    fn ns(self) -> i128 {
        i128::from(self.sec) * SECOND + i128::from(self.nsec)
    }

    /// A moment from nanoseconds since the epoch, before or after it.
    fn of_ns(ns: i128) -> Time {
        let sec = ns.div_euclid(SECOND).clamp(i64::MIN.into(), i64::MAX.into());
        Time { sec: sec as i64, nsec: ns.rem_euclid(SECOND) as u32 }
    }
}

/// st_atime, st_mtime and st_ctime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) access: Time,
    pub(crate) modify: Time,
    pub(crate) change: Time,
}

impl Times {
    pub(crate) fn all(now: Time) -> Times {
        Times { access: now, modify: now, change: now }
    }
}

/// The host's clock when the guest's began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostClock(Time);

impl HostClock {
    /// The host's clock now.
    pub(super) fn now() -> HostClock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        HostClock(Time { sec: since.as_secs() as i64, nsec: since.subsec_nanos() })
    }

    /// The time that a file of the host gets for one of the guest's. It is the reverse of
    /// `of_host`, but nothing from before the run gets a later time than its begin.
    pub(super) fn to_host(self, guest: Time) -> Time {
        let (begin, ns) = (self.0.ns(), guest.ns());
        if ns >= START {
            return Time::of_ns(begin + (ns - START) / GUEST_PER_HOST);
        }
        // The last of the host's times that become this one, so that a copy is not older.
        let host = match ns - CROWDED {
            ..0 => ns,
            late => CROWDED + late * HOST_PER_GUEST + HOST_PER_GUEST - 1,
        };
        Time::of_ns(host.min(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    const EPOCH: i64 = (REALTIME_START / NSEC_PER_SEC) as i64;

    fn time(sec: i64, nsec: u32) -> Time {
        Time { sec, nsec }
    }

    #[test]
    fn order_stays_and_nothing_lies_in_the_future() {
        let mut moments = vec![(i64::MIN, 0), (-1, 0), (-1, 999_999_999), (0, 0), (EPOCH - 100 * DAY, 7)];
        for day in -40..40 {
            moments.extend([(EPOCH + day * DAY, 0), (EPOCH + day * DAY, 4_000_000)]);
        }
        moments.extend([(EPOCH + 365 * 100 * DAY, 0), (i64::MAX, 0), (i64::MAX, 999_999_999)]);
        let seen: Vec<Time> = moments.iter().map(|(sec, nsec)| Time::of_host(*sec, *nsec)).collect();
        assert!(seen.is_sorted());
        assert!(seen[..seen.len() - 2].windows(2).all(|pair| pair[0] < pair[1]));
        assert!(seen.iter().all(|seen| *seen < Time::from_ns(REALTIME_START)));
    }

    #[test]
    fn times_come_back() {
        for begin in [EPOCH - 400 * DAY, EPOCH - 10 * DAY, EPOCH + 2000 * DAY] {
            let clock = HostClock(time(begin, 5));
            for before in [0, 1, 3600, DAY, 100 * DAY, 3000 * DAY] {
                let host = time(begin - before, 1);
                let back = clock.to_host(Time::of_host(host.sec, host.nsec));
                let late = back.ns() - host.ns();
                assert!((0..HOST_PER_GUEST).contains(&late), "{late} ns after {host:?}");
                assert_eq!(Time::of_host(back.sec, back.nsec), Time::of_host(host.sec, host.nsec));
            }
        }
    }

    #[test]
    fn what_the_guest_writes_is_newer_and_in_order() {
        let clock = HostClock(time(EPOCH - 400 * DAY, 5));
        let written = |ns: u64| clock.to_host(Time::from_ns(REALTIME_START + ns));
        let yesterday = clock.to_host(time(EPOCH - DAY, 0));
        assert_eq!(yesterday, clock.0); // before what is written, after all that was there
        assert_eq!(written(0), clock.0);
        assert!(written(1_000_000) < written(1_002_000));
        // An hour of sleep is no time for the host.
        assert!(written(3600 * NSEC_PER_SEC).ns() - clock.0.ns() < 4 * SECOND);
    }
}
