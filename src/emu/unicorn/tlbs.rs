//! The engine's TLBs: one for each address space that has run lately.
//!
//! The engine has one TLB, whose parts (`CPUTLB`) lie before the registers and point to tables of
//! its own allocator. Those of the loaded address space are there; a switch puts them away as they
//! are and puts others in their place, so that it costs neither the flush of a table nor the fills
//! after it. What else the engine keeps belongs to no address space but for these:
//!
//! - `tb_jmp_cache`, blocks by address, is cleared at a switch, as at every flush.
//! - Chained jumps lie within a page, whose frame the block was found by, and never lead to a block
//!   that spans two pages (`tb_find`). Those that we make to other pages are for one [`Tag`].
//! - A block that spans two pages is compared with the frames of both when it is looked up.
//! - `uc->last_tb` is for a hook that we do not use. The last block of `cpu_exec` does not outlive
//!   a system call, which leaves it with `tcg_gen_exit_tb(NULL)`, nor a start.
#![allow(unsafe_code)]

use std::ffi::c_void;

use crate::emu::unicorn::engine_state::EngineState;
use crate::emu::unicorn::ffi;
use crate::emu::unicorn::line_tlb::{LineTlb, SPARE, STORES, fast};
use crate::guest::SpaceId;

/// Number of MMU modes, each with a TLB of its own.
const MODES: usize = 3;

/// Words of `CPUTLB`, and the word before the registers at which it begins.
const WORDS: usize = 272;
const BEFORE_REGISTERS: usize = 274;

/// Words of `CPUTLB` by their place: the modes that are not flushed (16 bits), the slow parts
/// (`CPUTLBDesc`) and the fast ones (`CPUTLBDescFast`).
const DIRTY: usize = 0;
const SLOW: usize = 4;
const SLOW_WORDS: usize = 87;
const FAST: usize = 266;
const FAST_WORDS: usize = 2;

/// Word of the fast part whose place the TLB of lines takes.
const SPARE_FAST: usize = FAST + FAST_WORDS * SPARE;

// The words that the TLB of lines has are between the parts and the registers, and not
// `IcountDecr`.
const _: () = assert!(BEFORE_REGISTERS == FAST + FAST_WORDS * MODES + 2 && STORES == -8);

// Generated code finds the fast parts before the registers.
const _: () = assert!(fast(0) == 8 * (FAST as isize - BEFORE_REGISTERS as isize));

/// Words of `CPUTLBDesc`: the region of large pages, the start of the window of use statistics and
/// most entries used in it, entries in use, the next victim, the victims and the table of the
/// pages' physical sections.
const LARGE_PAGES: usize = 0;
const WINDOW_BEGIN: usize = 2;
const WINDOW_MAX: usize = 3;
const USED: usize = 4;
const VICTIM: usize = 5;
const VICTIMS: usize = 6;
const SECTIONS: usize = 86;

/// Words of `CPUTLBDescFast`: the size in bytes less that of an entry, and the table.
const MASK: usize = 0;
const TABLE: usize = 1;

/// Words of `CPUTLBEntry`, and the one that is compared with the address of a store.
const ENTRY_WORDS: usize = 8;
const ENTRY_WRITE: usize = 1;
const VICTIM_ENTRIES: usize = 8;

/// Mask of a new TLB, which has 256 entries.
const FIRST_MASK: u64 = 0x3fc0;

/// Entries up to which a TLB is made to grow.
const LARGEST: u64 = 1 << 15;

/// Entries up to which a TLB whose every entry is forgotten is kept; a larger one is made anew.
const CHEAP: u64 = 1 << 10;

/// Bytes of an entry in both tables, and bytes that the tables of TLBs that are not loaded may
/// take.
const ENTRY_BYTES: u64 = 80;
const KEPT_BYTES: u64 = 64 << 20;

/// Start of a window that never ends by the host's time, so that no TLB shrinks.
const NO_WINDOW: u64 = i64::MAX as u64 - (1 << 30);

/// Number of a state of an address space in which executable pages come to be, but none changes:
/// what was once found out about the way from one block to another stays true as long as the tag
/// does.
pub(super) type Tag = u64;

/// The parts of a TLB, `CPUTLB`.
type Parts = [u64; WORDS];

/// Counts of fills, by which a TLB is made to grow.
#[derive(Clone, Copy, Debug)]
struct Growth {
    fills: u64,
    /// Number of fills at which the TLB grows next.
    next: u64,
}

impl Growth {
    const NEW: Growth = Growth { fills: 0, next: 1024 };
}

/// Bytes of a TLB's tables.
fn table_bytes(parts: &Parts) -> u64 {
    (0..MODES).map(|mode| entries(parts, mode) * ENTRY_BYTES).sum()
}

/// Number of entries of a mode.
fn entries(parts: &Parts, mode: usize) -> u64 {
    (parts[FAST + FAST_WORDS * mode + MASK] >> 6) + 1
}

/// Takes the permissions to store away.
///
/// # Safety
/// The parts are those of a TLB, and nobody else accesses its tables.
unsafe fn forbid_stores(parts: &mut Parts) {
    for mode in 0..MODES {
        if parts[DIRTY] & 1 << mode == 0 {
            continue;
        }
        let table = parts[FAST + FAST_WORDS * mode + TABLE] as *mut u64;
        for entry in 0..entries(parts, mode) as usize {
            // SAFETY: the table has so many entries of `ENTRY_WORDS` words. With all ones as the
            // address for stores no store finds the entry.
            unsafe { *table.add(ENTRY_WORDS * entry + ENTRY_WRITE) = u64::MAX };
        }
        let victims = SLOW + SLOW_WORDS * mode + VICTIMS;
        for entry in 0..VICTIM_ENTRIES {
            parts[victims + ENTRY_WORDS * entry + ENTRY_WRITE] = u64::MAX;
        }
    }
}

/// Frees the tables of a TLB.
///
/// # Safety
/// Nobody uses them any more.
unsafe fn free_tables(parts: &Parts) {
    for mode in 0..MODES {
        let table = parts[FAST + FAST_WORDS * mode + TABLE];
        let sections = parts[SLOW + SLOW_WORDS * mode + SECTIONS];
        for pointer in [table, sections] {
            // SAFETY: the engine allocated it with `g_malloc`, which is the C library's `malloc`,
            // and frees it likewise.
            unsafe { ffi::free(pointer as *mut c_void) };
        }
    }
}

/// The TLB of an address space that is not loaded. It owns its tables.
struct Kept {
    space: SpaceId,
    parts: Box<Parts>,
    growth: Growth,
    tag: Tag,
    /// Its entries are to be forgotten before it is used again.
    stale: bool,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: only the parts that are in the engine are used, and `Tlbs::load` takes the parts
        // that it puts there out of their `Kept`.
        unsafe { free_tables(&self.parts) }
    }
}

/// The TLBs of all address spaces.
pub(super) struct Tlbs {
    /// `CPUTLB` in the engine.
    engine: *mut Parts,
    /// The address space whose TLB that is.
    loaded: SpaceId,
    /// It is no more, so its TLB is not kept.
    gone: bool,
    growth: Growth,
    /// Its tag; generated code reads this word.
    tag: Tag,
    last_tag: Tag,
    /// The others, that which was used last at the end.
    kept: Vec<Kept>,
    /// The TLB of lines, if generated code uses one.
    lines: Option<LineTlb>,
    /// The engine's own parts of the spare mode, while the TLB of lines is in their place.
    spare: Option<[u64; FAST_WORDS]>,
}

impl Tlbs {
    /// Finds the TLB of a new engine, and compares it with what a new one must be.
    ///
    /// # Errors
    /// When the engine's TLB is not where it should be.
    pub(super) fn find(state: &EngineState, loaded: SpaceId) -> Result<Tlbs, String> {
        // SAFETY: `env` is embedded in a much larger CPU object, in which so many words lie before
        // it.
        let engine = unsafe { state.env_start().sub(BEFORE_REGISTERS) }.cast::<Parts>();
        // SAFETY: as above; the engine does not run.
        let parts = unsafe { &*engine };
        for mode in 0..MODES {
            let slow = &parts[SLOW + SLOW_WORDS * mode..][..SLOW_WORDS];
            let victims = &slow[VICTIMS..][..ENTRY_WORDS * VICTIM_ENTRIES];
            let is_new = slow[LARGE_PAGES..WINDOW_BEGIN] == [u64::MAX; 2]
                && slow[WINDOW_MAX..=VICTIM] == [0; 3]
                && victims.iter().all(|word| *word == u64::MAX)
                && slow[SECTIONS] != 0;
            let fast = &parts[FAST + FAST_WORDS * mode..][..FAST_WORDS];
            if !is_new || fast[MASK] != FIRST_MASK || fast[TABLE] == 0 {
                return Err("the TLB is not where it should be".into());
            }
        }
        let mut tlbs = Tlbs {
            engine,
            loaded,
            gone: false,
            growth: Growth::NEW,
            tag: 1,
            last_tag: 1,
            kept: Vec::new(),
            lines: None,
            spare: None,
        };
        tlbs.never_shrink();
        Ok(tlbs)
    }

    /// Lets generated code use a TLB of lines, where it is put into its place.
    pub(super) fn use_lines(&mut self, lines: Option<LineTlb>) {
        self.take_lines();
        self.lines = lines;
    }

    /// The TLB of lines, if generated code uses one.
    pub(super) fn lines(&self) -> Option<LineTlb> {
        self.lines
    }

    /// Forgets all lines.
    pub(super) fn forget_lines(&mut self) {
        if let Some(lines) = self.lines {
            lines.forget();
        }
    }

    /// Puts the TLB of lines in the place of the spare mode's, as it must be while the guest runs.
    /// The engine must find its own parts when it changes them.
    pub(super) fn put_lines(&mut self) {
        let Some(lines) = self.lines.filter(|_| self.spare.is_none()) else { return };
        // SAFETY: the engine uses no part of the word, as `STORES` says.
        unsafe { *self.engine.cast::<u64>().add(BEFORE_REGISTERS - 1) = lines.stores() };
        let mut parts = lines.fast();
        parts.swap_with_slice(&mut self.parts()[SPARE_FAST..][..FAST_WORDS]);
        self.spare = Some(parts);
    }

    /// Puts the engine's own parts back. Returns whether they were not there.
    pub(super) fn take_lines(&mut self) -> bool {
        let spare = self.spare.take();
        if let Some(spare) = spare {
            self.parts()[SPARE_FAST..][..FAST_WORDS].copy_from_slice(&spare);
        }
        spare.is_some()
    }

    /// The parts of the loaded TLB.
    fn parts(&mut self) -> &mut Parts {
        // SAFETY: `find` has found them there; the engine accesses them only while it runs, and not
        // while a callback of it, or whoever runs it, is in here.
        unsafe { &mut *self.engine }
    }

    /// Tag of the loaded address space.
    pub(super) fn tag(&self) -> Tag {
        self.tag
    }

    /// The word that holds it. It does not move while the virtual CPU does not.
    pub(super) fn tag_word(&self) -> *const u64 {
        &raw const self.tag
    }

    fn new_tag(&mut self) -> Tag {
        self.last_tag += 1;
        self.last_tag
    }

    /// Keeps the engine from choosing a smaller size by the host's time.
    fn never_shrink(&mut self) {
        for mode in 0..MODES {
            self.parts()[SLOW + SLOW_WORDS * mode + WINDOW_BEGIN] = NO_WINDOW;
        }
    }

    /// Counts a fill; after many for its size, makes the TLB grow by a flush. The engine resizes it
    /// only then.
    pub(super) fn count_fill(&mut self, state: &mut EngineState) {
        self.growth.fills += 1;
        if self.growth.fills < self.growth.next {
            return;
        }
        let placed = self.take_lines();
        let parts = self.parts();
        for mode in 0..MODES {
            let size = entries(parts, mode);
            let slow = &mut parts[SLOW + SLOW_WORDS * mode..];
            if size < LARGEST && slow[USED] > 0 {
                slow[WINDOW_MAX] = size;
            }
        }
        state.flush_tlb();
        self.never_shrink();
        let parts = self.parts();
        let largest = (0..MODES).map(|mode| entries(parts, mode)).max().unwrap_or(LARGEST);
        let fills = self.growth.fills;
        self.growth.next = if largest >= LARGEST { u64::MAX } else { fills + 4 * largest };
        if placed {
            self.put_lines();
        }
    }

    /// Tests whether [`Tlbs::load`] changes the TLB.
    pub(super) fn loads(&self, space: SpaceId) -> bool {
        space != self.loaded
    }

    /// Makes the TLB of an address space the engine's.
    pub(super) fn load(&mut self, space: SpaceId, state: &mut EngineState) {
        let gone = std::mem::take(&mut self.gone);
        if space == self.loaded {
            return;
        }
        let at = self.kept.iter().rposition(|kept| kept.space == space);
        let next = at.map(|at| self.kept.remove(at));
        let kept = Kept {
            space: self.loaded,
            parts: Box::new(*self.parts()),
            growth: self.growth,
            tag: self.tag,
            stale: false,
        };
        if gone {
            // The engine gets other tables before it runs again.
            drop(kept);
        } else {
            self.kept.push(kept);
        }
        self.loaded = space;
        let stale = match next {
            Some(mut next) => {
                // The tables are the engine's from here on, and `next` keeps those of none.
                std::mem::swap(self.parts(), &mut next.parts);
                next.parts.fill(0);
                (self.growth, self.tag) = (next.growth, next.tag);
                next.stale
            }
            None => {
                self.make(state);
                false
            }
        };
        if stale {
            self.flush(state);
        } else {
            // With no mode to flush, the engine only clears its cache of blocks by address.
            let dirty = std::mem::take(&mut self.parts()[DIRTY]);
            state.flush_tlb();
            self.parts()[DIRTY] = dirty;
        }
        self.shed();
    }

    /// Puts a new TLB in the place of the engine's, whose tables are kept or freed already.
    fn make(&mut self, state: &mut EngineState) {
        state.new_tlb();
        self.never_shrink();
        self.growth = Growth::NEW;
        self.tag = self.new_tag();
    }

    /// Drops TLBs that were not used for long, while all of them take too much.
    fn shed(&mut self) {
        let mut bytes: u64 = self.kept.iter().map(|kept| table_bytes(&kept.parts)).sum();
        let mut dropped = 0;
        while bytes > KEPT_BYTES && dropped < self.kept.len() {
            bytes -= table_bytes(&self.kept[dropped].parts);
            dropped += 1;
        }
        self.kept.drain(..dropped);
    }

    /// Forgets the entries of the loaded TLB.
    pub(super) fn flush(&mut self, state: &mut EngineState) {
        state.flush_tlb();
        self.never_shrink();
    }

    /// Forgets the entries of all TLBs.
    pub(super) fn flush_all(&mut self, state: &mut EngineState) {
        self.flush(state);
        self.kept.iter_mut().for_each(|kept| kept.stale = true);
    }

    /// Forgets the entry of a page.
    pub(super) fn flush_page(&mut self, space: SpaceId, addr: u64, state: &mut EngineState) {
        if space == self.loaded {
            state.flush_page(addr);
        } else if let Some(kept) = self.kept(space) {
            kept.stale = true;
        }
    }

    /// Forgets the entries of an address space of which many pages are gone.
    pub(super) fn flush_space(&mut self, space: SpaceId, state: &mut EngineState) {
        if space != self.loaded {
            if let Some(kept) = self.kept(space) {
                kept.stale = true;
            }
        } else if table_bytes(self.parts()) > MODES as u64 * CHEAP * ENTRY_BYTES {
            // SAFETY: the engine gets new tables before it runs again.
            unsafe { free_tables(self.parts()) };
            self.make(state);
            state.flush_tlb();
        } else {
            self.flush(state);
        }
    }

    /// Takes the permissions to store in an address space away.
    pub(super) fn forbid_stores(&mut self, space: SpaceId) {
        if space == self.loaded {
            // SAFETY: the engine does not run.
            unsafe { forbid_stores(self.parts()) };
        } else if let Some(kept) = self.kept(space) {
            // SAFETY: the tables belong to the parts.
            unsafe { forbid_stores(&mut kept.parts) };
        }
    }

    /// Gives an address space another tag.
    pub(super) fn forget_ways(&mut self, space: SpaceId) {
        let tag = self.new_tag();
        if space == self.loaded {
            self.tag = tag;
        } else if let Some(kept) = self.kept(space) {
            kept.tag = tag;
        }
    }

    /// Drops the TLB of an address space that is no more.
    pub(super) fn drop_space(&mut self, space: SpaceId, state: &mut EngineState) {
        self.kept.retain(|kept| kept.space != space);
        if space == self.loaded {
            self.flush_space(space, state);
            self.tag = self.new_tag();
            self.gone = true;
        }
    }

    /// Forgets all that is known of every address space.
    pub(super) fn drop_all(&mut self, state: &mut EngineState) {
        self.kept.clear();
        self.drop_space(self.loaded, state);
    }

    fn kept(&mut self, space: SpaceId) -> Option<&mut Kept> {
        self.kept.iter_mut().rev().find(|kept| kept.space == space)
    }
}
