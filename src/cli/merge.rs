//! `cgemu merge`: the sum of several profiles.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf, absolute};

use clap::Args;

use super::complain;
use super::lookup::reason;
use super::outfile::OutFile;
use crate::profile::strict::{StrictError, StrictProfile};

/// Exit status of every failure, as `cg_merge` has it.
pub const FAILURE: u8 = 1;

/// Bytes read at a time.
const CHUNK: usize = 1 << 18;

/// The options of `cgemu merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// Write the sum there; standard output if not given
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Profiles with the same events
    #[arg(value_name = "PROFILE", required = true)]
    pub profiles: Vec<PathBuf>,
}

/// Adds the profiles up and writes the sum; returns the exit status.
pub fn merge(args: &MergeArgs) -> u8 {
    let result = sum(&args.profiles).and_then(|sum| match &args.output {
        Some(path) => {
            let path = absolute(path).map_err(|error| format!("{}: {}", path.display(), reason(&error)))?;
            OutFile::prepare(&path)?.write(|out| sum.write(out))
        }
        None => to_stdout(|out| sum.write(out)),
    });
    match result {
        Ok(()) => 0,
        Err(message) => {
            complain(&message);
            FAILURE
        }
    }
}

fn sum(profiles: &[PathBuf]) -> Result<StrictProfile, String> {
    let mut sum: Option<StrictProfile> = None;
    for path in profiles {
        let profile = read(path)?;
        match &mut sum {
            Some(sum) => sum.merge(profile).map_err(|error| format!("{}: {error}", path.display()))?,
            None => sum = Some(profile),
        }
    }
    sum.ok_or_else(|| "nothing to merge; name a profile".to_owned())
}

fn read(path: &Path) -> Result<StrictProfile, String> {
    let io = |error: &io::Error| format!("{}: cannot be read: {}", path.display(), reason(error));
    let file = File::open(path).map_err(|error| io(&error))?;
    StrictProfile::read(BufReader::with_capacity(CHUNK, file)).map_err(|error| match error {
        StrictError::Io(error) => io(&error),
        StrictError::Syntax { line, what } => format!("{}:{line}: {what}", path.display()),
    })
}

/// Writes to standard output. A reader that has seen enough (`| head`) is no error.
pub fn to_stdout(fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<(), String> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match fill(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {}", reason(&error)))
        }
        _ => Ok(()),
    }
}
