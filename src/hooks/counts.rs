//! Counts per instruction.

use crate::sim::{Packer, Unpacker};

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

/// Kind of an access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Fetch,
    Load,
    Store,
}

impl Misses {
    /// Adds an access that missed the first level, and LL too if `ll`.
    pub(super) fn add(&mut self, kind: Kind, ll: bool) {
        let (first, last) = match kind {
            Kind::Fetch => (&mut self.i1mr, &mut self.ilmr),
            Kind::Load => (&mut self.d1mr, &mut self.dlmr),
            Kind::Store => (&mut self.d1mw, &mut self.dlmw),
        };
        *first += 1;
        *last += u64::from(ll);
    }

    /// So many accesses of a kind that missed the first level and LL.
    pub(super) fn of(kind: Kind, first_level: u64, ll: u64) -> Misses {
        let none = Misses::default();
        match kind {
            Kind::Fetch => Misses { i1mr: first_level, ilmr: ll, ..none },
            Kind::Load => Misses { d1mr: first_level, dlmr: ll, ..none },
            Kind::Store => Misses { d1mw: first_level, dlmw: ll, ..none },
        }
    }

    /// Adds the misses of another.
    pub(super) fn append(&mut self, other: &Misses) {
        self.combine(other, u64::wrapping_add);
    }

    fn combine(&mut self, other: &Misses, f: impl Fn(u64, u64) -> u64) {
        *self = Misses {
            i1mr: f(self.i1mr, other.i1mr),
            ilmr: f(self.ilmr, other.ilmr),
            d1mr: f(self.d1mr, other.d1mr),
            dlmr: f(self.dlmr, other.dlmr),
            d1mw: f(self.d1mw, other.d1mw),
            dlmw: f(self.dlmw, other.dlmw),
        };
    }
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
        *self = self.with(other, u64::wrapping_add);
    }

    /// The counts since they were `before`.
    pub(crate) fn since(&self, before: &Counts) -> Counts {
        self.with(before, u64::wrapping_sub)
    }

    /// Adds them to numbers in few bytes: the places of those that are not zero, and their values.
    pub(super) fn pack(&self, packer: &mut Packer) {
        let Counts { ir, dr, dw, bc, bcm, bi, bim, misses } = *self;
        let Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw } = misses;
        let all = [ir, dr, dw, bc, bcm, bi, bim, i1mr, ilmr, d1mr, dlmr, d1mw, dlmw];
        let places = (0..).zip(&all).map(|(place, &count)| u64::from(count != 0) << place);
        packer.put(places.sum());
        all.into_iter().filter(|&count| count != 0).for_each(|count| packer.put(count));
    }

    /// Takes them from numbers.
    pub(super) fn unpack(unpacker: &mut Unpacker<'_>) -> Counts {
        let places = unpacker.take();
        let all: [u64; 13] =
            std::array::from_fn(|place| if places >> place & 1 != 0 { unpacker.take() } else { 0 });
        let [ir, dr, dw, bc, bcm, bi, bim, i1mr, ilmr, d1mr, dlmr, d1mw, dlmw] = all;
        let misses = Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw };
        Counts { ir, dr, dw, bc, bcm, bi, bim, misses }
    }

    fn with(&self, other: &Counts, f: impl Fn(u64, u64) -> u64) -> Counts {
        let mut misses = self.misses;
        misses.combine(&other.misses, &f);
        Counts {
            ir: f(self.ir, other.ir),
            dr: f(self.dr, other.dr),
            dw: f(self.dw, other.dw),
            bc: f(self.bc, other.bc),
            bcm: f(self.bcm, other.bcm),
            bi: f(self.bi, other.bi),
            bim: f(self.bim, other.bim),
            misses,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// Counts in few bytes, for an account that nothing is added to.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedCounts(Box<[u8]>);

impl PackedCounts {
    /// Bytes that they take.
    pub(super) fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    /// Number of plans that have been counted.
    pub(super) fn plans(&self) -> usize {
        Unpacker(&self.0).take() as usize
    }

    /// The counts.
    pub(super) fn unpack(&self) -> Counted {
        let unpacker = &mut Unpacker(&self.0);
        let executed = list(unpacker, |unpacker, _| unpacker.take());
        let ended = list(unpacker, |unpacker, _| unpacker.take());
        let misses = list(unpacker, |unpacker, before: Option<&(u32, Misses)>| {
            let insn = unpacker.take_near(before.map_or(0, |(insn, _)| u64::from(*insn)));
            let [i1mr, ilmr, d1mr, dlmr, d1mw, dlmw] = [(); 6].map(|()| unpacker.take());
            (insn as u32, Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw })
        });
        let mispredicted = list(unpacker, |unpacker, before: Option<&(u32, u64)>| {
            let insn = unpacker.take_near(before.map_or(0, |(insn, _)| u64::from(*insn)));
            (insn as u32, unpacker.take())
        });
        let repeated = list(unpacker, |unpacker, before: Option<&(u32, Repeated)>| {
            let plan = unpacker.take_near(before.map_or(0, |(plan, _)| u64::from(*plan)));
            (plan as u32, Repeated { iterations: unpacker.take(), branches: unpacker.take() })
        });
        Counted { executed, ended, misses, mispredicted, repeated }
    }
}

/// A list with its length in front; `one` reads an element, and sees the one before.
pub(super) fn list<T>(
    unpacker: &mut Unpacker<'_>,
    one: impl Fn(&mut Unpacker<'_>, Option<&T>) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    for _ in 0..unpacker.take() {
        let next = one(unpacker, all.last());
        all.push(next);
    }
    all
}

impl Counted {
    /// The same in few bytes.
    pub(super) fn pack(&self) -> PackedCounts {
        let mut packer = Packer::default();
        for counts in [&self.executed, &self.ended] {
            packer.put(counts.len() as u64);
            counts.iter().for_each(|&count| packer.put(count));
        }
        let mut before = 0;
        packer.put(self.misses.len() as u64);
        for (insn, Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw }) in &self.misses {
            packer.put_near(u64::from(*insn), before);
            before = u64::from(*insn);
            [i1mr, ilmr, d1mr, dlmr, d1mw, dlmw].into_iter().for_each(|&count| packer.put(count));
        }
        before = 0;
        packer.put(self.mispredicted.len() as u64);
        for &(insn, count) in &self.mispredicted {
            packer.put_near(u64::from(insn), before);
            before = u64::from(insn);
            packer.put(count);
        }
        before = 0;
        packer.put(self.repeated.len() as u64);
        for &(plan, Repeated { iterations, branches }) in &self.repeated {
            packer.put_near(u64::from(plan), before);
            before = u64::from(plan);
            packer.put(iterations);
            packer.put(branches);
        }
        PackedCounts(packer.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_counts_come_back() {
        let misses = Misses { i1mr: 1, ilmr: 2, d1mr: 300, dlmr: 0, d1mw: u64::MAX, dlmw: 5 };
        let counted = Counted {
            executed: vec![0, 1, 1 << 40, 127, 128],
            ended: vec![7],
            misses: vec![(3, misses), (900, Misses::default()), (40, misses)],
            mispredicted: vec![(u32::MAX, 9), (0, 8)],
            repeated: vec![(4, Repeated { iterations: 1 << 33, branches: 3 })],
        };
        let packed = counted.pack();
        assert_eq!((packed.unpack(), packed.plans()), (counted, 5));
        assert_eq!(Counted::default().pack().unpack(), Counted::default());
        assert_eq!(PackedCounts::default().unpack(), Counted::default());
    }
}
