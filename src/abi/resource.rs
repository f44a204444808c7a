//! Resource limits and usage: getrlimit(2), getrusage(2).

use crate::abi::time::{CLK_TCK_NS, timeval};

/// No limit.
pub(crate) const RLIM_INFINITY: u64 = u64::MAX;

/// The resources, by their numbers.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Cpu = 0,
    Fsize = 1,
    Data = 2,
    Stack = 3,
    Core = 4,
    Rss = 5,
    Nproc = 6,
    Nofile = 7,
    Memlock = 8,
    As = 9,
    Locks = 10,
    Sigpending = 11,
    Msgqueue = 12,
    Nice = 13,
    Rtprio = 14,
    Rttime = 15,
}

/// Usage of the process.
pub(crate) const RUSAGE_SELF: i32 = 0;
/// Usage of the task.
pub(crate) const RUSAGE_THREAD: i32 = 1;
/// Usage of children that were waited for.
pub(crate) const RUSAGE_CHILDREN: i32 = -1;

/// CPU time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// That of the program's own instructions.
    pub user: u64,
    /// That of the kernel on its behalf.
    pub system: u64,
}

impl CpuTime {
    /// All of it.
    pub fn total(self) -> u64 {
        self.user.saturating_add(self.system)
    }

    /// Adds more.
    pub(crate) fn add(&mut self, more: CpuTime) {
        self.user = self.user.saturating_add(more.user);
        self.system = self.system.saturating_add(more.system);
    }

    /// The two in ticks of times(2).
    pub(crate) fn ticks(self) -> [u64; 2] {
        [self.user / CLK_TCK_NS, self.system / CLK_TCK_NS]
    }
}

/// The words of `struct rusage`: CPU time, and most memory in bytes.
pub(crate) fn rusage(cpu: CpuTime, resident: u64) -> [u64; 18] {
    let mut words = [0; 18];
    words[..2].copy_from_slice(&timeval(cpu.user));
    words[2..4].copy_from_slice(&timeval(cpu.system));
    words[4] = resident / 1024;
    words
}
