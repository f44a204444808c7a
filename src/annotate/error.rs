//! Errors of annotations, beside those of the arguments.

use thiserror::Error;

use crate::profile::{Problem, ReadError, reason as describe};

/// The reason why there is no annotation.
#[derive(Debug, Error)]
pub(crate) enum AnnotateError {
    /// A profile is malformed or contradicts itself.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A profile cannot be opened.
    #[error("{file}: {}; give the name of a Cachegrind or Callgrind file", describe(reason))]
    Open {
        /// The name.
        file: String,
        /// The error of the system.
        reason: std::io::Error,
    },
    /// Files whose columns mean different things cannot be added.
    #[error("events in data files don't match: {first} has `{first_events}`, {other} has `{other_events}`")]
    EventsDiffer {
        /// The first file.
        first: String,
        /// Its events.
        first_events: String,
        /// The file that differs.
        other: String,
        /// Its events.
        other_events: String,
    },
    /// An event that was asked for is not in the files.
    #[error("{option} event `{event}` did not appear in `events:` line; there are {known}")]
    NoSuchEvent {
        /// The option that names it.
        option: &'static str,
        /// The name.
        event: String,
        /// The names that there are.
        known: String,
    },
    /// There is no derived column of this name.
    #[error("there is no derived column `{name}`; there are {known}")]
    NoSuchMetric {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A derived column needs an event that the profiles do not have.
    #[error("derived column `{name}` needs {event}, which is not recorded; there are {known}")]
    MetricNeeds {
        /// The column's name.
        name: String,
        /// The event.
        event: &'static str,
        /// The events there are.
        known: String,
    },
    /// The costs of calls were asked for and are not in the file.
    #[error(
        "{file}: a Cachegrind file has no calls; give a Callgrind file, which `cgemu run --callgraph=yes` writes"
    )]
    NoCalls {
        /// The file.
        file: String,
    },
    /// The sum of several files does not fit.
    #[error("{file}: {problem}")]
    Sum {
        /// The file with which it became too large.
        file: String,
        /// The problem.
        problem: Problem,
    },
    /// There are no counts by instruction.
    #[error("{side}: {}; `cgemu run --dump-instr=yes` writes it beside the profile {file}", describe(reason))]
    NoSideFile {
        /// The profile.
        file: String,
        /// The path of its side file.
        side: String,
        /// The error of the system.
        reason: std::io::Error,
    },
    /// A function that was asked for has no counts.
    #[error("{name}: no such function has counts{}", if known.is_empty() { String::new() } else { format!("; there are {known}") })]
    NoSuchFunction {
        /// The name.
        name: String,
        /// Some similar names.
        known: String,
    },
    /// The annotation cannot be written.
    #[error("standard output: {}", describe(.0))]
    Output(#[from] std::io::Error),
}
