//! Instructions that fault: how far one has come, by the addresses that the trace has of it.

use crate::hooks::plan::{Plan, PlannedEvent, Touch};

/// Bits of an address within a page.
const PAGE_BITS: u32 = 12;

/// Why an instruction faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is not one that runs, or not here.
    Instruction,
    /// An access to the page of this address.
    Page {
        /// The address.
        addr: u64,
        /// Whether it could not be written or could not be read, if that is known.
        write: Option<bool>,
        /// Whether it could have been read there.
        readable: bool,
    },
    /// An access to an address that is none.
    Address,
    /// What it computes from its operands.
    Result,
}

impl Cause {
    /// How many data events of a plan's instruction come before the fault. `slots` are those of the plan's record.
    pub(super) fn reached(self, plan: &Plan, insn: usize, slots: &[u64]) -> usize {
        let its = || plan.events.iter().filter(|event| usize::from(event.insn) == insn);
        if self == Cause::Result {
            return its().count();
        }
        let first = its().position(|event| self.is_at(event, slots)).unwrap_or(0);
        // Of the two events of a locked modification the second writes, whatever the engine asks for first.
        let writes = matches!(self, Cause::Page { write: Some(true), readable: true, .. });
        let modifies = its().skip(first).take(2).filter(|event| event.touch == Touch::Modify).count();
        first + usize::from(writes && modifies == 2)
    }

    /// Whether an event of the instruction is the access that faulted.
    fn is_at(self, event: &PlannedEvent, slots: &[u64]) -> bool {
        let Some(&base) = slots.get(usize::from(event.slot)) else { return false };
        let start = base.wrapping_add(u64::from(event.offset));
        match self {
            Cause::Page { addr, write, .. } => {
                let other = match write {
                    Some(true) => Touch::Load,
                    Some(false) => Touch::Store,
                    None => Touch::Nothing,
                };
                let last = start.wrapping_add(u64::from(event.size.max(1)) - 1);
                let pages = start >> PAGE_BITS..=last >> PAGE_BITS;
                event.touch != other && pages.contains(&(addr >> PAGE_BITS))
            }
            Cause::Address => (start << 16).cast_signed() >> 16 != start.cast_signed(),
            Cause::Instruction | Cause::Result => false,
        }
    }
}
