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
    assoc: usize,
    /// The block in each way, the sets one after another; 0 at the start.
    blocks: Box<[u64]>,
    /// The low halves of the blocks, where there is the usual number of ways: the baseline of
    /// x86-64 compares vectors of such words.
    low: Box<[u32]>,
    /// Time of the last access of each, below [`NEVER`].
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
    /// The time that it had before.
    time: u32,
}

impl TimedCache {
    /// A cache in its initial state.
    #[must_use]
    pub(crate) fn new(geometry: Geometry) -> TimedCache {
        let assoc = geometry.assoc() as usize;
        let ways = usize::try_from(geometry.sets()).unwrap_or(usize::MAX).saturating_mul(assoc);
        TimedCache {
            set_mask: geometry.sets() - 1,
            assoc,
            blocks: vec![0; ways].into_boxed_slice(),
            low: vec![0; if assoc == USUAL { ways } else { 0 }].into_boxed_slice(),
            times: vec![0; ways].into_boxed_slice(),
        }
    }

    /// The time of the last access of a way, which a store may be redirected to; ways do not move.
    pub(crate) fn time_place(&mut self, way: usize) -> *mut u32 {
        self.times.get_mut(way).map_or(std::ptr::null_mut(), |time| &raw mut *time)
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
        let first = (block & self.set_mask) as usize * self.assoc;
        let ways = first..first + self.assoc;
        let none = Touched { way: first, hit: false, before: 0, time: 0 };
        let (Some(blocks), Some(times)) = (self.blocks.get_mut(ways.clone()), self.times.get_mut(ways))
        else {
            return none; // Cannot be: the mask is the number of sets less one.
        };
        let usual = self.low.get_mut(first..).and_then(<[u32]>::first_chunk_mut);
        let (way, hit) = match (usual, times.first_chunk()) {
            (Some(low), Some(times)) => {
                let (way, hit) = place_of_eight(low, times, blocks, block);
                low[way % USUAL] = block as u32;
                (way, hit)
            }
            _ => place(blocks, times, block),
        };
        let (Some(its), Some(time)) = (blocks.get_mut(way), times.get_mut(way)) else {
            return none; // Cannot be: there is a way.
        };
        let (before, time) = (std::mem::replace(its, block), std::mem::replace(time, now));
        Touched { way: first + way, hit, before, time }
    }

    /// Takes the last access back.
    pub(crate) fn take_back(&mut self, touched: Touched) {
        let Touched { way, before, time, .. } = touched;
        if let (Some(its), Some(its_time)) = (self.blocks.get_mut(way), self.times.get_mut(way)) {
            (*its, *its_time) = (before, time);
        }
        if let Some(low) = self.low.get_mut(way) {
            *low = before as u32;
        }
    }

    /// The times of all ways.
    pub(crate) fn times(&mut self) -> &mut [u32] {
        &mut self.times
    }

    /// The block in each way.
    #[must_use]
    pub(crate) fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// The blocks that have been accessed and are still held, each after those that were used
    /// before it. Accesses in this order bring another cache to the same state.
    pub(crate) fn order(&self) -> Vec<u64> {
        let mut all: Vec<(u32, u64)> = self.times.iter().copied().zip(self.blocks.iter().copied()).collect();
        all.retain(|&(time, _)| time != 0);
        all.sort_unstable();
        all.into_iter().map(|(_, block)| block).collect()
    }
}

/// The way of a set that holds a block, or else the least recently used one, and whether it holds
/// the block. `low` are the low halves of the blocks.
#[inline(always)]
fn place_of_eight(low: &[u32; USUAL], times: &[u32; USUAL], blocks: &[u64], block: u64) -> (usize, bool) {
    let (halves, its) = (low.as_chunks().0, u32x4::splat(block as u32));
    let same = |at: usize| halves.get(at).map_or(0, |&half| u32x4::new(half).simd_eq(its).to_bitmask());
    let found = same(0) | same(1) << 4;
    if found == 0 {
        return (oldest(*times), false);
    }
    let way = found.trailing_zeros() as usize;
    if found.is_power_of_two() && blocks.get(way) == Some(&block) {
        return (way, true);
    }
    place(blocks, times, block)
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
