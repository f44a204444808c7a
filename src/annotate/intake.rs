//! Sums up profiles of Cachegrind and Callgrind in a [`Tally`].

use std::io::BufRead;

use rustc_hash::{FxHashMap, FxHashSet};

use super::tally::{Origin, Pair, Refused, Renaming, Tally};
use crate::profile::{
    CallgrindReader, CgReader, Definition, NameId, Problem, ReadError, Record, Row, is_callgrind,
};

/// The way in which a profile is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// Changes to the names in it.
    pub(crate) renaming: &'a Renaming,
    /// Also sum up the costs of functions with those of the functions they called.
    pub(crate) inclusive: bool,
    /// Also sum up the calls from each function to each.
    pub(crate) calls: bool,
}

impl Tally {
    /// Adds a profile. The format is detected.
    ///
    /// # Errors
    /// If the profile is malformed, has other events, or makes a sum too large. The tally is then
    /// of no use.
    pub(crate) fn add(
        &mut self,
        input: impl BufRead,
        name: &str,
        reading: Reading<'_>,
    ) -> Result<(), Refused> {
        let unreadable = |error| ReadError { file: name.to_owned(), line: 1, problem: Problem::Io(error) };
        let (callgrind, input) = is_callgrind(input).map_err(unreadable)?;
        let intake = Intake {
            tally: self,
            reading,
            seen: FxHashSet::default(),
            file: None,
            function: None,
            here: None,
        };
        match callgrind {
            true => intake.callgrind(CallgrindReader::new(input, name)?),
            false if reading.inclusive || reading.calls => Err(Refused::NoCalls),
            false => intake.cachegrind(CgReader::new(input, name)?),
        }
    }
}

/// The state while one profile is read.
struct Intake<'a> {
    tally: &'a mut Tally,
    reading: Reading<'a>,
    /// Names of files that have been entered.
    seen: FxHashSet<Vec<u8>>,
    file: Option<NameId>,
    function: Option<NameId>,
    /// The row of the current file and function.
    here: Option<Row>,
}

impl Intake<'_> {
    fn cachegrind(mut self, mut reader: CgReader<impl BufRead>) -> Result<(), Refused> {
        let head = reader.head();
        let origin = Origin { desc: head.desc.clone(), cmd: head.cmd.clone() };
        self.begin(&head.events, origin)?;
        while let Some(record) = reader.next_record()? {
            match record {
                Record::File(name) => self.enter_file(name),
                Record::Function(name) => {
                    self.function = Some(self.function(name));
                    // A function is listed even if nothing follows.
                    self.here = self.pair().map(|(file, function)| self.tally.pair(file, function));
                }
                Record::Counts { line, counts } => self.counts(line, counts)?,
                Record::Call { .. } => {}
            }
        }
        let total = reader.total().to_vec();
        self.total(&total)
    }

    fn callgrind(mut self, mut reader: CallgrindReader<impl BufRead>) -> Result<(), Refused> {
        let head = reader.head();
        let cmd = if head.cmd.is_empty() { b"(unknown)".to_vec() } else { head.cmd.clone() };
        let mut desc = head.desc.clone();
        desc.extend(head.definitions.iter().map(described));
        self.begin(&head.events, Origin { desc, cmd })?;
        // Costs of functions with the calls from them, and of all calls to functions.
        let (mut from, mut to) = (FxHashMap::default(), FxHashMap::default());
        while let Some(record) = reader.next_record()? {
            match record {
                Record::File(name) => self.enter_file(name),
                Record::Function(name) => {
                    self.function = Some(self.function(name));
                    self.here = None;
                    if self.reading.calls {
                        self.object(reader.function_file(), reader.function_object());
                    }
                }
                Record::Counts { line, counts } => {
                    self.counts(line, counts)?;
                    if self.reading.inclusive
                        && let Some(pair) = self.pair()
                    {
                        self.add(&mut from, pair, counts)?;
                    }
                }
                Record::Call { file, function, calls, counts, .. } => {
                    let Some(caller) = self.pair() else { continue };
                    if !self.reading.inclusive && !self.reading.calls {
                        continue;
                    }
                    let called = (self.file(file), self.function(function));
                    if self.reading.inclusive {
                        self.add(&mut from, caller, counts)?;
                        self.add(&mut to, called, counts)?;
                    }
                    if self.reading.calls {
                        // A function is listed even if it only calls.
                        self.tally.pair(caller.0, caller.1);
                        self.tally.call((caller, called), calls, counts)?;
                    }
                }
            }
        }
        self.inclusive(from, to)?;
        if let Some(origin) = self.tally.origins.last_mut() {
            describe_parts(&mut origin.desc, reader.parts(), reader.later_descriptions());
        }
        let total = reader.total().to_vec();
        self.total(&total)
    }

    /// Takes down the object of the current function, which begins in `file`. Of functions with one
    /// file and name in several objects the last one's counts, as with `callgrind_annotate`.
    fn object(&mut self, file: &[u8], object: &[u8]) {
        if let Some(function) = self.function {
            let pair = (self.file(file), function);
            self.tally.objects.insert(pair, object.to_vec());
        }
    }

    /// As `callgrind_annotate` has it: the inclusive costs of a function that was called are those
    /// of the calls to it, which for a recursive one hold some costs several times; of any other,
    /// its own and those of its calls.
    fn inclusive(&mut self, from: FxHashMap<Pair, Row>, to: FxHashMap<Pair, Row>) -> Result<(), Refused> {
        let own = from.into_iter().filter(|(pair, _)| !to.contains_key(pair)).collect::<Vec<_>>();
        for (pair, row) in own.into_iter().chain(to) {
            let costs = self.tally.costs(row).to_vec();
            let sum = match self.tally.inclusive.get(&pair) {
                Some(sum) => *sum,
                None => self.tally.new_row(),
            };
            self.tally.inclusive.insert(pair, sum);
            self.tally.add_to(sum, &costs)?;
        }
        Ok(())
    }

    /// Adds to the row of a table that is this profile's own.
    fn add(&mut self, table: &mut FxHashMap<Pair, Row>, pair: Pair, counts: &[i64]) -> Result<(), Refused> {
        let row = *table.entry(pair).or_insert_with(|| self.tally.new_row());
        self.tally.add_to(row, counts)?;
        Ok(())
    }

    fn begin(&mut self, events: &[Vec<u8>], origin: Origin) -> Result<(), Refused> {
        if self.tally.origins.is_empty() {
            self.tally.begin(events);
        } else if self.tally.events != events {
            return Err(Refused::Events(events.to_vec()));
        }
        self.tally.origins.push(origin);
        Ok(())
    }

    fn pair(&self) -> Option<Pair> {
        self.file.zip(self.function)
    }

    /// Adds the counts of a line of the current function.
    fn counts(&mut self, line: u64, counts: &[i64]) -> Result<(), Refused> {
        // Before any file is named.
        if self.file.is_none() {
            self.enter_file(b"");
        }
        let Some(file) = self.file else { return Ok(()) };
        let row = match self.here {
            Some(row) => row,
            None => {
                let function = *self.function.get_or_insert_with(|| self.tally.functions.intern(b""));
                *self.here.insert(self.tally.pair(file, function))
            }
        };
        self.tally.add_to(row, counts)?;
        let row = self.tally.line(file, line);
        self.tally.add_to(row, counts)?;
        Ok(())
    }

    fn total(&mut self, counts: &[i64]) -> Result<(), Refused> {
        let mut sum = std::mem::take(&mut self.tally.total);
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum = sum.checked_add(*count).ok_or(Problem::TooLarge)?;
        }
        self.tally.total = sum;
        Ok(())
    }

    fn file(&mut self, name: &[u8]) -> NameId {
        let renamed = self.reading.renaming.files.as_ref().map(|replace| replace.apply(name));
        self.tally.files.intern(renamed.as_deref().unwrap_or(name))
    }

    fn function(&mut self, name: &[u8]) -> NameId {
        self.tally.functions.intern(&self.reading.renaming.function(name))
    }

    fn enter_file(&mut self, name: &[u8]) {
        let id = self.file(name);
        if !self.seen.contains(name) {
            self.seen.insert(name.to_vec());
            self.tally.by_file.entry(id).or_default().originals.insert(name.to_vec());
        }
        (self.file, self.here) = (Some(id), None);
    }
}

/// Names the part of each line that differs between parts, such as the time it covers.
fn describe_parts(desc: &mut Vec<Vec<u8>>, parts: u64, later: &[(u64, Vec<u8>)]) {
    let subject = |line: &[u8]| line.split(|c| *c == b':').next().map(<[u8]>::to_vec);
    let part = |number: u64, line: &[u8]| [format!("Part {number}: ").as_bytes(), line].concat();
    for line in desc.iter_mut() {
        if later.iter().any(|(_, other)| subject(other) == subject(line)) {
            *line = part(1, line);
        }
    }
    desc.extend(later.iter().map(|(number, line)| part(*number, line)));
    if parts > 1 {
        desc.push(format!("Parts: {parts}, added up").into_bytes());
    }
}

/// The definition of an event, as a line of description.
fn described(definition: &Definition) -> Vec<u8> {
    let mut line = b"Event ".to_vec();
    line.extend_from_slice(&definition.name);
    for (mark, text) in [(" = ", &definition.formula), (": ", &definition.title)] {
        if let Some(text) = text {
            line.extend_from_slice(mark.as_bytes());
            line.extend_from_slice(text);
        }
    }
    line
}
