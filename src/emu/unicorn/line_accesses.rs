//! Accesses that generated code does not find in the TLB of lines: they look for the page, and tell
//! the caches.
#![allow(unsafe_code)]

use crate::emu::unicorn::line_tlb::{CLOCK, ENTRY_BITS, GUEST, PAGE_BITS, TABLE, TAP_SHIFT, Tap, fast};
use crate::emu::unicorn::vcpu::current;
use crate::emu::unicorn::wrapped::{real, replace};
use crate::guest::PAGE_SIZE;
use crate::hooks::data_table::{DataLine, LineEntry};

/// Words of an entry of the engine's: the addresses for loads and stores, and what is added for the
/// host's.
const READ: usize = 0;
const WRITE: usize = 1;
const ADDEND: usize = 4;

/// Words of an entry of the engine's.
type Entry = [u64; 8];

/// Bits of an access's description (`TCGMemOpIdx`) that say how it must be aligned.
const ALIGN_SHIFT: u32 = 8;
const ALIGN_MASK: u32 = 7;

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

/// Learns of an access that generated code did not find, whose page has this entry.
///
/// # Safety
/// Called from generated code, inside the run.
#[inline(always)]
unsafe fn accessed(env: *mut u8, addr: u64, tap: Tap, page: &Entry) {
    // SAFETY: the caller's; the word is what `CLOCK` says.
    let (vcpu, clock) = unsafe { (current(), *env.offset(CLOCK).cast::<u32>()) };
    let Some(vcpu) = vcpu else { return };
    let Some(running) = vcpu.trace.running() else { return };
    // What modifies may have loaded from where it cannot store to; the rest of what is accessed in
    // parts may be in a page that is not there.
    let crosses = addr % PAGE_SIZE + u64::from(tap.size) > PAGE_SIZE;
    let undoable = !tap.finds || tap.modifies || crosses;
    let how = (clock, undoable);
    let accessed = vcpu.trace.recorder().accessed(running, tap.index, (addr, tap.size), how);
    let Some(LineEntry { first, line }) = accessed else { return };
    let start = addr / PAGE_SIZE * PAGE_SIZE;
    let address = |of: u64| if of == start { first } else { DataLine::NOWHERE };
    (line.read, line.write, line.addend) = (address(page[READ]), address(page[WRITE]), page[ADDEND]);
}

/// Tests whether an access may be made without the engine: the entry is that of its page, all of it
/// is in the page, and aligned as it must be.
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
                        accessed(env, addr, tap, entry);
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
                        accessed(env, addr, tap, entry);
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
