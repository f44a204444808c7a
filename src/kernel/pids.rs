//! Numbers of tasks and processes.

use std::collections::BTreeMap;

use crate::kernel::arena::TaskId;
use crate::kernel::process::PID;

/// The highest number and one, `/proc/sys/kernel/pid_max` of a large machine.
pub(crate) const PID_MAX: i32 = 4_194_304;
/// The lowest number that is used again, `RESERVED_PIDS`.
const RESERVED: i32 = 300;

/// Tasks by their numbers. Numbers rise, so that a program that prints them repeats.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pids {
    tasks: BTreeMap<i32, TaskId>,
    last: i32,
    /// Numbers that were ever given out.
    made: u64,
}

impl Pids {
    /// The numbers of a machine with its first task.
    pub(super) fn first(task: TaskId) -> Pids {
        Pids { tasks: BTreeMap::from([(PID, task)]), last: PID, made: 1 }
    }

    /// The next number that nobody has; `None` if all are taken.
    pub(super) fn allocate(&mut self) -> Option<i32> {
        for _ in RESERVED..PID_MAX {
            self.last = if self.last + 1 >= PID_MAX { RESERVED } else { self.last + 1 };
            if !self.tasks.contains_key(&self.last) {
                self.made += 1;
                return Some(self.last);
            }
        }
        None
    }

    /// The number that was given out last.
    pub(super) fn last(&self) -> i32 {
        self.last
    }

    /// Numbers that were ever given out.
    pub(super) fn made(&self) -> u64 {
        self.made
    }

    /// Gives a task a number.
    pub(super) fn enter(&mut self, tid: i32, task: TaskId) {
        self.tasks.insert(tid, task);
    }

    /// Takes a number back.
    pub(super) fn remove(&mut self, tid: i32) {
        self.tasks.remove(&tid);
    }

    /// The task with a number; the leader of a process keeps its own until the process is waited
    /// for.
    pub(crate) fn find(&self, tid: i32) -> Option<TaskId> {
        self.tasks.get(&tid).copied()
    }
}
