//! Code without jumps, in which one superblock falls out to the next: how far it is followed. Only what is executed is worth
//! the work, and a page of it is not before the engine translates a block there.

use rustc_hash::{FxHashMap, FxHashSet};

/// Bits of an address within a page.
const PAGE_BITS: u32 = 12;

/// The pages with code that the engine has translated, and the superblocks to come in others.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    translated: FxHashSet<u64>,
    waiting: FxHashMap<u64, Vec<u64>>,
}

impl Ahead {
    /// A block is translated at `pc`: the superblocks that have waited for that to happen in this page.
    pub fn reach(&mut self, pc: u64) -> Vec<u64> {
        let page = pc >> PAGE_BITS;
        if self.translated.insert(page) { self.waiting.remove(&page).unwrap_or_default() } else { Vec::new() }
    }

    /// Whether the superblock that begins here waits until a block is translated in its page.
    pub fn waits(&mut self, start: u64) -> bool {
        let page = start >> PAGE_BITS;
        let waits = !self.translated.contains(&page);
        if waits {
            self.waiting.entry(page).or_default().push(start);
        }
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_reached_once() {
        let mut ahead = Ahead::default();
        assert!(ahead.reach(0x1010).is_empty());
        assert!(!ahead.waits(0x1ffc), "blocks are translated there");
        assert!(ahead.waits(0x2003));
        assert!(ahead.waits(0x2004));
        assert_eq!(ahead.reach(0x2ff0), [0x2003, 0x2004]);
        assert!(ahead.reach(0x2000).is_empty());
        assert!(!ahead.waits(0x2008));
    }
}
