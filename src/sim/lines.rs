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
pub struct Line {
    number: u32,
    /// Its set; for none, one after the last.
    set: u32,
}

impl Line {
    /// The number of no block at all.
    const NONE: u32 = 0;
    /// A stand-in that [`LineCache::hit_both`] never takes for a hit.
    pub const UNKNOWN: Line = Line { number: 1, set: 0 };
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
    stamps: Vec<u64>,
    /// By line: its block number.
    blocks: Vec<u64>,
    numbers: FxHashMap<u64, Line>,
    /// The lines in each set, in no order, the sets one after another.
    ways: Box<[u32]>,
    /// The most recent line of each set, and of no set.
    recent: Box<[u32]>,
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
        for (line, &stamp) in (1..).zip(&self.stamps).filter(|(_, stamp)| **stamp != 0) {
            stamps.put(line - at);
            stamps.put(self.clock.wrapping_sub(stamp));
            at = line;
        }
        // A way that holds nothing is 0.
        self.ways.iter().for_each(|&line| order.put(u64::from(line.wrapping_add(1))));
        self.recent.iter().for_each(|&line| order.put(u64::from(line)));
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
            self.stamps.resize(self.blocks.len(), 0);
            let mask = self.geometry.sets() - 1;
            // The first two stand for no block.
            let lines = (0..).zip(&self.blocks).skip(2);
            self.numbers =
                lines.map(|(number, &block)| (block, Line { number, set: (block & mask) as u32 })).collect();
        }
        (self.clock, self.age) = (held.clock, held.age);
        self.stamps.fill(0);
        let (mut stamps, mut at) = (Unpacker(&held.stamps), 0);
        loop {
            let step = stamps.take() as usize;
            if step == 0 {
                break;
            }
            at += step;
            let stamp = held.clock.wrapping_sub(stamps.take());
            if let Some(now) = self.stamps.get_mut(at - 1) {
                *now = stamp;
            }
        }
        let mut order = Unpacker(&held.order);
        self.ways.fill_with(|| (order.take() as u32).wrapping_sub(1));
        self.recent.fill_with(|| order.take() as u32);
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
            stamps: vec![1, 0],
            blocks: vec![0, 0],
            numbers: FxHashMap::default(),
            ways: vec![EMPTY; ways].into_boxed_slice(),
            recent: vec![Line::NONE; sets.saturating_add(1)].into_boxed_slice(),
        }
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

    /// The line that stands for no block: always a hit.
    #[must_use]
    pub fn none(&self) -> Line {
        Line { number: Line::NONE, set: self.geometry.sets() as u32 }
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
        let set = (block & (self.geometry.sets() - 1)) as u32;
        let next = Line { number: self.stamps.len() as u32, set };
        *self.numbers.entry(block).or_insert_with(|| {
            self.stamps.push(0);
            self.blocks.push(block);
            next
        })
    }

    /// The block of a line.
    #[must_use]
    pub fn block(&self, line: Line) -> u64 {
        self.blocks.get(line.number as usize).copied().unwrap_or(0)
    }

    /// Accesses two lines, the first one first, if both hit; else does nothing. They may be the
    /// same.
    #[inline(always)]
    pub fn hit_both(&mut self, [first, second]: [Line; 2]) -> bool {
        let held = |line: Line| self.stamps.get(line.number as usize).is_some_and(|&stamp| stamp != 0);
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
        let hit = self.stamps.get(line.number as usize).is_some_and(|&stamp| stamp != 0) || self.load(line);
        self.stamp(line);
        hit
    }

    /// Puts a line where the oldest of its set was. True if that is a hit all the same: an empty
    /// way has tag 0.
    fn load(&mut self, line: Line) -> bool {
        let assoc = self.geometry.assoc() as usize;
        let set = line.set as usize * assoc;
        let Some(ways) = self.ways.get_mut(set..set + assoc) else { return false };
        let age = |way: &u32| self.stamps.get(*way as usize).copied().unwrap_or(0);
        let Some(oldest) = (0..ways.len()).min_by_key(|&i| age(&ways[i])) else { return false };
        let evicted = std::mem::replace(&mut ways[oldest], line.number);
        if let Some(stamp) = self.stamps.get_mut(evicted as usize) {
            *stamp = 0;
        }
        evicted == EMPTY && self.block(line) == 0
    }

    /// Makes a line the most recent of its set.
    #[inline(always)]
    fn stamp(&mut self, line: Line) {
        if let Some(stamp) = self.stamps.get_mut(line.number as usize) {
            *stamp = self.clock;
        }
        self.clock += 1;
        if let Some(recent) = self.recent.get_mut(line.set as usize) {
            self.age += u64::from(*recent != line.number);
            *recent = line.number;
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
