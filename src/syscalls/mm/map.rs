//! mmap(2), munmap(2), mprotect(2), mremap(2), brk(2).

use crate::abi::errno::Errno;
use crate::abi::mm::*;
use crate::guest::{
    Backing, FileId, GuestMemory, MapRequest, MemError, ObjectId, PAGE_SIZE, Place, Prot, USER_END,
    page_down, page_up,
};
use crate::kernel::vfs::image::Source;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

/// Calls that make and change mappings.
pub(crate) const ROWS: &[Row] = &[
    partial(
        9,
        "mmap",
        mmap,
        "MAP_HUGETLB fails with ENOMEM; MAP_GROWSDOWN does not grow; what is stored in a shared mapping of a \
               file under --allow-write reaches the host with msync, fsync and at the end",
    ),
    full(10, "mprotect", mprotect),
    full(11, "munmap", munmap),
    full(12, "brk", brk),
    partial(25, "mremap", mremap, "MREMAP_DONTUNMAP fails with EINVAL, an old size of 0 with EFAULT"),
];

/// The range from which MAP_32BIT takes its addresses.
const LOW_START: u64 = 0x4000_0000;
const LOW_END: u64 = 0x8000_0000;
/// EINVAL unless the address is the start of a page.
pub(super) fn aligned(addr: u64) -> Result<(), Errno> {
    if addr.is_multiple_of(PAGE_SIZE) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// The permissions of PROT_* bits. As on any x86 what can be written or executed can be read.
fn prot(bits: u64) -> Prot {
    let prot = Prot((bits & 7) as u8);
    if prot == Prot::NONE { prot } else { prot.with(Prot::READ) }
}

/// Backing of a new mapping, and its file if there is one. `object` is one made for this mapping,
/// whose first reference is to be given up once the mapping holds its own.
struct Behind {
    backing: Backing,
    file: Option<FileId>,
    object: Option<ObjectId>,
    may_write: bool,
}

/// mmap(2).
fn mmap(ctx: &mut Ctx, [addr, len, prot_bits, flags, fd, offset]: [u64; 6]) -> SysResult {
    aligned(offset)?;
    let anonymous = flags & MAP_ANONYMOUS != 0;
    if !anonymous {
        ctx.kernel.fds().get(fd as i32)?;
    }
    if len == 0 || !anonymous && flags & MAP_HUGETLB != 0 {
        return Err(Errno::EINVAL.into());
    }
    let len = page_up(len).filter(|len| *len <= USER_END).ok_or(Errno::ENOMEM)?;
    if !anonymous && offset.checked_add(len).is_none_or(|end| end > i64::MAX as u64) {
        return Err(Errno::EOVERFLOW.into());
    }
    let place = place(ctx, addr, len, flags)?;
    let shared = match flags & MAP_TYPE {
        MAP_PRIVATE => false,
        MAP_SHARED => true,
        MAP_SHARED_VALIDATE if !anonymous => {
            if flags & !LEGACY_MAP_MASK & !MAP_FIXED_NOREPLACE != 0 {
                return Err(Errno::EOPNOTSUPP.into());
            }
            true
        }
        _ => return Err(Errno::EINVAL.into()),
    };
    if flags & MAP_GROWSDOWN != 0 {
        if shared || !anonymous {
            return Err(Errno::EINVAL.into());
        }
        ctx.kernel.notices.once("mmap: a MAP_GROWSDOWN mapping does not grow".into());
    }
    if flags & MAP_HUGETLB != 0 {
        // A machine on which no huge pages are set aside.
        return Err(Errno::ENOMEM.into());
    }
    let prot = prot(prot_bits);
    let behind = if anonymous {
        anonymous_behind(ctx.mem, shared, len)
    } else {
        file_behind(ctx, fd as i32, offset, len, shared, prot)?
    };
    let hint = if place == Place::Hint { page_down(addr) } else { addr };
    let request = MapRequest {
        addr: hint,
        len,
        prot,
        may_write: behind.may_write,
        place,
        backing: behind.backing,
        file: behind.file,
        label: None,
    };
    let mapped = if place == Place::Hint && flags & MAP_32BIT != 0 {
        map_low(ctx.mem, request)
    } else {
        ctx.mem.map(request)
    };
    if let Some(object) = behind.object {
        ctx.mem.object_release(object);
    }
    Ok(mapped.map_err(Errno::from)?)
}

/// Zeroed memory, shared or not.
fn anonymous_behind(mem: &mut dyn GuestMemory, shared: bool, len: u64) -> Behind {
    if !shared {
        return Behind { backing: Backing::Anonymous, file: None, object: None, may_write: true };
    }
    let object = mem.object_create(len, None);
    Behind {
        backing: Backing::Shared { object, offset: 0 },
        file: None,
        object: Some(object),
        may_write: true,
    }
}

/// The file of a descriptor as the backing of a mapping.
fn file_behind(
    ctx: &mut Ctx,
    fd: i32,
    offset: u64,
    len: u64,
    shared: bool,
    prot: Prot,
) -> Result<Behind, Errno> {
    let file = ctx.kernel.fds().get(fd)?;
    let (files, mut cx) = ctx.file_ops();
    let open = files.get(file);
    let private = open.map_source(&mut cx, prot.allows(Prot::EXEC))?;
    let may_write = open.writable();
    if !open.readable() || shared && prot.allows(Prot::WRITE) && !may_write {
        return Err(Errno::EACCES);
    }
    let (source, may_write) = match (private.source, shared) {
        (Source::Zeros, _) => return Ok(anonymous_behind(ctx.mem, shared, len)),
        (source, false) => (source, true),
        (_, true) => (open.ops.map_shared(&mut cx, may_write)?, may_write),
    };
    let backing = match source {
        Source::View(source) => Backing::File { source, offset },
        Source::Object(object) if shared => Backing::Shared { object, offset },
        Source::Object(object) => Backing::Private { object, offset },
        Source::Zeros => return Err(Errno::ENODEV),
    };
    Ok(Behind { backing, file: Some(private.id), object: None, may_write })
}

/// The meaning of the address; EINVAL, ENOMEM or EPERM where it cannot be.
fn place(ctx: &Ctx, addr: u64, len: u64, flags: u64) -> Result<Place, Errno> {
    if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) == 0 {
        return Ok(Place::Hint);
    }
    if addr > USER_END - len {
        return Err(Errno::ENOMEM);
    }
    aligned(addr)?;
    if addr < MMAP_MIN_ADDR && ctx.kernel.task().cred.uid != 0 {
        return Err(Errno::EPERM);
    }
    let noreplace = flags & MAP_FIXED_NOREPLACE != 0;
    Ok(if noreplace { Place::FixedNoReplace } else { Place::Fixed })
}

/// A MAP_32BIT mapping: at the hint if it is free and not too high, in the lowest gap of the range
/// otherwise. Linux searches this range upwards.
fn map_low(mem: &mut dyn GuestMemory, mut request: MapRequest) -> Result<u64, MemError> {
    request.place = Place::FixedNoReplace;
    let hint = match request.addr {
        0 => None,
        hint => Some(hint.max(MMAP_MIN_ADDR)),
    };
    if let Some(hint) = hint.filter(|hint| hint.checked_add(request.len).is_some_and(|end| end <= LOW_END)) {
        request.addr = hint;
        match mem.map(request.clone()) {
            Err(MemError::Exists) => {}
            answer => return answer,
        }
    }
    let mut at = LOW_START;
    for mapping in mem.mappings() {
        if mapping.end <= at {
            continue;
        }
        if mapping.start >= at && mapping.start - at >= request.len {
            break;
        }
        at = mapping.end;
    }
    if at.checked_add(request.len).is_none_or(|end| end > LOW_END) {
        return Err(MemError::NoMemory);
    }
    request.addr = at;
    mem.map(request)
}

/// mprotect(2).
pub(super) fn mprotect(ctx: &mut Ctx, [addr, len, bits, ..]: [u64; 6]) -> SysResult {
    let grows = bits & (PROT_GROWSDOWN | PROT_GROWSUP);
    if grows == PROT_GROWSDOWN | PROT_GROWSUP {
        return Err(Errno::EINVAL.into());
    }
    aligned(addr)?;
    if len == 0 {
        return Ok(0);
    }
    let len = page_up(len).ok_or(Errno::ENOMEM)?;
    let end = addr.checked_add(len).ok_or(Errno::ENOMEM)?;
    if bits & !(7 | PROT_SEM | PROT_GROWSDOWN | PROT_GROWSUP) != 0 {
        return Err(Errno::EINVAL.into());
    }
    let mut start = addr;
    if grows != 0 {
        // Down to where the stack begins; nothing else here grows, and nothing grows up.
        let mappings = ctx.mem.mappings();
        let stack = mappings.iter().find(|m| m.start <= addr && addr < m.end).ok_or(Errno::ENOMEM)?;
        if grows == PROT_GROWSUP || stack.label != Some("[stack]") {
            return Err(Errno::EINVAL.into());
        }
        start = stack.start;
    }
    if let Err(why) = ctx.mem.protect(start, end - start, prot(bits)) {
        // Up to a hole the pages have changed all the same.
        let good = mapped_up_to(ctx.mem, start, end);
        if start < good && good < end {
            ctx.mem.protect(start, good - start, prot(bits)).map_err(Errno::from)?;
        }
        return Err(Errno::from(why).into());
    }
    Ok(0)
}

/// End of the part of a range that is mapped without a hole.
fn mapped_up_to(mem: &mut dyn GuestMemory, start: u64, end: u64) -> u64 {
    mem.mappings().iter().fold(start, |at, m| if m.start <= at && at < m.end { m.end.min(end) } else { at })
}

/// munmap(2).
fn munmap(ctx: &mut Ctx, [addr, len, ..]: [u64; 6]) -> SysResult {
    aligned(addr)?;
    let len = page_up(len).filter(|len| *len != 0 && *len <= USER_END).ok_or(Errno::EINVAL)?;
    if addr > USER_END - len {
        return Err(Errno::EINVAL.into());
    }
    ctx.mem.unmap(addr, len).map_err(Errno::from)?;
    Ok(0)
}

/// brk(2).
fn brk(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    Ok(ctx.mem.brk(addr))
}

/// mremap(2).
fn mremap(ctx: &mut Ctx, [addr, old_len, new_len, flags, new_addr, _]: [u64; 6]) -> SysResult {
    let invalid = Err(Errno::EINVAL.into());
    if flags & MREMAP_DONTUNMAP != 0 {
        ctx.kernel.notices.once("mremap: MREMAP_DONTUNMAP is refused with EINVAL".into());
        return invalid;
    }
    if flags & !(MREMAP_MAYMOVE | MREMAP_FIXED) != 0 || flags == MREMAP_FIXED {
        return invalid;
    }
    aligned(addr)?;
    let old_len = page_up(old_len).ok_or(Errno::EINVAL)?;
    let new_len = page_up(new_len).filter(|len| *len != 0 && *len <= USER_END).ok_or(Errno::EINVAL)?;
    let fixed = (flags & MREMAP_FIXED != 0).then_some(new_addr);
    if let Some(to) = fixed {
        aligned(to)?;
        let overlaps = addr < to.saturating_add(new_len) && to < addr.saturating_add(old_len);
        if to > USER_END - new_len || overlaps {
            return invalid;
        }
    }
    let moved = ctx.mem.remap(addr, old_len, new_len, flags & MREMAP_MAYMOVE != 0, fixed);
    Ok(moved.map_err(Errno::from)?)
}
