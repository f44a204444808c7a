//! The rows of line programs as they are, for breakpoints and for stepping by lines: the beginnings
//! of statements, also of two rows at one address. Valgrind's line table, for profiles, has other
//! rules.

use std::sync::Arc;

use crate::symbols::elf::ExecutablePages;
use crate::symbols::give_up::GiveUp;
use crate::symbols::line_program::{MAX_LINE, Row as ProgramRow, RowSink};

const IS_STMT: u32 = 1;
const PROLOGUE_END: u32 = 2;
const END: u32 = 4;
const FLAGS: u32 = 3;

/// A row, or the end of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) address: u64,
    pub(crate) file: u32,
    /// The line, and below it the flags.
    packed: u32,
}

impl Row {
    /// 0 for code without a line.
    pub(crate) fn line(&self) -> u32 {
        self.packed >> FLAGS
    }

    /// True if a breakpoint may be set here.
    pub(crate) fn is_stmt(&self) -> bool {
        self.packed & IS_STMT != 0
    }

    /// True at the end of a function's prologue, as LLVM marks it.
    pub(crate) fn prologue_end(&self) -> bool {
        self.packed & PROLOGUE_END != 0
    }

    fn ends(&self) -> bool {
        self.packed & END != 0
    }
}

/// Collects the rows of an object whose executable pages are `code`.
#[derive(Debug)]
pub(crate) struct RowCollector<'c> {
    code: &'c ExecutablePages,
    rows: Vec<Row>,
    /// The beginning of the sequence that is being read, in `rows`.
    first: usize,
}

impl<'c> RowCollector<'c> {
    /// An empty collector.
    pub(crate) fn new(code: &'c ExecutablePages) -> Self {
        Self { code, rows: Vec::new(), first: 0 }
    }

    /// The table of the rows; `files` are their files by number.
    pub(crate) fn finish(mut self, files: Vec<Arc<str>>, give_up: &GiveUp) -> BreakpointRows {
        self.rows.truncate(self.first);
        // Stable: rows of one address stay in the program's order, behind the end of another
        // sequence.
        let order = |row: &Row| (row.address, !row.ends());
        give_up.sort_by(&mut self.rows, |a, b| order(a).cmp(&order(b)));
        self.rows.shrink_to_fit();
        BreakpointRows { rows: self.rows, files }
    }
}

impl RowSink for RowCollector<'_> {
    fn row(&mut self, row: ProgramRow, _: u64) {
        let line = u32::try_from(row.line).ok().filter(|line| u64::from(*line) <= MAX_LINE).unwrap_or(0);
        let flags = u32::from(row.is_stmt) * IS_STMT + u32::from(row.prologue_end) * PROLOGUE_END;
        self.rows.push(Row { address: row.address, file: row.file, packed: line << FLAGS | flags });
    }

    fn end(&mut self, address: u64) {
        let first = self.rows.get(self.first).map(|row| row.address);
        // Code that the linker left out has sequences at 0 or beyond all code.
        let placed = first.is_some_and(|first| first < address && self.code.hold(first, 1));
        if placed {
            self.rows.push(Row { address, file: 0, packed: END });
            self.first = self.rows.len();
        } else {
            self.rows.truncate(self.first);
        }
    }
}

/// Rows by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct BreakpointRows {
    rows: Vec<Row>,
    files: Vec<Arc<str>>,
}

impl BreakpointRows {
    /// The spelling of a file.
    pub(crate) fn file(&self, number: u32) -> Option<&Arc<str>> {
        self.files.get(number as usize)
    }

    /// All files that rows name, by number.
    pub(crate) fn files(&self) -> &[Arc<str>] {
        &self.files
    }

    /// All rows that are no ends.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.ends())
    }

    /// The row that `vaddr` belongs to, by number: of several at its address the last that a
    /// breakpoint may be set at, or the last.
    pub(crate) fn find(&self, vaddr: u64) -> Option<(usize, &Row)> {
        let after = self.rows.partition_point(|row| row.address <= vaddr);
        let last = after.checked_sub(1)?;
        let row = self.rows.get(last).filter(|row| !row.ends())?;
        let same = self.rows.get(..after)?.iter().enumerate().rev();
        let statement = same
            .take_while(|(_, other)| other.address == row.address && !other.ends())
            .find(|(_, other)| other.is_stmt());
        Some(statement.unwrap_or((last, row)))
    }

    /// The first address of a row after row `at` that is not that row's.
    pub(crate) fn end_of(&self, at: usize) -> Option<u64> {
        let address = self.rows.get(at)?.address;
        self.rows.get(at..)?.iter().map(|row| row.address).find(|other| *other != address)
    }

    /// The rows around row `at` without a gap or another line between them: the first address and
    /// the one after the last.
    pub(crate) fn around(&self, at: usize) -> Option<(u64, u64)> {
        let row = self.rows.get(at)?;
        let joins = |other: &&Row| !other.ends() && (other.file, other.line()) == (row.file, row.line());
        let before = self.rows.get(..at)?.iter().rev().take_while(joins).last();
        let behind = self.rows.get(at..)?.iter().find(|other| !joins(other));
        Some((before.unwrap_or(row).address, behind.map_or(u64::MAX, |other| other.address)))
    }

    /// The rows from `start` to before `end`.
    pub(crate) fn within(&self, start: u64, end: u64) -> impl Iterator<Item = &Row> {
        let from = self.rows.partition_point(|row| row.address < start);
        let rows = self.rows.get(from..).unwrap_or_default();
        rows.iter().take_while(move |row| row.address < end).filter(|row| !row.ends())
    }
}
