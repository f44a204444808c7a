//! The two listings of functions: by file and, inside, by function; and the other way round.

use std::collections::BTreeSet;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::columns::{Counts, Shown, share};
use super::tally::Tally;
use crate::profile::{NameId, Names};

/// What is listed, and in which order.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// The sums.
    pub tally: &'a Tally,
    /// The columns.
    pub shown: &'a Shown,
    /// The events to sort by, as places among the recorded ones.
    pub sort: &'a [usize],
    /// The least share, in percent, of the first event of `sort` that an entry must have.
    pub threshold: f64,
}

/// A name with its costs.
struct Entry<'a> {
    name: &'a [u8],
    id: NameId,
    costs: Vec<i64>,
    inner: Vec<Entry<'a>>,
}

impl<'a> Ranking<'a> {
    /// Lists files with the functions in each. Returns the files that reached the threshold.
    ///
    /// # Errors
    /// If writing fails.
    pub fn files(&self, out: &mut impl Write) -> io::Result<BTreeSet<NameId>> {
        let pairs = self.tally.pairs.iter().map(|((file, function), row)| (*file, *function, *row));
        let pairs = pairs.map(|(file, function, row)| (file, function, self.tally.costs(row)));
        self.list(pairs, &self.tally.files, &self.tally.functions, '<', out)
    }

    /// Lists functions with the files that each has code in.
    ///
    /// # Errors
    /// If writing fails.
    pub fn functions(&self, out: &mut impl Write) -> io::Result<()> {
        let pairs = self.tally.pairs.iter().map(|((file, function), row)| (*function, *file, *row));
        let pairs = pairs.map(|(function, file, row)| (function, file, self.tally.costs(row)));
        self.list(pairs, &self.tally.functions, &self.tally.files, '>', out).map(drop)
    }

    /// Lists functions with the costs of those they called. Returns the files that they are in.
    ///
    /// # Errors
    /// If writing fails.
    pub fn inclusive(&self, out: &mut impl Write) -> io::Result<BTreeSet<NameId>> {
        let mut names = Names::default();
        let mut chosen = Vec::with_capacity(self.tally.inclusive.len());
        for ((file, function), row) in &self.tally.inclusive {
            let name = [self.tally.files.text(*file), b":", self.tally.functions.text(*function)].concat();
            chosen.push((names.intern(&name), *file, self.tally.costs(*row)));
        }
        let entries = chosen.iter().map(|(id, _, costs)| {
            let (name, costs) = (names.text(*id), costs.to_vec());
            Entry { name, id: *id, costs, inner: Vec::new() }
        });
        let ranking =
            Ranking { tally: self.tally, shown: self.shown, sort: self.sort, threshold: self.threshold };
        let entries = ranking.rank(entries.collect());
        let table = self.shown.table(entries.iter().map(|e| Counts { own: &e.costs, running: None }));
        write!(out, "  ")?;
        table.head(out)?;
        write!(out, " file:function\n\n")?;
        for entry in &entries {
            write!(out, "  ")?;
            table.line(out, Counts { own: &entry.costs, running: None })?;
            write!(out, " ")?;
            out.write_all(entry.name)?;
            writeln!(out)?;
        }
        writeln!(out)?;
        let listed: BTreeSet<NameId> = entries.iter().map(|entry| entry.id).collect();
        Ok(chosen.iter().filter(|(id, ..)| listed.contains(id)).map(|(_, file, _)| *file).collect())
    }

    fn list(
        &self,
        pairs: impl Iterator<Item = (NameId, NameId, &'a [i64])>,
        outer_names: &'a Names,
        inner_names: &'a Names,
        mark: char,
        out: &mut impl Write,
    ) -> io::Result<BTreeSet<NameId>> {
        let entries = self.rank(self.gather(pairs, outer_names, inner_names));
        // The sums down to each entry.
        let mut sums: Vec<Vec<i64>> = Vec::with_capacity(entries.len());
        for entry in &entries {
            let before = sums.last();
            let sum = entry.costs.iter().enumerate().map(|(at, cost)| {
                let before = before.and_then(|b| b.get(at)).copied().unwrap_or(0);
                before.saturating_add(*cost)
            });
            sums.push(sum.collect());
        }
        let first = entries.iter().zip(&sums).map(|(e, sum)| Counts { own: &e.costs, running: Some(sum) });
        let inner = entries.iter().flat_map(|e| &e.inner).map(|i| Counts { own: &i.costs, running: None });
        let table = self.shown.table(first.chain(inner));

        write!(out, "  ")?;
        table.head(out)?;
        let title = if mark == '<' { "file:function" } else { "function:file" };
        write!(out, " {title}\n\n")?;
        for (entry, sum) in entries.iter().zip(&sums) {
            write!(out, "{mark} ")?;
            table.line(out, Counts { own: &entry.costs, running: Some(sum) })?;
            write!(out, " ")?;
            out.write_all(entry.name)?;
            write!(out, ":")?;
            match entry.inner.as_slice() {
                // All there is to it.
                [only] if only.costs == entry.costs => out.write_all(only.name)?,
                inner => {
                    for inner in inner {
                        write!(out, "\n  ")?;
                        table.line(out, Counts { own: &inner.costs, running: None })?;
                        write!(out, "   ")?;
                        out.write_all(inner.name)?;
                    }
                }
            }
            write!(out, "\n\n")?;
        }
        Ok(entries.iter().map(|entry| entry.id).collect())
    }

    /// Entries with what is inside each, in no order.
    fn gather(
        &self,
        pairs: impl Iterator<Item = (NameId, NameId, &'a [i64])>,
        outer_names: &'a Names,
        inner_names: &'a Names,
    ) -> Vec<Entry<'a>> {
        let mut places = FxHashMap::default();
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for (outer, inner, costs) in pairs {
            let place = *places.entry(outer).or_insert(entries.len());
            if place == entries.len() {
                let (name, costs) = (outer_names.text(outer), vec![0; costs.len()]);
                entries.push(Entry { name, id: outer, costs, inner: Vec::new() });
            }
            let Some(entry) = entries.get_mut(place) else { continue };
            for (sum, cost) in entry.costs.iter_mut().zip(costs) {
                *sum = sum.saturating_add(*cost);
            }
            let (name, costs) = (inner_names.text(inner), costs.to_vec());
            entry.inner.push(Entry { name, id: inner, costs, inner: Vec::new() });
        }
        entries
    }

    /// Leaves out what does not reach the threshold, and sorts the rest: highest costs first, whatever their
    /// sign; where they are equal, by name from last to first.
    fn rank(&self, mut entries: Vec<Entry<'a>>) -> Vec<Entry<'a>> {
        entries.retain_mut(|entry| {
            let leaf = entry.inner.is_empty();
            entry.inner.retain(|inner| self.reaches(&inner.costs));
            self.reaches(&entry.costs) && (leaf || !entry.inner.is_empty())
        });
        entries.sort_by(|a, b| {
            let sizes = self.sort.iter().map(|at| {
                let size = |entry: &Entry<'_>| entry.costs.get(*at).map_or(0, |cost| cost.unsigned_abs());
                size(b).cmp(&size(a))
            });
            let first = sizes.into_iter().find(|order| order.is_ne());
            first.unwrap_or_else(|| b.name.cmp(a.name))
        });
        for entry in &mut entries {
            entry.inner = self.rank(std::mem::take(&mut entry.inner));
        }
        entries
    }

    fn reaches(&self, costs: &[i64]) -> bool {
        let of = |costs: &[i64]| self.sort.first().and_then(|at| costs.get(*at)).copied().unwrap_or(0);
        let total = of(&self.tally.total);
        // Of nothing, anything is enough.
        total == 0 || share(of(costs), total).abs() >= self.threshold
    }
}
