//! Symbols and source lines of an object by the names that users of a debugger give them: functions
//! and data by name, code by file and line, and the symbol and line of an address. Where there is a
//! choice it is GDB's (GDB manual, "Linespec Locations"; GDB 13 observed).
//!
//! Addresses are link-time addresses.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::sync::Arc;

use goblin::elf::section_header::{SHF_ALLOC, SHF_EXECINSTR};
use goblin::elf::sym::{STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT, st_type};

use crate::symbols::debug_files::DebugFiles;
use crate::symbols::debugger::blocks::{self, Block};
use crate::symbols::debugger::breakpoint_rows::{BreakpointRows, RowCollector};
use crate::symbols::debugger::symbol_match::{self, Fit, NameIndex};
use crate::symbols::give_up::GiveUp;
use crate::symbols::line_units;
use crate::symbols::valgrind::demangle::display_name;

/// A function or a piece of data, from the symbol tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimalSymbol {
    /// First link-time address.
    pub vaddr: u64,
    /// Bytes; 0 for labels of assembly.
    pub size: u64,
    /// Name in the symbol table, version suffix included.
    pub name: Arc<str>,
}

impl MinimalSymbol {
    /// The readable name.
    pub fn shown(&self) -> String {
        display_name(&self.name, true, true).into_owned()
    }
}

/// A symbol that a name may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'p> {
    /// The quality of the match.
    pub fit: Fit,
    /// The symbol.
    pub symbol: &'p MinimalSymbol,
}

/// Symbols by address and by name.
#[derive(Debug, Default)]
struct SymbolIndex {
    /// By address; aliases side by side, the name to show first.
    all: Vec<MinimalSymbol>,
    names: OnceCell<NameIndex>,
    /// The largest size: a symbol that holds an address begins no further before it.
    largest: u64,
    give_up: GiveUp,
}

impl SymbolIndex {
    fn new(mut all: Vec<(u8, MinimalSymbol)>, give_up: &GiveUp) -> Self {
        give_up.sort_by(&mut all, |(a_rank, a), (b_rank, b)| {
            (a.vaddr, a_rank, a.name.len())
                .cmp(&(b.vaddr, b_rank, b.name.len()))
                .then_with(|| a.name.cmp(&b.name))
        });
        let mut all: Vec<MinimalSymbol> = all.into_iter().map(|(_, symbol)| symbol).collect();
        all.dedup_by(|a, b| a.vaddr == b.vaddr && a.name == b.name);
        all.shrink_to_fit();
        let largest = all.iter().map(|symbol| symbol.size).max().unwrap_or(0);
        Self { all, names: OnceCell::new(), largest, give_up: give_up.clone() }
    }

    fn named(&self, name: &str) -> Vec<Match<'_>> {
        let all = || self.give_up.over(&self.all).map(|symbol| &*symbol.name);
        let names = self.give_up.once(&self.names, || NameIndex::new(all(), &self.give_up));
        let Some(names) = names.filter(|_| !name.is_empty()) else { return Vec::new() };
        let exact = self.all.iter().filter(|symbol| symbol.name.starts_with(name));
        let near = names.candidates(name).filter_map(|index| self.all.get(index));
        let fits = exact.chain(near).map(|symbol| (symbol_match::fit(name, &symbol.name), symbol));
        let mut found: Vec<Match<'_>> =
            fits.filter_map(|(fit, symbol)| Some(Match { fit: fit?, symbol })).collect();
        found.sort_by(|a, b| {
            (a.fit, a.symbol.vaddr, &a.symbol.name).cmp(&(b.fit, b.symbol.vaddr, &b.symbol.name))
        });
        found.dedup_by(|a, b| std::ptr::eq(a.symbol, b.symbol));
        found
    }

    /// The symbol that holds `vaddr`, of several the one that begins last.
    fn at(&self, vaddr: u64) -> Option<(&MinimalSymbol, u64)> {
        let after = self.all.partition_point(|symbol| symbol.vaddr <= vaddr);
        let before = self.all.get(..after)?;
        let reach = before.iter().rev().take_while(|symbol| vaddr.wrapping_sub(symbol.vaddr) <= self.largest);
        let mut holding = None;
        for symbol in reach {
            let past = vaddr.wrapping_sub(symbol.vaddr);
            // The first of its aliases is the last in this order.
            let earlier = holding.is_some_and(|(_, other)| other < past);
            if earlier {
                break;
            }
            if past < symbol.size || past == 0 {
                holding = Some((symbol, past));
            }
        }
        holding
    }

    fn shown(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .give_up
            .over(&self.all)
            .map(|symbol| {
                display_name(symbol.name.split('@').next().unwrap_or_default(), true, true).into_owned()
            })
            .collect();
        self.give_up.sort_by(&mut names, String::cmp);
        names.dedup();
        names
    }
}

/// The code of a source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCode {
    /// The line that was asked for, or if it has no code the next one that has.
    pub line: u32,
    /// The places for a breakpoint on it, in order of address: one in each function, inlined copy
    /// and block that declares something; behind the prologue if the line begins a function.
    pub addresses: Vec<u64>,
}

/// The source line of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Source file as directory, `/` and name, not normalised.
    pub file: Arc<str>,
    /// Line; 0 for code that the compiler gave none.
    pub line: u32,
    /// First address of the code of this line around the address.
    pub start: u64,
    /// Address after the last.
    pub end: u64,
    /// True if a row of the line table begins exactly here and may have a breakpoint: only then has
    /// stepping arrived at the line.
    pub is_stmt: bool,
}

/// The names and lines of one object.
#[derive(Debug)]
pub struct SymbolLookup {
    functions: SymbolIndex,
    data: SymbolIndex,
    lines: BreakpointRows,
}

impl SymbolLookup {
    /// Reads the symbols and line tables.
    pub fn read(files: &DebugFiles) -> Self {
        let code = files.main().executable();
        let (functions, data) = symbols(files);
        let (rows, names) = line_units::read(files, RowCollector::new(&code));
        files.release_sections();
        Self { functions, data, lines: rows.finish(names, files.give_up()) }
    }

    /// The functions that `name` may mean, the best first, those that fit equally in order of
    /// address. It is a symbol's name, a readable one with or without parameters and template
    /// arguments, or the end of a readable path; aliases count each.
    pub fn functions_named(&self, name: &str) -> Vec<Match<'_>> {
        self.functions.named(name)
    }

    /// The function that `vaddr` is in, and the bytes from its start to there.
    pub fn function_at(&self, vaddr: u64) -> Option<(&MinimalSymbol, u64)> {
        // Labels of assembly have no size: theirs is what follows them.
        let label = || {
            let all = &self.functions.all;
            let last = all.get(..all.partition_point(|symbol| symbol.vaddr <= vaddr))?.last()?;
            (last.size == 0).then(|| (last, vaddr.wrapping_sub(last.vaddr)))
        };
        self.functions.at(vaddr).or_else(label)
    }

    /// The readable names of all functions, sorted.
    pub fn function_names(&self) -> Vec<String> {
        self.functions.shown()
    }

    /// The data objects that `name` may mean, as [`SymbolLookup::functions_named`]. Thread-local
    /// ones have no address and are not here.
    pub fn data_named(&self, name: &str) -> Vec<Match<'_>> {
        self.data.named(name)
    }

    /// The data object that `vaddr` is in, and the bytes from its start to there.
    pub fn data_at(&self, vaddr: u64) -> Option<(&MinimalSymbol, u64)> {
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

    /// The code of line `line` of the source files whose paths are `file` or end in it. `files` is
    /// the object that this was read from: its blocks and its code are read now.
    ///
    /// `None` if no such file has code in this line or behind it.
    pub fn line_code(&self, files: &DebugFiles, file: &str, line: u32) -> Option<LineCode> {
        let wanted = normalised(file);
        let fits = |path: &Arc<str>| {
            let path = normalised(path);
            path == wanted || (!file.starts_with('/') && !wanted.is_empty() && path.ends_with(&wanted))
        };
        let fitting: Vec<bool> = self.lines.files().iter().map(fits).collect();
        let mut best = u32::MAX;
        let mut starts = Vec::new();
        for row in self.lines.rows() {
            let here = row.is_stmt() && fitting.get(row.file as usize) == Some(&true);
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
        let mut seen: Vec<Block> = Vec::new();
        let mut addresses = Vec::new();
        for (address, mut around) in starts.iter().zip(blocks::around(files, &starts)) {
            let function = self.function_at(*address);
            if around.is_empty() {
                around.extend(function.map(|(symbol, _)| (usize::MAX, symbol.vaddr as usize)));
            }
            if around.iter().any(|block| seen.contains(block)) {
                continue;
            }
            seen.extend(around.last());
            let behind = function.filter(|(_, past)| *past == 0);
            let behind = behind.map(|(symbol, _)| self.after_prologue(files, symbol));
            addresses.push(behind.unwrap_or(*address));
        }
        addresses.sort_unstable();
        addresses.dedup();
        Some(LineCode { line: best, addresses })
    }

    /// The source line of `vaddr`.
    pub fn source_line(&self, vaddr: u64) -> Option<SourceLine> {
        let (at, row) = self.lines.find(vaddr)?;
        let (start, end) = self.lines.around(at)?;
        let file = Arc::clone(self.lines.file(row.file)?);
        Some(SourceLine {
            file,
            line: row.line(),
            start,
            end,
            is_stmt: row.is_stmt() && row.address == vaddr,
        })
    }

    /// The place for a breakpoint on `function` of the object `files`: behind its prologue.
    ///
    /// That is where the line table says that the prologue ends, as LLVM does. Else, if the code
    /// sets up a frame pointer, the row after the one that does. A function without frame pointer
    /// has its breakpoint at its first instruction.
    pub fn after_prologue(&self, files: &DebugFiles, function: &MinimalSymbol) -> u64 {
        let start = function.vaddr;
        let end = start.saturating_add(function.size.max(1));
        let told = self.lines.within(start, end).find(|row| row.prologue_end() && row.is_stmt());
        if let Some(row) = told {
            return row.address;
        }
        let code = files.main().bytes_at(start, PROLOGUE);
        let Some(length) = frame_setup(&code) else { return start };
        let pc = start.saturating_add(length);
        let Some((at, row)) = self.lines.find(pc) else { return pc };
        match self.lines.end_of(at) {
            Some(next) if row.address != pc && next < end => next,
            _ => pc,
        }
    }
}

/// Bytes of code that may set up a frame pointer.
const PROLOGUE: u64 = 16;

/// Length of the instructions that set up a frame pointer, in bytes: `endbr64` if it is there,
/// `push %rbp`, `mov %rsp,%rbp`.
fn frame_setup(code: &[u8]) -> Option<u64> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    let rest = code.strip_prefix(&ENDBR64).unwrap_or(code).strip_prefix(&[0x55])?;
    let moves = [[0x48, 0x89, 0xe5], [0x48, 0x8b, 0xec]];
    let rest = moves.iter().find_map(|bytes| rest.strip_prefix(bytes))?;
    u64::try_from(code.len().checked_sub(rest.len())?).ok()
}

/// The components of a path without `.`, `..` and empty ones; an absolute one begins with an empty
/// one.
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
fn symbols(files: &DebugFiles) -> (SymbolIndex, SymbolIndex) {
    let (mut functions, mut data) = (Vec::new(), Vec::new());
    for (file, kind) in files.symbol_tables() {
        let table = file.symbols(kind);
        for symbol in files.give_up().over(table.iter()) {
            let section = file.section_of(&symbol);
            let flag = |flag: u32| section.is_some_and(|section| section.sh_flags & u64::from(flag) != 0);
            let kind = st_type(symbol.info);
            let to = match kind {
                STT_FUNC | STT_GNU_IFUNC | STT_NOTYPE if flag(SHF_EXECINSTR) => &mut functions,
                STT_OBJECT | STT_NOTYPE if flag(SHF_ALLOC) => &mut data,
                _ => continue,
            };
            let name = Arc::from(String::from_utf8_lossy(symbol.name));
            let minimal = MinimalSymbol { vaddr: symbol.value, size: symbol.size, name };
            to.push((u8::from(kind == STT_NOTYPE), minimal));
        }
    }
    (SymbolIndex::new(functions, files.give_up()), SymbolIndex::new(data, files.give_up()))
}

#[cfg(test)]
mod tests;
