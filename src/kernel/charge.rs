//! The memory account of the guest: what the kernel holds for it counts against the memory limit
//! beside its pages, as a memory cgroup of Linux counts the kernel's objects. A table keeps the sum
//! of what its objects take, on the host; here the sums come together, after every call.
//!
//! What only checkpoints hold, and the journals by which a run can go back, do not count.

use crate::guest::{GuestMemory, MemError};
use crate::kernel::state::Kernel;

/// Bytes that a further task takes with its registers, as a stack of Linux's kernel does.
const TASK: u64 = 16 << 10;

impl Kernel {
    /// Bytes of what a task uses: its own queue and filters, its process, address space and
    /// descriptors.
    fn charge_of_running(&self) -> u64 {
        let task = self.task();
        let process = self.process();
        let own = task.signals.pending.bytes() + task.seccomp.bytes();
        own + process.pending.bytes() + process.timers.bytes() + self.mm().bytes() + self.fds().bytes()
    }

    /// Bytes of all tasks and what they share.
    fn charge_of_all(&self) -> u64 {
        let mut tasks = (self.tasks.len() as u64 - 1) * TASK;
        for (_, task) in self.tasks.iter() {
            tasks += task.signals.pending.bytes() + task.seccomp.bytes();
        }
        for (_, process) in self.processes.iter() {
            tasks += process.pending.bytes() + process.timers.bytes();
        }
        tasks += self.mms.iter().map(|(_, mm)| mm.bytes()).sum::<u64>();
        tasks + self.fd_tables.iter().map(|(_, fds)| fds.bytes()).sum::<u64>()
    }

    /// Makes another task's part the one that calls change.
    pub(super) fn charge_switched(&mut self) {
        let running = self.charge_of_running();
        self.task_charge.switched(running);
    }

    /// Bytes that the kernel holds for the guest.
    fn charged(&mut self) -> u64 {
        let counted = [self.tasks.len(), self.processes.len(), self.mms.len(), self.fd_tables.len()];
        let running = self.charge_of_running();
        if self.task_charge.is_stale(counted) {
            let all = self.charge_of_all();
            self.task_charge.count(counted, all, running);
        }
        self.task_charge.update(running)
            + self.files.charged()
            + self.fs.charged()
            + self.requests.bytes()
            + self.keys.bytes()
            + self.ipc.charged_in_all()
    }

    /// Charges what the kernel holds for the guest to the limit of its memory.
    ///
    /// # Errors
    /// `NoMemory` when the guest uses more than its limit, or was refused memory since the last
    /// time.
    pub(crate) fn charge(&mut self, mem: &mut dyn GuestMemory) -> Result<(), MemError> {
        let refused = self.fs.take_out_of_memory();
        self.ipc.sweep(mem);
        mem.charge(self.charged())?;
        if refused { Err(MemError::NoMemory) } else { Ok(()) }
    }

    /// The bound on files or output that the program has passed, if any.
    pub(crate) fn exceeded(&self) -> Option<String> {
        self.fs.quota.exceeded(self.files.count())
    }
}
