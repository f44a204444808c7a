//! The calls about memory: `map` makes and changes mappings, `advice` is what a program says about them,
//! `policy` the calls that one node of memory makes trivial.

mod advice;
mod map;
mod policy;
#[cfg(test)]
mod tests;

pub use advice::ROWS as ADVICE_ROWS;
pub use map::ROWS;
pub use policy::ROWS as POLICY_ROWS;

use crate::abi::errno::Errno;
use crate::guest::{MemError, PAGE_SIZE, Prot};

/// EINVAL unless the address is the start of a page.
fn aligned(addr: u64) -> Result<(), Errno> {
    if addr.is_multiple_of(PAGE_SIZE) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// The permissions of PROT_* bits. As on any x86 what can be written or executed can be read.
fn prot(bits: u64) -> Prot {
    let prot = Prot((bits & 7) as u8);
    if prot == Prot::NONE { prot } else { prot.with(Prot::READ) }
}

impl From<MemError> for Errno {
    fn from(error: MemError) -> Errno {
        match error {
            MemError::NoMemory => Errno::ENOMEM,
            MemError::Exists => Errno::EEXIST,
            MemError::Invalid => Errno::EINVAL,
            MemError::Fault => Errno::EFAULT,
            MemError::Access => Errno::EACCES,
        }
    }
}
