//! One cache level whose order of use is kept as times, some of them elsewhere: exact LRU with the
//! rules of [`Cache`](super::cache::Cache), for hits that are noted without a look-up.
//!
//! The caller keeps the time of the last access of some lines, where it is cheaply stored. A hit on
//! one of those is a store of the time there; only for other accesses this cache is asked, with a
//! function that tells it of the times it does not have.

use super::geometry::Geometry;

/// Lines by set and way. Numbers of hits and misses are the caller's to keep.
#[derive(Clone, Debug)]
pub(crate) struct TimedCache {
    set_mask: u64,
    assoc: usize,
    /// The block in each way, the sets one after another; 0 at the start.
    blocks: Box<[u64]>,
    /// Time of the last access of each, unless the caller has it.
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
            times: vec![0; ways].into_boxed_slice(),
        }
    }

    /// Sets the time of the last access of a way, which the caller has no more.
    pub(crate) fn set_time(&mut self, way: usize, time: u32) {
        if let Some(its) = self.times.get_mut(way) {
            *its = time;
        }
    }

    /// The time of the last access of a way, which a store may be redirected to; ways do not move.
    pub(crate) fn time_place(&mut self, way: usize) -> *mut u32 {
        self.times.get_mut(way).map_or(std::ptr::null_mut(), |time| &raw mut *time)
    }

    /// Accesses blocks in order, each of them once, in a cache in its initial state.
    pub(crate) fn replay(&mut self, order: &[u64]) {
        for (now, &block) in (1..).zip(order) {
            self.touch(block, now, |_, _| None);
        }
    }

    /// Looks up a block at a time later than all others, and puts it in the place of the least
    /// recently used one of its set if it is not there. `elsewhere` tells the time of a way and
    /// block that the caller has, if it has it.
    #[inline]
    pub(crate) fn touch(
        &mut self,
        block: u64,
        now: u32,
        mut elsewhere: impl FnMut(usize, u64) -> Option<u32>,
    ) -> Touched {
        let first = (block & self.set_mask) as usize * self.assoc;
        let ways = first..first + self.assoc;
        let none = Touched { way: first, hit: false, before: 0, time: 0 };
        let (Some(blocks), Some(times)) = (self.blocks.get_mut(ways.clone()), self.times.get_mut(ways))
        else {
            return none; // Cannot be: the mask is the number of sets less one.
        };
        // The usual number of ways is known to the compiler.
        let (way, hit) = match (<&mut [u64; 8]>::try_from(&mut *blocks), <&[u32; 8]>::try_from(&*times)) {
            (Ok(eight), Ok(times)) => {
                place(eight, block, |way, its| elsewhere(first + way, its).unwrap_or(times[way % 8]))
            }
            _ => place(blocks, block, |way, its| {
                elsewhere(first + way, its).unwrap_or_else(|| times.get(way).copied().unwrap_or(0))
            }),
        };
        let (Some(its), Some(time)) = (blocks.get_mut(way), times.get_mut(way)) else {
            return none; // Cannot be: there is a way.
        };
        let (before, time) = (std::mem::replace(its, block), std::mem::replace(time, now));
        Touched { way: first + way, hit, before, time }
    }

    /// Takes the last access back, where the caller has none of the times.
    pub(crate) fn take_back(&mut self, touched: Touched) {
        if let Some(its) = self.blocks.get_mut(touched.way) {
            *its = touched.before;
        }
        self.set_time(touched.way, touched.time);
    }

    /// The times of all ways, where the caller has none.
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
/// the block. `time` tells the time of a way, which holds a block.
#[inline(always)]
fn place(blocks: &[u64], block: u64, mut time: impl FnMut(usize, u64) -> u32) -> (usize, bool) {
    // All ways are compared without a branch, which the host's CPU could not predict.
    let same = |same: u64, (way, its): (usize, &u64)| same | u64::from(*its == block) << (way % 64);
    let found = if blocks.len() <= 64 { blocks.iter().enumerate().fold(0, same) } else { u64::MAX };
    if found.is_power_of_two() {
        return (found.trailing_zeros() as usize, true);
    }
    if found != 0 {
        // Block 0, with which all ways begin, may be in several.
        let with = blocks.iter().enumerate().filter(|(_, its)| **its == block);
        if let Some((way, _)) = with.max_by_key(|&(way, its)| time(way, *its)) {
            return (way, true);
        }
    }
    /// Bits of a way in a key, whose other bits are its time.
    const WAY_BITS: u32 = 32;
    let mut key = |(way, its): (usize, &u64)| u64::from(time(way, *its)) << WAY_BITS | way as u64;
    // Eight are compared in pairs, so that the host's CPU can do so side by side.
    let oldest = match <&[u64; 8]>::try_from(blocks) {
        Ok(eight) => {
            let mut way = 0..;
            let [a, b, c, d, e, f, g, h] = eight.each_ref().map(|its| key((way.next().unwrap_or(0), its)));
            a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
        }
        Err(_) => blocks.iter().enumerate().map(key).min().unwrap_or(0),
    };
    (oldest as u32 as usize, false)
}

#[cfg(test)]
mod tests {
    use super::super::cache::Cache;
    use super::*;

    /// Blocks of a fixed pseudo-random sequence, block 0 among them; some times are kept outside.
    #[test]
    fn agrees_with_the_list() {
        for (size, assoc, line) in [(1024, 2, 64), (32768, 8, 64), (768, 3, 64), (4096, 1, 128)] {
            let geometry = Geometry::new(size, assoc, line).unwrap();
            let (mut list, mut timed) = (Cache::new(geometry), TimedCache::new(geometry));
            // Every third way's time is the caller's.
            let mut outside = vec![None; timed.times.len()];
            let mut seed = 88_172_645_463_325_252_u64;
            for now in 1..20_000 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let block = seed % (3 * size / u64::from(line));
                let touched = timed.touch(block, now, |way, _| outside[way]);
                assert_eq!(touched.hit, list.touch(block), "{size} {assoc} {now}");
                outside[touched.way] = None;
                if touched.way % 3 == 0 && block != 0 {
                    outside[touched.way] = Some(now);
                    timed.set_time(touched.way, 0);
                }
                if now % 500 == 0 {
                    for (way, time) in outside.iter_mut().enumerate() {
                        if let Some(time) = time.take() {
                            timed.set_time(way, time);
                        }
                    }
                    let touched = [4, 5].map(|far| timed.touch(block + far * size, now, |_, _| None));
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
