//! The command line, from its words to the exit status.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::thread::JoinHandle;

use anyhow::{Context as _, Error, anyhow};
use clap::FromArgMatches as _;

use super::args::{Cli, Command};
use super::exit::{OWN_FAILURE, complain, fail};
use super::{
    annotate, args, classic, control, flame, generate, lists, lookup, repl, run, signals, top, valgrind, view,
};
use crate::console;
use crate::session::memory_advice;

/// Bytes of stack for the command, whatever the host's limit on that of a process is.
const STACK: usize = 8 << 20;

/// Carries out the command line; the exit status of the process.
#[must_use]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        complain(&format!("internal error: {}; please report it", one_line(info)));
        std::process::exit(OWN_FAILURE.into());
    }));
    // Where it fails, such a file ends cgemu, as it ends any program.
    let _ = signals::survive_large_files();
    let command = || dispatch(std::env::args_os()).unwrap_or_else(|error| fail(&error));
    let thread = std::thread::Builder::new().name("command".to_owned()).stack_size(STACK).spawn(command);
    ExitCode::from(match thread.map(JoinHandle::join) {
        Ok(status) => status.unwrap_or(OWN_FAILURE),
        Err(error) => {
            complain(&format!("cannot start a thread: {}; {}", lookup::reason(&error), memory_advice()))
        }
    })
}

/// Carries out one command line; its exit status.
fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> Result<u8, Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let words = arguments.get(1..).unwrap_or_default();
    if let Some(words) = classic::words(&arguments) {
        return Ok(classic::report(&words));
    }
    if let Some(words) = valgrind::words(&arguments) {
        return valgrind::valgrind(words, show, run::run);
    }
    let parsed = args::parse(arguments.clone());
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // Not clap's 2: that is a status the profiled program may well have.
            let _ = console::errors().write_all(error.render().to_string().as_bytes());
            return Ok(match words.first().and_then(|word| word.to_str()) {
                Some("annotate" | "top" | "flame") => view::BAD_USAGE,
                Some("merge") => classic::MERGE_FAILURE,
                Some("diff") => classic::DIFF_FAILURE,
                _ => OWN_FAILURE,
            });
        }
        Err(help_or_version) => return show(&help_or_version.render().to_string()),
    };
    match cli.command {
        Command::Run(options) if options.interactive => repl::interactive(&options),
        Command::Run(options) => run::run(&options),
        Command::Repl(options) => repl::repl(&options),
        Command::Control(options) => control::run(&options),
        Command::Annotate(options) => Ok(annotate::run(&options, words)),
        Command::Top(options) => Ok(top::run(&options)),
        Command::Flame(options) => Ok(flame::run(&options)),
        Command::Merge(options) => Ok(classic::merge(&options)),
        Command::Diff(options) => Ok(classic::diff(&options)),
        Command::Valgrind { words } => valgrind::valgrind(&words, show, run::run),
        Command::Syscalls => show(&lists::syscalls()),
        Command::Presets => show(&lists::presets()),
        Command::Completions { shell } => show(&generate::completions(shell)),
        Command::Man { command } => show(&generate::man(command.as_deref())?),
    }
}

/// Writes text that was asked for to standard output. A reader that has seen enough (`| head`) is
/// no error.
fn show(text: &str) -> Result<u8, Error> {
    let mut out = console::output();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow!(lookup::reason(&error))).context("standard output")
        }
        _ => Ok(0),
    }
}

/// A panic in one line: the message and where it came from.
fn one_line(info: &std::panic::PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("panic");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match info.location() {
        Some(at) => format!("{text} ({}:{})", at.file(), at.line()),
        None => text,
    }
}
