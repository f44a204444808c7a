//! The line table of an object, kept as Valgrind 3.19 keeps it (its `m_debuginfo`, observed),
//! quirks included: a row of more than 4,095 bytes shrinks to one, and a row continues its
//! neighbour of the same line number even when the files differ.

use std::sync::Arc;

use crate::symbols::elf::ExecutablePages;
use crate::symbols::give_up::GiveUp;
use crate::symbols::line_program::{MAX_LINE, Row as ProgramRow, RowSink};

/// Longest row, in bytes; one that is longer counts for its first byte alone.
const MAX_ROW: u64 = 4095;

/// The addresses of one source line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    start: u64,
    size: u32,
    line: u32,
    file: u32,
}

impl Row {
    fn end(&self) -> u64 {
        self.start.wrapping_add(u64::from(self.size))
    }
}

/// Rows in order of address, without overlaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineTable {
    rows: Vec<Row>,
    files: Vec<Arc<str>>,
}

impl LineTable {
    /// File and line of the code at `vaddr`.
    pub(crate) fn find(&self, vaddr: u64) -> Option<(&Arc<str>, u32)> {
        let after = self.rows.partition_point(|row| row.start <= vaddr);
        let row = self.rows.get(after.checked_sub(1)?).filter(|row| vaddr < row.end())?;
        Some((self.files.get(row.file as usize)?, row.line))
    }

    /// Every row in order of address: first address, address after the last, file, line.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64, &Arc<str>, u32)> {
        self.rows
            .iter()
            .filter_map(|row| Some((row.start, row.end(), self.files.get(row.file as usize)?, row.line)))
    }

    /// The files that rows name, in the order they were met.
    #[cfg(test)]
    pub(crate) fn files(&self) -> &[Arc<str>] {
        &self.files
    }
}

/// Takes rows in the order of the line programs.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    code: &'a ExecutablePages,
    rows: Vec<Row>,
    sorted: bool,
    /// True if the next row may not join the last one.
    parted: bool,
}

impl<'a> Builder<'a> {
    /// An empty table for the object whose executable pages are `code`.
    pub(crate) fn new(code: &'a ExecutablePages) -> Self {
        Self { code, rows: Vec::new(), sorted: true, parted: false }
    }

    /// Adds the row that begins at `start` and ends at `next`, the beginning of the next row.
    pub(crate) fn add(&mut self, start: u64, next: u64, file: u32, line: u64) {
        let Ok(line_number) = u32::try_from(line) else { return };
        if start == next || line > MAX_LINE {
            return;
        }
        // Also where the sequence goes backwards: `next` before `start` wraps to a huge size.
        let size = match next.wrapping_sub(start) {
            size @ 1..=MAX_ROW => size as u32,
            _ => 1,
        };
        if !self.code.hold(start, u64::from(size)) {
            return;
        }
        let parted = std::mem::take(&mut self.parted);
        if let Some(last) = self.rows.last_mut() {
            let joined = u64::from(last.size) + u64::from(size);
            if !parted && last.end() == start && last.line == line_number && joined <= MAX_ROW {
                last.size += size;
                return;
            }
            self.sorted &= last.start <= start;
        }
        self.rows.push(Row { start, size, line: line_number, file });
    }

    /// Sorts the rows, ends each at the beginning of the next and drops those of which nothing is
    /// left. Of rows that begin together the one added last stays.
    pub(crate) fn finish(mut self, files: Vec<Arc<str>>, give_up: &GiveUp) -> LineTable {
        if !self.sorted {
            give_up.sort_by(&mut self.rows, |a, b| a.start.cmp(&b.start));
        }
        let starts: Vec<u64> = self.rows.iter().skip(1).map(|row| row.start).collect();
        for (row, next) in self.rows.iter_mut().zip(starts) {
            let room = next.wrapping_sub(row.start).min(u64::from(row.size));
            row.size = room as u32;
        }
        self.rows.retain(|row| row.size > 0);
        self.rows.shrink_to_fit();
        LineTable { rows: self.rows, files }
    }
}

impl RowSink for Builder<'_> {
    fn row(&mut self, row: ProgramRow, next: u64) {
        self.add(row.address, next, row.file, row.line);
    }

    fn part(&mut self) {
        self.parted = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::elf::Load;

    /// Bytes per file and line in a function of 20,000 bytes, for rows given as `(offset, file,
    /// line)`, a sequence ended by `(offset, 0, 0)`. The expectations are the counts that Valgrind
    /// 3.19's Cachegrind printed for these line programs over 20,000 one-byte instructions.
    fn counts(rows: &[(u64, u32, u64)]) -> Vec<(u32, u32, u64)> {
        const BASE: u64 = 0x1129;
        let load = Load { offset: 0x1000, vaddr: 0x1000, file_size: 0x5000, executable: true };
        let code = ExecutablePages::of(&[load]);
        let mut builder = Builder::new(&code);
        for pair in rows.windows(2) {
            if pair[0].1 != 0 {
                builder.add(BASE + pair[0].0, BASE + pair[1].0, pair[0].1, pair[0].2);
            }
        }
        let files = vec![Arc::from("none"), Arc::from("a.c"), Arc::from("b.c")];
        let table = builder.finish(files, &GiveUp::default());
        let mut counts = std::collections::BTreeMap::new();
        for vaddr in BASE..BASE + 20_000 {
            if let Some((file, line)) = table.find(vaddr) {
                let file = table.files().iter().position(|name| name == file).unwrap_or(9);
                *counts.entry((file as u32, line)).or_insert(0) += 1;
            }
        }
        counts.into_iter().map(|((file, line), count)| (file, line, count)).collect()
    }

    const END: u32 = 0;

    #[test]
    fn neighbours_of_equal_line_keep_the_first_file() {
        let rows = [
            (0, 1, 10),
            (10, 2, 10),
            (20, 1, 11),
            (25, 1, 11),
            (30, 2, 11),
            (40, 1, 0),
            (50, 1, 12),
            (60, 2, 12),
            (70, 1, 13),
            (100, END, 0),
        ];
        assert_eq!(counts(&rows), [(1, 0, 10), (1, 10, 20), (1, 11, 20), (1, 12, 20), (1, 13, 30)]);
    }

    #[test]
    fn joined_rows_are_no_longer_than_the_limit() {
        let rows = [
            (0, 1, 10),
            (3000, 1, 10),
            (5000, 1, 11),
            (5100, 1, 12),
            (9195, 2, 12),
            (9200, 1, 12),
            (9300, 2, 13),
            (9400, END, 0),
        ];
        let expected = [(1, 10, 5000), (1, 11, 100), (1, 12, 4095), (2, 12, 105), (2, 13, 100)];
        assert_eq!(counts(&rows), expected);
    }

    #[test]
    fn a_row_over_the_limit_keeps_its_first_byte() {
        let rows = [(0, 1, 10), (10, 1, 10), (4110, 1, 10), (4120, 2, 10), (4200, END, 0)];
        assert_eq!(counts(&rows), [(1, 10, 101)]);
        assert_eq!(counts(&[(0, 1, 10), (4095, END, 0)]), [(1, 10, 4095)]);
        assert_eq!(counts(&[(0, 1, 10), (4096, END, 0)]), [(1, 10, 1)]);
    }

    #[test]
    fn sequences_join_in_the_order_they_are_read() {
        assert_eq!(counts(&[(0, 1, 10), (50, END, 0), (50, 2, 10), (100, END, 0)]), [(1, 10, 100)]);
        assert_eq!(
            counts(&[(50, 2, 10), (100, END, 0), (0, 1, 10), (50, END, 0)]),
            [(1, 10, 50), (2, 10, 50)]
        );
    }

    #[test]
    fn lines_beyond_twenty_bits_are_dropped() {
        let rows = [(0, 1, 1_048_575), (10, 1, 1_048_576), (20, 1, 7), (100, END, 0)];
        assert_eq!(counts(&rows), [(1, 7, 80), (1, 1_048_575, 10)]);
    }

    #[test]
    fn overlaps_end_the_earlier_row() {
        let outer = [(0, 1, 10), (100, END, 0)];
        let inner = [(40, 2, 20), (60, END, 0)];
        let expected = [(1, 10, 40), (2, 20, 20)];
        assert_eq!(counts(&[outer, inner].concat()), expected);
        assert_eq!(counts(&[inner, outer].concat()), expected);
        let front = [(0, 2, 20), (60, END, 0)];
        assert_eq!(counts(&[outer, front].concat()), [(2, 20, 60)]);
        assert_eq!(counts(&[front, outer].concat()), [(1, 10, 100)]);
    }

    #[test]
    fn a_step_backwards_leaves_one_byte() {
        let rows = [(0, 1, 10), (50, 1, 11), (20, 2, 12), (60, 1, 13), (100, END, 0)];
        assert_eq!(counts(&rows), [(1, 10, 20), (1, 11, 1), (1, 13, 40), (2, 12, 30)]);
    }

    #[test]
    fn empty_rows_vanish_before_rows_are_joined() {
        let rows =
            [(0, 1, 10), (10, 2, 11), (10, 1, 12), (20, 1, 12), (30, 2, 13), (30, 2, 10), (100, END, 0)];
        assert_eq!(counts(&rows), [(1, 10, 10), (1, 12, 20), (2, 10, 70)]);
    }

    #[test]
    fn rows_outside_the_code_are_dropped() {
        let code = ExecutablePages::of(&[]);
        let mut builder = Builder::new(&code);
        builder.add(0x1000, 0x1010, 0, 1);
        builder.add(u64::MAX, 5, 0, 1);
        assert_eq!(builder.finish(Vec::new(), &GiveUp::default()).iter().count(), 0);
    }
}
