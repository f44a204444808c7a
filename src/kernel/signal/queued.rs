//! Counts of the signals that wait for tasks and processes of each user, RLIMIT_SIGPENDING.

use std::collections::BTreeMap;

/// Waiting signals by the user to whose limit they count.
#[derive(Clone, Debug, Default)]
pub(in crate::kernel) struct Queued(BTreeMap<u32, u64>);

impl Queued {
    /// Signals that wait for a user's tasks.
    pub(in crate::kernel) fn of(&self, user: u32) -> u64 {
        self.0.get(&user).copied().unwrap_or(0)
    }

    /// Takes note of a signal that waits.
    pub(super) fn add(&mut self, user: u32) {
        *self.0.entry(user).or_default() += 1;
    }

    /// Takes note that a signal waits no more.
    pub(super) fn take(&mut self, user: u32) {
        if let Some(count) = self.0.get_mut(&user) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&user);
            }
        }
    }
}
