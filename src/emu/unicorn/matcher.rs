//! Which of the accesses that the engine makes fills which slot of the trace.

use crate::x86::cost::{Access, Cost, Slot};

/// Follows the accesses that the engine generates for one instruction and gives each slot its first.
#[derive(Default)]
pub struct Matcher {
    /// What it costs.
    pub cost: Cost,
    /// Its first slot in the record.
    pub first_slot: usize,
    next: usize,
    bytes: u16,
    failed: bool,
}

impl Matcher {
    /// Begins with another instruction.
    pub fn start(&mut self, cost: Cost, first_slot: usize) {
        *self = Matcher { cost, first_slot, ..Matcher::default() };
    }

    /// The slot that an access of `size` bytes fills, if it is the first of its slot.
    pub fn access(&mut self, write: bool, size: u16) -> Option<(usize, Slot)> {
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

    /// Whether the engine has made all accesses that were expected, and no others.
    pub fn is_complete(&self) -> bool {
        let rest = self.cost.slots.get(self.next..).unwrap_or_default();
        !self.failed && rest.iter().all(|slot| slot.access == Access::None)
    }
}
