//! Futexes, futex(2), for one task: nobody else can wait, so nothing is ever woken.

use std::fmt;

use crate::abi::errno::Errno;
use crate::abi::futex::{FUTEX_OWNER_DIED, FUTEX_TID_MASK};
use crate::guest::{GuestMemory, ObjectId, Prot, USER_END};
use crate::kernel::arena::MmId;
use crate::kernel::uaccess::{get_u32, put_u32};

/// Name of a futex: what all who wait at it agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FutexKey {
    /// An address in an address space.
    Private(MmId, u64),
    /// An offset in an object that address spaces share.
    Shared(ObjectId, u64),
}

impl fmt::Display for FutexKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FutexKey::Private(_, addr) => write!(f, "the futex at {addr:#x}"),
            FutexKey::Shared(..) => write!(f, "a futex in shared memory"),
        }
    }
}

/// A futex word of the guest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Futex(u64);

/// Ways in which a call names a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// By the address alone (FUTEX_PRIVATE_FLAG): the word is not looked at.
    Private,
    /// By the page behind it, which must be there.
    Shared,
    /// By the page behind it, which the call may store to.
    SharedWritten,
}

impl Futex {
    /// The word at an address: EINVAL where it is misaligned; EFAULT where it cannot be, and where
    /// the page behind it does not allow what the key needs. Private memory that cannot be written
    /// never changes, so nobody can wait for it.
    pub(crate) fn at(mem: &mut dyn GuestMemory, addr: u64, key: Key) -> Result<Futex, Errno> {
        if !addr.is_multiple_of(4) {
            return Err(Errno::EINVAL);
        }
        if addr >= USER_END {
            return Err(Errno::EFAULT);
        }
        if key != Key::Private {
            get_u32(mem, addr)?;
            let mapping = mem.next_mapping(addr).ok_or(Errno::EFAULT)?;
            let changes = mapping.prot.allows(Prot::WRITE);
            if !changes && (key == Key::SharedWritten || mapping.is_anonymous()) {
                return Err(Errno::EFAULT);
            }
        }
        Ok(Futex(addr))
    }

    /// EAGAIN unless the word has a value.
    pub(crate) fn expect(self, mem: &mut dyn GuestMemory, value: u32) -> Result<(), Errno> {
        if get_u32(mem, self.0)? == value { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// Changes the word as FUTEX_WAKE_OP does; its comparison only decides whom to wake. ENOSYS for
    /// an unknown operation or comparison.
    pub(crate) fn apply(self, mem: &mut dyn GuestMemory, op: u32) -> Result<(), Errno> {
        // 12-bit fields, sign-extended.
        let sign_extend = |field: u32| ((field << 20) as i32 >> 20) as u32;
        let mut operand = sign_extend(op >> 12 & 0xfff);
        if op >> 28 & 8 != 0 {
            operand = 1u32.wrapping_shl(operand);
        }
        let old = get_u32(mem, self.0)?;
        let new = match op >> 28 & 7 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old | operand,
            3 => old & !operand,
            4 => old ^ operand,
            _ => return Err(Errno::ENOSYS),
        };
        put_u32(mem, self.0, new)?;
        if op >> 24 & 0xf > 5 { Err(Errno::ENOSYS) } else { Ok(()) }
    }

    /// Takes a priority-inheritance lock; EDEADLK if the task has it, ESRCH if another one has.
    pub(crate) fn lock_pi(self, mem: &mut dyn GuestMemory, tid: u32) -> Result<(), Errno> {
        let word = get_u32(mem, self.0)?;
        match word & FUTEX_TID_MASK {
            0 => put_u32(mem, self.0, tid | word & FUTEX_OWNER_DIED),
            owner if owner == tid => Err(Errno::EDEADLK),
            _ => Err(Errno::ESRCH),
        }
    }

    /// Gives up a priority-inheritance lock; EPERM unless the task has it.
    pub(crate) fn unlock_pi(self, mem: &mut dyn GuestMemory, tid: u32) -> Result<(), Errno> {
        if get_u32(mem, self.0)? & FUTEX_TID_MASK == tid {
            put_u32(mem, self.0, 0)
        } else {
            Err(Errno::EPERM)
        }
    }
}
