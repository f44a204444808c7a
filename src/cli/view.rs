//! Common options of the commands that show profiles: input, form of the output, pager, colours.

use std::ffi::OsString;
use std::io::{BufWriter, ErrorKind, Write};

use clap::{Args, ValueEnum};

use super::pager::{Pager, PagerError};
use crate::annotate::{AnnotateError, Format, Input, NameStyle, Renaming};
use crate::console::{self, Console, one_line};
use crate::profile::Substitution;

/// Exit status if the profiles cannot be read or do not fit together.
pub(super) const BAD_INPUT: u8 = 1;

/// Exit status if the command line is wrong.
pub(super) const BAD_USAGE: u8 = 2;

/// Bytes written at a time.
const CHUNK: usize = 1 << 16;

/// The profiles to read.
#[derive(Args, Debug)]
pub(super) struct InputArgs {
    /// Show the second of two files less the first
    #[arg(long)]
    pub(super) diff: bool,

    /// Search and replace in the names of source files: s/OLD/NEW/, then g for all matches, i for
    /// either case
    #[arg(long, value_name = "REGEX", value_parser = Substitution::python)]
    pub(super) mod_filename: Option<Substitution>,

    /// The same for the names of functions
    #[arg(long, value_name = "REGEX", value_parser = Substitution::python)]
    pub(super) mod_funcname: Option<Substitution>,

    /// Write C++ and Rust names of functions in full, also those that are mangled in the file, or
    /// in short: without parameters, template and generic arguments; then functions of the same
    /// name are added up
    #[arg(long, value_name = "full|short", hide_possible_values = true)]
    pub(super) names: Option<Names>,

    /// List functions with the costs of those they call; Callgrind files only
    #[arg(long)]
    pub(super) inclusive: bool,

    /// Files of Cachegrind or Callgrind; several are added up
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
}

impl InputArgs {
    /// The profiles to read, as the reader takes them.
    ///
    /// # Errors
    /// If the number of files is wrong.
    pub(super) fn input(&self) -> Result<Input, String> {
        if self.diff && self.files.len() != 2 {
            return Err(format!("--diff takes exactly two files, not {}", self.files.len()));
        }
        Ok(Input {
            profiles: self.files.clone(),
            diff: self.diff,
            renaming: Renaming {
                files: self.mod_filename.clone(),
                style: self.names.map(Names::style),
                functions: self.mod_funcname.clone(),
            },
            inclusive: self.inclusive,
            calls: false,
        })
    }
}

/// The form of the names of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Names {
    /// With all that the demangler says.
    Full,
    /// Without parameters and arguments.
    Short,
}

impl Names {
    /// The form as the readers take it.
    pub(super) fn style(self) -> NameStyle {
        match self {
            Names::Full => NameStyle::Full,
            Names::Short => NameStyle::Short,
        }
    }
}

/// The choice of colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Also in files and pipes.
    Always,
    /// Nowhere.
    Never,
}

/// The form of the output.
#[derive(Args, Debug)]
pub(super) struct ViewArgs {
    /// Add computed columns: rates, branches, mpki, cycles, all, or their names, such as
    /// D1-miss,CEst
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(super) derive: Vec<String>,

    /// Write JSON; docs/json.md describes it
    #[arg(long, conflicts_with = "csv")]
    pub(super) json: bool,

    /// Write CSV (RFC 4180), counts without separators
    #[arg(long)]
    pub(super) csv: bool,

    /// Colour counts by their share: auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "auto|always|never", default_value = "auto", hide_possible_values = true)]
    pub(super) color: When,

    /// Show the output in a pager: that of PAGER, or less. On a terminal it is used without being
    /// asked for
    #[arg(long, overrides_with = "no_pager")]
    pub(super) pager: bool,

    /// Use no pager
    #[arg(long, overrides_with = "pager")]
    pub(super) no_pager: bool,
}

impl ViewArgs {
    /// The form of the output.
    pub(super) fn format(&self) -> Format {
        match (self.json, self.csv) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => Format::Text,
        }
    }

    /// True if text is coloured.
    pub(super) fn colour(&self) -> bool {
        match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
                on_terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }

    /// Has `fill` write the output, through a pager if one is wanted; returns the exit status.
    /// `command` is for messages. A reader that has seen enough is no error.
    pub(super) fn show(
        &self,
        command: &str,
        fill: impl FnOnce(&mut Console<Box<dyn Write + '_>>) -> Result<(), AnnotateError>,
    ) -> u8 {
        let paged = self.pager || (on_terminal() && !self.no_pager && self.format() == Format::Text);
        let pager = if paged { Pager::start() } else { Ok(None) };
        let result = match pager {
            Ok(Some(mut pager)) => {
                let result =
                    fill(&mut Console::new(Box::new(BufWriter::with_capacity(CHUNK, pager.input()))));
                match pager.wait() {
                    Ok(()) => result,
                    Err(error) => return failure(command, &error.to_string()),
                }
            }
            Ok(None) => fill(&mut console::output()),
            Err(error @ PagerError { .. }) => return failure(command, &error.to_string()),
        };
        match result {
            Ok(()) => 0,
            Err(AnnotateError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => 0,
            Err(error) => failure(command, &error.to_string()),
        }
    }
}

/// True if standard output is a terminal.
pub(super) fn on_terminal() -> bool {
    console::output_is_terminal()
}

/// Says what failed; returns the exit status.
pub(super) fn failure(command: &str, message: &str) -> u8 {
    // Nothing is left to tell it to if standard error is closed.
    let _ = writeln!(console::errors(), "cgemu {command}: {}", one_line(message));
    BAD_INPUT
}
