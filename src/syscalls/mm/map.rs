//! mmap(2), munmap(2), mprotect(2), mremap(2), remap_file_pages(2), brk(2).

use crate::abi::capability::CAP_SYS_RAWIO;
use crate::abi::errno::Errno;
use crate::abi::fs::MS_NOEXEC;
use crate::abi::mm::*;
use crate::abi::process::READ_IMPLIES_EXEC;
use crate::guest::{
    Backing, FileId, GuestMemory, MapRequest, Mapping, MemError, ObjectId, PAGE_SIZE, Place, Prot, Remap,
    USER_END, VmFlags, between, page_down, page_up,
};
use crate::kernel::vfs::image::Source;
use crate::kernel::vfs::node::ANON_DEV;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::mm::limits;
use crate::syscalls::mm::populate::populate;
use crate::syscalls::row::{Row, full, partial};

/// Calls that make and change mappings.
pub(crate) const ROWS: &[Row] = &[
    partial(
        9,
        "mmap",
        mmap,
        "MAP_HUGETLB fails with ENOMEM; what is stored in a shared mapping of a \
               file under --allow-write reaches the host with msync, fsync and at the end",
    ),
    full(10, "mprotect", mprotect),
    full(11, "munmap", munmap),
    full(12, "brk", brk),
    full(25, "mremap", mremap),
    full(216, "remap_file_pages", remap_file_pages),
];

/// The range from which MAP_32BIT takes its addresses.
const LOW_START: u64 = 0x4000_0000;
const LOW_END: u64 = 0x8000_0000;
/// EINVAL unless the address is the start of a page.
pub(super) fn aligned(addr: u64) -> Result<(), Errno> {
    if addr.is_multiple_of(PAGE_SIZE) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// The permissions of PROT_* bits, for a task whose personality(2) may make data executable.
fn prot(ctx: &Ctx, bits: u64) -> Prot {
    let prot = Prot((bits & 7) as u8);
    let executable = ctx.kernel.task().personality & READ_IMPLIES_EXEC != 0 && prot.allows(Prot::READ);
    if executable { prot.with(Prot::EXEC) } else { prot }
}

/// Backing of a new mapping, and its file if there is one. `object` is one made for this mapping,
/// whose first reference is to be given up once the mapping holds its own.
struct Behind {
    backing: Backing,
    file: Option<FileId>,
    object: Option<ObjectId>,
    may_write: bool,
    /// The file was open for writing.
    writer: bool,
}

/// Makes the pages of a new part of a mapping present, and ends the call that made it: broken off
/// it only finishes this. What cannot be had now faults later.
fn populate_new(ctx: &mut Ctx, result: u64, start: u64, end: u64, write: bool) -> SysResult {
    ctx.kernel.task_mut().call.decided = vec![result, start, end, u64::from(write)];
    let _ = populate(ctx, start, (start, end), write)?;
    Ok(result)
}

/// Finishes a call that was broken off in `populate_new`; `None` for one that begins.
fn resumed(ctx: &mut Ctx) -> Option<SysResult> {
    match ctx.kernel.task().call.decided[..] {
        [result, start, end, write] => Some(populate_new(ctx, result, start, end, write != 0)),
        _ => None,
    }
}

/// mmap(2).
fn mmap(ctx: &mut Ctx, [addr, len, prot_bits, flags, fd, offset]: [u64; 6]) -> SysResult {
    if let Some(result) = resumed(ctx) {
        return result;
    }
    aligned(offset)?;
    let anonymous = flags & MAP_ANONYMOUS != 0;
    if !anonymous {
        ctx.kernel.fds().get(fd as i32)?;
    }
    if len == 0 || !anonymous && flags & MAP_HUGETLB != 0 {
        return Err(Errno::EINVAL.into());
    }
    // MAP_HUGE_2MB and MAP_HUGE_1GB are the sizes there are.
    if flags & MAP_HUGETLB != 0 && !matches!(flags >> 26 & 0x3f, 0 | 21 | 30) {
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
    if flags & MAP_GROWSDOWN != 0 && (shared || !anonymous) {
        return Err(Errno::EINVAL.into());
    }
    if flags & MAP_HUGETLB != 0 {
        // A machine on which no huge pages are set aside.
        return Err(Errno::ENOMEM.into());
    }
    let vm_flags = ctx.kernel.mm().flags_of_new(shared).with(vm_flags(flags));
    let lock = vm_flags.has(VmFlags::LOCKED);
    if flags & MAP_LOCKED != 0 {
        limits::may_lock(ctx)?;
    }
    if lock && !limits::room_to_lock(ctx, len) {
        return Err(Errno::EAGAIN.into());
    }
    let noexec = !anonymous && of_noexec_mount(ctx, fd as i32)?;
    // What can be read can be run to programs of old, but not on such a mount.
    let prot = if noexec { Prot((prot_bits & 7) as u8) } else { prot(ctx, prot_bits) };
    let charged = if shared { anonymous } else { prot.allows(Prot::WRITE) };
    let reserves = charged && !vm_flags.has(VmFlags::NORESERVE);
    let behind = if anonymous {
        anonymous_behind(ctx.mem, shared, len)
    } else {
        file_behind(ctx, fd as i32, offset, len, shared, prot)?
    };
    let vm_flags = if noexec { vm_flags.with(VmFlags::NEVER_EXEC) } else { vm_flags };
    let vm_flags = if behind.writer { vm_flags.with(VmFlags::OF_WRITER) } else { vm_flags };
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
        flags: vm_flags,
    };
    let replaced = if place == Place::Fixed { Some((addr, addr + len)) } else { None };
    let data = prot.allows(Prot::WRITE) && !shared && flags & MAP_GROWSDOWN == 0;
    let most = limits::most_reserved(ctx.kernel);
    let mapped = if ctx.kernel.mm().denies_exec(prot, prot) {
        Err(MemError::Access)
    } else if !limits::room_to_grow(ctx, len, data, replaced) || reserves && len > most {
        Err(MemError::NoMemory)
    } else if place == Place::Hint && flags & MAP_32BIT != 0 {
        map_low(ctx.mem, request)
    } else {
        ctx.mem.map(request)
    };
    if let Some(object) = behind.object {
        ctx.mem.object_release(object);
    }
    let start = mapped.map_err(Errno::from)?;
    let wanted = lock || flags & (MAP_POPULATE | MAP_NONBLOCK) == MAP_POPULATE;
    if wanted && !vm_flags.has(VmFlags::LOCKONFAULT) {
        return populate_new(ctx, start, start, start + len, prot.allows(Prot::WRITE) && !shared);
    }
    Ok(start)
}

/// Properties of a mapping with these MAP_* flags.
fn vm_flags(flags: u64) -> VmFlags {
    let pairs = [
        (MAP_GROWSDOWN, VmFlags::GROWSDOWN),
        (MAP_LOCKED, VmFlags::LOCKED),
        (MAP_NORESERVE, VmFlags::NORESERVE),
    ];
    let set = pairs.into_iter().filter(|(flag, _)| flags & flag != 0);
    set.fold(VmFlags::NONE, |all, (_, flag)| all.with(flag))
}

/// Zeroed memory, shared or not.
fn anonymous_behind(mem: &mut dyn GuestMemory, shared: bool, len: u64) -> Behind {
    if !shared {
        return Behind {
            backing: Backing::Anonymous,
            file: None,
            object: None,
            may_write: true,
            writer: false,
        };
    }
    let object = mem.object_create(len, None);
    Behind {
        backing: Backing::Shared { object, offset: 0 },
        file: None,
        object: Some(object),
        may_write: true,
        writer: false,
    }
}

/// Tells if a descriptor is of a file on a mount without programs; EBADF.
fn of_noexec_mount(ctx: &Ctx, fd: i32) -> Result<bool, Errno> {
    let mount = ctx.kernel.files.get(ctx.kernel.fds().get(fd)?).mount;
    Ok(ctx.kernel.fs.mounts.flags(mount) & MS_NOEXEC != 0)
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
    let writer = open.writable();
    let may_write = writer;
    if open.is_path() {
        return Err(Errno::EBADF);
    }
    if !open.readable() || shared && prot.allows(Prot::WRITE) && !may_write {
        return Err(Errno::EACCES);
    }
    if prot.allows(Prot::EXEC) && cx.fs.mounts.flags(open.mount) & MS_NOEXEC != 0 {
        return Err(Errno::EPERM);
    }
    if let Some(found) = open.ops.map_ring(&mut cx, offset, len) {
        let (object, path) = (found?, "anon_inode:[io_uring]".into());
        if !shared {
            return Err(Errno::EINVAL);
        }
        return Ok(Behind {
            backing: Backing::Shared { object, offset: 0 },
            file: Some(FileId { path, inode: 1, device: ANON_DEV }),
            object: None,
            may_write: true,
            writer: false,
        });
    }
    let private = open.map_source(&mut cx, prot.allows(Prot::EXEC))?;
    let (source, may_write) = match (private.source, shared) {
        (Source::Zeros, _) => return Ok(anonymous_behind(ctx.mem, shared, len)),
        (source, false) => (source, true),
        (_, true) => (open.ops.map_shared(&mut cx, may_write)?, may_write),
    };
    let backing = match source {
        Source::View(source) => Backing::File { source, offset, shared },
        Source::Object(object) if shared => Backing::Shared { object, offset },
        Source::Object(object) => Backing::Private { object, offset },
        Source::Zeros => return Err(Errno::ENODEV),
    };
    Ok(Behind { backing, file: Some(private.id), object: None, may_write, writer })
}

/// Checks that the caller may have something at an address, `vm.mmap_min_addr`; EPERM.
fn may_map_at(ctx: &Ctx, addr: u64) -> Result<(), Errno> {
    if addr < MMAP_MIN_ADDR { ctx.kernel.task().cred.require(CAP_SYS_RAWIO) } else { Ok(()) }
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
    may_map_at(ctx, addr)?;
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
    let first = ctx.mem.next_mapping(addr).ok_or(Errno::ENOMEM)?;
    let mut start = addr;
    if grows == PROT_GROWSDOWN {
        // Down to where what grows down begins; nothing grows up here.
        if first.start >= end {
            return Err(Errno::ENOMEM.into());
        }
        if !first.is_stack() {
            return Err(Errno::EINVAL.into());
        }
        start = first.start;
    } else if first.start > addr {
        return Err(Errno::ENOMEM.into());
    } else if grows == PROT_GROWSUP {
        return Err(Errno::EINVAL.into());
    }
    let prot = prot(ctx, bits);
    if prot.allows(Prot::WRITE) {
        let new_data = |from: u64, to: u64| {
            let mappings = between(ctx.mem, from, to);
            mappings.filter(|m| !m.is_data() && !m.shared).map(|m| m.end.min(to) - m.start.max(from)).sum()
        };
        let grows = new_data(start, end);
        if grows > 0 && !limits::room_for_data(ctx, grows) {
            return Err(Errno::ENOMEM.into());
        }
    }
    let denied = |mapping: &Mapping| {
        let new = Mapping { prot, ..mapping.clone() }.is_accounted() && !mapping.prot.allows(Prot::WRITE);
        let len = mapping.end.min(end) - mapping.start.max(start);
        if ctx.kernel.mm().denies_exec(mapping.prot, prot) {
            Some((mapping.start, Errno::EACCES))
        } else if new && len > limits::most_reserved(ctx.kernel) {
            Some((mapping.start, Errno::ENOMEM))
        } else {
            None
        }
    };
    let first_denied = between(ctx.mem, start, end).find_map(|mapping| denied(&mapping));
    let allowed = first_denied.map_or(end, |(denied, _)| denied.max(start));
    if allowed > start {
        ctx.mem.protect(start, allowed - start, prot).map_err(Errno::from)?;
    }
    first_denied.map_or(Ok(0), |(_, errno)| Err(errno.into()))
}

/// Bytes unmapped at a time.
const UNMAPPED: u64 = 4096 * PAGE_SIZE;

/// munmap(2).
fn munmap(ctx: &mut Ctx, [addr, len, ..]: [u64; 6]) -> SysResult {
    aligned(addr)?;
    let len = page_up(len).filter(|len| *len != 0 && *len <= USER_END).ok_or(Errno::EINVAL)?;
    if addr > USER_END - len {
        return Err(Errno::EINVAL.into());
    }
    let (mut at, end) = (addr + ctx.kernel.task().call.done, addr + len);
    if at == addr && ctx.kernel.ipc.shm.len() > 0 {
        let (now, pid) = (ctx.kernel.real_time(ctx.cpu).sec, ctx.kernel.process().pid);
        ctx.kernel.ipc.shm.note_detached(pid, now, (addr, end), ctx.mem);
    }
    // Of as many mappings as there may be none is cut in two, for which the first piece may be
    // refused though the whole is not. Each later one begins with a mapping.
    while end - at > UNMAPPED && ctx.mem.unmap(at, UNMAPPED).is_ok() {
        at += UNMAPPED;
        ctx.pause_if_asked(at - addr)?;
    }
    ctx.mem.unmap(at, end - at).map_err(Errno::from)?;
    Ok(0)
}

/// brk(2).
fn brk(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    if let Some(result) = resumed(ctx) {
        return result;
    }
    let old = ctx.mem.brk(0);
    let (Some(from), Some(to)) = (page_up(old), page_up(addr)) else { return Ok(old) };
    if to <= from {
        return Ok(ctx.mem.brk(addr));
    }
    let def_flags = ctx.kernel.mm().flags_of_new(false);
    let lock = def_flags.has(VmFlags::LOCKED);
    let len = to - from;
    let room = limits::room_to_grow(ctx, len, true, None) && len <= limits::most_reserved(ctx.kernel);
    if !room || lock && !limits::room_to_lock(ctx, len) {
        return Ok(old);
    }
    let new = ctx.mem.brk(addr);
    if new == addr {
        let prot = prot(ctx, u64::from(Prot::RW.0));
        if prot != Prot::RW {
            ctx.mem.protect(from, len, prot).map_err(Errno::from)?;
        }
        if def_flags != VmFlags::NONE {
            ctx.mem.change_flags(from, len, def_flags, VmFlags::NONE).map_err(Errno::from)?;
        }
        if lock && !def_flags.has(VmFlags::LOCKONFAULT) {
            return populate_new(ctx, new, from, to, true);
        }
    }
    Ok(new)
}

/// mremap(2).
fn mremap(ctx: &mut Ctx, [addr, old_len, new_len, flags, new_addr, _]: [u64; 6]) -> SysResult {
    if let Some(result) = resumed(ctx) {
        return result;
    }
    let invalid = Err(Errno::EINVAL.into());
    let (may_move, keep) = (flags & MREMAP_MAYMOVE != 0, flags & MREMAP_DONTUNMAP != 0);
    if flags & !(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP) != 0
        || flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) != 0 && !may_move
        || keep && old_len != new_len
    {
        return invalid;
    }
    aligned(addr)?;
    let old_len = page_up(old_len).unwrap_or(0);
    let new_len = page_up(new_len).filter(|len| (1..=USER_END).contains(len)).ok_or(Errno::EINVAL)?;
    let fixed = (flags & MREMAP_FIXED != 0).then_some(new_addr);
    if let Some(to) = fixed {
        aligned(to)?;
        let overlaps = addr < to.saturating_add(new_len) && to < addr.saturating_add(old_len);
        if to > USER_END - new_len || overlaps {
            return invalid;
        }
    }
    let here = ctx.mem.next_mapping(addr).filter(|m| m.start <= addr).ok_or(Errno::EFAULT)?;
    fixed.map_or(Ok(()), |to| may_map_at(ctx, to))?;
    if fixed.is_none() && !keep && old_len > new_len && addr.saturating_add(old_len) > USER_END {
        return invalid;
    }
    let growth = if keep { new_len } else { new_len.saturating_sub(old_len) };
    if growth > 0 && addr.checked_add(old_len).is_some_and(|end| end <= here.end) {
        if here.is_locked() && !limits::room_to_lock(ctx, growth) {
            return Err(Errno::EAGAIN.into());
        }
        let reserved = !here.is_accounted() || growth <= limits::most_reserved(ctx.kernel);
        if !reserved || !limits::room_to_grow(ctx, growth, here.is_data(), None) {
            return Err(Errno::ENOMEM.into());
        }
    }
    let mut old_len = old_len;
    if fixed.is_some() && !keep && old_len > new_len {
        // Linux unmaps first what would be left, whatever is there.
        let end = addr.checked_add(old_len).filter(|end| *end <= USER_END).ok_or(Errno::EINVAL)?;
        ctx.mem.unmap(addr + new_len, end - (addr + new_len)).map_err(Errno::from)?;
        old_len = new_len;
    }
    let request = Remap { addr, old_len, new_len, may_move, fixed, keep };
    let start = ctx.mem.remap(request).map_err(Errno::from)?;
    if here.is_locked() && !here.flags.has(VmFlags::LOCKONFAULT) && new_len > old_len {
        return populate_new(ctx, start, start + old_len, start + new_len, here.is_data());
    }
    Ok(start)
}

/// remap_file_pages(2): maps other pages of the file there that a shared mapping shows, as mmap(2)
/// with MAP_FIXED does.
fn remap_file_pages(ctx: &mut Ctx, [start, len, prot, page, flags, _]: [u64; 6]) -> SysResult {
    if let Some(result) = resumed(ctx) {
        return result;
    }
    let (start, len) = (page_down(start), page_down(len));
    let end = start.checked_add(len).filter(|end| *end > start && prot == 0).ok_or(Errno::EINVAL)?;
    page.checked_add(len / PAGE_SIZE).ok_or(Errno::EINVAL)?;
    let mut there = between(ctx.mem, start, end);
    // To Linux a shared mapping that can never be stored to is not one.
    let shared = |first: &Mapping| first.start <= start && first.shared && first.may_write;
    let first = there.next().filter(shared).ok_or(Errno::EINVAL)?;
    let mut reached = first.end;
    for next in there {
        let same = next.start == reached && next.flags == first.flags && next.prot == first.prot;
        if !same || next.file != first.file || (first.file.is_none() && next.object != first.object) {
            return Err(Errno::EINVAL.into());
        }
        reached = next.end;
    }
    if reached < end {
        return Err(Errno::EINVAL.into());
    }
    // Pages beyond the largest file there can be.
    let at = page
        .checked_mul(PAGE_SIZE)
        .filter(|at| at.checked_add(len).is_some_and(|end| end <= i64::MAX as u64));
    let at = at.ok_or(Errno::EOVERFLOW)?;
    let mut backing = ctx.mem.backing(start).ok_or(Errno::EINVAL)?;
    match &mut backing {
        Backing::Shared { offset, .. } | Backing::File { offset, .. } => *offset = at,
        Backing::Anonymous | Backing::Private { .. } => return Err(Errno::EINVAL.into()),
    }
    if first.is_locked() && !limits::room_to_lock(ctx, len) {
        return Err(Errno::EAGAIN.into());
    }
    if !limits::room_to_grow(ctx, len, false, Some((start, end))) {
        return Err(Errno::ENOMEM.into());
    }
    let request = MapRequest {
        addr: start,
        len,
        prot: first.prot,
        may_write: first.may_write,
        place: Place::Fixed,
        backing,
        file: first.file.clone(),
        label: first.label,
        flags: first.flags,
    };
    ctx.mem.map(request).map_err(Errno::from)?;
    if flags & MAP_NONBLOCK == 0 || first.is_locked() {
        return populate_new(ctx, 0, start, end, false);
    }
    Ok(0)
}
