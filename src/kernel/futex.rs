//! Futexes, futex(2): their words in the guest's memory, and their names.

use std::fmt;

use crate::abi::errno::Errno;
use crate::abi::futex::FUTEX_BITSET_MATCH_ANY;
use crate::guest::{GuestMemory, ObjectId, Prot, USER_END};
use crate::kernel::arena::MmId;
use crate::kernel::uaccess::{get_u32, put_u32};

/// Name of a futex: what all who wait at it agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FutexKey {
    /// An address in an address space, by FUTEX_PRIVATE_FLAG.
    Private(MmId, u64),
    /// An address of private memory without that flag. As in Linux it is another futex.
    Own(MmId, u64),
    /// An offset in an object that address spaces share.
    Shared(ObjectId, u64),
}

impl fmt::Display for FutexKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FutexKey::Private(_, addr) | FutexKey::Own(_, addr) => write!(f, "at {addr:#x}"),
            FutexKey::Shared(_, offset) => write!(f, "at {offset:#x} of shared memory"),
        }
    }
}

/// Role of a task that sleeps at a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It waits to be woken.
    Waiter,
    /// It waits for a priority-inheritance lock.
    Locker,
    /// It waits to be moved to that priority-inheritance lock, FUTEX_WAIT_REQUEUE_PI.
    Mover(FutexKey),
}

/// Part of a sleeping call that is about futexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FutexWait {
    pub(crate) role: Role,
    /// Wakers that it heeds, FUTEX_WAIT_BITSET.
    pub(crate) bitset: u32,
    /// The lock was handed over by an owner that died.
    pub(crate) owner_died: bool,
}

impl FutexWait {
    /// A wait in a role, for any waker.
    pub(crate) fn new(role: Role) -> FutexWait {
        FutexWait { role, bitset: FUTEX_BITSET_MATCH_ANY, owner_died: false }
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
        if self.get(mem)? == value { Ok(()) } else { Err(Errno::EAGAIN) }
    }

    /// The name of the futex. The page behind it must be there unless it is private.
    pub(crate) fn key(self, mem: &mut dyn GuestMemory, mm: MmId, private: bool) -> FutexKey {
        if private {
            return FutexKey::Private(mm, self.0);
        }
        match mem.next_mapping(self.0).filter(|mapping| mapping.shared && mapping.start <= self.0) {
            Some(mapping) => match mapping.object {
                Some(object) => FutexKey::Shared(object, mapping.offset + (self.0 - mapping.start)),
                None => FutexKey::Own(mm, self.0),
            },
            None => FutexKey::Own(mm, self.0),
        }
    }

    /// The word.
    pub(crate) fn get(self, mem: &mut dyn GuestMemory) -> Result<u32, Errno> {
        get_u32(mem, self.0)
    }

    /// Sets the word.
    pub(crate) fn put(self, mem: &mut dyn GuestMemory, value: u32) -> Result<(), Errno> {
        put_u32(mem, self.0, value)
    }

    /// Changes the word as FUTEX_WAKE_OP does, and tells the outcome of its comparison. ENOSYS for
    /// an unknown operation or comparison.
    pub(crate) fn apply(self, mem: &mut dyn GuestMemory, op: u32) -> Result<bool, Errno> {
        // 12-bit fields, sign-extended.
        let sign_extend = |field: u32| ((field << 20) as i32 >> 20) as u32;
        let mut operand = sign_extend(op >> 12 & 0xfff);
        if op >> 28 & 8 != 0 {
            operand = 1u32.wrapping_shl(operand);
        }
        let old = self.get(mem)?;
        let new = match op >> 28 & 7 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old | operand,
            3 => old & !operand,
            4 => old ^ operand,
            _ => return Err(Errno::ENOSYS),
        };
        self.put(mem, new)?;
        let (old, with) = (old as i32, sign_extend(op & 0xfff) as i32);
        Ok(match op >> 24 & 0xf {
            0 => old == with,
            1 => old != with,
            2 => old < with,
            3 => old <= with,
            4 => old > with,
            5 => old >= with,
            _ => return Err(Errno::ENOSYS),
        })
    }
}
