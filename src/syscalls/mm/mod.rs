//! The calls about memory: `map` makes and changes mappings, `advice` is what a program says about them,
//! `policy` the calls that one node of memory makes trivial.

mod advice;
mod map;
mod policy;
#[cfg(test)]
mod tests;

pub(super) use advice::ROWS as ADVICE_ROWS;
pub(super) use map::ROWS;
pub(super) use policy::ROWS as POLICY_ROWS;

use crate::abi::errno::Errno;
use crate::guest::{PAGE_SIZE, Prot};

/// EINVAL unless the address is the start of a page.
fn aligned(addr: u64) -> Result<(), Errno> {
    if addr.is_multiple_of(PAGE_SIZE) { Ok(()) } else { Err(Errno::EINVAL) }
}

/// The permissions of PROT_* bits. As on any x86 what can be written or executed can be read.
fn prot(bits: u64) -> Prot {
    let prot = Prot((bits & 7) as u8);
    if prot == Prot::NONE { prot } else { prot.with(Prot::READ) }
}
