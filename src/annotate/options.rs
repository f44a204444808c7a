//! The options of annotations and rankings, as values.

use std::ffi::OsString;

use super::sources::Places;
use super::tally::Renaming;
use super::view::disassembly::Syntax;
use super::view::ranking::By;
use super::view::tree::Tree;

/// The profiles to read, and how to combine them.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// The profiles, at least one.
    pub(crate) profiles: Vec<OsString>,
    /// Show the second of two profiles less the first, instead of the sum.
    pub(crate) diff: bool,
    /// Changes to the names in the profiles.
    pub(crate) renaming: Renaming,
    /// List functions with the costs of those they call; for Callgrind files.
    pub(crate) inclusive: bool,
    /// Read which function calls which; for Callgrind files.
    pub(crate) calls: bool,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for people.
    #[default]
    Text,
    /// JSON; `docs/json.md` describes it.
    Json,
    /// CSV (RFC 4180).
    Csv,
}

/// Options of every annotation: those of `cg_annotate`, and some of cgemu.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The profiles.
    pub(crate) input: Input,
    /// The events to show; `None` for all.
    pub(crate) show: Option<Vec<String>>,
    /// The functions beside each function.
    pub(crate) tree: Tree,
    /// The events to sort by; `None` for all in their order.
    pub(crate) sort: Option<Vec<String>>,
    /// The share in percent that a file or function must have to be listed.
    pub(crate) threshold: f64,
    /// Show shares beside counts.
    pub(crate) percentages: bool,
    /// In a difference, shares are of the first profile's totals.
    pub(crate) of_old: bool,
    /// Annotate source files.
    pub(crate) annotate: bool,
    /// List the files that are below the threshold.
    pub(crate) left_out: bool,
    /// Lines shown before and after each that has counts.
    pub(crate) context: u64,
    /// The metrics to show.
    pub(crate) derive: Vec<String>,
    /// The form of the output.
    pub(crate) format: Format,
    /// Colour text.
    pub(crate) colour: bool,
    /// The places of source files and objects.
    pub(crate) places: Places,
    /// The command line, for the `Invocation:` line.
    pub(crate) invocation: Vec<u8>,
}

/// The form of a table on a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// Colour counts by their share.
    pub(crate) colour: bool,
    /// Number of columns to fit it into; `None` for as wide as it gets.
    pub(crate) width: Option<u16>,
}

/// Options of a ranking, `cgemu top`.
#[derive(Clone, Debug)]
pub(crate) struct TopOptions {
    /// The profiles.
    pub(crate) input: Input,
    /// The subject.
    pub(crate) by: By,
    /// Number of rows at most.
    pub(crate) count: usize,
    /// The event or metric to sort by; `None` for the first event.
    pub(crate) sort: Option<String>,
    /// The events to show; `None` for the one that is sorted by.
    pub(crate) show: Option<Vec<String>>,
    /// The metrics to show.
    pub(crate) derive: Vec<String>,
    /// The form of the output.
    pub(crate) format: Format,
    /// The form of the table.
    pub(crate) look: Look,
}

/// Options of `annotate --asm`, beside those of every annotation.
#[derive(Clone, Debug, Default)]
pub(crate) struct AsmOptions {
    /// The function; `None` for all that reach the threshold.
    pub(crate) function: Option<String>,
    /// The syntax of instructions.
    pub(crate) syntax: Syntax,
    /// Show the inlined calls that instructions are in.
    pub(crate) inline: bool,
}
