//! Deadlocks: tasks that wait for each other for ever, and locks that would make them do so.

use crate::abi::signal_names::name as signal_name;
use crate::kernel::arena::TaskId;
use crate::kernel::fdtable::FileNo;
use crate::kernel::file::locks::{Holder, Record};
use crate::kernel::sched::{TaskState, WaitKey};
use crate::kernel::state::Kernel;

/// Most processes in a circle that is looked for, `MAX_DEADLK_ITERATIONS`.
const LONGEST_CIRCLE: usize = 10;
/// Tasks of a deadlock that are named.
const SHOWN: usize = 16;

impl Kernel {
    /// Tells if waiting for a record lock would close a circle of processes that wait for each
    /// other's, `posix_locks_deadlock`. Locks of descriptions are not looked at.
    pub(crate) fn lock_would_deadlock(&self, file: FileNo, wanted: Record) -> bool {
        let locks = self.files.locks();
        let (me, mut at, mut wanted) = (wanted.holder, self.files.locked(file), wanted);
        if matches!(me, Holder::Description(_)) {
            return false;
        }
        for _ in 0..LONGEST_CIRCLE {
            let Some(held) = locks.conflict(at, &wanted) else { return false };
            if held.holder == me {
                return true;
            }
            let mut waits = self.sched.asleep().filter_map(|task| self.tasks[task].call.lock);
            let Some(next) = waits.find(|(_, record)| record.holder == held.holder) else { return false };
            (at, wanted) = next;
        }
        false
    }

    /// All that sleep or are stopped, each with a text for people: who it is, and what it waits
    /// for.
    pub(crate) fn sleepers(&self) -> Vec<(TaskId, String)> {
        let waits = |id: TaskId| {
            let call = &self.tasks[id].call;
            let at = call.keys.first().filter(|key| matches!(key, WaitKey::Futex(_)));
            format!("{}{}", call.what, at.map_or(String::new(), |key| format!(" {key}")))
        };
        let traced = |id: TaskId| {
            let trace = self.tasks[id].tracing.trace.as_ref();
            let tracer = trace.and_then(|trace| self.tasks.get(trace.tracer));
            let tracer = tracer.map_or(String::new(), |tracer| format!(", task {}", tracer.tid));
            format!("stopped for its tracer{tracer}")
        };
        let stopped = |id: TaskId| {
            let process = &self.processes[self.tasks[id].shared.process];
            format!("stopped by {}", signal_name(process.stopped.unwrap_or(0)))
        };
        let asleep = self.sched.asleep().map(|id| (id, waits(id)));
        let traced = self.in_state(TaskState::Traced).map(|id| (id, traced(id)));
        let stopped = self.in_state(TaskState::Stopped).map(|id| (id, stopped(id)));
        let named = |(id, why): (TaskId, String)| {
            let task = &self.tasks[id];
            let pid = self.processes[task.shared.process].pid;
            let name = String::from_utf8_lossy(task.name());
            (id, format!("task {} of process {pid} ({name}): {why}", task.tid))
        };
        asleep.chain(traced).chain(stopped).map(named).collect()
    }

    /// The tasks in a state.
    fn in_state(&self, state: TaskState) -> impl Iterator<Item = TaskId> {
        self.live().filter(move |task| self.tasks[*task].state == state)
    }

    /// Tells if a task has stopped for its tracer.
    pub(super) fn is_anybody_traced(&self) -> bool {
        self.in_state(TaskState::Traced).next().is_some()
    }

    /// Describes for people a deadlock of all that sleep.
    pub(super) fn describe_deadlock(&self) -> String {
        let mut asleep = self.sched.asleep().map(|task| &self.tasks[task]);
        let stopped = self.is_anybody_traced() || self.in_state(TaskState::Stopped).next().is_some();
        if let (Some(only), None, false) = (asleep.next(), asleep.next(), stopped) {
            return format!(
                "{} would wait for ever: the program is the only process of the emulated machine; set a timer, or \
                 have another process wake it",
                only.call.what
            );
        }
        let tasks = self.sleepers();
        let more = match tasks.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let shown: Vec<&str> = tasks.iter().take(SHOWN).map(|(_, text)| text.as_str()).collect();
        format!("deadlock: each task waits for another: {}{more}", shown.join("; "))
    }
}
