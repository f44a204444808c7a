//! One cache level whose order of use is kept as times: exact LRU with the rules of
//! [`Cache`](super::cache::Cache), for hits that are noted without a look-up.
//!
//! A hit on a line of which the caller knows the way is a store of the time at its place; only for
//! other accesses this cache is asked.

use wide::{i32x4, u32x4};

use super::geometry::Geometry;

/// Time that none reaches, so that times compare as signed words.
pub(crate) const NEVER: u32 = 1 << 31;

/// Ways of which all are compared at once.
const USUAL: usize = 8;

/// Lines by set and way. Numbers of hits and misses are the caller's to keep.
#[derive(Clone, Debug)]
pub(crate) struct TimedCache {
    set_mask: u64,
    sets: Sets,
}

#[derive(Clone, Debug)]
enum Sets {
    /// Sets of the usual number of ways.
    Usual(Box<[Set]>),
    Any(AnySets),
}

/// The ways of a set, two lines of the host's cache.
#[derive(Clone, Debug)]
#[repr(align(128))]
struct Set {
    /// The low halves of the blocks: the baseline of x86-64 compares vectors of such words.
    low: [u32; USUAL],
    /// Time of the last access of each, below [`NEVER`].
    times: [u32; USUAL],
    /// The block in each way; 0 at the start.
    blocks: [u64; USUAL],
}

/// Sets of any number of ways, one after another.
#[derive(Clone, Debug)]
struct AnySets {
    assoc: usize,
    blocks: Box<[u64]>,
    times: Box<[u32]>,
}

/// Outcome of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// The way that holds the block now.
    pub(crate) way: usize,
    /// It held it before.
    pub(crate) hit: bool,
    /// The block that it held before.
    pub(crate) before: u64,
    /// The time of its last access, which a store may be redirected to; ways do not move.
    pub(crate) time_place: *mut u32,
    /// The time that it had before.
    time: u32,
}

impl TimedCache {
    /// A cache in its initial state.
    #[must_use]
    pub(crate) fn new(geometry: Geometry) -> TimedCache {
        let (assoc, sets) =
            (geometry.assoc() as usize, usize::try_from(geometry.sets()).unwrap_or(usize::MAX));
        let sets = if assoc == USUAL {
            let empty = Set { low: [0; USUAL], times: [0; USUAL], blocks: [0; USUAL] };
            Sets::Usual(vec![empty; sets].into_boxed_slice())
        } else {
            let ways = sets.saturating_mul(assoc);
            let (blocks, times) = (vec![0; ways].into_boxed_slice(), vec![0; ways].into_boxed_slice());
            Sets::Any(AnySets { assoc, blocks, times })
        };
        TimedCache { set_mask: geometry.sets() - 1, sets }
    }

    /// Number of ways of all sets.
    pub(crate) fn ways(&self) -> usize {
        match &self.sets {
            Sets::Usual(sets) => USUAL * sets.len(),
            Sets::Any(sets) => sets.blocks.len(),
        }
    }

    /// Accesses blocks in order, each of them once, in a cache in its initial state.
    pub(crate) fn replay(&mut self, order: &[u64]) {
        for (now, &block) in (1..).zip(order) {
            self.touch(block, now);
        }
    }

    /// Looks up a block at a time later than all others, and puts it in the place of the least
    /// recently used one of its set if it is not there.
    #[inline]
    pub(crate) fn touch(&mut self, block: u64, now: u32) -> Touched {
        let number = (block & self.set_mask) as usize;
        let touched = match &mut self.sets {
            Sets::Usual(sets) => sets.get_mut(number).map(|set| set.touch(number, block, now)),
            Sets::Any(sets) => sets.touch(number, block, now),
        };
        touched.unwrap_or(NOT_TOUCHED)
    }

    /// Takes the last access back.
    pub(crate) fn take_back(&mut self, touched: Touched) {
        let Touched { way, before, time, .. } = touched;
        match &mut self.sets {
            Sets::Usual(sets) => {
                if let Some(set) = sets.get_mut(way / USUAL) {
                    set.put(way % USUAL, before, time);
                }
            }
            Sets::Any(AnySets { blocks, times, .. }) => {
                if let (Some(its), Some(its_time)) = (blocks.get_mut(way), times.get_mut(way)) {
                    (*its, *its_time) = (before, time);
                }
            }
        }
    }

    /// The times of all ways.
    pub(crate) fn times(&mut self) -> Box<dyn Iterator<Item = &mut u32> + '_> {
        match &mut self.sets {
            Sets::Usual(sets) => Box::new(sets.iter_mut().flat_map(|set| &mut set.times)),
            Sets::Any(sets) => Box::new(sets.times.iter_mut()),
        }
    }

    /// The blocks that have been accessed and are still held, each after those that were used
    /// before it. Accesses in this order bring another cache to the same state.
    pub(crate) fn order(&self) -> Vec<u64> {
        let mut all: Vec<(u32, u64)> = Vec::new();
        match &self.sets {
            Sets::Usual(sets) => {
                all.extend(sets.iter().flat_map(|set| set.times.into_iter().zip(set.blocks)));
            }
            Sets::Any(sets) => all.extend(sets.times.iter().copied().zip(sets.blocks.iter().copied())),
        }
        all.retain(|&(time, _)| time != 0);
        all.sort_unstable();
        all.into_iter().map(|(_, block)| block).collect()
    }
}

/// Outcome that cannot be: the mask is the number of sets less one.
const NOT_TOUCHED: Touched =
    Touched { way: 0, hit: false, before: 0, time_place: std::ptr::null_mut(), time: 0 };

impl Set {
    /// Looks up a block in the set, which has a number.
    #[inline(always)]
    fn touch(&mut self, number: usize, block: u64, now: u32) -> Touched {
        let (way, hit) = self.place(block);
        let way = way % USUAL;
        let (before, time) = (self.blocks[way], self.times[way]);
        self.put(way, block, now);
        Touched { way: USUAL * number + way, hit, before, time_place: &raw mut self.times[way], time }
    }

    /// Puts a block and its time in a way.
    #[inline(always)]
    fn put(&mut self, way: usize, block: u64, time: u32) {
        (self.low[way], self.blocks[way], self.times[way]) = (block as u32, block, time);
    }

    /// The way that holds a block, or else the least recently used one, and whether it holds the
    /// block.
    #[inline(always)]
    fn place(&self, block: u64) -> (usize, bool) {
        let its = u32x4::splat(block as u32);
        let [a, b, c, d, e, f, g, h] = self.low;
        let same = |half: [u32; 4]| u32x4::new(half).simd_eq(its).to_bitmask();
        let found = same([a, b, c, d]) | same([e, f, g, h]) << 4;
        if found == 0 {
            return (oldest(self.times), false);
        }
        let way = found.trailing_zeros() as usize % USUAL;
        if found.is_power_of_two() && self.blocks[way] == block {
            return (way, true);
        }
        place(&self.blocks, &self.times, block)
    }
}

impl AnySets {
    /// Looks up a block in the set with a number.
    fn touch(&mut self, number: usize, block: u64, now: u32) -> Option<Touched> {
        let first = number * self.assoc;
        let ways = first..first + self.assoc;
        let (way, hit) = place(self.blocks.get(ways.clone())?, self.times.get(ways)?, block);
        let (its, its_time) = (self.blocks.get_mut(first + way)?, self.times.get_mut(first + way)?);
        let (before, time) = (std::mem::replace(its, block), std::mem::replace(its_time, now));
        Some(Touched { way: first + way, hit, before, time_place: its_time, time })
    }
}

/// The first of the ways with the least time.
#[inline]
fn oldest(times: [u32; USUAL]) -> usize {
    let [a, b, c, d, e, f, g, h] = times.map(u32::cast_signed);
    let (first, last) = (i32x4::new([a, b, c, d]), i32x4::new([e, f, g, h]));
    let [a, b, c, d] = first.min(last).to_array();
    let least = i32x4::splat(a.min(b).min(c.min(d)));
    let with = first.simd_eq(least).to_bitmask() | last.simd_eq(least).to_bitmask() << 4;
    with.trailing_zeros() as usize % USUAL
}

/// The way of a set that holds a block, or else the least recently used one, and whether it holds
/// the block.
#[inline(never)]
fn place(blocks: &[u64], times: &[u32], block: u64) -> (usize, bool) {
    let ways = || blocks.iter().zip(times).enumerate();
    // Block 0, with which all ways begin, may be in several.
    let with = ways().filter(|(_, (its, _))| **its == block);
    if let Some((way, _)) = with.max_by_key(|(_, (_, time))| **time) {
        return (way, true);
    }
    (ways().min_by_key(|(_, (_, time))| **time).map_or(0, |(way, _)| way), false)
}

#[cfg(test)]
mod tests {
    use super::super::cache::Cache;
    use super::*;

    /// Blocks of a fixed pseudo-random sequence: block 0 among them, and pairs of one low half.
    #[test]
    fn agrees_with_the_list() {
        for (size, assoc, line) in [(1024, 2, 64), (32768, 8, 64), (768, 3, 64), (4096, 1, 128)] {
            let geometry = Geometry::new(size, assoc, line).unwrap();
            let (mut list, mut timed) = (Cache::new(geometry), TimedCache::new(geometry));
            let mut seed = 88_172_645_463_325_252_u64;
            for now in 1..20_000 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let block = (seed % (2 * size / u64::from(line))) | (seed >> 63 << 40);
                let touched = timed.touch(block, now);
                assert_eq!(touched.hit, list.touch(block), "{size} {assoc} {now}");
                if now % 500 == 0 {
                    let touched = [4, 5].map(|far| timed.touch(block + far * size, now));
                    touched.into_iter().rev().for_each(|touched| timed.take_back(touched));
                    let mut replayed = Cache::new(geometry);
                    for block in timed.order() {
                        replayed.touch(block);
                    }
                    let mut copy = list.clone();
                    for block in 0..3 * size / u64::from(line) {
                        assert_eq!(replayed.touch(block), copy.touch(block));
                    }
                }
            }
        }
    }
}
