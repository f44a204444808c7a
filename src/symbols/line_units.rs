//! The line programs that a table is made of: those of every unit, or of some addresses only. Only
//! the root entry of a unit is read, for its line program and its directory.

use std::sync::Arc;

use gimli::{Abbreviations, AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugInfo, DebugLineOffset};
use gimli::{LittleEndian, UnitHeader, UnitType, constants};
use rustc_hash::FxHashMap;

use crate::symbols::aranges::{Index, Program};
use crate::symbols::debug_files::{DebugFiles, Slice};
use crate::symbols::line_program::{LineReader, LineSections, RowSink};

/// Gives every row of `files` to `rows`, and returns it with the spelling of the files by number.
pub(crate) fn read<R: RowSink>(files: &DebugFiles, rows: R) -> (R, Vec<Arc<str>>) {
    match LineSections::of(files) {
        Some(sections) => read_all(&sections, rows),
        None => (rows, Vec::new()),
    }
}

/// The index of the line programs of `files`, if DWARF has one of addresses.
pub(crate) fn index(files: &DebugFiles) -> Option<Index> {
    let sections = LineSections::of(files)?;
    Index::read(&sections.line, &sections.other(".debug_aranges"))
}

/// As [`read`], but only the rows of line programs that can say something of the addresses
/// `wanted`, as far as `index` tells. `sink` makes the taker of rows.
pub(crate) fn read_for<R: RowSink>(
    files: &DebugFiles,
    index: &Index,
    wanted: &[u64],
    sink: impl Fn() -> R,
) -> (R, Vec<Arc<str>>) {
    let Some(sections) = LineSections::of(files) else { return (sink(), Vec::new()) };
    let programs = index.programs(wanted);
    let some = programs.and_then(|programs| read_some(&sections, &programs, sink()));
    some.unwrap_or_else(|| read_all(&sections, sink()))
}

/// Runs the programs that are needed; `None` if one says too little of itself.
fn read_some<R: RowSink>(
    sections: &LineSections<'_>,
    programs: &[Program],
    rows: R,
) -> Option<(R, Vec<Arc<str>>)> {
    let mut reader = LineReader::new(sections, rows);
    for program in sections.give_up().over(programs) {
        if program.needed {
            reader.read_complete(DebugLineOffset(program.offset)).then_some(())?;
        } else {
            reader.skip();
        }
    }
    Some(reader.finish())
}

/// Runs the programs of every unit.
fn read_all<R: RowSink>(sections: &LineSections<'_>, rows: R) -> (R, Vec<Arc<str>>) {
    let (info, abbrev) = (sections.other(".debug_info"), sections.other(".debug_abbrev"));
    let roots = roots(sections, &info, &abbrev);
    // Units may share a program (dwz makes them); reading it again would only repeat its rows.
    let last: FxHashMap<usize, usize> =
        roots.iter().enumerate().map(|(index, root)| (root.program, index)).collect();
    let mut reader = LineReader::new(sections, rows);
    for (index, root) in sections.give_up().over(roots.iter().enumerate()) {
        if last.get(&root.program) == Some(&index) {
            reader.read(DebugLineOffset(root.program), root.address_size, root.directory);
        }
    }
    reader.finish()
}

/// The attributes of a unit's root entry that matter for its lines.
#[derive(Debug)]
struct Root<'s> {
    /// `DW_AT_stmt_list`.
    program: usize,
    /// `DW_AT_comp_dir`.
    directory: Option<&'s [u8]>,
    address_size: u8,
}

fn roots<'s>(sections: &'s LineSections<'_>, info: &'s [u8], abbrev: &'s [u8]) -> Vec<Root<'s>> {
    let mut units = DebugInfo::new(info, LittleEndian).units();
    let headers: Vec<UnitHeader<Slice<'s>>> = std::iter::from_fn(|| units.next().ok().flatten())
        .filter(|unit| !matches!(unit.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }))
        .collect();
    let tables = tables(&headers, abbrev);
    let table = |unit: &UnitHeader<Slice<'s>>| tables.get(&unit.debug_abbrev_offset().0);
    sections.give_up().over(&headers).filter_map(|unit| root(sections, table(unit)?, unit)).collect()
}

/// The abbreviations of the units, by offset. Units may share a table. Honest tables do not
/// overlap; of others few are read, because a damaged section could be read again for each of its
/// bytes.
fn tables(units: &[UnitHeader<Slice<'_>>], abbrev: &[u8]) -> FxHashMap<usize, Abbreviations> {
    const MAX_OVERLAPPING: usize = 32;
    let read = |bytes| DebugAbbrev::new(bytes, LittleEndian).abbreviations(DebugAbbrevOffset(0)).ok();
    let mut offsets: Vec<usize> = units.iter().map(|unit| unit.debug_abbrev_offset().0).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let ends: Vec<usize> = offsets.iter().skip(1).copied().chain([abbrev.len()]).collect();
    let mut overlapping = 0;
    let mut tables = FxHashMap::default();
    for (start, end) in offsets.into_iter().zip(ends) {
        let table = abbrev.get(start..end).and_then(read).or_else(|| {
            overlapping += 1;
            abbrev.get(start..).filter(|_| overlapping <= MAX_OVERLAPPING).and_then(read)
        });
        tables.extend(table.map(|table| (start, table)));
    }
    tables
}

fn root<'s>(
    sections: &'s LineSections<'_>,
    abbreviations: &Abbreviations,
    header: &UnitHeader<Slice<'s>>,
) -> Option<Root<'s>> {
    let encoding = header.encoding();
    let mut entries = header.entries(abbreviations);
    let root = entries.next_dfs().ok()??;
    // A section offset whatever its form is: some producers write a number.
    let offset = |name| match root.attr_value_raw(name)? {
        AttributeValue::SecOffset(offset) => Some(offset),
        value => usize::try_from(value.udata_value()?).ok(),
    };
    // The default is what follows a DWARF 5 section header (DWARF 5, 7.26).
    let default =
        if encoding.version >= 5 { usize::from(encoding.format.initial_length_size()) + 4 } else { 0 };
    let base = offset(constants::DW_AT_str_offsets_base).unwrap_or(default);
    let directory = root.attr_value_raw(constants::DW_AT_comp_dir);
    let directory = directory.and_then(|text| sections.text(text, encoding.format, Some(base as u64)));
    Some(Root {
        program: offset(constants::DW_AT_stmt_list)?,
        directory,
        address_size: encoding.address_size,
    })
}
