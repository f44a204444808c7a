//! The sums that an annotation shows: by file and function, and by file and line, of several
//! profiles or of the difference of two.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::names::NameStyle;
use crate::profile::{NameId, Names, Problem, ReadError, Row, Rows, Substitution, add};

/// Changes to the names in a profile while it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renaming {
    /// Applied to the names of source files.
    pub(crate) files: Option<Substitution>,
    /// The form of the names of functions; `None` for as they are.
    pub(crate) style: Option<NameStyle>,
    /// Applied to the names of functions after that.
    pub(crate) functions: Option<Substitution>,
}

impl Renaming {
    /// The name to show for a function.
    pub(crate) fn function<'a>(&self, name: &'a [u8]) -> Cow<'a, [u8]> {
        let styled = self.style.map_or(Cow::Borrowed(name), |style| Cow::Owned(style.apply(name)));
        match &self.functions {
            Some(replace) => Cow::Owned(replace.apply(&styled)),
            None => styled,
        }
    }
}

/// A source file and a function with code from it.
pub(crate) type Pair = (NameId, NameId);

/// The calls of one function by another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSum {
    /// Their number; negative in a difference where there are fewer.
    pub(crate) calls: i64,
    /// Their costs, with all that they call.
    pub(crate) row: Row,
}

/// The description of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Its `desc:` lines.
    pub(crate) desc: Vec<Vec<u8>>,
    /// Its command.
    pub(crate) cmd: Vec<u8>,
}

/// The costs of one source file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileCosts {
    /// By line; 0 is what has no line.
    pub(crate) lines: FxHashMap<u64, Row>,
    /// The names before renaming.
    pub(crate) originals: BTreeSet<Vec<u8>>,
}

/// The sums of profiles by file and function, and by file and line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// The names of the events; empty before the first profile.
    pub(crate) events: Vec<Vec<u8>>,
    /// One for each profile, in their order.
    pub(crate) origins: Vec<Origin>,
    /// The names of source files, renamed.
    pub(crate) files: Names,
    /// The names of functions, renamed.
    pub(crate) functions: Names,
    /// By file and function. A file has an entry for the unnamed function that `fl=` begins, as in
    /// `cg_annotate`, which shows it if the threshold is 0.
    pub(crate) pairs: FxHashMap<Pair, Row>,
    /// By file and function, with the costs of the functions that were called; empty unless asked
    /// for.
    pub(crate) inclusive: FxHashMap<Pair, Row>,
    /// By caller and called function; empty unless asked for.
    pub(crate) calls: FxHashMap<(Pair, Pair), CallSum>,
    /// The objects of functions; empty unless calls are asked for.
    pub(crate) objects: FxHashMap<Pair, Vec<u8>>,
    /// By source file.
    pub(crate) by_file: FxHashMap<NameId, FileCosts>,
    /// The costs of the whole runs. A Callgrind file may say that they are more than those of its
    /// lines.
    pub(crate) total: Vec<i64>,
    /// In a difference, the profile that is taken away.
    pub(crate) before: Option<Box<Tally>>,
    rows: Rows,
}

/// A profile that could not be added.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is malformed.
    Read(ReadError),
    /// Its events are not those of the profiles before it: here they are.
    Events(Vec<Vec<u8>>),
    /// The sums became too large.
    Sum(Problem),
    /// The costs of calls were asked for; only Callgrind files have them.
    NoCalls,
}

impl From<ReadError> for Refused {
    fn from(error: ReadError) -> Refused {
        Refused::Read(error)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        Refused::Sum(problem)
    }
}

impl Tally {
    /// The costs of a row, one for each event.
    pub(crate) fn costs(&self, row: Row) -> &[i64] {
        self.rows.get(row)
    }

    /// Begins with a first profile's events.
    pub(crate) fn begin(&mut self, events: &[Vec<u8>]) {
        self.events = events.to_vec();
        self.total = vec![0; events.len()];
        self.rows = Rows::new(events.len());
    }

    /// Turns the sums of a first profile into what is left of it in a difference.
    ///
    /// # Errors
    /// If a sum does not fit.
    pub(crate) fn take_away(self) -> Result<Tally, Problem> {
        let mut tally = self.clone();
        for count in tally.rows.cells_mut().iter_mut().chain(&mut tally.total) {
            *count = count.checked_neg().ok_or(Problem::TooLarge)?;
        }
        tally.calls.values_mut().for_each(|sum| sum.calls = sum.calls.saturating_neg());
        Ok(Tally { before: Some(Box::new(self)), ..tally })
    }

    /// A row of zeros that belongs to no table yet.
    pub(crate) fn new_row(&mut self) -> Row {
        self.rows.push()
    }

    /// Adds to a row.
    ///
    /// # Errors
    /// If a sum does not fit.
    pub(crate) fn add_to(&mut self, row: Row, counts: &[i64]) -> Result<(), Problem> {
        Ok(add(self.rows.get_mut(row), counts)?)
    }

    /// The row of a file and function, which may be new.
    pub(crate) fn pair(&mut self, file: NameId, function: NameId) -> Row {
        if let Some(row) = self.pairs.get(&(file, function)) {
            return *row;
        }
        let row = self.new_row();
        self.pairs.insert((file, function), row);
        row
    }

    /// The name of a function, with its file.
    pub(crate) fn name(&self, (file, function): Pair) -> Vec<u8> {
        [self.files.text(file), b":", self.functions.text(function)].concat()
    }

    /// Adds calls of `called` by `caller`, with what they cost.
    ///
    /// # Errors
    /// If a sum does not fit.
    pub(crate) fn call(
        &mut self,
        (caller, called): (Pair, Pair),
        calls: i64,
        counts: &[i64],
    ) -> Result<(), Problem> {
        let sum = self.calls.entry((caller, called));
        let sum = sum.or_insert_with(|| CallSum { calls: 0, row: self.rows.push() });
        sum.calls = sum.calls.checked_add(calls).ok_or(Problem::TooLarge)?;
        let row = sum.row;
        self.add_to(row, counts)
    }

    /// The row of a line of a file, which may be new.
    pub(crate) fn line(&mut self, file: NameId, line: u64) -> Row {
        let lines = &mut self.by_file.entry(file).or_default().lines;
        *lines.entry(line).or_insert_with(|| self.rows.push())
    }
}

#[cfg(test)]
mod tests {
    use super::super::intake::Reading;
    use super::*;

    const FIRST: &[u8] =
        b"desc: x\ncmd: one\nevents: Ir Dr\nfl=v1/a.c\nfn=f.1\n1 10 2\n2 5\nfi=v1/b.h\n7 1\nsummary: 16 2\n";
    const SECOND: &[u8] = b"cmd: two\nevents: Ir Dr\nfl=v2/a.c\nfn=f.2\n1 11\n3 1\nsummary: 12\n";

    fn tally(negate: bool, renaming: &Renaming) -> Tally {
        let mut tally = Tally::default();
        let reading = Reading { renaming, inclusive: false, calls: false };
        tally.add(FIRST, "first", reading).expect("valid");
        if negate {
            tally = tally.take_away().expect("fits");
        }
        tally.add(SECOND, "second", reading).expect("valid");
        tally
    }

    fn pairs(tally: &Tally) -> Vec<String> {
        let name = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let mut out: Vec<String> = tally
            .pairs
            .iter()
            .map(|((file, function), row)| {
                let (file, function) = (tally.files.text(*file), tally.functions.text(*function));
                format!("{}:{} {:?}", name(file), name(function), tally.costs(*row))
            })
            .collect();
        out.sort();
        out
    }

    #[test]
    fn sums_of_two() {
        let tally = tally(false, &Renaming::default());
        assert_eq!(tally.total, [28, 2]);
        assert_eq!(
            pairs(&tally),
            [
                "v1/a.c:<unspecified> [0, 0]",
                "v1/a.c:f.1 [15, 2]",
                "v1/b.h:f.1 [1, 0]",
                "v2/a.c:<unspecified> [0, 0]",
                "v2/a.c:f.2 [12, 0]"
            ]
        );
        assert_eq!(tally.origins[1], Origin { desc: Vec::new(), cmd: b"two".to_vec() });
    }

    #[test]
    fn difference_with_renaming() {
        let renaming = Renaming {
            files: Some(Substitution::python("s/v[0-9]/vN/").expect("valid")),
            style: None,
            functions: Some(Substitution::python("s/[.][0-9]//").expect("valid")),
        };
        let tally = tally(true, &renaming);
        assert_eq!(tally.total, [-4, -2]);
        assert_eq!(pairs(&tally), ["vN/a.c:<unspecified> [0, 0]", "vN/a.c:f [-3, -2]", "vN/b.h:f [-1, 0]"]);
        let (id, _) = tally.files.iter().next().expect("a file");
        let file = &tally.by_file[&id];
        assert_eq!(Vec::from_iter(&file.originals), [b"v1/a.c", b"v2/a.c"]);
        assert_eq!(tally.costs(file.lines[&1]), [1, -2]);
    }

    #[test]
    fn what_cannot_be_added() {
        let renaming = Renaming::default();
        let reading = Reading { renaming: &renaming, inclusive: false, calls: false };
        let mut tally = tally(false, &renaming);
        let other = &b"cmd: c\nevents: Dr Ir\n1 1\nsummary: 1\n"[..];
        assert!(matches!(tally.add(other, "x", reading), Err(Refused::Events(_))));
        let huge = &b"cmd: c\nevents: Ir Dr\n1 9223372036854775807\nsummary: 9223372036854775807\n"[..];
        assert!(matches!(tally.add(huge, "x", reading), Err(Refused::Sum(_))));
    }
}
