//! Queues of waits for CPU time, which passes only while its task or process runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::arena::ProcessId;
use crate::kernel::clock::CpuClock;

/// Moment of a clock, and the timer that waits for it: its process and its id. `None` for sleepers,
/// who wait by their keys.
type Due = (u64, Option<(ProcessId, i32)>);

/// Waits for CPU time, by clock.
#[derive(Clone, Debug, Default)]
pub(super) struct CpuTimers(BTreeMap<CpuClock, BTreeSet<Due>>);

impl CpuTimers {
    /// Adds what waits for a moment.
    pub(super) fn add(&mut self, clock: CpuClock, due: Due) {
        self.0.entry(clock).or_default().insert(due);
    }

    /// Takes out what waits for a moment.
    pub(super) fn remove(&mut self, clock: CpuClock, due: &Due) {
        if let Some(queue) = self.0.get_mut(&clock) {
            queue.remove(due);
            if queue.is_empty() {
                self.0.remove(&clock);
            }
        }
    }

    /// The first moment that something waits for.
    pub(super) fn first(&self, clock: CpuClock) -> Option<u64> {
        self.0.get(&clock)?.first().map(|(at, _)| *at)
    }

    /// Takes out all that waits for a clock.
    pub(super) fn take(&mut self, clock: CpuClock) -> BTreeSet<Due> {
        self.0.remove(&clock).unwrap_or_default()
    }

    /// Tells if nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes out what waits for no later moment than `now`.
    pub(super) fn take_due(&mut self, clock: CpuClock, now: u64) -> Vec<Due> {
        let Some(queue) = self.0.get_mut(&clock) else { return Vec::new() };
        let later = now.checked_add(1).map_or_else(BTreeSet::new, |next| queue.split_off(&(next, None)));
        let due = std::mem::replace(queue, later);
        if queue.is_empty() {
            self.0.remove(&clock);
        }
        due.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::arena::{Key, TaskId};

    #[test]
    fn what_is_due_is_taken_out_by_clock() {
        let [task, process] = [CpuClock::Task(TaskId::new(3)), CpuClock::Process(ProcessId::new(3))];
        let timer = |id| Some((ProcessId::new(0), id));
        let mut timers = CpuTimers::default();
        for due in [(50, timer(1)), (40, timer(2)), (51, None), (50, None)] {
            timers.add(task, due);
        }
        timers.add(process, (10, timer(0)));
        assert_eq!((timers.first(task), timers.first(process)), (Some(40), Some(10)));
        assert_eq!(timers.take_due(task, 50), [(40, timer(2)), (50, None), (50, timer(1))]);
        assert_eq!(timers.take_due(task, 50), []);
        timers.remove(process, &(10, timer(0)));
        assert_eq!((timers.first(task), timers.first(process)), (Some(51), None));
        assert_eq!(timers.take_due(task, u64::MAX), [(51, None)]);
        assert!(timers.is_empty());
    }
}
