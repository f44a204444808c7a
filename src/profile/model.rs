//! The profile: costs by file, function and line.
//!
//! Names are bytes, as Linux and DWARF have them, and are kept as they are, with one exception: a
//! newline, a carriage return or a NUL cannot stand in the line-oriented file formats and becomes
//! `?` on entry, so that names that would be written alike are one. An empty name becomes
//! Cachegrind's `???`.

use std::borrow::Cow;

use super::counts::Sums;
use super::event::{Costs, EventSet};
use super::names::{NameId, Names, UNKNOWN};

/// The counts of one run.
#[derive(Clone, Debug)]
pub struct Profile {
    desc: Vec<String>,
    cmd: Vec<u8>,
    events: EventSet,
    names: Names,
    lines: Sums<Key, Costs>,
}

/// File, function and line.
type Key = (NameId, NameId, u32);

/// The costs of one source line within one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProfileLine<'a> {
    /// The file's name.
    pub file: &'a [u8],
    /// The function's name.
    pub function: &'a [u8],
    /// The line number; 0 if it is not known.
    pub line: u32,
    /// The counts of each event.
    pub costs: &'a Costs,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::new("", EventSet::default())
    }
}

impl Profile {
    /// An empty profile of the command `cmd`: the program and its arguments, joined by blanks and
    /// not quoted, as Cachegrind writes them.
    #[must_use]
    pub fn new(cmd: impl AsRef<[u8]>, events: EventSet) -> Profile {
        Profile {
            desc: Vec::new(),
            cmd: clean(cmd.as_ref()).into_owned(),
            events,
            names: Names::default(),
            lines: Sums::new(1),
        }
    }

    /// Adds a line of description to the file's head; [`super::cache_desc`] makes those of the
    /// caches.
    pub fn push_desc(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.desc.push(text.replace(['\n', '\r', '\0'], "?"));
    }

    /// The description, one line each.
    #[must_use]
    pub fn desc(&self) -> &[String] {
        &self.desc
    }

    /// The command line.
    #[must_use]
    pub fn cmd(&self) -> &[u8] {
        &self.cmd
    }

    /// The events that are recorded.
    #[must_use]
    pub fn events(&self) -> EventSet {
        self.events
    }

    /// Adds `costs` to a line. A line without costs is kept too: Cachegrind lists code that was
    /// translated and never ran with zeros.
    pub fn add(&mut self, file: impl AsRef<[u8]>, function: impl AsRef<[u8]>, line: u32, costs: &Costs) {
        let key = (self.name(file.as_ref()), self.name(function.as_ref()), line);
        if let Some(sum) = self.lines.counts_mut(key).first_mut() {
            *sum += costs;
        }
    }

    fn name(&mut self, name: &[u8]) -> NameId {
        match self.names.find(name) {
            Some(id) => id,
            None => self.names.intern(&clean(if name.is_empty() { UNKNOWN.as_bytes() } else { name })),
        }
    }

    /// Every line, ordered by the bytes of the file, then of the function, then by number: the
    /// order of the file, and the same in every run.
    #[must_use]
    pub fn lines(&self) -> Vec<ProfileLine<'_>> {
        let ranks = self.names.ranks();
        let mut entries: Vec<_> = self.lines.iter().collect();
        entries.sort_unstable_by_key(|&(&(file, function, line), _)| {
            (ranks.get(file), ranks.get(function), line)
        });
        entries
            .into_iter()
            .map(|(&(file, function, line), costs)| ProfileLine {
                file: self.names.text(file),
                function: self.names.text(function),
                line,
                costs: costs.first().unwrap_or(&Costs::ZERO),
            })
            .collect()
    }

    /// The sum of all lines, of the recorded events.
    #[must_use]
    pub fn total(&self) -> Costs {
        let mut sum = Costs::ZERO;
        for costs in self.lines.iter().flat_map(|(_, costs)| costs) {
            sum += costs;
        }
        sum.only(self.events)
    }
}

/// The bytes with those replaced that would break a line.
pub(crate) fn clean(bytes: &[u8]) -> Cow<'_, [u8]> {
    let breaks = |b: &u8| matches!(b, b'\n' | b'\r' | 0);
    if !bytes.iter().any(breaks) {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|b| if breaks(b) { b'?' } else { *b }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Event;

    fn ir(n: u64) -> Costs {
        let mut costs = Costs::ZERO;
        costs[Event::Ir] = n;
        costs
    }

    fn keys(profile: &Profile) -> Vec<(String, String, u32, u64)> {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        profile.lines().iter().map(|l| (text(l.file), text(l.function), l.line, l.costs[Event::Ir])).collect()
    }

    fn row(file: &str, function: &str, line: u32, n: u64) -> (String, String, u32, u64) {
        (file.to_owned(), function.to_owned(), line, n)
    }

    #[test]
    fn equal_keys_merge_and_zero_lines_stay() {
        let mut p = Profile::new("./a", EventSet::default());
        p.add("a.c", "f", 3, &ir(5));
        p.add("a.c", "f", 3, &ir(7));
        p.add("a.c", "f", 4, &Costs::ZERO);
        p.add("a.c", "g", 3, &ir(1));
        p.add("f", "a.c", 3, &ir(1));
        assert_eq!(
            keys(&p),
            [row("a.c", "f", 3, 12), row("a.c", "f", 4, 0), row("a.c", "g", 3, 1), row("f", "a.c", 3, 1)]
        );
        assert_eq!(p.total()[Event::Ir], 14);
    }

    #[test]
    fn order_is_bytes_then_numbers_whatever_came_first() {
        let places: [(&[u8], &[u8], u32); 9] = [
            (b"B.c", b"z", 1),
            (b"a", b"f", 1),
            (b"a.c", b"F", 1),
            (b"a.c", b"_f", 1),
            (b"a.c", b"f", 2),
            (b"a.c", b"f", 10),
            (b"a.c", b"f", 4_294_967_295),
            (b"a/c", b"a", 1),
            (b"\xc3\xa9.c", b"a", 1),
        ];
        let mut forward = Profile::new("", EventSet::default());
        let mut backward = Profile::new("", EventSet::default());
        for &(file, function, line) in &places {
            forward.add(file, function, line, &ir(1));
        }
        for &(file, function, line) in places.iter().rev() {
            backward.add(file, function, line, &ir(1));
        }
        let order: Vec<_> = forward.lines().iter().map(|l| (l.file, l.function, l.line)).collect();
        assert_eq!(order, places);
        assert_eq!(keys(&backward), keys(&forward));
    }

    #[test]
    fn names_keep_their_bytes_but_cannot_break_a_line() {
        let mut p = Profile::new(b"./a \xff\nfn=x\0", EventSet::default());
        p.push_desc("x\ny");
        assert_eq!(p.cmd(), b"./a \xff?fn=x?");
        assert_eq!(p.desc(), ["x?y"]);
        p.add(b"\xff\xfe.c", b"a\nb", 1, &ir(1));
        p.add(b"\xff\xfe.c", b"a\rb", 1, &ir(1));
        p.add(b"\xff\xfe.c", b"a?b", 1, &ir(1));
        p.add("", "", 0, &ir(1));
        p.add("???", "", 0, &ir(1));
        assert_eq!(keys(&p), [row("???", "???", 0, 2), row("\\xff\\xfe.c", "a?b", 1, 3)]);
    }

    #[test]
    fn total_leaves_out_what_is_not_recorded() {
        let mut p = Profile::new("", EventSet::default());
        let mut costs = ir(3);
        costs[Event::Dr] = 9;
        p.add("a", "f", 1, &costs);
        assert_eq!(p.total(), ir(3));
    }
}
