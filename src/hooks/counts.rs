//! Counts per instruction.

/// Cache misses of an instruction in a block. References follow from the executions of the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Misses {
    /// Fetches that missed I1.
    pub(crate) i1mr: u64,
    /// Fetches that missed LL.
    pub(crate) ilmr: u64,
    /// Loads that missed D1.
    pub(crate) d1mr: u64,
    /// Loads that missed LL.
    pub(crate) dlmr: u64,
    /// Stores that missed D1.
    pub(crate) d1mw: u64,
    /// Stores that missed LL.
    pub(crate) dlmw: u64,
}

/// All counts of an instruction, in Cachegrind's order of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Instructions executed.
    pub(crate) ir: u64,
    /// Loads and modifies.
    pub(crate) dr: u64,
    /// Stores.
    pub(crate) dw: u64,
    /// Conditional branches.
    pub(crate) bc: u64,
    /// Conditional branches mispredicted.
    pub(crate) bcm: u64,
    /// Indirect branches.
    pub(crate) bi: u64,
    /// Indirect branches mispredicted.
    pub(crate) bim: u64,
    /// Cache misses.
    pub(crate) misses: Misses,
}

impl Counts {
    /// Adds the counts of another instruction.
    pub(crate) fn add(&mut self, other: &Counts) {
        let Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw } = other.misses;
        for (sum, count) in [
            (&mut self.ir, other.ir),
            (&mut self.dr, other.dr),
            (&mut self.dw, other.dw),
            (&mut self.bc, other.bc),
            (&mut self.bcm, other.bcm),
            (&mut self.bi, other.bi),
            (&mut self.bim, other.bim),
            (&mut self.misses.i1mr, i1mr),
            (&mut self.misses.ilmr, ilmr),
            (&mut self.misses.d1mr, d1mr),
            (&mut self.misses.dlmr, dlmr),
            (&mut self.misses.d1mw, d1mw),
            (&mut self.misses.dlmw, dlmw),
        ] {
            *sum += count;
        }
    }
}

/// Executions of a repeated string instruction beyond its fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repeated {
    /// Iterations.
    pub(crate) iterations: u64,
    /// Conditional branches: tests of RCX and of the comparison.
    pub(crate) branches: u64,
}

/// Counts of an account as one consumer has them, by the account's numbers of plans and of their
/// instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    /// Executions by plan.
    pub(super) executed: Vec<u64>,
    /// Mispredictions of the branch at the end, by plan.
    pub(super) ended: Vec<u64>,
    /// Misses that are not zero, by instruction.
    pub(super) misses: Vec<(u32, Misses)>,
    /// Mispredictions of other branches that are not zero, by instruction.
    pub(super) mispredicted: Vec<(u32, u64)>,
    /// Repeated string instructions, by plan in rising order.
    pub(super) repeated: Vec<(u32, Repeated)>,
}
