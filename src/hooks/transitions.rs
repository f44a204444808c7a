//! Transitions between positions in superblocks: found once for each record and position, then
//! looked up.

use rustc_hash::FxHashMap;

use crate::hooks::record::PlanId;

/// Position in a superblock: the next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cursor {
    /// Index of the superblock; 0 for none.
    pub(super) superblock: usize,
    /// Index of the next instruction.
    pub(super) insn: usize,
}

impl Cursor {
    /// Outside of any superblock.
    pub(super) const OUTSIDE: Cursor = Cursor { superblock: 0, insn: 0 };
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor::OUTSIDE
    }
}

/// Number of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Position(pub(super) u32);

impl Position {
    /// Number of [`Cursor::OUTSIDE`].
    pub(super) const OUTSIDE: Position = Position(0);
}

/// Effect of a record of some plan at some position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    /// Position before the record.
    pub(super) from: Position,
    /// Position after the record.
    pub(super) to: Position,
    /// Plan that replaces the record's.
    pub(super) plan: PlanId,
    /// Effect on the record before.
    pub(super) previous: Previous,
}

/// Effect on the record before. Four bytes like the other fields, so that a transition is copied as
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Previous {
    /// None.
    Unchanged,
    /// It also counts the merged second block of its superblock, which control does not enter.
    CountsSecondBlock,
}

impl Transition {
    const UNKNOWN: Transition = Transition {
        from: Position(u32::MAX),
        to: Position::OUTSIDE,
        plan: PlanId(u32::MAX),
        previous: Previous::Unchanged,
    };
}

/// Memo of all transitions, with caches that answer most lookups without hashing.
#[derive(Debug)]
pub(super) struct Transitions {
    /// Last transition, by plan.
    last: Vec<Transition>,
    /// Transition from outside of any superblock, by plan.
    outside: Vec<Transition>,
    /// Last transition and its plan, by position.
    inside: Vec<(PlanId, Transition)>,
    all: FxHashMap<(Position, PlanId), Transition>,
    cursors: Vec<Cursor>,
    positions: FxHashMap<Cursor, Position>,
}

const NONE_INSIDE: (PlanId, Transition) = (PlanId(u32::MAX), Transition::UNKNOWN);

impl Default for Transitions {
    fn default() -> Transitions {
        Transitions {
            last: Vec::new(),
            outside: Vec::new(),
            inside: vec![NONE_INSIDE],
            all: FxHashMap::default(),
            cursors: vec![Cursor::OUTSIDE],
            positions: FxHashMap::default(),
        }
    }
}

impl Transitions {
    /// Number of a cursor.
    pub(super) fn position(&mut self, cursor: Cursor) -> Position {
        if cursor.superblock == 0 {
            return Position::OUTSIDE;
        }
        let (cursors, inside) = (&mut self.cursors, &mut self.inside);
        *self.positions.entry(cursor).or_insert_with(|| {
            cursors.push(cursor);
            inside.push(NONE_INSIDE);
            Position(cursors.len() as u32 - 1)
        })
    }

    /// Cursor of a number.
    pub(super) fn cursor(&self, position: Position) -> Cursor {
        self.cursors.get(position.0 as usize).copied().unwrap_or(Cursor::OUTSIDE)
    }

    /// Last transition of a plan, if it was from this position.
    #[inline(always)]
    pub(super) fn last(&self, from: Position, plan: PlanId) -> Option<&Transition> {
        self.last.get(plan.0 as usize).filter(|transition| transition.from == from)
    }

    /// Transition of a plan from a position, if it has been found before.
    pub(super) fn get(&mut self, from: Position, plan: PlanId) -> Option<&Transition> {
        let at = plan.0 as usize;
        let transition = if from == Position::OUTSIDE {
            self.outside.get(at).filter(|transition| transition.from == from)?
        } else {
            let inside = self.inside.get_mut(from.0 as usize)?;
            if inside.0 != plan {
                *inside = (plan, *self.all.get(&(from, plan))?);
            }
            &inside.1
        };
        let last = self.last.get_mut(at)?;
        *last = *transition;
        Some(last)
    }

    /// Adds a transition.
    pub(super) fn insert(&mut self, plan: PlanId, transition: Transition) {
        let at = plan.0 as usize;
        self.last.resize(self.last.len().max(at + 1), Transition::UNKNOWN);
        self.last[at] = transition;
        if transition.from == Position::OUTSIDE {
            self.outside.resize(self.last.len(), Transition::UNKNOWN);
            self.outside[at] = transition;
        } else {
            self.all.insert((transition.from, plan), transition);
        }
    }

    /// Forgets all transitions and keeps the positions.
    pub(super) fn clear(&mut self) {
        self.last.fill(Transition::UNKNOWN);
        self.outside.fill(Transition::UNKNOWN);
        self.inside.fill(NONE_INSIDE);
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(superblock: usize, insn: usize) -> Cursor {
        Cursor { superblock, insn }
    }

    fn transition(from: Position, plan: u32) -> Transition {
        Transition { from, plan: PlanId(plan), ..Transition::UNKNOWN }
    }

    fn plan(transitions: &mut Transitions, position: Position, of: u32) -> Option<u32> {
        transitions.get(position, PlanId(of)).map(|found| found.plan.0)
    }

    #[test]
    fn a_position_has_one_number() {
        let mut transitions = Transitions::default();
        assert_eq!(transitions.position(Cursor::OUTSIDE), Position::OUTSIDE);
        let (one, other) = (transitions.position(at(1, 2)), transitions.position(at(1, 3)));
        assert_ne!(one, other);
        assert_eq!(transitions.position(at(1, 2)), one);
        assert_eq!(
            (transitions.cursor(one), transitions.cursor(Position::OUTSIDE)),
            (at(1, 2), Cursor::OUTSIDE)
        );
    }

    #[test]
    fn transitions_are_found_again() {
        let mut transitions = Transitions::default();
        let position = transitions.position(at(1, 2));
        assert_eq!(plan(&mut transitions, Position::OUTSIDE, 7), None);
        assert_eq!(plan(&mut transitions, position, 7), None);
        transitions.insert(PlanId(7), transition(Position::OUTSIDE, 70));
        for of in 7..11 {
            transitions.insert(PlanId(of), transition(position, 10 * of + 1));
        }
        for of in [7, 8, 7, 9, 10, 10, 8] {
            assert_eq!(plan(&mut transitions, position, of), Some(10 * of + 1));
        }
        assert_eq!(
            (plan(&mut transitions, Position::OUTSIDE, 7), plan(&mut transitions, Position::OUTSIDE, 8)),
            (Some(70), None)
        );
        transitions.clear();
        assert_eq!(
            (plan(&mut transitions, Position::OUTSIDE, 7), plan(&mut transitions, position, 8)),
            (None, None)
        );
        assert_eq!(transitions.position(at(1, 2)), position);
    }
}
