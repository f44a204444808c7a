//! `cgemu repl`, and `cgemu run -i`: the options of a run, and those of the shell.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::Args;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::args::RunArgs;
use super::complain;
use super::log::Log;
use super::lookup::reason;
use super::outfile::OutFile;
use super::run::{configuration, exit_status, named_file};
use crate::debugger::Debugger;
use crate::profile::{SIDE_SUFFIX, write_cachegrind, write_instructions};
use crate::repl::{Printed, Setup, Shell, Target};
use crate::session::{Control, Folded, PAUSE, StartError, TerminalObserver};

/// The options of `cgemu repl`.
#[derive(Args, Debug)]
pub struct ReplArgs {
    /// Read commands from this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub commands: Option<PathBuf>,

    /// What the program reads as its standard input
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,

    /// No `!` commands, and no files are written but the profile and numbered parts of it
    #[arg(long)]
    pub sandbox: bool,

    /// The options of a run.
    #[command(flatten)]
    pub run: RunArgs,
}

/// Loads the program, and hands it to the shell; the exit status.
pub fn repl(options: &ReplArgs) -> u8 {
    shell(&options.run, options.commands.clone(), options.stdin.as_ref(), options.sandbox)
}

/// `cgemu run -i`.
pub fn interactive(options: &RunArgs) -> u8 {
    shell(options, None, None, false)
}

fn shell(options: &RunArgs, commands: Option<PathBuf>, stdin: Option<&PathBuf>, sandboxed: bool) -> u8 {
    match attempt(options, commands, stdin, sandboxed) {
        Ok(status) => status,
        Err(error) => {
            complain(&error.to_string());
            exit_status(&error)
        }
    }
}

fn attempt(
    options: &RunArgs,
    commands: Option<PathBuf>,
    stdin: Option<&PathBuf>,
    sandboxed: bool,
) -> Result<u8, StartError> {
    let other = StartError::Other;
    let path = named_file("cachegrind-out-file", &options.cachegrind_out_file, 1)?;
    OutFile::prepare(&path).map_err(other)?;
    let mut config = configuration(options)?;
    config.journal = true;
    config.instructions = true;
    config.input = match stdin {
        Some(path) => {
            let file = File::open(path)
                .map_err(|error| other(format!("--stdin={}: {}", path.display(), reason(&error))))?;
            Some(Arc::new(file))
        }
        // The prompt's own input is not the program's.
        None if commands.is_none() && !rustix::termios::isatty(std::io::stdin().as_fd()) => {
            let nothing =
                File::open("/dev/null").map_err(|error| other(format!("/dev/null: {}", reason(&error))))?;
            Some(Arc::new(nothing))
        }
        None => None,
    };
    let printed = Arc::new(Printed::default());
    let log = Log::to_stderr(std::process::id(), options.quiet);
    let control = Arc::new(Control {
        terminal: Some(Arc::clone(&printed) as Arc<dyn TerminalObserver>),
        log: Some(Arc::new(Mutex::new(log))),
        ..Control::default()
    });
    flag::register_usize(SIGINT, Arc::clone(&control.interrupt), PAUSE)
        .map_err(|error| other(format!("cannot watch for signals: {}", reason(&error))))?;
    let debugger = Debugger::start(config, control)?;
    let side = options.dump_instr.on();
    let dump = move |folded: &Folded, target: Target<'_>| -> Result<PathBuf, String> {
        let to = match target {
            Target::Whole => path.clone(),
            Target::Part(number) => {
                let mut name = path.clone().into_os_string();
                name.push(format!(".{number}"));
                PathBuf::from(name)
            }
            Target::Named(named) => std::path::absolute(named)
                .map_err(|error| format!("{}: {}", named.display(), reason(&error)))?,
        };
        let out = OutFile::prepare(&to)?;
        out.write(|w| write_cachegrind(&folded.profile, w))?;
        if let (true, Some(instructions)) = (side, &folded.instructions) {
            out.beside_it(SIDE_SUFFIX)?.write(|w| write_instructions(instructions, w))?;
        }
        Ok(to)
    };
    let setup = Setup { dump: Box::new(dump), commands, sandboxed, history: history(), printed };
    Ok(Shell::new(debugger, setup).run())
}

/// Where the commands of earlier sessions are kept: the XDG base directory for state.
fn history() -> Option<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()) {
        Some(state) => PathBuf::from(state),
        None => PathBuf::from(std::env::var_os("HOME").filter(|path| !path.is_empty())?).join(".local/state"),
    };
    Some(state.join("cgemu/history"))
}
