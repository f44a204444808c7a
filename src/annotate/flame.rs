//! `cgemu flame`: the stacks of a Callgrind file, as a picture or as text.

use std::io::Write;
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use super::error::AnnotateError;
use super::input::{chosen_events, open};
use super::render::flame::{Labels, folded, svg};
use super::tally::Renaming;
use super::view::stacks::{Graph, MOST_FRAMES, MOST_LEVELS};
use crate::profile::{
    CallgrindReader, NameId, Names, Problem, ReadError, Record, UNKNOWN, grouped, is_callgrind,
};

/// The options of a flame graph.
#[derive(Clone, Debug)]
pub(crate) struct FlameOptions {
    /// The profile.
    pub(crate) profile: PathBuf,
    /// An older profile that it is compared with.
    pub(crate) before: Option<PathBuf>,
    /// The event; the first one if it is not given.
    pub(crate) event: Option<String>,
    /// Text instead of a picture: a line for each stack.
    pub(crate) folded: bool,
    /// Changes to names.
    pub(crate) renaming: Renaming,
}

/// Functions by file and name, and what they cost.
#[derive(Default)]
struct Calls {
    graph: Graph,
    names: Names,
    functions: Vec<(NameId, NameId)>,
    known: FxHashMap<(NameId, NameId), usize>,
}

/// Writes the flame graph. Returns a remark about what is not in it.
///
/// # Errors
/// If a profile cannot be read, has no calls or not the event, or if the output cannot be written.
pub(crate) fn flame(options: &FlameOptions, out: &mut impl Write) -> Result<Option<String>, AnnotateError> {
    let mut calls = Calls::default();
    let profiles = std::iter::once(&options.profile).chain(&options.before);
    let (mut event, mut command, mut last) = (options.event.clone(), Vec::new(), String::new());
    for (profile, path) in profiles.enumerate() {
        last = path.to_string_lossy().into_owned();
        let unreadable = |error| ReadError { file: last.clone(), line: 1, problem: Problem::Io(error) };
        let (callgrind, input) = is_callgrind(open(path)?).map_err(unreadable)?;
        if !callgrind {
            return Err(AnnotateError::NoCalls { file: last });
        }
        let mut reader = CallgrindReader::new(input, last.as_str())?;
        let events = &reader.head().events;
        let asked = event.get_or_insert_with(|| {
            events.first().map(|event| String::from_utf8_lossy(event).into_owned()).unwrap_or_default()
        });
        let column = chosen_events(events, Some(std::slice::from_ref(asked)), "--event")?;
        if profile == 0 {
            command.clone_from(&reader.head().cmd);
        }
        let column = column.first().copied().unwrap_or_default();
        calls.read(&mut reader, profile, column, &options.renaming)?;
    }
    let stacks = calls.graph.stacks().map_err(|problem| AnnotateError::Sum { file: last, problem })?;
    let labels = Labels {
        functions: &|function| match calls.functions.get(function) {
            Some((file, name)) => (calls.names.text(*file), calls.names.text(*name)),
            None => (UNKNOWN.as_bytes(), UNKNOWN.as_bytes()),
        },
        event: &event.unwrap_or_default(),
        command: &command,
        compared: options.before.is_some(),
    };
    match options.folded {
        true => folded(&stacks, &labels, out)?,
        false => svg(&stacks, &labels, out)?,
    }
    let remark = |cut| {
        let most = grouped(MOST_FRAMES as u64);
        format!("{cut} frames have further calls: the tree ends at {most} frames or {MOST_LEVELS} levels")
    };
    Ok((stacks.cut > 0).then(|| remark(stacks.cut)))
}

impl Calls {
    fn read(
        &mut self,
        reader: &mut CallgrindReader<impl std::io::BufRead>,
        profile: usize,
        column: usize,
        renaming: &Renaming,
    ) -> Result<(), AnnotateError> {
        let mut function = None;
        loop {
            let (callee, cost) = match reader.next_record()? {
                None => return Ok(()),
                Some(Record::File(_)) => continue,
                Some(Record::Function(name)) => {
                    let name = name.to_vec();
                    function = Some(self.function(reader.function_file(), &name, renaming));
                    continue;
                }
                Some(Record::Counts { counts, .. }) => (None, counts.get(column).copied()),
                Some(Record::Call { file, function, counts, .. }) => {
                    (Some(self.function(file, function, renaming)), counts.get(column).copied())
                }
            };
            let Some(here) = function else { continue };
            let cost = u64::try_from(cost.unwrap_or_default()).map_err(|_| {
                reader.error(Problem::Refused("a negative cost has no width; give the two files with --diff"))
            })?;
            let added = match callee {
                None => self.graph.spend(here, profile, cost),
                Some(callee) => self.graph.call((here, callee), profile, cost),
            };
            added.map_err(|problem| reader.error(problem))?;
        }
    }

    fn function(&mut self, file: &[u8], name: &[u8], renaming: &Renaming) -> usize {
        let renamed = renaming.files.as_ref().map(|replace| replace.apply(file));
        let file = self.names.intern(renamed.as_deref().unwrap_or(file));
        let name = self.names.intern(&renaming.function(name));
        let functions = &mut self.functions;
        *self.known.entry((file, name)).or_insert_with(|| {
            functions.push((file, name));
            functions.len() - 1
        })
    }
}
