//! Guard regions of an address space, MADV_GUARD_INSTALL of madvise(2): pages that fault at every
//! access, within a mapping that does not know of it.

use std::collections::BTreeMap;

/// Ranges of guarded pages, by their starts, with their ends. No two touch or overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Guards(BTreeMap<u64, u64>);

impl Guards {
    /// Tests whether the page at an address is guarded.
    #[inline]
    pub(super) fn has(&self, addr: u64) -> bool {
        !self.0.is_empty() && self.0.range(..=addr).next_back().is_some_and(|(_, end)| addr < *end)
    }

    /// Guards a range.
    pub(super) fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        self.remove(start, end);
        let before = self.0.range(..start).next_back().filter(|(_, to)| **to == start).map(|(from, _)| *from);
        let after = self.0.remove(&end);
        self.0.insert(before.unwrap_or(start), after.unwrap_or(end));
    }

    /// Guards a range no more, and returns the parts that were guarded.
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

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.len() as u64 * 32
    }
}

#[cfg(test)]
mod tests {
    use super::Guards;

    #[test]
    fn ranges_join_and_are_cut() {
        let mut guards = Guards::default();
        guards.add(10, 20);
        guards.add(30, 40);
        guards.add(20, 30);
        assert_eq!(guards.0.iter().collect::<Vec<_>>(), [(&10, &40)]);
        assert_eq!(guards.remove(15, 25), [(15, 25)]);
        assert!(guards.has(14) && !guards.has(15) && !guards.has(24) && guards.has(25) && !guards.has(40));
        assert_eq!(guards.remove(0, 100), [(25, 40), (10, 15)]);
        assert_eq!(guards.bytes(), 0);
    }
}
