//! Copying to and from the guest, as the kernel's `copy_from_user` does: a bad address is EFAULT.

use crate::abi::errno::Errno;
use crate::abi::time::{NSEC_PER_SEC, USEC_PER_SEC};
use crate::guest::{GuestMemory, MemError};

impl From<MemError> for Errno {
    fn from(error: MemError) -> Errno {
        match error {
            MemError::NoMemory => Errno::ENOMEM,
            MemError::Full => Errno::ENOSPC,
            MemError::Exists => Errno::EEXIST,
            MemError::Invalid => Errno::EINVAL,
            MemError::Fault => Errno::EFAULT,
            MemError::Access => Errno::EACCES,
            MemError::Io => Errno::EIO,
        }
    }
}

/// Copies `buf.len()` bytes from the guest.
pub(crate) fn copy_from_user(mem: &mut dyn GuestMemory, addr: u64, buf: &mut [u8]) -> Result<(), Errno> {
    mem.read(addr, buf).map_err(|_| Errno::EFAULT)
}

/// Copies bytes to the guest.
pub(crate) fn copy_to_user(mem: &mut dyn GuestMemory, addr: u64, bytes: &[u8]) -> Result<(), Errno> {
    mem.write(addr, bytes).map_err(|_| Errno::EFAULT)
}

/// Reads `len` bytes from the guest.
pub(crate) fn get_bytes(mem: &mut dyn GuestMemory, addr: u64, len: usize) -> Result<Vec<u8>, Errno> {
    let mut buf = vec![0; len];
    copy_from_user(mem, addr, &mut buf)?;
    Ok(buf)
}

/// Reads an array of `N` bytes from the guest.
pub(crate) fn get_array<const N: usize>(mem: &mut dyn GuestMemory, addr: u64) -> Result<[u8; N], Errno> {
    let mut buf = [0; N];
    copy_from_user(mem, addr, &mut buf)?;
    Ok(buf)
}

/// Reads a 32-bit word from the guest.
pub(crate) fn get_u32(mem: &mut dyn GuestMemory, addr: u64) -> Result<u32, Errno> {
    Ok(u32::from_le_bytes(get_array(mem, addr)?))
}

/// Reads a 64-bit word from the guest.
pub(crate) fn get_u64(mem: &mut dyn GuestMemory, addr: u64) -> Result<u64, Errno> {
    Ok(u64::from_le_bytes(get_array(mem, addr)?))
}

/// Reads `N` 64-bit words that follow each other.
pub(crate) fn get_words<const N: usize>(mem: &mut dyn GuestMemory, addr: u64) -> Result<[u64; N], Errno> {
    let mut bytes = vec![0; N * 8];
    copy_from_user(mem, addr, &mut bytes)?;
    let mut words = [0; N];
    for (word, chunk) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*chunk);
    }
    Ok(words)
}

/// Writes a 32-bit word to the guest.
pub(crate) fn put_u32(mem: &mut dyn GuestMemory, addr: u64, value: u32) -> Result<(), Errno> {
    copy_to_user(mem, addr, &value.to_le_bytes())
}

/// Writes a 64-bit word to the guest.
pub(crate) fn put_u64(mem: &mut dyn GuestMemory, addr: u64, value: u64) -> Result<(), Errno> {
    copy_to_user(mem, addr, &value.to_le_bytes())
}

/// Writes 64-bit words one after the other.
pub(crate) fn put_words(mem: &mut dyn GuestMemory, addr: u64, words: &[u64]) -> Result<(), Errno> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    copy_to_user(mem, addr, &bytes)
}

/// Reads a string up to its NUL, which is not kept. `None` if the NUL does not come within `max`
/// bytes, the NUL counted. The guest is read in pieces that end at page boundaries, so nothing past
/// the NUL's page is touched.
pub(crate) fn strncpy_from_user(
    mem: &mut dyn GuestMemory,
    addr: u64,
    max: usize,
) -> Result<Option<Vec<u8>>, Errno> {
    const PIECE: u64 = 256;
    let mut string = Vec::new();
    let mut at = addr;
    while string.len() < max {
        let room = (PIECE - at % PIECE) as usize;
        let mut buf = vec![0; room.min(max - string.len())];
        copy_from_user(mem, at, &mut buf)?;
        if let Some(end) = buf.iter().position(|byte| *byte == 0) {
            string.extend_from_slice(&buf[..end]);
            return Ok(Some(string));
        }
        at = at.checked_add(buf.len() as u64).ok_or(Errno::EFAULT)?;
        string.append(&mut buf);
    }
    Ok(None)
}

/// A `struct timespec` or `timeval` as nanoseconds; EINVAL where it is negative or not normal.
fn checked(seconds: u64, part: u64, parts_per_sec: u64) -> Result<u64, Errno> {
    if seconds as i64 >= 0 && part < parts_per_sec {
        let ns = part * (NSEC_PER_SEC / parts_per_sec);
        Ok(seconds.saturating_mul(NSEC_PER_SEC).saturating_add(ns))
    } else {
        Err(Errno::EINVAL)
    }
}

/// Reads a `struct timespec`: nanoseconds, EFAULT, or EINVAL where it is negative or not normal.
pub(crate) fn get_timespec(mem: &mut dyn GuestMemory, addr: u64) -> Result<u64, Errno> {
    let [seconds, ns] = get_words(mem, addr)?;
    checked(seconds, ns, NSEC_PER_SEC)
}

/// Reads the `struct timespec` of a timeout, which a null pointer leaves out: `None` then.
pub(crate) fn get_timeout(mem: &mut dyn GuestMemory, addr: u64) -> Result<Option<u64>, Errno> {
    if addr == 0 { Ok(None) } else { get_timespec(mem, addr).map(Some) }
}

/// Writes a `struct timespec`.
pub(crate) fn put_timespec(mem: &mut dyn GuestMemory, addr: u64, ns: u64) -> Result<(), Errno> {
    put_words(mem, addr, &[ns / NSEC_PER_SEC, ns % NSEC_PER_SEC])
}

/// Reads a `struct timeval`: nanoseconds, EFAULT, or EINVAL where it is negative or not normal.
pub(crate) fn get_timeval(mem: &mut dyn GuestMemory, addr: u64) -> Result<u64, Errno> {
    let [seconds, us] = get_words(mem, addr)?;
    checked(seconds, us, USEC_PER_SEC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_times_are_refused() {
        assert_eq!(checked(1, 999_999_999, NSEC_PER_SEC), Ok(1_999_999_999));
        assert_eq!(checked(1, 999_999, 1_000_000), Ok(1_999_999_000));
        assert_eq!(checked(0, NSEC_PER_SEC, NSEC_PER_SEC), Err(Errno::EINVAL));
        assert_eq!(checked(u64::MAX, 0, NSEC_PER_SEC), Err(Errno::EINVAL));
        assert_eq!(checked(0, u64::MAX, NSEC_PER_SEC), Err(Errno::EINVAL));
        assert_eq!(checked(i64::MAX as u64, 0, NSEC_PER_SEC), Ok(u64::MAX));
    }
}
