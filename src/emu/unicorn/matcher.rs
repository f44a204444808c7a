//! Assignment of the engine's accesses to slots of the trace.

use crate::x86::address::Address;
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
    /// The cost is made of the accesses as they come.
    observing: bool,
}

impl Matcher {
    /// Begins another instruction.
    pub(super) fn start(&mut self, cost: Cost, first_slot: usize) {
        *self = Matcher { cost, first_slot, ..Matcher::default() };
    }

    /// Begins an instruction of which the engine does not make the expected accesses: those that it
    /// makes become its cost.
    pub(super) fn observe(&mut self, first_slot: usize) {
        *self = Matcher { first_slot, observing: true, ..Matcher::default() };
    }

    /// Takes an access of `size` bytes; returns the slot that it fills, if it is the first of the
    /// slot.
    pub(super) fn access(&mut self, write: bool, size: u16) -> Option<(usize, Slot)> {
        if self.observing {
            let access = if write { Access::Store } else { Access::Load };
            let slot = self.cost.push_access(access, size, Address::Operand(0));
            self.next += 1;
            return Some((
                self.first_slot + usize::from(slot),
                Slot { access, size, address: Address::Operand(0) },
            ));
        }
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

    /// Tests whether the cost is made of the accesses as they come.
    pub(super) fn is_observing(&self) -> bool {
        self.observing
    }

    /// Tests whether the engine has generated the expected accesses and no others.
    pub(super) fn is_complete(&self) -> bool {
        let rest = self.cost.slots.get(self.next..).unwrap_or_default();
        !self.failed && rest.iter().all(|slot| slot.access == Access::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::cost::EventKind;

    #[test]
    fn other_accesses_than_expected_are_noticed() {
        let mut matcher = Matcher::default();
        let mut cost = Cost::default();
        cost.push_access(Access::Load, 4, Address::Operand(0));
        for accesses in [&[][..], &[(true, 4)], &[(false, 4), (true, 4)]] {
            matcher.start(cost.clone(), 0);
            for &(write, size) in accesses {
                matcher.access(write, size);
            }
            assert!(!matcher.is_complete(), "{accesses:?}");
        }
    }

    #[test]
    fn observed_accesses_are_the_cost() {
        let mut matcher = Matcher::default();
        matcher.observe(7);
        let slots: Vec<Option<usize>> = [(false, 16), (true, 2)]
            .map(|(write, size)| matcher.access(write, size).map(|(index, _)| index))
            .to_vec();
        assert_eq!(slots, [Some(7), Some(8)]);
        assert!(matcher.is_complete());
        let events: Vec<_> =
            matcher.cost.events.iter().map(|event| (event.slot, event.size, event.kind)).collect();
        assert_eq!(events, [(0, 16, EventKind::Read), (1, 2, EventKind::Write)]);
    }
}
