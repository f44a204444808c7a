//! Timers that send signals: the three of setitimer(2) and those of timer_create(2).

use std::collections::{BTreeMap, BTreeSet};

use crate::abi::errno::Errno;
use crate::abi::signal::signo::*;
use crate::kernel::arena::TaskId;
use crate::kernel::clock::CpuClock;
use crate::kernel::limits::SIGPENDING_MAX;

/// The time that a timer follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// Time that passes also while the program sleeps.
    Wall,
    /// Executed instructions.
    Cpu,
}

/// Expiration of a timer in nanoseconds since the program's start, in the time that it follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alarm {
    /// Next expiration; `None` while disarmed.
    pub expires: Option<u64>,
    /// Time between further ones; 0 for none.
    pub interval: u64,
}

impl Alarm {
    /// Time left at `now`, at least 1 where it is armed and due already; 0 while disarmed.
    pub fn left(&self, now: u64) -> u64 {
        self.expires.map_or(0, |at| at.saturating_sub(now).max(1))
    }

    /// Steps past `now` and returns the number of expirations.
    pub(super) fn fire(&mut self, now: u64) -> u64 {
        let Some(at) = self.expires.filter(|at| *at <= now) else { return 0 };
        match (now - at).checked_div(self.interval) {
            None => {
                self.expires = None;
                1
            }
            Some(missed) => {
                let count = missed.saturating_add(1);
                self.expires = at.checked_add(count.saturating_mul(self.interval));
                count
            }
        }
    }
}

/// A timer of timer_create(2).
#[derive(Clone, Copy, Debug)]
pub struct PosixTimer {
    /// The CPU time that it follows; `None` for time that passes also while the program sleeps.
    pub cpu: Option<CpuClock>,
    /// Nanoseconds that its clock showed at the program's start, for TIMER_ABSTIME.
    pub offset: u64,
    /// Its clock can be set.
    pub realtime: bool,
    /// It was armed with TIMER_ABSTIME.
    pub absolute: bool,
    /// Its expiration.
    pub alarm: Alarm,
    /// The signal it sends; `None` with SIGEV_NONE.
    pub signo: Option<i32>,
    /// `sigev_value`.
    pub value: u64,
    /// The task that gets the signal (SIGEV_THREAD_ID); `None` for the process.
    pub task: Option<TaskId>,
    /// Missed expirations of the last signal.
    pub overrun: i32,
}

/// ITIMER_REAL, ITIMER_VIRTUAL and ITIMER_PROF: the time that each follows, and its signal.
pub(crate) const INTERVAL_TIMERS: [(Base, i32); 3] =
    [(Base::Wall, SIGALRM), (Base::Cpu, SIGVTALRM), (Base::Cpu, SIGPROF)];

/// Timers of a process.
#[derive(Clone, Debug, Default)]
pub struct Timers {
    /// Those of setitimer(2), in the order of `INTERVAL_TIMERS`.
    pub(super) interval: [Alarm; 3],
    /// Those of timer_create(2), by id.
    posix: BTreeMap<i32, PosixTimer>,
    /// Those of them that are armed and follow wall time, by expiration and id.
    queue: BTreeSet<(u64, i32)>,
    /// The id that the next one gets.
    next_id: i32,
    /// prctl(2) PR_TIMER_CREATE_RESTORE_IDS: new ones get the ids that the program asks for.
    pub(crate) restore_ids: bool,
}

impl Timers {
    /// An interval timer by its place in `INTERVAL_TIMERS`.
    pub fn interval(&self, index: usize) -> Alarm {
        self.interval[index]
    }

    /// Arms an interval timer to fire after `first` nanoseconds, or disarms it with 0. Returns what
    /// was set before.
    pub fn set_interval(&mut self, index: usize, now: u64, first: u64, interval: u64) -> Alarm {
        let expires = (first != 0).then(|| now.saturating_add(first));
        let interval = if expires.is_some() { interval } else { 0 };
        std::mem::replace(&mut self.interval[index], Alarm { expires, interval })
    }

    /// Takes the id of a new timer of timer_create(2), which is gone even if that fails: the next
    /// one that is free, or the one that is asked for; EBUSY. EAGAIN if there are too many.
    pub fn take_id(&mut self, wanted: Option<i32>) -> Result<i32, Errno> {
        if self.posix.len() >= SIGPENDING_MAX {
            return Err(Errno::EAGAIN);
        }
        let mut id = wanted.unwrap_or(self.next_id);
        if wanted.is_some() && self.posix.contains_key(&id) {
            return Err(Errno::EBUSY);
        }
        while self.posix.contains_key(&id) {
            id = id.wrapping_add(1) & i32::MAX;
        }
        self.next_id = id.wrapping_add(1) & i32::MAX;
        Ok(id)
    }

    /// Adds a timer with an id that was taken, timer_create(2).
    pub fn create(&mut self, id: i32, timer: PosixTimer) {
        self.posix.insert(id, timer);
    }

    /// A timer of timer_create(2); EINVAL.
    pub fn posix(&self, id: i32) -> Result<&PosixTimer, Errno> {
        self.posix.get(&id).ok_or(Errno::EINVAL)
    }

    /// Arms or disarms a timer. Returns what was set before; EINVAL.
    pub(super) fn set_time(&mut self, id: i32, alarm: Alarm, absolute: bool) -> Result<Alarm, Errno> {
        let timer = self.posix.get_mut(&id).ok_or(Errno::EINVAL)?;
        timer.overrun = 0;
        timer.absolute = absolute;
        let before = std::mem::replace(&mut timer.alarm, alarm);
        if timer.cpu.is_none() {
            before.expires.map(|at| self.queue.remove(&(at, id)));
            self.queue.extend(alarm.expires.map(|at| (at, id)));
        }
        Ok(before)
    }

    /// Removes a timer that is disarmed; EINVAL.
    pub(super) fn delete(&mut self, id: i32) -> Result<(), Errno> {
        self.posix.remove(&id).map(drop).ok_or(Errno::EINVAL)
    }

    /// Takes out the timers of timer_create(2) that are due by wall time; their ids, rising.
    pub(super) fn take_due(&mut self, now: u64) -> Vec<i32> {
        let mut due = Vec::new();
        while let Some((_, id)) = self.queue.first().copied().filter(|(at, _)| *at <= now) {
            self.queue.pop_first();
            due.push(id);
        }
        due.sort_unstable();
        due
    }

    /// Steps a timer of timer_create(2) past `now`, and returns how often it has expired.
    pub(super) fn fire(&mut self, id: i32, now: u64) -> Option<(PosixTimer, u64)> {
        let timer = self.posix.get_mut(&id)?;
        let count = timer.alarm.fire(now);
        if timer.cpu.is_none() {
            self.queue.extend(timer.alarm.expires.map(|at| (at, id)));
        }
        Some((*timer, count))
    }

    /// The armed timers that follow CPU time: the clock, the expiration, the id.
    pub(super) fn on_cpu_clocks(&self) -> Vec<(CpuClock, u64, i32)> {
        let armed = |(id, timer): (&i32, &PosixTimer)| Some((timer.cpu?, timer.alarm.expires?, *id));
        self.posix.iter().filter_map(armed).collect()
    }

    /// Notes how many expirations the last signal of a timer stands for beside the first.
    pub(super) fn set_overrun(&mut self, id: i32, overrun: i32) {
        if let Some(timer) = self.posix.get_mut(&id) {
            timer.overrun = overrun;
        }
    }

    /// Takes note that a task has ended: timers that send it signals send none any more.
    pub(super) fn task_ended(&mut self, task: TaskId) {
        for timer in self.posix.values_mut().filter(|timer| timer.task == Some(task)) {
            (timer.signo, timer.task) = (None, None);
        }
    }

    /// Lets the timers that wait for a time of CLOCK_REALTIME follow it: it was set forward by so
    /// many nanoseconds.
    pub(super) fn clock_was_set(&mut self, by: i64) {
        let queue = &mut self.queue;
        for (id, timer) in self.posix.iter_mut().filter(|(_, timer)| timer.realtime) {
            timer.offset = timer.offset.saturating_add_signed(by);
            if let Some(at) = timer.alarm.expires.filter(|_| timer.absolute) {
                let moved = at.saturating_add_signed(by.saturating_neg());
                timer.alarm.expires = Some(moved);
                queue.remove(&(at, *id));
                queue.insert((moved, *id));
            }
        }
    }

    /// Bytes that the timers take.
    pub(super) fn bytes(&self) -> u64 {
        (self.posix.len() * (size_of::<PosixTimer>() + 48)) as u64
    }

    /// The earliest time at which sleeping is ended by a timer whose signal `wakes` accepts.
    pub(super) fn next_wake(&self, wakes: impl Fn(i32) -> bool) -> Option<u64> {
        let interval = INTERVAL_TIMERS.iter().zip(&self.interval);
        let interval = interval.filter(|((base, signo), _)| *base == Base::Wall && wakes(*signo));
        let wakes = |id: &i32| self.posix.get(id).and_then(|timer| timer.signo).is_some_and(&wakes);
        let posix = self.queue.iter().find(|(_, id)| wakes(id));
        interval.filter_map(|(_, alarm)| alarm.expires).chain(posix.map(|(at, _)| *at)).min()
    }

    /// The next expiration of a timer that follows a time: of setitimer(2) only for CPU time, whose
    /// other timers `CpuTimers` has.
    pub(super) fn next_due(&self, base: Base) -> Option<u64> {
        let interval = INTERVAL_TIMERS.iter().zip(&self.interval);
        let interval = interval.filter(|((of, _), _)| *of == base).filter_map(|(_, alarm)| alarm.expires);
        let posix = self.queue.first().map(|(at, _)| *at).filter(|_| base == Base::Wall);
        interval.chain(posix).min()
    }

    /// Removes the timers of timer_create(2), as execve(2) does; those of setitimer(2) stay.
    pub(super) fn exec(&mut self) {
        self.posix.clear();
        self.queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_alarm_fires_once() {
        let mut alarm = Alarm { expires: Some(100), interval: 0 };
        assert_eq!((alarm.left(40), alarm.fire(99)), (60, 0));
        assert_eq!((alarm.fire(100), alarm.fire(200), alarm.left(200)), (1, 0, 0));
    }

    #[test]
    fn an_interval_counts_what_it_missed() {
        let mut alarm = Alarm { expires: Some(100), interval: 10 };
        assert_eq!(alarm.fire(135), 4);
        assert_eq!(alarm.expires, Some(140));
        assert_eq!(alarm.left(140), 1);
    }

    #[test]
    fn the_next_one_is_that_of_its_time() {
        let mut timers = Timers::default();
        assert_eq!(timers.next_due(Base::Wall), None);
        timers.interval[0].expires = Some(1000);
        timers.interval[1].expires = Some(700);
        timers.interval[2].expires = Some(600);
        assert_eq!(timers.next_due(Base::Wall), Some(1000));
        assert_eq!(timers.next_due(Base::Cpu), Some(600));
    }

    #[test]
    fn what_waits_for_a_time_follows_the_clock() {
        let mut timers = Timers::default();
        let timer = PosixTimer {
            cpu: None,
            offset: 5000,
            realtime: true,
            absolute: false,
            alarm: Alarm::default(),
            signo: None,
            value: 0,
            task: None,
            overrun: 0,
        };
        for (id, realtime, absolute) in [(0, true, true), (1, true, false), (2, false, true)] {
            assert_eq!(timers.take_id(None), Ok(id));
            timers.create(id, PosixTimer { realtime, ..timer });
            timers.set_time(id, Alarm { expires: Some(900), interval: 0 }, absolute).expect("a timer");
        }
        timers.clock_was_set(200);
        let expires = |timers: &Timers, id| timers.posix(id).expect("a timer").alarm.expires;
        assert_eq!([0, 1, 2].map(|id| expires(&timers, id)), [Some(700), Some(900), Some(900)]);
        assert_eq!(timers.posix(1).expect("a timer").offset, 5200);
        assert_eq!(timers.next_due(Base::Wall), Some(700));
        timers.clock_was_set(-1000);
        assert_eq!((expires(&timers, 0), timers.next_due(Base::Wall)), (Some(1700), Some(900)));
    }

    #[test]
    fn the_end_of_time_disarms() {
        let mut alarm = Alarm { expires: Some(0), interval: 1 };
        assert_eq!((alarm.fire(u64::MAX), alarm.expires), (u64::MAX, Some(u64::MAX)));
        let mut alarm = Alarm { expires: Some(u64::MAX - 1), interval: u64::MAX };
        assert_eq!((alarm.fire(u64::MAX), alarm.expires), (1, None));
    }
}
