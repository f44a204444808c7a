//! The processes in which stops stop the run.

use std::collections::BTreeMap;

/// Processes that are followed, as GDB's `follow-fork-mode` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// The one of when this was chosen, and no child.
    Parent,
    /// That one until it makes a child, then the child, and so on.
    Child,
    /// Every process.
    #[default]
    Both,
}

impl Follow {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Follow::Parent => "parent",
            Follow::Child => "child",
            Follow::Both => "both",
        }
    }
}

/// The process that is followed at any moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Followed {
    mode: Follow,
    /// The moments from which on another process is followed. They are facts of the run, and hold
    /// when it goes back.
    since: BTreeMap<u64, i32>,
}

impl Followed {
    /// Follows `process` from now on, and what the mode says.
    pub(super) fn begin(&mut self, mode: Follow, process: i32) {
        *self = Followed { mode, since: BTreeMap::from([(0, process)]) };
    }

    /// As it was chosen.
    pub(super) fn mode(&self) -> Follow {
        self.mode
    }

    /// Tells if a process is followed at a moment.
    pub(super) fn includes(&self, moment: u64, process: i32) -> bool {
        self.mode == Follow::Both
            || self.since.range(..=moment).next_back().is_some_and(|(_, followed)| *followed == process)
    }

    /// Notes that a process has made a child.
    pub(super) fn forked(&mut self, moment: u64, process: i32, child: i32) {
        if self.mode == Follow::Child && self.includes(moment, process) {
            self.since.insert(moment, child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GDB 13 does with `set follow-fork-mode child`: of two children in turn it follows the
    /// first.
    #[test]
    fn the_child_of_the_one_that_is_followed() {
        let mut followed = Followed::default();
        assert!(followed.includes(0, 1000) && followed.includes(9, 1003));
        followed.begin(Follow::Child, 1000);
        followed.forked(10, 1000, 1001);
        followed.forked(20, 1000, 1002);
        followed.forked(30, 1001, 1003);
        for (moment, process) in [(9, 1000), (10, 1001), (29, 1001), (30, 1003), (99, 1003)] {
            let now: Vec<i32> = (1000..1004).filter(|other| followed.includes(moment, *other)).collect();
            assert_eq!(now, [process], "{moment}");
        }
        followed.begin(Follow::Parent, 1000);
        followed.forked(10, 1000, 1001);
        assert!(followed.includes(10, 1000) && !followed.includes(10, 1001));
    }
}
