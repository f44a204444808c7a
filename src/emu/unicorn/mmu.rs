//! The engine's software MMU: TLB fills from our page table, and invalidation of what the engine
//! caches of the address spaces.

#![allow(unsafe_code)]

use std::ffi::c_void;

use unicorn_engine::{MemType, Prot as EngineProt, TlbEntry};

use crate::emu::memory::frames::Invalidation;
use crate::emu::memory::space::{Access, AddressSpace, Denied};
use crate::emu::unicorn::engine_state::EngineState;
use crate::emu::unicorn::jump_cache::JumpCache;
use crate::emu::unicorn::layout::Block;
use crate::emu::unicorn::line_tlb::LineTlb;
use crate::emu::unicorn::tlbs::Tlbs;
use crate::emu::unicorn::ways::{Way, Ways};
use crate::guest::{Fault, PAGE_SIZE};
use crate::x86::address::is_canonical;

/// The address space as the engine sees it, and what the engine caches of it.
pub(super) struct Mmu {
    space: AddressSpace,
    tlbs: Tlbs,
    jumps: JumpCache,
    ways: Ways,
    /// Fault of the last page that was refused.
    denied: Option<Fault>,
    /// Code was dropped to allow a store, which has not taken place yet.
    dropped: bool,
}

impl Mmu {
    /// Puts an address space before a new engine, whose generated code goes on at `look_up` where
    /// the block at RIP has to be looked up.
    ///
    /// # Errors
    /// When the engine's TLB is not where it should be.
    pub(super) fn new(
        space: AddressSpace,
        state: &EngineState,
        look_up: *const c_void,
    ) -> Result<Mmu, String> {
        let tlbs = Tlbs::find(state, space.loaded())?;
        let mut jumps = JumpCache::new(look_up);
        jumps.set_tag(tlbs.tag());
        Ok(Mmu { space, tlbs, jumps, ways: Ways::default(), denied: None, dropped: false })
    }

    /// The address space.
    pub(super) fn space(&mut self) -> &mut AddressSpace {
        &mut self.space
    }

    /// The jump cache.
    pub(super) fn jumps(&mut self) -> &mut JumpCache {
        &mut self.jumps
    }

    /// Learns of a block that the engine is about to translate.
    ///
    /// # Safety
    /// It is a block of the engine whose `code` is set.
    pub(super) unsafe fn translating(&mut self, block: *const Block) {
        // SAFETY: the caller's.
        if unsafe { self.jumps.translating(block) } {
            self.ways.clear();
        }
    }

    /// Makes a way for a chained exit of a block that is being translated. Returns the words where
    /// generated code finds the tag of the address space and stores ways that it does not take.
    pub(super) fn add_way(
        &mut self,
        block: *mut c_void,
        index: u32,
    ) -> (*const u64, *const *mut Way, *const Way) {
        let way = self.ways.add(block, index, self.tlbs.tag());
        (self.tlbs.tag_word(), self.ways.refused_word(), way)
    }

    /// Confirms a way that generated code did not take, if there is one, since the code of the
    /// block that it should lead to was looked up.
    pub(super) fn confirm_way(&mut self, code: *const c_void) {
        self.ways.confirm(code, self.tlbs.tag());
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
        self.tlbs.count_fill(state);
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
                self.jumps.set_tag(self.tlbs.tag());
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

    /// Makes the engine's caches follow the address spaces: what has changed, and which is loaded.
    pub(super) fn invalidate(&mut self, state: &mut EngineState) {
        self.space.give_back();
        let changes = self.space.take_invalidations();
        self.forget(changes, state);
        if self.tlbs.loads(self.space.loaded()) {
            self.forget_lines();
        }
        let placed = self.tlbs.take_lines();
        self.tlbs.load(self.space.loaded(), state);
        if placed {
            self.tlbs.put_lines();
        }
        self.jumps.set_tag(self.tlbs.tag());
    }

    /// Tests whether code was dropped for the store that is about to take place, and forgets it.
    pub(super) fn take_dropped(&mut self) -> bool {
        std::mem::take(&mut self.dropped)
    }

    /// The TLB of lines, if generated code uses one.
    pub(super) fn lines(&self) -> Option<LineTlb> {
        self.tlbs.lines()
    }

    /// Lets generated code use a TLB of lines, or none.
    pub(super) fn use_lines(&mut self, lines: Option<LineTlb>) {
        self.tlbs.use_lines(lines);
    }

    /// Has generated code find that TLB while the guest runs, or no more. Returns whether it has
    /// found it.
    pub(super) fn place_lines(&mut self, runs: bool) -> bool {
        if runs {
            self.tlbs.put_lines();
            return false;
        }
        self.tlbs.take_lines()
    }

    /// Forgets all lines.
    pub(super) fn forget_lines(&mut self) {
        self.tlbs.forget_lines();
    }

    fn forget(&mut self, changes: Vec<Invalidation>, state: &mut EngineState) {
        if changes.is_empty() {
            return;
        }
        self.tlbs.forget_lines();
        let placed = self.tlbs.take_lines();
        let mut flushed = None;
        for change in changes {
            match change {
                Invalidation::Page(space, addr) => self.tlbs.flush_page(space, addr, state),
                Invalidation::Pages(space) if flushed == Some(space) => {}
                Invalidation::Pages(space) => {
                    self.tlbs.flush_space(space, state);
                    flushed = Some(space);
                }
                Invalidation::Stores(space) => self.tlbs.forbid_stores(space),
                Invalidation::Ways(space) => self.tlbs.forget_ways(space),
                Invalidation::AllPages => self.tlbs.flush_all(state),
                Invalidation::Space(space) => self.tlbs.drop_space(space, state),
                Invalidation::AllSpaces => self.tlbs.drop_all(state),
                Invalidation::Code(frame) => {
                    let start = frame.index() as u64 * PAGE_SIZE;
                    state.drop_code(start, start + PAGE_SIZE);
                }
            }
        }
        if placed {
            self.tlbs.put_lines();
        }
    }
}

/// The fault of an access that was denied.
fn fault_of(addr: u64, access: Access, denied: Denied) -> Fault {
    let (write, fetch) = (access == Access::Write, access == Access::Execute);
    match denied {
        _ if !is_canonical(addr) => Fault::Protection { error: 0 },
        Denied::PastEnd => Fault::Bus { addr },
        Denied::Protected => Fault::Page { addr, write, fetch, mapped: true },
        Denied::Unmapped | Denied::OutOfMemory => Fault::Page { addr, write, fetch, mapped: false },
    }
}
