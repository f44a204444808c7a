//! Sets of numbers that lie in ranges: the guard regions of an address space, MADV_GUARD_INSTALL of
//! madvise(2), and the pages that fallocate(2) has reserved for an object.

use std::collections::BTreeMap;

/// Ranges by their starts, with their ends. No two touch or overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Tests whether a number is in the set.
    #[inline]
    pub(super) fn has(&self, number: u64) -> bool {
        !self.0.is_empty() && self.0.range(..=number).next_back().is_some_and(|(_, end)| number < *end)
    }

    /// Adds a range.
    pub(super) fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        self.remove(start, end);
        let before = self.0.range(..start).next_back().filter(|(_, to)| **to == start).map(|(from, _)| *from);
        let after = self.0.remove(&end);
        self.0.insert(before.unwrap_or(start), after.unwrap_or(end));
    }

    /// Takes a range out, and returns the parts of it that were in the set.
    pub(super) fn remove(&mut self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut removed = Vec::new();
        while let Some((from, to)) = self.0.range(..end).next_back().map(|(from, to)| (*from, *to)) {
            if to <= start {
                break;
            }
            self.0.remove(&from);
            if to > end {
                self.0.insert(end, to);
            }
            removed.push((from.max(start), to.min(end)));
            if from < start {
                self.0.insert(from, start);
                break;
            }
        }
        removed
    }

    /// The parts of a range that are in the set, rising.
    pub(super) fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let before = self.0.range(..start).next_back().filter(|(_, to)| **to > start);
        let parts = before.into_iter().chain(self.0.range(start..end.max(start)));
        parts.map(move |(from, to)| ((*from).max(start), (*to).min(end))).filter(|(from, to)| from < to)
    }

    /// Number of members.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.len() as u64 * 32
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn ranges_join_and_are_cut() {
        let mut ranges = Ranges::default();
        ranges.add(10, 20);
        ranges.add(30, 40);
        ranges.add(20, 30);
        assert_eq!(ranges.0.iter().collect::<Vec<_>>(), [(&10, &40)]);
        assert_eq!(ranges.remove(15, 25), [(15, 25)]);
        assert_eq!(ranges.within(12, 30).collect::<Vec<_>>(), [(12, 15), (25, 30)]);
        assert_eq!(
            (ranges.within(15, 25).count(), ranges.within(30, 12).count(), ranges.count()),
            (0, 0, 20)
        );
        assert!(ranges.has(14) && !ranges.has(15) && !ranges.has(24) && ranges.has(25) && !ranges.has(40));
        assert_eq!(ranges.remove(0, 100), [(25, 40), (10, 15)]);
        assert_eq!(ranges.bytes(), 0);
    }
}
