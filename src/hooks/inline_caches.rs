//! Caches that generated code drives itself: it notes hits, and asks for what it does not find.
//!
//! Generated code knows where the time of each line of I1 is that it holds, and of the lines of D1
//! in a table, by their low bits, where also the address translation of the engine is
//! (`emu/unicorn/line_tlb.rs`). A hit on one of these is a store of the time; all else comes here.

use std::collections::BTreeMap;

use crate::hooks::control::{AccountId, ByAccount, Opening};
use crate::hooks::data_table::{DataLine, DataTable, LineEntry};
use crate::hooks::fetch_table::FetchTable;
use crate::hooks::misses_below::{Access, Counters, LlOwner, MissList, RecordMiss};
use crate::hooks::saved_caches::{SavedCaches, SavedLevels};
use crate::sim::{Cache, Geometry, Hierarchy, NEVER, TimedCache, Touched};

/// Accounts whose caches are kept as they are while others run.
const AWAKE: usize = 16;

/// Time from which on all times are made small again.
const LATE: u32 = NEVER / 2;

/// The caches of an account.
#[derive(Clone, Debug)]
struct Levels {
    fetch: TimedCache,
    data: TimedCache,
    /// `None` where a consumer has it.
    ll: Option<Cache>,
}

#[derive(Debug)]
enum Kept {
    Awake(Box<Levels>),
    Asleep(SavedCaches),
}

/// Access that may have to be taken back, because its instruction may fault after it.
#[derive(Debug)]
struct Undo {
    index: u16,
    lines: (Touched, Option<Touched>),
    missed: bool,
}

/// Line of I1 that is fetched, as generated code tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchedLine {
    /// Its number.
    pub(crate) number: u32,
    /// Address of the instruction.
    pub(crate) pc: u64,
    /// Length of the instruction.
    pub(crate) len: u8,
    /// The instruction ends in it and began before it.
    pub(crate) ends: bool,
    /// Counter of the instruction's misses.
    pub(crate) counter: u32,
}

/// Instructions after which misses are compared with what is [`MANY`], and how many of them are,
/// for each 1,000 instructions: from about as many on, a consumer that simulates the caches beside
/// generated code is sooner done.
const WINDOW: u64 = 1 << 25;
const MANY: u64 = 48;

/// Windows in which many miss before the run goes on with that consumer: at least so many, and one
/// of so many. It does not come back, and jq on 60,000 objects has one of them in ninety.
const LEAST_WINDOWS: u32 = 2;
const ONE_OF: u32 = 8;

/// Shapes of the caches.
#[derive(Clone, Copy, Debug)]
struct Shapes {
    fetch: Geometry,
    data: Geometry,
    ll: Geometry,
    /// LL is here, and not in a consumer.
    has_ll: bool,
    /// Largest access that Cachegrind makes through helpers, which are clipped to it.
    clip: u16,
}

/// Caches by account.
#[derive(Debug)]
pub(crate) struct InlineCaches {
    shapes: Shapes,
    levels: Box<Levels>,
    /// The account that they belong to; `None` while what runs is not counted.
    of: Option<AccountId>,
    kept: BTreeMap<AccountId, Kept>,
    table: Box<DataTable>,
    fetch_table: FetchTable,
    /// The number of the line in each way of I1, or else [`FetchTable::LINE_ZERO`].
    ways: Vec<u32>,
    /// The latest time.
    clock: u32,
    /// Accesses that missed the first level.
    below: MissList,
    /// Instructions executed, and accesses handed over, where the window begins.
    window: (u64, u64),
    /// Windows so far, and those in which many missed.
    windows: (u32, u32),
    undo: Vec<Undo>,
    /// The block that [`InlineCaches::undo`] is of.
    undo_clock: u32,
}

impl Shapes {
    fn levels(&self) -> Levels {
        Levels {
            fetch: TimedCache::new(self.fetch),
            data: TimedCache::new(self.data),
            ll: self.has_ll.then(|| Cache::new(self.ll)),
        }
    }
}

impl InlineCaches {
    /// Tests whether generated code can drive caches of these shapes: lines of D1 are not shorter
    /// than what its table needs and not longer than a page, and there is more than one set.
    pub(super) fn can_have(caches: &Hierarchy) -> bool {
        let (fetch, data) = (caches.i1.geometry(), caches.d1.geometry());
        (6..=12).contains(&data.line_shift()) && data.sets() > 1 && fetch.sets() > 1
    }

    /// Caches in their initial state for an account, shaped as these; LL is the `owner`'s.
    pub(super) fn new(account: AccountId, caches: &Hierarchy, owner: LlOwner) -> InlineCaches {
        let (fetch, data, ll) = (caches.i1.geometry(), caches.d1.geometry(), caches.ll.geometry());
        let clip = u16::try_from(caches.min_line()).unwrap_or(u16::MAX);
        let shapes = Shapes { fetch, data, ll, has_ll: owner != LlOwner::Consumer, clip };
        let below = MissList::new(owner, || Cache::new(fetch));
        let levels = Box::new(shapes.levels());
        let ways = vec![FetchTable::LINE_ZERO; levels.fetch.ways()];
        InlineCaches {
            shapes,
            levels,
            of: Some(account),
            kept: BTreeMap::new(),
            table: DataTable::new(),
            fetch_table: FetchTable::new(),
            ways,
            clock: 1,
            window: (0, 0),
            windows: (0, 0),
            below,
            undo: Vec::new(),
            undo_clock: 0,
        }
    }

    /// Caches of these shapes, with nothing in them.
    pub(super) fn hierarchy(&self) -> Hierarchy {
        Hierarchy::new(self.shapes.fetch, self.shapes.data, self.shapes.ll)
    }

    /// Base-2 logarithms of the sizes of lines of I1 and D1.
    pub(crate) fn line_shifts(&self) -> (u32, u32) {
        (self.shapes.fetch.line_shift(), self.shapes.data.line_shift())
    }

    /// Sets of I1.
    pub(crate) fn fetch_sets(&self) -> u64 {
        self.shapes.fetch.sets()
    }

    /// The table of lines of D1, which does not move.
    pub(crate) fn table(&mut self) -> &mut DataTable {
        &mut self.table
    }

    /// The table of lines of I1.
    pub(crate) fn fetch_table(&self) -> &FetchTable {
        &self.fetch_table
    }

    /// The number of an I1 line.
    pub(crate) fn number(&mut self, block: u64) -> u32 {
        self.fetch_table.number(block)
    }

    /// The latest time.
    pub(crate) fn clock(&self) -> u32 {
        self.clock
    }

    /// Goes on from a time, which is made small if it is late.
    pub(crate) fn set_clock(&mut self, clock: u32) {
        self.clock = clock;
        if clock >= LATE {
            self.make_times_small();
        }
    }

    /// Fetches an instruction at a time, from a line that generated code has not found, and from
    /// the next one if it goes on there. True if it misses.
    pub(super) fn fetch(&mut self, now: u32, line: FetchedLine) -> bool {
        let FetchedLine { number, pc: address, len, ends, counter } = line;
        let shift = self.shapes.fetch.line_shift();
        let (first, last) = (address >> shift, address.wrapping_add(u64::from(len) - 1) >> shift);
        let mut missed = !self.fetch_line(now, number, if ends { last } else { first });
        if !ends && last != first {
            let next = self.number(last);
            missed |= !self.fetch_line(now, next, last);
        }
        if missed {
            self.below.push(Access { address, counter, size: len.into() });
        }
        missed
    }

    /// Looks up a line of I1, by its number too. True is a hit.
    #[inline]
    fn fetch_line(&mut self, now: u32, number: u32, block: u64) -> bool {
        let InlineCaches { levels, fetch_table, ways, .. } = self;
        let touched = levels.fetch.touch(block, now);
        let Some(way) = ways.get_mut(touched.way) else { return touched.hit }; // Cannot be: both are as long.
        let before = std::mem::replace(way, number);
        if !touched.hit {
            fetch_table.forget(before);
        }
        fetch_table.find_at(number, touched.time_place);
        touched.hit
    }

    /// Makes an access to data, whose misses have a counter: at a time, to an address, of so many
    /// bytes. Tells if it is in one line.
    #[inline]
    pub(super) fn data(&mut self, (now, addr, size): (u32, u64, u16), counter: u32) -> bool {
        let Shapes { data, clip, .. } = self.shapes;
        let offset = addr as u32 & (data.line() - 1);
        if offset + u32::from(size.max(1)) > data.line() {
            return self.data_apart((now, addr, size), counter, None);
        }
        let block = addr >> data.line_shift();
        if !self.data_line(now, block).hit {
            self.below.push(Access { address: addr, counter, size: size.min(clip).into() });
        }
        true
    }

    /// The entry of the line with an address, which has just been accessed.
    #[inline]
    pub(super) fn entry(&mut self, addr: u64) -> LineEntry<'_> {
        let data = self.shapes.data;
        let line = self.table.line(addr >> data.line_shift());
        LineEntry { first: addr & !u64::from(data.line() - 1), line }
    }

    /// Makes an access as [`InlineCaches::data`] does, to one line or more. With `undo`, a time and
    /// the index of its event, it can be taken back as long as the block with this time runs.
    #[inline(never)]
    pub(super) fn data_apart(
        &mut self,
        (now, addr, size): (u32, u64, u16),
        counter: u32,
        undo: Option<(u32, u16)>,
    ) -> bool {
        let shift = self.shapes.data.line_shift();
        let line_of = |size: u16| addr.wrapping_add(u64::from(size) - 1) >> shift;
        let (size, clipped) = (size.max(1), size.clamp(1, self.shapes.clip));
        let (first, last) = (addr >> shift, line_of(clipped));
        let touched = self.data_line(now, first);
        let next = (last != first).then(|| self.data_line(now, last));
        let missed = !touched.hit || next.is_some_and(|next| !next.hit);
        if missed {
            self.below.push(Access { address: addr, counter, size: clipped.into() });
        }
        if let Some((clock, index)) = undo {
            if std::mem::replace(&mut self.undo_clock, clock) != clock {
                self.undo.clear();
            }
            self.undo.push(Undo { index, lines: (touched, next), missed });
        }
        line_of(size) == first
    }

    /// Tests whether so many accesses to LL wait that they should be made, unless one of them may
    /// have to be taken back in the block with this time.
    #[inline]
    pub(super) fn is_to_settle(&mut self, clock: u32) -> bool {
        let Some(waiting) = self.below.waiting() else { return false };
        waiting.are_many() && (self.undo_clock != clock || self.undo.is_empty())
    }

    /// Tests whether so much misses, now that so many instructions have been executed, that another
    /// thread should simulate the caches, if there is a CPU for one.
    pub(super) fn miss_much(&mut self, instructions: u64) -> bool {
        let (since, before) = self.window;
        let executed = instructions.saturating_sub(since);
        let waiting = self.below.waiting().filter(|waiting| executed >= WINDOW && waiting.have_thread());
        let Some(handed_over) = waiting.map(|waiting| waiting.handed_over()) else { return false };
        let missed = handed_over - before;
        let much = missed.saturating_mul(1000) > executed.saturating_mul(MANY);
        self.window = (instructions, handed_over);
        let (all, many) = &mut self.windows;
        *all = all.saturating_add(1);
        *many += u32::from(much);
        *many >= LEAST_WINDOWS && many.saturating_mul(ONE_OF) >= *all
    }

    /// Makes the accesses to LL that wait, or has them made.
    pub(super) fn make(&mut self, counters: &mut Counters) {
        if let (Some(waiting), Some(ll)) = (self.below.waiting(), &mut self.levels.ll) {
            waiting.make(ll, counters);
        }
        self.undo.clear();
    }

    /// Makes all accesses to LL, with everything as it is then.
    pub(super) fn settle(&mut self, counters: &mut Counters) {
        if let (Some(waiting), Some(ll)) = (self.below.waiting(), &mut self.levels.ll) {
            waiting.settle(ll, counters);
        }
        self.undo.clear();
    }

    /// Tells if something of the record of the block that runs has missed.
    #[inline]
    pub(super) fn record_missed(&self) -> bool {
        match &self.below {
            MissList::LastLevel(_) => false,
            MissList::Records { list, at } => list.last().is_some_and(|miss| miss.at == *at),
        }
    }

    /// Notes which record the block that runs has, by its index in the buffer.
    #[inline]
    pub(super) fn set_record(&mut self, record: usize) {
        if let MissList::Records { at, .. } = &mut self.below {
            *at = record as u32;
        }
    }

    /// Tells if what misses goes to a consumer with the records.
    #[inline]
    pub(super) fn records_misses(&self) -> bool {
        matches!(self.below, MissList::Records { .. })
    }

    /// Takes what the records in the first so many words of the buffer have missed, and goes on
    /// with an empty list. What the others have missed is in that then, as they go on from the
    /// first word.
    pub(super) fn take_missed(&mut self, words: usize, mut empty: Vec<RecordMiss>) -> Vec<RecordMiss> {
        let MissList::Records { list, .. } = &mut self.below else { return empty };
        let rest = list.drain(list.partition_point(|miss| (miss.at as usize) < words)..);
        empty.extend(rest.map(|miss| RecordMiss { at: miss.at - words as u32, ..miss }));
        std::mem::replace(list, empty)
    }

    /// Forgets what the records from a word of the buffer on have missed.
    pub(super) fn drop_missed(&mut self, from: usize) {
        if let MissList::Records { list, .. } = &mut self.below {
            list.truncate(list.partition_point(|miss| (miss.at as usize) < from));
        }
    }

    /// Looks up a line of D1.
    #[inline]
    fn data_line(&mut self, now: u32, block: u64) -> Touched {
        let InlineCaches { levels, table, .. } = self;
        let touched = levels.data.touch(block, now);
        let time = touched.time_place;
        if !touched.hit {
            table.line(touched.before).forget_at(time);
        }
        let line = table.line(block);
        if line.time != time {
            *line = DataLine { time, ..DataLine::NONE };
        }
        touched
    }

    /// Takes the accesses of the block with this time back whose index is at least `first`.
    pub(super) fn take_back(&mut self, clock: u32, first: u16) {
        if self.undo_clock != clock {
            return;
        }
        while let Some(undo) = self.undo.pop_if(|undo| undo.index >= first) {
            let (line, next) = undo.lines;
            next.into_iter().chain([line]).for_each(|touched| self.levels.data.take_back(touched));
            self.table.clear();
            if undo.missed {
                // Nothing after it has missed, but for what was taken back.
                self.below.pop();
            }
        }
    }

    /// Has generated code find nothing.
    fn forget_lines(&mut self) {
        let InlineCaches { table, fetch_table, ways, .. } = self;
        table.clear();
        for number in ways {
            fetch_table.forget(std::mem::replace(number, FetchTable::LINE_ZERO));
        }
        self.undo.clear();
        self.undo_clock = 0;
    }

    /// Makes all times as small as can be, in the same order.
    fn make_times_small(&mut self) {
        self.forget_lines();
        let rank = |levels: &mut Levels| {
            let mut latest = 0;
            for cache in [&mut levels.fetch, &mut levels.data] {
                let mut all: Vec<u32> = cache.times().map(|time| *time).collect();
                all.sort_unstable();
                all.dedup();
                // Ways that have never been used keep 0.
                let zero = u32::from(all.first() != Some(&0));
                for time in cache.times() {
                    *time = all.binary_search(time).map_or(0, |at| at as u32 + zero);
                    latest = latest.max(*time);
                }
            }
            latest
        };
        let mut latest = rank(&mut self.levels);
        for kept in self.kept.values_mut() {
            if let Kept::Awake(levels) = kept {
                latest = latest.max(rank(levels));
            }
        }
        self.clock = latest + 1;
    }

    /// Goes on with other caches, and puts those at work away.
    fn put_away(&mut self, next: Box<Levels>) {
        self.forget_lines();
        let before = std::mem::replace(&mut self.levels, next);
        if let Some(account) = self.of.take() {
            self.keep(account, Kept::Awake(before));
        }
    }

    /// Keeps the caches of an account, and those of few as they are.
    fn keep(&mut self, account: AccountId, kept: Kept) {
        self.kept.insert(account, kept);
        let is_awake = |kept: &Kept| matches!(kept, Kept::Awake(_));
        if self.kept.values().filter(|kept| is_awake(kept)).count() > AWAKE
            && let Some((_, kept)) =
                self.kept.iter_mut().find(|(its, kept)| **its != account && is_awake(kept))
        {
            *kept = Kept::Asleep(kept.save());
        }
    }

    /// Bytes that those of accounts take that are not kept as they are.
    pub(super) fn resting_bytes(&self) -> u64 {
        let asleep = |kept: &Kept| match kept {
            Kept::Awake(_) => 0,
            Kept::Asleep(saved) => saved.bytes(),
        };
        self.kept.values().map(asleep).sum()
    }

    /// The caches with saved contents.
    fn awaken(&mut self, saved: &SavedCaches) -> Levels {
        let mut levels = self.shapes.levels();
        levels.fetch.replay(&saved.fetch);
        levels.data.replay(&saved.data);
        levels.ll.iter_mut().zip(&saved.ll).for_each(|(ll, saved)| ll.hold(saved));
        let latest = saved.fetch.len().max(saved.data.len()) as u32;
        self.clock = self.clock.max(latest + 1);
        levels
    }

    /// The caches of all accounts.
    pub(super) fn save(&mut self) -> SavedLevels {
        let mut all: SavedLevels = self.kept.iter().map(|(&account, kept)| (account, kept.save())).collect();
        if let Some(account) = self.of {
            all.insert(account, self.levels.save());
        }
        all
    }

    /// The caches of an account.
    pub(super) fn saved(&mut self, account: AccountId) -> Option<SavedCaches> {
        if self.of == Some(account) {
            return Some(self.levels.save());
        }
        self.kept.get(&account).map(Kept::save)
    }

    /// Restores the caches of all accounts, and goes on with one as [`InlineCaches::switch`] does.
    pub(super) fn restore(&mut self, saved: &SavedLevels, account: AccountId, counted: bool) {
        self.forget_lines();
        self.below.clear();
        self.of = None;
        self.kept = saved.iter().map(|(&account, saved)| (account, Kept::Asleep(saved.clone()))).collect();
        self.switch(account, counted);
    }
}

impl ByAccount for InlineCaches {
    fn switch(&mut self, account: AccountId, counted: bool) {
        if self.of == Some(account) && counted {
            return;
        }
        if !counted || !account.is_counted() {
            // What runs finds caches of its own, whose misses nobody counts.
            return self.put_away(Box::new(self.shapes.levels()));
        }
        let next = match self.kept.remove(&account) {
            Some(Kept::Awake(levels)) => levels,
            Some(Kept::Asleep(saved)) => Box::new(self.awaken(&saved)),
            None => Box::new(self.shapes.levels()),
        };
        self.put_away(next);
        self.of = Some(account);
    }

    fn open(&mut self, account: AccountId, opening: Opening) {
        if let Opening::Copy { of, .. } = opening {
            let copy = if self.of == Some(of) {
                Some(Kept::Awake(self.levels.clone()))
            } else {
                self.kept.get(&of).map(|kept| match kept {
                    Kept::Awake(levels) => Kept::Awake(levels.clone()),
                    Kept::Asleep(saved) => Kept::Asleep(saved.clone()),
                })
            };
            if let Some(copy) = copy {
                self.keep(account, copy);
            }
        }
    }

    fn reset(&mut self, account: AccountId) {
        self.kept.remove(&account);
        if self.of == Some(account) {
            self.forget_lines();
            *self.levels = self.shapes.levels();
        }
    }

    fn forget(&mut self, account: AccountId) {
        self.kept.remove(&account);
        if self.of == Some(account) {
            self.of = None;
        }
    }
}

impl Kept {
    fn save(&self) -> SavedCaches {
        match self {
            Kept::Awake(levels) => levels.save(),
            Kept::Asleep(saved) => saved.clone(),
        }
    }
}

impl Levels {
    /// Their contents.
    fn save(&self) -> SavedCaches {
        SavedCaches {
            fetch: self.fetch.order().into(),
            data: self.data.order().into(),
            ll: self.ll.as_ref().map(Cache::held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses to so many lines in turn, each of them an access for so many instructions, in each
    /// window. Tells in which another thread should simulate the caches, if ever.
    fn asks_in(owner: LlOwner, windows: &[(u64, u64)]) -> Option<usize> {
        let shape = |lines: u64| Geometry::new(lines * 64, 8, 64).expect("a shape");
        let hierarchy = Hierarchy::new(shape(16), shape(64), shape(1024));
        let mut caches = InlineCaches::new(AccountId::FIRST, &hierarchy, owner);
        let (mut counters, mut now, mut instructions) = (Counters::default(), 0, 0);
        windows.iter().position(|(lines, apart)| {
            for _ in 0..WINDOW / apart {
                now += 1;
                caches.data((now, u64::from(now) % lines * 64, 8), 0);
                if caches.is_to_settle(0) {
                    caches.make(&mut counters);
                }
            }
            instructions += WINDOW;
            assert!(!caches.miss_much(instructions - 1));
            caches.miss_much(instructions)
        })
    }

    #[test]
    fn another_thread_is_asked_for_where_much_misses() {
        let (little, much) = ((64, 16), (128, 16));
        assert_eq!(asks_in(LlOwner::Thread, &[little; 4]), None);
        assert_eq!(asks_in(LlOwner::Thread, &[(128, 32); 4]), None);
        assert_eq!(asks_in(LlOwner::Thread, &[much; 4]), Some(1));
        let once = [little, much, little, little];
        assert_eq!(asks_in(LlOwner::Thread, &once), None);
        assert_eq!(asks_in(LlOwner::Thread, &once.repeat(2)), Some(5));
        let mut seldom = [little; 17];
        (seldom[0], seldom[16]) = (much, much);
        assert_eq!(asks_in(LlOwner::Thread, &seldom), None);
        assert_eq!(asks_in(LlOwner::Recorder, &[much; 4]), None);
        assert_eq!(asks_in(LlOwner::Consumer, &[much; 4]), None);
    }
}
