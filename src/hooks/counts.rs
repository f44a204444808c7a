//! Counts per instruction, kept while the program runs and folded when a profile is wanted.

/// Cache misses of one instruction in one block. References are not here: they follow from how often the block ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Fetches that missed I1.
    pub i1mr: u64,
    /// Fetches that missed LL.
    pub ilmr: u64,
    /// Loads that missed D1.
    pub d1mr: u64,
    /// Loads that missed LL.
    pub dlmr: u64,
    /// Stores that missed D1.
    pub d1mw: u64,
    /// Stores that missed LL.
    pub dlmw: u64,
}

/// What one instruction cost altogether, in Cachegrind's order of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions executed.
    pub ir: u64,
    /// Loads and modifies.
    pub dr: u64,
    /// Stores.
    pub dw: u64,
    /// Conditional branches.
    pub bc: u64,
    /// Conditional branches mispredicted.
    pub bcm: u64,
    /// Indirect branches.
    pub bi: u64,
    /// Indirect branches mispredicted.
    pub bim: u64,
    /// The misses.
    pub misses: Misses,
}

impl Counts {
    /// Adds the counts of another instruction.
    pub fn add(&mut self, other: &Counts) {
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

/// What a repeated string instruction did beyond being fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Iterations.
    pub iterations: u64,
    /// Conditional branches: the tests of RCX and of the comparison.
    pub branches: u64,
}
