//! The walk over records. It drives the simulators of a part event by event, in Cachegrind's order.
//!
//! References follow from the execution counts of blocks, so only misses are counted one by one. I1
//! and D1 are independent, but the order of accesses to LL matters. So a block first touches its I1
//! lines; only if one of them misses are fetches and data interleaved exactly. What misses goes on
//! a list, from which LL is accessed in that order. The address at which the next record begins
//! decides a branch.

use crate::hooks::counts::{Kind, Misses};
use crate::hooks::deferred::{Deferred, Lent, Reading};
use crate::hooks::last_level::{self, Below, TOGETHER};
use crate::hooks::lookout::Miss;
use crate::hooks::misses_below::{MissesOf, Origin, RecordMiss};
use crate::hooks::numbering::{self, Ids, Numbering, Numbers};
use crate::hooks::part::{Block, NEAR, Part, Rest, Simulated, ToldLevels};
use crate::hooks::plan_index::{Data, Ends, Entry, PlanIndex};
use crate::hooks::predictors::Predictors;
use crate::hooks::record::{Header, MISSED, Mispredicted};
use crate::sim::{Cache, Hierarchy};
use crate::x86::cost::Repeat;

/// Records that are looked up before the first of them is simulated, so that their blocks are on
/// the way to the host's cache together.
const BATCH: usize = 32;

/// Record that was looked up.
#[derive(Clone, Copy)]
struct Found<'b> {
    block: &'b Block,
    /// Number of its plan.
    id: u32,
    mispredicted: Mispredicted,
    slots: &'b [u64],
}

/// Accesses to LL from which on they are put off together: with those of one more batch, a list
/// seldom needs more room than for 4,096.
const PUT_OFF: usize = 3072;

impl Part {
    /// Walks records to the first whose plan has no number. Returns the number of their
    /// instructions and the words that are left. Accesses to LL may be put off; LL and the counts
    /// of misses are not here then until [`Self::recall`].
    pub(super) fn walk<'w>(
        &mut self,
        words: &'w [u64],
        numbering: &Numbering,
        reading: Option<Reading>,
    ) -> (u64, &'w [u64]) {
        let deferred = reading.and_then(|reading| reading.deferred);
        match numbering.numbers() {
            None => self.walk_numbered::<false>(words, Ids, deferred),
            Some(own) => self.walk_numbered::<false>(words, own, deferred),
        }
    }

    /// Takes LL and the counts of misses back, when all accesses that were put off have been made.
    pub(super) fn recall(&mut self, deferred: &Deferred) {
        if self.rest.lent
            && let Some(Lent::LastLevel(lent)) = deferred.recall()
        {
            self.rest.take_back(lent, &mut self.caches.ll);
            self.rest.access_below(&mut self.caches.ll);
        }
    }

    /// Walks records as those of the plans with these numbers, and logs their misses.
    pub(super) fn walk_logging(&mut self, words: &[u64], numbers: &[u32]) {
        self.walk_numbered::<true>(words, numbering::Found(numbers.iter()), None);
    }

    /// Tells if it simulates neither branches nor the first level of caches, so that all that a
    /// record tells, but for what is noted in it, is that its block was executed.
    pub(super) fn counts_only(&self) -> bool {
        let Simulated { caches, branches, told } = self.simulated;
        !(caches && told.levels == ToldLevels::None || branches && !told.branches)
    }

    /// Counts records of blocks as [`Self::walk_logging`] does where it simulates neither branches
    /// nor the first level, which the records have `missed`. Those that something is `noted` in are
    /// in these words, up to the end of the buffer.
    pub(super) fn count_logging(
        &mut self,
        words: &[u64],
        blocks: &[u32],
        noted: &[[u32; 2]],
        missed: MissesOf,
    ) {
        for &block in blocks {
            if let Some(executed) = self.executed.get_mut(block as usize) {
                *executed += 1;
            }
        }
        let mut left_over = missed.list;
        for &[record, left] in noted {
            let at = words.len().wrapping_sub(left as usize);
            let Some((&word, tail)) = words.get(at..).and_then(<[u64]>::split_first) else { continue };
            let Some(&id) = blocks.get((record as usize).wrapping_sub(1)) else { continue };
            let Some(block) = self.blocks.get(id as usize) else { continue };
            let (header, mispredicted) = (Header::of(word), Mispredicted::of(word));
            let slots = tail.get(..header.slots).unwrap_or_default();
            self.rest.log.record = record;
            if mispredicted != Mispredicted::default() {
                self.rest.note_mispredicted(id as usize, block, mispredicted);
            }
            if !block.plain
                && !slots.is_empty()
                && let Some(entry) = self.rest.index.entries.get_mut(id as usize)
            {
                entry.repeat(slots);
            }
            if word & MISSED != 0 {
                left_over = self.rest.list_missed(id as usize, (missed.first + at, record), left_over);
            }
        }
        self.rest.access_below(&mut self.caches.ll);
    }

    /// Decides the branch that waits for the next record, which begins at `pc`, and logs its
    /// misprediction.
    pub(super) fn decide(&mut self, pc: u64) {
        let Part { simulated, predictors, blocks, rest, previous, .. } = self;
        let before = previous.take().and_then(|id| blocks.get(id));
        let decides = simulated.branches && !simulated.told.branches;
        let Some(before) = before.filter(|before| decides && before.ends != Ends::None) else { return };
        let missed = if before.ends == Ends::Conditional {
            predictors.conditional.record(u64::from(before.branch), pc != before.decides)
        } else {
            rest.resolve(before, pc, predictors)
        };
        before.mispredicted.update(|mispredicted| mispredicted + u64::from(missed));
        rest.log.mispredicted::<true>(before.ends, missed);
    }

    fn walk_numbered<'w, const LOG: bool>(
        &mut self,
        words: &'w [u64],
        numbers: impl Numbers,
        deferred: Option<&Deferred>,
    ) -> (u64, &'w [u64]) {
        let Simulated { caches, branches, told } = self.simulated;
        let (caches, branches) = (caches && told.levels == ToldLevels::None, branches && !told.branches);
        // A constant for the usual line size saves a few instructions per event.
        match (caches, branches, self.caches.d1.line_shift()) {
            (true, true, 6) => self.walk_with(words, numbers, deferred, simulate::<true, true, 6, LOG>),
            (true, true, _) => self.walk_with(words, numbers, deferred, simulate::<true, true, 0, LOG>),
            (true, false, 6) => self.walk_with(words, numbers, deferred, simulate::<true, false, 6, LOG>),
            (true, false, _) => self.walk_with(words, numbers, deferred, simulate::<true, false, 0, LOG>),
            (false, true, _) => self.walk_with(words, numbers, deferred, simulate::<false, true, 0, LOG>),
            (false, false, _) => self.walk_with(words, numbers, deferred, simulate::<false, false, 0, LOG>),
        }
    }

    #[inline(always)]
    fn walk_with<'w>(
        &mut self,
        mut words: &'w [u64],
        mut numbers: impl Numbers,
        deferred: Option<&Deferred>,
        simulate: impl for<'b> Fn(
            &[Found<'b>],
            &'b Block,
            &mut Hierarchy,
            &mut Predictors,
            &mut Rest,
        ) -> &'b Block,
    ) -> (u64, &'w [u64]) {
        let Part { caches, predictors, blocks, rest, previous, .. } = self;
        let nothing = Block::nothing();
        let mut before = previous.and_then(|id| blocks.get(id)).unwrap_or(&nothing);
        let mispredicted = Mispredicted::default();
        let mut batch = [Found { block: &nothing, id: 0, mispredicted, slots: &[] }; BATCH];
        let mut instructions = 0;
        loop {
            let (found, count, next) = look_up(words, blocks, &mut numbers, &mut batch);
            (words, instructions) = (next, instructions + count);
            before = simulate(found, before, caches, predictors, rest);
            if let Some(last) = found.last() {
                *previous = Some(last.id as usize);
            }
            match deferred {
                Some(deferred) if rest.below.len() >= PUT_OFF => {
                    if !rest.lent {
                        deferred.lend(Lent::LastLevel(rest.lend(&mut caches.ll)));
                    }
                    deferred.put_off_below(&mut rest.below);
                }
                None if rest.below.len() >= TOGETHER => rest.access_below(&mut caches.ll),
                _ => {}
            }
            if found.len() < BATCH || words.is_empty() {
                break;
            }
        }
        if !rest.lent {
            rest.access_below(&mut caches.ll);
        }
        (instructions, words)
    }

    /// Walks one record, and notes its misses: the index of each instruction, or none for the end
    /// of the record before, its address, and the kind.
    pub(super) fn walk_noting(
        &mut self,
        record: &[u64],
        numbering: &Numbering,
        note: &mut dyn FnMut(Option<usize>, u64, Miss),
    ) {
        let plan = record.first().map(|&word| Header::of(word).plan);
        let id = plan.and_then(|plan| numbering.get(plan, self.blocks.len()));
        self.noting(id, |part| _ = part.walk(record, numbering, None), note);
    }

    /// Calls `walk`, which walks at most one record, of the block with this number, and notes its
    /// misses as [`Part::walk_noting`].
    pub(super) fn noting(
        &mut self,
        id: Option<usize>,
        walk: impl FnOnce(&mut Part),
        note: &mut dyn FnMut(Option<usize>, u64, Miss),
    ) {
        let insns = id.and_then(|id| self.rest.index.entries.get(id)).map_or(0..0, Entry::insns);
        let previous = self.previous;
        let ended = |part: &Part| {
            previous.and_then(|id| part.blocks.get(id)).map_or(0, |block| block.mispredicted.get())
        };
        let before = ended(self);
        let misses: Vec<Misses> = insns.clone().map(|insn| *self.rest.misses.get(insn)).collect();
        let mispredicted: Vec<u64> = insns.clone().map(|insn| *self.rest.mispredicted.get(insn)).collect();
        walk(self);
        if ended(self) != before
            && let Some(entry) = previous.and_then(|id| self.rest.index.entries.get(id))
            && let Some(last) = self.rest.index.insns.get(entry.last_insn() as usize)
        {
            let miss = if entry.ends == Ends::Indirect { Miss::Indirect } else { Miss::Conditional };
            note(None, last.pc(), miss);
        }
        let pcs = self.rest.index.insns.get(insns.clone()).unwrap_or_default();
        let now = insns.clone().map(|insn| self.rest.misses.get(insn));
        for (index, ((now, before), insn)) in now.zip(&misses).zip(pcs).enumerate() {
            for (now, before, miss) in [
                (now.i1mr, before.i1mr, Miss::FetchL1),
                (now.ilmr, before.ilmr, Miss::FetchLl),
                (now.d1mr, before.d1mr, Miss::LoadL1),
                (now.dlmr, before.dlmr, Miss::LoadLl),
                (now.d1mw, before.d1mw, Miss::StoreL1),
                (now.dlmw, before.dlmw, Miss::StoreLl),
            ] {
                if now != before {
                    note(Some(index), insn.pc(), miss);
                }
            }
        }
        let now = insns.map(|insn| self.rest.mispredicted.get(insn));
        for (index, ((now, before), insn)) in now.zip(&mispredicted).zip(pcs).enumerate() {
            if now != before {
                note(Some(index), insn.pc(), Miss::Conditional);
            }
        }
    }
}

/// Looks up records, to the first whose plan has no number, and counts them. Returns them, the
/// number of their instructions and the words that are left.
#[inline(never)]
fn look_up<'a, 'b, 'w: 'b>(
    mut words: &'w [u64],
    blocks: &'b [Block],
    numbers: &mut impl Numbers,
    batch: &'a mut [Found<'b>; BATCH],
) -> (&'a [Found<'b>], u64, &'w [u64]) {
    let (mut count, mut instructions) = (0, 0);
    for place in batch.iter_mut() {
        let Some((&word, tail)) = words.split_first() else { break };
        let header = Header::of(word);
        let Some((slots, next)) = tail.split_at_checked(header.slots) else { break };
        let id = numbers.number(header.plan);
        let Some(block) = blocks.get(id) else { break };
        words = next;
        instructions += header.instructions;
        // Has the host fetch the block, which all that follows waits for.
        block.executed.update(|executed| executed + 1);
        *place = Found { block, id: id as u32, mispredicted: Mispredicted::of(word), slots };
        count += 1;
    }
    (batch.get(..count).unwrap_or_default(), instructions, words)
}

/// Simulates records that follow one of the block `before`. Returns the block of the last one. A
/// `SHIFT` of 0 stands for any size of lines.
#[inline(never)]
fn simulate<'b, const CACHES: bool, const BRANCHES: bool, const SHIFT: u32, const LOG: bool>(
    found: &[Found<'b>],
    mut before: &'b Block,
    caches: &mut Hierarchy,
    predictors: &mut Predictors,
    rest: &mut Rest,
) -> &'b Block {
    let shift = if SHIFT == 0 { caches.d1.line_shift() } else { SHIFT };
    for &Found { block, id, mispredicted, slots } in found {
        let id = id as usize;
        if BRANCHES {
            if before.ends == Ends::Conditional {
                // Branchless: the host's CPU would mispredict this as often as the guest does.
                let taken = block.pc != before.decides;
                let missed = predictors.conditional.record(u64::from(before.branch), taken);
                before.mispredicted.update(|mispredicted| mispredicted + u64::from(missed));
                rest.log.mispredicted::<LOG>(before.ends, missed);
            } else if before.ends != Ends::None {
                let missed = rest.resolve(before, block.pc, predictors);
                before.mispredicted.update(|mispredicted| mispredicted + u64::from(missed));
                rest.log.mispredicted::<LOG>(before.ends, missed);
            }
            before = block;
        }
        if LOG {
            rest.log.record += 1;
            if !BRANCHES {
                rest.note_mispredicted(id, block, mispredicted);
            }
        }
        if !block.plain {
            rest.special::<CACHES, BRANCHES, LOG>((id, block), slots, caches, predictors);
            continue;
        }
        if !CACHES {
            continue;
        }
        if block.age.get() != caches.i1.age() {
            if caches.i1.hit_both(block.near) {
                block.age.set(caches.i1.age());
            } else if !rest.fetch_plain(id, block, slots, caches) {
                continue;
            }
        }
        let first = block.first_event as usize;
        if slots.len() <= NEAR {
            let mut reach = u64::from_le_bytes(block.reach);
            for (event, &address) in (first..).zip(slots) {
                rest.data(caches, event, address, reach & 0xff, shift);
                reach >>= 8;
            }
        } else {
            rest.many(caches, first, slots, shift);
        }
    }
    before
}

impl Rest {
    /// Counts and logs the mispredictions that are noted in a record.
    #[inline(always)]
    fn note_mispredicted(&mut self, id: usize, block: &Block, mispredicted: Mispredicted) {
        if !mispredicted.is_usual() {
            return self.mispredicted(id, block, mispredicted);
        }
        let missed = mispredicted.at_end() != 0;
        block.mispredicted.update(|mispredicted| mispredicted + u64::from(missed));
        self.log.mispredicted::<true>(block.ends, missed);
    }

    /// Counts and logs the mispredictions of a record that has others than one at its end.
    #[cold]
    fn mispredicted(&mut self, id: usize, block: &Block, mispredicted: Mispredicted) {
        for _ in 0..mispredicted.at_end() {
            block.mispredicted.update(|mispredicted| mispredicted + 1);
            self.log.mispredicted::<true>(block.ends, true);
        }
        let Some(entry) = self.index.entries.get(id) else { return };
        for index in mispredicted.inside() {
            match entry.inside.get(index) {
                Some(&insn) => self.mispredicted.add(entry.first_insn as usize + usize::from(insn), 1),
                // A superblock was to go on there, and could not.
                None => block.mispredicted.update(|mispredicted| mispredicted + 1),
            }
            self.log.mispredicted::<true>(Ends::Conditional, true);
        }
    }

    /// Touches the lines of a plain block that has many or one that may miss. Returns true if its
    /// data are still to be accessed.
    #[inline(never)]
    fn fetch_plain(&mut self, id: usize, block: &Block, slots: &[u64], caches: &mut Hierarchy) -> bool {
        if self.fetch(id, block, caches) {
            return true;
        }
        self.interleave(id, slots, true, caches);
        false
    }

    /// Touches the I1 lines of a block, and notes those that miss. Returns true if there are none,
    /// and notes the age of I1 then.
    fn fetch(&mut self, id: usize, block: &Block, caches: &mut Hierarchy) -> bool {
        let ends = self.first_lines.get(id..id + 2).and_then(<[u32]>::first_chunk);
        let &[first, end] = ends.unwrap_or(&[0, 0]);
        for &(line, fetcher) in self.lines.get(first as usize..end as usize).unwrap_or_default() {
            if caches.i1.touch(line) {
                continue;
            }
            let insn = self.index.entries[id].first_insn + u32::from(fetcher);
            // An instruction across two lines misses once.
            if self.missed.last() != Some(&insn) {
                self.missed.push(insn);
            }
        }
        if self.missed.is_empty() {
            block.age.set(caches.i1.age());
        }
        self.missed.is_empty()
    }

    /// Accesses the data of an event, which ends `reach` bytes after `address`.
    #[inline(always)]
    fn data(&mut self, caches: &mut Hierarchy, event: usize, address: u64, reach: u64, shift: u32) {
        let line = address >> shift;
        if line != address.wrapping_add(reach) >> shift {
            self.straddle(caches, event, address);
        } else if !caches.d1.touch(line) {
            self.miss(event, address);
        }
    }

    /// Accesses the data of a block with more than [`NEAR`] events.
    #[inline(never)]
    fn many(&mut self, caches: &mut Hierarchy, first: usize, slots: &[u64], shift: u32) {
        for (event, &address) in (first..).zip(slots) {
            let Some(&reach) = self.reach.get(event) else { return };
            self.data(caches, event, address, u64::from(reach), shift);
        }
    }

    /// Accesses data in more than one line.
    #[cold]
    fn straddle(&mut self, caches: &mut Hierarchy, event: usize, address: u64) {
        let size = self.index.data.get(event).map_or(1, |event| u32::from(event.size));
        if caches.d1.access(address, size) {
            self.miss(event, address);
        }
    }

    /// Lists an access to data that missed D1.
    #[inline(never)]
    fn miss(&mut self, event: usize, address: u64) {
        let Some(&Data { insn, size, write, .. }) = self.index.data.get(event) else { return };
        let kind = if write { Kind::Store } else { Kind::Load };
        let record = self.log.record;
        self.below.push(Below { address, insn, record, size, kind });
    }

    /// Lists what a record of a block has missed of the first level that is driven elsewhere. It
    /// begins `at` a word of the buffer, and is logged as `record`. Returns what later records have
    /// missed.
    fn list_missed<'m>(
        &mut self,
        id: usize,
        (at, record): (usize, u32),
        mut missed: &'m [RecordMiss],
    ) -> &'m [RecordMiss] {
        while let Some((miss, later)) = missed.split_first().filter(|(miss, _)| miss.at as usize <= at) {
            missed = later;
            if (miss.at as usize) < at {
                continue;
            }
            let PlanIndex { entries, data, .. } = &self.index;
            let Some(entry) = entries.get(id) else { continue };
            let (insn, kind) = match miss.origin() {
                Origin::Fetch(insn) => (entry.first_insn + u32::from(insn), Kind::Fetch),
                Origin::Data(event) => match data.get(entry.first_event as usize + usize::from(event)) {
                    Some(data) => (data.insn, if data.write { Kind::Store } else { Kind::Load }),
                    None => continue,
                },
            };
            let (address, size) = (miss.access.address, miss.access.size as u16);
            self.below.push(Below { address, insn, record, size, kind });
        }
        missed
    }

    /// Accesses LL for all that missed the first level, and counts their misses.
    fn access_below(&mut self, ll: &mut Cache) {
        let Rest { misses, below, log, .. } = self;
        last_level::access(ll, misses, below, |access, missed| {
            if access.record != 0 {
                log.below.push((access.record, access.kind, missed));
            }
        });
        below.clear();
    }

    /// Simulates a block with special parts.
    #[inline(never)]
    fn special<const CACHES: bool, const BRANCHES: bool, const LOG: bool>(
        &mut self,
        (id, block): (usize, &Block),
        slots: &[u64],
        caches: &mut Hierarchy,
        predictors: &mut Predictors,
    ) {
        // Without simulators a record may be without its slots, and then counts no iterations.
        let iterates = (CACHES || BRANCHES || !slots.is_empty()) && self.index.entries[id].repeat(slots);
        if CACHES {
            if block.age.get() != caches.i1.age() {
                self.fetch(id, block, caches);
            }
            self.interleave(id, slots, iterates, caches);
        }
        if BRANCHES {
            self.branches::<LOG>(id, slots, iterates, predictors);
        }
    }

    /// Accesses the data of a block that has special parts or missed a fetch, and lists the misses
    /// of fetches between them.
    fn interleave(&mut self, id: usize, slots: &[u64], iterates: bool, caches: &mut Hierarchy) {
        let entry = &self.index.entries[id];
        let (last, shift) = (entry.last_insn(), caches.d1.line_shift());
        let (first, events) = (entry.first_event as usize, entry.events as usize);
        let mut listed = 0;
        for at in first..first + events {
            let event = self.index.data[at];
            while let Some(&insn) = self.missed.get(listed).filter(|&&insn| insn <= event.insn) {
                self.miss_fetch(insn);
                listed += 1;
            }
            if event.insn == last && !iterates {
                continue;
            }
            let Some(&base) = slots.get(usize::from(event.slot)) else { continue };
            let address = base.wrapping_add(u64::from(event.offset));
            self.data(caches, at, address, u64::from(event.size.saturating_sub(1)), shift);
        }
        while let Some(&insn) = self.missed.get(listed) {
            self.miss_fetch(insn);
            listed += 1;
        }
        self.missed.clear();
    }

    fn miss_fetch(&mut self, insn: u32) {
        let planned = self.index.insns[insn as usize];
        let record = self.log.record;
        let (address, size) = (planned.pc(), planned.len().into());
        self.below.push(Below { address, insn, record, size, kind: Kind::Fetch });
    }

    /// Decides a branch other than Jcc by the address that control has reached. Returns true if it
    /// was mispredicted.
    #[inline(never)]
    fn resolve(&self, before: &Block, pc: u64, predictors: &mut Predictors) -> bool {
        if before.ends == Ends::Compared {
            self.compared && predictors.conditional.record(u64::from(before.branch), pc == before.decides)
        } else {
            predictors.indirect.record(u64::from(before.branch), pc)
        }
    }

    /// Feeds the branches that the next record does not decide: the test of RCX, retries of locked
    /// operations, a jump to the next instruction.
    fn branches<const LOG: bool>(
        &mut self,
        id: usize,
        slots: &[u64],
        iterates: bool,
        predictors: &mut Predictors,
    ) {
        let PlanIndex { entries, insns, .. } = &self.index;
        let entry = &entries[id];
        let last = entry.last_insn() as usize;
        let Some(special) = &entry.special else { return };
        for &retry in &special.retries {
            let insn = (entry.first_insn + u32::from(retry)) as usize;
            let missed = predictors.conditional.record(insns[insn].pc(), false);
            self.mispredicted.add(insn, missed.into());
            self.log.mispredicted::<LOG>(Ends::Conditional, missed);
        }
        if let Some((repeat, _)) = special.repeat {
            let missed = predictors.conditional.record(insns[last].pc(), iterates);
            self.mispredicted.add(last, missed.into());
            self.log.mispredicted::<LOG>(Ends::Conditional, missed);
            self.compared = iterates && repeat == Repeat::Compare;
        }
        if let Some((slot, inverted)) = special.to_next {
            let jumps = slots.get(usize::from(slot)).is_some_and(|&outcome| outcome != 0);
            let missed = predictors.conditional.record(insns[last].pc(), jumps != inverted);
            self.mispredicted.add(last, missed.into());
            self.log.mispredicted::<LOG>(Ends::Conditional, missed);
        }
    }
}
