//! Resource limits, getrlimit(2). They are fixed at the start, never the host's; NOFILE, FSIZE and STACK are
//! heeded where they apply, the others only remembered.

use crate::abi::errno::Errno;
use crate::syscalls::kernel::{Ctx, SysResult};
use crate::syscalls::table::{Row, Support};
use crate::syscalls::time::timeval;
use crate::syscalls::uaccess::{get_words, put_words};

/// No limit.
pub const RLIM_INFINITY: u64 = u64::MAX;
/// Most descriptors that RLIMIT_NOFILE may allow (`/proc/sys/fs/nr_open`).
const NR_OPEN: u64 = 1_048_576;

const NOTE: &str = "CPU, DATA, RSS, NPROC, MEMLOCK and AS are remembered but not enforced";

/// Limit calls.
pub const ROWS: &[Row] = &[
    Row { number: 97, name: "getrlimit", handler: getrlimit, support: Support::Full, note: "" },
    Row { number: 98, name: "getrusage", handler: getrusage, support: Support::Full, note: "no system time" },
    Row { number: 160, name: "setrlimit", handler: setrlimit, support: Support::Partial, note: NOTE },
    Row { number: 302, name: "prlimit64", handler: prlimit64, support: Support::Partial, note: NOTE },
];

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
            (16_384, 16_384),         // SIGPENDING
            (819_200, 819_200),       // MSGQUEUE
            (0, 0),                   // NICE
            (0, 0),                   // RTPRIO
            UNLIMITED,                // RTTIME
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

    /// Takes some descriptors away from RLIMIT_NOFILE, as Valgrind keeps some for itself.
    pub fn keep_descriptors(&mut self, count: u64) {
        let (soft, hard) = self.get(Resource::Nofile);
        self.0[Resource::Nofile as usize] = (soft.saturating_sub(count), hard.saturating_sub(count));
    }

    /// Soft and hard limit by number, EINVAL for an unknown one.
    fn numbered(&self, resource: u64) -> Result<(u64, u64), Errno> {
        self.0.get(resource as u32 as usize).copied().ok_or(Errno::EINVAL)
    }

    /// Sets both limits. A hard limit can only be lowered.
    fn set(&mut self, resource: u64, soft: u64, hard: u64) -> Result<(), Errno> {
        let slot = self.0.get_mut(resource as u32 as usize).ok_or(Errno::EINVAL)?;
        if soft > hard {
            return Err(Errno::EINVAL);
        }
        let too_many = resource as u32 == Resource::Nofile as u32 && hard > NR_OPEN;
        if hard > slot.1 || too_many {
            return Err(Errno::EPERM);
        }
        *slot = (soft, hard);
        Ok(())
    }
}

/// getrlimit(2).
fn getrlimit(ctx: &mut Ctx, [resource, addr, ..]: [u64; 6]) -> SysResult {
    let (soft, hard) = ctx.kernel.process.limits.numbered(resource)?;
    put_words(ctx.mem, addr, &[soft, hard])?;
    Ok(0)
}

/// setrlimit(2).
fn setrlimit(ctx: &mut Ctx, [resource, addr, ..]: [u64; 6]) -> SysResult {
    let [soft, hard] = get_words(ctx.mem, addr)?;
    ctx.kernel.process.limits.set(resource, soft, hard)?;
    Ok(0)
}

/// prlimit(2).
fn prlimit64(ctx: &mut Ctx, [pid, resource, new, old, ..]: [u64; 6]) -> SysResult {
    let new = match new {
        0 => None,
        new => Some(get_words(ctx.mem, new)?),
    };
    if !ctx.kernel.process.is_self(pid) {
        return Err(Errno::ESRCH.into());
    }
    let (soft, hard) = ctx.kernel.process.limits.numbered(resource)?;
    if let Some([soft, hard]) = new {
        ctx.kernel.process.limits.set(resource, soft, hard)?;
    }
    if old != 0 {
        put_words(ctx.mem, old, &[soft, hard])?;
    }
    Ok(0)
}

/// getrusage(2). Time is that of the emulated clock; memory is what is in use now.
fn getrusage(ctx: &mut Ctx, [who, addr, ..]: [u64; 6]) -> SysResult {
    const RUSAGE_SELF: i32 = 0;
    const RUSAGE_THREAD: i32 = 1;
    const RUSAGE_CHILDREN: i32 = -1;
    let mut usage = [0; 18];
    match who as i32 {
        RUSAGE_SELF | RUSAGE_THREAD => {
            usage[..2].copy_from_slice(&timeval(ctx.cpu.instructions()));
            usage[4] = ctx.mem.resident() / 1024;
        }
        RUSAGE_CHILDREN => {}
        _ => return Err(Errno::EINVAL.into()),
    }
    put_words(ctx.mem, addr, &usage)?;
    Ok(0)
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
        assert_eq!(limits.set(7, 2000, 1000), Err(Errno::EINVAL));
        assert_eq!(limits.set(7, 100, 2_000_000), Err(Errno::EPERM));
        assert_eq!(limits.set(7, 500, 1000), Ok(()));
        assert_eq!(limits.set(7, 500, 1001), Err(Errno::EPERM));
        assert_eq!(limits.soft(Resource::Nofile), 500);
        assert_eq!(limits.set(99, 0, 0), Err(Errno::EINVAL));
    }
}
