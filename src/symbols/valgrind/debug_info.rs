//! File, function and line of a code address, chosen as Valgrind 3.19 chooses them for Cachegrind: functions from
//! the ELF symbol tables, files and lines from `.debug_line`. Debug information may come from a separate file;
//! [`search`] says where to look for one and [`links`] what it must match. Nothing here opens a file.
//!
//! Addresses are link-time ("unbiased") virtual addresses: those of the object's own program headers.

use std::sync::Arc;

use crate::loader::FileBytes;
use crate::symbols::elf::{self, Elf};
use crate::symbols::error::DebugError;
use crate::symbols::valgrind::line_table::LineTable;
use crate::symbols::valgrind::symbol_table::{self, SymbolTable};
use crate::symbols::{line_units, section};

/// What Cachegrind prints for a file or function that is not known.
pub const UNKNOWN: &str = "???";

/// Where an instruction comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Source file as directory, `/` and name, not normalised; [`UNKNOWN`] without line information.
    pub file: Arc<str>,
    /// Name in the symbol table, as it stands there ([`display_name`] makes it readable); [`UNKNOWN`] outside all
    /// symbols.
    pub function: Arc<str>,
    /// Line in `file`; 0 if not known.
    pub line: u32,
}

/// The symbols and line table of one object.
#[derive(Clone, Debug)]
pub struct DebugInfo {
    loads: Vec<elf::Load>,
    symbols: SymbolTable,
    lines: LineTable,
    unknown: Arc<str>,
}

impl DebugInfo {
    /// Reads what `main` (the object that is mapped) says about its code. `separate` is its debug file, used for
    /// whichever of symbol table and DWARF `main` lacks; `alternate` is the file that `.gnu_debugaltlink` of the
    /// one with the DWARF names, which supplies strings only.
    ///
    /// Damaged tables are read as far as they go.
    ///
    /// # Errors
    /// Only if `main` is not a little-endian 64-bit ELF file with readable program headers.
    pub fn parse<F: FileBytes + ?Sized>(
        main: &F,
        separate: Option<&F>,
        alternate: Option<&F>,
    ) -> Result<Self, DebugError> {
        Self::read(main, separate, alternate, Wanted::All)
    }

    /// As [`DebugInfo::parse`], but for the line table reads only what is needed for the instructions at the file
    /// offsets `wanted`, in bytes. Where DWARF has an index of addresses (`.debug_aranges`) that is far less; then other
    /// addresses may seem to have no line.
    ///
    /// # Errors
    /// Those of [`DebugInfo::parse`].
    pub fn parse_for<F: FileBytes + ?Sized>(
        main: &F,
        separate: Option<&F>,
        alternate: Option<&F>,
        wanted: &[u64],
    ) -> Result<Self, DebugError> {
        Self::read(main, separate, alternate, Wanted::Offsets(wanted))
    }

    /// The same for the instructions at the link-time addresses `wanted`.
    ///
    /// # Errors
    /// Those of [`DebugInfo::parse`].
    pub fn parse_at<F: FileBytes + ?Sized>(
        main: &F,
        separate: Option<&F>,
        alternate: Option<&F>,
        wanted: &[u64],
    ) -> Result<Self, DebugError> {
        Self::read(main, separate, alternate, Wanted::Addresses(wanted))
    }

    fn read<F: FileBytes + ?Sized>(
        main: &F,
        separate: Option<&F>,
        alternate: Option<&F>,
        wanted: Wanted<'_>,
    ) -> Result<Self, DebugError> {
        let main = Elf::parse(main)?;
        let separate = separate.and_then(|file| Elf::parse(file).ok());
        let alternate = alternate.and_then(|file| Elf::parse(file).ok());
        let loads = main.loads();
        let code = elf::Code::of(&loads);
        let wanted = match wanted {
            Wanted::All => None,
            Wanted::Addresses(addresses) => Some(addresses.to_vec()),
            Wanted::Offsets(offsets) => {
                Some(offsets.iter().filter_map(|&offset| vaddr_of(&loads, offset)).collect())
            }
        };
        let symbols = symbol_table::read(&main, separate.as_ref().or(section::mini(&main).as_ref()), &code);
        let dwarf = if main.has_dwarf() { Some(&main) } else { separate.as_ref() };
        let lines =
            dwarf.map(|elf| line_units::read_lines(elf, alternate.as_ref(), &code, wanted.as_deref()));
        Ok(Self { loads, symbols, lines: lines.unwrap_or_default(), unknown: Arc::from(UNKNOWN) })
    }

    /// The link-time address of the byte at `offset` in the object's file, if a `PT_LOAD` maps it; where two do, the
    /// executable one. Offsets within a segment's first page, before the segment proper, count as mapped, because
    /// the kernel maps whole pages.
    pub fn vaddr_of_file_offset(&self, offset: u64) -> Option<u64> {
        vaddr_of(&self.loads, offset)
    }

    /// Whether the object has a file-backed writable segment. Valgrind 3.19 reads the debug information of an object
    /// only when it sees such a mapping, and shows [`UNKNOWN`] everywhere for one without.
    pub fn has_writable_file_mapping(&self) -> bool {
        self.loads.iter().any(|load| load.writable && !load.executable && load.file_size > 0)
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
    pub fn symbols(&self) -> &SymbolTable {
        &self.symbols
    }

    /// The line table, in order of address, without overlaps.
    pub fn lines(&self) -> &LineTable {
        &self.lines
    }
}

/// Which instructions the line table is wanted for.
enum Wanted<'a> {
    All,
    /// By offset in the file.
    Offsets(&'a [u64]),
    /// By link-time address.
    Addresses(&'a [u64]),
}

fn vaddr_of(loads: &[elf::Load], offset: u64) -> Option<u64> {
    let mut hits = loads.iter().filter_map(|load| Some((load, load.vaddr_of(offset)?)));
    let first = hits.clone().next()?;
    Some(hits.find(|(load, _)| load.executable).unwrap_or(first).1)
}
