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
    /// Bytes that the kernel holds for the guest.
    fn charged(&mut self) -> u64 {
        let mut tasks = (self.tasks.len() as u64 - 1) * TASK;
        for (_, task) in self.tasks.iter() {
            tasks += task.signals.pending.bytes() + task.seccomp.bytes();
        }
        for (_, process) in self.processes.iter() {
            tasks += process.pending.bytes() + process.timers.bytes();
        }
        tasks += self.mms.iter().map(|(_, mm)| mm.bytes()).sum::<u64>();
        tasks += self.fd_tables.iter().map(|(_, fds)| fds.bytes()).sum::<u64>();
        tasks + self.files.charged() + self.fs.charged()
    }

    /// Charges what the kernel holds for the guest to the limit of its memory.
    ///
    /// # Errors
    /// `NoMemory` when the guest uses more than its limit, or was refused memory since the last
    /// time.
    pub(crate) fn charge(&mut self, mem: &mut dyn GuestMemory) -> Result<(), MemError> {
        let refused = self.fs.take_out_of_memory();
        mem.charge(self.charged())?;
        if refused { Err(MemError::NoMemory) } else { Ok(()) }
    }
}
