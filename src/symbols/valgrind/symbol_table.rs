//! The function symbols of an object, as Valgrind 3.19 keeps them (its `m_debuginfo`, observed):
//! the symbols that count, the owner of an address that several cover, and the name of a range that
//! several share.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use goblin::elf::sym::{
    STB_GLOBAL, STB_LOCAL, STB_WEAK, STT_FUNC, STT_GNU_IFUNC, STT_OBJECT, st_bind, st_type,
};

use crate::symbols::debug_files::DebugFiles;
use crate::symbols::elf::{self, ExecutablePages};
use crate::symbols::give_up::GiveUp;

/// A symbol and the range it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// First link-time address.
    pub start: u64,
    /// Address after the last.
    pub end: u64,
    /// Name in the symbol table, version suffix included.
    pub name: Arc<str>,
}

/// Symbols in order of address, without overlaps.
#[derive(Clone, Debug, Default)]
pub struct SymbolTable(Vec<Symbol>);

impl SymbolTable {
    /// The symbol that owns `vaddr`.
    pub fn find(&self, vaddr: u64) -> Option<&Symbol> {
        let after = self.0.partition_point(|symbol| symbol.start <= vaddr);
        self.0.get(after.checked_sub(1)?).filter(|symbol| vaddr < symbol.end)
    }

    /// All of them, in order of address.
    pub fn iter(&self) -> std::slice::Iter<'_, Symbol> {
        self.0.iter()
    }

    /// Gives each address of `ranges` (start, end, name; none empty) one owner: of overlapping
    /// symbols the one that starts later has the addresses from its start on, of those that start
    /// together the shorter has its range. Symbols of equal range are aliases, of which [`prefers`]
    /// chooses.
    fn new(ranges: Vec<(u64, u64, &[u8])>, give_up: &GiveUp) -> Self {
        let names: Vec<&[u8]> = ranges.iter().map(|range| range.2).collect();
        // Trimming moves a symbol's start forward; honest tables need it rarely, and a budget
        // bounds the rest.
        let mut budget = ranges.len().saturating_mul(8).saturating_add(1024);
        let mut queue =
            Queue::new(ranges.iter().enumerate().map(|(id, range)| (range.0, range.1, id)), give_up);
        let mut table = Vec::with_capacity(ranges.len());
        let mut longer = Vec::new();
        let mut turns = give_up.over(std::iter::repeat(()));
        while turns.next().is_some()
            && let Some((start, mut end, first)) = queue.pop()
        {
            let mut best = names.get(first).copied().unwrap_or_default();
            while let Some((next, next_end, id)) = queue.peek()
                && next == start
            {
                queue.pop();
                let name = names.get(id).copied().unwrap_or_default();
                if next_end != end {
                    longer.push((next_end, id));
                } else if prefers(name, best) {
                    best = name;
                }
            }
            // Each of the longer ones begins where the next shorter one ends.
            let (mut shorter, mut last) = (end, None);
            for (next_end, id) in longer.drain(..) {
                if let Some(last) = last.filter(|last| *last != next_end) {
                    shorter = last;
                }
                last = Some(next_end);
                if let Some(rest) = budget.checked_sub(1) {
                    budget = rest;
                    queue.push((shorter, next_end, id));
                }
            }
            if let Some((next, ..)) = queue.peek() {
                end = end.min(next);
            }
            table.push(Symbol { start, end, name: Arc::from(String::from_utf8_lossy(best)) });
        }
        Self(table)
    }
}

/// Start, end and number of symbols, in this order. Most are known from the beginning and only
/// sorted.
struct Queue {
    /// The last is the next.
    known: Vec<(u64, u64, usize)>,
    added: BinaryHeap<Reverse<(u64, u64, usize)>>,
}

impl Queue {
    fn new(known: impl Iterator<Item = (u64, u64, usize)>, give_up: &GiveUp) -> Self {
        let mut known: Vec<_> = known.collect();
        give_up.sort_by(&mut known, |a, b| b.cmp(a));
        Self { known, added: BinaryHeap::new() }
    }

    fn push(&mut self, item: (u64, u64, usize)) {
        self.added.push(Reverse(item));
    }

    fn peek(&self) -> Option<(u64, u64, usize)> {
        let added = self.added.peek().map(|item| item.0);
        let known = self.known.last().copied();
        added.into_iter().chain(known).min()
    }

    fn pop(&mut self) -> Option<(u64, u64, usize)> {
        let next = self.peek()?;
        if self.known.last() == Some(&next) { self.known.pop() } else { self.added.pop().map(|item| item.0) }
    }
}

/// Reads the functions of an object whose executable pages are `code`.
pub(crate) fn read(files: &DebugFiles, code: &ExecutablePages) -> SymbolTable {
    let linkage = [".plt", ".got", ".got.plt"].map(|name| files.main().section(name));
    let tables: Vec<_> = files.symbol_tables().map(|(file, kind)| file.symbols(kind)).collect();
    let mut ranges = Vec::new();
    let symbols = tables.iter().flat_map(|table| table.iter());
    for symbol in files.give_up().over(symbols).filter(names_code) {
        let (start, size) = (symbol.value, symbol.size);
        let linkage = linkage.iter().flatten().any(|s| start.wrapping_sub(s.sh_addr) < s.sh_size);
        if !linkage && code.hold(start, size) {
            ranges.push((start, start.saturating_add(size), symbol.name));
        }
    }
    SymbolTable::new(ranges, files.give_up())
}

/// True for a symbol that can name code.
fn names_code(symbol: &elf::Symbol<'_>) -> bool {
    let typed = matches!(st_type(symbol.info), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC);
    let bound = matches!(st_bind(symbol.info), STB_LOCAL | STB_GLOBAL | STB_WEAK);
    typed && bound && symbol.value != 0 && symbol.size != 0
}

/// True if, of two names for one range, `a` is shown rather than `b`: the one that is not blank,
/// then the shorter without its version, then the one with a version, then the smaller. `PMPI_x`
/// goes before `MPI_x`.
fn prefers(a: &[u8], b: &[u8]) -> bool {
    let mpi = |plain: &[u8], profiling: &[u8]| {
        plain.starts_with(b"MPI_") && profiling.strip_prefix(b"P") == Some(plain)
    };
    if mpi(a, b) || mpi(b, a) {
        return mpi(b, a);
    }
    let blank = |name: &[u8]| name.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0x0b);
    let version = |name: &[u8]| name.iter().position(|&byte| byte == b'@');
    let length = |name: &[u8]| version(name).unwrap_or(name.len());
    let order = blank(a)
        .cmp(&blank(b))
        .then_with(|| length(a).cmp(&length(b)))
        .then_with(|| version(b).is_some().cmp(&version(a).is_some()))
        .then_with(|| a.cmp(b));
    order == Ordering::Less
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(ranges: &[(u64, u64, &str)]) -> Vec<(u64, u64, String)> {
        let ranges =
            ranges.iter().map(|&(start, size, name)| (start, start + size, name.as_bytes())).collect();
        SymbolTable::new(ranges, &GiveUp::default())
            .iter()
            .map(|s| (s.start, s.end - s.start, s.name.to_string()))
            .collect()
    }

    fn expect(ranges: &[(u64, u64, &str)], expected: &[(u64, u64, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|&(start, size, name)| (start, size, name.to_owned())).collect();
        assert_eq!(table(ranges), expected);
    }

    // Sizes below are instruction counts that Valgrind 3.19 gave for the same layout in assembly.

    #[test]
    fn a_later_start_ends_the_symbol_before_it() {
        expect(&[(100, 100, "outer"), (110, 10, "inner")], &[(100, 10, "outer"), (110, 10, "inner")]);
        expect(
            &[(300, 20, "ov1"), (310, 20, "ov2"), (315, 2, "ov3")],
            &[(300, 10, "ov1"), (310, 5, "ov2"), (315, 2, "ov3")],
        );
    }

    #[test]
    fn of_symbols_that_start_together_the_shorter_owns_its_range() {
        expect(
            &[(100, 50, "same_long"), (100, 20, "same_short"), (100, 60, "same_long2")],
            &[(100, 20, "same_short"), (120, 30, "same_long"), (150, 10, "same_long2")],
        );
        expect(
            &[(400, 5, "tr_a"), (400, 10, "tr_b"), (403, 10, "tr_c")],
            &[(400, 3, "tr_a"), (403, 2, "tr_c"), (405, 5, "tr_b")],
        );
    }

    #[test]
    fn aliases() {
        let winner = |names: &[&str]| {
            let ranges: Vec<_> = names.iter().map(|name| (10, 5, *name)).collect();
            let table = table(&ranges);
            assert_eq!(table.len(), 1);
            table[0].2.clone()
        };
        assert_eq!(winner(&["alias_zz", "al2", "al1"]), "al1");
        assert_eq!(winner(&["MPI_x", "PMPI_x"]), "PMPI_x");
        assert_eq!(winner(&["PMPI_x", "MPI_x"]), "PMPI_x");
        assert_eq!(winner(&["    ", "a b long"]), "a b long");
        assert_eq!(winner(&["v2v2v2", "v2v2v2@V1"]), "v2v2v2@V1");
        assert_eq!(winner(&["w1w1w1@B", "w1w1w1@@A"]), "w1w1w1@@A");
        assert_eq!(winner(&["long_name@V", "short"]), "short");
    }

    #[test]
    fn lookup_stops_at_the_end_of_a_symbol() {
        let table = SymbolTable::new(vec![(10, 20, b"a"), (30, 40, b"b")], &GiveUp::default());
        let name = |vaddr| table.find(vaddr).map(|symbol| symbol.name.to_string());
        assert_eq!(name(9), None);
        assert_eq!(name(10).as_deref(), Some("a"));
        assert_eq!(name(19).as_deref(), Some("a"));
        assert_eq!(name(20), None);
        assert_eq!(name(39).as_deref(), Some("b"));
        assert_eq!(name(u64::MAX), None);
    }

    #[test]
    fn hostile_overlaps_end() {
        let names: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
        let mut ranges: Vec<(u64, u64, &[u8])> = Vec::new();
        for (n, name) in names.iter().enumerate() {
            ranges.push((n as u64, n as u64 + 1, name.as_bytes()));
            ranges.push((0, 10_000 + n as u64, name.as_bytes()));
        }
        let table = SymbolTable::new(ranges, &GiveUp::default());
        assert_eq!(table.find(77).map(|symbol| symbol.name.to_string()).as_deref(), Some("77"));
        assert!(table.iter().all(|symbol| symbol.start < symbol.end));
    }
}
