//! Sets of semaphores, semget(2).

use std::collections::BTreeMap;

use crate::abi::errno::Errno;
use crate::abi::ipc::{IPC_NOWAIT, SEM_UNDO, SEMVMX};
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::ipc::ids::Charged;

/// An operation, `struct sembuf`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SemOp {
    pub(crate) number: u16,
    pub(crate) by: i16,
    pub(crate) flags: u16,
}

/// A semaphore.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Semaphore {
    pub(crate) value: i32,
    /// Process that changed it last.
    pub(crate) pid: i32,
}

/// A task in semop(2).
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) task: TaskId,
    process: ProcessId,
    pid: i32,
    ops: Vec<SemOp>,
    /// Place of the operation that cannot be done yet.
    blocking: usize,
}

impl Waiting {
    fn alters(&self) -> bool {
        self.ops.iter().any(|op| op.by != 0)
    }
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) struct SemSet {
    pub(crate) semaphores: Vec<Semaphore>,
    /// Moments of the last operation and of the last change, in seconds.
    pub(crate) operated: i64,
    pub(crate) changed: i64,
    /// Those that wait, in the order in which they came.
    waiting: Vec<Waiting>,
    /// Values to be added to the semaphores when a process ends, SEM_UNDO.
    undo: BTreeMap<ProcessId, Vec<i32>>,
}

impl Charged for SemSet {
    fn charge(&self) -> u64 {
        let waiting: usize = self.waiting.iter().map(|task| size_of_val(&task.ops[..]) + 64).sum();
        let undo = self.undo.len() * (self.semaphores.len() * 4 + 64);
        (size_of_val(&self.semaphores[..]) + waiting + undo) as u64
    }

    fn parts(&self) -> usize {
        self.semaphores.len()
    }
}

/// The calls that have ended, and how.
pub(crate) type Ended = Vec<(TaskId, Result<(), Errno>)>;

impl SemSet {
    /// A set of so many semaphores, all zero.
    pub(crate) fn new(count: usize, now: i64) -> SemSet {
        SemSet {
            semaphores: vec![Semaphore::default(); count],
            operated: 0,
            changed: now,
            waiting: Vec::new(),
            undo: BTreeMap::new(),
        }
    }

    /// Does all operations of a call, or none. `Some` is the place of one that cannot be done yet.
    ///
    /// # Errors
    /// ERANGE; EAGAIN where one with IPC_NOWAIT would wait.
    pub(crate) fn attempt(
        &mut self,
        ops: &[SemOp],
        process: ProcessId,
        pid: i32,
    ) -> Result<Option<usize>, Errno> {
        let undoes = ops.iter().any(|op| op.flags & SEM_UNDO != 0);
        let none = || vec![0; self.semaphores.len()];
        let mut undo = self.undo.get(&process).cloned().filter(|_| undoes).unwrap_or_else(none);
        let before: Vec<(usize, i32)> = ops
            .iter()
            .map(|op| (usize::from(op.number), self.semaphores[usize::from(op.number)].value))
            .collect();
        let outcome = ops.iter().enumerate().find_map(|(at, op)| {
            let semaphore = &mut self.semaphores[usize::from(op.number)];
            let result = semaphore.value + i32::from(op.by);
            if op.by == 0 && result != 0 || result < 0 {
                let hasty = u32::from(op.flags) & IPC_NOWAIT != 0;
                return Some(if hasty { Err(Errno::EAGAIN) } else { Ok(Some(at)) });
            }
            if result > SEMVMX {
                return Some(Err(Errno::ERANGE));
            }
            if op.flags & SEM_UNDO != 0 {
                let held = &mut undo[usize::from(op.number)];
                *held -= i32::from(op.by);
                if !(-SEMVMX - 1..=SEMVMX).contains(held) {
                    return Some(Err(Errno::ERANGE));
                }
            }
            semaphore.value = result;
            None
        });
        if let Some(outcome) = outcome {
            for (number, value) in before.into_iter().rev() {
                self.semaphores[number].value = value;
            }
            return outcome;
        }
        for op in ops {
            self.semaphores[usize::from(op.number)].pid = pid;
        }
        if undoes {
            self.undo.insert(process, undo);
        }
        Ok(None)
    }

    /// Adds a task to those that wait.
    pub(crate) fn wait(
        &mut self,
        task: TaskId,
        process: ProcessId,
        pid: i32,
        ops: Vec<SemOp>,
        blocking: usize,
    ) {
        self.waiting.push(Waiting { task, process, pid, ops, blocking });
    }

    /// Tells if a task waits.
    pub(crate) fn has_waiting(&self, task: TaskId) -> bool {
        self.waiting.iter().any(|waiting| waiting.task == task)
    }

    /// Takes a task out that no longer waits.
    pub(crate) fn forget(&mut self, task: TaskId) {
        self.waiting.retain(|waiting| waiting.task != task);
    }

    /// Does what waits and can be done now: first what waits for zeros, then the others in the
    /// order in which they came, again and again.
    pub(crate) fn proceed(&mut self, now: i64) -> Ended {
        let mut ended = Ended::new();
        'again: loop {
            for alters in [false, true] {
                for at in 0..self.waiting.len() {
                    let waiting = self.waiting[at].clone();
                    if waiting.alters() != alters {
                        continue;
                    }
                    let result = match self.attempt(&waiting.ops, waiting.process, waiting.pid) {
                        Ok(Some(blocking)) => {
                            self.waiting[at].blocking = blocking;
                            continue;
                        }
                        Ok(None) => {
                            self.operated = now;
                            Ok(())
                        }
                        Err(errno) => Err(errno),
                    };
                    self.waiting.remove(at);
                    ended.push((waiting.task, result));
                    continue 'again;
                }
            }
            return ended;
        }
    }

    /// Tasks that wait at a semaphore: for a zero, or for more.
    pub(crate) fn count(&self, number: usize, zero: bool) -> usize {
        let at = |task: &&Waiting| {
            let op = task.ops[task.blocking];
            usize::from(op.number) == number && (op.by == 0) == zero
        };
        self.waiting.iter().filter(at).count()
    }

    /// Sets semaphores from a number on, SETVAL and SETALL: nobody will undo anything there.
    pub(crate) fn set(&mut self, from: usize, values: &[i32], pid: i32) {
        for (at, value) in values.iter().enumerate() {
            self.semaphores[from + at] = Semaphore { value: *value, pid };
            for undo in self.undo.values_mut() {
                undo[from + at] = 0;
            }
        }
    }

    /// Undoes what a process that ends has done with SEM_UNDO, `exit_sem`; true if it had.
    pub(crate) fn undo(&mut self, process: ProcessId, pid: i32) -> bool {
        let Some(undo) = self.undo.remove(&process) else { return false };
        for (semaphore, by) in self.semaphores.iter_mut().zip(undo).filter(|(_, by)| *by != 0) {
            semaphore.value = (semaphore.value + by).clamp(0, SEMVMX);
            semaphore.pid = pid;
        }
        true
    }

    /// Tells if a process has something to undo here.
    pub(crate) fn undoes(&self, process: ProcessId) -> bool {
        self.undo.contains_key(&process)
    }

    /// Gives up the set: all calls end.
    pub(crate) fn end(self) -> Ended {
        self.waiting.into_iter().map(|waiting| (waiting.task, Err(Errno::EIDRM))).collect()
    }
}
