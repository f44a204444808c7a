//! TLB of lines. Beside the engine's TLB, which has pages, it has for each set of D1 the line that was
//! accessed last, and where that is in the host. `line_lookups.rs` has generated code look there for
//! the accesses that are counted: what it finds hits D1 and changes nothing, so it is not recorded.
//! What it does not find comes to the functions below, which look for the page and record it.
//!
//! The engine has a TLB for each mode of the MMU. The guest runs in one of them, and the place of
//! another has this one. Entries have the engine's form, and are forgotten whenever the engine
//! forgets one of its own or gets another.
#![allow(unsafe_code)]

use crate::emu::unicorn::emit::Helper;
use crate::emu::unicorn::helpers::env::Env;
use crate::emu::unicorn::trace_buffer::Cursor;
use crate::emu::unicorn::vcpu::current;
use crate::emu::unicorn::wrapped::{real, replace};
use crate::guest::PAGE_SIZE;
use crate::hooks::record::PlanId;
use crate::hooks::stripped::{Shape, Stripped};

/// Mode of the MMU that the guest runs in, `MMU_KNOSMAP_IDX`, as the engine knows no user mode here,
/// and the one whose place is taken.
pub(super) const GUEST: usize = 2;
pub(super) const SPARE: usize = 1;

/// Bytes from `CPUX86State` to the `CPUTLBDescFast` of each, and of its parts: the size of the table
/// less that of an entry, and the table.
pub(super) const fn fast(mode: usize) -> isize {
    -64 + 16 * mode as isize
}
pub(super) const TABLE: isize = 8;

/// Base-2 logarithm of the size of an entry, and of that of a page.
const ENTRY_BITS: u32 = 6;
pub(super) const PAGE_BITS: u32 = 12;

/// Words of an entry: the addresses for loads and stores, and what is added for the host's.
const READ: usize = 0;
const WRITE: usize = 1;
const ADDEND: usize = 4;

/// Words of an entry.
type Entry = [u64; 8];

/// Address of an entry that no access finds.
const NOTHING: u64 = u64::MAX;

/// Base-2 logarithm of the most entries.
const MOST_BITS: u32 = 6;

/// Bit of an access's description (`TCGMemOpIdx`) from which on it has a [`Tap`], and bits before it
/// that say how it must be aligned.
pub(super) const TAP_SHIFT: u32 = 12;
const ALIGN_SHIFT: u32 = 8;
const ALIGN_MASK: u32 = 7;

/// A counted access: the index of its event in the plan of its block, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tap {
    pub(super) index: u16,
    pub(super) size: u16,
}

impl Tap {
    const INDEX_BITS: u32 = 13;
    /// Largest size.
    pub(super) const LARGEST: u16 = 64;

    /// The tap in few bits, which are not zero.
    pub(super) fn pack(self) -> u32 {
        u32::from(self.index) + 1 | u32::from(self.size - 1) << Tap::INDEX_BITS
    }

    /// Unpacks a tap; `None` if there is none.
    pub(super) fn of(bits: u32) -> Option<Tap> {
        let index = (bits & ((1 << Tap::INDEX_BITS) - 1)).checked_sub(1)? as u16;
        Some(Tap { index, size: (bits >> Tap::INDEX_BITS) as u16 + 1 })
    }
}

/// The lines that were accessed last.
#[repr(C, align(4096))]
pub(super) struct LineTlb {
    entries: [Entry; 1 << MOST_BITS],
    /// Where accesses are recorded.
    cursor: *mut Cursor,
    /// Base-2 logarithm of the size of a line.
    line_bits: u32,
    /// Bits of an address that select the entry, where they lie in the address.
    select: u64,
}

impl LineTlb {
    /// A TLB for a cache of this shape, whose accesses are recorded at `cursor`.
    pub(super) fn new(shape: Shape, cursor: *mut Cursor) -> Box<LineTlb> {
        // Lines beside each other have different entries, so an access to both finds neither.
        let select = ((1 << shape.set_bits.min(MOST_BITS)) - 1) << shape.line_bits;
        let mut tlb = Box::new(LineTlb {
            entries: [[0; 8]; 1 << MOST_BITS],
            cursor,
            line_bits: shape.line_bits,
            select,
        });
        tlb.forget();
        tlb
    }

    /// What the engine's `CPUTLBDescFast` has to have for it.
    pub(super) fn fast(&mut self) -> [u64; 2] {
        [self.select >> self.shift(), (&raw mut self.entries) as u64]
    }

    /// Bits by which an address is shifted to the right for the place of its entry.
    pub(super) fn shift(&self) -> u32 {
        self.line_bits - ENTRY_BITS
    }

    /// Base-2 logarithm of the size of a line.
    pub(super) fn line_bits(&self) -> u32 {
        self.line_bits
    }

    /// Forgets all lines.
    pub(super) fn forget(&mut self) {
        for entry in &mut self.entries {
            (entry[READ], entry[WRITE]) = (NOTHING, NOTHING);
        }
    }

    fn entry(&mut self, addr: u64) -> &mut Entry {
        let place = ((addr & self.select) >> self.shift()) >> ENTRY_BITS;
        &mut self.entries[place as usize % (1 << MOST_BITS)]
    }

    /// Forgets the lines of an access.
    fn forget_lines(&mut self, addr: u64, size: u16) {
        let lines = |addr: u64| addr >> self.line_bits;
        let further = lines(addr.wrapping_add(u64::from(size.max(1)) - 1)).wrapping_sub(lines(addr));
        for line in 0..=further.min(1 << MOST_BITS) {
            let entry = self.entry(addr.wrapping_add(line << self.line_bits));
            (entry[READ], entry[WRITE]) = (NOTHING, NOTHING);
        }
    }

    /// Learns of an access that generated code did not find here, whose page has this entry.
    #[inline(always)]
    fn accessed(&mut self, addr: u64, tap: Tap, page: &Entry) {
        self.record(addr, tap.index);
        let line = addr >> self.line_bits << self.line_bits;
        if addr.wrapping_add(u64::from(tap.size) - 1) >> self.line_bits != addr >> self.line_bits {
            return self.forget_lines(addr, tap.size);
        }
        let start = addr / PAGE_SIZE * PAGE_SIZE;
        let address = |of: u64| if of == start { line } else { NOTHING };
        let [read, write, addend] = [address(page[READ]), address(page[WRITE]), page[ADDEND]];
        let entry = self.entry(addr);
        (entry[READ], entry[WRITE], entry[ADDEND]) = (read, write, addend);
    }

    /// Records a data event of the block that runs.
    #[inline(always)]
    fn record(&mut self, address: u64, index: u16) {
        // SAFETY: the cursor outlives the engine, and nobody else uses it while generated code has
        // called us.
        let cursor = unsafe { &mut *self.cursor };
        let data = Stripped::Data { plan: PlanId(cursor.last as u32), index, address, stamp: cursor.stamp() };
        data.pack(|word| {
            // SAFETY: the buffer has room for all that a block records behind its limit, which no
            // block begins beyond.
            unsafe {
                *cursor.next = word;
                cursor.next = cursor.next.add(1);
            }
        });
        if cursor.next > cursor.limit {
            stop();
        }
    }

    /// Records a data event that generated code does not look up here.
    pub(super) fn record_apart(&mut self, address: u64, tap: Tap) {
        self.record(address, tap.index);
        self.forget_lines(address, tap.size);
    }
}

/// Has the next block ask, since the buffer is full.
#[cold]
fn stop() {
    // SAFETY: called from generated code, inside the run.
    if let Some(vcpu) = unsafe { current() } {
        vcpu.trace.stop();
    }
}

/// The engine's entry for the page of an address.
///
/// # Safety
/// `env` is the engine's, and the result is not used once the engine could have changed its TLB.
unsafe fn page<'a>(env: *mut u8, addr: u64) -> &'a Entry {
    // SAFETY: `Tlbs::find` has found the parts of the TLB there, which the mask keeps the place in.
    unsafe {
        let parts = env.offset(fast(GUEST));
        let (mask, table) = (*parts.cast::<u64>(), *parts.offset(TABLE).cast::<*const u8>());
        &*table.add((addr >> (PAGE_BITS - ENTRY_BITS) & mask) as usize).cast()
    }
}

/// The TLB of lines, which has recorded an access.
///
/// # Safety
/// `env` is the engine's, and the access has a tap, so that [`LineTlb::fast`] is in its place.
unsafe fn lines<'a>(env: *mut u8) -> &'a mut LineTlb {
    // SAFETY: the entries are the first member.
    unsafe { &mut **env.offset(fast(SPARE) + TABLE).cast::<*mut LineTlb>() }
}

/// Tests whether an access may be made without the engine: the entry is that of its page, all of it is
/// in the page, and aligned as it must be.
#[inline(always)]
fn is_plain(entry: u64, addr: u64, size: u64, description: u32) -> bool {
    let misaligned = addr & ((1 << (description >> ALIGN_SHIFT & ALIGN_MASK)) - 1);
    entry == addr / PAGE_SIZE * PAGE_SIZE && addr % PAGE_SIZE <= PAGE_SIZE - size && misaligned == 0
}

macro_rules! loads {
    ($($symbol:ident: $type:ty;)*) => { $(
        const _: () = {
            real!($symbol(env: *mut u8, addr: u64, description: u32, retaddr: usize) -> u64);
            replace! {
                fn $symbol(env: *mut u8, addr: u64, description: u32, retaddr: usize) -> u64 {
                    // SAFETY: the arguments are the engine's; memory of the guest that an entry
                    // leads to may be loaded from, as generated code does.
                    unsafe {
                        let Some(tap) = Tap::of(description >> TAP_SHIFT) else {
                            return real(env, addr, description, retaddr);
                        };
                        let mut entry = page(env, addr);
                        let value = if is_plain(entry[READ], addr, size_of::<$type>() as u64, description) {
                            let host = addr.wrapping_add(entry[ADDEND]) as *const $type;
                            u64::from(host.read_unaligned())
                        } else {
                            let value = real(env, addr, description & ((1 << TAP_SHIFT) - 1), retaddr);
                            entry = page(env, addr);
                            value
                        };
                        lines(env).accessed(addr, tap, entry);
                        value
                    }
                }
            }
        };
    )* };
}

macro_rules! stores {
    ($($symbol:ident: $type:ty;)*) => { $(
        const _: () = {
            real!($symbol(env: *mut u8, addr: u64, value: u64, description: u32, retaddr: usize));
            replace! {
                fn $symbol(env: *mut u8, addr: u64, value: u64, description: u32, retaddr: usize) {
                    // SAFETY: as for loads.
                    unsafe {
                        let Some(tap) = Tap::of(description >> TAP_SHIFT) else {
                            return real(env, addr, value, description, retaddr);
                        };
                        let mut entry = page(env, addr);
                        if is_plain(entry[WRITE], addr, size_of::<$type>() as u64, description) {
                            let host = addr.wrapping_add(entry[ADDEND]) as *mut $type;
                            host.write_unaligned(value as $type);
                        } else {
                            real(env, addr, value, description & ((1 << TAP_SHIFT) - 1), retaddr);
                            entry = page(env, addr);
                        }
                        lines(env).accessed(addr, tap, entry);
                    }
                }
            }
        };
    )* };
}

loads! {
    helper_ret_ldub_mmu: u8;
    helper_le_lduw_mmu: u16;
    helper_le_ldul_mmu: u32;
    helper_le_ldq_mmu: u64;
}

stores! {
    helper_ret_stb_mmu: u8;
    helper_le_stw_mmu: u16;
    helper_le_stl_mmu: u32;
    helper_le_stq_mmu: u64;
}

/// What a block can tell when it calls out, by a helper for bound checks of MPX, which no CPU model
/// has.
pub(super) mod tell {
    /// Its lines are to be fetched.
    pub(crate) const FETCH: u64 = 0;
    /// A data event: its [`Tap`](super::Tap) and its address.
    pub(crate) const DATA: u64 = 1;
    /// All data events of an instruction, by its index; their addresses are in the scratch.
    pub(crate) const EVENTS: u64 = 2;
    /// The retry of a locked operation, by the index of its instruction.
    pub(crate) const RETRY: u64 = 3;
    /// The branch at its end: whether it is taken.
    pub(crate) const BRANCH: u64 = 4;
    /// A repeated string instruction: whether it is repeated if it iterates.
    pub(crate) const REPEAT: u64 = 5;
}

unsafe extern "C" {
    fn helper_bndstx32_x86_64();
}

/// The helper by which a block tells what [`tell`] lists: with the state, the plan, which of these it
/// is, and two words.
pub(super) const TELL: Helper = helper_bndstx32_x86_64;

replace! {
    fn helper_bndstx32(_env: Env, plan: u64, what: u64, first: u64, second: u64) {
        // SAFETY: called from generated code, inside the run.
        if let Some(vcpu) = unsafe { current() } {
            vcpu.told(PlanId(plan as u32), what, first, second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_come_back() {
        for tap in [Tap { index: 0, size: 1 }, Tap { index: 4500, size: Tap::LARGEST }] {
            assert!(tap.pack() < 1 << (32 - TAP_SHIFT));
            assert_eq!(Tap::of(tap.pack()), Some(tap));
        }
        assert_eq!(Tap::of(0), None);
    }

    /// Sets of the cache that share an entry are those whose lines the entry cannot hold together.
    #[test]
    fn lines_of_one_set_have_one_entry() {
        for (line_bits, set_bits) in [(6, 6), (7, 3), (6, 10), (12, 1), (8, 2)] {
            let mut tlb = LineTlb::new(Shape { line_bits, set_bits }, std::ptr::null_mut());
            let sets = 1 << set_bits;
            let mut places = Vec::new();
            for line in 0..4 * sets.max(64_u64) {
                let place = (&raw const *tlb.entry(line << line_bits)) as usize;
                places.push((line % sets, place));
            }
            for &(set, place) in &places {
                assert!(
                    places.iter().all(|&(other, at)| set != other || place == at),
                    "{line_bits} {set_bits}"
                );
            }
            let differ = places.windows(2).all(|pair| pair[0].1 != pair[1].1);
            assert!(differ, "{line_bits} {set_bits}: an access to two lines could find one of them");
        }
    }
}
