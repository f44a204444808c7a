//! Progress of an instruction that faults, derived from the addresses in its record.

use crate::hooks::plan::{Plan, PlannedEvent};
use crate::x86::address::is_canonical;
use crate::x86::cost::Access;

/// Bits of an address within a page.
const PAGE_BITS: u32 = 12;

/// Cause of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The instruction is undefined or not permitted.
    Instruction,
    /// An access to a page is not permitted.
    Page {
        /// Address of the access.
        addr: u64,
        /// The access was a store, if that is known.
        write: Option<bool>,
    },
    /// An access to a non-canonical or misaligned address.
    Address,
    /// The result, such as a division by zero.
    Result,
}

/// Faulting instruction in the record of its block.
pub(super) struct FaultingInsn<'a> {
    pub(super) cause: Cause,
    pub(super) plan: &'a Plan,
    /// Index in the plan.
    pub(super) insn: usize,
    /// Slots of the record.
    pub(super) slots: &'a [u64],
    /// Tests whether an address can be read.
    pub(super) readable: &'a mut dyn FnMut(u64) -> bool,
}

impl FaultingInsn<'_> {
    /// Counts the data events before the fault.
    pub(super) fn events_before(&mut self) -> usize {
        let (plan, insn) = (self.plan, self.insn);
        let events = || plan.events.iter().filter(|event| usize::from(event.insn) == insn);
        if self.cause == Cause::Result {
            return events().count();
        }
        let first = events().position(|event| self.is_at(event)).unwrap_or(0);
        // The second of the two events of a locked modification writes, whatever the engine asks
        // for first.
        let writes = match self.cause {
            Cause::Page { addr, write: Some(true) } => (self.readable)(addr),
            _ => false,
        };
        let modifies = events().skip(first).take(2).filter(|event| event.access == Access::Modify).count();
        first + usize::from(writes && modifies == 2)
    }

    /// Tests whether an event is the access that faulted.
    fn is_at(&self, event: &PlannedEvent) -> bool {
        let Some(&base) = self.slots.get(usize::from(event.slot)) else { return false };
        let start = base.wrapping_add(u64::from(event.offset));
        match self.cause {
            Cause::Page { addr, write } => {
                let other = match write {
                    Some(true) => Access::Load,
                    Some(false) => Access::Store,
                    None => Access::None,
                };
                let last = start.wrapping_add(u64::from(event.size.max(1)) - 1);
                let pages = start >> PAGE_BITS..=last >> PAGE_BITS;
                event.access != other && pages.contains(&(addr >> PAGE_BITS))
            }
            Cause::Address => !is_canonical(start),
            Cause::Instruction | Cause::Result => false,
        }
    }
}
