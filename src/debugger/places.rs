//! Breakpoints by program: the addresses of their places in every program that the processes run.
//! The same address is another place in another program, and a place has other addresses there.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{Modules, Program};
use super::stops::{Stops, Trigger};
use crate::session::SpaceId;

/// The addresses of places.
#[derive(Default)]
pub(super) struct Places {
    /// By program, and there by the number of the stop.
    programs: BTreeMap<Modules, BTreeMap<u32, Vec<u64>>>,
    /// The program that was looked through last.
    here: Modules,
    /// Its address space.
    space: Option<SpaceId>,
    /// The last stop whose place was looked for in the programs of all processes; `None` where the
    /// run has gone past moments at which other programs may have begun.
    looked_for: Option<u32>,
}

impl Places {
    /// There may be programs that were not looked through.
    pub(super) fn forget(&mut self) {
        (self.looked_for, self.space) = (None, None);
    }

    /// Looks for the places of all stops in the program of an address space.
    pub(super) fn look_through(&mut self, program: &Program, space: SpaceId, stops: &Stops) {
        self.space = Some(space);
        self.here.clone_from(program.loaded());
        let found = self.programs.entry(self.here.clone()).or_default();
        for stop in stops.iter() {
            let Trigger::Place(text) = &stop.trigger else { continue };
            if !found.contains_key(&stop.number)
                && let Some(addresses) = program.addresses(text)
            {
                found.insert(stop.number, addresses);
            }
        }
    }

    /// Tells if all stops up to this one were looked for in the programs of all processes.
    pub(super) fn are_known(&self, last: u32) -> bool {
        self.looked_for == Some(last)
    }

    /// All stops up to this one were looked for in the programs of all processes.
    pub(super) fn set_known(&mut self, last: u32) {
        self.looked_for = Some(last);
    }

    /// Tells if the program of this address space is the one that was looked through last.
    pub(super) fn are_of(&self, space: SpaceId) -> bool {
        self.space == Some(space)
    }

    /// The addresses of a stop in the program that was looked through last.
    pub(super) fn here(&self, number: u32) -> &[u64] {
        let found = self.programs.get(&self.here).and_then(|found| found.get(&number));
        found.map_or(&[], Vec::as_slice)
    }

    /// The addresses of the stops in force, in any program.
    pub(super) fn addresses(&self, stops: &Stops) -> BTreeSet<u64> {
        let enabled: BTreeSet<u32> = stops.enabled().map(|stop| stop.number).collect();
        let all = self.programs.values().flatten().filter(|(number, _)| enabled.contains(number));
        all.flat_map(|(_, addresses)| addresses.iter().copied()).collect()
    }
}
