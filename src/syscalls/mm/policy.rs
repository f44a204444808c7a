//! Calls about where memory lies and who may see it: one node, no protection keys, one task.

use crate::abi::errno::Errno;
use crate::abi::mm::*;
use crate::kernel::uaccess::{copy_to_user, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::mm::map::mprotect;
use crate::syscalls::row::{Row, full, partial};

const ONE_NODE: &str = "there is one memory node";
const NO_KEYS: &str = "the CPU has no protection keys";

/// Calls about placement and visibility.
pub(crate) const ROWS: &[Row] = &[
    partial(237, "mbind", mbind, ONE_NODE),
    partial(238, "set_mempolicy", set_mempolicy, ONE_NODE),
    partial(239, "get_mempolicy", get_mempolicy, ONE_NODE),
    full(324, "membarrier", membarrier),
    full(329, "pkey_mprotect", pkey_mprotect).noted(NO_KEYS),
    full(330, "pkey_alloc", pkey_alloc).noted(NO_KEYS),
    full(331, "pkey_free", pkey_free).noted(NO_KEYS),
];

/// EINVAL unless a policy exists, its flags apart.
fn policy(mode: u64) -> Result<(), Errno> {
    if mode as u32 & !MPOL_MODE_FLAGS > MPOL_LAST { Err(Errno::EINVAL) } else { Ok(()) }
}

/// set_mempolicy(2): every policy means the one node.
fn set_mempolicy(_: &mut Ctx, [mode, ..]: [u64; 6]) -> SysResult {
    policy(mode)?;
    Ok(0)
}

/// mbind(2), likewise.
fn mbind(_: &mut Ctx, [_, _, mode, ..]: [u64; 6]) -> SysResult {
    policy(mode)?;
    Ok(0)
}

/// get_mempolicy(2).
fn get_mempolicy(ctx: &mut Ctx, [mode, nodes, max_node, _, flags, _]: [u64; 6]) -> SysResult {
    const MAX_NODES: u64 = 1024;
    if flags & !(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED) != 0
        || flags & MPOL_F_MEMS_ALLOWED != 0 && flags != MPOL_F_MEMS_ALLOWED
    {
        return Err(Errno::EINVAL.into());
    }
    if mode != 0 {
        put_u32(ctx.mem, mode, 0)?;
    }
    if nodes != 0 {
        if max_node == 0 || max_node > MAX_NODES * 64 {
            return Err(Errno::EINVAL.into());
        }
        let mut mask = vec![0; (max_node.div_ceil(64) * 8) as usize];
        if flags & MPOL_F_MEMS_ALLOWED != 0 {
            mask[0] = 1;
        }
        copy_to_user(ctx.mem, nodes, &mask)?;
    }
    Ok(0)
}

/// membarrier(2). With one task running every barrier has happened already.
fn membarrier(ctx: &mut Ctx, [command, flags, ..]: [u64; 6]) -> SysResult {
    if flags != 0 {
        return Err(Errno::EINVAL.into());
    }
    let mm = ctx.kernel.mm_mut();
    match command as u32 {
        MEMBARRIER_CMD_QUERY => return Ok(0x7f),
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
