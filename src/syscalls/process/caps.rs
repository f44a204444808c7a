//! The calls about capabilities, capabilities(7).

use crate::abi::errno::Errno;
use crate::kernel::cred::Capabilities;
use crate::kernel::uaccess::{copy_to_user, get_array, get_u32, put_u32};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, full, partial};

/// Capability calls.
pub const ROWS: &[Row] = &[
    full(125, "capget", capget),
    partial(126, "capset", capset, "remembered; permission checks go by the user id"),
];

const VERSION_1: u32 = 0x1998_0330;
const VERSION_2: u32 = 0x2007_1026;
const VERSION_3: u32 = 0x2008_0522;

/// Words per set in the given version; the version the kernel prefers is written back for an unknown one.
fn words(ctx: &mut Ctx, header: u64) -> Result<usize, Errno> {
    match get_u32(ctx.mem, header)? {
        VERSION_1 => Ok(1),
        VERSION_2 | VERSION_3 => Ok(2),
        _ => {
            put_u32(ctx.mem, header, VERSION_3)?;
            Err(Errno::EINVAL)
        }
    }
}

/// capget(2). Asking with no data and an unknown version is how the version is probed.
fn capget(ctx: &mut Ctx, [header, data, ..]: [u64; 6]) -> SysResult {
    let words = match words(ctx, header) {
        Err(Errno::EINVAL) if data == 0 => return Ok(0),
        other => other?,
    };
    let pid = get_u32(ctx.mem, header.wrapping_add(4))? as i32;
    if pid < 0 {
        return Err(Errno::EINVAL.into());
    }
    if !ctx.kernel.process().is_self(pid as u64) {
        return Err(Errno::ESRCH.into());
    }
    if data == 0 {
        return Ok(0);
    }
    let caps = ctx.kernel.task().cred.caps;
    let mut bytes = Vec::new();
    for shift in [0, 32].iter().take(words) {
        for set in [caps.effective, caps.permitted, caps.inheritable] {
            bytes.extend_from_slice(&((set >> shift) as u32).to_le_bytes());
        }
    }
    copy_to_user(ctx.mem, data, &bytes)?;
    Ok(0)
}

/// capset(2).
fn capset(ctx: &mut Ctx, [header, data, ..]: [u64; 6]) -> SysResult {
    let words = words(ctx, header)?;
    let pid = get_u32(ctx.mem, header.wrapping_add(4))?;
    if !ctx.kernel.process().is_self(u64::from(pid)) {
        return Err(Errno::EPERM.into());
    }
    let mut sets = [0u64; 3];
    for (word, shift) in [0, 32].iter().take(words).enumerate() {
        for (index, set) in sets.iter_mut().enumerate() {
            let at = data.wrapping_add(((word * 3 + index) * 4) as u64);
            *set |= u64::from(u32::from_le_bytes(get_array(ctx.mem, at)?)) << shift;
        }
    }
    let [effective, permitted, inheritable] = sets;
    ctx.kernel.task_mut().cred.caps.set(Capabilities { effective, permitted, inheritable })?;
    Ok(0)
}
