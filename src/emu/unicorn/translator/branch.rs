//! Branch at the end of a block, as generated code that drives the predictors gets to know it.

use iced_x86::Instruction;

use crate::emu::unicorn::ffi::Op;
use crate::emu::unicorn::translator::cache_block::CacheBlock;

/// Words that generated code accesses, by their addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Word that is 1 if the instruction at hand jumps or iterates.
    pub(crate) outcome: *const u64,
    /// Addresses of the data of an instruction whose events are told together.
    pub(crate) addresses: *const u64,
    /// Those of the branch predictors, if generated code drives them.
    pub(crate) predictors: Option<PredictorWords>,
}

/// Words of the branch predictors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PredictorWords {
    /// History of the predictor of conditional branches.
    pub(crate) history: *const u64,
    /// Its counters.
    pub(crate) counters: *const u8,
    /// Targets of the predictor of indirect branches.
    pub(crate) targets: *const u64,
}

/// Slots of an instruction whose addresses are kept for one call.
pub(crate) const ADDRESSES: usize = 128;

/// Branch at the end of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Branch {
    /// There is none.
    #[default]
    None,
    /// The second exit jumps; jumping may count as not taken.
    Sides { inverted: bool },
    /// The word `outcome` says whether it jumps.
    Outcome { inverted: bool },
    /// RIP is the target.
    Indirect,
    /// The first exit leads on, the second repeats the instruction; `outcome` says if it iterates.
    Repeat,
}

/// State of the translation of a block that drives predictors or caches.
#[derive(Default)]
pub(crate) struct Inline {
    /// The words that generated code accesses; none where it drives nothing.
    pub(super) words: Option<Words>,
    /// Mispredictions are noted in the records.
    pub(super) in_records: bool,
    /// The caches that the block drives, if it does.
    pub(super) caches: Option<CacheBlock>,
    /// An operation at the start of the block that the engine leaves there.
    pub(super) start: Option<*const Op>,
    pub(super) branch: Branch,
    /// Exits of the instruction so far.
    pub(super) exits: u32,
    /// The instruction has accessed memory.
    pub(super) iterates: bool,
}

impl Inline {
    /// A block that drives the predictors in these words, with mispredictions noted `in_records` or
    /// counted, and the caches if `caches` has the base-2 logarithm of the size of a line of I1.
    pub(crate) fn new(words: Option<Words>, in_records: bool, caches: Option<u32>) -> Inline {
        Inline { words, in_records, caches: caches.map(CacheBlock::new), ..Inline::default() }
    }
}

/// Labels that the engine places before the one that a conditional jump leads to: a Jcc's target
/// comes first; the others place that of the fall-through before it.
pub(super) fn labels_before_jump(instruction: &Instruction) -> u32 {
    u32::from(!instruction.is_jcc_short_or_near())
}
