//! Consumer that drives the caches, event by event, in Cachegrind's order.
//!
//! References follow from the execution counts of blocks, so only misses are counted one by one. I1
//! and D1 are independent, but the order of accesses to LL matters. So a block first touches its I1
//! lines; only if one of them misses are fetches and data interleaved exactly.

use crate::hooks::counts::{Counted, Misses};
use crate::hooks::lookout::Miss;
use crate::hooks::numbering::Numbers;
use crate::hooks::plan::Plan;
use crate::hooks::plan_index::{Data, Entry, PlanIndex};
use crate::hooks::record::Header;
use crate::sim::{Geometry, Held, Hierarchy, Line};

/// Data events whose sizes are stored in the block.
const NEAR: usize = 8;

/// Hot part of a plan, one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Block {
    executed: u64,
    /// Age of I1 after its fetches, if all hit. While I1 has this age, fetching them again changes
    /// nothing.
    age: u64,
    /// Its I1 lines, if there are at most two and the block has no special parts.
    near: [Line; 2],
    /// Index of its first line in [`Rest::lines`].
    first_line: u32,
    lines: u32,
    first_event: u32,
    /// Sizes less 1 of the first data events.
    reach: [u8; NEAR],
}

/// Caches and misses.
#[derive(Clone, Debug)]
pub(super) struct CacheConsumer {
    caches: Box<Hierarchy>,
    /// Blocks by the account's numbers of plans.
    blocks: Vec<Block>,
    rest: Rest,
}

#[derive(Clone, Debug, Default)]
struct Rest {
    index: PlanIndex,
    misses: Vec<Misses>,
    /// I1 lines of all blocks, in the order of fetching.
    lines: Vec<Line>,
    /// Instruction that first fetches from each line.
    fetchers: Vec<u16>,
    /// Sizes less 1 of all data events.
    reach: Vec<u8>,
    /// Fetches of the current block that missed I1 and have not yet accessed LL.
    missed: Vec<u32>,
}

impl CacheConsumer {
    pub(super) fn new(caches: Hierarchy) -> CacheConsumer {
        CacheConsumer { caches: Box::new(caches), blocks: Vec::new(), rest: Rest::default() }
    }

    pub(super) fn index(&self) -> &PlanIndex {
        &self.rest.index
    }

    pub(super) fn simulated(&self) -> &Hierarchy {
        &self.caches
    }

    /// The same caches with nothing in them, and no plans.
    pub(super) fn emptied(&self) -> CacheConsumer {
        let Hierarchy { i1, d1, ll } = &*self.caches;
        CacheConsumer::new(Hierarchy::new(i1.geometry(), d1.geometry(), ll.geometry()))
    }

    /// Caches as small as can be in the place of others, and no plans.
    pub(super) fn without_caches(&self) -> CacheConsumer {
        let smallest = |of: Geometry| Geometry::new(2 * u64::from(of.line()), 1, of.line()).unwrap_or(of);
        let Hierarchy { i1, d1, ll } = &*self.caches;
        let [i1, d1, ll] = [i1.geometry(), d1.geometry(), ll.geometry()].map(smallest);
        CacheConsumer::new(Hierarchy::new(i1, d1, ll))
    }

    /// Copies of the caches, and no plans.
    pub(super) fn without_counts(&self) -> CacheConsumer {
        CacheConsumer { caches: self.caches.clone(), blocks: Vec::new(), rest: Rest::default() }
    }

    /// Exchanges the caches.
    pub(super) fn swap_caches(&mut self, other: &mut CacheConsumer) {
        std::mem::swap(&mut self.caches, &mut other.caches);
    }

    pub(super) fn counted(&self) -> Counted {
        let misses = self.rest.misses.iter().zip(0..);
        Counted {
            executed: self.blocks.iter().map(|block| block.executed).collect(),
            misses: misses.filter(|(m, _)| **m != Misses::default()).map(|(m, i)| (i, *m)).collect(),
            repeated: self.rest.index.repeated(),
            ..Counted::default()
        }
    }

    /// Sets the counts; those that are missing are zero.
    pub(super) fn set_counted(&mut self, counted: &Counted) {
        let executed = counted.executed.iter().copied().chain(std::iter::repeat(0));
        for (block, executed) in self.blocks.iter_mut().zip(executed) {
            block.executed = executed;
        }
        self.rest.misses.fill(Misses::default());
        for &(insn, misses) in &counted.misses {
            if let Some(now) = self.rest.misses.get_mut(insn as usize) {
                *now = misses;
            }
        }
        self.rest.index.set_repeated(&counted.repeated);
    }

    /// Contents of the caches.
    pub(super) fn held(&self) -> Held {
        self.caches.held()
    }

    /// True if the caches number their lines as they did when `held` was saved.
    pub(super) fn numbers_lines_as(&self, held: &Held) -> bool {
        self.caches.numbers_lines_as(held)
    }

    /// The caches hold what they held before.
    pub(super) fn hold(&mut self, held: &Held) {
        self.caches.hold(held);
        // I1 goes back to an earlier age, which will come again with other contents.
        self.blocks.iter_mut().for_each(|block| block.age = 0);
    }

    /// Adds the plan with the next number; `whole` is the number of the plan that it is a prefix
    /// of.
    pub(super) fn add_plan(&mut self, plan: &Plan, whole: Option<usize>) {
        let shift = self.caches.i1.line_shift();
        let rest = &mut self.rest;
        let clip = u16::try_from(self.caches.min_line()).unwrap_or(u16::MAX);
        let entry = rest.index.add(plan, whole, clip).clone();
        let first_line = rest.lines.len();
        let mut before = None;
        for (i, insn) in plan.insns.iter().enumerate() {
            let last_byte = insn.pc.wrapping_add(u64::from(insn.len).max(1) - 1);
            for line in [insn.pc >> shift, last_byte >> shift] {
                if before.replace(line) != Some(line) {
                    rest.lines.push(self.caches.i1.line(line));
                    rest.fetchers.push(i as u16);
                }
            }
        }
        let near = match (&entry.special, &rest.lines[first_line..]) {
            (None, []) => [self.caches.i1.none(); 2],
            (None, &[line]) => [line; 2],
            (None, &[first, second]) => [first, second],
            _ => [Line::UNKNOWN; 2],
        };
        let reach = rest.index.events(&entry).iter().map(|event| event.size.saturating_sub(1).min(255) as u8);
        rest.reach.extend(reach);
        let mut first_reach = [0; NEAR];
        for (near, reach) in first_reach.iter_mut().zip(&rest.reach[entry.first_event as usize..]) {
            *near = *reach;
        }
        self.blocks.push(Block {
            executed: 0,
            age: 0,
            near,
            first_line: first_line as u32,
            lines: (rest.lines.len() - first_line) as u32,
            first_event: entry.first_event,
            reach: first_reach,
        });
        rest.misses.resize(rest.index.insns.len(), Misses::default());
    }

    /// Walks records to the first whose plan has no number. Returns the number of their
    /// instructions and the words that are left.
    pub(super) fn walk<'w>(&mut self, words: &'w [u64], numbers: impl Numbers) -> (u64, &'w [u64]) {
        // A constant for the usual line size saves a few instructions per event.
        match self.caches.d1.line_shift() {
            6 => self.walk_lines(words, numbers, 6),
            shift => self.walk_lines(words, numbers, shift),
        }
    }

    /// Walks one record, and notes its misses: the index of each instruction, its address, and the
    /// kind.
    pub(super) fn walk_noting(
        &mut self,
        record: &[u64],
        numbers: impl Numbers,
        note: &mut dyn FnMut(Option<usize>, u64, Miss),
    ) {
        let id = record.first().map_or(0, |&word| numbers.number(Header::of(word).plan));
        let insns = self.rest.index.entries.get(id).map_or(0..0, Entry::insns);
        let before = self.rest.misses.get(insns.clone()).unwrap_or_default().to_vec();
        self.walk(record, numbers);
        let now = self.rest.misses.get(insns.clone()).unwrap_or_default();
        if now == before {
            return;
        }
        let pcs = self.rest.index.insns.get(insns).unwrap_or_default();
        for (index, ((now, before), insn)) in now.iter().zip(&before).zip(pcs).enumerate() {
            for (now, before, miss) in [
                (now.i1mr, before.i1mr, Miss::FetchL1),
                (now.ilmr, before.ilmr, Miss::FetchLl),
                (now.d1mr, before.d1mr, Miss::LoadL1),
                (now.dlmr, before.dlmr, Miss::LoadLl),
                (now.d1mw, before.d1mw, Miss::StoreL1),
                (now.dlmw, before.dlmw, Miss::StoreLl),
            ] {
                if now != before {
                    note(Some(index), insn.pc, miss);
                }
            }
        }
    }

    #[inline(always)]
    fn walk_lines<'w>(
        &mut self,
        mut words: &'w [u64],
        numbers: impl Numbers,
        shift: u32,
    ) -> (u64, &'w [u64]) {
        let CacheConsumer { caches, blocks, rest } = self;
        let (caches, blocks) = (&mut **caches, blocks.as_mut_slice());
        let mut instructions = 0;
        while let Some((&word, tail)) = words.split_first() {
            let header = Header::of(word);
            let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
            let id = numbers.number(header.plan);
            let Some(block) = blocks.get_mut(id) else { break };
            words = next;
            instructions += header.instructions;
            block.executed += 1;
            if block.age != caches.i1.age() {
                if caches.i1.hit_both(block.near) {
                    block.age = caches.i1.age();
                } else if !rest.fetch(id, block, slots, caches) {
                    continue;
                }
            }
            let first = block.first_event as usize;
            if slots.len() <= NEAR {
                let mut reach = u64::from_le_bytes(block.reach);
                let mut done = 0;
                while let Some(&address) = slots.get(done) {
                    let line = address >> shift;
                    let last = address.wrapping_add(reach & 0xff) >> shift;
                    reach >>= 8;
                    if line != last || !caches.d1.is_mru(line) {
                        rest.access(caches, first + done, address);
                    }
                    done += 1;
                }
            } else {
                rest.many(caches, first, slots, shift);
            }
        }
        (instructions, words)
    }
}

impl Rest {
    /// Touches the lines of a block that has special parts, many lines or a line that may miss.
    /// Returns true if the data of the block, one event per slot, are still to be accessed.
    #[inline(never)]
    fn fetch(&mut self, id: usize, block: &mut Block, slots: &[u64], caches: &mut Hierarchy) -> bool {
        for i in 0..block.lines {
            let at = (block.first_line + i) as usize;
            let (Some(&line), Some(&fetcher)) = (self.lines.get(at), self.fetchers.get(at)) else { break };
            if !caches.i1.touch(line) {
                self.note_miss(id, fetcher);
            }
        }
        if self.missed.is_empty() && self.index.entries[id].special.is_none() {
            block.age = caches.i1.age();
            return true;
        }
        self.special(id, slots, caches);
        false
    }

    /// Records a miss of a fetch. An instruction across two lines misses once.
    #[cold]
    fn note_miss(&mut self, id: usize, fetcher: u16) {
        let insn = self.index.entries[id].first_insn + u32::from(fetcher);
        if self.missed.last() != Some(&insn) {
            self.missed.push(insn);
        }
    }

    /// Accesses the data of a block with more than [`NEAR`] events.
    #[inline(never)]
    fn many(&mut self, caches: &mut Hierarchy, first: usize, slots: &[u64], shift: u32) {
        for (i, &address) in slots.iter().enumerate() {
            let Some(&reach) = self.reach.get(first + i) else { return };
            let line = address >> shift;
            if line != address.wrapping_add(u64::from(reach)) >> shift || !caches.d1.is_mru(line) {
                self.access(caches, first + i, address);
            }
        }
    }

    /// Accesses data that is not in the most recently used line of its set.
    #[inline(never)]
    fn access(&mut self, caches: &mut Hierarchy, event: usize, address: u64) {
        let Some(event) = self.index.data.get(event) else { return };
        access(caches, event, address, &mut self.misses);
    }

    /// Interleaves fetches and data of a block that has special parts or missed a fetch.
    #[inline(never)]
    fn special(&mut self, id: usize, slots: &[u64], caches: &mut Hierarchy) {
        let PlanIndex { entries, insns, data } = &mut self.index;
        let entry: &mut Entry = &mut entries[id];
        let iterates = entry.repeat(slots);
        let last = entry.last_insn();
        let mut missed = self.missed.iter().copied().peekable();
        let fetch = |caches: &mut Hierarchy, insn: u32, misses: &mut [Misses]| {
            let planned = insns[insn as usize];
            let count = &mut misses[insn as usize];
            count.i1mr += 1;
            count.ilmr += u64::from(caches.ll_access(planned.pc, u32::from(planned.len)));
        };
        for event in &data[entry.first_event as usize..][..entry.events as usize] {
            while let Some(insn) = missed.next_if(|&insn| insn <= event.insn) {
                fetch(caches, insn, &mut self.misses);
            }
            if event.insn == last && !iterates {
                continue;
            }
            let Some(&base) = slots.get(usize::from(event.slot)) else { continue };
            access(caches, event, base.wrapping_add(u64::from(event.offset)), &mut self.misses);
        }
        for insn in missed {
            fetch(caches, insn, &mut self.misses);
        }
        self.missed.clear();
    }
}

/// Accesses D1, and LL after a miss.
#[inline(always)]
fn access(caches: &mut Hierarchy, event: &Data, address: u64, misses: &mut [Misses]) {
    let size = u32::from(event.size);
    if caches.d1.access(address, size) {
        let ll = u64::from(caches.ll_access(address, size));
        let count = &mut misses[event.insn as usize];
        if event.write {
            count.d1mw += 1;
            count.dlmw += ll;
        } else {
            count.d1mr += 1;
            count.dlmr += ll;
        }
    }
}
