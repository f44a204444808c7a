//! Line programs of DWARF 2 to 5 (DWARF 5, 6.2): the state machine, and the spelling of files.
//!
//! `gimli` decodes headers and instructions. Its rows are not used: Valgrind 3.19 numbers files and
//! ends rows by other rules, and spells a path as directory, `/` and name, not normalised.

use std::cell::OnceCell;
use std::sync::Arc;

use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, FileEntry, Format, LineInstruction, LineProgramHeader,
    LittleEndian, Reader,
};
use rustc_hash::FxHashMap;

use crate::symbols::debug_files::{DebugFiles, Slice, slice};
use crate::symbols::elf::{ElfFile, string};
use crate::symbols::give_up::GiveUp;

/// The name of a file or function that is not known, in Cachegrind's profiles.
pub(crate) const UNKNOWN: &str = "???";

/// Largest line number that is kept: Valgrind 3.19 has 20 bits for it.
pub(crate) const MAX_LINE: u64 = 1_048_575;
/// Longest file string kept, in bytes (PATH_MAX); damaged tables can name megabytes.
const MAX_PATH: usize = 4096;
/// Most bytes of file strings kept for one object.
const MAX_PATHS: usize = 64 << 20;
/// Longest program header read, in bytes.
const MAX_HEADER: usize = 4 << 20;

type Header<'s> = LineProgramHeader<Slice<'s>>;
type File<'s> = FileEntry<Slice<'s>>;

/// A row of a line program (DWARF 5, 6.2.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Link-time address.
    pub(crate) address: u64,
    /// Number of the file among those that the reader returns.
    pub(crate) file: u32,
    /// As the program has it.
    pub(crate) line: u64,
    /// True at a recommended place for a breakpoint.
    pub(crate) is_stmt: bool,
    /// True at the place for a breakpoint behind the function's prologue.
    pub(crate) prologue_end: bool,
}

/// A taker of rows, in the order of the line programs.
pub(crate) trait RowSink {
    /// A row and the address of the one that follows it in its sequence.
    fn row(&mut self, row: Row, next: u64);
    /// The sequence is complete, and ends before this address.
    fn end(&mut self, _address: u64) {}
    /// Rows were left out here.
    fn part(&mut self) {}
}

/// The sections that line tables are made of. Those that only some tables need are read when they
/// are needed.
pub(crate) struct LineSections<'f> {
    files: &'f DebugFiles,
    file: &'f ElfFile,
    /// `.debug_line`.
    pub(crate) line: Arc<[u8]>,
    strings: OnceCell<Arc<[u8]>>,
    line_strings: OnceCell<Arc<[u8]>>,
    string_offsets: OnceCell<Arc<[u8]>>,
    alternate: OnceCell<Arc<[u8]>>,
}

impl<'f> LineSections<'f> {
    /// The sections of the file with the DWARF; `None` if there is none.
    pub(crate) fn of(files: &'f DebugFiles) -> Option<Self> {
        let file = files.with_dwarf()?;
        Some(Self {
            files,
            file,
            line: file.debug_section(".debug_line"),
            strings: OnceCell::new(),
            line_strings: OnceCell::new(),
            string_offsets: OnceCell::new(),
            alternate: OnceCell::new(),
        })
    }

    /// The wish to read no more of them.
    pub(crate) fn give_up(&self) -> &'f GiveUp {
        self.file.give_up()
    }

    /// Another section of the same file.
    pub(crate) fn other(&self, name: &str) -> Arc<[u8]> {
        self.file.debug_section(name)
    }

    /// The bytes of a string attribute as it is stored; `base` is the unit's
    /// `DW_AT_str_offsets_base`, which the header of a line program does not have. `None` if it
    /// points nowhere.
    pub(crate) fn text<'s>(
        &'s self,
        value: AttributeValue<Slice<'s>>,
        format: Format,
        base: Option<u64>,
    ) -> Option<&'s [u8]> {
        let strings = || self.strings.get_or_init(|| self.other(".debug_str"));
        match value {
            AttributeValue::String(slice) => Some(slice.slice()),
            AttributeValue::DebugStrRef(offset) => string(strings(), offset.0 as u64),
            AttributeValue::DebugLineStrRef(offset) => {
                string(self.line_strings.get_or_init(|| self.other(".debug_line_str")), offset.0 as u64)
            }
            AttributeValue::DebugStrRefSup(offset) => {
                let load = || self.files.alternate().map(|file| file.debug_section(".debug_str"));
                string(self.alternate.get_or_init(|| load().unwrap_or_default()), offset.0 as u64)
            }
            AttributeValue::DebugStrOffsetsIndex(index) => {
                let at = (index.0 as u64).checked_mul(u64::from(format.word_size()))?.checked_add(base?)?;
                let offsets = self.string_offsets.get_or_init(|| self.other(".debug_str_offsets"));
                let mut entry = slice(offsets.get(usize::try_from(at).ok()?..)?);
                string(strings(), entry.read_offset(format).ok()? as u64)
            }
            _ => None,
        }
    }
}

/// Runs line programs and gives their rows to a sink.
pub(crate) struct LineReader<'s, R> {
    sections: &'s LineSections<'s>,
    rows: R,
    paths: Paths,
    /// Bytes of program that may still be run. Honest programs do not overlap, so the section's
    /// length is enough.
    budget: usize,
}

impl<'s, R: RowSink> LineReader<'s, R> {
    /// A reader of the programs in `sections`.
    pub(crate) fn new(sections: &'s LineSections<'s>, rows: R) -> Self {
        let budget = sections.line.len();
        Self { sections, rows, paths: Paths::default(), budget }
    }

    /// Adds the rows of the program at `offset`, whose unit has the compilation directory
    /// `directory`. A program that cannot be read adds what precedes the damage.
    pub(crate) fn read(&mut self, offset: DebugLineOffset, address_size: u8, directory: Option<&'s [u8]>) {
        let section = DebugLine::new(&self.sections.line, LittleEndian);
        let Some(size) = size(slice(&self.sections.line), offset.0) else { return };
        let Some(budget) = self.budget.checked_sub(size) else { return };
        self.budget = budget;
        let Ok(program) = section.program(offset, address_size, None, None) else { return };
        self.run(program.header(), directory);
    }

    /// Adds the rows of a program that names its compilation directory itself, as DWARF 5 has it
    /// (6.2.4: directory 0). Returns false, and adds nothing, if it does not.
    pub(crate) fn read_complete(&mut self, offset: DebugLineOffset) -> bool {
        let section = DebugLine::new(&self.sections.line, LittleEndian);
        let Some(size) = size(slice(&self.sections.line), offset.0) else { return false };
        let Some(budget) = self.budget.checked_sub(size) else { return false };
        let Ok(program) = section.program(offset, 8, None, None) else { return false };
        let header = program.header();
        let directory = header.include_directories().first().filter(|_| header.version() >= 5);
        let directory = directory.and_then(|directory| self.sections.text(*directory, header.format(), None));
        if directory.is_none() {
            return false;
        }
        self.budget = budget;
        self.run(header, directory);
        true
    }

    /// Passes over a program whose rows are not needed.
    pub(crate) fn skip(&mut self) {
        self.rows.part();
    }

    /// The sink of the rows, and the spelling of the files by number.
    pub(crate) fn finish(self) -> (R, Vec<Arc<str>>) {
        (self.rows, self.paths.names)
    }

    fn run(&mut self, header: &Header<'s>, directory: Option<&[u8]>) {
        let encoding = header.line_encoding();
        let step = u64::from(encoding.minimum_instruction_length);
        let range = header.line_range().max(1);
        let special = |opcode: u8| {
            let adjusted = opcode.wrapping_sub(header.opcode_base());
            let line = i64::from(encoding.line_base) + i64::from(adjusted % range);
            (u64::from(adjusted / range).wrapping_mul(step), line)
        };
        let mut files =
            FileTable { header, directory, added: Vec::new(), known: FxHashMap::default(), recent: None };
        let start = State { is_stmt: encoding.default_is_stmt, ..State::START };
        let mut state = start;
        // The row whose end is not known yet. Valgrind takes address 0 for "no row".
        let mut open: Option<State> = None;
        let mut instructions = header.instructions();
        let next = std::iter::from_fn(|| instructions.next_instruction(header).ok().flatten());
        for instruction in self.sections.give_up().over(next) {
            match instruction {
                LineInstruction::Special(opcode) => {
                    let (advance, line) = special(opcode);
                    state.address = state.address.wrapping_add(advance);
                    state.line = state.line.wrapping_add_signed(line);
                }
                LineInstruction::Copy | LineInstruction::EndSequence => {}
                LineInstruction::AdvancePc(advance) => {
                    state.address = state.address.wrapping_add(advance.wrapping_mul(step));
                    continue;
                }
                LineInstruction::ConstAddPc => {
                    state.address = state.address.wrapping_add(special(255).0);
                    continue;
                }
                LineInstruction::FixedAddPc(advance) => {
                    state.address = state.address.wrapping_add(u64::from(advance));
                    continue;
                }
                LineInstruction::SetAddress(address) => {
                    state.address = address;
                    continue;
                }
                LineInstruction::AdvanceLine(line) => {
                    state.line = state.line.wrapping_add_signed(line);
                    continue;
                }
                LineInstruction::SetFile(file) => {
                    state.file = file;
                    continue;
                }
                LineInstruction::DefineFile(file) => {
                    files.added.push(file);
                    continue;
                }
                LineInstruction::NegateStatement => {
                    state.is_stmt = !state.is_stmt;
                    continue;
                }
                LineInstruction::SetPrologueEnd => {
                    state.prologue_end = true;
                    continue;
                }
                _ => continue,
            }
            if let Some(row) = open {
                let file = files.id(row.file, self.sections, &mut self.paths);
                let State { address, line, is_stmt, prologue_end, .. } = row;
                self.rows.row(Row { address, file, line, is_stmt, prologue_end }, state.address);
            }
            if matches!(instruction, LineInstruction::EndSequence) {
                self.rows.end(state.address);
                (state, open) = (start, None);
            } else {
                open = (state.address != 0).then_some(state);
                state.prologue_end = false;
            }
        }
    }
}

/// The registers of the state machine that matter here.
#[derive(Clone, Copy, Debug)]
struct State {
    address: u64,
    file: u64,
    line: u64,
    is_stmt: bool,
    prologue_end: bool,
}

impl State {
    const START: Self = Self { address: 0, file: 1, line: 1, is_stmt: true, prologue_end: false };
}

/// Bytes of the program at `offset` of `.debug_line`; `None` if its header cannot be an honest one.
/// `gimli` reads a header of any size, and a small one may name millions of files.
pub(crate) fn size(mut section: Slice<'_>, offset: usize) -> Option<usize> {
    section.skip(offset).ok()?;
    let before = section.len();
    let (length, format) = section.read_initial_length().ok()?;
    let mut program = section.split(length).ok()?;
    if program.read_u16().ok()? >= 5 {
        program.skip(2).ok()?;
    }
    let header = program.read_length(format).ok()?;
    (header <= MAX_HEADER).then(|| before.saturating_sub(section.len()))
}

/// The files of one program.
struct FileTable<'h, 's> {
    header: &'h Header<'s>,
    directory: Option<&'h [u8]>,
    /// By `DW_LNE_define_file`.
    added: Vec<File<'s>>,
    known: FxHashMap<u64, u32>,
    recent: Option<(u64, u32)>,
}

impl FileTable<'_, '_> {
    /// The number in `paths` of the program's file `index`; that of [`UNKNOWN`] if it has no such
    /// file.
    fn id(&mut self, index: u64, sections: &LineSections<'_>, paths: &mut Paths) -> u32 {
        if let Some((recent, id)) = self.recent
            && recent == index
        {
            return id;
        }
        let id = match self.known.get(&index) {
            Some(&id) => id,
            None => {
                let id = paths.intern(self.path(index, sections));
                self.known.insert(index, id);
                id
            }
        };
        self.recent = Some((index, id));
        id
    }

    fn path(&self, index: u64, sections: &LineSections<'_>) -> Option<Vec<u8>> {
        let version = self.header.version();
        // Before DWARF 5 files count from 1, and directory 0 is the compilation directory.
        let at = usize::try_from(if version >= 5 { index } else { index.checked_sub(1)? }).ok()?;
        let stored = self.header.file_names();
        let file = stored.get(at).or_else(|| self.added.get(at.checked_sub(stored.len())?))?;
        let name = sections.text(file.path_name(), self.header.format(), None)?;
        let directory = file.directory_index();
        let mut path = Vec::new();
        if version < 5 && directory == 0 {
            path.extend_from_slice(self.directory.unwrap_or(b"."));
        } else {
            let at = if version >= 5 { directory } else { directory.wrapping_sub(1) };
            let entry = usize::try_from(at).ok().and_then(|at| self.header.include_directories().get(at));
            if let Some(entry) = entry {
                let entry = sections.text(*entry, self.header.format(), None)?;
                if let (Some(base @ [_, ..]), false) = (self.directory, entry.starts_with(b"/")) {
                    path.extend_from_slice(base);
                    path.push(b'/');
                }
                path.extend_from_slice(entry);
            }
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        (path.len() <= MAX_PATH).then_some(path)
    }
}

/// File strings, each once.
#[derive(Debug, Default)]
struct Paths {
    names: Vec<Arc<str>>,
    ids: FxHashMap<Arc<str>, u32>,
    bytes: usize,
}

impl Paths {
    fn intern(&mut self, path: Option<Vec<u8>>) -> u32 {
        let path = path.filter(|path| self.bytes.saturating_add(path.len()) <= MAX_PATHS);
        let path = path.as_deref().map_or(UNKNOWN.into(), String::from_utf8_lossy);
        if let Some(&id) = self.ids.get(&*path) {
            return id;
        }
        let name: Arc<str> = Arc::from(path);
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_add(name.len());
        self.names.push(Arc::clone(&name));
        self.ids.insert(name, id);
        id
    }
}
