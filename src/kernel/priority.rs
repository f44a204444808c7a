//! Priorities of tasks: changes of policy, and what those lend who wait for a lock with priority
//! inheritance, `rt_mutex_adjust_prio_chain`.

use crate::kernel::arena::TaskId;
use crate::kernel::futex::{FutexKey, Role};
use crate::kernel::sched::{TaskState, WaitKey};
use crate::kernel::state::Kernel;
use crate::kernel::task::Policy;

/// Most locks in a chain of owners that wait for each other, `max_lock_depth`.
const MAX_LOCK_DEPTH: usize = 1024;

impl Kernel {
    /// Gives a task a policy and a nice value.
    pub(crate) fn set_policy(&mut self, task: TaskId, policy: Policy, nice: i32) {
        let held = &mut self.tasks[task];
        let before = held.claim().priority;
        held.set_policy(policy);
        held.nice = nice;
        self.reposition(task, before);
        if let Some(owner) = self.lender_to(task) {
            self.settle_priority(owner);
        }
    }

    /// Instructions, and so nanoseconds, of a turn by SCHED_RR.
    pub(crate) fn round_robin_turn(&self) -> u64 {
        self.sched.quantum()
    }

    /// Gives a task the place of its new priority: behind the others, or before them if it was
    /// higher.
    fn reposition(&mut self, task: TaskId, before: u32) {
        let claim = self.tasks[task].claim();
        if task == self.current {
            self.sched.set_running(claim);
        }
        if claim.priority != before && self.sched.remove_ready(task) {
            self.sched.add_ready(task, claim.priority, claim.priority < before);
        }
    }

    /// The owner of the lock with priority inheritance that a task sleeps for.
    pub(super) fn lender_to(&self, task: TaskId) -> Option<TaskId> {
        let held = &self.tasks[task];
        if held.state != TaskState::Sleeping || held.call.futex?.role != Role::Locker {
            return None;
        }
        let lock = held.call.keys.iter().find_map(|key| match key {
            WaitKey::Futex(key) => self.lock_owners.get(key),
            _ => None,
        });
        lock.copied()
    }

    /// The tasks that sleep for a lock with priority inheritance, in the order in which they came.
    pub(super) fn lockers(&self, key: FutexKey) -> impl Iterator<Item = TaskId> {
        let role = |task: TaskId| self.tasks[task].call.futex.map(|wait| wait.role);
        self.sched.sleepers_of(WaitKey::Futex(key)).filter(move |task| role(*task) == Some(Role::Locker))
    }

    /// Lends a task the highest priority of those who wait for its locks, and no other; so on along
    /// the chain of owners.
    pub(super) fn settle_priority(&mut self, mut task: TaskId) {
        for _ in 0..MAX_LOCK_DEPTH {
            let locks = self.lock_owners.iter().filter(|(_, owner)| **owner == task);
            let waiters = locks.flat_map(|(key, _)| self.lockers(*key));
            let lent = waiters.map(|waiter| self.tasks[waiter].claim().priority).max();
            let Some(held) = self.tasks.get_mut(task) else { return };
            let before = held.claim().priority;
            held.lent = lent.unwrap_or(0);
            if held.claim().priority == before {
                return;
            }
            self.reposition(task, before);
            let Some(owner) = self.lender_to(task) else { return };
            task = owner;
        }
    }
}
