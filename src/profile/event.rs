//! Cachegrind's events and vectors of their counts.

use std::ops::{AddAssign, Index, IndexMut};

/// Number of events.
const COUNT: usize = 13;

/// The events that are counted (Cachegrind's manual, section 5.2), in the order of its file's
/// columns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// Instructions executed.
    Ir,
    /// Fetches that missed I1.
    I1mr,
    /// Fetches that missed I1 and LL.
    ILmr,
    /// Data reads; a modify counts here.
    Dr,
    /// Reads that missed D1.
    D1mr,
    /// Reads that missed D1 and LL.
    DLmr,
    /// Data writes.
    Dw,
    /// Writes that missed D1.
    D1mw,
    /// Writes that missed D1 and LL.
    DLmw,
    /// Conditional branches.
    Bc,
    /// Conditional branches mispredicted.
    Bcm,
    /// Indirect jumps and calls.
    Bi,
    /// Indirect jumps and calls mispredicted.
    Bim,
}

impl Event {
    /// All events, in column order.
    pub const ALL: [Event; COUNT] = [
        Event::Ir,
        Event::I1mr,
        Event::ILmr,
        Event::Dr,
        Event::D1mr,
        Event::DLmr,
        Event::Dw,
        Event::D1mw,
        Event::DLmw,
        Event::Bc,
        Event::Bcm,
        Event::Bi,
        Event::Bim,
    ];

    /// The name in the `events:` line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Event::Ir => "Ir",
            Event::I1mr => "I1mr",
            Event::ILmr => "ILmr",
            Event::Dr => "Dr",
            Event::D1mr => "D1mr",
            Event::DLmr => "DLmr",
            Event::Dw => "Dw",
            Event::D1mw => "D1mw",
            Event::DLmw => "DLmw",
            Event::Bc => "Bc",
            Event::Bcm => "Bcm",
            Event::Bi => "Bi",
            Event::Bim => "Bim",
        }
    }
}

/// Which simulations a profile was taken with, and so which events it holds. Instructions always
/// are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventSet {
    /// Caches: the misses, and data reads and writes themselves.
    pub cache: bool,
    /// Branch predictors.
    pub branch: bool,
}

/// The events in Callgrind's order.
const CALLGRINDS_ORDER: [Event; 13] = [
    Event::Ir,
    Event::Dr,
    Event::Dw,
    Event::I1mr,
    Event::D1mr,
    Event::D1mw,
    Event::ILmr,
    Event::DLmr,
    Event::DLmw,
    Event::Bc,
    Event::Bcm,
    Event::Bi,
    Event::Bim,
];

impl EventSet {
    /// Tells if `event` is recorded.
    #[must_use]
    pub const fn contains(self, event: Event) -> bool {
        match event {
            Event::Ir => true,
            Event::Bc | Event::Bcm | Event::Bi | Event::Bim => self.branch,
            _ => self.cache,
        }
    }

    /// The recorded events in column order.
    pub fn iter(self) -> impl Iterator<Item = Event> + Clone {
        Event::ALL.into_iter().filter(move |&event| self.contains(event))
    }

    /// The recorded events in the order of Callgrind's columns.
    pub fn in_callgrinds_order(self) -> impl Iterator<Item = Event> {
        CALLGRINDS_ORDER.into_iter().filter(move |&event| self.contains(event))
    }
}

/// One count per event, indexed by [`Event`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Costs([u64; COUNT]);

impl Costs {
    /// No event at all.
    pub const ZERO: Costs = Costs([0; COUNT]);

    /// The counts of the events in `set`; the others become 0.
    #[must_use]
    pub fn only(&self, set: EventSet) -> Costs {
        let mut kept = Costs::ZERO;
        for event in set.iter() {
            kept[event] = self[event];
        }
        kept
    }

    /// Tells if every count is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Costs::ZERO
    }
}

impl Index<Event> for Costs {
    type Output = u64;

    fn index(&self, event: Event) -> &u64 {
        &self.0[event as usize]
    }
}

impl IndexMut<Event> for Costs {
    fn index_mut(&mut self, event: Event) -> &mut u64 {
        &mut self.0[event as usize]
    }
}

/// Adds count by count. A sum above 2^64 - 1, which no run can reach, stays there.
impl AddAssign<&Costs> for Costs {
    fn add_assign(&mut self, other: &Costs) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(set: EventSet) -> String {
        set.iter().map(Event::name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn recorded_events() {
        let set = |cache, branch| EventSet { cache, branch };
        assert_eq!(names(set(false, false)), "Ir");
        assert_eq!(names(set(true, false)), "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw");
        assert_eq!(names(set(false, true)), "Ir Bc Bcm Bi Bim");
        assert_eq!(names(set(true, true)), "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim");
    }

    #[test]
    fn counts_are_kept_apart() {
        let mut a = Costs::ZERO;
        for (i, event) in Event::ALL.into_iter().enumerate() {
            a[event] = 1 << i;
        }
        let b = a;
        a += &b;
        for (i, event) in Event::ALL.into_iter().enumerate() {
            assert_eq!(a[event], 2 << i, "{}", event.name());
        }
        a[Event::Ir] = u64::MAX;
        a += &b;
        assert_eq!(a[Event::Ir], u64::MAX, "no wrap");
    }

    #[test]
    fn only_drops_what_was_not_simulated() {
        let mut a = Costs::ZERO;
        for event in Event::ALL {
            a[event] = 5;
        }
        let kept = a.only(EventSet { cache: false, branch: true });
        assert_eq!((kept[Event::Ir], kept[Event::Dr], kept[Event::Bim]), (5, 0, 5));
        assert!(!kept.is_zero() && Costs::ZERO.is_zero());
    }
}
