//! The line programs that an address needs, found without reading `.debug_info` and without running
//! them: a program belongs to the unit whose entry in `.debug_aranges` (DWARF 5, 6.1.2) has the
//! address that it begins with.

use gimli::{DebugAranges, DebugLine, DebugLineOffset, LineInstruction, LineProgramHeader, LittleEndian};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::symbols::debug_files::{Slice, slice};
use crate::symbols::line_program;

/// Bytes of an address, before DWARF 5 said so in the program itself.
const ADDRESS_SIZE: u8 = 8;

/// A line program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Offset in `.debug_line`, in bytes.
    pub(crate) offset: usize,
    /// True if it can have rows for a wanted address, or rows that change those.
    pub(crate) needed: bool,
}

/// Facts about all programs of a `.debug_line`, whatever addresses are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    ranges: Vec<Range>,
    /// Offsets of the programs, in order.
    offsets: Vec<usize>,
    /// Those that cannot be assigned to a unit: they are always needed.
    homeless: FxHashSet<usize>,
    of_unit: FxHashMap<usize, Vec<usize>>,
}

impl Index {
    /// The index of the programs in `line`; `None` if `aranges` does not tell.
    pub(crate) fn read(line: &[u8], aranges: &[u8]) -> Option<Index> {
        let ranges = ranges(aranges)?;
        let begins = walk(line)?;
        let offsets = begins.iter().map(|&(offset, _)| offset).collect();
        let mut homeless = FxHashSet::default();
        let mut of_unit: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (offset, begin) in begins {
            match begin.and_then(|begin| only_unit(&ranges, begin)) {
                Some(unit) => of_unit.entry(unit).or_default().push(offset),
                None => {
                    homeless.insert(offset);
                }
            }
        }
        Some(Index { ranges, offsets, homeless, of_unit })
    }

    /// True if every program is needed whatever is wanted.
    pub(crate) fn needs_all(&self) -> bool {
        self.of_unit.is_empty()
    }

    /// The programs in their order, with those marked that the addresses `wanted` need. `None` if
    /// the index does not tell.
    pub(crate) fn programs(&self, wanted: &[u64]) -> Option<Vec<Program>> {
        let mut needed = self.homeless.clone();
        for unit in units(&self.ranges, wanted) {
            // A unit without a program shares another's; only `.debug_info` names it.
            needed.extend(self.of_unit.get(&unit)?);
        }
        let program = |&offset: &usize| Program { offset, needed: needed.contains(&offset) };
        Some(self.offsets.iter().map(program).collect())
    }
}

/// Addresses of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: u64,
    end: u64,
    /// Offset of the unit in `.debug_info`.
    unit: usize,
    /// The highest end of this and all ranges before it.
    reach: u64,
}

/// The ranges of `.debug_aranges`, by start.
fn ranges(aranges: &[u8]) -> Option<Vec<Range>> {
    let section = DebugAranges::new(aranges, LittleEndian);
    let mut headers = section.headers();
    let mut ranges = Vec::new();
    while let Some(header) = headers.next().ok()? {
        let unit = header.debug_info_offset().0;
        let mut entries = header.entries();
        while let Some(entry) = entries.next().ok()? {
            let start = entry.address();
            if entry.length() > 0 {
                ranges.push(Range { start, end: start.saturating_add(entry.length()), unit, reach: 0 });
            }
        }
    }
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut reach = 0;
    for range in &mut ranges {
        reach = range.end.max(reach);
        range.reach = reach;
    }
    Some(ranges)
}

/// The unit that has `address`, if exactly one has it.
fn only_unit(ranges: &[Range], address: u64) -> Option<usize> {
    let after = ranges.partition_point(|range| range.start <= address);
    let before = ranges.get(..after)?.iter().rev().take_while(|range| range.reach > address);
    let mut hits = before.filter(|range| address < range.end).map(|range| range.unit);
    let unit = hits.next()?;
    hits.all(|other| other == unit).then_some(unit)
}

/// The units whose rows decide what is said of `wanted`: rows of ranges that overlap or touch end
/// or join each other.
fn units(ranges: &[Range], wanted: &[u64]) -> FxHashSet<usize> {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let mut units = FxHashSet::default();
    let mut rest = ranges;
    while let Some(first) = rest.first() {
        let reach = |at: &usize| rest.get(at.wrapping_sub(1)).map_or(0, |range| range.reach);
        let gap = (1..rest.len()).find(|at| rest.get(*at).is_some_and(|range| range.start > reach(at)));
        let (cluster, after) = rest.split_at(gap.unwrap_or(rest.len()));
        let end = cluster.last().map_or(0, |range| range.reach);
        let asked = wanted.get(wanted.partition_point(|&address| address < first.start));
        if asked.is_some_and(|&address| address < end) {
            units.extend(cluster.iter().map(|range| range.unit));
        }
        rest = after;
    }
    units
}

/// The programs of a `.debug_line`: offset and first address, which is `None` for one that makes a
/// row before it sets an address, or makes none. `None` if a program's length or header cannot be
/// read.
fn walk(line: &[u8]) -> Option<Vec<(usize, Option<u64>)>> {
    let section = DebugLine::new(line, LittleEndian);
    let mut programs = Vec::new();
    let mut offset = 0;
    while offset < line.len() {
        let size = line_program::size(slice(line), offset)?;
        let program = section.program(DebugLineOffset(offset), ADDRESS_SIZE, None, None).ok()?;
        programs.push((offset, first_address(program.header())));
        offset = offset.checked_add(size)?;
    }
    Some(programs)
}

/// The address that a program sets before it makes a row.
fn first_address(header: &LineProgramHeader<Slice<'_>>) -> Option<u64> {
    let mut instructions = header.instructions();
    loop {
        match instructions.next_instruction(header).ok()?? {
            LineInstruction::SetAddress(address) => return Some(address),
            LineInstruction::Copy | LineInstruction::Special(_) => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges as `(start, end, unit)`.
    fn table(entries: &[(u64, u64, usize)]) -> Vec<Range> {
        let mut section = Vec::new();
        for &(start, end, unit) in entries {
            // DWARF 5, 6.1.2: length, version, unit, address and segment size, padding, tuples,
            // end.
            section.extend_from_slice(&44u32.to_le_bytes());
            section.extend_from_slice(&2u16.to_le_bytes());
            section.extend_from_slice(&(unit as u32).to_le_bytes());
            section.extend_from_slice(&[8, 0, 0, 0, 0, 0]);
            for number in [start, end - start, 0, 0] {
                section.extend_from_slice(&number.to_le_bytes());
            }
        }
        ranges(&section).expect("well-formed")
    }

    fn sorted(ranges: &[Range], wanted: &[u64]) -> Vec<usize> {
        let mut units: Vec<usize> = units(ranges, wanted).into_iter().collect();
        units.sort_unstable();
        units
    }

    #[test]
    fn neighbours_are_needed_too() {
        let ranges = table(&[(100, 200, 1), (200, 300, 2), (310, 400, 3), (350, 360, 4), (500, 510, 5)]);
        assert_eq!(sorted(&ranges, &[250]), [1, 2]);
        assert_eq!(sorted(&ranges, &[399]), [3, 4]);
        assert_eq!(sorted(&ranges, &[400, 305, 99, 600]), [0usize; 0]);
        assert_eq!(sorted(&ranges, &[600, 509, 100]), [1, 2, 5]);
    }

    #[test]
    fn an_address_of_two_units_is_of_neither() {
        let ranges = table(&[(100, 400, 1), (150, 160, 2), (200, 300, 3), (500, 600, 3)]);
        let unit = |address| only_unit(&ranges, address);
        assert_eq!((unit(155), unit(170), unit(250), unit(399)), (None, Some(1), None, Some(1)));
        assert_eq!((unit(400), unit(550), unit(99), unit(600)), (None, Some(3), None, None));
    }

    #[test]
    fn damaged_sections_tell_nothing() {
        assert_eq!(Index::read(&[1, 0, 0, 0, 5], &[]), None);
        assert_eq!(Index::read(&[], &[9, 0, 0, 0, 2, 0]), None);
        assert_eq!(Index::read(&[], &[]).and_then(|index| index.programs(&[1])), Some(Vec::new()));
    }
}
