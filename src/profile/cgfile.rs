//! The costs of one Cachegrind file, or of several put together, with whatever events they have. Unlike
//! [`Profile`](super::Profile), which is what a run of ours counts, costs are signed: the difference of two
//! files has negative ones.

use std::io::BufRead;

use rustc_hash::FxHashMap;

use super::format::{CgReader, Head, Problem, ReadError, Record, add};

/// A name in a [`CgFile`]: cheap to copy and compare, of use with its own file only. The order is the one in
/// which names were first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

/// Each distinct name once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    ids: FxHashMap<Box<[u8]>, NameId>,
    texts: Vec<Box<[u8]>>,
}

impl Names {
    /// The identity of a name, which may be new.
    pub fn intern(&mut self, name: &[u8]) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        // Each name takes more than a byte of a file; four thousand million do not fit into memory.
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// The name itself.
    #[must_use]
    pub fn text(&self, id: NameId) -> &[u8] {
        self.texts.get(id.0 as usize).map_or(b"???", |text| text)
    }

    /// All names, in the order in which they were first met.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &[u8])> {
        (0..).map(NameId).zip(self.texts.iter().map(|text| &**text))
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// What a cost belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The source file, in [`CgFile::files`].
    pub file: NameId,
    /// The function, in [`CgFile::functions`].
    pub function: NameId,
    /// The line; 0 if it is not known.
    pub line: u64,
}

/// Costs by file, function and line.
#[derive(Clone, Debug, Default)]
pub struct CgFile {
    /// Description, command and events.
    pub head: Head,
    /// The names of the source files.
    pub files: Names,
    /// The names of the functions.
    pub functions: Names,
    places: FxHashMap<Place, usize>,
    order: Vec<Place>,
    costs: Vec<i64>,
    total: Vec<i64>,
}

impl CgFile {
    /// No costs, of the events of `head`.
    #[must_use]
    pub fn new(head: Head) -> CgFile {
        let total = vec![0; head.events.len()];
        CgFile { head, total, ..CgFile::default() }
    }

    /// Reads a whole file; `name` is for messages. See [`CgReader`] for what is read and what is refused.
    ///
    /// # Errors
    /// If the file is malformed, contradicts itself, or cannot be read.
    pub fn read(input: impl BufRead, name: impl Into<String>) -> Result<CgFile, ReadError> {
        let mut reader = CgReader::new(input, name)?;
        let mut out = CgFile::new(reader.head().clone());
        // Counts before any `fl=` line belong to a file without a name.
        let mut file = None;
        let mut function = None;
        while let Some(record) = reader.next_record()? {
            match record {
                Record::File(name) => file = Some(out.files.intern(name)),
                Record::Function(name) => function = Some(out.functions.intern(name)),
                Record::Counts { line, counts } => {
                    let file = *file.get_or_insert_with(|| out.files.intern(b""));
                    let function = *function.get_or_insert_with(|| out.functions.intern(b""));
                    let added = out.add(Place { file, function, line }, counts);
                    added.map_err(|problem| reader.error(problem))?;
                }
            }
        }
        Ok(out)
    }

    /// Adds costs, one for each event (missing ones are 0), to those of a place.
    ///
    /// # Errors
    /// [`Problem::TooLarge`] if a sum does not fit; the costs are then of no use.
    pub fn add(&mut self, place: Place, counts: &[i64]) -> Result<(), Problem> {
        let width = self.head.events.len();
        let start = *self.places.entry(place).or_insert_with(|| {
            let start = self.costs.len();
            self.order.push(place);
            self.costs.resize(start + width, 0);
            start
        });
        add(self.costs.get_mut(start..start + width).unwrap_or_default(), counts)?;
        add(&mut self.total, counts)
    }

    /// The sums of all costs.
    #[must_use]
    pub fn total(&self) -> &[i64] {
        &self.total
    }

    /// All places with their costs, in the order in which they were first met: in a file as Cachegrind writes
    /// it, by file, function and line.
    pub fn iter(&self) -> impl Iterator<Item = (Place, &[i64])> {
        // No events, no costs: the chunks' length must not be 0.
        let width = self.head.events.len().max(1);
        self.order.iter().copied().zip(self.costs.chunks_exact(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"desc: d\ncmd: c\nevents: Ir Dr\nfl=a\nfn=f\n1 1 2\n3 1\n1 5 5\nfl=b\nfn=f\n1 -9\nsummary: -2 7\n";

    #[test]
    fn equal_places_are_summed() {
        let file = CgFile::read(TEXT, "x").expect("valid");
        let listed = file.iter().map(|(place, costs)| {
            let name = |text: &[u8]| text.escape_ascii().to_string();
            let (file, function) = (file.files.text(place.file), file.functions.text(place.function));
            format!("{}:{}:{} {costs:?}", name(file), name(function), place.line)
        });
        let listed: Vec<String> = listed.collect();
        assert_eq!(listed, ["a:f:1 [6, 7]", "a:f:3 [1, 0]", "b:f:1 [-9, 0]"]);
        assert_eq!(file.total(), [-2, 7]);
        assert_eq!(file.head.events, [b"Ir", b"Dr"]);
    }

    #[test]
    fn counts_without_a_place() {
        let file = CgFile::read(&b"cmd: c\nevents: Ir\n1 1\nsummary: 1\n"[..], "x").expect("valid");
        assert_eq!(file.iter().count(), 1);
        assert_eq!(file.files.iter().next().map(|(_, name)| name), Some(&b""[..]));
    }

    #[test]
    fn sums_of_files_may_overflow() {
        let mut file = CgFile::read(TEXT, "x").expect("valid");
        let (place, _) = file.iter().next().expect("a place");
        assert!(file.add(place, &[i64::MAX]).is_err());
    }
}
