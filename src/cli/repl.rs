//! `cgemu repl`, and `cgemu run -i`: the options of a run, and those of the shell.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Error, anyhow};
use clap::Args;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::exit;
use super::lookup::reason;
use super::options::RunArgs;
use super::output::{ProfileFiles, RunLog, named_file};
use super::run::raise_open_files;
use crate::debugger::Debugger;
use crate::repl::{Left, Output, Printed, Setup, Shell, Target};
use crate::session::{Config, Control, Finished, Folded, PAUSE, Recording, TerminalObserver};

/// The options of `cgemu repl`.
#[derive(Args, Debug)]
pub(super) struct ReplArgs {
    /// Read commands from this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub commands: Option<PathBuf>,

    /// What the program reads as its standard input
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,

    /// No `!` commands, and no files are written but the profile and numbered parts of it
    #[arg(long)]
    pub sandbox: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Loads the program, and hands it to the shell; the exit status.
///
/// # Errors
/// A program that cannot be started, and files that cannot be used.
pub(super) fn repl(options: &ReplArgs) -> Result<u8, Error> {
    shell(&options.run, options.commands.clone(), options.stdin.as_deref(), options.sandbox)
}

/// Runs `cgemu run -i`.
///
/// # Errors
/// Those of [`repl`].
pub(super) fn interactive(options: &RunArgs) -> Result<u8, Error> {
    shell(options, None, None, false)
}

fn shell(
    options: &RunArgs,
    commands: Option<PathBuf>,
    stdin: Option<&Path>,
    sandboxed: bool,
) -> Result<u8, Error> {
    let path = named_file("cachegrind-out-file", &options.profile.cachegrind_out_file, 1)?;
    ProfileFiles::prepare(&path, false).map_err(Error::msg)?;
    let mut machine = options.machine.config()?;
    machine.stdin = guest_stdin(stdin, commands.is_some())?;
    let config = Config {
        machine,
        counting: options.counting.config()?,
        // `annotate --asm` and `top instructions` need the costs of instructions in any case.
        recording: Recording { instructions: true, journal: true },
    };
    // The shell itself says on the terminal what the log of a run says, so that is only complete if
    // asked for.
    let complete = options.log.log_file.is_some() || options.log.log_fd.is_some() || options.log.verbose;
    let log = RunLog::open(&options.log, complete)?;
    let printed = Arc::new(Printed::default());
    let control = Arc::new(Control {
        terminal: Some(Arc::clone(&printed) as Arc<dyn TerminalObserver>),
        log: Some(log.sink()),
        ..Control::default()
    });
    flag::register_usize(SIGINT, Arc::clone(&control.interrupt), PAUSE)
        .map_err(|error| anyhow!(reason(&error)))
        .context("cannot watch for signals")?;
    raise_open_files();
    log.begin(&config);
    let debugger = Debugger::start(config, control)?;
    let files = SessionFiles { path, side: options.profile.dump_instr.on(), log };
    let setup = Setup { output: Box::new(files), commands, sandboxed, history: history(), printed };
    Ok(match Shell::new(debugger, setup).run() {
        Left::Status(status) => status,
        Left::Stopped(stop) => exit::status(&stop),
    })
}

/// The guest's standard input: a file, nothing if the shell reads commands there, or the host's.
fn guest_stdin(named: Option<&Path>, commands_in_file: bool) -> Result<Option<Arc<File>>, Error> {
    let open = |path: &Path, name: String| {
        File::open(path)
            .map_err(|error| anyhow!(reason(&error)))
            .context(name)
            .map(|file| Some(Arc::new(file)))
    };
    match named {
        Some(path) => open(path, format!("--stdin={}", path.display())),
        None if !commands_in_file && !rustix::termios::isatty(std::io::stdin().as_fd()) => {
            open(Path::new("/dev/null"), "/dev/null".to_owned())
        }
        None => Ok(None),
    }
}

/// The profiles and the log of a session.
struct SessionFiles {
    /// The profile of the whole run.
    path: PathBuf,
    /// Profiles have side files.
    side: bool,
    log: RunLog,
}

impl Output for SessionFiles {
    fn write(&mut self, counts: &Folded, target: Target<'_>) -> Result<PathBuf, Error> {
        let to = match target {
            Target::Whole => self.path.clone(),
            Target::Part(number) => {
                let mut name = self.path.clone().into_os_string();
                name.push(format!(".{number}"));
                PathBuf::from(name)
            }
            Target::Named(named) => std::path::absolute(named)
                .map_err(|error| anyhow!(reason(&error)))
                .with_context(|| named.display().to_string())?,
        };
        ProfileFiles::prepare(&to, self.side).and_then(|files| files.write(counts)).map_err(Error::msg)?;
        Ok(to)
    }

    fn report(&mut self, finished: &Finished) {
        self.log.report(finished);
    }
}

/// The file with the commands of earlier sessions: the XDG base directory for state.
fn history() -> Option<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()) {
        Some(state) => PathBuf::from(state),
        None => PathBuf::from(std::env::var_os("HOME").filter(|path| !path.is_empty())?).join(".local/state"),
    };
    Some(state.join("cgemu/history"))
}
