//! The engine's software MMU: TLB fills from our page table, the TLB's size, and invalidation of
//! what the engine caches of the address space.
#![allow(unsafe_code)]

use unicorn_engine::{MemType, Prot as EngineProt, TlbEntry};

use crate::emu::memory::frames::Invalidation;
use crate::emu::memory::space::{Access, AddressSpace, Denied};
use crate::emu::unicorn::engine_state::EngineState;
use crate::emu::unicorn::jump_cache::JumpCache;
use crate::guest::{Fault, PAGE_SIZE};

/// Entries up to which the TLB is made to grow.
const LARGEST: u64 = 1 << 15;

/// The engine's TLB begins with 256 entries of 64 bytes in each of its three MMU modes.
const FIRST_MASK: u64 = 0x3fc0;

/// Words between the masks of two modes (`CPUTLBDescFast`), and bytes of a mode's slow part
/// (`CPUTLBDesc`).
const FAST_WORDS: usize = 2;
const SLOW_BYTES: usize = 696;

/// Words of `CPUTLBDesc`: start of the window of use statistics, most entries used in it, entries
/// in use.
const WINDOW_BEGIN: usize = 2;
const WINDOW_MAX: usize = 3;
const USED: usize = 4;

/// Doubles the TLB when it thrashes. The engine resizes it only on a flush and by host time.
#[derive(Debug)]
struct TlbSize {
    /// First `CPUTLBDescFast`.
    fast: *mut u64,
    fills: u64,
    /// Number of fills at which the TLB grows next.
    next: u64,
}

impl TlbSize {
    /// Finds the TLB of a new engine by the masks of its three modes, which lie just before the
    /// registers.
    fn find(state: &EngineState) -> Result<TlbSize, String> {
        for distance in 3 * FAST_WORDS..256 {
            // SAFETY: `env` is embedded in a much larger CPU object whose earlier members, the TLB
            // among them, lie before it.
            let fast = unsafe { state.env_start().sub(distance) };
            // SAFETY: as above.
            let is_mask = |mode: usize| unsafe { *fast.add(FAST_WORDS * mode) == FIRST_MASK };
            if (0..3).all(is_mask) {
                return Ok(TlbSize { fast, fills: 0, next: 1024 });
            }
        }
        Err("the TLB is not where it should be".into())
    }

    fn entries(&self, mode: usize) -> u64 {
        // SAFETY: `find` has found the three masks at these places.
        unsafe { (*self.fast.add(FAST_WORDS * mode) >> 6) + 1 }
    }

    /// Counts a fill; after many for its size, makes the TLB grow by a flush.
    fn count_fill(&mut self, state: &mut EngineState) {
        self.fills += 1;
        if self.fills < self.next {
            return;
        }
        for mode in 0..3 {
            let size = self.entries(mode);
            // SAFETY: the slow parts of the modes lie just before the fast ones, in the same order.
            // The fields only steer the engine's choice of a size at the next flush.
            unsafe {
                let slow = self.fast.cast::<u8>().sub(SLOW_BYTES * (3 - mode)).cast::<u64>();
                *slow.add(WINDOW_BEGIN) = i64::MAX as u64 - (1 << 30);
                if size < LARGEST && *slow.add(USED) > 0 {
                    *slow.add(WINDOW_MAX) = size;
                }
            }
        }
        state.flush_tlb();
        let largest = (0..3).map(|mode| self.entries(mode)).max().unwrap_or(LARGEST);
        self.next = if largest >= LARGEST { u64::MAX } else { self.fills + 4 * largest };
    }
}

/// The address space as the engine sees it, and what the engine caches of it.
pub(super) struct Mmu {
    space: AddressSpace,
    tlb: TlbSize,
    jumps: JumpCache,
    /// Fault of the last page that was refused.
    denied: Option<Fault>,
    /// Code was dropped to allow a store, which has not taken place yet.
    dropped: bool,
}

impl Mmu {
    /// Puts an address space before a new engine.
    ///
    /// # Errors
    /// When the engine's TLB is not where it should be.
    pub(super) fn new(space: AddressSpace, state: &EngineState) -> Result<Mmu, String> {
        Ok(Mmu {
            space,
            tlb: TlbSize::find(state)?,
            jumps: JumpCache::default(),
            denied: None,
            dropped: false,
        })
    }

    /// The address space.
    pub(super) fn space(&mut self) -> &mut AddressSpace {
        &mut self.space
    }

    /// The jump cache.
    pub(super) fn jumps(&mut self) -> &mut JumpCache {
        &mut self.jumps
    }

    /// Memory that the guest uses, in bytes.
    pub(super) fn resident(&self) -> u64 {
        self.space.frames().in_use() as u64 * PAGE_SIZE
    }

    /// Takes the fault of the last page that was refused.
    pub(super) fn take_denied(&mut self) -> Option<Fault> {
        self.denied.take()
    }

    /// Answers a TLB fill, or records the fault.
    pub(super) fn fill(&mut self, page: u64, kind: MemType, state: &mut EngineState) -> Option<TlbEntry> {
        self.tlb.count_fill(state);
        let access = match kind {
            MemType::WRITE | MemType::WRITE_PROT | MemType::WRITE_UNMAPPED => Access::Write,
            MemType::FETCH | MemType::FETCH_PROT | MemType::FETCH_UNMAPPED => Access::Execute,
            _ => Access::Read,
        };
        // Addresses above the user half are not canonical or the kernel's: neither can be mapped.
        match self.space.access(page, access) {
            Ok(grant) => {
                let changes = self.space.take_invalidations();
                self.dropped |= access == Access::Write
                    && changes.iter().any(|change| matches!(change, Invalidation::Code(_)));
                self.forget(changes, state);
                let paddr = self.space.frames().arena().address(grant.frame);
                Some(TlbEntry { paddr, perms: EngineProt(u32::from(grant.prot.0)) })
            }
            Err(denied) => {
                self.denied = Some(fault_of(page, access, denied));
                None
            }
        }
    }

    /// The fault of an access to `addr` that has failed.
    pub(super) fn fault_at(&mut self, addr: u64, access: Access) -> Fault {
        match self.space.access(addr, access) {
            Ok(_) => Fault::Protection { error: 0 },
            Err(denied) => fault_of(addr, access, denied),
        }
    }

    /// Makes the engine's caches forget what the address space has changed.
    pub(super) fn invalidate(&mut self, state: &mut EngineState) {
        let changes = self.space.take_invalidations();
        self.forget(changes, state);
    }

    /// Tests whether code was dropped for the store that is about to take place, and forgets it.
    pub(super) fn take_dropped(&mut self) -> bool {
        std::mem::take(&mut self.dropped)
    }

    fn forget(&mut self, changes: Vec<Invalidation>, state: &mut EngineState) {
        for change in changes {
            self.jumps.clear();
            match change {
                Invalidation::Page(addr) => state.flush_page(addr),
                Invalidation::AllPages => state.flush_tlb(),
                Invalidation::Code(frame) => {
                    let start = frame.index() as u64 * PAGE_SIZE;
                    state.drop_code(start, start + PAGE_SIZE);
                }
            }
        }
    }
}

/// The fault of an access that was denied.
fn fault_of(addr: u64, access: Access, denied: Denied) -> Fault {
    let (write, fetch) = (access == Access::Write, access == Access::Execute);
    match denied {
        _ if !(-(1i64 << 47)..1i64 << 47).contains(&(addr as i64)) => Fault::Protection { error: 0 },
        Denied::PastEnd => Fault::Bus { addr },
        Denied::Protected => Fault::Page { addr, write, fetch, mapped: true },
        Denied::Unmapped | Denied::OutOfMemory => Fault::Page { addr, write, fetch, mapped: false },
    }
}
