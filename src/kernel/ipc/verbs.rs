//! Operations on System V objects that wake tasks, or that the end of one causes.

use crate::abi::errno::Errno;
use crate::guest::GuestMemory;
use crate::kernel::arena::{ProcessId, TaskId};
use crate::kernel::ipc::msg::{Handed, Message};
use crate::kernel::ipc::sem::Ended;
use crate::kernel::sched::{WaitKey, Wake};
use crate::kernel::state::Kernel;

impl Kernel {
    /// Lets those go on that wait at a set whose values have changed.
    pub(crate) fn semaphores_changed(&mut self, id: i32, now: i64) {
        if let Ok(entry) = self.ipc.sem.find_mut(id) {
            let ended = entry.object.proceed(now);
            self.end_semops(ended);
        }
    }

    /// Wakes tasks whose operations are done.
    pub(crate) fn end_semops(&mut self, ended: Ended) {
        for (task, result) in ended {
            self.ipc.operated.insert(task, result);
            self.wake_task(task, Wake::Event);
        }
    }

    /// Takes the end of a call of semop(2) that the running task has slept in.
    pub(crate) fn take_semop(&mut self) -> Option<Result<(), Errno>> {
        let task = self.current();
        self.ipc.operated.remove(&task)
    }

    /// Wakes tasks that have got a message, or know that they get none.
    pub(crate) fn hand_messages(&mut self, handed: Handed) {
        for (task, result) in handed {
            self.ipc.handed.insert(task, result);
            self.wake_task(task, Wake::Event);
        }
    }

    /// Takes the end of a call of msgrcv(2) that the running task has slept in.
    pub(crate) fn take_message(&mut self) -> Option<Result<Message, Errno>> {
        let task = self.current();
        self.ipc.handed.remove(&task)
    }

    /// Forgets a task whose call is over, and that waited by these keys.
    pub(in crate::kernel) fn forget_ipc_wait(&mut self, task: TaskId, keys: &[WaitKey]) {
        for key in keys {
            match key {
                WaitKey::Semaphores(id) => {
                    self.ipc.operated.remove(&task);
                    if let Ok(entry) = self.ipc.sem.find_mut(*id) {
                        entry.object.forget(task);
                    }
                }
                WaitKey::Mqueue(id) => self.fs.mqueues.forget(*id, task),
                WaitKey::Messages(id) => {
                    self.ipc.handed.remove(&task);
                    if let Ok(entry) = self.ipc.msg.find_mut(*id) {
                        entry.object.forget(task);
                    }
                }
                _ => {}
            }
        }
    }

    /// Tells if no other process shares the memory of the running one.
    fn is_alone_in_memory(&self) -> bool {
        self.mms.holders(self.task().shared.mm) as usize <= self.process().tasks.len()
    }

    /// Gives up what a process has of System V objects when it ends: its semaphores are put back,
    /// and its segments know who had them.
    pub(in crate::kernel) fn exit_ipc(&mut self, process: ProcessId, now: i64, mem: &dyn GuestMemory) {
        let pid = self.pid_of(process);
        let undone = self.ipc.sem.iter().filter(|entry| entry.object.undoes(process));
        for id in undone.map(|entry| entry.id).collect::<Vec<i32>>() {
            if let Ok(entry) = self.ipc.sem.find_mut(id)
                && entry.object.undo(process, pid)
            {
                entry.object.operated = now;
                self.semaphores_changed(id, now);
            }
        }
        if self.ipc.shm.len() > 0 && self.is_alone_in_memory() {
            self.ipc.shm.note_detached(pid, now, (0, u64::MAX), mem);
        }
    }
}
