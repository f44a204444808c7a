//! Timers that are read as files, timerfd_create(2): when each is due, and what its readers have
//! not seen yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::abi::errno::Errno;
use crate::abi::time::{NSEC_PER_SEC, TFD_TIMER_ABSTIME, TFD_TIMER_CANCEL_ON_SET};
use crate::kernel::timers::Alarm;
use crate::kernel::wait_queue::QueueId;

/// A timer. Its times are nanoseconds since the program's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerFd {
    /// CLOCK_* as it was made.
    pub(crate) clock: i32,
    /// The clock can be set.
    realtime: bool,
    alarm: Alarm,
    /// Expirations that were not read, the last of them alone if `expired`.
    ticks: u64,
    /// It was due and waits to be looked at; its further expirations are counted then.
    expired: bool,
    /// TFD_* of timerfd_settime(2).
    flags: u32,
    /// The clock was set, TFD_TIMER_CANCEL_ON_SET.
    cancelled: bool,
}

impl TimerFd {
    /// A disarmed timer.
    pub(crate) fn new(clock: i32, realtime: bool) -> TimerFd {
        let alarm = Alarm::default();
        TimerFd { clock, realtime, alarm, ticks: 0, expired: false, flags: 0, cancelled: false }
    }

    /// Takes note that the clock was set, in the way that it is told once.
    fn take_cancelled(&mut self) -> bool {
        self.flags & TFD_TIMER_CANCEL_ON_SET != 0 && std::mem::take(&mut self.cancelled)
    }

    /// Follows the clock that is set: absolute times of CLOCK_REALTIME.
    fn follows(&self) -> bool {
        self.realtime && self.flags & TFD_TIMER_ABSTIME != 0
    }
}

/// Every timer, by the queue that wakes for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimerFds {
    held: BTreeMap<QueueId, TimerFd>,
    /// Those that run, by expiration.
    running: BTreeSet<(u64, QueueId)>,
}

impl TimerFds {
    /// Bytes that the timers take.
    pub(crate) fn bytes(&self) -> u64 {
        let (held, running) = (size_of::<(QueueId, TimerFd)>() + 16, size_of::<(u64, QueueId)>() + 16);
        (self.held.len() * held + self.running.len() * running) as u64
    }

    /// Adds a timer.
    pub(crate) fn add(&mut self, queue: QueueId, timer: TimerFd) {
        self.held.insert(queue, timer);
    }

    /// Drops a timer.
    pub(crate) fn remove(&mut self, queue: QueueId) {
        self.run(queue, None);
        self.held.remove(&queue);
    }

    pub(crate) fn get(&self, queue: QueueId) -> Option<&TimerFd> {
        self.held.get(&queue)
    }

    /// Sets when a timer expires next.
    fn run(&mut self, queue: QueueId, expires: Option<u64>) {
        let Some(timer) = self.held.get_mut(&queue) else { return };
        if let Some(before) = timer.alarm.expires.take() {
            self.running.remove(&(before, queue));
        }
        timer.alarm.expires = expires;
        self.running.extend(expires.map(|at| (at, queue)));
    }

    /// The first time at which one of the timers that `wanted` accepts is due.
    pub(crate) fn next(&self, wanted: impl Fn(QueueId) -> bool) -> Option<u64> {
        self.running.iter().find(|(_, queue)| wanted(*queue)).map(|(at, _)| *at)
    }

    /// Stops the timers that are due; returns their queues.
    pub(crate) fn expire(&mut self, now: u64) -> Vec<QueueId> {
        let mut queues = Vec::new();
        while let Some((_, queue)) = self.running.first().copied().filter(|(at, _)| *at <= now) {
            self.running.pop_first();
            let Some(timer) = self.held.get_mut(&queue) else { continue };
            timer.ticks = timer.ticks.saturating_add(1);
            timer.expired = timer.alarm.interval > 0;
            if !timer.expired {
                timer.alarm.expires = None;
            }
            queues.push(queue);
        }
        queues
    }

    /// Counts what a timer that was due has missed since, and lets it run on.
    fn catch_up(&mut self, queue: QueueId, now: u64) {
        let Some(timer) = self.held.get_mut(&queue).filter(|timer| timer.expired) else { return };
        timer.expired = false;
        timer.ticks = timer.ticks.saturating_add(timer.alarm.fire(now).saturating_sub(1));
        self.running.extend(timer.alarm.expires.map(|at| (at, queue)));
    }

    /// The state of a timer, timerfd_gettime(2).
    pub(crate) fn look(&mut self, queue: QueueId, now: u64) -> Alarm {
        self.catch_up(queue, now);
        self.held.get(&queue).map_or(Alarm::default(), |timer| timer.alarm)
    }

    /// Arms or disarms a timer, timerfd_settime(2); `flags` are TFD_*. Returns what was set before;
    /// ECANCELED if the clock was set before.
    pub(crate) fn set(
        &mut self,
        queue: QueueId,
        now: u64,
        alarm: Alarm,
        flags: u32,
    ) -> (Alarm, Result<(), Errno>) {
        let before = self.look(queue, now);
        self.run(queue, alarm.expires);
        let Some(timer) = self.held.get_mut(&queue) else { return (before, Err(Errno::EINVAL)) };
        let cancels = timer.realtime && flags & TFD_TIMER_ABSTIME != 0;
        timer.flags = flags & if cancels { !0 } else { !TFD_TIMER_CANCEL_ON_SET };
        (timer.alarm.interval, timer.ticks, timer.expired) = (alarm.interval, 0, false);
        let cancelled = alarm.expires.is_some() && timer.take_cancelled();
        (before, if cancelled { Err(Errno::ECANCELED) } else { Ok(()) })
    }

    /// Takes the expirations that nobody has read, 0 if there are none; ECANCELED after the clock
    /// was set.
    pub(crate) fn take(&mut self, queue: QueueId, now: u64) -> Result<u64, Errno> {
        let Some(timer) = self.held.get_mut(&queue) else { return Err(Errno::EINVAL) };
        if timer.take_cancelled() {
            (timer.ticks, timer.expired) = (0, false);
            return Err(Errno::ECANCELED);
        }
        self.catch_up(queue, now);
        Ok(self.held.get_mut(&queue).map_or(0, |timer| std::mem::take(&mut timer.ticks)))
    }

    /// Sets the number of expirations that were not read, TFD_IOC_SET_TICKS.
    pub(crate) fn set_ticks(&mut self, queue: QueueId, ticks: u64) -> Result<(), Errno> {
        let timer = self.held.get_mut(&queue).ok_or(Errno::EINVAL)?;
        if timer.take_cancelled() {
            return Err(Errno::ECANCELED);
        }
        timer.ticks = ticks;
        Ok(())
    }

    /// Tells if a read would find something.
    pub(crate) fn is_readable(&self, queue: QueueId) -> bool {
        self.held.get(&queue).is_some_and(|timer| timer.ticks > 0)
    }

    /// Moves absolute times after CLOCK_REALTIME was set forward by `by` nanoseconds. Returns the
    /// queues of those who wanted to be told.
    pub(crate) fn clock_was_set(&mut self, by: i64) -> Vec<QueueId> {
        let following = self.held.iter().filter(|(_, timer)| timer.follows());
        let following: Vec<(QueueId, Option<u64>)> =
            following.map(|(queue, timer)| (*queue, timer.alarm.expires)).collect();
        let mut told = Vec::new();
        for (queue, expires) in following {
            if !self.held.get(&queue).is_some_and(|timer| timer.expired) {
                self.run(queue, expires.map(|at| at.saturating_add_signed(by.saturating_neg())));
            }
            let Some(timer) = self.held.get_mut(&queue) else { continue };
            if timer.flags & TFD_TIMER_CANCEL_ON_SET != 0 {
                timer.cancelled = true;
                timer.ticks = timer.ticks.saturating_add(1);
                told.push(queue);
            }
        }
        told
    }

    /// Lines of `/proc/PID/fdinfo`.
    pub(crate) fn describe(&self, queue: QueueId, now: u64) -> String {
        let Some(timer) = self.held.get(&queue) else { return String::new() };
        let pair = |ns: u64| format!("({}, {})", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
        let mut text = format!("clockid: {}\nticks: {}\n", timer.clock, timer.ticks);
        let left = if timer.expired { 0 } else { timer.alarm.left(now) };
        let _ = write!(text, "settime flags: 0{:o}\nit_value: {}\n", timer.flags, pair(left));
        let _ = writeln!(text, "it_interval: {}", pair(timer.alarm.interval));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::wait_queue::WaitQueues;

    fn timer(interval: u64, flags: u32) -> (TimerFds, QueueId) {
        let (mut timers, queue) = (TimerFds::default(), WaitQueues::default().add());
        timers.add(queue, TimerFd::new(0, true));
        let (_, set) = timers.set(queue, 0, Alarm { expires: Some(100), interval }, flags);
        assert_eq!(set, Ok(()));
        (timers, queue)
    }

    /// timerfd_create(2): a read gives the expirations since the last one.
    #[test]
    fn a_read_takes_what_has_expired() {
        let (mut timers, queue) = timer(10, 0);
        assert_eq!((timers.expire(99), timers.take(queue, 99)), (vec![], Ok(0)));
        assert_eq!((timers.expire(105), timers.expire(120)), (vec![queue], vec![]));
        assert_eq!(timers.take(queue, 135), Ok(4));
        assert_eq!((timers.take(queue, 136), timers.next(|_| true)), (Ok(0), Some(140)));
        timers.remove(queue);
        assert_eq!((timers.next(|_| true), timers.bytes()), (None, 0));
    }

    #[test]
    fn a_clock_that_is_set_moves_and_cancels() {
        let (mut timers, queue) = timer(0, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
        assert_eq!(timers.clock_was_set(60), [queue]);
        assert_eq!((timers.next(|_| true), timers.is_readable(queue)), (Some(40), true));
        assert_eq!(timers.take(queue, 0), Err(Errno::ECANCELED));
        assert_eq!((timers.expire(40), timers.take(queue, 40)), (vec![queue], Ok(1)));
        let (mut timers, _) = timer(0, 0);
        assert_eq!((timers.clock_was_set(60), timers.next(|_| true)), (vec![], Some(100)));
    }
}
