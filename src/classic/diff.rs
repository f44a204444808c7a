//! The difference of two profiles by function, as `cg_diff` of Valgrind 3.19 makes it. Source lines
//! are not compared: an empty line more would move them all.

use std::io::BufRead;

use super::failure::{Failure, shown};
use super::lenient::{Count, LenientReader, Record};
use super::number;
use crate::profile::{Head, ReadError, Row, Substitution, Sums, add};

/// The separator of file and function in a key. A name that holds it cannot be told apart again.
const SEPARATOR: &[u8] = b"###";

/// Substitutions in names before they are compared.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// `--mod-filename`
    pub file: Option<Substitution>,
    /// `--mod-funcname`
    pub function: Option<Substitution>,
}

/// A profile's counts by function.
#[derive(Clone, Debug)]
pub struct FunctionCounts {
    head: Head,
    functions: Sums<Vec<u8>, Count>,
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

    /// Writes the difference that [`FunctionCounts::subtract`] left here. `first` is what was taken
    /// away; `names` are the files' names as given. Functions are ordered by the bytes of their
    /// keys; `cg_diff` has them in the order of a hash, another one in each run.
    ///
    /// # Errors
    /// A function without a name, or a name with `###`, which `cg_diff` refuses too.
    pub fn write(&self, first: &FunctionCounts, names: [&[u8]; 2], out: &mut Vec<u8>) -> Result<(), Failure> {
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
        functions.sort_unstable_by_key(|&(key, _)| key);
        for (key, counts) in functions {
            let Some((file, function)) = halves(key) else {
                return Err(Failure::new(format!(
                    "`{}`: a function must have a name, and no name may hold `###`; see --mod-filename and \
                     --mod-funcname",
                    shown(key)
                )));
            };
            for part in [&b"fl="[..], file, b"\nfn=", function, b"\n0"] {
                out.extend_from_slice(part);
            }
            push_counts(out, counts.get(..defined(counts)).unwrap_or_default());
        }
        out.extend_from_slice(b"summary:");
        push_counts(out, &self.summary);
        Ok(())
    }
}

fn collect(
    name: String,
    input: impl BufRead,
    renaming: &Renaming,
    warn: &mut dyn FnMut(u64, &str),
) -> Result<FunctionCounts, ReadError> {
    let mut reader = LenientReader::new(input, name)?;
    let mut functions = Sums::new(reader.head().events.len());
    let mut summary = None;
    let mut file: Option<Vec<u8>> = None;
    let mut current: Option<Row> = None;
    while let Some(record) = reader.next_record()? {
        match (record, &file, current) {
            (Record::File(name), ..) => file = Some(renamed(renaming.file.as_ref(), name)),
            (Record::Function(name), Some(file), _) => {
                let function = renamed(renaming.function.as_ref(), name);
                current = Some(functions.row([file, SEPARATOR, &function].concat()));
            }
            (Record::Function(_), None, _) => {
                return Err(reader.refuse("an fl= line must come before the first fn= line"));
            }
            (Record::Counts { counts, .. }, _, Some(row)) => {
                // Counts with undefined ones always fit.
                let _: Result<(), _> = add(functions.row_mut(row), counts);
            }
            (Record::Counts { .. }, _, None) => {
                return Err(reader.refuse("an fn= line must come before the first counts"));
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

/// File and function of a key, if it falls into just these two.
fn halves(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let find = |text: &[u8]| text.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let at = find(key)?;
    let (file, rest) = (key.get(..at)?, key.get(at + SEPARATOR.len()..)?);
    // Separators at the very end only end empty parts, which do not count.
    let (function, more) = find(rest).map_or((rest, &b""[..]), |at| {
        (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default())
    });
    let only_separators = more.chunks(SEPARATOR.len()).all(|chunk| chunk == SEPARATOR);
    (only_separators && !function.is_empty()).then_some((file, function))
}

#[cfg(test)]
mod tests;
