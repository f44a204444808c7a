//! Parts of the structures of System V IPC, as the guest sees them.

use crate::abi::errno::Errno;
use crate::abi::ipc::IPCMNI_SHIFT;
use crate::guest::GuestMemory;
use crate::kernel::cred::Credentials;
use crate::kernel::ipc::ids::{Entry, Perm};
use crate::kernel::uaccess::get_words;
use crate::syscalls::context::Ctx;

/// Words of a `struct ipc64_perm`.
pub(super) const PERM_WORDS: usize = 6;

/// The `struct ipc64_perm` of an object, with ids as somebody has them.
pub(super) fn perm_words<T>(entry: &Entry<T>, cred: &Credentials) -> [u64; PERM_WORDS] {
    let Perm { key, uid, gid, cuid, cgid, mode } = entry.perm;
    let [uid, cuid] = [uid, cuid].map(|uid| cred.user_ns.uids.shown(uid));
    let [gid, cgid] = [gid, cgid].map(|gid| cred.user_ns.gids.shown(gid));
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    [pair(key as u32, uid), pair(gid, cuid), pair(cgid, mode), (entry.id >> IPCMNI_SHIFT) as u64, 0, 0]
}

/// The uid, gid and mode of a `struct ipc64_perm` of the guest; EFAULT.
pub(super) fn get_perm(mem: &mut dyn GuestMemory, addr: u64) -> Result<(u32, u32, u32), Errno> {
    let words: [u64; 3] = get_words(mem, addr)?;
    Ok(((words[0] >> 32) as u32, words[1] as u32, (words[2] >> 32) as u32))
}

/// CLOCK_REALTIME in seconds.
pub(super) fn now(ctx: &mut Ctx) -> i64 {
    ctx.kernel.real_time(ctx.cpu).sec
}

/// Tells if the call was made again after it had slept: an identifier that is not there now was
/// there.
pub(super) fn has_slept(ctx: &Ctx) -> bool {
    ctx.kernel.task().call.number.is_some()
}
