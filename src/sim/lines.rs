//! A cache for few blocks that are accessed over and over, as the instruction cache is: exact LRU
//! with the rules of [`Cache`](super::cache::Cache), looked up by a number that the caller asks for
//! once per block.
//!
//! Each block has a stamp: when it was last accessed, or 0 where the cache does not hold it. A hit
//! is one comparison and one store, whatever its place in the order; a miss looks for the oldest
//! stamp of its set.

use rustc_hash::FxHashMap;

use super::geometry::Geometry;
use super::packing::{Packer, Unpacker};

/// A block of a [`LineCache`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line(u32);

impl Line {
    /// The line that stands for no block: always a hit.
    pub const NONE: Line = Line(0);
    /// A stand-in that [`LineCache::hit_both`] never takes for a hit.
    pub const UNKNOWN: Line = Line(1);
}

/// Part of a line that an access to it needs.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Time of the last access; 0 if the cache does not hold it.
    stamp: u64,
    /// Its set; for no block, one after the last.
    set: u32,
    /// It is the most recent line of its set, so that another access changes nothing.
    is_recent: bool,
}

/// A way that holds nothing yet: Cachegrind's tag 0.
const EMPTY: u32 = u32::MAX;

/// One simulated cache. Numbers of hits and misses are the caller's to keep.
#[derive(Clone, Debug)]
pub struct LineCache {
    geometry: Geometry,
    /// The stamp of the next access.
    clock: u64,
    /// Changes whenever the order in a set does.
    age: u64,
    /// By line.
    states: Vec<State>,
    /// By line: its block number.
    blocks: Vec<u64>,
    numbers: FxHashMap<u64, Line>,
    /// The lines in each set, in no order, the sets one after another.
    ways: Box<[u32]>,
    /// The most recent line of each set, and of no set.
    recent: Box<[Line]>,
}

/// Contents of a [`LineCache`] at some moment, in few bytes where it holds little.
#[derive(Clone, Debug)]
pub struct HeldLines {
    clock: u64,
    age: u64,
    /// Number of lines.
    lines: usize,
    /// By line: the block number.
    blocks: Box<[u8]>,
    /// The lines that the cache holds, with their stamps.
    stamps: Box<[u8]>,
    /// Ways and most recent lines.
    order: Box<[u8]>,
}

impl HeldLines {
    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        (self.blocks.len() + self.stamps.len() + self.order.len()) as u64
    }

    /// The block numbers by line.
    fn blocks(&self) -> impl Iterator<Item = u64> {
        let (mut unpacker, mut before) = (Unpacker(&self.blocks), 0);
        (0..self.lines).map(move |_| {
            before = unpacker.take_near(before);
            before
        })
    }
}

impl LineCache {
    /// Contents of the cache.
    #[must_use]
    pub fn held(&self) -> HeldLines {
        let (mut blocks, mut stamps, mut order) = (Packer::default(), Packer::default(), Packer::default());
        let mut before = 0;
        for &block in &self.blocks {
            blocks.put_near(block, before);
            before = block;
        }
        let mut at = 0;
        for (line, state) in (1..).zip(&self.states).filter(|(_, state)| state.stamp != 0) {
            stamps.put(line - at);
            stamps.put(self.clock.wrapping_sub(state.stamp));
            at = line;
        }
        // A way that holds nothing is 0.
        self.ways.iter().for_each(|&line| order.put(u64::from(line.wrapping_add(1))));
        self.recent.iter().for_each(|line| order.put(u64::from(line.0)));
        HeldLines {
            clock: self.clock,
            age: self.age,
            lines: self.blocks.len(),
            blocks: blocks.finish(),
            stamps: stamps.finish(),
            order: order.finish(),
        }
    }

    /// True if the lines have the numbers that they had then; more may have come since.
    #[must_use]
    pub fn numbers_as(&self, held: &HeldLines) -> bool {
        self.blocks.len() >= held.lines && held.blocks().zip(&self.blocks).all(|(then, now)| then == *now)
    }

    /// The cache holds what it held before. Lines keep their numbers if they are the same as then;
    /// else all have those from then.
    pub fn hold(&mut self, held: &HeldLines) {
        if !self.numbers_as(held) {
            self.blocks = held.blocks().collect();
            // The first two stand for no block.
            self.states.truncate(2);
            let sets = self.blocks.iter().skip(2).map(|&block| self.set(block));
            let states = sets.map(|set| State { stamp: 0, set, is_recent: false });
            self.states.extend(states.collect::<Vec<_>>());
            self.numbers =
                (0..).zip(&self.blocks).skip(2).map(|(line, &block)| (block, Line(line))).collect();
        }
        (self.clock, self.age) = (held.clock, held.age);
        self.states.iter_mut().for_each(|state| (state.stamp, state.is_recent) = (0, false));
        let (mut stamps, mut at) = (Unpacker(&held.stamps), 0);
        loop {
            let step = stamps.take() as usize;
            if step == 0 {
                break;
            }
            at += step;
            let stamp = held.clock.wrapping_sub(stamps.take());
            if let Some(state) = self.states.get_mut(at - 1) {
                state.stamp = stamp;
            }
        }
        let mut order = Unpacker(&held.order);
        self.ways.fill_with(|| (order.take() as u32).wrapping_sub(1));
        self.recent.fill_with(|| Line(order.take() as u32));
        for line in &self.recent {
            if let Some(state) = self.states.get_mut(line.0 as usize) {
                state.is_recent = true;
            }
        }
    }

    /// The blocks it holds, but for block 0, with which every way begins.
    pub fn held_blocks(&self) -> impl Iterator<Item = u64> + '_ {
        let held = self.ways.iter().filter(|&&line| line != EMPTY);
        held.filter_map(|&line| self.blocks.get(line as usize).copied()).filter(|&block| block != 0)
    }

    /// A cache in its initial state.
    #[must_use]
    pub fn new(geometry: Geometry) -> LineCache {
        let sets = usize::try_from(geometry.sets()).unwrap_or(usize::MAX);
        let ways = sets.saturating_mul(geometry.assoc() as usize);
        LineCache {
            geometry,
            clock: 1,
            age: 1,
            states: vec![
                State { stamp: 1, set: sets as u32, is_recent: true },
                State { stamp: 0, set: 0, is_recent: false },
            ],
            blocks: vec![0, 0],
            numbers: FxHashMap::default(),
            ways: vec![EMPTY; ways].into_boxed_slice(),
            recent: vec![Line::NONE; sets.saturating_add(1)].into_boxed_slice(),
        }
    }

    /// Empties the cache. Lines keep their numbers.
    pub fn clear(&mut self) {
        self.hold(&LineCache::new(self.geometry).held());
    }

    /// The geometry it was made with.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Base-2 logarithm of the line size: `addr >> line_shift()` is the block of an address.
    #[must_use]
    pub fn line_shift(&self) -> u32 {
        self.geometry.line_shift()
    }

    fn set(&self, block: u64) -> u32 {
        (block & (self.geometry.sets() - 1)) as u32
    }

    /// Changes whenever the order of the lines in a set does. While it stays the same, accesses
    /// that hit and were made one after another can be made again without changing anything.
    #[inline(always)]
    #[must_use]
    pub fn age(&self) -> u64 {
        self.age
    }

    /// The line of a block, the same every time.
    pub fn line(&mut self, block: u64) -> Line {
        let set = self.set(block);
        *self.numbers.entry(block).or_insert_with(|| {
            let line = Line(self.states.len() as u32);
            self.states.push(State { stamp: 0, set, is_recent: false });
            self.blocks.push(block);
            line
        })
    }

    /// The block of a line.
    #[must_use]
    pub fn block(&self, line: Line) -> u64 {
        self.blocks.get(line.0 as usize).copied().unwrap_or(0)
    }

    /// Accesses two lines, the first one first, if both hit; else does nothing. They may be the
    /// same.
    #[inline(always)]
    pub fn hit_both(&mut self, [first, second]: [Line; 2]) -> bool {
        let is_recent = |line: Line| self.states.get(line.0 as usize).is_some_and(|state| state.is_recent);
        is_recent(first) && is_recent(second) || self.move_both(first, second)
    }

    fn move_both(&mut self, first: Line, second: Line) -> bool {
        let held = |line: Line| self.states.get(line.0 as usize).is_some_and(|state| state.stamp != 0);
        if !(held(first) && held(second)) {
            return false;
        }
        self.stamp(first);
        self.stamp(second);
        true
    }

    /// Accesses one line. True is a hit.
    #[inline]
    pub fn touch(&mut self, line: Line) -> bool {
        let Some(&State { stamp, set, .. }) = self.states.get(line.0 as usize) else { return false };
        let hit = stamp != 0 || self.load(line, set);
        self.stamp(line);
        hit
    }

    /// Puts a line where the oldest of its set was. True if that is a hit all the same: an empty
    /// way has tag 0.
    fn load(&mut self, line: Line, set: u32) -> bool {
        let assoc = self.geometry.assoc() as usize;
        let set = set as usize * assoc;
        let Some(ways) = self.ways.get_mut(set..set + assoc) else { return false };
        let age = |way: &u32| self.states.get(*way as usize).map_or(0, |state| state.stamp);
        let Some(oldest) = (0..ways.len()).min_by_key(|&i| age(&ways[i])) else { return false };
        let evicted = std::mem::replace(&mut ways[oldest], line.0);
        if let Some(state) = self.states.get_mut(evicted as usize) {
            (state.stamp, state.is_recent) = (0, false);
        }
        evicted == EMPTY && self.block(line) == 0
    }

    /// Makes a line the most recent of its set.
    fn stamp(&mut self, line: Line) {
        let Some(state) = self.states.get_mut(line.0 as usize).filter(|state| !state.is_recent) else {
            return;
        };
        (state.stamp, state.is_recent) = (self.clock, true);
        self.clock += 1;
        self.age += 1;
        let Some(recent) = self.recent.get_mut(state.set as usize) else { return };
        let before = std::mem::replace(recent, line);
        // An empty set has no line, which is the most recent one of a set of its own.
        if before != Line::NONE
            && let Some(state) = self.states.get_mut(before.0 as usize)
        {
            state.is_recent = false;
        }
    }

    /// One access of `size` bytes at `addr`, with the rules of
    /// [`Cache::access`](super::cache::Cache::access). True is a miss.
    pub fn access(&mut self, addr: u64, size: u32) -> bool {
        let shift = self.line_shift();
        let offset = addr & u64::from(self.geometry.line() - 1);
        let further = (offset + u64::from(size.max(1)) - 1) >> shift;
        let mut missed = false;
        for i in 0..=further {
            let line = self.line((addr >> shift).wrapping_add(i) & (u64::MAX >> shift));
            missed |= !self.touch(line);
        }
        missed
    }
}

#[cfg(test)]
mod tests;
