//! Sums and differences of Callgrind's files: costs by place, and calls with what they cost. What
//! is written is read by `callgrind_annotate` too. Jumps are left out.

use std::io::{self, BufRead, Write};

use rustc_hash::FxHashSet;

use super::diff::Renaming;
use crate::profile::{
    CHANGE, COMPARED, CallgrindReader, Definition, Head, NameId, Names, Problem, ReadError, Record, Sums,
    UNKNOWN, add, unlike,
};

/// A function: its object, the file in which it begins, and its name.
type Function = [NameId; 3];

/// A place that costs something or calls: its function, source file, address and line.
type Place = (Function, NameId, u64, u64);

/// The place that a call leads to: a function, an address and a line.
type Target = (Function, u64, u64);

/// The form in which a file is read.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// Each place of its own.
    Place,
    /// Each function and file, whose names are changed; lines move from version to version.
    Function(&'a Renaming),
}

/// A file with calls, or the sum or difference of several.
#[derive(Debug)]
pub struct CallSums {
    head: Head,
    /// The number of events that are recorded; the others are derived from them.
    recorded: usize,
    /// Places have addresses.
    addresses: bool,
    names: Names,
    /// Own costs of places and costs of calls from them; in the last column the number of calls.
    rows: Sums<(Place, Option<Target>), i64>,
    total: Vec<i64>,
}

/// A file that does not fit to those before it.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It counts other events.
    #[error(
        "its events differ from those of the first file: `{0}` and `{1}`; give files with the same events"
    )]
    Events(String, String),
    /// A sum is too large.
    #[error(transparent)]
    Sum(#[from] Problem),
}

impl CallSums {
    /// Reads a file to its end. `name` is for messages.
    ///
    /// # Errors
    /// Those of `input`; a line that is not of the format, with its number.
    pub fn read(input: impl BufRead, name: &str, by: By<'_>) -> Result<CallSums, ReadError> {
        let mut reader = CallgrindReader::new(input, name)?;
        let recorded = reader.recorded();
        let mut names = Names::default();
        let mut rows = Sums::new(recorded + 1);
        let unknown = names.intern(UNKNOWN.as_bytes());
        let (mut file, mut function, mut addresses) = (unknown, [names.intern(b""), unknown, unknown], false);
        let mut row = Vec::with_capacity(recorded + 1);
        let mut intern = |name: &[u8], is_function: bool| match by {
            By::Place => names.intern(name),
            By::Function(Renaming { file, function }) => {
                let change = if is_function { function } else { file };
                match change {
                    Some(change) => names.intern(&change.apply(name)),
                    None => names.intern(name),
                }
            }
        };
        while let Some(record) = reader.next_record()? {
            row.clear();
            let (line, called) = match record {
                Record::File(name) => {
                    file = intern(name, false);
                    continue;
                }
                Record::Function(name) => {
                    let name = intern(name, true);
                    let home = intern(reader.function_file(), false);
                    function = [intern(reader.function_object(), false), home, name];
                    continue;
                }
                Record::Counts { line, counts } => {
                    row.extend_from_slice(counts.get(..recorded).unwrap_or_default());
                    row.push(0);
                    (line, None)
                }
                Record::Call { file, function, calls, line, counts } => {
                    row.extend_from_slice(counts.get(..recorded).unwrap_or_default());
                    row.push(calls);
                    (line, Some((intern(file, false), intern(function, true))))
                }
            };
            let target = called.map(|(home, name)| {
                let object = intern(reader.called_object(), false);
                ([object, home, name], reader.target().0, reader.target().1)
            });
            let key = match by {
                By::Place => {
                    addresses |= reader.address().is_some();
                    ((function, file, reader.address().unwrap_or(0), line), target)
                }
                By::Function(_) => ((function, file, 0, 0), target.map(|(function, ..)| (function, 0, 0))),
            };
            add(rows.counts_mut(key), &row).map_err(|problem| reader.error(problem.into()))?;
        }
        let total = reader.total().get(..recorded).unwrap_or_default().to_vec();
        let head = reader.head().clone();
        Ok(CallSums { head, recorded, addresses, names, rows, total })
    }

    /// Adds the costs and calls of `other`; its description and command are dropped.
    ///
    /// # Errors
    /// The files count different events, or a sum does not fit.
    pub fn add(&mut self, other: &CallSums) -> Result<(), Unfit> {
        self.combine(other, Some)
    }

    /// Takes the costs and calls of `first` away.
    ///
    /// # Errors
    /// The files count different events, or a difference does not fit.
    pub fn subtract(&mut self, first: &CallSums) -> Result<(), Unfit> {
        self.combine(first, i64::checked_neg)
    }

    fn combine(&mut self, other: &CallSums, term: impl Fn(i64) -> Option<i64>) -> Result<(), Unfit> {
        let formulas = |head: &Head| -> Vec<_> {
            head.definitions.iter().filter_map(|of| Some((of.name.clone(), of.formula.clone()?))).collect()
        };
        if self.head.events != other.head.events || formulas(&self.head) != formulas(&other.head) {
            let list = |head: &Head| String::from_utf8_lossy(&head.events.join(&b' ')).into_owned();
            return Err(Unfit::Events(list(&self.head), list(&other.head)));
        }
        let terms = |counts: &[i64]| {
            let terms: Option<Vec<i64>> = counts.iter().map(|count| term(*count)).collect();
            terms.ok_or(Problem::TooLarge)
        };
        let ids: Vec<NameId> = other.names.iter().map(|(_, name)| self.names.intern(name)).collect();
        let known: rustc_hash::FxHashMap<NameId, NameId> =
            other.names.iter().map(|(id, _)| id).zip(ids).collect();
        let id = |id: NameId| known.get(&id).copied().unwrap_or(id);
        for (&((function, file, address, line), target), counts) in other.rows.iter() {
            let place = (function.map(id), id(file), address, line);
            let target = target.map(|(function, address, line)| (function.map(id), address, line));
            add(self.rows.counts_mut((place, target)), &terms(counts)?).map_err(Problem::from)?;
        }
        self.addresses |= other.addresses;
        add(&mut self.total, &terms(&other.total)?).map_err(Problem::from)?;
        Ok(())
    }

    /// Describes this as the difference of two files; returns what makes them hard to compare, a
    /// sentence each.
    pub fn describe_difference(&mut self, first: &CallSums, names: [&[u8]; 2]) -> Vec<String> {
        let both = |[one, other]: [&[u8]; 2]| [one, b"; ", other].concat();
        let sentences = unlike((&first.head.desc, &first.head.cmd), (&self.head.desc, &self.head.cmd));
        self.head.desc = vec![[COMPARED, b"   ", &both(names)].concat()];
        self.head.cmd = both([&first.head.cmd, &self.head.cmd]);
        sentences
    }

    /// Writes the file, ordered by the bytes of objects', files' and functions' names.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_head(out)?;
        let ranks = self.names.ranks();
        let rank = |function: &Function| function.map(|name| ranks.get(name));
        let mut rows: Vec<_> = self.rows.iter().collect();
        // Costs of the file in which a function begins come first.
        rows.sort_by_cached_key(|((place, target), _)| {
            let (function, file, address, line) = place;
            let target = target.as_ref().map(|(function, address, line)| (rank(function), *address, *line));
            (rank(function), *file != function[1], ranks.get(*file), *address, *line, target)
        });
        let mut names = Compressor { names: &self.names, known: Default::default() };
        let (mut last, mut object, mut current) = (None, self.names.find(b""), None);
        let mut sum = vec![0_i64; self.recorded];
        for ((place, target), counts) in rows {
            let &(function, file, address, line) = place;
            let (calls, counts) = counts.split_last().unwrap_or((&0, &[]));
            if last.replace(function) != Some(function) {
                writeln!(out)?;
                let [of, home, name] = function;
                if object.replace(of) != Some(of) {
                    names.write("ob", Kind::Object, of, out)?;
                }
                names.write("fl", Kind::File, home, out)?;
                names.write("fn", Kind::Function, name, out)?;
                current = Some(home);
            }
            if current.replace(file) != Some(file) {
                names.write(if file == function[1] { "fe" } else { "fi" }, Kind::File, file, out)?;
            }
            match target {
                None => add(&mut sum, counts)
                    .map_err(|problem| io::Error::other(Problem::from(problem).to_string()))?,
                Some((called, address, line)) => {
                    let [of, home, name] = *called;
                    if of != function[0] {
                        names.write("cob", Kind::Object, of, out)?;
                    }
                    if home != file {
                        names.write("cfi", Kind::File, home, out)?;
                    }
                    names.write("cfn", Kind::Function, name, out)?;
                    // callgrind_annotate takes the costs of no calls for the function's own.
                    write!(out, "calls={}", (*calls).max(1))?;
                    self.position(" ", *address, *line, out)?;
                    if *calls < 1 {
                        write!(out, " {}{calls}", CHANGE.escape_ascii())?;
                    }
                    writeln!(out)?;
                }
            }
            self.position("", address, line, out)?;
            numbers(counts, out)?;
        }
        write!(out, "\ntotals:")?;
        numbers(&sum, out)
    }

    fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# callgrind format\nversion: 1\ncreator: cgemu-{}", env!("CARGO_PKG_VERSION"))?;
        let mut text_line = |parts: &[&[u8]]| {
            parts.iter().try_for_each(|part| out.write_all(part))?;
            out.write_all(b"\n")
        };
        text_line(&[b"cmd: ", &self.head.cmd])?;
        self.head.desc.iter().try_for_each(|text| text_line(&[b"desc: ", text]))?;
        text_line(&[b"\npositions: ", if self.addresses { b"instr line" } else { b"line" }])?;
        for Definition { name, formula, title } in &self.head.definitions {
            let formula = formula.as_ref().map_or(Vec::new(), |formula| [b" = ", &formula[..]].concat());
            let title = title.as_ref().map_or(Vec::new(), |title| [b" : ", &title[..]].concat());
            text_line(&[b"event: ", name, &formula, &title])?;
        }
        let recorded = self.head.events.get(..self.recorded).unwrap_or_default();
        text_line(&[b"events: ", &recorded.join(&b' ')])?;
        // What the lines do not show of the run. In a difference it may be on either side.
        let mut lines = vec![0_i64; self.recorded];
        let own = self.rows.iter().filter(|((_, target), _)| target.is_none());
        let fits = own.map(|(_, counts)| counts).try_for_each(|counts| add(&mut lines, counts)).is_ok();
        let difference = self.head.desc.iter().any(|desc| desc.starts_with(COMPARED));
        let more = difference || self.total.iter().zip(&lines).all(|(all, sum)| all >= sum);
        if fits && more && self.total != lines {
            write!(out, "summary:")?;
            numbers(&self.total, out)?;
        }
        Ok(())
    }

    fn position(&self, before: &str, address: u64, line: u64, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(before.as_bytes())?;
        if self.addresses {
            write!(out, "{address:#x} ")?;
        }
        write!(out, "{line}")
    }
}

/// Writes numbers, a blank before each, and the end of the line.
fn numbers(numbers: &[i64], out: &mut dyn Write) -> io::Result<()> {
    numbers.iter().try_for_each(|number| write!(out, " {number}"))?;
    out.write_all(b"\n")
}

/// The kinds of names, each with numbers of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Object,
    File,
    Function,
}

/// Writes a name once, and its number from then on. So no name can be taken for a number.
struct Compressor<'a> {
    names: &'a Names,
    known: FxHashSet<(Kind, NameId)>,
}

impl Compressor<'_> {
    fn write(&mut self, key: &str, kind: Kind, name: NameId, out: &mut dyn Write) -> io::Result<()> {
        let text = self.names.text(name);
        write!(out, "{key}=")?;
        if !text.is_empty() {
            write!(out, "({})", name.number())?;
            if self.known.insert((kind, name)) {
                write!(out, " ")?;
                out.write_all(text)?;
            }
        }
        out.write_all(b"\n")
    }
}
