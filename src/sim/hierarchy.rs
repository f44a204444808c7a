//! I1, D1 and LL together.

use super::cache::{Cache, HeldCache};
use super::geometry::Geometry;
use super::lines::{HeldLines, LineCache};

/// Outcome of one access. A fetch or data access counts as at most one miss per level.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// In the first level.
    Hit,
    /// Not in the first level, but in the last.
    L1Miss,
    /// In neither.
    LlMiss,
}

/// Two first-level caches above one last-level cache, as Cachegrind has them: the last level is
/// asked only after a miss, with the address and size of the access and not of the missing line,
/// and evicting a line from it leaves the first level alone.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// First-level instruction cache.
    pub i1: LineCache,
    /// First-level data cache.
    pub d1: Cache,
    /// Last-level cache.
    pub ll: Cache,
}

/// Contents of a [`Hierarchy`] at some moment.
#[derive(Clone, Debug)]
pub struct Held {
    i1: HeldLines,
    d1: HeldCache,
    ll: HeldCache,
}

impl Held {
    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.i1.bytes() + self.d1.bytes() + self.ll.bytes()
    }
}

impl Hierarchy {
    /// Contents of the caches.
    #[must_use]
    pub fn held(&self) -> Held {
        Held { i1: self.i1.held(), d1: self.d1.held(), ll: self.ll.held() }
    }

    /// True if the lines of I1 have the numbers that they had then; see [`LineCache::numbers_as`].
    #[must_use]
    pub fn numbers_lines_as(&self, held: &Held) -> bool {
        self.i1.numbers_as(&held.i1)
    }

    /// The caches hold what they held before. See [`LineCache::hold`] for the numbers of lines.
    pub fn hold(&mut self, held: &Held) {
        self.i1.hold(&held.i1);
        self.d1.hold(&held.d1);
        self.ll.hold(&held.ll);
    }

    /// Three caches in their initial state.
    #[must_use]
    pub fn new(i1: Geometry, d1: Geometry, ll: Geometry) -> Hierarchy {
        Hierarchy { i1: LineCache::new(i1), d1: Cache::new(d1), ll: Cache::new(ll) }
    }

    /// The fetch of an instruction of `len` bytes at `addr`.
    #[inline]
    pub fn fetch(&mut self, addr: u64, len: u32) -> Outcome {
        if self.i1.access(addr, len) { self.below(addr, len) } else { Outcome::Hit }
    }

    /// A read, write or modify of `size` bytes at `addr`; they do not differ.
    #[inline]
    pub fn data(&mut self, addr: u64, size: u32) -> Outcome {
        if self.d1.access(addr, size) { self.below(addr, size) } else { Outcome::Hit }
    }

    /// The last level alone, for a caller that has looked up the first level itself and found a
    /// miss. True is a miss.
    #[inline]
    pub fn ll_access(&mut self, addr: u64, size: u32) -> bool {
        self.ll.access(addr, size)
    }

    /// The smallest line size in bytes. Accesses that Cachegrind makes through helpers (fxsave, the
    /// x87 environment, 10-byte x87 values) are clipped to it.
    #[must_use]
    pub fn min_line(&self) -> u32 {
        let [i1, d1, ll] = [self.i1.geometry(), self.d1.geometry(), self.ll.geometry()];
        i1.line().min(d1.line()).min(ll.line())
    }

    fn below(&mut self, addr: u64, size: u32) -> Outcome {
        if self.ll.access(addr, size) { Outcome::LlMiss } else { Outcome::L1Miss }
    }
}

#[cfg(test)]
mod tests;
