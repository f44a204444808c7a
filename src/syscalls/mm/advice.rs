//! Advice about memory: madvise(2), msync(2), mincore(2), mlock(2).

use crate::abi::capability::CAP_SYS_NICE;
use crate::abi::errno::Errno;
use crate::abi::mm::*;
use crate::guest::{Mapping, MemError, PAGE_SIZE, USER_END, VmFlags, between, page_down, page_up};
use crate::kernel::uaccess::copy_to_user;
use crate::syscalls::context::{Break, Ctx, SysResult};
use crate::syscalls::iovec::{access_ok, get_iovec};
use crate::syscalls::mm::limits;
use crate::syscalls::mm::map::aligned;
use crate::syscalls::mm::populate;
use crate::syscalls::process::pidfd;
use crate::syscalls::row::{Row, full, partial};

const LOCKED: &str = "counted against RLIMIT_MEMLOCK; nothing is ever paged out";

/// Calls of advice.
pub(crate) const ROWS: &[Row] = &[
    full(26, "msync", msync),
    full(27, "mincore", mincore).noted("pages of files are resident, other pages once they were touched"),
    partial(
        28,
        "madvise",
        madvise,
        "FREE keeps, as without memory pressure; COLLAPSE and poisoning are refused with EINVAL",
    ),
    full(149, "mlock", mlock).noted(LOCKED),
    full(150, "munlock", munlock).noted(LOCKED),
    full(151, "mlockall", mlockall).noted(LOCKED),
    full(152, "munlockall", munlockall).noted(LOCKED),
    full(325, "mlock2", mlock2).noted(LOCKED),
    partial(440, "process_madvise", process_madvise, "as madvise; COLLAPSE is refused with EINVAL"),
];

/// msync(2). Shared mappings and the file system hold the same pages; those of files of the host
/// are written back, whichever part is asked for.
fn msync(ctx: &mut Ctx, [addr, len, flags, ..]: [u64; 6]) -> SysResult {
    let flags = u64::from(flags as u32);
    if flags & !(MS_ASYNC | MS_INVALIDATE | MS_SYNC) != 0
        || flags & (MS_ASYNC | MS_SYNC) == MS_ASYNC | MS_SYNC
    {
        return Err(Errno::EINVAL.into());
    }
    aligned(addr)?;
    // Linux lets a length that wraps to nothing pass.
    let len = page_up(len).unwrap_or(0);
    let end = addr.checked_add(len).ok_or(Errno::ENOMEM)?;
    let locked = flags & MS_INVALIDATE != 0 && between(ctx.mem, addr, end).any(|mapping| mapping.is_locked());
    if locked {
        return Err(Errno::EBUSY.into());
    }
    if flags & MS_SYNC != 0 {
        ctx.kernel.fs.write_back(ctx.mem)?;
    }
    mapped(ctx, addr, len)
}

/// 0 if every page of the range is mapped, ENOMEM otherwise.
fn mapped(ctx: &Ctx, addr: u64, len: u64) -> SysResult {
    let whole = addr.checked_add(len).is_some() && (len == 0 || ctx.mem.is_mapped(addr, len));
    if whole { Ok(0) } else { Err(Errno::ENOMEM.into()) }
}

/// mincore(2).
fn mincore(ctx: &mut Ctx, [addr, len, vec, ..]: [u64; 6]) -> SysResult {
    aligned(addr)?;
    let len = page_up(len).ok_or(Errno::ENOMEM)?;
    mapped(ctx, addr, len)?;
    let pages = len / PAGE_SIZE;
    // What the call stored before it was broken off stays stored.
    let before = ctx.kernel.task().call.done;
    let mut done = before;
    while done < pages {
        if done > before {
            ctx.pause_if_asked(done)?;
        }
        let count = PAGE_SIZE.min(pages - done);
        let resident = |page: u64| u8::from(ctx.mem.is_resident(addr + page * PAGE_SIZE));
        let bytes: Vec<u8> = (done..done + count).map(resident).collect();
        copy_to_user(ctx.mem, vec.wrapping_add(done), &bytes)?;
        done += count;
    }
    Ok(0)
}

/// madvise(2).
pub(in crate::syscalls) fn madvise(ctx: &mut Ctx, [addr, len, advice, ..]: [u64; 6]) -> SysResult {
    let advice = advice as u32;
    match advice {
        // NORMAL RANDOM SEQUENTIAL WILLNEED DONTNEED, FREE REMOVE DONTFORK DOFORK MERGEABLE
        // UNMERGEABLE HUGEPAGE NOHUGEPAGE DONTDUMP DODUMP WIPEONFORK KEEPONFORK COLD PAGEOUT
        // POPULATE_READ POPULATE_WRITE DONTNEED_LOCKED
        0..=4 | 8..=24 | MADV_GUARD_INSTALL | MADV_GUARD_REMOVE => {}
        MADV_COLLAPSE => {
            ctx.kernel.notices.count("madvise: advice ", &format!("{advice} is refused with EINVAL"));
        }
        100 | 101 => {
            ctx.kernel.notices.count("madvise: advice ", &format!("{advice} is refused with EINVAL"));
            return Err(Errno::EINVAL.into());
        }
        _ => return Err(Errno::EINVAL.into()),
    }
    aligned(addr)?;
    let len = page_up(len).ok_or(Errno::EINVAL)?;
    let end = addr.checked_add(len).ok_or(Errno::EINVAL)?;
    if matches!(advice, MADV_POPULATE_READ | MADV_POPULATE_WRITE) {
        if end > USER_END {
            return Err(Errno::ENOMEM.into());
        }
        return match populate::populate(ctx, addr, (addr, end), advice == MADV_POPULATE_WRITE)? {
            Err(MemError::Access) => Err(Errno::EINVAL.into()),
            result => Ok(result.map(|()| 0).map_err(Errno::from)?),
        };
    }
    // What is mapped is advised, and a hole reported at the end.
    let mut at = addr;
    let mut whole = true;
    while at < end {
        let Some(mapping) = ctx.mem.next_mapping(at).filter(|mapping| mapping.start < end) else {
            whole = false;
            break;
        };
        whole &= mapping.start <= at;
        let (from, to) = (mapping.start.max(at), mapping.end.min(end));
        advise(ctx, &mapping, from, to, advice)?;
        at = to;
    }
    if whole { Ok(0) } else { Err(Errno::ENOMEM.into()) }
}

/// process_madvise(2): the ranges one after the other, up to the first error. Advice about the
/// memory of others only says what will be used.
fn process_madvise(ctx: &mut Ctx, [pidfd, ranges, count, advice, flags, _]: [u64; 6]) -> SysResult {
    if flags as u32 != 0 {
        return Err(Errno::EINVAL.into());
    }
    let ranges = get_iovec(ctx.mem, ranges, count)?;
    access_ok(&ranges)?;
    let process = pidfd::process(ctx, pidfd)?;
    let task = ctx.kernel.find_task(ctx.kernel.pid_of(process)).ok_or(Errno::ESRCH)?;
    let (space, own) = (ctx.kernel.space_of_task(task), ctx.kernel.space_of_task(ctx.kernel.current()));
    if space != own {
        if !matches!(advice as u32, MADV_COLD | MADV_PAGEOUT | MADV_WILLNEED | MADV_COLLAPSE) {
            return Err(Errno::EINVAL.into());
        }
        ctx.kernel.may_look_into(task).map_err(|_| Errno::EACCES)?;
        if !ctx.kernel.task().cred.capable(CAP_SYS_NICE) {
            return Err(Errno::EPERM.into());
        }
    }
    let mut done = 0;
    for (addr, len) in ranges {
        let result = if space == own {
            madvise(ctx, [addr, len, advice, 0, 0, 0]).map(drop)
        } else {
            let mut whole = false;
            let end = page_up(len).and_then(|len| page_down(addr).checked_add(len)).ok_or(Errno::EINVAL)?;
            ctx.mem.in_space(space, &mut |mem| whole = mem.is_mapped(addr, end - addr));
            if whole { Ok(()) } else { Err(Errno::ENOMEM.into()) }
        };
        match result {
            Ok(()) => done += len,
            Err(Break::Errno(_)) if done > 0 => break,
            Err(other) => return Err(other),
        }
    }
    Ok(done)
}

/// Carries out advice about a part of one mapping.
fn advise(ctx: &mut Ctx, mapping: &Mapping, from: u64, to: u64, advice: u32) -> Result<(), Errno> {
    match advice {
        MADV_DONTNEED | MADV_FREE | MADV_COLD | MADV_PAGEOUT | MADV_GUARD_INSTALL if mapping.is_locked() => {
            Err(Errno::EINVAL)
        }
        MADV_GUARD_INSTALL | MADV_GUARD_REMOVE => {
            Ok(ctx.mem.guard(from, to - from, advice == MADV_GUARD_INSTALL)?)
        }
        MADV_COLLAPSE => Err(Errno::EINVAL),
        MADV_FREE | MADV_WIPEONFORK if !mapping.is_anonymous() => Err(Errno::EINVAL),
        MADV_DONTNEED | MADV_DONTNEED_LOCKED => Ok(ctx.mem.discard(from, to - from)?),
        MADV_REMOVE => {
            if mapping.is_locked() || mapping.is_anonymous() {
                return Err(Errno::EINVAL);
            }
            if !mapping.shared || !mapping.may_write {
                return Err(Errno::EACCES);
            }
            let object = mapping.object.ok_or(Errno::EINVAL)?;
            let now = ctx.kernel.real_time(ctx.cpu);
            let offset = mapping.offset + (from - mapping.start);
            ctx.kernel.fs.punch_object(now, object, offset, to - from, ctx.mem)
        }
        _ => {
            let (set, clear) = flags_of(advice);
            if set == clear || advice == MADV_MERGEABLE && !may_merge(mapping) {
                return Ok(());
            }
            Ok(ctx.mem.change_flags(from, to - from, set, clear)?)
        }
    }
}

/// The properties that a piece of advice sets and clears; none where it is only heard.
fn flags_of(advice: u32) -> (VmFlags, VmFlags) {
    let none = VmFlags::NONE;
    match advice {
        MADV_NORMAL => (none, VmFlags::RAND_READ.with(VmFlags::SEQ_READ)),
        MADV_RANDOM => (VmFlags::RAND_READ, VmFlags::SEQ_READ),
        MADV_SEQUENTIAL => (VmFlags::SEQ_READ, VmFlags::RAND_READ),
        MADV_DONTFORK => (VmFlags::DONTCOPY, none),
        MADV_DOFORK => (none, VmFlags::DONTCOPY),
        MADV_MERGEABLE => (VmFlags::MERGEABLE, none),
        MADV_UNMERGEABLE => (none, VmFlags::MERGEABLE),
        MADV_HUGEPAGE => (VmFlags::HUGEPAGE, VmFlags::NOHUGEPAGE),
        MADV_NOHUGEPAGE => (VmFlags::NOHUGEPAGE, VmFlags::HUGEPAGE),
        MADV_DONTDUMP => (VmFlags::DONTDUMP, none),
        MADV_DODUMP => (none, VmFlags::DONTDUMP),
        MADV_WIPEONFORK => (VmFlags::WIPEONFORK, none),
        MADV_KEEPONFORK => (none, VmFlags::WIPEONFORK),
        _ => (none, none),
    }
}

/// Tests whether equal pages of a mapping may become one (`ksm_madvise`).
fn may_merge(mapping: &Mapping) -> bool {
    !mapping.shared
}

/// The first address and the length of mlock(2) and munlock(2), in whole pages.
fn whole_pages(addr: u64, len: u64) -> (u64, u64) {
    let start = page_down(addr);
    // Linux lets a length that wraps to nothing pass.
    (start, page_up(len.wrapping_add(addr - start)).unwrap_or(0))
}

/// The range of mlock(2) and munlock(2); EINVAL where it wraps around.
fn lock_range(addr: u64, len: u64) -> Result<(u64, u64), Errno> {
    let (start, len) = whole_pages(addr, len);
    Ok((start, start.checked_add(len).ok_or(Errno::EINVAL)?))
}

fn lock(ctx: &mut Ctx, addr: u64, len: u64, on_fault: bool) -> SysResult {
    if ctx.kernel.task().call.done > 0 {
        let (start, end) = lock_range(addr, len)?;
        populate(ctx, start, end)?;
        return Ok(0);
    }
    limits::may_lock(ctx)?;
    let (start, len) = whole_pages(addr, len);
    if !limits::room_to_lock_range(ctx, start, len) {
        return Err(Errno::ENOMEM.into());
    }
    let end = start.checked_add(len).ok_or(Errno::EINVAL)?;
    let on_fault_flag = if on_fault { VmFlags::LOCKONFAULT } else { VmFlags::NONE };
    let flags = VmFlags::LOCKED.with(on_fault_flag);
    ctx.mem.change_flags(start, end - start, flags, VmFlags::LOCKS).map_err(Errno::from)?;
    if !on_fault {
        populate(ctx, start, end)?;
    }
    Ok(0)
}

/// Makes locked pages present, those for stores that may be written; the errors of mlock(2).
fn populate(ctx: &mut Ctx, start: u64, end: u64) -> Result<(), Break> {
    let mappings: Vec<Mapping> = between(ctx.mem, start, end).collect();
    for mapping in mappings {
        let (from, to) = (mapping.start.max(start), mapping.end.min(end));
        match populate::populate(ctx, start, (from, to), mapping.is_data())? {
            Err(MemError::NoMemory) => return Err(Errno::EAGAIN.into()),
            Err(_) => return Err(Errno::ENOMEM.into()),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// mlock(2).
fn mlock(ctx: &mut Ctx, [addr, len, ..]: [u64; 6]) -> SysResult {
    lock(ctx, addr, len, false)
}

/// mlock2(2).
fn mlock2(ctx: &mut Ctx, [addr, len, flags, ..]: [u64; 6]) -> SysResult {
    let flags = u64::from(flags as u32);
    if flags & !MLOCK_ONFAULT != 0 {
        return Err(Errno::EINVAL.into());
    }
    lock(ctx, addr, len, flags & MLOCK_ONFAULT != 0)
}

/// munlock(2).
fn munlock(ctx: &mut Ctx, [addr, len, ..]: [u64; 6]) -> SysResult {
    let (start, end) = lock_range(addr, len)?;
    ctx.mem.change_flags(start, end - start, VmFlags::NONE, VmFlags::LOCKS).map_err(Errno::from)?;
    Ok(0)
}

/// Gives all mappings these marks of mlock(2).
fn lock_all(ctx: &mut Ctx, flags: VmFlags) -> Result<(), Errno> {
    let mappings: Vec<Mapping> = between(ctx.mem, 0, u64::MAX).collect();
    for mapping in mappings {
        ctx.mem.change_flags(mapping.start, mapping.end - mapping.start, flags, VmFlags::LOCKS)?;
    }
    Ok(())
}

/// mlockall(2).
fn mlockall(ctx: &mut Ctx, [flags, ..]: [u64; 6]) -> SysResult {
    let flags = u64::from(flags as u32);
    if flags & !(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0 || flags & (MCL_CURRENT | MCL_FUTURE) == 0 {
        return Err(Errno::EINVAL.into());
    }
    limits::may_lock(ctx)?;
    let current = flags & MCL_CURRENT != 0;
    if current && ctx.kernel.task().call.done == 0 && !limits::room_to_lock_all(ctx) {
        return Err(Errno::ENOMEM.into());
    }
    let marks = if flags & MCL_ONFAULT != 0 { VmFlags::LOCKS } else { VmFlags::LOCKED };
    ctx.kernel.mm_mut().def_flags = if flags & MCL_FUTURE != 0 { marks } else { VmFlags::NONE };
    if current {
        if ctx.kernel.task().call.done == 0 {
            lock_all(ctx, marks)?;
        }
        if flags & MCL_ONFAULT == 0 {
            // What cannot be had now faults later.
            if let Err(Break::Pause) = populate(ctx, 0, u64::MAX) {
                return Err(Break::Pause);
            }
        }
    }
    Ok(0)
}

/// munlockall(2).
fn munlockall(ctx: &mut Ctx, _: [u64; 6]) -> SysResult {
    ctx.kernel.mm_mut().def_flags = VmFlags::NONE;
    lock_all(ctx, VmFlags::NONE)?;
    Ok(0)
}
