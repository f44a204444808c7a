//! The sum of what tasks are charged with, kept over calls.

/// Calls after which all tasks are summed up again, whatever has happened.
const RECOUNT: u32 = 4096;
/// Signals after which they are: each may lie in a queue of another task.
const SIGNALS: u32 = 64;

/// A change of one in so many objects does not have all summed up again: making each of a thousand
/// tasks would look at all others.
const FEW: usize = 64;

/// The sum over tasks and what they share. A call changes what its task uses, so only that is asked
/// after it; all of it again when there are others than before (of many, more than a few), and when
/// signals were sent.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskCharge {
    /// Bytes of all that the running task does not use.
    others: u64,
    /// Bytes of all, as they were last.
    all: u64,
    /// Numbers of objects that were summed up, by kind.
    counted: [usize; 4],
    /// Calls until all is summed up again.
    left: u32,
}

impl TaskCharge {
    /// Takes note of a signal.
    pub(super) fn signal_sent(&mut self) {
        self.left = self.left.saturating_sub(RECOUNT / SIGNALS);
    }

    /// Takes note that another task runs, which uses so many bytes.
    pub(super) fn switched(&mut self, running: u64) {
        self.others = self.all.saturating_sub(running);
    }

    /// Tells if all has to be summed up again.
    pub(super) fn is_stale(&self, counted: [usize; 4]) -> bool {
        let changed = |(now, then): (usize, usize)| now.abs_diff(then) > then / FEW;
        self.left == 0 || counted.into_iter().zip(self.counted).any(changed)
    }

    /// Takes the sum of all, and what the running task has of it.
    pub(super) fn count(&mut self, counted: [usize; 4], all: u64, running: u64) {
        *self = TaskCharge { others: all.saturating_sub(running), all, counted, left: RECOUNT };
    }

    /// The sum with what the running task uses now.
    pub(super) fn update(&mut self, running: u64) -> u64 {
        self.left = self.left.saturating_sub(1);
        self.all = self.others + running;
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_follows_the_running_task() {
        let mut charge = TaskCharge::default();
        assert!(charge.is_stale([2, 1, 1, 1]));
        charge.count([2, 1, 1, 1], 1000, 300);
        assert_eq!(charge.update(350), 1050);
        charge.switched(700);
        assert_eq!(charge.update(800), 1150);
        charge.switched(350);
        assert_eq!((charge.update(350), charge.is_stale([2, 1, 1, 1])), (1150, false));
        assert!(charge.is_stale([3, 1, 1, 1]));
        charge.count([640, 1, 1, 1], 1000, 300);
        assert!(!charge.is_stale([650, 1, 1, 1]) && charge.is_stale([629, 1, 1, 1]));
        charge.count([2, 1, 1, 1], 1000, 300);
        (0..SIGNALS).for_each(|_| charge.signal_sent());
        assert!(charge.is_stale([2, 1, 1, 1]));
    }
}
