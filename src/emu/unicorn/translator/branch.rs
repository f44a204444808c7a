//! Branch at the end of a block, as generated code that drives the predictors gets to know it.
#![allow(unsafe_code)]

use iced_x86::Instruction;

use crate::emu::unicorn::emit::Helper;

/// Words that generated code accesses, by their addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Word that is 1 if the instruction at hand jumps or iterates.
    pub(crate) outcome: *const u64,
    /// History of the predictor of conditional branches.
    pub(crate) history: *const u64,
    /// Its counters.
    pub(crate) counters: *const u8,
    /// Targets of the predictor of indirect branches.
    pub(crate) targets: *const u64,
}

/// Names of what a block can tell.
pub(crate) mod tell {
    /// The retry of a locked operation, by the index of its instruction.
    pub(crate) const RETRY: u64 = 0;
    /// The branch at its end: whether an outcome of 1 counts as not taken.
    pub(crate) const BRANCH: u64 = 1;
    /// A repeated string instruction: whether it is repeated if it iterates.
    pub(crate) const REPEAT: u64 = 2;
}

unsafe extern "C" {
    fn helper_bndstx32_x86_64();
}

/// The helper by which a block tells what [`tell`] lists: with the state, the plan, which of these
/// it is, and two words, of which the second is not used. It is one of MPX, which no CPU model has.
pub(crate) const TELL: Helper = helper_bndstx32_x86_64;

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

/// State of the translation of a block that drives predictors.
#[derive(Default)]
pub(crate) struct Inline {
    /// The words that generated code accesses; none where it drives no predictors.
    pub(super) words: Option<Words>,
    pub(super) branch: Branch,
    /// Exits of the instruction so far.
    pub(super) exits: u32,
    /// The instruction has accessed memory.
    pub(super) iterates: bool,
}

impl Inline {
    /// A block that drives the predictors in these words.
    pub(crate) fn new(words: Option<Words>) -> Inline {
        Inline { words, ..Inline::default() }
    }
}

/// Labels that the engine places before the one that a conditional jump leads to: a Jcc's target
/// comes first; the others place that of the fall-through before it.
pub(super) fn labels_before_jump(instruction: &Instruction) -> u32 {
    u32::from(!instruction.is_jcc_short_or_near())
}
