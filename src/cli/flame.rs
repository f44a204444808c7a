//! `cgemu flame`: a flame graph of a Callgrind file.

use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use clap::Args;

use super::view::{Names, failure};
use crate::annotate::{AnnotateError, FlameOptions, Renaming, flame};
use crate::console;

/// The options of `cgemu flame`.
#[derive(Args, Debug)]
pub(super) struct FlameArgs {
    /// The event that widths stand for [default: the first event]
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,

    /// Colour frames by what changed since this older file: red is more, blue is less
    #[arg(long, value_name = "FILE")]
    diff: Option<PathBuf>,

    /// Write a line for each stack, with its costs, for other tools; with --diff the costs before
    /// and those now
    #[arg(long)]
    folded: bool,

    /// Write C++ and Rust names of functions in full, or in short: without parameters and arguments
    #[arg(long, value_name = "full|short", hide_possible_values = true)]
    names: Option<Names>,

    /// The Callgrind file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Writes the flame graph to standard output; returns the exit status.
pub(super) fn run(args: &FlameArgs) -> u8 {
    let options = FlameOptions {
        profile: args.file.clone(),
        before: args.diff.clone(),
        event: args.event.clone(),
        folded: args.folded,
        renaming: Renaming { style: args.names.map(Names::style), ..Renaming::default() },
    };
    let mut out = console::output();
    let result = flame(&options, &mut out);
    match result.and_then(|remark| out.flush().map(|()| remark).map_err(AnnotateError::Output)) {
        Ok(None) => 0,
        Ok(Some(remark)) => {
            let _ = writeln!(console::errors(), "cgemu flame: {remark}");
            0
        }
        Err(AnnotateError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(error) => failure("flame", &error.to_string()),
    }
}
