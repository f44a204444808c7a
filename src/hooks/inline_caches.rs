//! Caches that generated code drives itself: it notes hits, and asks for what it does not find.
//!
//! Generated code has a time for each line of I1, and for the lines of D1 in a table, by their low
//! bits, where also the address translation of the engine is (`emu/unicorn/line_tlb.rs`). A hit on
//! one of these is a store of the time; all else comes here.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::hooks::control::{AccountId, ByAccount, Opening};
use crate::hooks::counts::Kind;
use crate::hooks::record::PlanId;
use crate::sim::{Cache, Geometry, HeldCache, Hierarchy, SavedSet, TimedCache};

/// Lines of D1 that generated code finds.
pub(crate) const DATA_LINES: usize = 512;

/// Accounts whose caches are kept as they are while others run.
const AWAKE: usize = 16;

/// Time from which on all times are made small again.
const LATE: u32 = 1 << 31;

/// A line of D1 as generated code finds it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataLine {
    /// Its address if it may be loaded from, or else [`DataLine::NOWHERE`].
    pub(crate) read: u64,
    /// The same for stores.
    pub(crate) write: u64,
    /// Difference between its address and that in the host.
    pub(crate) addend: u64,
    /// Place of the time of its last access, in the way that holds it; null if it is none.
    pub(crate) time: *mut u32,
}

impl DataLine {
    /// Address that no access has.
    pub(crate) const NOWHERE: u64 = u64::MAX;
    const NONE: DataLine =
        DataLine { read: DataLine::NOWHERE, write: DataLine::NOWHERE, addend: 0, time: std::ptr::null_mut() };

    /// Has generated code ask for the line again.
    pub(crate) fn forget_translation(&mut self) {
        (self.read, self.write) = (DataLine::NOWHERE, DataLine::NOWHERE);
    }
}

/// The lines of D1 that generated code finds, by the low bits of their numbers.
#[repr(C, align(4096))]
#[derive(Debug)]
pub(crate) struct DataTable([DataLine; DATA_LINES]);

impl DataTable {
    /// The line with the number `block`, or another with the same low bits.
    #[inline]
    fn line(&mut self, block: u64) -> &mut DataLine {
        &mut self.0[block as usize % DATA_LINES]
    }

    /// Has generated code ask for all lines again.
    pub(crate) fn forget_translations(&mut self) {
        self.0.iter_mut().for_each(DataLine::forget_translation);
    }

    /// Has no lines any more.
    fn clear(&mut self) {
        self.0.fill(DataLine::NONE);
    }
}

/// The caches of an account, without the times that generated code has.
#[derive(Clone, Debug)]
struct Levels {
    fetch: TimedCache,
    data: TimedCache,
    ll: Cache,
}

/// Contents of an account's caches, for a checkpoint or for other simulators.
#[derive(Clone, Debug)]
pub(crate) struct SavedCaches {
    /// Blocks of I1 and D1, from the least to the most recently used.
    pub(crate) fetch: Box<[u64]>,
    pub(crate) data: Box<[u64]>,
    pub(crate) ll: HeldCache,
}

impl SavedCaches {
    /// Brings other caches of the same shapes to these contents.
    pub(super) fn restore(&self, caches: &mut Hierarchy) {
        caches.i1.clear();
        for &block in &self.fetch {
            let line = caches.i1.line(block);
            caches.i1.touch(line);
        }
        caches.d1 = Cache::new(caches.d1.geometry());
        for &block in &self.data {
            caches.d1.touch(block);
        }
        caches.ll.hold(&self.ll);
    }
}

/// Contents of the caches of all accounts, for a checkpoint.
pub(super) type SavedLevels = BTreeMap<AccountId, SavedCaches>;

#[derive(Debug)]
enum Kept {
    Awake(Box<Levels>),
    Asleep(SavedCaches),
}

/// Access that may have to be taken back, because its instruction may fault after it.
#[derive(Debug)]
struct Undo {
    index: u16,
    sets: Vec<SavedSet>,
    missed: bool,
}

/// Instruction of a plan, by its index, that accesses memory.
pub(super) type Accessor = (PlanId, u16, Kind);

/// Access that has missed I1 or D1, and not yet accessed LL.
#[derive(Debug)]
struct Below {
    addr: u64,
    size: u16,
    by: Accessor,
}

/// Accesses to LL that are made together, so that the host's cache fetches what they need together.
const TOGETHER: usize = 64;

/// Shapes of the caches.
#[derive(Clone, Copy, Debug)]
struct Shapes {
    fetch: Geometry,
    data: Geometry,
    ll: Geometry,
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
    /// Time of the last access by I1 line; 0 where the cache does not hold it.
    stamps: Vec<u32>,
    blocks: Vec<u64>,
    numbers: FxHashMap<u64, u32>,
    /// The latest time.
    clock: u32,
    /// Accesses to LL that are still to be made, in order.
    below: Vec<Below>,
    undo: Vec<Undo>,
    /// The block that [`InlineCaches::undo`] is of.
    undo_clock: u32,
}

impl Shapes {
    fn levels(&self) -> Levels {
        Levels {
            fetch: TimedCache::new(self.fetch),
            data: TimedCache::new(self.data),
            ll: Cache::new(self.ll),
        }
    }
}

impl InlineCaches {
    /// Number of the I1 line that holds block 0, with which every way begins, so that it may be in
    /// several: it has no time.
    pub(crate) const LINE_ZERO: u32 = 0;

    /// Tests whether generated code can drive caches of these shapes: lines of D1 are not shorter
    /// than what its table needs and not longer than a page, and there is more than one set.
    pub(super) fn can_have(caches: &Hierarchy) -> bool {
        let (fetch, data) = (caches.i1.geometry(), caches.d1.geometry());
        (6..=12).contains(&data.line_shift()) && data.sets() > 1 && fetch.sets() > 1
    }

    /// Caches in their initial state for an account, shaped as these.
    pub(super) fn new(account: AccountId, caches: &Hierarchy) -> InlineCaches {
        let (fetch, data, ll) = (caches.i1.geometry(), caches.d1.geometry(), caches.ll.geometry());
        let clip = u16::try_from(caches.min_line()).unwrap_or(u16::MAX);
        let shapes = Shapes { fetch, data, ll, clip };
        let levels = Box::new(shapes.levels());
        InlineCaches {
            shapes,
            levels,
            of: Some(account),
            kept: BTreeMap::new(),
            table: Box::new(DataTable([DataLine::NONE; DATA_LINES])),
            stamps: vec![0],
            blocks: vec![0],
            numbers: FxHashMap::from_iter([(0, InlineCaches::LINE_ZERO)]),
            clock: 1,
            below: Vec::new(),
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

    /// The times of I1 lines, for all that have a number.
    pub(crate) fn stamps(&mut self) -> &mut [u32] {
        &mut self.stamps
    }

    /// The number of an I1 line.
    pub(crate) fn number(&mut self, block: u64) -> u32 {
        let next = self.blocks.len() as u32;
        *self.numbers.entry(block).or_insert_with(|| {
            self.blocks.push(block);
            self.stamps.push(0);
            next
        })
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

    /// Fetches an instruction at an address at a time.
    pub(super) fn fetch(&mut self, now: u32, (addr, len): (u64, u8), by: Accessor) {
        let shift = self.shapes.fetch.line_shift();
        let len = u64::from(len).max(1);
        let (first, last) = (addr >> shift, addr.wrapping_add(len - 1) >> shift);
        let mut missed = !self.fetch_line(now, first);
        if last != first {
            missed |= !self.fetch_line(now, last);
        }
        if missed {
            self.below.push(Below { addr, size: len as u16, by });
        }
    }

    /// Looks up a line of I1. True is a hit.
    fn fetch_line(&mut self, now: u32, block: u64) -> bool {
        let number = self.number(block);
        let InlineCaches { levels, stamps, numbers, .. } = self;
        if let Some(stamp) = stamps.get_mut(number as usize).filter(|stamp| **stamp != 0) {
            *stamp = now;
            return true;
        }
        let number_of = |block| numbers.get(&block).copied().unwrap_or(InlineCaches::LINE_ZERO) as usize;
        let touched = levels.fetch.touch(block, now, |_, its| {
            let stamp = stamps.get(number_of(its)).copied()?;
            (stamp != 0).then_some(stamp)
        });
        if !touched.hit
            && let Some(stamp) = stamps.get_mut(number_of(touched.before))
        {
            *stamp = 0;
        }
        if let Some(stamp) = stamps.get_mut(number as usize).filter(|_| number != InlineCaches::LINE_ZERO) {
            *stamp = now;
        }
        touched.hit
    }

    /// Accesses data of `size` bytes at a time. With `undo` it can be taken back by that index as
    /// long as the block, by its time, runs.
    #[inline]
    pub(super) fn data(
        &mut self,
        (now, addr, size): (u32, u64, u16),
        undo: Option<(u32, u16)>,
        by: Accessor,
    ) {
        let shift = self.shapes.data.line_shift();
        let size = size.clamp(1, self.shapes.clip);
        let (first, last) = (addr >> shift, addr.wrapping_add(u64::from(size) - 1) >> shift);
        let straddles = last != first;
        if let Some((clock, index)) = undo {
            if std::mem::replace(&mut self.undo_clock, clock) != clock {
                self.undo.clear();
            }
            let save = |block| self.levels.data.save_set(block);
            let sets = std::iter::once(first).chain(straddles.then_some(last)).map(save).collect();
            self.undo.push(Undo { index, sets, missed: false });
        }
        let mut missed = !self.data_line(now, first);
        if straddles {
            missed |= !self.data_line(now, last);
        }
        if missed {
            self.below.push(Below { addr, size, by });
        }
        if let Some(undo) = undo.and_then(|_| self.undo.last_mut()) {
            undo.missed = missed;
        }
    }

    /// Tests whether so many accesses to LL wait that they should be made, unless one of them may
    /// have to be taken back in the block with this time.
    #[inline]
    pub(super) fn is_to_settle(&self, clock: u32) -> bool {
        self.below.len() >= TOGETHER && (self.undo_clock != clock || self.undo.is_empty())
    }

    /// Makes the accesses to LL that wait. Calls `f` for each, with whether it missed.
    pub(super) fn settle(&mut self, mut f: impl FnMut(Accessor, bool)) {
        let ll = &mut self.levels.ll;
        let sum = self.below.iter().fold(0, |sum, below| sum ^ ll.read_ahead(below.addr));
        std::hint::black_box(sum);
        for Below { addr, size, by } in self.below.drain(..) {
            f(by, ll.access(addr, size.into()));
        }
        self.undo.clear();
    }

    /// Looks up a line of D1. True is a hit.
    #[inline]
    fn data_line(&mut self, now: u32, block: u64) -> bool {
        let InlineCaches { levels, table, .. } = self;
        let touched = levels.data.touch(block, now, |_, _| None);
        if !touched.hit {
            let line = table.line(touched.before);
            if levels.data.way_at(line.time) == Some(touched.way) {
                *line = DataLine::NONE;
            }
        }
        let time = levels.data.time_place(touched.way);
        let line = table.line(block);
        if line.time != time {
            *line = DataLine { time, ..DataLine::NONE };
        }
        touched.hit
    }

    /// The entry of the line of an address, if it has one.
    #[inline]
    pub(crate) fn entry(&mut self, addr: u64) -> Option<&mut DataLine> {
        let block = addr >> self.shapes.data.line_shift();
        let InlineCaches { levels, table, .. } = self;
        let line = table.line(block);
        let way = levels.data.way_at(line.time)?;
        (levels.data.block(way) == block).then_some(line)
    }

    /// Takes the accesses of the block with this time back whose index is at least `first`.
    pub(super) fn take_back(&mut self, clock: u32, first: u16) {
        if self.undo_clock != clock {
            return;
        }
        while let Some(undo) = self.undo.pop_if(|undo| undo.index >= first) {
            for set in &undo.sets {
                self.levels.data.put_back(set);
            }
            self.table.clear();
            if undo.missed {
                // Nothing after it has missed, but for what was taken back.
                self.below.pop();
            }
        }
    }

    /// Takes the times that generated code has, which finds nothing then.
    fn collect(&mut self) {
        let InlineCaches { levels, table, stamps, numbers, .. } = self;
        table.clear();
        let blocks = levels.fetch.blocks().to_vec();
        for (way, block) in blocks.iter().enumerate() {
            let number = numbers.get(block).copied().unwrap_or(InlineCaches::LINE_ZERO);
            if let Some(stamp) = stamps.get_mut(number as usize).filter(|stamp| **stamp != 0) {
                levels.fetch.set_time(way, std::mem::take(stamp));
            }
        }
        self.undo.clear();
        self.undo_clock = 0;
    }

    /// Gives generated code the times of I1 lines, which it works with.
    fn spread(&mut self) {
        let InlineCaches { levels, stamps, numbers, .. } = self;
        let (blocks, times) = (levels.fetch.blocks().to_vec(), levels.fetch.times());
        for (block, time) in blocks.iter().zip(times) {
            if let Some(&number) = numbers.get(block).filter(|number| **number != InlineCaches::LINE_ZERO) {
                stamps[number as usize] = *time;
            }
        }
    }

    /// Makes all times as small as can be, in the same order.
    fn make_times_small(&mut self) {
        self.collect();
        let rank = |levels: &mut Levels| {
            let mut latest = 0;
            for cache in [&mut levels.fetch, &mut levels.data] {
                let mut all: Vec<u32> = cache.times().to_vec();
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
        if self.of.is_some() {
            self.spread();
        }
    }

    /// Goes on with other caches, and puts those at work away.
    fn put_away(&mut self, next: Box<Levels>) {
        self.collect();
        let before = std::mem::replace(&mut self.levels, next);
        let Some(account) = self.of.take() else { return };
        self.kept.insert(account, Kept::Awake(before));
        let is_awake = |kept: &Kept| matches!(kept, Kept::Awake(_));
        if self.kept.values().filter(|kept| is_awake(kept)).count() > AWAKE
            && let Some((_, kept)) =
                self.kept.iter_mut().find(|(its, kept)| **its != account && is_awake(kept))
        {
            *kept = Kept::Asleep(kept.save());
        }
    }

    /// The caches with saved contents.
    fn awaken(&mut self, saved: &SavedCaches) -> Levels {
        let mut levels = self.shapes.levels();
        levels.fetch.replay(&saved.fetch);
        levels.data.replay(&saved.data);
        levels.ll.hold(&saved.ll);
        let latest = saved.fetch.len().max(saved.data.len()) as u32;
        self.clock = self.clock.max(latest + 1);
        levels
    }

    /// The caches of all accounts.
    pub(super) fn save(&mut self) -> SavedLevels {
        let mut all: SavedLevels = self.kept.iter().map(|(&account, kept)| (account, kept.save())).collect();
        if let Some(account) = self.of {
            self.collect();
            all.insert(account, self.levels.save());
            self.spread();
        }
        all
    }

    /// The caches of an account.
    pub(super) fn saved(&mut self, account: AccountId) -> Option<SavedCaches> {
        if self.of == Some(account) {
            self.collect();
            let saved = self.levels.save();
            self.spread();
            return Some(saved);
        }
        self.kept.get(&account).map(Kept::save)
    }

    /// Restores the caches of all accounts, and goes on with one as [`InlineCaches::switch`] does.
    pub(super) fn restore(&mut self, saved: &SavedLevels, account: AccountId, counted: bool) {
        self.collect();
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
        self.spread();
        self.of = Some(account);
    }

    fn open(&mut self, account: AccountId, opening: Opening) {
        if let Opening::Copy { of, .. } = opening {
            let copy = if self.of == Some(of) {
                self.collect();
                let copy = self.levels.clone();
                self.spread();
                Some(Kept::Awake(copy))
            } else {
                self.kept.get(&of).map(|kept| match kept {
                    Kept::Awake(levels) => Kept::Awake(levels.clone()),
                    Kept::Asleep(saved) => Kept::Asleep(saved.clone()),
                })
            };
            if let Some(copy) = copy {
                self.kept.insert(account, copy);
            }
        }
    }

    fn reset(&mut self, account: AccountId) {
        self.kept.remove(&account);
        if self.of == Some(account) {
            self.collect();
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
    /// Their contents, when generated code has none of their times.
    fn save(&self) -> SavedCaches {
        SavedCaches { fetch: self.fetch.order().into(), data: self.data.order().into(), ll: self.ll.held() }
    }
}
