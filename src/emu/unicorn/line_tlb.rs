//! TLB of lines. Beside the engine's TLB, which has pages, it has lines that D1 holds, and where
//! those are in the host: the table of `hooks/data_table.rs`. `line_lookups.rs` has generated
//! code look there for the accesses that are counted: what it finds hits D1, and only the time is
//! noted. What it does not find comes to `line_accesses.rs`.
//!
//! The engine has a TLB for each mode of the MMU. The guest runs in one of them, and the place of
//! another has this one. Entries are forgotten whenever the engine forgets one of its own.
#![allow(unsafe_code)]

use crate::hooks::data_table::{DATA_LINES, DataLine, DataTable};

/// Mode of the MMU that the guest runs in, `MMU_KNOSMAP_IDX`, as the engine knows no user mode
/// here, and the one whose place is taken.
pub(super) const GUEST: usize = 2;
pub(super) const SPARE: usize = 1;

/// Bytes from `CPUX86State` to the `CPUTLBDescFast` of each, and of its parts: the size of the
/// table less that of an entry, and the table.
pub(super) const fn fast(mode: usize) -> isize {
    -64 + 16 * mode as isize
}
pub(super) const TABLE: isize = 8;

/// Bytes from `CPUX86State` to two words that the engine does not use, behind `IcountDecr`: the
/// time of the block that runs, and the table from the addresses for stores on.
pub(super) const CLOCK: isize = -12;
pub(super) const STORES: isize = -8;

/// Base-2 logarithm of the size of an entry of the engine's, of one of ours, and of that of a page.
pub(super) const ENTRY_BITS: u32 = 6;
const LINE_ENTRY_BITS: u32 = size_of::<DataLine>().trailing_zeros();
pub(super) const PAGE_BITS: u32 = 12;

/// Bit of an access's description (`TCGMemOpIdx`) from which on it has a [`Tap`].
pub(super) const TAP_SHIFT: u32 = 12;

/// A counted access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tap {
    /// Index of its event in the plan of its block.
    pub(super) index: u16,
    /// Bytes accessed.
    pub(super) size: u16,
    /// Its instruction can fault no more once it is made, and it may look for its line.
    pub(super) finds: bool,
    /// A store to the same place follows.
    pub(super) modifies: bool,
}

impl Tap {
    const INDEX_BITS: u32 = 12;
    const SIZE_BITS: u32 = 6;
    /// Most events before that of a tap.
    pub(super) const MOST: usize = (1 << Tap::INDEX_BITS) - 2;
    /// Largest size.
    pub(super) const LARGEST: u16 = 1 << Tap::SIZE_BITS;

    /// The tap in few bits, which are not zero.
    pub(super) fn pack(self) -> u32 {
        let flags = u32::from(self.finds) | u32::from(self.modifies) << 1;
        (u32::from(self.index) + 1)
            | u32::from(self.size - 1) << Tap::INDEX_BITS
            | flags << (Tap::INDEX_BITS + Tap::SIZE_BITS)
    }

    /// Unpacks a tap; `None` if there is none.
    pub(super) fn of(bits: u32) -> Option<Tap> {
        let index = (bits & ((1 << Tap::INDEX_BITS) - 1)).checked_sub(1)? as u16;
        let size = (bits >> Tap::INDEX_BITS) as u16 % Tap::LARGEST + 1;
        let flags = bits >> (Tap::INDEX_BITS + Tap::SIZE_BITS);
        Some(Tap { index, size, finds: flags & 1 != 0, modifies: flags & 2 != 0 })
    }
}

/// The place of the table of lines, and the size of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineTlb {
    pub(super) table: *mut DataTable,
    /// Base-2 logarithm of the size of a line.
    pub(super) line_bits: u32,
}

impl LineTlb {
    /// The engine's `CPUTLBDescFast` for it.
    pub(super) fn fast(self) -> [u64; 2] {
        [((DATA_LINES - 1) << LINE_ENTRY_BITS) as u64, self.table as u64]
    }

    /// The word at [`STORES`].
    pub(super) fn stores(self) -> u64 {
        self.table as u64 + std::mem::offset_of!(DataLine, write) as u64
    }

    /// Bits by which an address is shifted to the right for the place of its entry.
    pub(super) fn shift(self) -> u32 {
        self.line_bits - LINE_ENTRY_BITS
    }

    /// Forgets where all lines are.
    pub(super) fn forget(self) {
        // SAFETY: the recorder's table does not move, and lives as long as the TLB of lines is
        // used.
        unsafe { (*self.table).forget_translations() }
    }
}

/// The time of the block that runs.
///
/// # Safety
/// `env` is the engine's.
pub(super) unsafe fn clock(env: *mut u8) -> u32 {
    // SAFETY: the caller's.
    unsafe { *env.offset(CLOCK).cast::<u32>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_come_back() {
        for (finds, modifies) in [(false, false), (true, false), (true, true)] {
            for (index, size) in [(0, 1), (Tap::MOST as u16, Tap::LARGEST), (7, 16)] {
                let tap = Tap { index, size, finds, modifies };
                assert!(tap.pack() < 1 << (32 - TAP_SHIFT));
                assert_eq!(Tap::of(tap.pack()), Some(tap));
            }
        }
        assert_eq!(Tap::of(0), None);
    }
}
