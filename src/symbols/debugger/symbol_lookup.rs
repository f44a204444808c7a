//! The places of an object by the names that users of a debugger give them: functions and data by name, code by file and
//! line, and what stands at an address. Where there is a choice it is GDB's (GDB manual, "Linespec Locations"; GDB 13 observed).
//!
//! Addresses are link-time addresses.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use goblin::elf::section_header::{SHF_ALLOC, SHF_EXECINSTR, SHT_DYNSYM, SHT_SYMTAB};
use goblin::elf::sym::{STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT, st_type};

use crate::loader::FileBytes;
use crate::symbols::debugger::blocks;
use crate::symbols::debugger::blocks::Block;
use crate::symbols::debugger::breakpoint_rows::{Collector, Statements};
use crate::symbols::debugger::inlined_sites;
use crate::symbols::debugger::symbol_match::{self, Fit, Names};
use crate::symbols::elf::{self, Elf};
use crate::symbols::error::DebugError;
use crate::symbols::line_units;
use crate::symbols::section;
use crate::symbols::valgrind::demangle::display_name;
use crate::symbols::valgrind::symbol_table::{Entry, Table};

/// A function or a piece of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// First link-time address.
    pub vaddr: u64,
    /// Bytes; 0 for labels of assembly.
    pub size: u64,
    /// Name in the symbol table, version suffix included.
    pub name: Arc<str>,
}

impl Thing {
    /// The readable name.
    pub fn shown(&self) -> String {
        display_name(&self.name, true, true).into_owned()
    }
}

/// A thing that a name may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meant<'p> {
    /// How well the name fits.
    pub fit: Fit,
    /// What it may mean.
    pub thing: &'p Thing,
}

/// Things by address and by name.
#[derive(Debug, Default)]
struct Things {
    /// By address; aliases side by side, the name to show first.
    all: Vec<Thing>,
    names: OnceLock<Names>,
    /// The largest size, which bounds how far back one that holds an address can begin.
    largest: u64,
}

impl Things {
    fn new(mut all: Vec<(u8, Thing)>) -> Self {
        all.sort_by(|(a_rank, a), (b_rank, b)| {
            (a.vaddr, a_rank, a.name.len())
                .cmp(&(b.vaddr, b_rank, b.name.len()))
                .then_with(|| a.name.cmp(&b.name))
        });
        let mut all: Vec<Thing> = all.into_iter().map(|(_, thing)| thing).collect();
        all.dedup_by(|a, b| a.vaddr == b.vaddr && a.name == b.name);
        all.shrink_to_fit();
        let largest = all.iter().map(|thing| thing.size).max().unwrap_or(0);
        Self { all, names: OnceLock::new(), largest }
    }

    fn named(&self, name: &str) -> Vec<Meant<'_>> {
        let names = self.names.get_or_init(|| Names::new(self.all.iter().map(|thing| &*thing.name)));
        if name.is_empty() {
            return Vec::new();
        }
        let exact = self.all.iter().filter(|thing| thing.name.starts_with(name));
        let near = names.candidates(name).filter_map(|index| self.all.get(index));
        let fits = exact.chain(near).map(|thing| (symbol_match::fit(name, &thing.name), thing));
        let mut found: Vec<Meant<'_>> =
            fits.filter_map(|(fit, thing)| Some(Meant { fit: fit?, thing })).collect();
        found.sort_by(|a, b| {
            (a.fit, a.thing.vaddr, &a.thing.name).cmp(&(b.fit, b.thing.vaddr, &b.thing.name))
        });
        found.dedup_by(|a, b| std::ptr::eq(a.thing, b.thing));
        found
    }

    /// The thing that holds `vaddr`, of several the one that begins last.
    fn at(&self, vaddr: u64) -> Option<(&Thing, u64)> {
        let after = self.all.partition_point(|thing| thing.vaddr <= vaddr);
        let before = self.all.get(..after)?;
        let reach = before.iter().rev().take_while(|thing| vaddr.wrapping_sub(thing.vaddr) <= self.largest);
        let mut holding = None;
        for thing in reach {
            let past = vaddr.wrapping_sub(thing.vaddr);
            // The first of its aliases is the last in this order.
            let earlier = holding.is_some_and(|(_, other)| other < past);
            if earlier {
                break;
            }
            if past < thing.size || past == 0 {
                holding = Some((thing, past));
            }
        }
        holding
    }

    fn shown(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .all
            .iter()
            .map(|thing| {
                display_name(thing.name.split('@').next().unwrap_or_default(), true, true).into_owned()
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The code of a source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCode {
    /// The line: the one that was asked for, or if it has no code the next one that has.
    pub line: u32,
    /// Where a breakpoint on it goes, in order of address: once in each function, inlined copy and block that declares
    /// something; behind the prologue where the line begins a function.
    pub addresses: Vec<u64>,
}

/// The source line of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Source file as directory, `/` and name, not normalised.
    pub file: Arc<str>,
    /// Line; 0 for code that the compiler gave none.
    pub line: u32,
    /// First address of the code of this line around the address.
    pub start: u64,
    /// Address after the last.
    pub end: u64,
    /// Whether a row of the line table begins exactly here and may have a breakpoint: only then has stepping arrived at the
    /// line.
    pub is_stmt: bool,
}

/// The names and lines of one object.
#[derive(Debug)]
pub struct Places {
    functions: Things,
    data: Things,
    lines: Statements,
}

impl Places {
    /// Reads the symbols and line tables of `main`, and of the other files what `main` lacks, as [`crate::symbols::valgrind::debug_info::DebugInfo::parse`]
    /// does.
    ///
    /// # Errors
    /// Only if `main` is not a little-endian 64-bit ELF file with readable program headers.
    pub fn parse<F: FileBytes + ?Sized>(
        main: &F,
        separate: Option<&F>,
        alternate: Option<&F>,
    ) -> Result<Self, DebugError> {
        let main = Elf::parse(main)?;
        let separate = separate.and_then(|file| Elf::parse(file).ok());
        let alternate = alternate.and_then(|file| Elf::parse(file).ok());
        let code = elf::Code::of(&main.loads());
        let (functions, data) = things(&main, separate.as_ref().or(section::mini(&main).as_ref()));
        let dwarf = if main.has_dwarf() { Some(&main) } else { separate.as_ref() };
        let lines = dwarf.map(|elf| {
            let (rows, files) = line_units::read_rows(elf, alternate.as_ref(), Collector::new(&code));
            rows.finish(files)
        });
        Ok(Self { functions, data, lines: lines.unwrap_or_default() })
    }

    /// The functions that `name` may mean, the best first, those that fit equally in order of address. It is a symbol's name, a
    /// readable one with or without parameters and template arguments, or the end of a readable path; aliases count each.
    pub fn functions_named(&self, name: &str) -> Vec<Meant<'_>> {
        self.functions.named(name)
    }

    /// The function that `vaddr` is in, and how many bytes past its start.
    pub fn function_at(&self, vaddr: u64) -> Option<(&Thing, u64)> {
        // Labels of assembly have no size: theirs is what follows them.
        let label = || {
            let all = &self.functions.all;
            let last = all.get(..all.partition_point(|thing| thing.vaddr <= vaddr))?.last()?;
            (last.size == 0).then(|| (last, vaddr.wrapping_sub(last.vaddr)))
        };
        self.functions.at(vaddr).or_else(label)
    }

    /// The readable names of all functions, sorted.
    pub fn function_names(&self) -> Vec<String> {
        self.functions.shown()
    }

    /// The data objects that `name` may mean, as [`Places::functions_named`]. Thread-local ones have no address and are not
    /// here.
    pub fn data_named(&self, name: &str) -> Vec<Meant<'_>> {
        self.data.named(name)
    }

    /// The data object that `vaddr` is in, and how many bytes past its start.
    pub fn data_at(&self, vaddr: u64) -> Option<(&Thing, u64)> {
        self.data.at(vaddr)
    }

    /// The readable names of all data objects, sorted.
    pub fn data_names(&self) -> Vec<String> {
        self.data.shown()
    }

    /// The source files that have code, normalised and sorted.
    pub fn files(&self) -> Vec<String> {
        let mut used = vec![false; self.lines.files().len()];
        for row in self.lines.rows() {
            if let Some(used) = used.get_mut(row.file as usize) {
                *used = true;
            }
        }
        let files = self.lines.files().iter().zip(used).filter(|(_, used)| *used);
        let mut files: Vec<String> = files.map(|(file, _)| normalised(file).join("/")).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The code of line `line` of the files whose paths are `file` or end in it. `main` and `separate` are the files that this was
    /// read from; they are looked at again for inlined functions.
    ///
    /// `None` if no such file has code in this line or behind it.
    pub fn line_code<F: FileBytes + ?Sized>(
        &self,
        main: &F,
        separate: Option<&F>,
        file: &str,
        line: u32,
    ) -> Option<LineCode> {
        let wanted = normalised(file);
        let fits = |path: &Arc<str>| {
            let path = normalised(path);
            path == wanted || (!file.starts_with('/') && !wanted.is_empty() && path.ends_with(&wanted))
        };
        let files: Vec<bool> = self.lines.files().iter().map(fits).collect();
        let mut best = u32::MAX;
        let mut starts = Vec::new();
        for row in self.lines.rows() {
            let here = row.is_stmt() && files.get(row.file as usize) == Some(&true);
            if !here || row.line() < line || row.line() == 0 {
                continue;
            }
            match row.line().cmp(&best) {
                Ordering::Less => {
                    best = row.line();
                    starts.clear();
                    starts.push(row.address);
                }
                Ordering::Equal => starts.push(row.address),
                Ordering::Greater => {}
            }
        }
        starts.dedup();
        if starts.is_empty() {
            return None;
        }
        let code = Elf::parse(main).ok().map(|elf| (elf.loads(), elf));
        let mut seen: Vec<Block> = Vec::new();
        let mut addresses = Vec::new();
        for (address, mut around) in starts.iter().zip(blocks::around(main, separate, &starts)) {
            let function = self.function_at(*address);
            if around.is_empty() {
                around.extend(function.map(|(thing, _)| (usize::MAX, thing.vaddr as usize)));
            }
            if around.iter().any(|block| seen.contains(block)) {
                continue;
            }
            seen.extend(around.last());
            let behind = function.filter(|(_, past)| *past == 0).and_then(|(thing, _)| {
                let (loads, elf) = code.as_ref()?;
                Some(self.after_prologue(thing, &elf::code_at(elf, loads, thing.vaddr, PROLOGUE)))
            });
            addresses.push(behind.unwrap_or(*address));
        }
        addresses.sort_unstable();
        addresses.dedup();
        Some(LineCode { line: best, addresses })
    }

    /// Where copies of the function `name` that were inlined into others begin, in order of address. `main` and `separate` are the
    /// files that this was read from.
    pub fn inlined_copies<F: FileBytes + ?Sized>(
        &self,
        main: &F,
        separate: Option<&F>,
        name: &str,
    ) -> Vec<u64> {
        inlined_sites::begins(main, separate, name)
    }

    /// The source line of `vaddr`.
    pub fn place(&self, vaddr: u64) -> Option<Place> {
        let (at, row) = self.lines.find(vaddr)?;
        let (start, end) = self.lines.around(at)?;
        let file = Arc::clone(self.lines.file(row.file)?);
        Some(Place { file, line: row.line(), start, end, is_stmt: row.is_stmt() && row.address == vaddr })
    }

    /// Where a breakpoint on `function` goes: behind its prologue. `code` has its first [`PROLOGUE`] bytes.
    ///
    /// That is where the line table says that the prologue ends, as LLVM does. Else, if the code sets up a frame pointer,
    /// the row after the one that does so. A function without frame pointer has its breakpoint at its first instruction.
    pub fn after_prologue(&self, function: &Thing, code: &[u8]) -> u64 {
        let start = function.vaddr;
        let end = start.saturating_add(function.size.max(1));
        let told = self.lines.within(start, end).find(|row| row.prologue_end() && row.is_stmt());
        if let Some(row) = told {
            return row.address;
        }
        let Some(length) = frame_setup(code) else { return start };
        let pc = start.saturating_add(length);
        let Some((at, row)) = self.lines.find(pc) else { return pc };
        match self.lines.end_of(at) {
            Some(next) if row.address != pc && next < end => next,
            _ => pc,
        }
    }
}

/// How many bytes of code [`Places::after_prologue`] needs.
pub const PROLOGUE: u64 = 16;

/// Length of the instructions that set up a frame pointer, in bytes: `endbr64` if it is there, `push %rbp`, `mov %rsp,%rbp`.
pub(crate) fn frame_setup(code: &[u8]) -> Option<u64> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    let rest = code.strip_prefix(&ENDBR64).unwrap_or(code).strip_prefix(&[0x55])?;
    let moves = [[0x48, 0x89, 0xe5], [0x48, 0x8b, 0xec]];
    let rest = moves.iter().find_map(|bytes| rest.strip_prefix(bytes))?;
    u64::try_from(code.len().checked_sub(rest.len())?).ok()
}

/// The components of a path without `.`, `..` and empty ones; an absolute one begins with an empty one.
fn normalised(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for (index, part) in path.split('/').enumerate() {
        match part {
            "" if index == 0 => parts.push(part),
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts
}

/// The functions and the data of an object.
fn things(main: &Elf<'_>, separate: Option<&Elf<'_>>) -> (Things, Things) {
    let with_symtab = if main.section_of_type(SHT_SYMTAB).is_some() { Some(main) } else { separate };
    let tables = with_symtab.map(|elf| (elf, SHT_SYMTAB)).into_iter().chain([(main, SHT_DYNSYM)]);
    let (mut functions, mut data) = (Vec::new(), Vec::new());
    for (elf, kind) in tables {
        let table = Table::load(elf, kind);
        for Entry { name, info, section, value, size } in table.entries() {
            // Section 0 is SHN_UNDEF, those from 0xff00 on are reserved.
            let section =
                if section == 0 || section >= 0xff00 { None } else { elf.section_at(section.into()) };
            let flag = |flag: u32| section.is_some_and(|section| section.sh_flags & u64::from(flag) != 0);
            let to = match st_type(info) {
                STT_FUNC | STT_GNU_IFUNC | STT_NOTYPE if flag(SHF_EXECINSTR) => &mut functions,
                STT_OBJECT | STT_NOTYPE if flag(SHF_ALLOC) => &mut data,
                _ => continue,
            };
            let name = Arc::from(String::from_utf8_lossy(name));
            to.push((u8::from(st_type(info) == STT_NOTYPE), Thing { vaddr: value, size, name }));
        }
    }
    (Things::new(functions), Things::new(data))
}

#[cfg(test)]
mod tests;
