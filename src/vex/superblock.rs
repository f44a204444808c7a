//! Superblocks: the result of translation, a list of instructions with the changes to their counts.

/// Changes to the counts of an instruction that the optimiser makes. Bit n stands for event or
/// branch n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountChange {
    /// Data events that are removed.
    pub(super) removed: u8,
    /// Modifications of which only the store is left.
    pub(super) stores: u8,
    /// Branches that are removed.
    pub(super) branches: u8,
}

impl CountChange {
    /// Tests whether a data event is removed.
    pub(crate) fn removes(self, event: u32) -> bool {
        self.removed & bit(event) != 0
    }

    /// Tests whether only the store of a modification is left.
    pub(crate) fn leaves_store(self, event: u32) -> bool {
        self.stores & bit(event) != 0
    }

    /// Tests whether a branch is removed.
    pub(crate) fn removes_branch(self, branch: u32) -> bool {
        self.branches & bit(branch) != 0
    }

    /// Tests for no change.
    pub(crate) fn is_none(self) -> bool {
        self == CountChange::default()
    }
}

/// Bit of an event or branch; 0 for those beyond the eighth, which the optimiser never changes.
pub(super) fn bit(number: u32) -> u8 {
    1_u8.checked_shl(number).unwrap_or(0)
}

/// Entries of an instruction in Cachegrind's event queue, and its exits; see
/// [`super::event_queue`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QueueEntries {
    /// Data events.
    pub(super) data: u8,
    /// The first branch comes before the accesses: the test of RCX.
    pub(super) tests_first: bool,
    /// An exit comes before the accesses.
    pub(super) exits_before: bool,
    /// An exit comes after the accesses.
    pub(super) exits_after: bool,
}

/// Instruction of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Insn {
    /// Address.
    pub(crate) pc: u64,
    /// Length in bytes.
    pub(crate) len: u8,
    /// Changes to its counts.
    pub(crate) change: CountChange,
    pub(super) queued: QueueEntries,
}

/// Code that VEX translates as a unit with one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub(super) insns: Vec<Insn>,
    pub(super) merged: Option<usize>,
    pub(super) fall_through: Option<u64>,
}

impl Superblock {
    /// Instructions in order.
    pub(crate) fn insns(&self) -> &[Insn] {
        &self.insns
    }

    /// Index of the first instruction of a merged second block, which is executed whatever the
    /// conditional jump before it does; see [`super::and_idiom`].
    pub(crate) fn merged(&self) -> Option<usize> {
        self.merged
    }

    /// Address of the next superblock if control falls through.
    pub(crate) fn fall_through(&self) -> Option<u64> {
        self.fall_through
    }
}
