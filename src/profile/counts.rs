//! Sums of counts: one row of them for each key.

use std::hash::Hash;
use std::num::Wrapping;

use rustc_hash::FxHashMap;

use super::event::Costs;

/// A sum that does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// A count, or another number that can be summed.
pub trait Cell: Copy {
    /// The value of a new cell.
    const NONE: Self;

    /// Adds to a cell.
    ///
    /// # Errors
    /// If the sum does not fit.
    fn add(&mut self, other: &Self) -> Result<(), TooLarge>;
}

/// Differences are negative; a sum that does not fit is an error.
impl Cell for i64 {
    const NONE: i64 = 0;

    fn add(&mut self, other: &i64) -> Result<(), TooLarge> {
        *self = self.checked_add(*other).ok_or(TooLarge)?;
        Ok(())
    }
}

/// Numbers modulo 2^64, as a C program has them.
impl Cell for Wrapping<u64> {
    const NONE: Wrapping<u64> = Wrapping(0);

    fn add(&mut self, other: &Wrapping<u64>) -> Result<(), TooLarge> {
        *self += other;
        Ok(())
    }
}

/// All events of a line in one cell; [`Costs`] says what a sum does that does not fit.
impl Cell for Costs {
    const NONE: Costs = Costs::ZERO;

    fn add(&mut self, other: &Costs) -> Result<(), TooLarge> {
        *self += other;
        Ok(())
    }
}

/// Adds `counts` to `sums`, one by one.
///
/// # Errors
/// If a sum does not fit; `sums` is then of no use.
pub fn add<C: Cell>(sums: &mut [C], counts: &[C]) -> Result<(), TooLarge> {
    for (sum, count) in sums.iter_mut().zip(counts) {
        sum.add(count)?;
    }
    Ok(())
}

/// A row of a [`Rows`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row(usize);

/// Rows of counts in one piece of memory, each with one column for each event.
#[derive(Clone, Debug, Default)]
pub struct Rows<C = i64> {
    width: usize,
    cells: Vec<C>,
}

impl<C: Cell> Rows<C> {
    /// No rows, and this many columns.
    #[must_use]
    pub fn new(width: usize) -> Rows<C> {
        Rows { width, cells: Vec::new() }
    }

    /// Adds an empty row.
    pub fn push(&mut self) -> Row {
        let start = self.cells.len();
        self.cells.resize(start + self.width, C::NONE);
        Row(start)
    }

    /// The counts of a row.
    #[must_use]
    pub fn get(&self, row: Row) -> &[C] {
        self.cells.get(row.0..row.0 + self.width).unwrap_or_default()
    }

    /// The counts of all rows, to be changed.
    pub fn cells_mut(&mut self) -> &mut [C] {
        &mut self.cells
    }

    /// The counts of a row, to be changed.
    pub fn get_mut(&mut self, row: Row) -> &mut [C] {
        self.cells.get_mut(row.0..row.0 + self.width).unwrap_or_default()
    }
}

/// Sums of counts by object, file, function, line or address, or by several of them.
#[derive(Clone, Debug)]
pub struct Sums<K, C = i64> {
    keys: FxHashMap<K, Row>,
    rows: Rows<C>,
}

impl<K: Hash + Eq, C: Cell> Sums<K, C> {
    /// No keys, and this many columns.
    #[must_use]
    pub fn new(columns: usize) -> Sums<K, C> {
        Sums { keys: FxHashMap::default(), rows: Rows::new(columns) }
    }

    /// The row of a key, which may be new.
    pub fn row(&mut self, key: K) -> Row {
        *self.keys.entry(key).or_insert_with(|| self.rows.push())
    }

    /// The counts of a key, which may be new.
    pub fn counts_mut(&mut self, key: K) -> &mut [C] {
        let row = self.row(key);
        self.rows.get_mut(row)
    }

    /// The counts of a row of this table.
    pub fn row_mut(&mut self, row: Row) -> &mut [C] {
        self.rows.get_mut(row)
    }

    /// The keys with their counts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &[C])> {
        self.keys.iter().map(|(key, row)| (key, self.rows.get(*row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_summed() {
        let mut sums = Sums::new(2);
        for (key, counts) in [(("a", 1), [1, 2]), (("a", 3), [1, 0]), (("a", 1), [5, 5]), (("b", 1), [-9, 0])]
        {
            add(sums.counts_mut(key), &counts).expect("fits");
        }
        let mut listed: Vec<_> = sums.iter().collect();
        listed.sort_unstable();
        let expected: [(_, &[i64]); 3] = [(&("a", 1), &[6, 7]), (&("a", 3), &[1, 0]), (&("b", 1), &[-9, 0])];
        assert_eq!(listed, expected);
    }

    #[test]
    fn missing_counts_add_nothing_and_large_ones_may_not_fit() {
        let mut sums = Sums::new(2);
        let row = sums.row('x');
        add(sums.row_mut(row), &[i64::MAX]).expect("fits");
        assert_eq!(sums.row_mut(row), [i64::MAX, 0]);
        assert_eq!(add(sums.row_mut(row), &[0, 1]), Ok(()));
        assert_eq!(add(sums.row_mut(row), &[1]), Err(TooLarge));
        let mut modulo = [Wrapping(u64::MAX)];
        assert_eq!((add(&mut modulo, &[Wrapping(2)]), modulo[0].0), (Ok(()), 1));
    }
}
