//! Resource limits, getrlimit(2). They are fixed at the start, never the host's; NOFILE, FSIZE,
//! STACK, AS, DATA, MEMLOCK and CPU are heeded where they apply, the others only remembered.

use crate::abi::errno::Errno;
use crate::abi::resource::{RLIM_INFINITY, Resource};
use crate::abi::time::NSEC_PER_SEC;

/// Most descriptors that RLIMIT_NOFILE may allow (`/proc/sys/fs/nr_open`).
const NR_OPEN: u64 = 1_048_576;

/// Signals that may wait, and POSIX timers that may exist, at a time: RLIMIT_SIGPENDING.
pub(super) const SIGPENDING_MAX: usize = 16_384;

/// Soft and hard limit of every resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits([(u64, u64); 16]);

impl Default for Limits {
    fn default() -> Self {
        const UNLIMITED: (u64, u64) = (RLIM_INFINITY, RLIM_INFINITY);
        Limits([
            UNLIMITED,                // CPU
            UNLIMITED,                // FSIZE
            UNLIMITED,                // DATA
            (8 << 20, RLIM_INFINITY), // STACK
            (0, RLIM_INFINITY),       // CORE
            UNLIMITED,                // RSS
            (16_384, 16_384),         // NPROC
            (1024, NR_OPEN),          // NOFILE
            (8 << 20, 8 << 20),       // MEMLOCK
            UNLIMITED,                // AS
            UNLIMITED,                // LOCKS
            (SIGPENDING_MAX as u64, SIGPENDING_MAX as u64),
            (819_200, 819_200), // MSGQUEUE
            (0, 0),             // NICE
            (0, 0),             // RTPRIO
            UNLIMITED,          // RTTIME
        ])
    }
}

impl Limits {
    /// Soft and hard limit of a resource.
    pub fn get(&self, resource: Resource) -> (u64, u64) {
        self.0[resource as usize]
    }

    /// The soft limit of a resource.
    pub fn soft(&self, resource: Resource) -> u64 {
        self.get(resource).0
    }

    /// Soft and hard RLIMIT_CPU in nanoseconds; none without a limit, or with one of centuries.
    pub(super) fn cpu_ns(&self) -> (Option<u64>, Option<u64>) {
        let (soft, hard) = self.get(Resource::Cpu);
        (soft.checked_mul(NSEC_PER_SEC), hard.checked_mul(NSEC_PER_SEC))
    }

    /// Raises the soft RLIMIT_CPU, which is below the hard one, by a second.
    pub(super) fn add_cpu_second(&mut self) {
        self.0[Resource::Cpu as usize].0 += 1;
    }

    /// Takes some descriptors away from RLIMIT_NOFILE, as Valgrind keeps some for itself.
    pub fn keep_descriptors(&mut self, count: u64) {
        let (soft, hard) = self.get(Resource::Nofile);
        self.0[Resource::Nofile as usize] = (soft.saturating_sub(count), hard.saturating_sub(count));
    }

    /// Soft and hard limit by number, EINVAL for an unknown one.
    pub fn numbered(&self, resource: u64) -> Result<(u64, u64), Errno> {
        self.0.get(resource as u32 as usize).copied().ok_or(Errno::EINVAL)
    }

    /// Sets both limits. A hard limit can only be lowered, unless `raise`; EINVAL, EPERM.
    pub fn set(&mut self, resource: u64, soft: u64, hard: u64, raise: bool) -> Result<(), Errno> {
        let slot = self.0.get_mut(resource as u32 as usize).ok_or(Errno::EINVAL)?;
        if soft > hard {
            return Err(Errno::EINVAL);
        }
        let too_many = resource as u32 == Resource::Nofile as u32 && hard > NR_OPEN;
        if hard > slot.1 && !raise || too_many {
            return Err(Errno::EPERM);
        }
        *slot = (soft, hard);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults() {
        let limits = Limits::default();
        assert_eq!(limits.soft(Resource::Stack), 8 * 1024 * 1024);
        assert_eq!(limits.numbered(7), Ok((1024, 1_048_576)));
        assert_eq!(limits.numbered(9), Ok((RLIM_INFINITY, RLIM_INFINITY)));
        assert_eq!(limits.numbered(16), Err(Errno::EINVAL));
    }

    #[test]
    fn a_hard_limit_only_falls() {
        let mut limits = Limits::default();
        assert_eq!(limits.set(7, 2000, 1000, false), Err(Errno::EINVAL));
        assert_eq!(limits.set(7, 100, 2_000_000, false), Err(Errno::EPERM));
        assert_eq!(limits.set(7, 500, 1000, false), Ok(()));
        assert_eq!(limits.set(7, 500, 1001, false), Err(Errno::EPERM));
        assert_eq!(limits.soft(Resource::Nofile), 500);
        assert_eq!(limits.set(99, 0, 0, false), Err(Errno::EINVAL));
    }
}
