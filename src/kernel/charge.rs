//! The memory account of the guest: what the kernel holds for it counts against the memory limit
//! beside its pages, as a memory cgroup of Linux counts the kernel's objects. A table keeps the sum
//! of what its objects take, on the host; here the sums come together, after every call.
//!
//! What only checkpoints hold, and the journals by which a run can go back, do not count.

use crate::guest::{GuestMemory, MemError};
use crate::kernel::state::Kernel;

impl Kernel {
    /// Bytes that the kernel holds for the guest.
    fn charged(&mut self) -> u64 {
        let process = self.process();
        let signals = process.pending.bytes() + self.task().signals.pending.bytes();
        let signals = signals + self.task().seccomp.bytes();
        let task = signals + process.timers.bytes() + self.mm().bytes() + self.fds().bytes();
        task + self.files.charged() + self.fs.charged()
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
