//! Format of the trace. A record stands for one execution of a block: a header word, then one word
//! for each slot of the block's plan, in general the address of an access. The header's last bits
//! are for what generated code notes: a miss, and mispredictions ([`Mispredicted`]).

/// Words in a buffer before it is handed over, without the room for one more record.
pub(crate) const BUFFER_WORDS: usize = 1 << 16;

/// The same where only the accesses that a call graph needs are recorded, so that a buffer stands
/// for about as many instructions.
pub(super) const PARTIAL_BUFFER_WORDS: usize = 1 << 14;

/// Most words of a record; a block that needed more is ended early.
pub(super) const MAX_RECORD: usize = 4096;

/// Most instructions in a block of the engine (`TCG_MAX_INSNS`).
pub(crate) const MAX_BLOCK: u64 = 512;

/// Index of a plan in its table; names the plan in a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PlanId(pub u32);

/// The block that runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    pub(crate) plan: PlanId,
    /// Index of its record in the buffer, if there is a trace.
    pub(crate) at: usize,
}

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

/// Bits of a header word.
const SLOTS: u32 = 32;
const INSTRUCTIONS: u32 = 45;
pub(crate) const NOTED: u32 = 55;
const MISPREDICTED: u32 = 56;

const _: () = assert!(MAX_RECORD <= 1 << (INSTRUCTIONS - SLOTS));
const _: () = assert!(MAX_BLOCK < 1 << (NOTED - INSTRUCTIONS));

/// Bit of a header word that says that generated code has noted a miss of the record's.
pub(super) const MISSED: u64 = 1 << NOTED;

/// Tests whether something is noted in a header word: a miss or a misprediction.
#[inline(always)]
pub(super) fn is_noted(word: u64) -> bool {
    word >> NOTED != 0
}

/// Byte of a header word with the mispredictions of its record.
pub(crate) const MISPREDICTED_BYTE: usize = MISPREDICTED as usize / 8;

/// Most branches of a record that are not at its end.
pub(super) const MOST_INSIDE: usize = 8 - AT_END as usize;

/// Bits for the branches at the end of a record.
pub(crate) const AT_END: u32 = 2;

impl Header {
    /// Unpacks a header word.
    #[inline]
    pub(crate) fn of(word: u64) -> Header {
        Header {
            plan: PlanId(word as u32),
            slots: (word >> SLOTS) as usize & ((1 << (INSTRUCTIONS - SLOTS)) - 1),
            instructions: word >> INSTRUCTIONS & ((1 << (NOTED - INSTRUCTIONS)) - 1),
        }
    }

    /// Packs a header word.
    pub(crate) fn word(self) -> u64 {
        u64::from(self.plan.0) | (self.slots as u64) << SLOTS | self.instructions << INSTRUCTIONS
    }
}

/// Branches of a record that were mispredicted, where generated code drives the predictors and
/// there is a call graph: at its end, of which a repeated comparison has two, and inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mispredicted(u8);

impl Mispredicted {
    /// Those that a header word tells of.
    #[inline]
    pub(super) fn of(word: u64) -> Mispredicted {
        Mispredicted((word >> MISPREDICTED) as u8)
    }

    /// Tells if it is none but one branch at the end, or not even that.
    #[inline]
    pub(super) fn is_usual(self) -> bool {
        self.0 <= 1
    }

    /// Number of branches at the end.
    #[inline]
    pub(super) fn at_end(self) -> u8 {
        self.0 & ((1 << AT_END) - 1)
    }

    /// Indices of those inside.
    pub(super) fn inside(self) -> impl Iterator<Item = usize> {
        (0..MOST_INSIDE).filter(move |index| self.0 >> AT_END >> index & 1 != 0)
    }

    /// A header word with one more branch at the end.
    pub(super) fn one_more(word: u64) -> u64 {
        word.wrapping_add(1 << MISPREDICTED)
    }

    /// A header word with the one inside that has an index.
    pub(super) fn with_inside(word: u64, index: usize) -> u64 {
        word | 1 << MISPREDICTED << AT_END << index
    }

    /// Those of the first `branches` inside, in another header word.
    pub(super) fn keep_inside(self, word: u64, branches: usize) -> u64 {
        self.inside().filter(|index| *index < branches).fold(word, Mispredicted::with_inside)
    }
}

/// The plan of a header word.
pub(crate) fn plan_of(word: u64) -> PlanId {
    Header::of(word).plan
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_room_for_mispredictions() {
        let header = Header { plan: PlanId(u32::MAX - 1), slots: MAX_RECORD - 1, instructions: MAX_BLOCK };
        let word = header.word();
        assert_eq!((Header::of(word), Mispredicted::of(word)), (header, Mispredicted::default()));
        let noted = Mispredicted::with_inside(Mispredicted::one_more(word), MOST_INSIDE - 1);
        let noted = Mispredicted::with_inside(Mispredicted::one_more(noted), 1);
        assert_eq!(Header::of(noted), header);
        assert_eq!(noted.to_le_bytes()[MISPREDICTED_BYTE], Mispredicted::of(noted).0);
        let mispredicted = Mispredicted::of(noted);
        assert!(!mispredicted.is_usual() && Mispredicted::of(Mispredicted::one_more(word)).is_usual());
        assert_eq!(mispredicted.at_end(), 2);
        assert_eq!(mispredicted.inside().collect::<Vec<_>>(), [1, MOST_INSIDE - 1]);
        // A prefix has the first ones inside only, and not the end.
        let prefix = Mispredicted::of(mispredicted.keep_inside(word, 2));
        assert_eq!((prefix.at_end(), prefix.inside().collect::<Vec<_>>()), (0, vec![1]));
    }
}
