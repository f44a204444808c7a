//! Sets whose tags are compared at once. Each way has the time of its last use instead of a place
//! in a list, so that a hit is one comparison and one store, wherever the block is.

use wide::u32x4;

/// Sets of `N` ways, a multiple of four.
#[derive(Clone, Debug)]
pub(super) struct Sets<const N: usize> {
    sets: Box<[Set<N>]>,
    /// Time of the last use.
    now: u64,
}

/// Tags in halves, because the baseline of x86-64 compares vectors of 32-bit words and not of 64.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Set<const N: usize> {
    low: [u32; N],
    high: [u32; N],
    used: [u64; N],
}

impl<const N: usize> Sets<N> {
    /// Empty sets.
    pub(super) fn new(sets: usize) -> Sets<N> {
        let empty = Set { low: [0; N], high: [0; N], used: [0; N] };
        Sets { sets: vec![empty; sets].into_boxed_slice(), now: 0 }
    }

    /// Makes `block` the most recent of its set, in the place of the oldest if it is not there.
    /// True if it was there.
    #[inline]
    pub(super) fn promote(&mut self, set: usize, block: u64) -> bool {
        let Some(set) = self.sets.get_mut(set) else { return false };
        self.now += 1;
        let found = equal(&set.low, &set.high, block);
        let way =
            if found.is_power_of_two() { found.trailing_zeros() as usize } else { set.place(found, block) };
        if let Some(used) = set.used.get_mut(way) {
            *used = self.now;
        }
        found != 0
    }

    /// The list of a set, most recent first.
    pub(super) fn list(&self, set: usize) -> impl Iterator<Item = u64> {
        let mut list = [(0, 0); N];
        if let Some(set) = self.sets.get(set) {
            for (entry, (tag, &used)) in list.iter_mut().zip(set.tags().zip(&set.used)) {
                *entry = (u64::MAX - used, tag);
            }
        }
        // Ways that have never been used are all the same.
        list.sort_unstable_by_key(|&(age, _)| age);
        list.into_iter().map(|(_, tag)| tag)
    }

    /// Sets the list of a set.
    pub(super) fn set_list(&mut self, set: usize, list: &[u64]) {
        let Some(set) = self.sets.get_mut(set) else { return };
        for (way, &block) in list.iter().enumerate().take(N) {
            (set.low[way], set.high[way]) = halves(block);
            set.used[way] = (N - way) as u64;
        }
        self.now = self.now.max(N as u64);
    }

    /// All ways hold nothing.
    pub(super) fn clear(&mut self) {
        *self = Sets::new(self.sets.len());
    }

    /// Blocks in the ways, in no order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u64> {
        self.sets.iter().flat_map(Set::tags)
    }
}

impl<const N: usize> Set<N> {
    /// The way for `block`, which none has or, if it is 0, several: empty ways have tag 0.
    #[inline(never)]
    fn place(&mut self, found: u32, block: u64) -> usize {
        if found != 0 {
            let with = (0..N).filter(|way| found >> way & 1 != 0);
            return with.max_by_key(|&way| self.used[way]).unwrap_or(0);
        }
        let (mut oldest, mut least) = (0, u64::MAX);
        for (way, &used) in self.used.iter().enumerate() {
            if used < least {
                (oldest, least) = (way, used);
            }
        }
        (self.low[oldest], self.high[oldest]) = halves(block);
        oldest
    }

    fn tags(&self) -> impl Iterator<Item = u64> {
        self.low.iter().zip(&self.high).map(|(&low, &high)| u64::from(low) | u64::from(high) << 32)
    }
}

fn halves(block: u64) -> (u32, u32) {
    (block as u32, (block >> 32) as u32)
}

/// The ways that hold `block`, a bit for each, without a branch.
#[inline]
fn equal<const N: usize>(low: &[u32; N], high: &[u32; N], block: u64) -> u32 {
    let (block_low, block_high) = halves(block);
    let ways = low.as_chunks().0.iter().zip(high.as_chunks().0);
    (0..).step_by(4).zip(ways).fold(0, |found, (way, (&low, &high))| {
        let same_low = u32x4::new(low).simd_eq(u32x4::splat(block_low));
        let same_high = u32x4::new(high).simd_eq(u32x4::splat(block_high));
        found | (same_low & same_high).to_bitmask() << way
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds_equal_tags<const N: usize>() {
        let mut seed = 88_172_645_463_325_252_u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            // Few values, so that halves agree often and wholes now and then.
            [0, 1, 0x8000_0000, u32::MAX][(seed >> 40) as usize % 4]
        };
        let mut all = 0;
        for _ in 0..20_000 {
            let (low, high) = ([(); N].map(|()| next()), [(); N].map(|()| next()));
            let block = u64::from(next()) | u64::from(next()) << 32;
            let tags = low.iter().zip(&high).map(|(&low, &high)| u64::from(high) << 32 | u64::from(low));
            let found = tags.enumerate().filter(|&(_, tag)| tag == block);
            let found = found.fold(0, |found, (way, _)| found | 1 << way);
            assert_eq!(equal(&low, &high, block), found, "{block:#x} in {low:x?} {high:x?}");
            all += found.count_ones();
        }
        assert!(all > 0);
    }

    #[test]
    fn tags_are_compared_in_both_halves() {
        finds_equal_tags::<4>();
        finds_equal_tags::<8>();
        finds_equal_tags::<12>();
    }

    #[test]
    fn the_most_recent_of_several_empty_ways_is_used() {
        let mut sets = Sets::<4>::new(1);
        let mut list = vec![0; 4];
        for block in [7, 0, 9, 0, 0, 8, 7, 0, 5, 6, 3, 0] {
            let place = list.iter().position(|&tag| tag == block);
            list.remove(place.unwrap_or(3));
            list.insert(0, block);
            assert_eq!(sets.promote(0, block), place.is_some(), "{block}");
            assert_eq!(sets.list(0).collect::<Vec<_>>(), list, "{block}");
        }
        let mut other = Sets::<4>::new(1);
        other.set_list(0, &list);
        assert_eq!(other.list(0).collect::<Vec<_>>(), list);
    }
}
