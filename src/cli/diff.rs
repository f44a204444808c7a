//! `cgemu diff`: what has changed from one profile to another, by function.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt as _;

use clap::Args;

use super::complain;
use super::merge::to_stdout;
use crate::annotate::diff::{FunctionCounts, Renaming};
use crate::annotate::failure::{Failure, shown};
use crate::annotate::substitution::Substitution;

/// Exit status of a wrong command line, as `cg_diff` has it.
pub const FAILURE: u8 = 255;

/// Bytes read at a time.
const CHUNK: usize = 1 << 18;

/// The options of `cgemu diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// A Perl substitution for the names of files, such as s/prog[0-9]/progN/
    #[arg(long, value_name = "s/A/B/", value_parser = Substitution::parse)]
    pub mod_filename: Option<Substitution>,

    /// The same for the names of functions
    #[arg(long, value_name = "s/A/B/", value_parser = Substitution::parse)]
    pub mod_funcname: Option<Substitution>,

    /// The profile that is taken away
    #[arg(value_name = "FIRST")]
    pub first: OsString,

    /// The profile from which it is taken
    #[arg(value_name = "SECOND")]
    pub second: OsString,
}

/// Writes the second profile less the first to standard output; returns the exit status.
pub fn diff(args: &DiffArgs) -> u8 {
    let result =
        difference(args).and_then(|text| to_stdout(|out| out.write_all(&text)).map_err(Failure::new));
    match result {
        Ok(()) => 0,
        Err(failure) => {
            complain(&failure.message);
            failure.status
        }
    }
}

fn difference(args: &DiffArgs) -> Result<Vec<u8>, Failure> {
    let renaming = Renaming { file: args.mod_filename.clone(), function: args.mod_funcname.clone() };
    let first = read(&args.first, &renaming)?;
    let mut second = read(&args.second, &renaming)?;
    second.subtract(&first)?;
    let mut text = Vec::new();
    second.write(&first, [args.first.as_bytes(), args.second.as_bytes()], &mut text)?;
    Ok(text)
}

fn read(name: &OsStr, renaming: &Renaming) -> Result<FunctionCounts, Failure> {
    let file = File::open(name).map_err(|error| Failure::io(name.as_bytes(), &error))?;
    let input = BufReader::with_capacity(CHUNK, file);
    let mut warn = |line: u64, what: &str| {
        complain(&format!("{}:{line}: warning: {what}", shown(name.as_bytes())));
    };
    FunctionCounts::read(name.as_bytes(), input, renaming, &mut warn)
}
