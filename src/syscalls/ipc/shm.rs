//! Shared memory: shmget(2), shmat(2), shmdt(2), shmctl(2).

use crate::abi::capability::{CAP_IPC_LOCK, CAP_SYS_RAWIO};
use crate::abi::errno::Errno;
use crate::abi::ipc::*;
use crate::abi::mm::MMAP_MIN_ADDR;
use crate::abi::resource::Resource;
use crate::guest::{
    Backing, FileId, GuestMemory, MapRequest, PAGE_SIZE, Place, Prot, USER_END, VmFlags, page_down, page_up,
};
use crate::kernel::ipc::ids::Entry;
use crate::kernel::ipc::shm::Segment;
use crate::kernel::state::Kernel;
use crate::kernel::uaccess::put_words;
use crate::kernel::vfs::node::MEMFD_DEV;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::ipc::layout::{PERM_WORDS, get_perm, now, perm_words};
use crate::syscalls::mm::limits;
use crate::syscalls::row::{Row, full, partial};

/// The calls of this file.
pub(crate) const ROWS: &[Row] = &[
    partial(29, "shmget", shmget, "SHM_HUGETLB fails with ENOMEM"),
    full(30, "shmat", shmat),
    full(31, "shmctl", shmctl),
    full(67, "shmdt", shmdt),
];

/// shmget(2).
fn shmget(ctx: &mut Ctx, [key, size, flags, ..]: [u64; 6]) -> SysResult {
    let (flags, now) = (flags as u32, now(ctx));
    let cred = ctx.kernel.task().cred.clone();
    let pid = ctx.kernel.process().pid;
    let most = limits::most_reserved(ctx.kernel);
    let mem = &mut *ctx.mem;
    let fits = |segment: &Segment| if segment.size < size { Err(Errno::EINVAL) } else { Ok(()) };
    let make = || {
        if size == 0
            || size > SHMMAX
            || flags & SHM_HUGETLB != 0 && !matches!(flags >> 26 & 0x3f, 0 | 21 | 30)
        {
            return Err(Errno::EINVAL);
        }
        // Huge pages are for CAP_IPC_LOCK and a group that nobody is in.
        if flags & SHM_HUGETLB != 0 {
            cred.require(CAP_IPC_LOCK)?;
        }
        if size > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        let len = page_up(size).filter(|len| *len <= USER_END).ok_or(Errno::ENOMEM)?;
        let reserved = flags & SHM_NORESERVE != 0 || len <= most;
        if flags & SHM_HUGETLB != 0 || !reserved {
            return Err(Errno::ENOMEM);
        }
        let object = mem.object_create(len, None);
        Ok(Segment { size, object, attached: 0, detached: 0, changed: now, creator: pid, last: 0 })
    };
    let id = ctx.kernel.ipc.shm.get(key as i32, flags, &cred, fits, make)?;
    Ok(id as u64)
}

/// shmat(2).
fn shmat(ctx: &mut Ctx, [id, addr, flags, ..]: [u64; 6]) -> SysResult {
    let (id, flags) = (id as i32, flags as u32);
    let at = match addr {
        _ if id < 0 => return Err(Errno::EINVAL.into()),
        0 => 0,
        addr if flags & SHM_RND != 0 => page_down(addr),
        addr if addr % PAGE_SIZE != 0 => return Err(Errno::EINVAL.into()),
        addr => addr,
    };
    let replaces = flags & SHM_REMAP != 0;
    if at == 0 && (replaces || addr != 0 && flags & SHM_RND == 0) {
        return Err(Errno::EINVAL.into());
    }
    let writes = flags & SHM_RDONLY == 0;
    let (mut prot, mut wanted) = if writes { (Prot::RW, 0o666) } else { (Prot::READ, 0o444) };
    if flags & SHM_EXEC != 0 {
        (prot, wanted) = (prot.with(Prot::EXEC), wanted | 0o111);
    }
    let entry = ctx.kernel.ipc.shm.find(id)?;
    entry.perm.check(&ctx.kernel.task().cred, wanted)?;
    let Segment { size, object, .. } = entry.object;
    let file = FileId {
        path: format!("/SYSV{:08x} (deleted)", entry.perm.key).into(),
        inode: id as u64,
        device: MEMFD_DEV,
    };
    let len = page_up(size).ok_or(Errno::EINVAL)?;
    if addr != 0 {
        let end = at.checked_add(size).ok_or(Errno::EINVAL)?;
        if !replaces && ctx.mem.next_mapping(at).is_some_and(|mapping| mapping.start < end) {
            return Err(Errno::EINVAL.into());
        }
        if at > USER_END.saturating_sub(len) {
            return Err(Errno::ENOMEM.into());
        }
        if at < MMAP_MIN_ADDR && !ctx.kernel.task().cred.capable(CAP_SYS_RAWIO) {
            return Err(Errno::EPERM.into());
        }
    }
    let replaced = (addr != 0).then_some((at, at + len));
    if !limits::room_to_grow(ctx, len, false, replaced) {
        return Err(Errno::ENOMEM.into());
    }
    if ctx.kernel.mm().denies_exec(prot, prot) {
        return Err(Errno::EACCES.into());
    }
    let vm_flags = ctx.kernel.mm().def_flags;
    let locked = vm_flags.has(VmFlags::LOCKED);
    if locked && !limits::room_to_lock(ctx, len) {
        return Err(Errno::EAGAIN.into());
    }
    let request = MapRequest {
        addr: at,
        len,
        prot,
        may_write: writes,
        place: if addr == 0 { Place::Hint } else { Place::Fixed },
        backing: Backing::Shared { object, offset: 0 },
        file: Some(file),
        label: None,
        flags: vm_flags,
    };
    let start = ctx.mem.map(request).map_err(Errno::from)?;
    let (now, pid) = (now(ctx), ctx.kernel.process().pid);
    if let Ok(entry) = ctx.kernel.ipc.shm.find_mut(id) {
        (entry.object.attached, entry.object.last) = (now, pid);
    }
    Ok(start)
}

/// shmdt(2): all that is left of the mapping that was made there.
fn shmdt(ctx: &mut Ctx, [addr, ..]: [u64; 6]) -> SysResult {
    if addr % PAGE_SIZE != 0 {
        return Err(Errno::EINVAL.into());
    }
    let segment = |ctx: &Ctx, start: u64| {
        let mapping = ctx.mem.next_mapping(start)?;
        let found = mapping.object.and_then(|object| {
            let mut segments = ctx.kernel.ipc.shm.iter();
            segments.find(|entry| entry.object.object == object).map(|entry| (entry.id, entry.object.size))
        });
        Some((found.filter(|_| mapping.start.wrapping_sub(addr) == mapping.offset), mapping))
    };
    let mut at = addr;
    let (id, size) = loop {
        match segment(ctx, at) {
            None => return Err(Errno::EINVAL.into()),
            Some((Some(found), _)) => break found,
            Some((None, mapping)) => at = mapping.end,
        }
    };
    let end = addr.saturating_add(page_up(size).unwrap_or(size));
    while let Some((found, mapping)) = segment(ctx, at).filter(|(_, mapping)| mapping.start < end) {
        if found.is_some_and(|(other, _)| other == id) {
            ctx.mem.unmap(mapping.start, mapping.end - mapping.start).map_err(Errno::from)?;
        }
        at = mapping.end;
    }
    let (now, pid) = (now(ctx), ctx.kernel.process().pid);
    if let Ok(entry) = ctx.kernel.ipc.shm.find_mut(id) {
        (entry.object.detached, entry.object.last) = (now, pid);
    }
    Ok(0)
}

/// The `struct shmid64_ds` of a segment.
fn stat(kernel: &Kernel, entry: &Entry<Segment>, mem: &dyn GuestMemory) -> [u64; PERM_WORDS + 8] {
    let Segment { size, object, attached, detached, changed, creator, last } = entry.object;
    let mut words = [0; PERM_WORDS + 8];
    words[..PERM_WORDS].copy_from_slice(&perm_words(entry, &kernel.task().cred));
    let [creator, last] = [creator, last].map(|pid| kernel.shown_pid(pid) as u32);
    let pids = u64::from(creator) | u64::from(last) << 32;
    words[PERM_WORDS..PERM_WORDS + 6].copy_from_slice(&[
        size,
        attached as u64,
        detached as u64,
        changed as u64,
        pids,
        mem.object_views(object) as u64,
    ]);
    words
}

/// shmctl(2).
fn shmctl(ctx: &mut Ctx, [id, command, addr, ..]: [u64; 6]) -> SysResult {
    let (id, command) = (id as i32, command as i32);
    if id < 0 || command < 0 {
        return Err(Errno::EINVAL.into());
    }
    let now = now(ctx);
    match command {
        IPC_INFO => {
            let words = [SHMMAX, 1, SHMMNI as u64, SHMMNI as u64, SHMMAX, 0, 0, 0, 0];
            put_words(ctx.mem, addr, &words)?;
            Ok(ctx.kernel.ipc.shm.highest())
        }
        SHM_INFO => {
            let (mut pages, mut resident) = (0, 0);
            for entry in ctx.kernel.ipc.shm.iter() {
                pages += entry.object.size.div_ceil(PAGE_SIZE);
                resident += resident_pages(&entry.object, ctx.mem);
            }
            let words = [ctx.kernel.ipc.shm.len() as u64, pages, resident, 0, 0, 0];
            put_words(ctx.mem, addr, &words)?;
            Ok(ctx.kernel.ipc.shm.highest())
        }
        IPC_STAT | SHM_STAT | SHM_STAT_ANY => {
            let shm = &ctx.kernel.ipc.shm;
            let entry = if command == IPC_STAT { shm.find(id)? } else { shm.at(id)? };
            if command != SHM_STAT_ANY {
                entry.perm.check(&ctx.kernel.task().cred, 0o444)?;
            }
            let words = stat(ctx.kernel, entry, ctx.mem);
            let answer = if command == IPC_STAT { 0 } else { entry.id as u64 };
            put_words(ctx.mem, addr, &words)?;
            Ok(answer)
        }
        IPC_SET => {
            let (uid, gid, mode) = get_perm(ctx.mem, addr)?;
            let cred = ctx.kernel.task().cred.clone();
            let entry = ctx.kernel.ipc.shm.find_mut(id)?;
            entry.perm.check_owner(&cred)?;
            entry.perm.set(&cred, uid, gid, mode)?;
            entry.object.changed = now;
            Ok(0)
        }
        IPC_RMID => {
            ctx.kernel.ipc.shm.find(id)?.perm.check_owner(&ctx.kernel.task().cred)?;
            ctx.kernel.ipc.shm.destroy(id, ctx.mem);
            Ok(0)
        }
        SHM_LOCK | SHM_UNLOCK => {
            let locks = command == SHM_LOCK;
            let cred = ctx.kernel.task().cred.clone();
            let most = ctx.kernel.process().limits.soft(Resource::Memlock);
            let entry = ctx.kernel.ipc.shm.find_mut(id)?;
            let owns = [entry.perm.uid, entry.perm.cuid].contains(&cred.uid.effective);
            if !cred.capable(CAP_IPC_LOCK) && (!owns || locks && most == 0) {
                return Err(Errno::EPERM.into());
            }
            entry.perm.mode = entry.perm.mode & !SHM_LOCKED | if locks { SHM_LOCKED } else { 0 };
            Ok(0)
        }
        _ => Err(Errno::EINVAL.into()),
    }
}

/// Pages of a segment that were touched.
fn resident_pages(segment: &Segment, mem: &dyn GuestMemory) -> u64 {
    let next = |at: u64| mem.object_next_page(segment.object, at);
    std::iter::successors(next(0), |page| next(page + PAGE_SIZE)).count() as u64
}
