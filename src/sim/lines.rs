//! A cache for few blocks that are accessed over and over, as the instruction cache is: exact LRU
//! with the rules of [`Cache`](super::cache::Cache), looked up by a number that the caller asks for
//! once per block.
//!
//! Each way has a stamp: when it was last accessed. A hit is one comparison and one store, whatever
//! its place in the order; a miss looks for the oldest stamp of its set.

use rustc_hash::FxHashMap;

use super::geometry::Geometry;
use super::packing::{PackedList, Packer, Unpacker};

/// A block of a [`LineCache`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line(u32);

impl Line {
    /// The line that stands for no block: always a hit.
    pub const NONE: Line = Line(0);
    /// A stand-in that [`LineCache::hit_both`] never takes for a hit.
    pub const UNKNOWN: Line = Line(1);
}

/// Place of a line: the way that holds it, and whether it is the most recent line of its set, so
/// that another access changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u32);

impl Place {
    /// That of a line that no way holds.
    const NONE: Place = Place(u32::MAX << 1);

    fn way(way: usize) -> Place {
        Place((way as u32) << 1)
    }

    fn recent(self) -> Place {
        Place(self.0 | 1)
    }

    fn not_recent(self) -> Place {
        Place(self.0 & !1)
    }

    fn is_recent(self) -> bool {
        self.0 & 1 != 0
    }

    fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
}

/// A way that holds nothing yet: Cachegrind's tag 0.
const EMPTY: u32 = u32::MAX;

/// A way.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Time of the last access; 0 if it holds nothing.
    stamp: u64,
    line: u32,
    set: u32,
}

/// One simulated cache. Numbers of hits and misses are the caller's to keep.
#[derive(Clone, Debug)]
pub struct LineCache {
    geometry: Geometry,
    /// The stamp of the next access.
    clock: u64,
    /// Changes whenever the order in a set does.
    age: u64,
    /// By line.
    places: Vec<Place>,
    /// By line: its block number.
    blocks: Vec<u64>,
    numbers: FxHashMap<u64, Line>,
    /// The ways of each set, in no order, the sets one after another.
    ways: Box<[Way]>,
    /// The most recent line of each set.
    recent: Box<[Line]>,
}

/// Contents of a [`LineCache`] at some moment, in few bytes where it holds little.
#[derive(Clone, Debug)]
pub struct HeldLines {
    clock: u64,
    age: u64,
    /// By line: the block number.
    blocks: PackedList<u64>,
    /// Ways with their stamps, and most recent lines.
    order: Box<[u8]>,
}

impl HeldLines {
    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.blocks.bytes() + self.order.len() as u64
    }
}

impl LineCache {
    /// Contents of the cache.
    #[must_use]
    pub fn held(&self) -> HeldLines {
        let mut order = Packer::default();
        for way in &self.ways {
            // A way that holds nothing is 0.
            order.put(u64::from(way.line.wrapping_add(1)));
            order.put(if way.line == EMPTY { 0 } else { self.clock.wrapping_sub(way.stamp) });
        }
        self.recent.iter().for_each(|line| order.put(u64::from(line.0)));
        HeldLines {
            clock: self.clock,
            age: self.age,
            blocks: self.blocks.iter().copied().collect(),
            order: order.finish(),
        }
    }

    /// True if the lines have the numbers that they had then; more may have come since.
    #[must_use]
    pub fn numbers_as(&self, held: &HeldLines) -> bool {
        let then = held.blocks.iter();
        self.blocks.len() >= then.len() && then.zip(&self.blocks).all(|(then, now)| then == *now)
    }

    /// The cache holds what it held before. Lines keep their numbers if they are the same as then;
    /// else all have those from then.
    pub fn hold(&mut self, held: &HeldLines) {
        if !self.numbers_as(held) {
            self.blocks = held.blocks.iter().collect();
            self.places.resize(self.blocks.len(), Place::NONE);
            // The first two stand for no block.
            self.numbers =
                (0..).zip(&self.blocks).skip(2).map(|(line, &block)| (block, Line(line))).collect();
        }
        (self.clock, self.age) = (held.clock, held.age);
        self.places.iter_mut().skip(1).for_each(|place| *place = Place::NONE);
        let mut order = Unpacker(&held.order);
        for (index, way) in self.ways.iter_mut().enumerate() {
            (way.line, way.stamp) = ((order.take() as u32).wrapping_sub(1), order.take());
            way.stamp = if way.line == EMPTY { 0 } else { held.clock.wrapping_sub(way.stamp) };
            if let Some(place) = self.places.get_mut(way.line as usize) {
                *place = Place::way(index);
            }
        }
        self.recent.fill_with(|| Line(order.take() as u32));
        for line in &self.recent {
            if let Some(place) = self.places.get_mut(line.0 as usize) {
                *place = place.recent();
            }
        }
    }

    /// The blocks it holds, but for block 0, with which every way begins.
    pub fn held_blocks(&self) -> impl Iterator<Item = u64> + '_ {
        let held = self.ways.iter().filter(|way| way.line != EMPTY);
        held.filter_map(|way| self.blocks.get(way.line as usize).copied()).filter(|&block| block != 0)
    }

    /// A cache in its initial state.
    #[must_use]
    pub fn new(geometry: Geometry) -> LineCache {
        let sets = usize::try_from(geometry.sets()).unwrap_or(usize::MAX);
        let ways = (0..geometry.sets() as u32).flat_map(|set| {
            std::iter::repeat_n(Way { stamp: 0, line: EMPTY, set }, geometry.assoc() as usize)
        });
        LineCache {
            geometry,
            clock: 1,
            age: 1,
            places: vec![Place::NONE.recent(), Place::NONE],
            blocks: vec![0, 0],
            numbers: FxHashMap::default(),
            ways: ways.collect(),
            recent: vec![Line::NONE; sets].into_boxed_slice(),
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
        *self.numbers.entry(block).or_insert_with(|| {
            let line = Line(self.places.len() as u32);
            self.places.push(Place::NONE);
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
        let is_recent = |line: Line| self.place(line).is_recent();
        is_recent(first) && is_recent(second) || self.move_both(first, second)
    }

    fn move_both(&mut self, first: Line, second: Line) -> bool {
        if [first, second].map(|line| self.place(line)).contains(&Place::NONE) {
            return false;
        }
        self.stamp(first);
        self.stamp(second);
        true
    }

    /// Accesses one line. True is a hit.
    #[inline]
    pub fn touch(&mut self, line: Line) -> bool {
        let hit = self.place(line) != Place::NONE || self.load(line);
        self.stamp(line);
        hit
    }

    #[inline(always)]
    fn place(&self, line: Line) -> Place {
        self.places.get(line.0 as usize).copied().unwrap_or(Place::NONE)
    }

    /// Puts a line where the oldest of its set was. True if that is a hit all the same: an empty
    /// way has tag 0.
    fn load(&mut self, line: Line) -> bool {
        let block = self.block(line);
        let (set, assoc) = (self.set(block) as usize, self.geometry.assoc() as usize);
        let ways = self.ways.iter_mut().enumerate().skip(set * assoc).take(assoc);
        let Some((oldest, way)) = ways.min_by_key(|(_, way)| way.stamp) else { return false };
        let evicted = std::mem::replace(&mut way.line, line.0);
        for (line, place) in [(evicted, Place::NONE), (line.0, Place::way(oldest))] {
            if let Some(now) = self.places.get_mut(line as usize) {
                *now = place;
            }
        }
        evicted == EMPTY && block == 0
    }

    /// Makes a line the most recent of its set.
    fn stamp(&mut self, line: Line) {
        let place = self.place(line);
        if place.is_recent() {
            return;
        }
        let Some(way) = self.ways.get_mut(place.index()) else { return };
        way.stamp = self.clock;
        self.clock += 1;
        self.age += 1;
        let Some(recent) = self.recent.get_mut(way.set as usize) else { return };
        let before = std::mem::replace(recent, line);
        // A set that is empty has no line, which is always the most recent one.
        if before != Line::NONE
            && let Some(place) = self.places.get_mut(before.0 as usize)
        {
            *place = place.not_recent();
        }
        if let Some(place) = self.places.get_mut(line.0 as usize) {
            *place = place.recent();
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
