//! Pieces of the guest's memory that a call moves: `struct iovec`.

use crate::abi::errno::Errno;
use crate::abi::fs::MAX_RW_COUNT;
use crate::guest::{GuestMemory, Prot, USER_END};
use crate::kernel::uaccess::copy_from_user;

/// Most pieces of a call.
pub(super) const IOV_MAX: u64 = 1024;

/// Checks that pieces lie in the user's half, before a call does anything; EFAULT.
pub(super) fn access_ok(pieces: &[(u64, u64)]) -> Result<(), Errno> {
    let inside = |(addr, len): &(u64, u64)| addr.checked_add(*len).is_some_and(|end| end <= USER_END);
    if pieces.iter().all(inside) { Ok(()) } else { Err(Errno::EFAULT) }
}

/// Bytes at the start of pieces that can be stored, as far as the mappings tell. What grows down
/// will.
pub(super) fn storable(mem: &dyn GuestMemory, pieces: &[(u64, u64)]) -> u64 {
    let mut count = 0;
    for (addr, len) in pieces {
        let end = addr.saturating_add(*len);
        let mut at = *addr;
        while at < end {
            match mem.next_mapping(at) {
                Some(map) if map.prot.allows(Prot::WRITE) && (map.start <= at || map.is_stack()) => {
                    at = map.end;
                }
                _ => return count + (at - addr),
            }
        }
        count += len;
    }
    count
}

/// Reads an array of `struct iovec` of the caller's memory; EINVAL for too many or too long ones,
/// EFAULT for those outside of the user's half.
pub(super) fn get_iovec(mem: &mut dyn GuestMemory, addr: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
    let pieces = get_whole_iovec(mem, addr, count)?;
    // Linux cuts a single piece before it looks where it ends.
    if pieces.len() > 1 {
        access_ok(&pieces)?;
    }
    Ok(cut(pieces))
}

/// The same for pieces of the memory of others, wherever they are.
pub(super) fn get_remote_iovec(
    mem: &mut dyn GuestMemory,
    addr: u64,
    count: u64,
) -> Result<Vec<(u64, u64)>, Errno> {
    Ok(cut(get_whole_iovec(mem, addr, count)?))
}

/// Cuts pieces where a call stops.
fn cut(mut pieces: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut left = MAX_RW_COUNT;
    for (_, len) in &mut pieces {
        *len = (*len).min(left);
        left -= *len;
    }
    pieces
}

fn get_whole_iovec(mem: &mut dyn GuestMemory, addr: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
    let count = count & 0xffff_ffff;
    if count > IOV_MAX {
        return Err(Errno::EINVAL);
    }
    let mut bytes = vec![0; count as usize * 16];
    copy_from_user(mem, addr, &mut bytes)?;
    let mut pieces = Vec::new();
    let (words, _) = bytes.as_chunks::<8>();
    for pair in words.chunks(2) {
        let (addr, len) = (u64::from_le_bytes(pair[0]), u64::from_le_bytes(pair[1]));
        if len > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        pieces.push((addr, len));
    }
    Ok(pieces)
}
