//! The beginnings of the inlined copies of a function: `DW_TAG_inlined_subroutine` by the function
//! that it stands for (DWARF 5, 3.3.8). A breakpoint on a function is also set there.

use gimli::{AttributeValue, Dwarf, Unit, constants};
use rustc_hash::FxHashSet;

use crate::symbols::debug_files::{DebugFiles, Slice};
use crate::symbols::debugger::blocks::{self, Entry, MAX_RANGES};
use crate::symbols::debugger::symbol_match;

/// The first addresses of the copies of the functions that `name` may mean, sorted.
pub fn addresses(files: &DebugFiles, name: &str) -> Vec<u64> {
    let last = symbol_match::last_part(name);
    let Some(dwarf) = files.dwarf().filter(|_| !last.is_empty()) else { return Vec::new() };
    // Entries of functions that are meant, by offset in `.debug_info`; a copy may stand before its
    // function.
    let mut meant = FxHashSet::default();
    let mut copies: Vec<(usize, u64)> = Vec::new();
    let mut budget = MAX_RANGES;
    let mut turns = files.give_up().over(std::iter::repeat(()));
    for (unit, offset) in blocks::units(&dwarf) {
        let mut entries = unit.entries();
        while turns.next().is_some()
            && let Ok(Some(entry)) = entries.next_dfs()
        {
            match entry.tag() {
                constants::DW_TAG_subprogram => {
                    let declared = target(entry, constants::DW_AT_specification, offset);
                    let known = declared.is_some_and(|declared| meant.contains(&declared));
                    if known || is_meant(&dwarf, &unit, entry, name, last) {
                        meant.insert(offset.saturating_add(entry.offset().0));
                    }
                }
                constants::DW_TAG_inlined_subroutine => {
                    let function = target(entry, constants::DW_AT_abstract_origin, offset);
                    let begin = function.and_then(|_| begin(&dwarf, &unit, entry, &mut budget));
                    copies.extend(function.zip(begin));
                }
                _ => {}
            }
        }
    }
    let code = files.main().executable();
    let meant = |(function, begin): &(usize, u64)| meant.contains(function) && code.hold(*begin, 1);
    let mut begins: Vec<u64> = copies.into_iter().filter(meant).map(|copy| copy.1).collect();
    begins.sort_unstable();
    begins.dedup();
    begins
}

/// The entry that an attribute points to, as an offset in `.debug_info`.
fn target(entry: &Entry<'_>, attribute: constants::DwAt, unit: usize) -> Option<usize> {
    match entry.attr_value(attribute)? {
        AttributeValue::UnitRef(offset) => unit.checked_add(offset.0),
        AttributeValue::DebugInfoRef(offset) => Some(offset.0),
        _ => None,
    }
}

fn is_meant<'s>(
    dwarf: &Dwarf<Slice<'s>>,
    unit: &Unit<Slice<'s>>,
    entry: &Entry<'s>,
    name: &str,
    last: &str,
) -> bool {
    let text = |attribute| {
        let value = entry.attr_value(attribute)?;
        Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy())
    };
    let Some(plain) = text(constants::DW_AT_name) else { return false };
    // Reading a mangled name takes long.
    if !plain.starts_with(last) && !last.starts_with("operator") {
        return false;
    }
    let linkage = text(constants::DW_AT_linkage_name).or_else(|| text(constants::DW_AT_MIPS_linkage_name));
    symbol_match::fit(name, linkage.as_deref().unwrap_or(&plain)).is_some()
}

/// The entry of a copy: `DW_AT_entry_pc`, else its first address (DWARF 5, 2.18).
fn begin<'s>(
    dwarf: &Dwarf<Slice<'s>>,
    unit: &Unit<Slice<'s>>,
    entry: &Entry<'s>,
    budget: &mut usize,
) -> Option<u64> {
    let first = |budget: &mut usize| {
        let ranges = blocks::ranges(dwarf, unit, entry, budget);
        ranges.iter().find(|range| range.begin < range.end).map(|range| range.begin)
    };
    match entry.attr_value(constants::DW_AT_entry_pc) {
        Some(AttributeValue::Udata(past)) => first(budget)?.checked_add(past),
        Some(value) => dwarf.attr_address(unit, value).ok().flatten(),
        None => first(budget),
    }
}
