//! Assignment of the engine's accesses to slots of the trace.

use crate::x86::cost::{Access, Cost, Slot};

/// Gives each slot of an instruction the first of the accesses that the engine generates for it.
#[derive(Default)]
pub(super) struct Matcher {
    /// Cost of the instruction.
    pub(super) cost: Cost,
    /// Its first slot in the record of the block.
    pub(super) first_slot: usize,
    next: usize,
    bytes: u16,
    failed: bool,
}

impl Matcher {
    /// Begins another instruction.
    pub(super) fn start(&mut self, cost: Cost, first_slot: usize) {
        *self = Matcher { cost, first_slot, ..Matcher::default() };
    }

    /// Takes an access of `size` bytes; returns the slot that it fills, if it is the first of the
    /// slot.
    pub(super) fn access(&mut self, write: bool, size: u16) -> Option<(usize, Slot)> {
        if let Some(slot) = self.next.checked_sub(1).and_then(|last| self.cost.slots.get(last)) {
            let same_way = match slot.access {
                Access::Load => !write,
                Access::Store => write,
                // The rest of its load, its store, or the loop that retries a locked operation.
                Access::Modify => true,
                Access::None => false,
            };
            if same_way && (self.bytes < slot.size || slot.access == Access::Modify) {
                self.bytes = self.bytes.saturating_add(size);
                return None;
            }
        }
        let index = self.next;
        match self.cost.slots.get(index) {
            Some(&slot) if slot.access != Access::None && write == (slot.access == Access::Store) => {
                self.next += 1;
                self.bytes = size;
                Some((self.first_slot + index, slot))
            }
            _ => {
                self.failed = true;
                None
            }
        }
    }

    /// Tests whether the engine has generated the expected accesses and no others.
    pub(super) fn is_complete(&self) -> bool {
        let rest = self.cost.slots.get(self.next..).unwrap_or_default();
        !self.failed && rest.iter().all(|slot| slot.access == Access::None)
    }
}
