//! Limits on memory: RLIMIT_AS, RLIMIT_DATA and RLIMIT_MEMLOCK of getrlimit(2), and what the
//! machine has at all.

use crate::abi::capability::CAP_IPC_LOCK;
use crate::abi::errno::Errno;
use crate::abi::resource::{RLIM_INFINITY, Resource};
use crate::guest::{MappedBytes, Mapping, between};
use crate::kernel::Kernel;
use crate::kernel::procfs::machine::TOTAL_MEMORY;
use crate::syscalls::context::Ctx;

/// Mappings that are counted: the bytes of all of them, and the test of one.
type Counted = (fn(MappedBytes) -> u64, fn(&Mapping) -> bool);

const ALL: Counted = (|bytes| bytes.all, |_| true);
const DATA: Counted = (|bytes| bytes.data, Mapping::is_data);
const LOCKED: Counted = (|bytes| bytes.locked, Mapping::is_locked);

/// Bytes of the mappings that are counted, those in a range left out.
fn total(ctx: &Ctx, (bytes, which): Counted, except: Option<(u64, u64)>) -> u64 {
    let (from, to) = except.unwrap_or_default();
    let left_out = |m: Mapping| m.end.min(to).saturating_sub(m.start.max(from));
    let within = between(ctx.mem, from, to).filter(which).map(left_out);
    bytes(ctx.mem.mapped_bytes()) - within.sum::<u64>()
}

fn fits(ctx: &Ctx, resource: Resource, used: impl FnOnce() -> u64, more: u64) -> bool {
    let (soft, hard) = ctx.kernel.process().limits.get(resource);
    // Linux takes a soft RLIMIT_DATA of 0 for none, for the sake of programs that set it.
    let limit = if resource == Resource::Data && soft == 0 { hard } else { soft };
    limit == RLIM_INFINITY || used().saturating_add(more) <= limit
}

/// Tests whether `len` more bytes may be mapped, which are `data` if RLIMIT_DATA counts them.
/// `replaced` is a range whose mappings go.
pub(in crate::syscalls) fn room_to_grow(
    ctx: &Ctx,
    len: u64,
    data: bool,
    replaced: Option<(u64, u64)>,
) -> bool {
    fits(ctx, Resource::As, || total(ctx, ALL, replaced), len)
        && (!data || fits(ctx, Resource::Data, || total(ctx, DATA, replaced), len))
}

/// Tests whether so many bytes of private memory may become writable.
pub(super) fn room_for_data(ctx: &Ctx, len: u64) -> bool {
    fits(ctx, Resource::Data, || total(ctx, DATA, None), len)
}

/// Most bytes of one reservation, as vm.overcommit_memory 0 has it (`__vm_enough_memory`): all that
/// the machine has, or what --max-memory gives if that is more.
pub(in crate::syscalls) fn most_reserved(kernel: &Kernel) -> u64 {
    TOTAL_MEMORY.max(kernel.fs.memory_limit)
}

fn unlimited(ctx: &Ctx) -> bool {
    ctx.kernel.task().cred.capable(CAP_IPC_LOCK)
}

/// EPERM for a task that may keep nothing in memory.
pub(super) fn may_lock(ctx: &Ctx) -> Result<(), Errno> {
    let some = ctx.kernel.process().limits.soft(Resource::Memlock) != 0 || unlimited(ctx);
    if some { Ok(()) } else { Err(Errno::EPERM) }
}

/// Tests whether `len` more bytes may be kept in memory.
pub(in crate::syscalls) fn room_to_lock(ctx: &Ctx, len: u64) -> bool {
    unlimited(ctx) || fits(ctx, Resource::Memlock, || total(ctx, LOCKED, None), len)
}

/// Tests whether `len` bytes from `start` on may be kept in memory, of which parts may be already.
pub(super) fn room_to_lock_range(ctx: &Ctx, start: u64, len: u64) -> bool {
    let already = || total(ctx, LOCKED, Some((start, start.saturating_add(len))));
    unlimited(ctx) || fits(ctx, Resource::Memlock, already, len)
}

/// Tests whether everything that is mapped may be kept in memory.
pub(super) fn room_to_lock_all(ctx: &Ctx) -> bool {
    unlimited(ctx) || fits(ctx, Resource::Memlock, || total(ctx, ALL, None), 0)
}
