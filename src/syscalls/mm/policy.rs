//! Calls about where memory lies and who may see it: one node, no protection keys, one task.

use crate::abi::capability::CAP_SYS_NICE;
use crate::abi::errno::Errno;
use crate::abi::mm::*;
use crate::guest::{PAGE_SIZE, SpaceId, page_down, page_up};
use crate::kernel::uaccess::{copy_from_user, copy_to_user, get_u32, get_u64, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::mm::map::{aligned, mprotect};
use crate::syscalls::row::{Row, full, partial};

const ONE_NODE: &str = "there is one memory node";
const NO_KEYS: &str = "the CPU has no protection keys";

/// Calls about placement and visibility.
pub(crate) const ROWS: &[Row] = &[
    partial(237, "mbind", mbind, ONE_NODE),
    partial(238, "set_mempolicy", set_mempolicy, ONE_NODE),
    partial(239, "get_mempolicy", get_mempolicy, ONE_NODE),
    full(256, "migrate_pages", migrate_pages).noted(ONE_NODE),
    full(279, "move_pages", move_pages).noted(ONE_NODE),
    full(324, "membarrier", membarrier),
    full(329, "pkey_mprotect", pkey_mprotect).noted(NO_KEYS),
    full(330, "pkey_alloc", pkey_alloc).noted(NO_KEYS),
    full(331, "pkey_free", pkey_free).noted(NO_KEYS),
];

/// Most nodes that a kernel knows, of which this machine has the first.
const MAX_NODES: u64 = 1024;

/// A set of memory nodes: whether there is any in it, the one of this machine, and another.
struct Nodes {
    any: bool,
    first: bool,
    others: bool,
}

/// Reads a set of nodes; EINVAL for those that no kernel knows, EFAULT.
fn nodes(ctx: &mut Ctx, mask: u64, max_node: u64) -> Result<Nodes, Errno> {
    // Linux takes the number of nodes for one more than it says.
    let bits = max_node.wrapping_sub(1);
    if bits == 0 || mask == 0 {
        return Ok(Nodes { any: false, first: false, others: false });
    }
    if bits > PAGE_SIZE * 8 {
        return Err(Errno::EINVAL);
    }
    let mut bytes = vec![0; bits.div_ceil(64) as usize * 8];
    copy_from_user(ctx.mem, mask, &mut bytes)?;
    let set = |bit: u64| bytes.get((bit / 8) as usize).is_some_and(|byte| byte >> (bit % 8) & 1 != 0);
    if (MAX_NODES..bits).any(set) {
        return Err(Errno::EINVAL);
    }
    let (first, others) = (set(0), (1..bits.min(MAX_NODES)).any(set));
    Ok(Nodes { any: first || others, first, others })
}

/// A policy as its mode with flags, and whether it names the one node: EINVAL for what is none,
/// and for nodes that are missing or too many; EFAULT.
fn policy(ctx: &mut Ctx, mode: u64, mask: u64, max_node: u64) -> Result<(u32, bool), Errno> {
    const BOTH: u32 = MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES;
    let (mode, flags) = (mode as u32 & !MPOL_MODE_FLAGS, mode as u32 & MPOL_MODE_FLAGS);
    if mode > MPOL_LAST || flags & BOTH == BOTH || flags & MPOL_F_NUMA_BALANCING != 0 && mode != MPOL_BIND {
        return Err(Errno::EINVAL);
    }
    let Nodes { any, first, .. } = nodes(ctx, mask, max_node)?;
    match mode {
        MPOL_DEFAULT | MPOL_LOCAL if any => Err(Errno::EINVAL),
        MPOL_DEFAULT | MPOL_LOCAL => Ok((mode | flags, false)),
        MPOL_PREFERRED if !any && flags & BOTH == 0 => Ok((MPOL_LOCAL | flags, false)),
        _ if !first => Err(Errno::EINVAL),
        _ => Ok((mode | flags, true)),
    }
}

/// set_mempolicy(2): every policy means the one node.
fn set_mempolicy(ctx: &mut Ctx, [mode, mask, max_node, ..]: [u64; 6]) -> SysResult {
    ctx.kernel.task_mut().mempolicy = policy(ctx, mode, mask, max_node)?;
    Ok(0)
}

/// mbind(2), likewise; the policy of a range is not remembered.
fn mbind(ctx: &mut Ctx, [addr, len, mode, mask, max_node, flags]: [u64; 6]) -> SysResult {
    let flags = u64::from(flags as u32);
    if flags & !MPOL_MF_VALID != 0 || mode as u32 & !MPOL_MODE_FLAGS > MPOL_LAST {
        return Err(Errno::EINVAL.into());
    }
    if flags & MPOL_MF_MOVE_ALL != 0 {
        ctx.kernel.task().cred.require(CAP_SYS_NICE)?;
    }
    let default = mode as u32 & !MPOL_MODE_FLAGS == MPOL_DEFAULT;
    aligned(addr)?;
    // A length that is too long for a page to be added is one of 0.
    let end = addr.checked_add(page_up(len).unwrap_or(0)).ok_or(Errno::EINVAL)?;
    policy(ctx, mode, mask, max_node)?;
    let there = |ctx: &mut Ctx| match default {
        true => ctx.mem.next_mapping(addr).is_some_and(|mapping| mapping.start < end),
        false => ctx.mem.is_mapped(addr, end - addr),
    };
    if end > addr && !there(ctx) {
        return Err(Errno::EFAULT.into());
    }
    Ok(0)
}

/// get_mempolicy(2).
fn get_mempolicy(ctx: &mut Ctx, [mode, nodes, max_node, addr, flags, _]: [u64; 6]) -> SysResult {
    if nodes != 0 && max_node == 0
        || flags & !(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED) != 0
        || flags & MPOL_F_MEMS_ALLOWED != 0 && flags != MPOL_F_MEMS_ALLOWED
    {
        return Err(Errno::EINVAL.into());
    }
    let (mut number, mut first) = ctx.kernel.task().mempolicy;
    if flags & MPOL_F_ADDR != 0 {
        if !ctx.mem.is_mapped(page_down(addr), 1) {
            return Err(Errno::EFAULT.into());
        }
    } else if addr != 0 && flags & MPOL_F_MEMS_ALLOWED == 0 || flags & MPOL_F_NODE != 0 {
        return Err(Errno::EINVAL.into());
    }
    if flags & MPOL_F_MEMS_ALLOWED != 0 {
        (number, first) = (MPOL_DEFAULT, true);
    } else if flags & MPOL_F_NODE != 0 {
        number = 0; // the node of the page
    }
    if mode != 0 {
        put_u32(ctx.mem, mode, number)?;
    }
    if nodes != 0 {
        // A number that wraps around stands for no word, as for Linux.
        let bytes = (max_node - 1).checked_next_multiple_of(64).unwrap_or(0) / 8;
        if bytes > PAGE_SIZE {
            return Err(Errno::EINVAL.into());
        }
        let mut mask = vec![0; bytes as usize];
        if let Some(byte) = mask.first_mut() {
            *byte = u8::from(first);
        }
        copy_to_user(ctx.mem, nodes, &mask)?;
    }
    Ok(0)
}

/// The address space of a task, 0 for the caller: ESRCH, EPERM, EINVAL if it has none any more.
fn space_of(ctx: &mut Ctx, pid: u64) -> Result<SpaceId, Errno> {
    let task = match pid as i32 {
        0 => ctx.kernel.current(),
        pid => ctx.kernel.named_task(pid).ok_or(Errno::ESRCH)?,
    };
    ctx.kernel.may_look_into(task)?;
    if ctx.kernel.is_alive(task) { Ok(ctx.kernel.space_of_task(task)) } else { Err(Errno::EINVAL) }
}

/// migrate_pages(2): all pages are where they can be.
fn migrate_pages(ctx: &mut Ctx, [pid, max_node, old, new, ..]: [u64; 6]) -> SysResult {
    nodes(ctx, old, max_node)?;
    let new = nodes(ctx, new, max_node)?;
    space_of(ctx, pid)?;
    if new.others {
        ctx.kernel.task().cred.require(CAP_SYS_NICE)?;
    }
    if new.first { Ok(0) } else { Err(Errno::EINVAL.into()) }
}

/// move_pages(2), which says of each page where it is.
fn move_pages(ctx: &mut Ctx, [pid, count, pages, nodes, status, flags]: [u64; 6]) -> SysResult {
    let flags = u64::from(flags as u32);
    if flags & !(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL) != 0 {
        return Err(Errno::EINVAL.into());
    }
    if flags & MPOL_MF_MOVE_ALL != 0 {
        ctx.kernel.task().cred.require(CAP_SYS_NICE)?;
    }
    let space = space_of(ctx, pid)?;
    let begin = ctx.kernel.task().call.done;
    for at in begin..count {
        if at > begin {
            ctx.pause_if_asked(at)?;
        }
        let place = |base: u64, size: u64| {
            at.checked_mul(size).and_then(|by| base.checked_add(by)).ok_or(Errno::EFAULT)
        };
        let page = get_u64(ctx.mem, place(pages, 8)?)?;
        if nodes != 0 && get_u32(ctx.mem, place(nodes, 4)?)? != 0 {
            return Err(Errno::ENODEV.into());
        }
        let mut found: Result<(), Errno> = Err(Errno::EFAULT);
        ctx.mem.in_space(space, &mut |mem| {
            let start = page_down(page);
            if mem.is_mapped(start, 1) {
                let absent = mem.present_pages(start, start + PAGE_SIZE).is_empty();
                found = if absent { Err(Errno::ENOENT) } else { Ok(()) };
            }
        });
        put_u32(ctx.mem, place(status, 4)?, found.err().map_or(0, |why| -i32::from(why.0)) as u32)?;
    }
    Ok(0)
}

/// membarrier(2). With one task running every barrier has happened already.
fn membarrier(ctx: &mut Ctx, [command, flags, ..]: [u64; 6]) -> SysResult {
    // MEMBARRIER_CMD_FLAG_CPU, where it means something.
    let flag = u32::from(command as u32 == MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
    if flags as u32 & !flag != 0 {
        return Err(Errno::EINVAL.into());
    }
    let mm = ctx.kernel.mm_mut();
    match command as u32 {
        MEMBARRIER_CMD_QUERY => return Ok(0x3ff),
        MEMBARRIER_CMD_GET_REGISTRATIONS => return Ok(mm.membarrier.into()),
        MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED => {}
        MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED => mm.membarrier |= MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
        command => match MEMBARRIER_CMD_PRIVATE
            .iter()
            .find(|(act, register)| command == *act || command == *register)
        {
            None => return Err(Errno::EINVAL.into()),
            Some((_, register)) if command == *register => mm.membarrier |= command,
            Some((_, register)) if mm.membarrier & register == 0 => return Err(Errno::EPERM.into()),
            Some(_) => {}
        },
    }
    Ok(0)
}

/// pkey_mprotect(2): with key -1 it is mprotect(2).
fn pkey_mprotect(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    if args[3] as i32 != -1 {
        return Err(Errno::EINVAL.into());
    }
    mprotect(ctx, args)
}

/// pkey_alloc(2).
fn pkey_alloc(_: &mut Ctx, [flags, rights, ..]: [u64; 6]) -> SysResult {
    let known = flags == 0 && rights & !3 == 0;
    Err(if known { Errno::ENOSPC } else { Errno::EINVAL }.into())
}

/// pkey_free(2).
fn pkey_free(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::EINVAL.into())
}
