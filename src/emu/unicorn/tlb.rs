//! The engine's software TLB: filling it from our page table, and making it grow when it should.
#![allow(unsafe_code)]

use crate::emu::memory::space::{Access, Denied};
use crate::emu::unicorn::door::Door;
use crate::emu::unicorn::ffi;
use crate::emu::unicorn::layout::Parts;
use crate::guest::Fault;

use unicorn_engine::{MemType, Prot as EngineProt, TlbEntry};

/// Entries beyond which the TLB is not made to grow.
const LARGEST: u64 = 1 << 15;

/// The engine's TLB begins with 256 entries of 64 bytes in each of its three MMU modes.
const FIRST_MASK: u64 = 0x3fc0;

/// Words between the masks of two modes (`CPUTLBDescFast`), and bytes of a mode's slow part (`CPUTLBDesc`).
const FAST_WORDS: usize = 2;
const SLOW_BYTES: usize = 696;

/// Words of `CPUTLBDesc`: when the window of use statistics began, the most entries used in it, and those in use.
const WINDOW_BEGIN: usize = 2;
const WINDOW_MAX: usize = 3;
const USED: usize = 4;

/// Makes the TLB double when it thrashes. The engine resizes it only on a flush and by host time.
#[derive(Debug)]
pub struct Growth {
    /// First `CPUTLBDescFast`.
    fast: *mut u64,
    fills: u64,
    next: u64,
}

impl Growth {
    /// Finds the TLB of a new engine, by the masks of its three modes just before the registers.
    pub fn find(parts: &Parts) -> Result<Growth, String> {
        for distance in 3 * FAST_WORDS..256 {
            // SAFETY: `env` is embedded in a much larger CPU object whose earlier members, the TLB among them,
            // lie before it.
            let fast = unsafe { parts.env.cast::<u64>().sub(distance) };
            // SAFETY: as above.
            let is_mask = |mode: usize| unsafe { *fast.add(FAST_WORDS * mode) == FIRST_MASK };
            if (0..3).all(is_mask) {
                return Ok(Growth { fast, fills: 0, next: 1024 });
            }
        }
        Err("the TLB is not where it should be".into())
    }

    fn entries(&self, mode: usize) -> u64 {
        // SAFETY: `find` has found the three masks at these places.
        unsafe { (*self.fast.add(FAST_WORDS * mode) >> 6) + 1 }
    }

    /// Counts a fill; after many for its size, the TLB is told to grow and is flushed, which makes it do so.
    fn filled(&mut self, parts: &Parts) {
        self.fills += 1;
        if self.fills < self.next {
            return;
        }
        for mode in 0..3 {
            let size = self.entries(mode);
            // SAFETY: the slow parts of the modes lie just before the fast ones, in the same order. The fields
            // only steer the engine's choice of a size at the next flush.
            unsafe {
                let slow = self.fast.cast::<u8>().sub(SLOW_BYTES * (3 - mode)).cast::<u64>();
                *slow.add(WINDOW_BEGIN) = i64::MAX as u64 - (1 << 30);
                if size < LARGEST && *slow.add(USED) > 0 {
                    *slow.add(WINDOW_MAX) = size;
                }
            }
        }
        // SAFETY: flushing is allowed inside the fill callback: the entry is set after it.
        unsafe { ffi::tlb_flush_x86_64(parts.cpu) };
        let largest = (0..3).map(|mode| self.entries(mode)).max().unwrap_or(LARGEST);
        self.next = if largest >= LARGEST { u64::MAX } else { self.fills + 4 * largest };
    }
}

impl Door {
    /// Answers the engine's question for a page, or notes why there is no answer.
    pub fn fill(&mut self, page: u64, kind: MemType) -> Option<TlbEntry> {
        self.growth.filled(&self.parts);
        let access = match kind {
            MemType::WRITE | MemType::WRITE_PROT | MemType::WRITE_UNMAPPED => Access::Write,
            MemType::FETCH | MemType::FETCH_PROT | MemType::FETCH_UNMAPPED => Access::Execute,
            _ => Access::Read,
        };
        // Addresses above the user half are not canonical or the kernel's: neither can be mapped.
        match self.space.access(page, access) {
            Ok(grant) => {
                self.invalidate();
                let paddr = self.space.frames().arena().address(grant.frame);
                Some(TlbEntry { paddr, perms: EngineProt(u32::from(grant.prot.0)) })
            }
            Err(denied) => {
                self.denied = Some(fault_of(page, access, denied));
                None
            }
        }
    }
}

/// The fault of an access that was denied.
pub fn fault_of(addr: u64, access: Access, denied: Denied) -> Fault {
    let (write, fetch) = (access == Access::Write, access == Access::Execute);
    match denied {
        _ if !(-(1i64 << 47)..1i64 << 47).contains(&(addr as i64)) => Fault::Protection,
        Denied::PastEnd => Fault::Bus { addr },
        Denied::Protected => Fault::Page { addr, write, fetch, mapped: true },
        Denied::Unmapped | Denied::OutOfMemory => Fault::Page { addr, write, fetch, mapped: false },
    }
}
