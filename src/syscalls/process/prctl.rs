//! prctl(2), arch_prctl(2), modify_ldt(2) and personality(2).

use crate::abi::capability::{CAP_LAST_CAP, CAP_SYS_RESOURCE, SECBIT_KEEP_CAPS};
use crate::abi::errno::Errno;
use crate::abi::process::*;
use crate::abi::signal::bit;
use crate::guest::{GuestMemory, USER_END};
use crate::kernel::cred::Credentials;
use crate::kernel::state::Parts;
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_words, put_u32, put_u64};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::process::memory;
use crate::syscalls::row::{Row, partial};
use crate::syscalls::seccomp;
use crate::syscalls::strace::flags::prctl_option;

/// Settings calls.
pub(crate) const ROWS: &[Row] = &[
    partial(
        154,
        "modify_ldt",
        modify_ldt,
        "entries are cleared and read; a descriptor that is not empty is ENOMEM",
    ),
    partial(
        135,
        "personality",
        personality,
        "all is remembered; READ_IMPLIES_EXEC and UNAME26 change something",
    ),
    partial(
        157,
        "prctl",
        prctl,
        "names, settings that are only remembered, capabilities, seccomp, user dispatch, PR_SET_MM, PR_SET_MDWE; \
         what other machines have, PR_SCHED_CORE and PR_FUTEX_HASH: EINVAL",
    ),
    partial(158, "arch_prctl", arch_prctl, "the FS and GS bases; no shadow stacks, no CPUID faulting"),
];

/// prctl(2).
fn prctl(ctx: &mut Ctx, [option, arg2, arg3, arg4, arg5, _]: [u64; 6]) -> SysResult {
    let rest_is_zero = arg3 == 0 && arg4 == 0 && arg5 == 0;
    let invalid = Err(Errno::EINVAL.into());
    match option as u32 {
        PR_SET_SECCOMP => return seccomp::set_mode(ctx, arg2, arg3),
        PR_SET_MM => return memory::set_mm(ctx, [arg2, arg3, arg4, arg5]),
        PR_GET_AUXV if arg4 == 0 && arg5 == 0 => return memory::get_auxv(ctx, arg2, arg3),
        PR_SET_VMA if arg2 == PR_SET_VMA_ANON_NAME => return memory::set_name(ctx, arg3, arg4, arg5),
        PR_SET_MEMORY_MERGE if rest_is_zero => return memory::set_merge(ctx, arg2 != 0),
        // Who may trace whom does not depend on it; the answers of a kernel with Yama.
        PR_SET_PTRACER if matches!(arg2 as i32, 0 | -1) => return Ok(0),
        PR_SET_PTRACER => {
            return ctx.kernel.named_task(arg2 as i32).map(|_| 0).ok_or(Errno::EINVAL.into());
        }
        PR_SET_VMA => return invalid,
        _ => {}
    }
    let Parts { task, process, mm, notices, .. } = ctx.kernel.parts();
    match option as u32 {
        PR_SET_PDEATHSIG if arg2 == 0 || bit(arg2 as i32) != 0 => task.pdeathsig = arg2 as i32,
        PR_GET_PDEATHSIG => put_u32(ctx.mem, arg2, task.pdeathsig as u32)?,
        PR_GET_DUMPABLE => return Ok(mm.dumpable),
        PR_SET_DUMPABLE if arg2 <= 1 => mm.dumpable = arg2,
        PR_GET_KEEPCAPS => return Ok(u64::from(task.cred.securebits & SECBIT_KEEP_CAPS != 0)),
        PR_SET_KEEPCAPS if arg2 > 1 => return invalid,
        PR_SET_KEEPCAPS => task.cred.set_keep_caps(arg2 == 1)?,
        PR_GET_SECUREBITS => return Ok(u64::from(task.cred.securebits)),
        PR_SET_SECUREBITS => task.cred.set_securebits(arg2)?,
        PR_SET_TIMING if arg2 != 0 => return invalid,
        PR_GET_TIMING | PR_SET_TIMING => {}
        PR_GET_SECCOMP => return Ok(task.seccomp.mode()),
        // There are no counters to stop.
        PR_TASK_PERF_EVENTS_DISABLE | PR_TASK_PERF_EVENTS_ENABLE => {}
        PR_SET_NAME => task.set_name(&name(ctx.mem, arg2)?),
        PR_GET_NAME => copy_to_user(ctx.mem, arg2, &task.comm)?,
        PR_CAPBSET_READ if arg2 > CAP_LAST_CAP => return invalid,
        PR_CAPBSET_READ => return Ok(task.cred.caps.bounding >> arg2 & 1),
        PR_CAPBSET_DROP => task.cred.drop_bounding(arg2)?,
        PR_GET_TSC => put_u32(ctx.mem, arg2, if task.tsc_faults { PR_TSC_SIGSEGV } else { PR_TSC_ENABLE })?,
        PR_SET_TSC if matches!(arg2 as u32, PR_TSC_ENABLE | PR_TSC_SIGSEGV) => {
            task.tsc_faults = arg2 as u32 == PR_TSC_SIGSEGV;
        }
        PR_SET_TIMERSLACK => task.set_timerslack(arg2),
        PR_GET_TIMERSLACK => return Ok(task.timerslack),
        PR_MCE_KILL if arg4 != 0 || arg5 != 0 => return invalid,
        PR_MCE_KILL => match (arg2, arg3) {
            (PR_MCE_KILL_CLEAR, 0) => task.mce_kill = PR_MCE_KILL_DEFAULT,
            (PR_MCE_KILL_SET, 0..=PR_MCE_KILL_DEFAULT) => task.mce_kill = arg3,
            _ => return invalid,
        },
        PR_MCE_KILL_GET if arg2 != 0 || !rest_is_zero => return invalid,
        PR_MCE_KILL_GET => return Ok(task.mce_kill),
        PR_SET_CHILD_SUBREAPER => process.child_subreaper = arg2 != 0,
        PR_GET_CHILD_SUBREAPER => put_u32(ctx.mem, arg2, u32::from(process.child_subreaper))?,
        PR_SET_NO_NEW_PRIVS if arg2 == 1 && rest_is_zero => task.no_new_privs = true,
        PR_GET_NO_NEW_PRIVS if arg2 == 0 && rest_is_zero => return Ok(u64::from(task.no_new_privs)),
        PR_GET_TID_ADDRESS => put_u64(ctx.mem, arg2, task.clear_child_tid)?,
        PR_SET_THP_DISABLE if arg4 == 0 && arg5 == 0 => match (arg2, arg3) {
            (0, 0) => mm.thp_disable = 0,
            (1.., 0 | PR_THP_DISABLE_EXCEPT_ADVISED) => mm.thp_disable = 1 | arg3,
            _ => return invalid,
        },
        PR_GET_THP_DISABLE if arg2 == 0 && rest_is_zero => return Ok(mm.thp_disable),
        PR_SET_MDWE if rest_is_zero => memory::set_mdwe(mm, arg2)?,
        PR_GET_MDWE if arg2 == 0 && rest_is_zero => return Ok(mm.mdwe),
        PR_GET_MEMORY_MERGE if arg2 == 0 && rest_is_zero => return Ok(u64::from(mm.merge_any)),
        PR_TIMER_CREATE_RESTORE_IDS if rest_is_zero => match arg2 {
            PR_TIMER_CREATE_RESTORE_IDS_OFF => process.timers.restore_ids = false,
            PR_TIMER_CREATE_RESTORE_IDS_ON => process.timers.restore_ids = true,
            PR_TIMER_CREATE_RESTORE_IDS_GET => return Ok(u64::from(process.timers.restore_ids)),
            _ => return invalid,
        },
        PR_CAP_AMBIENT => return Ok(ambient(&mut task.cred, [arg2, arg3, arg4, arg5])?),
        PR_GET_SPECULATION_CTRL if !rest_is_zero => return invalid,
        PR_GET_SPECULATION_CTRL => return Ok(speculation(arg2)?),
        PR_SET_SPECULATION_CTRL if arg4 != 0 || arg5 != 0 => return invalid,
        PR_SET_SPECULATION_CTRL => set_speculation(arg2, arg3)?,
        PR_SET_IO_FLUSHER => {
            task.cred.require(CAP_SYS_RESOURCE)?;
            if arg2 > 1 || !rest_is_zero {
                return invalid;
            }
            task.io_flusher = arg2 == 1;
        }
        PR_GET_IO_FLUSHER => {
            task.cred.require(CAP_SYS_RESOURCE)?;
            if arg2 != 0 || !rest_is_zero {
                return invalid;
            }
            return Ok(u64::from(task.io_flusher));
        }
        PR_SET_SYSCALL_USER_DISPATCH => {
            task.user_dispatch = seccomp::user_dispatch_of([arg2, arg3, arg4, arg5])?;
        }
        other => {
            notices.count("prctl: ", &format!("{} ({arg2:#x}) is refused with EINVAL", prctl_option(other)));
            return invalid;
        }
    }
    Ok(0)
}

/// PR_GET_SPECULATION_CTRL of a processor that speculates on nothing.
fn speculation(which: u64) -> Result<u64, Errno> {
    match which {
        PR_SPEC_STORE_BYPASS | PR_SPEC_INDIRECT_BRANCH => Ok(PR_SPEC_NOT_AFFECTED),
        PR_SPEC_L1D_FLUSH => Ok(PR_SPEC_FORCE_DISABLE),
        _ => Err(Errno::ENODEV),
    }
}

/// PR_SET_SPECULATION_CTRL, likewise (`arch_prctl_spec_ctrl_set`).
fn set_speculation(which: u64, control: u64) -> Result<(), Errno> {
    match (which, control) {
        (PR_SPEC_STORE_BYPASS, _) => Err(Errno::ENXIO),
        (PR_SPEC_INDIRECT_BRANCH, PR_SPEC_ENABLE) => Ok(()),
        (PR_SPEC_INDIRECT_BRANCH, PR_SPEC_DISABLE | PR_SPEC_FORCE_DISABLE) => Err(Errno::EPERM),
        (PR_SPEC_INDIRECT_BRANCH, _) => Err(Errno::ERANGE),
        (PR_SPEC_L1D_FLUSH, _) => Err(Errno::EPERM),
        _ => Err(Errno::ENODEV),
    }
}

/// PR_CAP_AMBIENT.
fn ambient(cred: &mut Credentials, [command, capability, rest @ ..]: [u64; 4]) -> Result<u64, Errno> {
    let rest_is_zero = rest == [0, 0];
    match command {
        PR_CAP_AMBIENT_CLEAR_ALL if capability == 0 && rest_is_zero => cred.caps.ambient = 0,
        PR_CAP_AMBIENT_CLEAR_ALL => return Err(Errno::EINVAL),
        _ if capability > CAP_LAST_CAP || !rest_is_zero => return Err(Errno::EINVAL),
        PR_CAP_AMBIENT_IS_SET => return Ok(cred.caps.ambient >> capability & 1),
        PR_CAP_AMBIENT_RAISE => cred.raise_ambient(capability)?,
        PR_CAP_AMBIENT_LOWER => cred.caps.ambient &= !(1 << capability),
        _ => return Err(Errno::EINVAL),
    }
    Ok(0)
}

/// Up to 15 bytes of a name; what follows a NUL need not be readable.
fn name(mem: &mut dyn GuestMemory, addr: u64) -> Result<Vec<u8>, Errno> {
    let mut name = Vec::new();
    for at in 0..15 {
        let mut byte = [0];
        copy_from_user(mem, addr.wrapping_add(at), &mut byte)?;
        if byte[0] == 0 {
            break;
        }
        name.push(byte[0]);
    }
    Ok(name)
}

/// arch_prctl(2).
fn arch_prctl(ctx: &mut Ctx, [code, addr, ..]: [u64; 6]) -> SysResult {
    match code as u32 {
        ARCH_SET_GS | ARCH_SET_FS if addr >= USER_END => return Err(Errno::EPERM.into()),
        ARCH_SET_GS => ctx.cpu.set_gs_base(addr),
        ARCH_SET_FS => ctx.cpu.set_fs_base(addr),
        ARCH_GET_FS => put_u64(ctx.mem, addr, ctx.cpu.fs_base())?,
        ARCH_GET_GS => put_u64(ctx.mem, addr, ctx.cpu.gs_base())?,
        ARCH_GET_CPUID => return Ok(1),
        ARCH_SET_CPUID => return Err(Errno::ENODEV.into()),
        // Start-up code asks for shadow stacks, and takes this as "no".
        _ => return Err(Errno::EINVAL.into()),
    }
    Ok(0)
}

/// modify_ldt(2): the local descriptor table of the address space, which has only empty entries.
/// Its results are those of an `int` that Linux widens without its sign.
fn modify_ldt(ctx: &mut Ctx, [function, addr, len, ..]: [u64; 6]) -> SysResult {
    let result = match function as u32 {
        0 => read_ldt(ctx, addr, len),
        1 => write_ldt(ctx, addr, len, true),
        2 => clear_user(ctx, addr, len.min(DEFAULT_LDT)),
        0x11 => write_ldt(ctx, addr, len, false),
        _ => Err(Errno::ENOSYS),
    };
    let result = result.unwrap_or_else(Errno::to_rax);
    Ok(u64::from(result as u32))
}

/// Bytes of a descriptor, and the most of a table.
const LDT_ENTRY_SIZE: u64 = 8;
const LDT_ENTRIES: u64 = 8192;
/// Bytes of the table that a process without one of its own is said to have.
const DEFAULT_LDT: u64 = 128;

/// Stores zeros, and returns how many.
fn clear_user(ctx: &mut Ctx, addr: u64, len: u64) -> Result<u64, Errno> {
    copy_to_user(ctx.mem, addr, &vec![0; len as usize])?;
    Ok(len)
}

fn read_ldt(ctx: &mut Ctx, addr: u64, len: u64) -> Result<u64, Errno> {
    if !ctx.kernel.mm().has_ldt {
        return Ok(0);
    }
    clear_user(ctx, addr, len.min(LDT_ENTRY_SIZE * LDT_ENTRIES))
}

fn write_ldt(ctx: &mut Ctx, addr: u64, len: u64, old: bool) -> Result<u64, Errno> {
    /// Bits of `struct user_desc` behind its numbers: `contents` is 3, and `seg_not_present`.
    const CONTENTS: u32 = 3 << 1;
    const READ_EXEC_ONLY: u32 = 1 << 3;
    const SEG_NOT_PRESENT: u32 = 1 << 5;
    /// The bits that Linux looks at, without those that have no name.
    const NAMED: u32 = 0x7f;
    if len != 16 {
        return Err(Errno::EINVAL);
    }
    let [first, second] = get_words(ctx.mem, addr)?;
    let [entry, base, limit, bits] = [first, first >> 32, second, second >> 32].map(|word| word as u32);
    let absent = bits & SEG_NOT_PRESENT != 0;
    if u64::from(entry) >= LDT_ENTRIES || bits & CONTENTS == CONTENTS && (old || !absent) {
        return Err(Errno::EINVAL);
    }
    let nowhere = base == 0 && limit == 0;
    if !(nowhere && (old || bits & NAMED == READ_EXEC_ONLY | SEG_NOT_PRESENT)) {
        ctx.kernel.notices.count("modify_ldt: ", "a descriptor is not empty: answered with ENOMEM");
        return Err(Errno::ENOMEM);
    }
    ctx.kernel.mm_mut().has_ldt = true;
    Ok(0)
}

/// personality(2). Linux takes any value; what a flag changes there and not here is said once.
fn personality(ctx: &mut Ctx, [persona, ..]: [u64; 6]) -> SysResult {
    let old = ctx.kernel.task().personality;
    let persona = persona as u32;
    if persona != PERSONALITY_QUERY {
        let unserved = persona & (MMAP_PAGE_ZERO | ADDR_COMPAT_LAYOUT | ADDR_LIMIT_32BIT | ADDR_LIMIT_3GB);
        if unserved != 0 {
            ctx.kernel.notices.count("personality: ", &format!("{unserved:#x} changes no addresses here"));
        }
        ctx.kernel.task_mut().personality = persona;
    }
    Ok(u64::from(old))
}
