//! Options of prctl(2) about the caller's memory.

use std::sync::Arc;

use crate::abi::capability::{CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN, CAP_SYS_RESOURCE};
use crate::abi::errno::Errno;
use crate::abi::fs::AT_EMPTY_PATH;
use crate::abi::mm::MMAP_MIN_ADDR;
use crate::abi::process::*;
use crate::abi::resource::{RLIM_INFINITY, Resource};
use crate::guest::{Mapping, PAGE_SIZE, USER_END, VmFlags, page_up};
use crate::kernel::mm::{Mm, Places};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_words, put_u32, strncpy_from_user};
use crate::syscalls::context::{Ctx, SysResult};

/// Bytes of the auxiliary vector that Linux keeps, `saved_auxv`.
const AUXV_SIZE: usize = 448;

/// Bytes of `struct prctl_mm_map`.
const MAP_SIZE: u32 = 104;

/// Descriptor of a `struct prctl_mm_map` without one.
const NO_FILE: u32 = u32::MAX;

/// Places that PR_SET_MM moves, with those of the heap.
struct Moved {
    places: Places,
    heap: (u64, u64),
}

impl Moved {
    /// The places as they are now.
    fn of(ctx: &Ctx) -> Moved {
        Moved { places: ctx.kernel.mm().places, heap: ctx.mem.heap() }
    }

    /// EINVAL for places that cannot be (`validate_prctl_map_addr`).
    fn check(&self, ctx: &Ctx) -> Result<(), Errno> {
        let Places { code, data, stack, args, env } = self.places;
        let pairs = [code, data, self.heap, args, env];
        let possible = |addr: &u64| (MMAP_MIN_ADDR..USER_END).contains(addr);
        let all = pairs.iter().flat_map(|(start, end)| [start, end]).chain([&stack]);
        if !all.into_iter().all(possible) || pairs.iter().any(|(start, end)| start > end) || code.0 == code.1
        {
            return Err(Errno::EINVAL);
        }
        let limit = ctx.kernel.process().limits.soft(Resource::Data);
        let used = (self.heap.1 - self.heap.0).saturating_add(data.1 - data.0);
        if limit == RLIM_INFINITY || used <= limit { Ok(()) } else { Err(Errno::EINVAL) }
    }

    fn commit(self, ctx: &mut Ctx) {
        ctx.kernel.mm_mut().places = self.places;
        if self.heap != ctx.mem.heap() {
            ctx.mem.set_heap(self.heap);
        }
    }
}

/// PR_SET_MM: moves what `/proc/PID/stat`, `cmdline`, `environ` and `auxv` say of the program.
pub(super) fn set_mm(ctx: &mut Ctx, [what, addr, arg4, arg5]: [u64; 4]) -> SysResult {
    if arg5 != 0 || arg4 != 0 && !matches!(what, PR_SET_MM_AUXV | PR_SET_MM_MAP | PR_SET_MM_MAP_SIZE) {
        return Err(Errno::EINVAL.into());
    }
    match what {
        PR_SET_MM_MAP_SIZE => {
            put_u32(ctx.mem, addr, MAP_SIZE)?;
            return Ok(0);
        }
        PR_SET_MM_MAP => return set_map(ctx, addr, arg4),
        _ => ctx.kernel.task().cred.require(CAP_SYS_RESOURCE)?,
    }
    match what {
        PR_SET_MM_EXE_FILE => {
            set_exe_file(ctx, addr as u32 as i32)?;
            return Ok(0);
        }
        PR_SET_MM_AUXV => {
            ctx.kernel.mm_mut().auxv = auxv_from(ctx, addr, arg4)?;
            return Ok(0);
        }
        _ => {}
    }
    let mut moved = Moved::of(ctx);
    let Moved { places, heap } = &mut moved;
    let (place, on_stack) = match what {
        PR_SET_MM_START_CODE => (&mut places.code.0, false),
        PR_SET_MM_END_CODE => (&mut places.code.1, false),
        PR_SET_MM_START_DATA => (&mut places.data.0, false),
        PR_SET_MM_END_DATA => (&mut places.data.1, false),
        PR_SET_MM_START_STACK => (&mut places.stack, true),
        PR_SET_MM_START_BRK => (&mut heap.0, false),
        PR_SET_MM_BRK => (&mut heap.1, false),
        PR_SET_MM_ARG_START => (&mut places.args.0, true),
        PR_SET_MM_ARG_END => (&mut places.args.1, true),
        PR_SET_MM_ENV_START => (&mut places.env.0, true),
        PR_SET_MM_ENV_END => (&mut places.env.1, true),
        _ => return Err(Errno::EINVAL.into()),
    };
    *place = addr;
    moved.check(ctx)?;
    if on_stack && ctx.mem.next_mapping(addr).is_none() {
        return Err(Errno::EFAULT.into());
    }
    moved.commit(ctx);
    Ok(0)
}

/// PR_SET_MM_MAP: all places at once, for which no privilege is needed.
fn set_map(ctx: &mut Ctx, addr: u64, size: u64) -> SysResult {
    if size != u64::from(MAP_SIZE) {
        return Err(Errno::EINVAL.into());
    }
    let [code, end_code, data, end_data, heap, brk, stack, args, end_args, env, end_env, auxv, rest] =
        get_words(ctx.mem, addr)?;
    let places = Places {
        code: (code, end_code),
        data: (data, end_data),
        stack,
        args: (args, end_args),
        env: (env, end_env),
    };
    let moved = Moved { places, heap: (heap, brk) };
    moved.check(ctx)?;
    let (auxv_size, exe) = (rest as u32, (rest >> 32) as u32);
    let auxv = match (auxv_size, auxv) {
        (0, _) => None,
        (_, 0) => return Err(Errno::EINVAL.into()),
        (size, addr) => Some(auxv_from(ctx, addr, size.into())?),
    };
    if exe != NO_FILE {
        let cred = &ctx.kernel.task().cred;
        if !cred.capable(CAP_CHECKPOINT_RESTORE) && !cred.capable(CAP_SYS_ADMIN) {
            return Err(Errno::EPERM.into());
        }
        set_exe_file(ctx, exe as i32)?;
    }
    moved.commit(ctx);
    if let Some(auxv) = auxv {
        ctx.kernel.mm_mut().auxv = auxv;
    }
    Ok(0)
}

/// An auxiliary vector of the program's, up to its end.
fn auxv_from(ctx: &mut Ctx, addr: u64, size: u64) -> Result<Vec<u8>, Errno> {
    let mut bytes = [0; AUXV_SIZE];
    let given = usize::try_from(size).ok().and_then(|size| bytes.get_mut(..size)).ok_or(Errno::EINVAL)?;
    copy_from_user(ctx.mem, addr, given)?;
    bytes[AUXV_SIZE - 16..].fill(0);
    let end = bytes.chunks(16).position(|entry| entry.iter().take(8).all(|byte| *byte == 0));
    Ok(bytes[..end.map_or(AUXV_SIZE, |end| (end + 1) * 16)].to_vec())
}

/// PR_SET_MM_EXE_FILE: names another program, once nothing of the old one is mapped.
fn set_exe_file(ctx: &mut Ctx, fd: i32) -> Result<(), Errno> {
    ctx.opened(fd)?;
    let (fs, caller, mem) = ctx.paths();
    let image = fs.image_at(&caller, fd, b"", AT_EMPTY_PATH, mem)?;
    let old = ctx.kernel.mm().exe_file;
    let of_old = |mapping: &Mapping| mapping.file.as_ref().map(|file| (file.device, file.inode)) == old;
    if old.is_some() && ctx.mem.mappings().iter().any(of_old) {
        return Err(Errno::EBUSY);
    }
    ctx.kernel.hold_program(image.at);
    ctx.kernel.set_program_place(image.at, ctx.mem);
    let mm = ctx.kernel.mm_mut();
    (mm.exe, mm.exe_file) = (image.path, Some((image.id.device, image.id.inode)));
    Ok(())
}

/// PR_GET_AUXV: as much of the auxiliary vector as there is room for.
pub(super) fn get_auxv(ctx: &mut Ctx, addr: u64, size: u64) -> SysResult {
    let mut auxv = ctx.kernel.mm().auxv.clone();
    auxv.resize(AUXV_SIZE, 0);
    let wanted = auxv.len().min(usize::try_from(size).unwrap_or(AUXV_SIZE));
    copy_to_user(ctx.mem, addr, &auxv[..wanted])?;
    Ok(AUXV_SIZE as u64)
}

/// PR_SET_MDWE: from now on memory is either writable or executable. This is never taken back.
pub(super) fn set_mdwe(mm: &mut Mm, bits: u64) -> Result<(), Errno> {
    const ALL: u64 = PR_MDWE_REFUSE_EXEC_GAIN | PR_MDWE_NO_INHERIT;
    if bits & !ALL != 0 || bits == PR_MDWE_NO_INHERIT {
        return Err(Errno::EINVAL);
    }
    if mm.mdwe != 0 && mm.mdwe != bits {
        return Err(Errno::EPERM);
    }
    mm.mdwe = bits;
    Ok(())
}

/// PR_SET_MEMORY_MERGE: marks all private memory as MADV_MERGEABLE does, or none.
pub(super) fn set_merge(ctx: &mut Ctx, on: bool) -> SysResult {
    ctx.kernel.mm_mut().merge_any = on;
    let (set, clear) =
        if on { (VmFlags::MERGEABLE, VmFlags::NONE) } else { (VmFlags::NONE, VmFlags::MERGEABLE) };
    for mapping in ctx.mem.mappings().into_iter().filter(|mapping| !mapping.shared) {
        ctx.mem.change_flags(mapping.start, mapping.end - mapping.start, set, clear).map_err(Errno::from)?;
    }
    Ok(0)
}

/// PR_SET_VMA_ANON_NAME: names a range of memory without a file, as a kernel with
/// CONFIG_ANON_VMA_NAME does. Without a name the range loses the one it has.
pub(super) fn set_name(ctx: &mut Ctx, addr: u64, len: u64, name: u64) -> SysResult {
    /// Most bytes of a name, with its end.
    const NAME_MAX: usize = 80;
    let allowed = |byte: &u8| matches!(byte, b' '..=b'~') && !b"\\`$[]".contains(byte);
    let name = match name {
        0 => None,
        name => Some(strncpy_from_user(ctx.mem, name, NAME_MAX)?.ok_or(Errno::EINVAL)?),
    };
    if name.iter().flatten().any(|byte| !allowed(byte)) || !addr.is_multiple_of(PAGE_SIZE) {
        return Err(Errno::EINVAL.into());
    }
    let name: Option<Arc<str>> = name.map(|name| String::from_utf8_lossy(&name).into());
    let end = page_up(len).and_then(|len| addr.checked_add(len)).ok_or(Errno::EINVAL)?;
    let (mut at, mut whole) = (addr, true);
    while at < end {
        let Some(mapping) = ctx.mem.next_mapping(at).filter(|mapping| mapping.start < end) else {
            whole = false;
            break;
        };
        if mapping.file.is_some() {
            return Err(Errno::EBADF.into());
        }
        whole &= mapping.start <= at;
        let (from, to) = (mapping.start.max(at), mapping.end.min(end));
        ctx.mem.set_name(from, to - from, name.clone()).map_err(Errno::from)?;
        at = to;
    }
    if whole { Ok(0) } else { Err(Errno::ENOMEM.into()) }
}
