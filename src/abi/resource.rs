//! Resource limits and usage: getrlimit(2), getrusage(2).

use crate::abi::time::timeval;

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

/// The words of `struct rusage`: CPU time in nanoseconds, all of it in user mode, and most memory
/// in bytes.
pub(crate) fn rusage(cpu_ns: u64, resident: u64) -> [u64; 18] {
    let mut words = [0; 18];
    words[..2].copy_from_slice(&timeval(cpu_ns));
    words[4] = resident / 1024;
    words
}
