//! Numbers of plans within an account. An account keeps counts only for the plans that it has run,
//! so it numbers them in the order in which it runs them first.

use crate::hooks::record::PlanId;
use crate::sim::{Pack, PackedList, Packer, Unpacker};

/// Number of the plan of a record, for the loops over records. A number that no vector has ends
/// them.
pub(super) trait Numbers {
    /// The number of the plan of the next record.
    fn number(&mut self, plan: PlanId) -> usize;
}

/// Numbers that are the ids of the plans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids;

impl Numbers for Ids {
    #[inline(always)]
    fn number(&mut self, plan: PlanId) -> usize {
        plan.0 as usize
    }
}

/// Numbers that were found before, record by record.
#[derive(Debug)]
pub(super) struct Found<'a>(pub(super) std::slice::Iter<'a, u32>);

impl Numbers for Found<'_> {
    #[inline(always)]
    fn number(&mut self, _plan: PlanId) -> usize {
        self.0.next().map_or(usize::MAX, |&number| number as usize)
    }
}

/// Numbers by id, each increased by 1; 0 for plans that have none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<'a>(&'a [u32]);

impl Numbers for Own<'_> {
    #[inline(always)]
    fn number(&mut self, plan: PlanId) -> usize {
        match self.0.get(plan.0 as usize) {
            Some(&number) => number.wrapping_sub(1) as usize,
            None => usize::MAX,
        }
    }
}

/// The plans of an account.
#[derive(Clone, Debug, Default)]
pub(super) enum Numbering {
    /// All, by their ids: there is one account, and it pays for no others.
    #[default]
    Ids,
    /// Those that it has run.
    Own {
        /// Numbers by id, increased by 1.
        numbers: Vec<u32>,
        /// Ids by number.
        plans: Vec<PlanId>,
    },
    /// A number for each context in which a plan has run, which the call graph gives.
    Contexts {
        /// Ids by number.
        plans: Vec<PlanId>,
    },
}

impl Numbering {
    /// No plan yet.
    pub(super) fn own() -> Numbering {
        Numbering::Own { numbers: Vec::new(), plans: Vec::new() }
    }

    /// Numbers of its own that begin as the ids of the first `count` plans.
    pub(super) fn own_after(count: usize) -> Numbering {
        let count = count as u32;
        Numbering::Own { numbers: (1..=count).collect(), plans: (0..count).map(PlanId).collect() }
    }

    /// Numbers by id, if they are not the ids.
    pub(super) fn numbers(&self) -> Option<Own<'_>> {
        match self {
            Numbering::Ids | Numbering::Contexts { .. } => None,
            Numbering::Own { numbers, .. } => Some(Own(numbers)),
        }
    }

    /// Number of a plan, if it has one, where all ids below `ids` are known.
    pub(super) fn get(&self, plan: PlanId, ids: usize) -> Option<usize> {
        let (number, count) = match self {
            Numbering::Ids => (plan.0 as usize, ids),
            Numbering::Own { numbers, plans } => (Own(numbers).number(plan), plans.len()),
            Numbering::Contexts { .. } => return None,
        };
        Some(number).filter(|&number| number < count)
    }

    /// Gives a plan the next number.
    pub(super) fn push(&mut self, plan: PlanId) {
        let (numbers, plans) = match self {
            Numbering::Own { numbers, plans } => (numbers, plans),
            Numbering::Contexts { plans } => return plans.push(plan),
            Numbering::Ids => return,
        };
        let at = plan.0 as usize;
        if at >= numbers.len() {
            // Memory that is zero already takes no room until it is written.
            let mut more = vec![0; (at + 1).max(numbers.len() * 2)];
            if let Some(old) = more.get_mut(..numbers.len()) {
                old.copy_from_slice(numbers);
            }
            *numbers = more;
        }
        plans.push(plan);
        if let Some(number) = numbers.get_mut(at) {
            *number = plans.len() as u32;
        }
    }

    /// Ids by number; `None` for all.
    pub(super) fn plans(&self) -> Option<&[PlanId]> {
        match self {
            Numbering::Ids => None,
            Numbering::Own { plans, .. } | Numbering::Contexts { plans } => Some(plans),
        }
    }

    /// The same in few bytes; `None` for all.
    pub(super) fn packed(&self) -> Option<PackedList<PlanId>> {
        Some(self.plans()?.iter().copied().collect())
    }
}

impl Pack for PlanId {
    fn pack(&self, before: &PlanId, packer: &mut Packer) {
        packer.put_near(self.0.into(), before.0.into());
    }

    fn unpack(before: &PlanId, unpacker: &mut Unpacker<'_>) -> PlanId {
        PlanId(unpacker.take_near(before.0.into()) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_numbered_as_they_come() {
        let mut own = Numbering::own();
        for id in [7, 3, 5000] {
            own.push(PlanId(id));
        }
        let number = |id| own.get(PlanId(id), 9000);
        assert_eq!(
            [7, 3, 5000, 4, 6000, u32::MAX].map(number),
            [Some(0), Some(1), Some(2), None, None, None]
        );
        assert_eq!(own.plans(), Some(&[PlanId(7), PlanId(3), PlanId(5000)][..]));
        let packed = own.packed().expect("plans");
        assert_eq!(packed.iter().collect::<Vec<_>>(), own.plans().expect("plans"));
        let mut after = Numbering::own_after(3);
        after.push(PlanId(9));
        let number = |id| after.get(PlanId(id), 9000);
        assert_eq!([2, 3, 9].map(number), [Some(2), None, Some(3)]);
        assert_eq!(Numbering::Ids.get(PlanId(2), 3), Some(2));
        assert_eq!(Numbering::Ids.get(PlanId(3), 3), None);
    }
}
