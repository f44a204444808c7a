//! Numbers of futex(2).
#![allow(missing_docs)]

pub(crate) const FUTEX_WAIT: u32 = 0;
pub(crate) const FUTEX_WAKE: u32 = 1;
pub(crate) const FUTEX_REQUEUE: u32 = 3;
pub(crate) const FUTEX_CMP_REQUEUE: u32 = 4;
pub(crate) const FUTEX_WAKE_OP: u32 = 5;
pub(crate) const FUTEX_LOCK_PI: u32 = 6;
pub(crate) const FUTEX_UNLOCK_PI: u32 = 7;
pub(crate) const FUTEX_TRYLOCK_PI: u32 = 8;
pub(crate) const FUTEX_WAIT_BITSET: u32 = 9;
pub(crate) const FUTEX_WAKE_BITSET: u32 = 10;
pub(crate) const FUTEX_WAIT_REQUEUE_PI: u32 = 11;
pub(crate) const FUTEX_CMP_REQUEUE_PI: u32 = 12;
pub(crate) const FUTEX_LOCK_PI2: u32 = 13;
pub(crate) const FUTEX_PRIVATE_FLAG: u32 = 128;
pub(crate) const FUTEX_CLOCK_REALTIME: u32 = 256;

/// The owner's task id in the word of a priority-inheritance lock.
pub(crate) const FUTEX_TID_MASK: u32 = 0x3fff_ffff;
/// The mark of a lock for which somebody waits in the kernel.
pub(crate) const FUTEX_WAITERS: u32 = 0x8000_0000;
/// The mark of a lock whose owner died.
pub(crate) const FUTEX_OWNER_DIED: u32 = 0x4000_0000;

/// A bit set that matches every other.
pub(crate) const FUTEX_BITSET_MATCH_ANY: u32 = u32::MAX;

/// Flag of a futex of 32 bits, futex_waitv(2).
pub(crate) const FUTEX_32: u32 = 2;
/// Most futexes of one call of futex_waitv(2).
pub(crate) const FUTEX_WAITV_MAX: u64 = 128;

/// Most entries of a robust list that are looked at.
pub(crate) const ROBUST_LIST_LIMIT: usize = 2048;
