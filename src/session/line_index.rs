//! The source lines of instructions by number, so that profiles of many processes look an
//! instruction up once, and add names to a profile once for each line.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::hooks::plan::MappingId;
use crate::profile::{Costs, Profile, UNKNOWN};
use crate::session::modules::Modules;

/// File, function and line.
type Line = (Arc<str>, Arc<str>, u32);

/// The lines that instructions were found at.
pub(super) struct LineIndex {
    lines: Vec<Line>,
    numbers: FxHashMap<Line, u32>,
    /// Numbers by instruction, if there is more than one profile to come.
    known: Option<FxHashMap<(MappingId, u64), u32>>,
    unknown: Arc<str>,
}

impl LineIndex {
    /// No lines yet. With `many` profiles to come it remembers where each instruction is, for which
    /// nothing that [`Modules::read_debug_info`] has read may change.
    pub(super) fn new(many: bool) -> LineIndex {
        LineIndex {
            lines: Vec::new(),
            numbers: FxHashMap::default(),
            known: many.then(FxHashMap::default),
            unknown: Arc::from(UNKNOWN),
        }
    }

    /// The number of the line of an instruction.
    pub(super) fn number(&mut self, modules: &mut Modules, mapping: MappingId, pc: u64) -> u32 {
        let known = self.known.as_ref().and_then(|known| known.get(&(mapping, pc)));
        if let Some(number) = known {
            return *number;
        }
        let line = match modules.locate(mapping, pc) {
            Some(at) => (at.file, at.function, at.line),
            None => (Arc::clone(&self.unknown), Arc::clone(&self.unknown), 0),
        };
        let lines = &mut self.lines;
        let number = *self.numbers.entry(line).or_insert_with_key(|line| {
            lines.push(line.clone());
            (lines.len() - 1) as u32
        });
        if let Some(known) = &mut self.known {
            known.insert((mapping, pc), number);
        }
        number
    }

    /// File, function and line of a number.
    pub(super) fn line(&self, number: u32) -> (&str, &str, u32) {
        let line = self.lines.get(number as usize);
        line.map_or((UNKNOWN, UNKNOWN, 0), |(file, function, line)| (&**file, &**function, *line))
    }
}

/// Costs by the number of the line.
#[derive(Default)]
pub(super) struct LineCosts {
    /// Place of a line in `costs` and 1, by its number; 0 for a line without.
    places: Vec<u32>,
    costs: Vec<(u32, Costs)>,
}

impl LineCosts {
    /// Adds costs to a line.
    pub(super) fn add(&mut self, number: u32, costs: &Costs) {
        let at = number as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, 0);
        }
        let place = &mut self.places[at];
        match self.costs.get_mut((*place as usize).wrapping_sub(1)) {
            Some((_, sum)) => *sum += costs,
            None => {
                self.costs.push((number, *costs));
                *place = self.costs.len() as u32;
            }
        }
    }

    /// Adds all costs to a profile.
    pub(super) fn put(&self, index: &LineIndex, profile: &mut Profile) {
        for (number, costs) in &self.costs {
            let (file, function, line) = index.line(*number);
            profile.add(file, function, line, costs);
        }
    }
}
