//! The difference of two profiles by function, as `cg_diff` of Valgrind 3.19 makes it. Source lines
//! are not compared: an empty line more would move them all. What only later programs take, or the
//! grammar of the format allows, is read too: counts before a file or function is named, functions
//! without a name, names with `###`.

use std::io::BufRead;

use super::failure::{Failure, shown};
use super::lenient::{Count, LenientReader, Record};
use super::number;
use crate::profile::{Head, ReadError, Row, Substitution, Sums, UNKNOWN, add, unlike};

/// Substitutions in names before they are compared.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// `--mod-filename`
    pub file: Option<Substitution>,
    /// `--mod-funcname`
    pub function: Option<Substitution>,
}

/// A file, and a function with code from it.
type Place = (Vec<u8>, Vec<u8>);

/// A profile's counts by function.
#[derive(Clone, Debug)]
pub struct FunctionCounts {
    head: Head,
    functions: Sums<Place, Count>,
    summary: Vec<Count>,
}

impl FunctionCounts {
    /// Reads the profile `file`. `warn` gets the number and the fault of each line that is passed
    /// over.
    ///
    /// # Errors
    /// A file that is not a profile; the message names file and line.
    pub fn read(
        file: &[u8],
        input: impl BufRead,
        renaming: &Renaming,
        warn: &mut dyn FnMut(u64, &str),
    ) -> Result<FunctionCounts, Failure> {
        collect(shown(file), input, renaming, warn).map_err(|error| Failure::reading(&error))
    }

    /// Takes the counts of `first` away from these. A function that is missing on either side
    /// counts as 0.
    ///
    /// # Errors
    /// The profiles count different events.
    pub fn subtract(&mut self, first: &FunctionCounts) -> Result<(), Failure> {
        if self.head.events != first.head.events {
            let names = |head: &Head| shown(&head.events.join(&b' '));
            let (first, second) = (names(&first.head), names(&self.head));
            return Err(Failure::new(format!(
                "the events differ: `{first}` and `{second}`; compare profiles with the same events"
            )));
        }
        for (key, counts) in first.functions.iter() {
            subtract(self.functions.counts_mut(key.clone()), counts);
        }
        subtract(&mut self.summary, &first.summary);
        Ok(())
    }

    /// Names the caches and commands in which `first` differs, a sentence each.
    #[must_use]
    pub fn unlike(&self, first: &FunctionCounts) -> Vec<String> {
        unlike((&first.head.desc, &first.head.cmd), (&self.head.desc, &self.head.cmd))
    }

    /// Writes the difference that [`FunctionCounts::subtract`] left here. `first` is what was taken
    /// away; `names` are the files' names as given. Functions are ordered by the bytes of
    /// `file###function`, `cg_diff`'s keys, which it has in the order of a hash, another one in
    /// each run.
    pub fn write(&self, first: &FunctionCounts, names: [&[u8]; 2], out: &mut Vec<u8>) {
        let [name, other] = names;
        for part in [&b"desc: Files compared:   "[..], name, b"; ", other, b"\ncmd:  "] {
            out.extend_from_slice(part);
        }
        for part in [&first.head.cmd[..], b"; ", &self.head.cmd, b"\nevents: "] {
            out.extend_from_slice(part);
        }
        for event in &self.head.events {
            out.push(b' ');
            out.extend_from_slice(event);
        }
        out.push(b'\n');
        let mut functions: Vec<_> = self.functions.iter().collect();
        functions.sort_by_cached_key(|((file, function), _)| [file, &b"###"[..], function].concat());
        for ((file, function), counts) in functions {
            for part in [&b"fl="[..], file, b"\nfn=", function, b"\n0"] {
                out.extend_from_slice(part);
            }
            push_counts(out, counts.get(..defined(counts)).unwrap_or_default());
        }
        out.extend_from_slice(b"summary:");
        push_counts(out, &self.summary);
    }
}

fn collect(
    name: String,
    input: impl BufRead,
    renaming: &Renaming,
    warn: &mut dyn FnMut(u64, &str),
) -> Result<FunctionCounts, ReadError> {
    let mut reader = LenientReader::wide(input, name)?;
    let mut functions = Sums::new(reader.head().events.len());
    let mut summary = None;
    let mut file: Option<Vec<u8>> = None;
    let mut current: Option<Row> = None;
    while let Some(record) = reader.next_record()? {
        match (record, &file, current) {
            (Record::File(name), ..) => file = Some(renamed(renaming.file.as_ref(), name)),
            (Record::Function(name), file, _) => {
                let file = file.clone().unwrap_or_else(|| UNKNOWN.as_bytes().to_vec());
                current = Some(functions.row((file, renamed(renaming.function.as_ref(), name))));
            }
            (Record::Counts { counts, .. }, file, row) => {
                let unknown = || {
                    (file.clone().unwrap_or_else(|| UNKNOWN.as_bytes().to_vec()), UNKNOWN.as_bytes().to_vec())
                };
                let row = row.unwrap_or_else(|| functions.row(unknown()));
                current = Some(row);
                // Counts with undefined ones always fit.
                let _: Result<(), _> = add(functions.row_mut(row), counts);
            }
            (Record::Summary(counts), ..) => summary = Some(counts.to_vec()),
            (Record::Doubtful(what), ..) => warn(reader.line(), what),
        }
    }
    let Some(summary) = summary else {
        return Err(reader.refuse_end("the summary: line is missing; is the file complete?"));
    };
    Ok(FunctionCounts { head: reader.head().clone(), functions, summary })
}

fn renamed(substitution: Option<&Substitution>, name: &[u8]) -> Vec<u8> {
    substitution.map_or_else(|| name.to_vec(), |substitution| substitution.apply(name))
}

/// The number of columns up to the last defined count: those that the Perl program has.
fn defined(counts: &[Count]) -> usize {
    counts.iter().rposition(|count| count.get().is_some()).map_or(0, |last| last + 1)
}

/// Subtracts; an undefined count is 0, and every column of either side is defined afterwards.
fn subtract(from: &mut [Count], counts: &[Count]) {
    let columns = defined(from).max(defined(counts));
    for (value, other) in from.iter_mut().zip(counts).take(columns) {
        *value = Count::new(value.or_zero().saturating_sub(other.or_zero()));
    }
}

fn push_counts(out: &mut Vec<u8>, counts: &[Count]) {
    for count in counts {
        out.push(b' ');
        if let Some(value) = count.get() {
            out.extend_from_slice(number::integer(value).as_bytes());
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests;
