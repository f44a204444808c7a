//! The superblocks of a run, by the address where they begin.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::hooks::plan::{MappingId, NO_MAPPING};
use crate::hooks::record::MAX_BLOCK;
use crate::hooks::transitions::Cursor;
use crate::vex::{Superblock, Translator};
use crate::x86::decode::Fetch;

/// Bits of an address within a page.
const PAGE_BITS: u32 = 12;

/// Page of code: of a mapping, so that it is the same in every process that has it there.
type Page = (MappingId, u64);

/// Superblocks to translate later. Control may fall through from one superblock to the next for
/// long; only code that the engine translates is executed, so no page is entered before it
/// translates a block there.
#[derive(Clone, Debug, Default)]
struct Pending {
    translated: FxHashSet<Page>,
    waiting: FxHashMap<Page, Vec<u64>>,
}

impl Pending {
    /// Learns that a block is translated in a page. Returns the starts that have waited for it.
    fn reach(&mut self, page: Page) -> Vec<u64> {
        if self.translated.insert(page) { self.waiting.remove(&page).unwrap_or_default() } else { Vec::new() }
    }

    /// Defers a start until a block is translated in its page. Returns false if one has been.
    fn defers(&mut self, start: u64, page: Page) -> bool {
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
    mapping: MappingId,
    superblock: Superblock,
}

/// Superblocks in code that one process has: code that is in no file, and code of a file that was
/// changed in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct PrivateCode {
    /// Tells the programs of a run apart.
    pub(super) program: u64,
    /// The program from which forks have made this one.
    family: u64,
    known: Arc<Known>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    starts: FxHashMap<u64, u32>,
    pending: Pending,
}

impl PrivateCode {
    /// No private code of a new program.
    pub(super) fn new(program: u64) -> PrivateCode {
        PrivateCode { program, family: program, known: Arc::default() }
    }

    /// The private code of a copy of this program, which has the same so far.
    pub(super) fn of(&self, program: u64) -> PrivateCode {
        PrivateCode { program, family: self.family, known: Arc::clone(&self.known) }
    }

    /// True if there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.known.starts.is_empty()
    }
}

/// All superblocks. Index 0 is an empty one and stands for none.
///
/// Processes that have the same file at the same address share the superblocks there, because the
/// engine translates a page once for all of them. What differs is in the private code of a process.
#[derive(Debug)]
pub(super) struct SuperblockTable {
    superblocks: Vec<Superblock>,
    /// By address and mapping.
    starts: FxHashMap<(u64, MappingId), u32>,
    /// Code in no file, by family: copies of a program share its pages until one stores there, so
    /// that what the engine translates for one of them it does not translate for the others.
    families: FxHashMap<u64, FxHashMap<u64, u32>>,
    pending: Pending,
    /// The private code of the current process.
    private: PrivateCode,
    translator: Translator,
}

impl Default for SuperblockTable {
    fn default() -> SuperblockTable {
        SuperblockTable {
            superblocks: vec![Superblock::default()],
            starts: FxHashMap::default(),
            families: FxHashMap::default(),
            pending: Pending::default(),
            private: PrivateCode::default(),
            translator: Translator::default(),
        }
    }
}

impl SuperblockTable {
    /// Superblocks follow no jumps from here on.
    pub(super) fn follow_no_jumps(&mut self) {
        self.translator.follow_no_jumps();
    }

    /// Translates the superblocks that begin in the engine's block at `pc`, wherever control comes
    /// from. Returns those that are new or differ from the known ones.
    pub(super) fn translate(
        &mut self,
        pc: u64,
        mapping: MappingId,
        fetch: &mut Fetch<'_>,
    ) -> Vec<NewSuperblock> {
        let mut new: Vec<NewSuperblock> = Vec::new();
        let reached = self.pending(mapping).reach((mapping, pc >> PAGE_BITS));
        for first in std::iter::once(pc).chain(reached) {
            let (mut next, mut covered) = (Some(first), 0);
            // Control may fall through into the middle of a block of the engine, or in a loop back
            // to the start.
            while let Some(start) = next.filter(|&start| new.iter().all(|known| known.start != start)) {
                let far = covered >= MAX_BLOCK as usize;
                if far && (self.index(start, mapping).is_some() || self.defers(start, mapping)) {
                    break;
                }
                let superblock = self.translator.translate(start, fetch);
                covered += superblock.insns().len();
                next = superblock.fall_through();
                new.push(NewSuperblock { start, mapping, superblock });
            }
        }
        new.retain(|new| self.at(new.start, mapping) != Some(&new.superblock));
        new
    }

    fn pending(&mut self, mapping: MappingId) -> &mut Pending {
        if mapping == NO_MAPPING {
            &mut Arc::make_mut(&mut self.private.known).pending
        } else {
            &mut self.pending
        }
    }

    fn defers(&mut self, start: u64, mapping: MappingId) -> bool {
        self.pending(mapping).defers(start, (mapping, start >> PAGE_BITS))
    }

    /// Index of the superblock that begins at an address in the current process.
    fn index(&self, start: u64, mapping: MappingId) -> Option<u32> {
        let private = self.private.known.starts.get(&start);
        let others = || match mapping {
            NO_MAPPING => self.families.get(&self.private.family)?.get(&start),
            _ => self.starts.get(&(start, mapping)),
        };
        private.or_else(others).copied()
    }

    fn at(&self, start: u64, mapping: MappingId) -> Option<&Superblock> {
        self.superblocks.get(self.index(start, mapping)? as usize)
    }

    /// Tests whether another superblock begins at the same address.
    pub(super) fn replaces(&self, new: &NewSuperblock) -> bool {
        self.index(new.start, new.mapping).is_some()
    }

    /// Inserts a superblock in the place of any other at its address: for all processes if it is
    /// the first in its file, else for the current one.
    pub(super) fn insert(&mut self, new: NewSuperblock) {
        let index = self.superblocks.len() as u32;
        self.superblocks.push(new.superblock);
        let key = (new.start, new.mapping);
        if new.mapping == NO_MAPPING {
            self.families.entry(self.private.family).or_default().entry(new.start).or_insert(index);
        }
        if new.mapping == NO_MAPPING || self.starts.contains_key(&key) {
            Arc::make_mut(&mut self.private.known).starts.insert(new.start, index);
        } else {
            self.starts.insert(key, index);
        }
    }

    /// Exchanges the private code of the current process.
    pub(super) fn replace_private(&mut self, private: PrivateCode) -> PrivateCode {
        std::mem::replace(&mut self.private, private)
    }

    /// The private code of the current process.
    pub(super) fn private(&self) -> &PrivateCode {
        &self.private
    }

    /// True if the current process has code that others do not have.
    pub(super) fn has_private(&self) -> bool {
        !self.private.is_empty() || self.families.contains_key(&self.private.family)
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

    /// Cursor when control is at `pc` of this mapping: the same, or at the start of another
    /// superblock.
    pub(super) fn arrive(&self, cursor: Cursor, pc: u64, mapping: MappingId) -> Cursor {
        if self.is_next(cursor, pc) {
            return cursor;
        }
        Cursor { superblock: self.index(pc, mapping).map_or(0, |index| index as usize), insn: 0 }
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
        let (one, two) = ((0, 1), (0, 2));
        assert!(pending.reach(one).is_empty());
        assert!(!pending.defers(0x1ffc, one), "blocks are translated there");
        assert!(pending.defers(0x2003, two));
        assert!(pending.defers(0x2004, two));
        assert!(pending.reach((1, 2)).is_empty(), "another file at the same address");
        assert_eq!(pending.reach(two), [0x2003, 0x2004]);
        assert!(pending.reach(two).is_empty());
        assert!(!pending.defers(0x2008, two));
    }
}
