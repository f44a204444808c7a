//! The sums that an annotation shows: by file and function, and by file and line, of several profiles or of the
//! difference of two.

use std::collections::BTreeSet;
use std::io::BufRead;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Replace;
use crate::profile::{CgReader, NameId, Names, Problem, ReadError, Record, add};

/// How the names of a profile are changed on the way in.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// Applied to the names of source files.
    pub files: Option<Replace>,
    /// Applied to the names of functions.
    pub functions: Option<Replace>,
}

/// What one profile said of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its `desc:` lines.
    pub desc: Vec<Vec<u8>>,
    /// Its command.
    pub cmd: Vec<u8>,
}

/// The costs of one source file.
#[derive(Clone, Debug, Default)]
pub struct FileCosts {
    /// By line; 0 is what has no line.
    pub lines: FxHashMap<u64, Row>,
    /// The names before renaming.
    pub originals: BTreeSet<Vec<u8>>,
}

/// Where in [`Tally::costs`] a row of costs is.
#[derive(Clone, Copy, Debug)]
pub struct Row(usize);

/// All sums.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The names of the events; empty before the first profile.
    pub events: Vec<Vec<u8>>,
    /// One for each profile, in their order.
    pub origins: Vec<Origin>,
    /// The names of source files, renamed.
    pub files: Names,
    /// The names of functions, renamed.
    pub functions: Names,
    /// By file and function. A file has an entry for the unnamed function that `fl=` begins, as in
    /// `cg_annotate`, which shows it if the threshold is 0.
    pub pairs: FxHashMap<(NameId, NameId), Row>,
    /// By source file.
    pub by_file: FxHashMap<NameId, FileCosts>,
    /// The sums of everything.
    pub total: Vec<i64>,
    rows: Vec<i64>,
}

/// A profile that could not be added.
#[derive(Debug)]
pub enum Refused {
    /// It is malformed.
    Read(ReadError),
    /// Its events are not those of the profiles before it: here they are.
    Events(Vec<Vec<u8>>),
    /// The sums became too large.
    Sum(Problem),
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
    #[must_use]
    pub fn costs(&self, row: Row) -> &[i64] {
        self.rows.get(row.0..row.0 + self.events.len()).unwrap_or_default()
    }

    fn new_row(rows: &mut Vec<i64>, width: usize) -> Row {
        rows.resize(rows.len() + width, 0);
        Row(rows.len() - width)
    }

    fn add_to(&mut self, row: Row, counts: &[i64]) -> Result<(), Problem> {
        add(self.rows.get_mut(row.0..row.0 + counts.len()).unwrap_or_default(), counts)
    }

    fn pair(&mut self, file: NameId, function: NameId) -> Row {
        let (rows, width) = (&mut self.rows, self.events.len());
        *self.pairs.entry((file, function)).or_insert_with(|| Tally::new_row(rows, width))
    }

    /// Adds a profile, or takes it away if `negate` is set.
    ///
    /// # Errors
    /// If the profile is malformed, has other events, or makes a sum too large. The tally is then of no use.
    pub fn add(
        &mut self,
        input: impl BufRead,
        name: &str,
        renaming: &Renaming,
        negate: bool,
    ) -> Result<(), Refused> {
        let mut reader = CgReader::new(input, name)?;
        let head = reader.head();
        if self.origins.is_empty() {
            self.events.clone_from(&head.events);
            self.total = vec![0; self.events.len()];
        } else if self.events != head.events {
            return Err(Refused::Events(head.events.clone()));
        }
        self.origins.push(Origin { desc: head.desc.clone(), cmd: head.cmd.clone() });
        let mut seen = FxHashSet::default();
        let mut negated = Vec::new();
        let mut file = None;
        let mut function = None;
        // The row of the current file and function.
        let mut here = None;
        while let Some(record) = reader.next_record()? {
            match record {
                Record::File(name) => {
                    let id = self.enter_file(name, renaming, &mut seen);
                    (file, here) = (Some(id), None);
                }
                Record::Function(name) => {
                    let renamed = renaming.functions.as_ref().map(|replace| replace.apply(name));
                    let id = self.functions.intern(renamed.as_deref().unwrap_or(name));
                    function = Some(id);
                    here = file.map(|file| self.pair(file, id));
                }
                Record::Counts { line, mut counts } => {
                    if negate {
                        negated.clear();
                        for count in counts {
                            negated.push(count.checked_neg().ok_or(Problem::TooLarge)?);
                        }
                        counts = &negated;
                    }
                    let row = match here {
                        Some(row) => row,
                        None => {
                            let file = *file.get_or_insert_with(|| self.enter_file(b"", renaming, &mut seen));
                            let id = *function.get_or_insert_with(|| self.functions.intern(b""));
                            *here.insert(self.pair(file, id))
                        }
                    };
                    self.add_to(row, counts)?;
                    add(&mut self.total, counts)?;
                    let Some(file) = file else { continue };
                    let (rows, width) = (&mut self.rows, self.events.len());
                    let lines = &mut self.by_file.entry(file).or_default().lines;
                    let row = *lines.entry(line).or_insert_with(|| Tally::new_row(rows, width));
                    self.add_to(row, counts)?;
                }
            }
        }
        Ok(())
    }

    fn enter_file(&mut self, name: &[u8], renaming: &Renaming, seen: &mut FxHashSet<Vec<u8>>) -> NameId {
        let renamed = renaming.files.as_ref().map(|replace| replace.apply(name));
        let id = self.files.intern(renamed.as_deref().unwrap_or(name));
        if !seen.contains(name) {
            seen.insert(name.to_vec());
            self.by_file.entry(id).or_default().originals.insert(name.to_vec());
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[u8] =
        b"desc: x\ncmd: one\nevents: Ir Dr\nfl=v1/a.c\nfn=f.1\n1 10 2\n2 5\nfi=v1/b.h\n7 1\nsummary: 16 2\n";
    const SECOND: &[u8] = b"cmd: two\nevents: Ir Dr\nfl=v2/a.c\nfn=f.2\n1 11\n3 1\nsummary: 12\n";

    fn tally(negate: bool, renaming: &Renaming) -> Tally {
        let mut tally = Tally::default();
        tally.add(FIRST, "first", renaming, negate).expect("valid");
        tally.add(SECOND, "second", renaming, false).expect("valid");
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
            files: Some("s/v[0-9]/vN/".parse().expect("valid")),
            functions: Some("s/[.][0-9]//".parse().expect("valid")),
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
        let mut tally = tally(false, &Renaming::default());
        let other = &b"cmd: c\nevents: Dr Ir\n1 1\nsummary: 1\n"[..];
        assert!(matches!(tally.add(other, "x", &Renaming::default(), false), Err(Refused::Events(_))));
        let huge = &b"cmd: c\nevents: Ir Dr\n1 9223372036854775807\nsummary: 9223372036854775807\n"[..];
        assert!(matches!(tally.add(huge, "x", &Renaming::default(), false), Err(Refused::Sum(_))));
    }
}
