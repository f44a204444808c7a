//! Advice about memory: madvise(2), msync(2), mincore(2), mlock(2).

use crate::abi::errno::Errno;
use crate::abi::mm::*;
use crate::guest::{PAGE_SIZE, page_down, page_up};
use crate::kernel::uaccess::copy_to_user;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::mm::map::aligned;
use crate::syscalls::row::{Row, full, partial};

const LOCKED: &str = "nothing is ever paged out";

/// Calls of advice.
pub(crate) const ROWS: &[Row] = &[
    full(26, "msync", msync),
    full(27, "mincore", mincore).noted("every page is resident"),
    partial(
        28,
        "madvise",
        madvise,
        "DONTNEED discards; FREE keeps, as without memory pressure; REMOVE and poisoning are refused",
    ),
    full(149, "mlock", mlock).noted(LOCKED),
    full(150, "munlock", mlock_range).noted(LOCKED),
    full(151, "mlockall", mlockall).noted(LOCKED),
    full(152, "munlockall", munlockall).noted(LOCKED),
    full(325, "mlock2", mlock2).noted(LOCKED),
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
    mapped(ctx, addr, len)?;
    if flags & MS_SYNC != 0 {
        ctx.kernel.fs.write_back(ctx.mem)?;
    }
    Ok(0)
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
    let mut done = 0;
    while done < pages {
        let count = PAGE_SIZE.min(pages - done);
        copy_to_user(ctx.mem, vec.wrapping_add(done), &vec![1; count as usize])?;
        done += count;
    }
    Ok(0)
}

/// madvise(2).
fn madvise(ctx: &mut Ctx, [addr, len, advice, ..]: [u64; 6]) -> SysResult {
    let advice = advice as u32;
    match advice {
        // NORMAL RANDOM SEQUENTIAL WILLNEED DONTNEED, FREE, DONTFORK DOFORK MERGEABLE UNMERGEABLE
        // HUGEPAGE NOHUGEPAGE DONTDUMP DODUMP WIPEONFORK KEEPONFORK COLD PAGEOUT POPULATE_READ
        // POPULATE_WRITE DONTNEED_LOCKED
        0..=4 | 8 | 10..=23 | MADV_DONTNEED_LOCKED => {}
        MADV_REMOVE | MADV_COLLAPSE | 100 | 101 => {
            ctx.kernel.notices.once(format!("madvise: advice {advice} is refused with EINVAL"));
            return Err(Errno::EINVAL.into());
        }
        _ => return Err(Errno::EINVAL.into()),
    }
    aligned(addr)?;
    let len = page_up(len).ok_or(Errno::EINVAL)?;
    let end = addr.checked_add(len).ok_or(Errno::EINVAL)?;
    if len == 0 {
        return Ok(0);
    }
    let whole = ctx.mem.is_mapped(addr, len);
    if matches!(advice, MADV_DONTNEED | MADV_DONTNEED_LOCKED) {
        if whole {
            ctx.mem.discard(addr, len).map_err(Errno::from)?;
        } else {
            // As Linux does it: what is mapped is discarded, and the hole reported.
            for mapping in ctx.mem.mappings() {
                let (from, to) = (mapping.start.max(addr), mapping.end.min(end));
                if from < to {
                    ctx.mem.discard(from, to - from).map_err(Errno::from)?;
                }
            }
        }
    }
    if whole { Ok(0) } else { Err(Errno::ENOMEM.into()) }
}

/// munlock(2), and what mlock(2) checks.
fn mlock_range(ctx: &mut Ctx, [addr, len, ..]: [u64; 6]) -> SysResult {
    let start = page_down(addr);
    let len = len.checked_add(addr - start).and_then(page_up).ok_or(Errno::ENOMEM)?;
    if start.checked_add(len).is_none() {
        return Err(Errno::EINVAL.into());
    }
    mapped(ctx, start, len)
}

/// mlock(2).
fn mlock(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    mlock_range(ctx, args)
}

/// mlock2(2).
fn mlock2(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    if args[2] & !MLOCK_ONFAULT != 0 {
        return Err(Errno::EINVAL.into());
    }
    mlock_range(ctx, args)
}

/// mlockall(2).
fn mlockall(_: &mut Ctx, [flags, ..]: [u64; 6]) -> SysResult {
    if flags & !(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0 || flags & (MCL_CURRENT | MCL_FUTURE) == 0 {
        return Err(Errno::EINVAL.into());
    }
    Ok(0)
}

/// munlockall(2).
fn munlockall(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Ok(0)
}
