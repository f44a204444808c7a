//! Where in a superblock control is, and what becomes of a record there: found once, looked up after that.

use rustc_hash::FxHashMap;

use crate::hooks::plan::PlanId;

/// Where in a superblock control is: in which one, and how many of its instructions are behind it, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place(u32);

impl Place {
    /// In no superblock.
    pub const NONE: Place = Place(0);
}

/// What becomes of a record of some plan at some place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Where control was before.
    pub from: Place,
    /// Where it is behind the record.
    pub to: Place,
    /// The plan that is put in the place of the record's.
    pub plan: PlanId,
    /// What it says of the record before.
    pub before: Before,
}

/// What a record says of the one before. Four bytes, as all parts of a step are: they are copied as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Before {
    /// It stays as it is.
    Stays,
    /// It counts the second part of its superblock, too, because control is not there now.
    Joins,
}

impl Step {
    /// Not looked for so far.
    const UNKNOWN: Step =
        Step { from: Place(u32::MAX), to: Place::NONE, plan: PlanId(u32::MAX), before: Before::Stays };
}

/// All steps that were found. Which is the next is as hard to foresee as what the program does next, so most are found without
/// a search.
#[derive(Debug)]
pub(super) struct Steps {
    /// By plan: the last one.
    last: Vec<Step>,
    /// By plan: those from no superblock.
    outside: Vec<Step>,
    /// By place: the last one, and its plan.
    inside: Vec<(PlanId, Step)>,
    all: FxHashMap<(Place, PlanId), Step>,
    /// The superblock of each place, and how many of its instructions are behind it.
    places: Vec<(usize, usize)>,
    numbers: FxHashMap<(usize, usize), Place>,
}

/// No step from a place.
const NONE_INSIDE: (PlanId, Step) = (PlanId(u32::MAX), Step::UNKNOWN);

impl Default for Steps {
    fn default() -> Steps {
        Steps {
            last: Vec::new(),
            outside: Vec::new(),
            inside: vec![NONE_INSIDE],
            all: FxHashMap::default(),
            places: vec![(0, 0)],
            numbers: FxHashMap::default(),
        }
    }
}

impl Steps {
    /// The number of a place in a superblock; the superblock 0 is none.
    pub fn place(&mut self, superblock: usize, used: usize) -> Place {
        if superblock == 0 {
            return Place::NONE;
        }
        let (places, inside) = (&mut self.places, &mut self.inside);
        *self.numbers.entry((superblock, used)).or_insert_with(|| {
            places.push((superblock, used));
            inside.push(NONE_INSIDE);
            Place(places.len() as u32 - 1)
        })
    }

    /// The superblock of a place, and how many of its instructions are behind it.
    pub fn at(&self, place: Place) -> (usize, usize) {
        self.places.get(place.0 as usize).copied().unwrap_or_default()
    }

    /// The last step of this plan, if it was from this place.
    #[inline(always)]
    pub fn last(&self, from: Place, plan: PlanId) -> Option<&Step> {
        self.last.get(plan.0 as usize).filter(|step| step.from == from)
    }

    /// The step of this plan from this place, if it was found before.
    pub fn get(&mut self, from: Place, plan: PlanId) -> Option<&Step> {
        let at = plan.0 as usize;
        let step = if from == Place::NONE {
            self.outside.get(at).filter(|step| step.from == from)?
        } else {
            let inside = self.inside.get_mut(from.0 as usize)?;
            if inside.0 != plan {
                *inside = (plan, *self.all.get(&(from, plan))?);
            }
            &inside.1
        };
        let last = self.last.get_mut(at)?;
        *last = *step;
        Some(last)
    }

    /// Notes a step of this plan.
    pub fn insert(&mut self, plan: PlanId, step: Step) {
        let at = plan.0 as usize;
        self.last.resize(self.last.len().max(at + 1), Step::UNKNOWN);
        self.last[at] = step;
        if step.from == Place::NONE {
            self.outside.resize(self.last.len(), Step::UNKNOWN);
            self.outside[at] = step;
        } else {
            self.all.insert((step.from, plan), step);
        }
    }

    /// Forgets all steps, and no place.
    pub fn clear(&mut self) {
        self.last.fill(Step::UNKNOWN);
        self.outside.fill(Step::UNKNOWN);
        self.inside.fill(NONE_INSIDE);
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(from: Place, plan: u32) -> Step {
        Step { from, plan: PlanId(plan), ..Step::UNKNOWN }
    }

    fn plan(steps: &mut Steps, place: Place, of: u32) -> Option<u32> {
        steps.get(place, PlanId(of)).map(|step| step.plan.0)
    }

    #[test]
    fn a_place_has_one_number() {
        let mut steps = Steps::default();
        assert_eq!(steps.place(0, 0), Place::NONE);
        let (one, other) = (steps.place(1, 2), steps.place(1, 3));
        assert_ne!(one, other);
        assert_eq!(steps.place(1, 2), one);
        assert_eq!((steps.at(one), steps.at(Place::NONE)), ((1, 2), (0, 0)));
    }

    #[test]
    fn steps_are_found_again() {
        let mut steps = Steps::default();
        let place = steps.place(1, 2);
        assert_eq!(plan(&mut steps, Place::NONE, 7), None);
        assert_eq!(plan(&mut steps, place, 7), None);
        steps.insert(PlanId(7), step(Place::NONE, 70));
        for of in 7..11 {
            steps.insert(PlanId(of), step(place, 10 * of + 1));
        }
        for of in [7, 8, 7, 9, 10, 10, 8] {
            assert_eq!(plan(&mut steps, place, of), Some(10 * of + 1));
        }
        assert_eq!((plan(&mut steps, Place::NONE, 7), plan(&mut steps, Place::NONE, 8)), (Some(70), None));
        steps.clear();
        assert_eq!((plan(&mut steps, Place::NONE, 7), plan(&mut steps, place, 8)), (None, None));
        assert_eq!(steps.place(1, 2), place);
    }
}
