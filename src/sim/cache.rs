//! One cache level: exact LRU with Cachegrind's rules (`cg_sim.c`; its manual, section 5.7.1).
//!
//! - A block number is the address divided by the line size; the set is its low bits; the whole
//!   block number is the stored tag.
//! - Each set is a list from most to least recently used. A hit moves its block to the front; a
//!   miss inserts at the front and drops the last. Reads, writes and fetches are the same.
//! - At the start every way holds tag 0, so block 0 hits although nobody has touched it.
//!
//! Most lookups find the block that was used last in its set. One word per set answers these
//! without touching the list, and nothing has to change. Else the usual shapes of a data cache
//! compare all tags at once and note the time ([`Sets`]); shorter lists are moved without branches,
//! and longer ones, of which there are many sets, are kept in the least room.

mod sets;

use super::geometry::Geometry;
use super::packing::{Packer, Unpacker};
use sets::Sets;

/// One simulated cache. Numbers of hits and misses are the caller's to keep.
#[derive(Clone, Debug)]
pub struct Cache {
    geometry: Geometry,
    shift: u32,
    set_mask: u64,
    /// The most recent block of each set; for one way, the whole cache.
    mru: Box<[u64]>,
    ways: Ways,
}

/// Contents of a [`Cache`], in few bytes where it holds little: its lists that are not empty.
#[derive(Clone, Debug)]
pub struct HeldCache(Box<[u8]>);

impl HeldCache {
    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.0.len() as u64
    }
}

/// The lists, most recent first, with the usual lengths known to the compiler.
#[derive(Clone, Debug)]
enum Ways {
    W1,
    W2(Box<[[u64; 2]]>),
    W3(Box<[[u64; 3]]>),
    W4(Box<[[u64; 4]]>),
    W8(Sets<8>),
    W12(Sets<12>),
    W16(Box<[[u64; 16]]>),
    /// Any other number of ways, the sets one after another.
    Any(Box<[u64]>, usize),
}

impl Cache {
    /// A cache in its initial state.
    #[must_use]
    pub fn new(geometry: Geometry) -> Cache {
        let sets = usize::try_from(geometry.sets()).unwrap_or(usize::MAX);
        let ways = match geometry.assoc() {
            1 => Ways::W1,
            2 => Ways::W2(lists(sets)),
            3 => Ways::W3(lists(sets)),
            4 => Ways::W4(lists(sets)),
            8 => Ways::W8(Sets::new(sets)),
            12 => Ways::W12(Sets::new(sets)),
            16 => Ways::W16(lists(sets)),
            n => {
                let n = usize::try_from(n).unwrap_or(usize::MAX);
                // Never more than size / 16 words: Geometry has checked that sets x ways x line =
                // size.
                Ways::Any(vec![0; sets.saturating_mul(n)].into_boxed_slice(), n)
            }
        };
        Cache {
            geometry,
            shift: geometry.line_shift(),
            set_mask: geometry.sets() - 1,
            mru: vec![0; sets].into_boxed_slice(),
            ways,
        }
    }

    /// The geometry it was made with.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Base-2 logarithm of the line size: `addr >> line_shift()` is the block of an address.
    #[inline]
    #[must_use]
    pub fn line_shift(&self) -> u32 {
        self.shift
    }

    /// Contents of the cache.
    #[must_use]
    pub fn held(&self) -> HeldCache {
        let (mut packer, mut at, mut before) = (Packer::default(), 0, 0_u64);
        let mut list = Vec::new();
        for (set, &first) in (1_u64..).zip(&*self.mru) {
            self.ways.list(set as usize - 1, first, &mut list);
            let Some(last) = list.iter().rposition(|&block| block != 0) else { continue };
            packer.put(set - at);
            packer.put(last as u64);
            // Neighbours are in sets beside each other.
            before = before.wrapping_add(set - at);
            at = set;
            for &block in list.iter().take(last + 1) {
                packer.put_near(block, before);
                before = block;
            }
            before = list.first().copied().unwrap_or(0);
        }
        HeldCache(packer.finish())
    }

    /// The cache holds what it held before.
    pub fn hold(&mut self, held: &HeldCache) {
        self.mru.fill(0);
        self.ways.clear();
        let mut list = Vec::new();
        let (mut unpacker, mut at, mut before) = (Unpacker(&held.0), 0, 0_u64);
        loop {
            let step = unpacker.take();
            if step == 0 {
                break;
            }
            let last = unpacker.take() as usize;
            before = before.wrapping_add(step);
            at += step as usize;
            let Some(first) = self.mru.get_mut(at - 1) else { break };
            list.clear();
            for _ in 0..=last {
                before = unpacker.take_near(before);
                list.push(before);
            }
            self.ways.set_list(at - 1, &list);
            before = list.first().copied().unwrap_or(0);
            *first = before;
        }
    }

    /// The blocks it holds, but for block 0, with which every way begins.
    pub fn held_blocks(&self) -> impl Iterator<Item = u64> + '_ {
        let all: Box<dyn Iterator<Item = u64> + '_> = match &self.ways {
            Ways::W1 => Box::new(self.mru.iter().copied()),
            Ways::W2(sets) => Box::new(sets.iter().flatten().copied()),
            Ways::W3(sets) => Box::new(sets.iter().flatten().copied()),
            Ways::W4(sets) => Box::new(sets.iter().flatten().copied()),
            Ways::W8(sets) => Box::new(sets.blocks()),
            Ways::W12(sets) => Box::new(sets.blocks()),
            Ways::W16(sets) => Box::new(sets.iter().flatten().copied()),
            Ways::Any(ways, _) => Box::new(ways.iter().copied()),
        };
        all.filter(|&block| block != 0)
    }

    /// Returns whether `block` is the most recent of its set. If so, touching it would hit and
    /// change nothing, and need not be done.
    #[inline]
    #[must_use]
    pub fn is_mru(&self, block: u64) -> bool {
        self.mru.get((block & self.set_mask) as usize) == Some(&block)
    }

    /// Looks up one block and makes it the most recent of its set. True is a hit.
    #[inline]
    pub fn touch(&mut self, block: u64) -> bool {
        let set = (block & self.set_mask) as usize;
        let Some(mru) = self.mru.get_mut(set) else {
            return false; // Cannot be: the mask is the number of sets minus one.
        };
        if *mru == block {
            return true;
        }
        *mru = block;
        self.ways.promote(set, block)
    }

    /// Reads what a look-up of `addr` will read first. The sum of some is good for nothing but to
    /// have the host's cache fetch them together, before the look-ups wait for one after another.
    #[inline]
    #[must_use]
    pub fn read_ahead(&self, addr: u64) -> u64 {
        let set = (addr >> self.shift & self.set_mask) as usize;
        let ways = match &self.ways {
            Ways::W16(sets) => sets.get(set).map_or(0, |list| list[0] ^ list[8]),
            _ => 0,
        };
        ways ^ self.mru.get(set).copied().unwrap_or(0)
    }

    /// One access of `size` bytes at `addr`. True is a miss.
    ///
    /// An access over a line boundary looks up every block it touches, the lowest first, whether or
    /// not the first one missed, and misses (once) if any did. Cachegrind knows no access over more
    /// than two blocks. A `size` of 0 is taken as 1; addresses wrap at 2^64.
    #[inline]
    pub fn access(&mut self, addr: u64, size: u32) -> bool {
        let block = addr >> self.shift;
        let offset = addr & u64::from(self.geometry.line() - 1);
        let further = (offset + u64::from(size.max(1)) - 1) >> self.shift;
        if further == 0 { !self.touch(block) } else { self.straddle(block, further) }
    }

    /// Looks up `block` and the `further` ones after it. True if any missed.
    #[cold]
    fn straddle(&mut self, block: u64, further: u64) -> bool {
        let mut missed = !self.touch(block);
        for i in 1..=further {
            missed |= !self.touch(block.wrapping_add(i) & (u64::MAX >> self.shift));
        }
        missed
    }
}

/// Empty lists of `N` ways.
fn lists<const N: usize>(sets: usize) -> Box<[[u64; N]]> {
    vec![[0; N]; sets].into_boxed_slice()
}

impl Ways {
    /// Puts the list of a set in `out`; `first` is the block at its front.
    fn list(&self, set: usize, first: u64, out: &mut Vec<u64>) {
        out.clear();
        match self {
            Ways::W1 => out.push(first),
            Ways::W2(sets) => out.extend(sets.get(set).into_iter().flatten()),
            Ways::W3(sets) => out.extend(sets.get(set).into_iter().flatten()),
            Ways::W4(sets) => out.extend(sets.get(set).into_iter().flatten()),
            Ways::W8(sets) => out.extend(sets.list(set)),
            Ways::W12(sets) => out.extend(sets.list(set)),
            Ways::W16(sets) => out.extend(sets.get(set).into_iter().flatten()),
            Ways::Any(tags, n) => out.extend(tags.chunks_exact(*n).nth(set).into_iter().flatten()),
        }
    }

    /// Sets the list of a set that is empty. One way is kept elsewhere.
    fn set_list(&mut self, set: usize, list: &[u64]) {
        let ways: Option<&mut [u64]> = match self {
            Ways::W1 => None,
            Ways::W2(sets) => sets.get_mut(set).map(<[u64; 2]>::as_mut_slice),
            Ways::W3(sets) => sets.get_mut(set).map(<[u64; 3]>::as_mut_slice),
            Ways::W4(sets) => sets.get_mut(set).map(<[u64; 4]>::as_mut_slice),
            Ways::W8(sets) => return sets.set_list(set, list),
            Ways::W12(sets) => return sets.set_list(set, list),
            Ways::W16(sets) => sets.get_mut(set).map(<[u64; 16]>::as_mut_slice),
            Ways::Any(tags, n) => tags.chunks_exact_mut(*n).nth(set),
        };
        for (way, block) in ways.unwrap_or_default().iter_mut().zip(list) {
            *way = *block;
        }
    }

    /// Empties all lists.
    fn clear(&mut self) {
        match self {
            Ways::W1 => {}
            Ways::W2(sets) => sets.as_flattened_mut().fill(0),
            Ways::W3(sets) => sets.as_flattened_mut().fill(0),
            Ways::W4(sets) => sets.as_flattened_mut().fill(0),
            Ways::W8(sets) => sets.clear(),
            Ways::W12(sets) => sets.clear(),
            Ways::W16(sets) => sets.as_flattened_mut().fill(0),
            Ways::Any(tags, _) => tags.fill(0),
        }
    }

    /// Moves `block`, which is not at the front of its set, there. True if it was in the list.
    #[inline(never)]
    fn promote(&mut self, set: usize, block: u64) -> bool {
        match self {
            Ways::W1 => false,
            Ways::W2(sets) => short(sets, set, block),
            Ways::W3(sets) => short(sets, set, block),
            Ways::W4(sets) => short(sets, set, block),
            Ways::W8(sets) => sets.promote(set, block),
            Ways::W12(sets) => sets.promote(set, block),
            Ways::W16(sets) => long(sets, set, block),
            Ways::Any(tags, n) => {
                let start = set.saturating_mul(*n);
                tags.get_mut(start..start.saturating_add(*n)).is_some_and(|list| shift(list, block))
            }
        }
    }
}

/// The whole list, without a branch on its contents.
#[inline]
fn short<const N: usize>(sets: &mut [[u64; N]], set: usize, block: u64) -> bool {
    let Some(list) = sets.get_mut(set) else {
        return false;
    };
    let mut carried = block;
    let mut found = false;
    for way in list {
        let tag = *way;
        *way = if found { tag } else { carried };
        found |= tag == block;
        carried = tag;
    }
    found
}

/// Ends where the block is found.
#[inline]
fn long<const N: usize>(sets: &mut [[u64; N]], set: usize, block: u64) -> bool {
    sets.get_mut(set).is_some_and(|list| shift(list, block))
}

#[inline]
fn shift(list: &mut [u64], block: u64) -> bool {
    let mut carried = block;
    for way in list {
        let tag = std::mem::replace(way, carried);
        if tag == block {
            return true;
        }
        carried = tag;
    }
    false
}

#[cfg(test)]
mod tests;
