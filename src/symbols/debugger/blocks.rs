//! The blocks of addresses: functions, inlined functions and lexical blocks (DWARF 5, 3.3, 3.5). A
//! line that was compiled into several of them has a breakpoint in each, but only one in a block
//! and those within it, as in GDB.

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Range, Unit, constants};

use crate::symbols::debug_files::{DebugFiles, Slice};
use crate::symbols::give_up::GiveUp;

/// Most entries of range lists that are read; damaged entries can share a long list.
pub(crate) const MAX_RANGES: usize = 1 << 22;
/// Deepest nesting that is told apart.
const MAX_DEPTH: isize = 1000;

/// A block: its unit and its entry there.
pub(crate) type Block = (usize, usize);

/// An entry of a unit.
pub(crate) type Entry<'s> = DebuggingInformationEntry<Slice<'s>>;

/// The blocks around each of `addresses` (link-time): the innermost function, inlined or not, and
/// the lexical blocks in it from the outside in; none where the debug information says nothing.
/// Blocks that declare nothing do not count.
pub(crate) fn around(files: &DebugFiles, addresses: &[u64]) -> Vec<Vec<Block>> {
    let mut found = vec![Vec::new(); addresses.len()];
    let mut budget = MAX_RANGES;
    let Some(dwarf) = files.dwarf() else { return found };
    for (unit, offset) in files.give_up().over_parts(units(&dwarf)) {
        if may_have(&dwarf, &unit, addresses, &mut budget) {
            walk(&dwarf, (&unit, offset), addresses, (&mut found, &mut budget), files.give_up());
        }
    }
    found
}

/// The units that can be read, each with its offset in `.debug_info`.
pub(crate) fn units<'s>(dwarf: &Dwarf<Slice<'s>>) -> impl Iterator<Item = (Unit<Slice<'s>>, usize)> {
    let mut headers = dwarf.units();
    let headers = std::iter::from_fn(move || headers.next().ok().flatten());
    headers.filter_map(|header| {
        let offset = header.debug_info_offset()?.0;
        Some((dwarf.unit(header).ok()?, offset))
    })
}

/// True if the unit says that it has one of `addresses`, or has no ranges to tell.
fn may_have<'s>(
    dwarf: &Dwarf<Slice<'s>>,
    unit: &Unit<Slice<'s>>,
    addresses: &[u64],
    budget: &mut usize,
) -> bool {
    let mut entries = unit.entries();
    let Ok(Some(root)) = entries.next_dfs() else { return false };
    let ranges = ranges(dwarf, unit, root, budget);
    ranges.is_empty() || addresses.iter().any(|address| holds(&ranges, *address))
}

fn walk<'s>(
    dwarf: &Dwarf<Slice<'s>>,
    (unit, offset): (&Unit<Slice<'s>>, usize),
    addresses: &[u64],
    (found, budget): (&mut [Vec<Block>], &mut usize),
    give_up: &GiveUp,
) {
    let mut depths = vec![0isize; addresses.len()];
    // A lexical block that has declared nothing yet.
    let mut open: Option<(isize, usize, Vec<Range>)> = None;
    let mut entries = unit.entries();
    let mut turns = give_up.over(std::iter::repeat(()));
    while turns.next().is_some()
        && let Ok(Some(entry)) = entries.next_dfs()
    {
        let depth = entry.depth();
        if depth > MAX_DEPTH {
            return;
        }
        let id = entry.offset().0;
        let mut mark = |function: bool, depth: isize, id: usize, ranges: &[Range]| {
            for ((address, found), deepest) in addresses.iter().zip(found.iter_mut()).zip(&mut depths) {
                if depth > *deepest && holds(ranges, *address) {
                    if function {
                        found.clear();
                    }
                    found.push((offset, id));
                    *deepest = depth;
                }
            }
        };
        let block = matches!(
            entry.tag(),
            constants::DW_TAG_subprogram
                | constants::DW_TAG_inlined_subroutine
                | constants::DW_TAG_lexical_block
                | constants::DW_TAG_call_site
                | constants::DW_TAG_GNU_call_site
        );
        if let Some((outer, id, ranges)) = open.take()
            && depth == outer.saturating_add(1)
        {
            if block {
                open = Some((outer, id, ranges));
            } else {
                mark(false, outer, id, &ranges);
            }
        }
        match entry.tag() {
            constants::DW_TAG_subprogram | constants::DW_TAG_inlined_subroutine => {
                mark(true, depth, id, &ranges(dwarf, unit, entry, budget));
            }
            constants::DW_TAG_lexical_block => open = Some((depth, id, ranges(dwarf, unit, entry, budget))),
            _ => {}
        }
    }
}

fn holds(ranges: &[Range], address: u64) -> bool {
    ranges.iter().any(|range| range.begin <= address && address < range.end)
}

/// The addresses of an entry: `DW_AT_ranges`, or `DW_AT_low_pc` and `DW_AT_high_pc` (DWARF 5,
/// 2.17).
pub(crate) fn ranges<'s>(
    dwarf: &Dwarf<Slice<'s>>,
    unit: &Unit<Slice<'s>>,
    entry: &Entry<'s>,
    budget: &mut usize,
) -> Vec<Range> {
    let address = |value| dwarf.attr_address(unit, value).ok().flatten();
    if let Some(value) = entry.attr_value(constants::DW_AT_ranges) {
        let mut ranges = Vec::new();
        if let Ok(Some(mut list)) = dwarf.attr_ranges(unit, value) {
            while let (Some(left), Ok(Some(range))) = (budget.checked_sub(1), list.next()) {
                *budget = left;
                ranges.push(range);
            }
        }
        return ranges;
    }
    let begin = entry.attr_value(constants::DW_AT_low_pc).and_then(address);
    let end = entry.attr_value(constants::DW_AT_high_pc);
    match (begin, end) {
        (Some(begin), Some(AttributeValue::Udata(size))) => {
            vec![Range { begin, end: begin.saturating_add(size) }]
        }
        (Some(begin), Some(end)) => address(end).map(|end| Range { begin, end }).into_iter().collect(),
        _ => Vec::new(),
    }
}
