//! The file, function and line of a code address, chosen as Valgrind 3.19 chooses them for
//! Cachegrind: functions from the ELF symbol tables, files and lines from `.debug_line`.

use std::sync::Arc;

use crate::symbols::aranges::Index;
use crate::symbols::debug_files::DebugFiles;
use crate::symbols::line_program::UNKNOWN;
use crate::symbols::line_units;
use crate::symbols::valgrind::line_table::{Builder, LineTable};
use crate::symbols::valgrind::symbol_table::{self, SymbolTable};

/// The source of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Source file as directory, `/` and name, not normalised; `UNKNOWN` without line
    /// information.
    pub file: Arc<str>,
    /// Name in the symbol table, as it stands there; `UNKNOWN` outside all symbols.
    pub function: Arc<str>,
    /// Line in `file`; 0 if not known.
    pub line: u32,
}

/// The instructions that a line table is wanted for.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// All of them.
    All,
    /// Those at these offsets in the object's file, in bytes.
    Offsets(&'a [u64]),
    /// Those at these link-time addresses.
    Addresses(&'a [u64]),
}

/// Parts of an object's line tables that do not depend on the instructions that are wanted.
#[derive(Clone, Debug)]
pub(crate) enum Lines {
    /// All rows: nothing tells which of them are needed.
    All(Arc<LineTable>),
    /// The index to the rows of some instructions.
    Indexed(Index),
}

impl Lines {
    /// Reads what of the line tables does not depend on what is wanted.
    pub(crate) fn read(files: &DebugFiles) -> Lines {
        match line_units::index(files).filter(|index| !index.needs_all()) {
            Some(index) => Lines::Indexed(index),
            None => Lines::All(Arc::new(all_lines(files))),
        }
    }
}

fn all_lines(files: &DebugFiles) -> LineTable {
    let code = files.main().executable();
    let (rows, names) = line_units::read(files, Builder::new(&code));
    rows.finish(names, files.give_up())
}

fn some_lines(files: &DebugFiles, index: &Index, wanted: &[u64]) -> LineTable {
    let code = files.main().executable();
    let (rows, names) = line_units::read_for(files, index, wanted, || Builder::new(&code));
    rows.finish(names, files.give_up())
}

/// The symbols and the line table of one object.
#[derive(Clone, Debug)]
pub struct DebugInfo {
    symbols: Arc<SymbolTable>,
    lines: Arc<LineTable>,
    unknown: Arc<str>,
}

impl DebugInfo {
    /// Reads the symbols of an object and the lines of the instructions `wanted`. Where DWARF has
    /// an index of addresses (`.debug_aranges`) that is far less than all; then other addresses may
    /// seem to have no line.
    ///
    /// Damaged tables are read as far as they go.
    pub fn read(files: &DebugFiles, wanted: Wanted<'_>) -> Self {
        let symbols = Arc::new(symbol_table::read(files, &files.main().executable()));
        DebugInfo::of(files, symbols, &Lines::read(files), wanted)
    }

    /// As [`DebugInfo::read`], where some is known already.
    pub(crate) fn of(
        files: &DebugFiles,
        symbols: Arc<SymbolTable>,
        known: &Lines,
        wanted: Wanted<'_>,
    ) -> Self {
        let vaddr = |&offset: &u64| files.main().vaddr_of_file_offset(offset);
        let lines = match (known, wanted) {
            (Lines::All(lines), _) => Arc::clone(lines),
            (Lines::Indexed(_), Wanted::All) => Arc::new(all_lines(files)),
            (Lines::Indexed(index), Wanted::Addresses(addresses)) => {
                Arc::new(some_lines(files, index, addresses))
            }
            (Lines::Indexed(index), Wanted::Offsets(offsets)) => {
                let addresses: Vec<u64> = offsets.iter().filter_map(vaddr).collect();
                Arc::new(some_lines(files, index, &addresses))
            }
        };
        files.release_sections();
        Self { symbols, lines, unknown: Arc::from(UNKNOWN) }
    }

    /// File, function and line of the instruction at link-time address `vaddr`.
    pub fn locate(&self, vaddr: u64) -> Location {
        let (file, line) = self.source_line(vaddr).unwrap_or((&self.unknown, 0));
        let function = self.function(vaddr).unwrap_or(&self.unknown);
        Location { file: Arc::clone(file), function: Arc::clone(function), line }
    }

    /// The symbol whose range holds `vaddr`.
    pub fn function(&self, vaddr: u64) -> Option<&Arc<str>> {
        self.symbols.find(vaddr).map(|symbol| &symbol.name)
    }

    /// The file and line of `vaddr`.
    pub fn source_line(&self, vaddr: u64) -> Option<(&Arc<str>, u32)> {
        self.lines.find(vaddr)
    }

    /// The symbols, in order of address, without overlaps.
    #[cfg(test)]
    pub(crate) fn symbols(&self) -> &SymbolTable {
        &self.symbols
    }

    /// The line table, in order of address, without overlaps.
    #[cfg(test)]
    pub(crate) fn lines(&self) -> &LineTable {
        &self.lines
    }
}
