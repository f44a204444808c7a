//! The commands that are Valgrind 3.19's: `annotate --classic`, `merge` and `diff`, with the
//! options and exit statuses of `cg_annotate`, `cg_merge` and `cg_diff`.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{PathBuf, absolute};

use clap::Args;

use super::code::reach;
use super::exit::complain;
use super::lookup::reason;
use super::outputs::Outputs;
use crate::classic::annotate::{Options, USAGE, annotate};
use crate::classic::calls::{By, CallSums};
use crate::classic::diff::{FunctionCounts, Renaming};
use crate::classic::failure::{Failure, shown};
use crate::classic::merge::StrictProfile;
use crate::console;
use crate::profile::{Problem, ReadError, Substitution, is_callgrind};

/// Exit status of every failure of `merge`, as `cg_merge` has it.
pub(super) const MERGE_FAILURE: u8 = 1;

/// Exit status of a wrong command line of `diff`, as `cg_diff` has it.
pub(super) const DIFF_FAILURE: u8 = 255;

/// The option of `annotate --classic` that `cg_annotate` does not have.
const ROOT: &[u8] = b"--source-root=";

/// Bytes read at a time.
const CHUNK: usize = 1 << 18;

/// The options of `cgemu merge`.
#[derive(Args, Debug)]
pub(super) struct MergeArgs {
    /// Write the sum there; standard output if not given
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Profiles with the same events
    #[arg(value_name = "PROFILE", required = true)]
    pub profiles: Vec<PathBuf>,
}

/// The options of `cgemu diff`.
#[derive(Args, Debug)]
pub(super) struct DiffArgs {
    /// A Perl substitution for the names of files, such as s/prog[0-9]/progN/
    #[arg(long, value_name = "s/A/B/", value_parser = Substitution::perl)]
    pub mod_filename: Option<Substitution>,

    /// The same for the names of functions
    #[arg(long, value_name = "s/A/B/", value_parser = Substitution::perl)]
    pub mod_funcname: Option<Substitution>,

    /// The profile that is taken away
    #[arg(value_name = "FIRST")]
    pub first: OsString,

    /// The profile from which it is taken
    #[arg(value_name = "SECOND")]
    pub second: OsString,
}

/// The words after `annotate` if `--classic` is among them, without it. They are not for clap: the
/// order of `--include` and source files matters, and `-Idir` has forms that clap does not know.
pub(super) fn words(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let (command, words) = arguments.get(1..)?.split_first()?;
    let classic = command == "annotate" && words.iter().any(|word| word == "--classic");
    classic.then(|| words.iter().filter(|word| *word != "--classic").cloned().collect())
}

/// Prints the report of `annotate --classic`; returns the exit status.
pub(super) fn report(words: &[OsString]) -> u8 {
    let mut text = Vec::new();
    let root = |word: &OsString| Some(PathBuf::from(OsStr::from_bytes(word.as_bytes().strip_prefix(ROOT)?)));
    let roots: Vec<PathBuf> = words.iter().filter_map(root).collect();
    let others = words.iter().filter(|word| root(word).is_none());
    let options = Options::parse(others.map(OsString::as_os_str));
    let result = options.and_then(|options| match options {
        Some(options) => {
            let reach = reach(&roots).map_err(Failure::new)?;
            annotate(&options, &|path| reach.open(path), &mut text, &mut |warning| {
                complain(&warning);
            })
        }
        None => {
            text.extend_from_slice(USAGE.as_bytes());
            Ok(())
        }
    });
    // What was done before a failure is shown, as cg_annotate does.
    let written = write_to(console::output(), |out| out.write_all(&text)).map_err(Failure::new);
    match result.and(written) {
        Ok(()) => 0,
        Err(failure) => {
            complain(&failure.message);
            failure.status
        }
    }
}

/// A sum of profiles.
enum Sum {
    Plain(StrictProfile),
    Calls(CallSums),
}

impl Sum {
    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Sum::Plain(sum) => sum.write(out),
            Sum::Calls(sum) => sum.write(out),
        }
    }
}

/// Adds the profiles up and writes the sum; returns the exit status.
pub(super) fn merge(args: &MergeArgs) -> u8 {
    let result = sum(&args.profiles).and_then(|sum| match &args.output {
        Some(path) => {
            let path = absolute(path).map_err(|error| format!("{}: {}", path.display(), reason(&error)))?;
            Outputs::default().file(&path)?.write(|out| sum.write(out))
        }
        None => write_to(console::profile_output(), |out| sum.write(out)),
    });
    match result {
        Ok(()) => 0,
        Err(message) => {
            complain(&message);
            MERGE_FAILURE
        }
    }
}

fn sum(profiles: &[PathBuf]) -> Result<Sum, String> {
    let mut sum = None;
    for path in profiles {
        let refused = |error: ReadError| error.to_string();
        let unfit = |error: &dyn Display| format!("{}: {error}", path.display());
        let name = path.to_string_lossy();
        let (calls, input) = open(path.as_os_str()).map_err(refused)?;
        match &mut sum {
            None if calls => {
                sum = Some(Sum::Calls(CallSums::read(input, &name, By::Place).map_err(refused)?));
            }
            None => sum = Some(Sum::Plain(StrictProfile::read(input, name).map_err(refused)?)),
            Some(Sum::Calls(sum)) => {
                let profile = with_calls((calls, input), &name, By::Place).map_err(refused)?;
                sum.add(&profile).map_err(|error| unfit(&error))?;
            }
            Some(Sum::Plain(sum)) => {
                let profile = StrictProfile::read(input, name).map_err(refused)?;
                sum.merge(&profile).map_err(|error| unfit(&error))?;
            }
        }
    }
    sum.ok_or_else(|| "nothing to merge; name a profile".to_owned())
}

/// Opens a file, once, as it may be a pipe, and tells Callgrind's, which have calls.
fn open(name: &OsStr) -> Result<(bool, impl BufRead), ReadError> {
    let found = File::open(name).and_then(|file| is_callgrind(BufReader::with_capacity(CHUNK, file)));
    let file = || name.to_string_lossy().into_owned();
    found.map_err(|error| ReadError { file: file(), line: 1, problem: Problem::Io(error) })
}

/// Reads a file that has to be Callgrind's, as the first one is.
fn with_calls((calls, input): (bool, impl BufRead), name: &str, by: By<'_>) -> Result<CallSums, ReadError> {
    if !calls {
        let problem = Problem::Refused("the other file is Callgrind's, and this is not");
        return Err(ReadError { file: name.to_owned(), line: 1, problem });
    }
    CallSums::read(input, name, by)
}

/// Writes the second profile less the first to standard output; returns the exit status.
pub(super) fn diff(args: &DiffArgs) -> u8 {
    let written = |text: Vec<u8>| write_to(console::profile_output(), |out| out.write_all(&text));
    let result = difference(args).and_then(|text| written(text).map_err(Failure::new));
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
    let open = |name| open(name).map_err(|error| Failure::reading(&error));
    let (calls, first) = open(&args.first)?;
    if calls {
        let read = |opened, name: &OsStr| {
            with_calls(opened, &name.to_string_lossy(), By::Function(&renaming))
                .map_err(|error| Failure::reading(&error))
        };
        let first = read((calls, first), &args.first)?;
        return difference_of_calls(args, &first, read(open(&args.second)?, &args.second)?);
    }
    let first = counts(&args.first, first, &renaming)?;
    let mut second = counts(&args.second, open(&args.second)?.1, &renaming)?;
    second.subtract(&first)?;
    second.unlike(&first).iter().for_each(|line| {
        complain(&format!("warning: {line}"));
    });
    let mut text = Vec::new();
    second.write(&first, [args.first.as_bytes(), args.second.as_bytes()], &mut text);
    Ok(text)
}

fn difference_of_calls(args: &DiffArgs, first: &CallSums, mut second: CallSums) -> Result<Vec<u8>, Failure> {
    let failed = |why: &dyn Display| Failure::new(format!("{}: {why}", args.second.to_string_lossy()));
    second.subtract(first).map_err(|error| failed(&error))?;
    let names = [args.first.as_bytes(), args.second.as_bytes()];
    second.describe_difference(first, names).iter().for_each(|line| {
        complain(&format!("warning: {line}"));
    });
    let mut text = Vec::new();
    second.write(&mut text).map_err(|error| failed(&error))?;
    Ok(text)
}

fn counts(name: &OsStr, input: impl BufRead, renaming: &Renaming) -> Result<FunctionCounts, Failure> {
    let mut warn = |line: u64, what: &str| {
        complain(&format!("{}:{line}: warning: {what}", shown(name.as_bytes())));
    };
    FunctionCounts::read(name.as_bytes(), input, renaming, &mut warn)
}

/// Writes to standard output. A reader that has seen enough (`| head`) is no error.
fn write_to(
    mut out: impl io::Write,
    fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), String> {
    match fill(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {}", reason(&error)))
        }
        _ => Ok(()),
    }
}
