//! Index of the unmapped ranges of an address space. The ranges lie in chunks by rising address,
//! each of which knows its longest, so that a search takes a few hundred steps at
//! `MAX_MAP_COUNT` mappings, not one for each.

use crate::guest::USER_END;

/// Ranges in a chunk; one with more is cut in two.
const CHUNK: usize = 128;

/// An unmapped range: its start and its end.
type Gap = (u64, u64);

/// Gaps that follow each other. Never empty.
#[derive(Clone, Debug)]
struct Chunk {
    gaps: Vec<Gap>,
    /// Length of the longest.
    longest: u64,
}

impl Chunk {
    fn new(gaps: Vec<Gap>) -> Chunk {
        let mut chunk = Chunk { gaps, longest: 0 };
        chunk.measure();
        chunk
    }

    fn measure(&mut self) {
        self.longest = self.gaps.iter().map(|(start, end)| end - start).max().unwrap_or(0);
    }
}

/// The gaps of an address space.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    chunks: Vec<Chunk>,
}

impl Default for Gaps {
    /// Nothing is mapped.
    fn default() -> Gaps {
        Gaps { chunks: vec![Chunk::new(vec![(0, USER_END)])] }
    }
}

impl Gaps {
    /// Number of chunks that begin at or before an address.
    fn chunks_to(&self, addr: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.gaps.first().is_some_and(|gap| gap.0 <= addr))
    }

    /// Place of the last gap that begins at or before an address.
    fn find(&self, addr: u64) -> Option<(usize, usize)> {
        let chunk = self.chunks_to(addr).checked_sub(1)?;
        let at = self.chunks[chunk].gaps.partition_point(|gap| gap.0 <= addr).checked_sub(1)?;
        Some((chunk, at))
    }

    fn insert(&mut self, gap: Gap) {
        if gap.0 >= gap.1 {
            return;
        }
        let at = self.chunks_to(gap.0).saturating_sub(1);
        let Some(chunk) = self.chunks.get_mut(at) else { return self.chunks.push(Chunk::new(vec![gap])) };
        let place = chunk.gaps.partition_point(|held| held.0 < gap.0);
        chunk.gaps.insert(place, gap);
        if chunk.gaps.len() > CHUNK {
            let rest = chunk.gaps.split_off(CHUNK / 2);
            self.chunks.insert(at + 1, Chunk::new(rest));
        }
        self.chunks[at].measure();
    }

    fn remove(&mut self, (chunk, at): (usize, usize)) -> Gap {
        let gap = self.chunks[chunk].gaps.remove(at);
        if self.chunks[chunk].gaps.is_empty() {
            self.chunks.remove(chunk);
        } else {
            self.chunks[chunk].measure();
        }
        gap
    }

    /// Takes a range out, which lies in one gap.
    pub(super) fn take(&mut self, start: u64, end: u64) {
        if let Some(place) = self.find(start) {
            let gap = self.remove(place);
            self.insert((gap.0, start));
            self.insert((end, gap.1));
        }
    }

    /// Gives back a range, which touches no gap but at its ends.
    pub(super) fn give(&mut self, start: u64, end: u64) {
        let mut gap = (start, end);
        if let Some(place) = self.find(end).filter(|(chunk, at)| self.chunks[*chunk].gaps[*at].0 == end) {
            gap.1 = self.remove(place).1;
        }
        if let Some(place) = self.find(start).filter(|(chunk, at)| self.chunks[*chunk].gaps[*at].1 == start) {
            gap.0 = self.remove(place).0;
        }
        self.insert(gap);
    }

    /// The highest free range of `len` bytes between `bottom` and `top`: its start.
    pub(super) fn highest(&self, len: u64, bottom: u64, top: u64) -> Option<u64> {
        let chunks = self.chunks[..self.chunks_to(top)].iter().rev().filter(|chunk| chunk.longest >= len);
        let gaps = chunks.flat_map(|chunk| chunk.gaps.iter().rev());
        let starts = gaps.filter_map(|&(start, end)| end.min(top).checked_sub(len).filter(|at| *at >= start));
        starts.take(1).find(|at| *at >= bottom)
    }

    /// The lowest free range of `len` bytes between `bottom` and `top` that overlaps none of
    /// `taken`, which do not overlap each other: its start.
    pub(super) fn lowest(&self, len: u64, bottom: u64, top: u64, taken: &[Gap]) -> Option<u64> {
        let chunks = &self.chunks[self.chunks_to(bottom).saturating_sub(1)..];
        let gaps = chunks.iter().filter(|chunk| chunk.longest >= len).flat_map(|chunk| &chunk.gaps);
        let fit = |&(start, end): &Gap| {
            let mut floor = start.max(bottom);
            loop {
                let behind = floor.checked_add(len).filter(|behind| *behind <= end.min(top))?;
                match taken.iter().filter(|(from, to)| *from < behind && floor < *to).map(|gap| gap.1).min() {
                    Some(after) => floor = after,
                    None => return Some(floor),
                }
            }
        };
        gaps.take_while(|gap| gap.0 < top).find_map(fit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 0x1000;

    /// Beside a list of pages that is searched one by one.
    #[test]
    fn the_index_finds_what_a_search_finds() {
        const PAGES: u64 = 2000;
        let mut gaps = Gaps::default();
        gaps.take(PAGES * PAGE, USER_END);
        let mut free = vec![true; PAGES as usize];
        let mut seed = 1u64;
        for _ in 0..6000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (at, len) = (seed >> 33 & 0x7ff, 1 + (seed >> 20 & 3));
            let range = at as usize..((at + len).min(PAGES) as usize).max(at.min(PAGES) as usize);
            let pages = free.get_mut(range.clone()).unwrap_or_default();
            let (start, end) = (range.start as u64 * PAGE, range.end as u64 * PAGE);
            if start < end && pages.iter().all(|free| *free) {
                gaps.take(start, end);
                pages.fill(false);
            } else if start < end && pages.iter().all(|free| !*free) {
                gaps.give(start, end);
                pages.fill(true);
            }
            let wanted = (1 + (seed >> 40 & 7)) as usize;
            let (bottom, top) = ((seed >> 50 & 0xff) as usize, PAGES as usize - (seed >> 45 & 0xff) as usize);
            let fits = |at: &usize| free[*at..*at + wanted].iter().all(|free| *free);
            let lowest = (bottom..=top - wanted).find(fits).map(|at| at as u64 * PAGE);
            let highest = (bottom..=top - wanted).rfind(fits).map(|at| at as u64 * PAGE);
            let (len, bottom, top) = (wanted as u64 * PAGE, bottom as u64 * PAGE, top as u64 * PAGE);
            assert_eq!(gaps.lowest(len, bottom, top, &[]), lowest);
            assert_eq!(gaps.highest(len, bottom, top), highest);
        }
        assert!(gaps.chunks.len() > 2, "{}", gaps.chunks.len());
        assert!(gaps.chunks.iter().all(|chunk| !chunk.gaps.is_empty() && chunk.gaps.len() <= CHUNK));
    }
}
