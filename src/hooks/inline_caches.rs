//! Caches that generated code drives itself: it notes hits, and asks for what it does not find.
//!
//! Generated code has a time for each line of I1, and for the lines of D1 in a table, by their low
//! bits, where also the address translation of the engine is (`emu/unicorn/line_tlb.rs`). A hit on
//! one of these is a store of the time; all else comes here.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::hooks::control::{AccountId, ByAccount, Opening};
use crate::hooks::counts::Kind;
use crate::hooks::data_table::{DataLine, DataTable, LineEntry};
use crate::hooks::plan::PlanTable;
use crate::hooks::record::PlanId;
use crate::sim::{Cache, Geometry, HeldCache, Hierarchy, TimedCache, Touched};
use crate::x86::cost::EventKind;

/// Accounts whose caches are kept as they are while others run.
const AWAKE: usize = 16;

/// Time from which on all times are made small again.
const LATE: u32 = 1 << 31;

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
    lines: (Touched, Option<Touched>),
    missed: bool,
}

/// Access that has missed I1 or D1, and not yet accessed LL.
#[derive(Clone, Copy, Debug)]
enum Below {
    /// The fetch of an instruction of a plan, by its index.
    Fetch(PlanId, u16),
    /// A data event of a plan, by its index: address and size in bytes.
    Data(PlanId, u16, (u64, u16)),
}

/// Access to LL: address and size in bytes, and the instruction of a plan, by its index.
type LlAccess = ((u64, u16), (PlanId, u16), Kind);

impl Below {
    /// The access, by the plan that it is of.
    #[inline]
    fn find(self, plans: &PlanTable) -> Option<LlAccess> {
        match self {
            Below::Fetch(id, insn) => {
                let its = plans.get(id)?.insns.get(usize::from(insn))?;
                Some(((its.pc, its.len.into()), (id, insn), Kind::Fetch))
            }
            Below::Data(id, index, place) => {
                let event = plans.get(id)?.events.get(usize::from(index))?;
                let kind = if event.kind == EventKind::Write { Kind::Store } else { Kind::Load };
                Some((place, (id, event.insn), kind))
            }
        }
    }
}

/// Line of I1 that is fetched, as generated code tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchedLine {
    /// Its number.
    pub(crate) number: u32,
    /// The instruction goes on in the next line.
    pub(crate) goes_on: bool,
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
    /// The number of the line in each way of I1, or else [`InlineCaches::LINE_ZERO`].
    ways: Vec<u32>,
    /// The latest time.
    clock: u32,
    /// Accesses to LL that are still to be made, in order.
    below: Vec<Below>,
    /// The same, while they are made.
    accesses: Vec<LlAccess>,
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
        let ways = vec![InlineCaches::LINE_ZERO; levels.fetch.blocks().len()];
        InlineCaches {
            shapes,
            levels,
            of: Some(account),
            kept: BTreeMap::new(),
            table: DataTable::new(),
            stamps: vec![0],
            blocks: vec![0],
            numbers: FxHashMap::from_iter([(0, InlineCaches::LINE_ZERO)]),
            ways,
            clock: 1,
            below: Vec::new(),
            accesses: Vec::new(),
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

    /// Fetches an instruction of a plan, by its index, at a time: from a line that generated code
    /// has not found, and from the next one if it goes on there.
    pub(super) fn fetch(&mut self, now: u32, line: FetchedLine, plan: PlanId, insn: u16) {
        let mut missed = !self.fetch_line(now, line.number);
        if line.goes_on {
            let block = self.blocks.get(line.number as usize).copied().unwrap_or(0);
            let next = self.number(block.wrapping_add(1) & (u64::MAX >> self.shapes.fetch.line_shift()));
            missed |= !self.fetch_line(now, next);
        }
        if missed {
            self.below.push(Below::Fetch(plan, insn));
        }
    }

    /// Looks up a line of I1, by its number. True is a hit.
    #[inline]
    fn fetch_line(&mut self, now: u32, number: u32) -> bool {
        let InlineCaches { levels, stamps, ways, blocks, .. } = self;
        if let Some(stamp) = stamps.get_mut(number as usize).filter(|stamp| **stamp != 0) {
            *stamp = now;
            return true;
        }
        let block = blocks.get(number as usize).copied().unwrap_or(0);
        let touched = levels.fetch.touch(block, now, |way, _| {
            let stamp = stamps.get(*ways.get(way)? as usize).copied()?;
            (stamp != 0).then_some(stamp)
        });
        let Some(way) = ways.get_mut(touched.way) else { return touched.hit }; // Cannot be: both are as long.
        let before = std::mem::replace(way, number);
        if !touched.hit
            && let Some(stamp) = stamps.get_mut(before as usize)
        {
            *stamp = 0;
        }
        if let Some(stamp) = stamps.get_mut(number as usize).filter(|_| number != InlineCaches::LINE_ZERO) {
            *stamp = now;
        }
        touched.hit
    }

    /// Makes an access to data, an event of a plan by its index: at a time, to an address, of so
    /// many bytes. With `undo` it can be taken back as long as the block with this time runs.
    /// Returns the entry of its line, if it is in one line.
    #[inline]
    pub(super) fn data(
        &mut self,
        (now, addr, size): (u32, u64, u16),
        undo: Option<u32>,
        (plan, index): (PlanId, u16),
    ) -> Option<LineEntry<'_>> {
        let shift = self.shapes.data.line_shift();
        let line_of = |size: u16| addr.wrapping_add(u64::from(size) - 1) >> shift;
        let (size, clipped) = (size.max(1), size.clamp(1, self.shapes.clip));
        let (first, last) = (addr >> shift, line_of(clipped));
        let touched = self.data_line(now, first);
        let next = (last != first).then(|| self.data_line(now, last));
        let missed = !touched.hit || next.is_some_and(|next| !next.hit);
        if missed {
            self.below.push(Below::Data(plan, index, (addr, clipped)));
        }
        if let Some(clock) = undo {
            if std::mem::replace(&mut self.undo_clock, clock) != clock {
                self.undo.clear();
            }
            self.undo.push(Undo { index, lines: (touched, next), missed });
        }
        (line_of(size) == first).then(|| LineEntry { first: first << shift, line: self.table.line(first) })
    }

    /// Tests whether so many accesses to LL wait that they should be made, unless one of them may
    /// have to be taken back in the block with this time.
    #[inline]
    pub(super) fn is_to_settle(&self, clock: u32) -> bool {
        self.below.len() >= TOGETHER && (self.undo_clock != clock || self.undo.is_empty())
    }

    /// Makes the accesses to LL that wait. Calls `f` for each, with its instruction of a plan, by
    /// the index, and with whether it missed.
    pub(super) fn settle(&mut self, plans: &PlanTable, mut f: impl FnMut((PlanId, u16), Kind, bool)) {
        let InlineCaches { levels, below, accesses, .. } = self;
        accesses.extend(below.drain(..).filter_map(|below| below.find(plans)));
        let ll = &mut levels.ll;
        let sum = accesses.iter().fold(0, |sum, ((addr, _), ..)| sum ^ ll.read_ahead(*addr));
        std::hint::black_box(sum);
        for ((addr, size), by, kind) in accesses.drain(..) {
            f(by, kind, ll.access(addr, size.into()));
        }
        self.undo.clear();
    }

    /// Looks up a line of D1.
    #[inline]
    fn data_line(&mut self, now: u32, block: u64) -> Touched {
        let InlineCaches { levels, table, .. } = self;
        let touched = levels.data.touch(block, now, |_, _| None);
        let time = levels.data.time_place(touched.way);
        if !touched.hit {
            let line = table.line(touched.before);
            if line.time == time {
                *line = DataLine::NONE;
            }
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

    /// Takes the times that generated code has, which finds nothing then.
    fn collect(&mut self) {
        let InlineCaches { levels, table, stamps, ways, .. } = self;
        table.clear();
        for (way, &number) in ways.iter().enumerate() {
            if let Some(stamp) = stamps.get_mut(number as usize).filter(|stamp| **stamp != 0) {
                levels.fetch.set_time(way, std::mem::take(stamp));
            }
        }
        self.ways.fill(InlineCaches::LINE_ZERO);
        self.undo.clear();
        self.undo_clock = 0;
    }

    /// Gives generated code the times of I1 lines, which it works with.
    fn spread(&mut self) {
        let InlineCaches { levels, stamps, numbers, ways, .. } = self;
        let (blocks, times) = (levels.fetch.blocks().to_vec(), levels.fetch.times());
        for ((block, time), way) in blocks.iter().zip(times).zip(ways) {
            if let Some(&number) = numbers.get(block).filter(|number| **number != InlineCaches::LINE_ZERO) {
                (stamps[number as usize], *way) = (*time, number);
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
