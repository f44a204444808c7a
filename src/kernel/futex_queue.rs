//! Sleepers at futexes: waking, moving, locks with priority inheritance, and what a task leaves
//! behind when it ends, futex(2) and set_robust_list(2).

use std::cmp::Reverse;

use crate::abi::errno::Errno;
use crate::abi::futex::*;
use crate::guest::GuestMemory;
use crate::kernel::arena::TaskId;
use crate::kernel::futex::{Futex, FutexKey, FutexWait, Key, Role};
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::state::Kernel;
use crate::kernel::uaccess::get_words;

impl Kernel {
    fn futex_wait_of(&self, task: TaskId) -> FutexWait {
        self.tasks[task].call.futex.unwrap_or(FutexWait::new(Role::Waiter))
    }

    /// The tasks that sleep at a futex: by priority, and then in the order in which they came.
    fn futex_sleepers(&self, key: FutexKey) -> Vec<TaskId> {
        let mut sleepers: Vec<TaskId> = self.sched.sleepers_of(WaitKey::Futex(key)).collect();
        sleepers.sort_by_key(|task| Reverse(self.tasks[*task].policy.priority));
        sleepers
    }

    /// Wakes one task that sleeps at a futex.
    fn wake_at(&mut self, task: TaskId, key: FutexKey) {
        let call = &mut self.tasks[task].call;
        let place = call.keys.iter().position(|other| *other == WaitKey::Futex(key));
        call.done = place.unwrap_or(0) as u64;
        self.wake_task(task, Wake::Event);
    }

    /// Wakes up to `most` tasks whose bits meet, in the order in which they came, but one at least;
    /// returns how many. EINVAL if one waits for a lock there.
    pub(crate) fn wake_futex(&mut self, key: FutexKey, most: i32, bitset: u32) -> Result<u64, Errno> {
        let sleepers = self.futex_sleepers(key);
        let mut woken = 0;
        for task in sleepers {
            let wait = self.futex_wait_of(task);
            if wait.role != Role::Waiter {
                return Err(Errno::EINVAL);
            }
            if wait.bitset & bitset != 0 {
                self.wake_at(task, key);
                woken += 1;
                if woken >= i64::from(most) {
                    break;
                }
            }
        }
        Ok(woken as u64)
    }

    /// Wakes up to `wake` tasks and moves up to `most` others to another futex; returns how many
    /// both were. EINVAL if one waits for a lock there.
    pub(crate) fn requeue_futex(
        &mut self,
        from: FutexKey,
        to: FutexKey,
        wake: u64,
        most: u64,
    ) -> Result<u64, Errno> {
        let sleepers = self.futex_sleepers(from);
        let mut done = 0;
        for task in sleepers {
            if done >= wake.saturating_add(most) {
                break;
            }
            if self.futex_wait_of(task).role != Role::Waiter {
                return Err(Errno::EINVAL);
            }
            if done < wake {
                self.wake_at(task, from);
            } else if from != to {
                self.move_waiter(task, from, to);
            }
            done += 1;
        }
        Ok(done)
    }

    fn move_waiter(&mut self, task: TaskId, from: FutexKey, to: FutexKey) {
        let call = &mut self.tasks[task].call;
        self.sched.move_key(task, call, WaitKey::Futex(from), WaitKey::Futex(to));
        if let Some(owner) = self.lender_to(task) {
            self.settle_priority(owner);
        }
    }

    /// The task that is to get a lock next: of the highest priority, and of those the first.
    fn next_locker(&self, key: FutexKey) -> Option<TaskId> {
        self.lockers(key).min_by_key(|task| Reverse(self.tasks[*task].claim().priority))
    }

    /// The owner of a lock that others wait for.
    pub(crate) fn lock_owner(&self, key: FutexKey) -> Option<TaskId> {
        self.lock_owners.get(&key).copied().filter(|_| self.next_locker(key).is_some())
    }

    /// Takes a lock for a task, or notes for whom it has to wait; true if the task has it now.
    /// EDEADLK if it had it before, ESRCH if its owner is no more.
    pub(crate) fn lock_pi(
        &mut self,
        mem: &mut dyn GuestMemory,
        futex: Futex,
        key: FutexKey,
        task: TaskId,
        wait: bool,
    ) -> Result<bool, Errno> {
        let word = futex.get(mem)?;
        let (owner, tid) = (word & FUTEX_TID_MASK, self.own_tid(task));
        if owner == tid {
            return Err(Errno::EDEADLK);
        }
        if self.lock_owner(key).is_none() {
            if owner == 0 {
                futex.put(mem, tid | word & FUTEX_OWNER_DIED)?;
                return Ok(true);
            }
            let owner = self.named_task(owner as i32).ok_or(Errno::ESRCH)?;
            if wait {
                self.lock_owners.insert(key, owner);
            }
        }
        futex.put(mem, word | FUTEX_WAITERS)?;
        Ok(false)
    }

    /// Gives up a lock: to the task that waits for it. EPERM unless the running task has it.
    pub(crate) fn unlock_pi(
        &mut self,
        mem: &mut dyn GuestMemory,
        futex: Futex,
        key: FutexKey,
    ) -> Result<(), Errno> {
        if futex.get(mem)? & FUTEX_TID_MASK != self.own_tid(self.current()) {
            return Err(Errno::EPERM);
        }
        match self.hand_over(key, false) {
            Some(next) => futex.put(mem, self.own_tid(next) | FUTEX_WAITERS),
            None => futex.put(mem, 0),
        }
    }

    /// Wakes the next task that waits for a lock as its owner.
    fn hand_over(&mut self, key: FutexKey, owner_died: bool) -> Option<TaskId> {
        let before = self.lock_owners.remove(&key);
        let next = self.next_locker(key);
        if let Some(next) = next {
            self.make_owner(next, key, owner_died);
        }
        for task in before.into_iter().chain(next) {
            self.settle_priority(task);
        }
        next
    }

    /// Wakes a task that waits for a lock as its owner.
    fn make_owner(&mut self, next: TaskId, key: FutexKey, owner_died: bool) {
        if let Some(wait) = &mut self.tasks[next].call.futex {
            wait.owner_died = owner_died;
        }
        self.wake_at(next, key);
        if self.next_locker(key).is_some() {
            self.lock_owners.insert(key, next);
        }
    }

    /// Moves those who wait at a futex to a lock, FUTEX_CMP_REQUEUE_PI: the first gets it if it is
    /// free. Returns how many were moved or woken; EINVAL if one of them does not wait for that.
    pub(crate) fn requeue_pi(
        &mut self,
        mem: &mut dyn GuestMemory,
        from: FutexKey,
        (futex, to): (Futex, FutexKey),
        most: u64,
    ) -> Result<u64, Errno> {
        let sleepers = self.futex_sleepers(from);
        let mut done = 0;
        for task in sleepers {
            if done > most {
                break;
            }
            if self.futex_wait_of(task).role != Role::Mover(to) {
                return Err(Errno::EINVAL);
            }
            let has_it = self.lock_pi(mem, futex, to, task, true)?;
            if let Some(wait) = &mut self.tasks[task].call.futex {
                wait.role = Role::Locker;
            }
            if has_it {
                self.wake_at(task, from);
            } else {
                self.move_waiter(task, from, to);
            }
            done += 1;
        }
        Ok(done)
    }

    /// Wakes one task at a word of shared or private memory, as the end of a task does for its
    /// `clear_child_tid` and for robust locks.
    pub(crate) fn wake_word(&mut self, mem: &mut dyn GuestMemory, addr: u64) {
        if let Ok(futex) = Futex::at(mem, addr, Key::Shared) {
            let key = futex.key(mem, self.task().shared.mm, false);
            let _ = self.wake_futex(key, 1, FUTEX_BITSET_MATCH_ANY); // a lock is left alone
        }
    }

    /// Gives up the locks that the running task, which ends, has entered in its robust list, and
    /// those with priority inheritance for which others wait: `exit_robust_list`,
    /// `exit_pi_state_list`.
    pub(crate) fn exit_robust_list(&mut self, mem: &mut dyn GuestMemory) {
        let head = std::mem::take(&mut self.task_mut().robust_list);
        if head != 0
            && let Ok([first, offset, pending]) = get_words(mem, head)
        {
            self.walk_robust_list(mem, head, first, offset, pending);
        }
        let current = self.current;
        let owned = self.lock_owners.iter().filter(|(_, owner)| **owner == current);
        for key in owned.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.hand_over(key, true);
        }
    }

    fn walk_robust_list(
        &mut self,
        mem: &mut dyn GuestMemory,
        head: u64,
        first: u64,
        offset: u64,
        pending: u64,
    ) {
        // Bit 0 of a pointer marks a lock with priority inheritance.
        let mut entry = first;
        for _ in 0..ROBUST_LIST_LIMIT {
            if entry & !1 == head {
                break;
            }
            let next = get_words::<1>(mem, entry & !1);
            if entry & !1 != pending & !1
                && self.owner_dies(mem, (entry & !1).wrapping_add(offset), entry & 1 != 0, false).is_err()
            {
                return;
            }
            match next {
                Ok([next]) => entry = next,
                Err(_) => break,
            }
        }
        if pending & !1 != 0 {
            let _ = self.owner_dies(mem, (pending & !1).wrapping_add(offset), pending & 1 != 0, true);
        }
    }

    /// Marks a lock whose owner dies, `handle_futex_death`.
    fn owner_dies(
        &mut self,
        mem: &mut dyn GuestMemory,
        addr: u64,
        pi: bool,
        pending: bool,
    ) -> Result<(), Errno> {
        let futex = Futex::at(mem, addr, Key::Shared)?;
        let word = futex.get(mem)?;
        if pending && !pi && word == 0 {
            self.wake_word(mem, addr);
            return Ok(());
        }
        if word & FUTEX_TID_MASK != self.own_tid(self.current()) {
            return Ok(());
        }
        futex.put(mem, word & FUTEX_WAITERS | FUTEX_OWNER_DIED)?;
        if !pi && word & FUTEX_WAITERS != 0 {
            self.wake_word(mem, addr);
        }
        Ok(())
    }
}
