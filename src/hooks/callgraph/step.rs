//! Parts of blocks that are needed to follow control through every record.

use rustc_hash::FxHashMap;

use crate::hooks::callgraph::costs::{ArcId, BlockId, ContextId};
use crate::hooks::callgraph::facts::{CallFacts, Leave};
use crate::hooks::callgraph::stack_pointer::StackPointer;
use crate::hooks::callgraph::sums::Packed;
use crate::hooks::record::{MAX_RECORD, PlanId};

/// Part of a block that is needed for every record, one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Step {
    pub(super) plan: PlanId,
    pub(super) context: ContextId,
    /// Level of recursion, from 0 on.
    pub(super) recursion: u32,
    /// Number of its context, level, section and object, and of whether it is skipped, if it ends
    /// with a jump or with none; [`OUT_OF_IT`] otherwise. A jump is no call if it leads to a block
    /// that [`Self::lands`] there.
    pub(super) stays: u32,
    /// The same number; [`NOWHERE`] at the beginning of a function. With [`VARIES`] where a record
    /// does not always reference the same.
    pub(super) lands: u32,
    /// The block that was called from it last.
    pub(super) called: BlockId,
    /// The block that came last after the return of its call.
    pub(super) returned: BlockId,
    /// The last arc from it.
    pub(super) arc: ArcId,
    pub(super) leave: Leave,
    pub(super) way: Way,
    pub(super) skipped: bool,
    /// A record does not always reference the same.
    pub(super) varies: bool,
    /// Word of a record by which the stack pointer after it is known; [`HEADER`] if by the one
    /// before.
    sp_word: u16,
    /// The distance from there.
    sp_offset: i64,
    /// References of every record.
    pub(super) references: Packed,
}

const _: () = assert!(size_of::<Step>() == 64);

/// No group of blocks.
const NOWHERE: u32 = u32::MAX;

/// Bit that no group of blocks has.
const VARIES: u32 = 1 << 31;

/// No group of blocks either, and another one.
const OUT_OF_IT: u32 = u32::MAX - 1;

/// The first word of a record, its header.
const HEADER: u16 = 0;

// All slots of a record have a number, as words too.
const _: () = assert!(MAX_RECORD <= u16::MAX as usize);

impl Step {
    /// The part of a block with this number, which has no references yet.
    pub(super) fn new(
        own: BlockId,
        (plan, context, recursion): (PlanId, ContextId, u32),
        facts: &CallFacts,
        (group, skipped): (u32, bool),
    ) -> Step {
        let (sp_word, sp_offset) = match facts.sp {
            StackPointer::Before(offset) => (HEADER, offset),
            StackPointer::Slot(slot, offset) => (slot + 1, offset),
        };
        Step {
            plan,
            context,
            recursion,
            stays: if facts.leave == Leave::Jump { group } else { OUT_OF_IT },
            lands: if facts.place.entry { NOWHERE } else { group | VARIES },
            called: own,
            returned: own,
            arc: 0,
            leave: facts.leave,
            way: Way::Other,
            skipped,
            varies: true,
            sp_word,
            sp_offset,
            references: Packed::default(),
        }
    }

    /// Sets what every record references, or the usual ones do.
    pub(super) fn set_references(&mut self, references: Packed, varies: bool) {
        (self.references, self.varies) = (references, varies);
        if self.lands != NOWHERE {
            self.lands = self.lands & !VARIES | if varies { VARIES } else { 0 };
        }
    }

    /// Tests whether a jump from another block to this one, which may vary, is no call.
    #[inline(always)]
    pub(super) fn lands_where(&self, other: &Step) -> bool {
        self.lands != NOWHERE && self.lands & !VARIES == other.stays
    }

    /// References of a record of the block, which has this number.
    #[inline(always)]
    pub(super) fn referenced<'s>(
        &'s self,
        own: BlockId,
        varying: &'s FxHashMap<BlockId, Varying>,
        record: &[u64],
    ) -> &'s Packed {
        let varying = if self.varies { varying.get(&own) } else { None };
        let slots = record.get(1..).unwrap_or_default();
        varying.and_then(|varying| varying.unusual(slots)).unwrap_or(&self.references)
    }

    /// The stack pointer after a record of the block, where it was `before` in front of it.
    #[inline(always)]
    pub(super) fn sp_after(&self, before: u64, record: &[u64]) -> u64 {
        let word = record.get(usize::from(self.sp_word)).copied().unwrap_or(before);
        let base = if self.sp_word == HEADER { before } else { word };
        base.wrapping_add_signed(self.sp_offset)
    }
}

/// References of a repeated string instruction, which may not iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Varying {
    /// The slot that is 0 then.
    pub(super) slot: u16,
    /// The references of its block then.
    pub(super) at_zero: Packed,
}

impl Varying {
    /// The references of a record with these slots, if they are not the usual ones.
    fn unusual(&self, slots: &[u64]) -> Option<&Packed> {
        slots.get(usize::from(self.slot)).is_none_or(|&address| address == 0).then_some(&self.at_zero)
    }
}

/// The way in which the last call from a block was made, if one can be made so again after a short
/// look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Any other.
    Other,
    /// By a call instruction or a jump, without a change to collection.
    Calls,
    /// By one of these, and it is skipped.
    Skips,
}
