//! Format of the trace. A record stands for one execution of a block: a header word, then one word
//! for each slot of the block's plan, in general the address of an access.

/// Words in a buffer before it is handed over, without the room for one more record.
pub(crate) const BUFFER_WORDS: usize = 1 << 16;

/// Most words of a record; a block that needed more is ended early.
pub(super) const MAX_RECORD: usize = 4096;

/// Most instructions in a block of the engine (`TCG_MAX_INSNS`).
pub(crate) const MAX_BLOCK: u64 = 512;

/// Index of a plan in its table; names the plan in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PlanId(pub u32);

/// Parts of a header word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Plan of the block.
    pub(crate) plan: PlanId,
    /// Words that follow.
    pub(crate) slots: usize,
    /// Instructions of the block.
    pub(crate) instructions: u64,
}

impl Header {
    /// Unpacks a header word.
    #[inline]
    pub(crate) fn of(word: u64) -> Header {
        Header { plan: PlanId(word as u32), slots: (word >> 32) as usize & 0xffff, instructions: word >> 48 }
    }

    /// Packs a header word.
    pub(crate) fn word(self) -> u64 {
        u64::from(self.plan.0) | (self.slots as u64) << 32 | self.instructions << 48
    }
}

/// Replaces the plan in a header word. The new plan has as many slots, and the record still stands
/// for the instructions that were executed.
pub(super) fn with_plan(word: u64, plan: PlanId) -> u64 {
    word >> 32 << 32 | u64::from(plan.0)
}

/// Sums up the instructions that records stand for.
pub(super) fn instructions(words: &[u64]) -> u64 {
    let (mut at, mut instructions) = (0, 0);
    while let Some(&word) = words.get(at) {
        let header = Header::of(word);
        instructions += header.instructions;
        at += 1 + header.slots;
    }
    instructions
}
