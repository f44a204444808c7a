//! Counts per instruction.

use crate::sim::{Pack, PackedList, Packer, Unpacker};

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
        let Counts { ir, dr, dw, bc, bcm, bi, bim, misses } = self;
        let sums = [ir, dr, dw, bc, bcm, bi, bim];
        let more = [other.ir, other.dr, other.dw, other.bc, other.bcm, other.bi, other.bim];
        sums.into_iter().zip(more).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        misses.append(&other.misses);
    }

    /// Adds the misses of another one, which has executed the same.
    pub(crate) fn complete(&mut self, other: &Counts) {
        let own = *self;
        self.add(other);
        (self.ir, self.dr, self.dw, self.bc, self.bi) = (own.ir, own.dr, own.dw, own.bc, own.bi);
    }
}

/// The places of those that are not zero, and their values.
impl Pack for Counts {
    fn pack(&self, _: &Counts, packer: &mut Packer) {
        let Counts { ir, dr, dw, bc, bcm, bi, bim, misses } = *self;
        let Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw } = misses;
        let all = [ir, dr, dw, bc, bcm, bi, bim, i1mr, ilmr, d1mr, dlmr, d1mw, dlmw];
        let places = (0..).zip(&all).map(|(place, &count)| u64::from(count != 0) << place);
        packer.put(places.sum());
        all.into_iter().filter(|&count| count != 0).for_each(|count| packer.put(count));
    }

    fn unpack(_: &Counts, unpacker: &mut Unpacker<'_>) -> Counts {
        let places = unpacker.take();
        let all: [u64; 13] =
            std::array::from_fn(|place| if places >> place & 1 != 0 { unpacker.take() } else { 0 });
        let [ir, dr, dw, bc, bcm, bi, bim, i1mr, ilmr, d1mr, dlmr, d1mw, dlmw] = all;
        let misses = Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw };
        Counts { ir, dr, dw, bc, bcm, bi, bim, misses }
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

impl Counted {
    /// Takes away what was counted `before`, which is no more.
    pub(super) fn subtract(&mut self, before: &Counted) {
        for (now, before) in [(&mut self.executed, &before.executed), (&mut self.ended, &before.ended)] {
            now.iter_mut().zip(before).for_each(|(now, before)| *now = now.wrapping_sub(*before));
        }
        subtract(&mut self.misses, &before.misses, |now, before| now.combine(before, u64::wrapping_sub));
        subtract(&mut self.mispredicted, &before.mispredicted, |now, before| {
            *now = now.wrapping_sub(*before);
        });
        subtract(&mut self.repeated, &before.repeated, |now, before| {
            now.iterations = now.iterations.wrapping_sub(before.iterations);
            now.branches = now.branches.wrapping_sub(before.branches);
        });
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> u64 {
        let Counted { executed, ended, misses, mispredicted, repeated } = self;
        let plans = size_of_val(&**executed) + size_of_val(&**ended) + size_of_val(&**repeated);
        (plans + size_of_val(&**misses) + size_of_val(&**mispredicted)) as u64
    }

    /// The same in few bytes.
    pub(super) fn pack(&self) -> PackedCounts {
        PackedCounts {
            executed: self.executed.iter().copied().collect(),
            ended: self.ended.iter().copied().collect(),
            misses: self.misses.iter().copied().collect(),
            mispredicted: self.mispredicted.iter().copied().collect(),
            repeated: self.repeated.iter().copied().collect(),
        }
    }
}

/// Takes values from those with the same index; both are in rising order.
fn subtract<T>(now: &mut [(u32, T)], before: &[(u32, T)], minus: impl Fn(&mut T, &T)) {
    let mut before = before.iter().peekable();
    for (index, value) in now {
        while before.next_if(|(other, _)| other < index).is_some() {}
        if let Some((_, before)) = before.next_if(|(other, _)| other == index) {
            minus(value, before);
        }
    }
}

/// Counts in few bytes, for an account that nothing is added to.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedCounts {
    executed: PackedList<u64>,
    ended: PackedList<u64>,
    misses: PackedList<(u32, Misses)>,
    mispredicted: PackedList<(u32, u64)>,
    repeated: PackedList<(u32, Repeated)>,
}

impl PackedCounts {
    /// Bytes that they take.
    pub(super) fn bytes(&self) -> u64 {
        let PackedCounts { executed, ended, misses, mispredicted, repeated } = self;
        executed.bytes() + ended.bytes() + misses.bytes() + mispredicted.bytes() + repeated.bytes()
    }

    /// Number of plans that have been counted.
    pub(super) fn plans(&self) -> usize {
        self.executed.len()
    }

    /// The counts.
    pub(super) fn unpack(&self) -> Counted {
        Counted {
            executed: self.executed.iter().collect(),
            ended: self.ended.iter().collect(),
            misses: self.misses.iter().collect(),
            mispredicted: self.mispredicted.iter().collect(),
            repeated: self.repeated.iter().collect(),
        }
    }
}

impl Pack for Misses {
    fn pack(&self, _: &Misses, packer: &mut Packer) {
        let Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw } = *self;
        [i1mr, ilmr, d1mr, dlmr, d1mw, dlmw].into_iter().for_each(|count| packer.put(count));
    }

    fn unpack(_: &Misses, unpacker: &mut Unpacker<'_>) -> Misses {
        let [i1mr, ilmr, d1mr, dlmr, d1mw, dlmw] = [(); 6].map(|()| unpacker.take());
        Misses { i1mr, ilmr, d1mr, dlmr, d1mw, dlmw }
    }
}

impl Pack for Repeated {
    fn pack(&self, _: &Repeated, packer: &mut Packer) {
        packer.put(self.iterations);
        packer.put(self.branches);
    }

    fn unpack(_: &Repeated, unpacker: &mut Unpacker<'_>) -> Repeated {
        Repeated { iterations: unpacker.take(), branches: unpacker.take() }
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

    #[test]
    fn what_was_counted_before_is_taken_away() {
        let repeated = |iterations, branches| Repeated { iterations, branches };
        let counted = |by: u64| Counted {
            executed: vec![9 * by, 0, by],
            ended: vec![by, 2],
            misses: vec![(1, Misses { i1mr: by, ..Misses::default() })],
            mispredicted: vec![(4, by)],
            repeated: vec![(1, repeated(0, 0)), (2, repeated(by, 7))],
        };
        let mut now = counted(5);
        now.executed.push(6);
        now.misses.insert(0, (0, Misses { d1mw: 8, ..Misses::default() }));
        now.mispredicted.push((6, 1));
        now.subtract(&counted(3));
        let mut expected = counted(2);
        (expected.ended[1], expected.repeated[1].1.branches) = (0, 0);
        expected.executed.push(6);
        expected.misses.insert(0, (0, Misses { d1mw: 8, ..Misses::default() }));
        expected.mispredicted.push((6, 1));
        assert_eq!(now, expected);
    }
}
