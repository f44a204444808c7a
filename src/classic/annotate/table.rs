//! The counts of a profile by function, and by file and line.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use rustc_hash::FxHashMap;

use super::options::Options;
use crate::classic::failure::{Failure, shown};
use crate::classic::lenient::{Count, Head, LenientReader, ReadError, Record};

/// Bytes read from the profile at a time.
const CHUNK: usize = 1 << 18;

/// What was read.
#[derive(Debug, Default)]
pub struct Table {
    /// Description, command and events.
    pub head: Head,
    /// The totals, one per event.
    pub summary: Vec<Count>,
    /// When the profile was written, in seconds.
    pub time: i64,
    functions: Grouped<Vec<u8>>,
    files: FxHashMap<Vec<u8>, usize>,
    lines: Grouped<(usize, i64)>,
}

/// Sums of counts by key, all in one piece of memory.
#[derive(Debug)]
struct Grouped<K> {
    places: FxHashMap<K, usize>,
    cells: Vec<Count>,
}

impl<K> Default for Grouped<K> {
    fn default() -> Grouped<K> {
        Grouped { places: FxHashMap::default(), cells: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq> Grouped<K> {
    /// The place of a key, which is made if need be.
    fn place(&mut self, key: K, columns: usize) -> usize {
        let next = self.places.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.cells.resize((next + 1).saturating_mul(columns), Count::UNDEFINED);
        }
        place
    }

    fn add(&mut self, place: usize, columns: usize, counts: &[Count]) {
        let sums = self.cells.iter_mut().skip(place.saturating_mul(columns)).take(columns);
        for (sum, &count) in sums.zip(counts) {
            sum.add(count);
        }
    }

    fn row(&self, place: usize, columns: usize) -> &[Count] {
        let from = place.saturating_mul(columns);
        self.cells.get(from..from.saturating_add(columns)).unwrap_or_default()
    }
}

impl Table {
    /// Reads the profile that the options name. Lines are kept only of files that may be annotated.
    pub fn read(options: &Options, warn: &mut dyn FnMut(String)) -> Result<Table, Failure> {
        let name = &options.file;
        let open = || -> std::io::Result<(File, i64)> {
            let file = File::open(OsStr::from_bytes(name))?;
            let time = file.metadata()?.mtime();
            Ok((file, time))
        };
        let (file, time) = open().map_err(|error| Failure::io(name, &error))?;
        let input = BufReader::with_capacity(CHUNK, file);
        let mut warn = |line: u64, what: &str| warn(format!("{}:{line}: warning: {what}", shown(name)));
        let mut table = collect(options, input, &mut warn).map_err(|error| Failure::reading(name, &error))?;
        table.time = time;
        Ok(table)
    }

    /// Number of events.
    pub fn columns(&self) -> usize {
        self.head.events.len()
    }

    /// The functions, each named as `file:function`, and their counts, in no order.
    pub fn functions(&self) -> impl Iterator<Item = (&[u8], &[Count])> {
        let row = |place| self.functions.row(place, self.columns());
        self.functions.places.iter().map(move |(name, &place)| (name.as_slice(), row(place)))
    }

    /// The lines of a file by number; `None` if the profile does not have the file.
    pub fn lines(&self, file: &[u8]) -> Option<Vec<(i64, &[Count])>> {
        let number = *self.files.get(file)?;
        let mine = self.lines.places.iter().filter(|((file, _), _)| *file == number);
        let mut lines: Vec<_> =
            mine.map(|(&(_, line), &place)| (line, self.lines.row(place, self.columns()))).collect();
        lines.sort_unstable_by_key(|&(line, _)| line);
        Some(lines)
    }
}

fn collect(
    options: &Options,
    input: impl std::io::BufRead,
    warn: &mut dyn FnMut(u64, &str),
) -> Result<Table, ReadError> {
    let mut reader = LenientReader::new(input)?;
    let head = reader.head().clone();
    let columns = head.events.len();
    let mut table = Table { head, ..Table::default() };
    let mut name = Vec::new();
    let (mut file, mut function) = (None, None);
    let mut summary = None;
    loop {
        let mut wrong = false;
        match reader.next_record()? {
            None => break,
            Some(Record::File(new)) => {
                name = new.to_vec();
                let next = table.files.len();
                let number = *table.files.entry(name.clone()).or_insert(next);
                let wanted = options.auto || options.sources.contains(&name);
                file = wanted.then_some(number);
            }
            // The function stays the same after an fl= line without an fn= line.
            Some(Record::Function(new)) => {
                function = Some(table.functions.place([&name, &b":"[..], new].concat(), columns));
            }
            Some(Record::Counts { line, counts }) => match function {
                Some(function) => {
                    table.functions.add(function, columns, counts);
                    if let Some(file) = file {
                        let place = table.lines.place((file, line), columns);
                        table.lines.add(place, columns, counts);
                    }
                }
                None => wrong = true,
            },
            Some(Record::Summary(counts)) => summary = Some(counts.to_vec()),
            Some(Record::Doubtful(what)) => warn(reader.line(), what),
        }
        if wrong {
            let what = "an fn= line must come before the first counts";
            return Err(ReadError::Syntax { line: reader.line(), what, at_end: false });
        }
    }
    let Some(summary) = summary else {
        let what = "the summary: line is missing; is the file complete?";
        return Err(ReadError::Syntax { line: reader.line(), what, at_end: true });
    };
    table.summary = summary;
    Ok(table)
}
