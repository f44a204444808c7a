//! Reading of profiles, and the choice of their events.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::SystemTime;

use super::error::AnnotateError;
use super::intake::Reading;
use super::options::Input;
use super::tally::{Refused, Tally};
use super::view::metric::{self, Metric, NoMetric};

/// The name of a profile and the time of its last change.
#[derive(Clone, Debug)]
pub(crate) struct ProfileFile {
    /// The name, as given.
    pub(crate) name: Vec<u8>,
    /// The time; `None` if the system does not say.
    pub(crate) modified: Option<SystemTime>,
}

/// Reads profiles and sums them up.
///
/// # Errors
/// If a profile cannot be read or is malformed, or if the profiles do not fit together.
pub(crate) fn read_profiles(options: &Input) -> Result<(Tally, Vec<ProfileFile>), AnnotateError> {
    let mut tally = Tally::default();
    let mut profiles = Vec::new();
    for (at, path) in options.profiles.iter().enumerate() {
        let name = path.to_string_lossy().into_owned();
        let input = open(Path::new(path))?;
        let modified = input.get_ref().metadata().and_then(|data| data.modified()).ok();
        profiles.push(ProfileFile { name: path.as_encoded_bytes().to_vec(), modified });
        let reading =
            Reading { renaming: &options.renaming, inclusive: options.inclusive, calls: options.calls };
        let refused = match tally.add(input, &name, reading) {
            Ok(()) if options.diff && at == 0 => {
                tally = tally.take_away().map_err(|problem| AnnotateError::Sum { file: name, problem })?;
                continue;
            }
            Ok(()) => continue,
            Err(refused) => refused,
        };
        return Err(match refused {
            Refused::Read(error) => AnnotateError::Read(error),
            Refused::NoCalls => AnnotateError::NoCalls { file: name },
            Refused::Sum(problem) => AnnotateError::Sum { file: name, problem },
            Refused::Events(events) => AnnotateError::EventsDiffer {
                first: options.first_name(),
                first_events: event_list(&tally.events),
                other: name,
                other_events: event_list(&events),
            },
        });
    }
    Ok((tally, profiles))
}

/// Opens a profile.
///
/// # Errors
/// If that is not possible.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>, AnnotateError> {
    let unreadable = |reason| AnnotateError::Open { file: path.to_string_lossy().into_owned(), reason };
    // Large reads: a profile may be a gigabyte.
    Ok(BufReader::with_capacity(1 << 18, File::open(path).map_err(unreadable)?))
}

impl Input {
    /// The name of the first profile, for messages.
    pub(crate) fn first_name(&self) -> String {
        self.profiles.first().map(|profile| profile.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// The metrics with these names.
///
/// # Errors
/// If there is no such metric, or if an event that it needs is not recorded.
pub(crate) fn metrics(words: &[String], events: &[Vec<u8>]) -> Result<Vec<Metric>, AnnotateError> {
    metric::choose(words, events).map_err(|(name, why)| match why {
        NoMetric::Unknown => AnnotateError::NoSuchMetric { name, known: metric::known() },
        NoMetric::Needs(event) => AnnotateError::MetricNeeds { name, event, known: event_list(events) },
    })
}

/// The indices of the events that `asked` names, or of all. `option` is for the message.
///
/// # Errors
/// If there is no such event.
pub(crate) fn chosen_events(
    events: &[Vec<u8>],
    asked: Option<&[String]>,
    option: &'static str,
) -> Result<Vec<usize>, AnnotateError> {
    let Some(asked) = asked else { return Ok((0..events.len()).collect()) };
    let index = |name: &String| {
        let index = events.iter().position(|event| event == name.as_bytes());
        index.ok_or_else(|| AnnotateError::NoSuchEvent {
            option,
            event: name.clone(),
            known: event_list(events),
        })
    };
    asked.iter().map(index).collect()
}

/// The names of the events with these indices.
pub(crate) fn event_names(events: &[Vec<u8>], indices: &[usize]) -> Vec<Vec<u8>> {
    indices.iter().filter_map(|at| events.get(*at).cloned()).collect()
}

/// The names of events in one line.
pub(crate) fn event_list(events: &[Vec<u8>]) -> String {
    String::from_utf8_lossy(&events.join(&b' ')).into_owned()
}
