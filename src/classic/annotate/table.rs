//! The counts of a profile by function, and by file and line.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use super::options::Options;
use crate::classic::failure::{Failure, shown};
use crate::classic::lenient::{Count, LenientReader, Record};
use crate::profile::{Head, NameId, Names, ReadError, Sums, add};

/// Bytes read from the profile at a time.
const CHUNK: usize = 1 << 18;

/// The counts, and what the profile says of itself.
#[derive(Debug)]
pub(crate) struct Table {
    /// Description, command and events.
    pub head: Head,
    /// The totals, one per event.
    pub summary: Vec<Count>,
    /// Time at which the profile was written, in seconds.
    pub time: i64,
    functions: Sums<Vec<u8>, Count>,
    files: Names,
    lines: Sums<(NameId, i64), Count>,
}

impl Table {
    /// Reads the profile that the options name. Lines are kept only of files that may be annotated.
    pub(crate) fn read(options: &Options, warn: &mut dyn FnMut(String)) -> Result<Table, Failure> {
        let name = &options.file;
        let open = || -> std::io::Result<(File, i64)> {
            let file = File::open(OsStr::from_bytes(name))?;
            let time = file.metadata()?.mtime();
            Ok((file, time))
        };
        let (file, time) = open().map_err(|error| Failure::io(name, &error))?;
        let input = BufReader::with_capacity(CHUNK, file);
        let mut warn = |line: u64, what: &str| warn(format!("{}:{line}: warning: {what}", shown(name)));
        collect(options, input, time, &mut warn).map_err(|error| Failure::reading(&error))
    }

    /// Number of events.
    pub(crate) fn columns(&self) -> usize {
        self.head.events.len()
    }

    /// The functions, each named as `file:function`, and their counts, in no order.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (&[u8], &[Count])> {
        self.functions.iter().map(|(name, counts)| (name.as_slice(), counts))
    }

    /// The lines of a file by number; `None` if the profile does not have the file.
    pub(crate) fn lines(&self, file: &[u8]) -> Option<Vec<(i64, &[Count])>> {
        let id = self.files.find(file)?;
        let mine = self.lines.iter().filter(|((file, _), _)| *file == id);
        let mut lines: Vec<_> = mine.map(|(&(_, line), counts)| (line, counts)).collect();
        lines.sort_unstable_by_key(|&(line, _)| line);
        Some(lines)
    }
}

fn collect(
    options: &Options,
    input: impl std::io::BufRead,
    time: i64,
    warn: &mut dyn FnMut(u64, &str),
) -> Result<Table, ReadError> {
    let mut reader = LenientReader::new(input, shown(&options.file))?;
    let head = reader.head().clone();
    let (mut functions, mut lines) = (Sums::new(head.events.len()), Sums::new(head.events.len()));
    let mut files = Names::default();
    let mut name = Vec::new();
    let (mut file, mut function) = (None, None);
    let mut summary = None;
    while let Some(record) = reader.next_record()? {
        match (record, function) {
            (Record::File(new), _) => {
                name = new.to_vec();
                let id = files.intern(&name);
                let wanted = options.auto || options.sources.contains(&name);
                file = wanted.then_some(id);
            }
            // The function stays the same after an fl= line without an fn= line.
            (Record::Function(new), _) => {
                function = Some(functions.row([&name, &b":"[..], new].concat()));
            }
            (Record::Counts { line, counts }, Some(function)) => {
                // Counts with undefined ones always fit.
                let _: Result<(), _> = add(functions.row_mut(function), counts);
                if let Some(file) = file {
                    let _: Result<(), _> = add(lines.counts_mut((file, line)), counts);
                }
            }
            (Record::Counts { .. }, None) => {
                return Err(reader.refuse("an fn= line must come before the first counts"));
            }
            (Record::Summary(counts), _) => summary = Some(counts.to_vec()),
            (Record::Doubtful(what), _) => warn(reader.line(), what),
        }
    }
    let Some(summary) = summary else {
        return Err(reader.refuse_end("the summary: line is missing; is the file complete?"));
    };
    Ok(Table { head, summary, time, functions, files, lines })
}
