//! Names and contents of keys that a call is given.

use crate::abi::errno::Errno;
use crate::kernel::uaccess::{get_bytes, strncpy_from_user};
use crate::syscalls::context::Ctx;

/// Most bytes of a new key.
pub(super) const CONTENT_MAX: u64 = (1 << 20) - 1;
/// Most bytes of the name of a type, and of a description, the NUL counted.
const TYPE_MAX: usize = 32;
const DESCRIPTION_MAX: usize = 4096;

/// The name of a type; EFAULT, EINVAL, and EPERM for those of the kernel.
pub(super) fn type_name(ctx: &mut Ctx, addr: u64) -> Result<Vec<u8>, Errno> {
    match strncpy_from_user(ctx.mem, addr, TYPE_MAX)? {
        Some(name) if name.starts_with(b".") => Err(Errno::EPERM),
        Some(name) if !name.is_empty() => Ok(name),
        _ => Err(Errno::EINVAL),
    }
}

/// A description or another string; EFAULT, EINVAL.
pub(super) fn description(ctx: &mut Ctx, addr: u64) -> Result<Vec<u8>, Errno> {
    strncpy_from_user(ctx.mem, addr, DESCRIPTION_MAX)?.ok_or(Errno::EINVAL)
}

/// Content of a key of no more than `most` bytes; EINVAL, EFAULT.
pub(super) fn content(ctx: &mut Ctx, addr: u64, len: u64, most: u64) -> Result<Vec<u8>, Errno> {
    if len > most {
        return Err(Errno::EINVAL);
    }
    if len == 0 { Ok(Vec::new()) } else { get_bytes(ctx.mem, addr, len as usize) }
}
