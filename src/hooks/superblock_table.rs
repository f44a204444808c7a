//! The superblocks of a run, by the address where they begin.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::hooks::record::MAX_BLOCK;
use crate::hooks::transitions::Cursor;
use crate::vex::{Superblock, Translator};
use crate::x86::decode::Fetch;

/// Bits of an address within a page.
const PAGE_BITS: u32 = 12;

/// Superblocks to translate later. Control may fall through from one superblock to the next for
/// long; only code that the engine translates is executed, so no page is entered before it
/// translates a block there.
#[derive(Debug, Default)]
struct Pending {
    translated: FxHashSet<u64>,
    waiting: FxHashMap<u64, Vec<u64>>,
}

impl Pending {
    /// Learns that a block is translated at `pc`. Returns the starts that have waited for this
    /// page.
    fn reach(&mut self, pc: u64) -> Vec<u64> {
        let page = pc >> PAGE_BITS;
        if self.translated.insert(page) { self.waiting.remove(&page).unwrap_or_default() } else { Vec::new() }
    }

    /// Defers a start until a block is translated in its page. Returns false if one has been.
    fn defers(&mut self, start: u64) -> bool {
        let page = start >> PAGE_BITS;
        let defers = !self.translated.contains(&page);
        if defers {
            self.waiting.entry(page).or_default().push(start);
        }
        defers
    }
}

/// Superblock that has been translated and is not in the table.
#[derive(Debug)]
pub(super) struct NewSuperblock {
    start: u64,
    superblock: Superblock,
}

/// All superblocks. Index 0 is an empty one and stands for none.
#[derive(Debug)]
pub(super) struct SuperblockTable {
    superblocks: Vec<Superblock>,
    starts: FxHashMap<u64, u32>,
    pending: Pending,
    translator: Translator,
}

impl Default for SuperblockTable {
    fn default() -> SuperblockTable {
        SuperblockTable {
            superblocks: vec![Superblock::default()],
            starts: FxHashMap::default(),
            pending: Pending::default(),
            translator: Translator::default(),
        }
    }
}

impl SuperblockTable {
    /// Translates the superblocks that begin in the engine's block at `pc`, wherever control comes
    /// from. Returns those that are new or differ from the known ones.
    pub(super) fn translate(&mut self, pc: u64, fetch: &mut Fetch<'_>) -> Vec<NewSuperblock> {
        let mut new: Vec<NewSuperblock> = Vec::new();
        for first in std::iter::once(pc).chain(self.pending.reach(pc)) {
            let (mut next, mut covered) = (Some(first), 0);
            // Control may fall through into the middle of a block of the engine, or in a loop back
            // to the start.
            while let Some(start) = next.filter(|&start| new.iter().all(|known| known.start != start)) {
                let far = covered >= MAX_BLOCK as usize;
                if far && (self.starts.contains_key(&start) || self.pending.defers(start)) {
                    break;
                }
                let superblock = self.translator.translate(start, fetch);
                covered += superblock.insns().len();
                next = superblock.fall_through();
                new.push(NewSuperblock { start, superblock });
            }
        }
        new.retain(|new| self.at(new.start) != Some(&new.superblock));
        new
    }

    fn at(&self, start: u64) -> Option<&Superblock> {
        self.superblocks.get(*self.starts.get(&start)? as usize)
    }

    /// Tests whether another superblock begins at the same address.
    pub(super) fn replaces(&self, new: &NewSuperblock) -> bool {
        self.starts.contains_key(&new.start)
    }

    /// Inserts a superblock in the place of any other at its address.
    pub(super) fn insert(&mut self, new: NewSuperblock) {
        let index = self.superblocks.len() as u32;
        self.superblocks.push(new.superblock);
        self.starts.insert(new.start, index);
    }

    /// Superblock that a cursor is in.
    pub(super) fn get(&self, cursor: Cursor) -> Option<&Superblock> {
        self.superblocks.get(cursor.superblock).filter(|_| cursor.superblock > 0)
    }

    /// Tests whether the next instruction is at `pc`.
    pub(super) fn is_next(&self, cursor: Cursor, pc: u64) -> bool {
        let insn = self.get(cursor).and_then(|superblock| superblock.insns().get(cursor.insn));
        insn.is_some_and(|insn| insn.pc == pc)
    }

    /// Tests whether the cursor is between the two blocks of a merged superblock, where the next
    /// record decides whether control enters the second.
    pub(super) fn is_between_blocks(&self, cursor: Cursor) -> bool {
        self.get(cursor).is_some_and(|superblock| superblock.merged() == Some(cursor.insn))
    }

    /// Cursor when control is at `pc`: the same, or at the start of another superblock.
    pub(super) fn arrive(&self, cursor: Cursor, pc: u64) -> Cursor {
        if self.is_next(cursor, pc) {
            return cursor;
        }
        Cursor { superblock: self.starts.get(&pc).map_or(0, |&index| index as usize), insn: 0 }
    }

    /// Cursor one instruction further; outside at the end of a superblock.
    pub(super) fn advance(&self, cursor: Cursor) -> Cursor {
        match self.get(cursor) {
            Some(superblock) if cursor.insn + 1 < superblock.insns().len() => {
                Cursor { insn: cursor.insn + 1, ..cursor }
            }
            _ => Cursor::OUTSIDE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_reached_once() {
        let mut pending = Pending::default();
        assert!(pending.reach(0x1010).is_empty());
        assert!(!pending.defers(0x1ffc), "blocks are translated there");
        assert!(pending.defers(0x2003));
        assert!(pending.defers(0x2004));
        assert_eq!(pending.reach(0x2ff0), [0x2003, 0x2004]);
        assert!(pending.reach(0x2000).is_empty());
        assert!(!pending.defers(0x2008));
    }
}
