//! The `cgemu` command: reads the options, starts a run and says how it ended. Everything it prints of its
//! own goes to standard error or the log; standard output belongs to the program that is profiled.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

mod annotate;
mod args;
mod classic;
mod code;
mod environment;
mod examples;
mod generate;
mod log;
mod lookup;
mod outfile;
mod pager;
mod pattern;
mod presets;
mod progress;
mod ranking;
mod repl;
mod run;
mod screen;
mod syscalls;
mod top;
mod values;
mod view;

/// Exit status of cgemu's own failures: bad options, an output file that cannot be written, a bug.
const OWN_FAILURE: u8 = 125;

/// Reads the command line, does what it says and returns the exit status of the process; `README.md` lists
/// the statuses.
#[must_use]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        complain(&format!("internal error: {}; please report it", one_line(info)));
        std::process::exit(OWN_FAILURE.into());
    }));
    ExitCode::from(dispatch(std::env::args_os()))
}

/// One command line, to its exit status.
fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let words = arguments.get(1..).unwrap_or_default();
    if let Some(words) = classic::words(&arguments) {
        return classic::report(&words);
    }
    let cli = match args::Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // Not clap's 2: that is a status the profiled program may well have.
            let _ = error.print();
            return match words.first().and_then(|word| word.to_str()) {
                Some("annotate" | "top") => view::BAD_USAGE,
                Some("merge") => classic::MERGE_FAILURE,
                Some("diff") => classic::DIFF_FAILURE,
                _ => OWN_FAILURE,
            };
        }
        Err(help_or_version) => return show(&help_or_version.render().to_string()),
    };
    match cli.command {
        args::Command::Run(options) if options.interactive => repl::interactive(&options),
        args::Command::Run(options) => run::run(&options),
        args::Command::Repl(options) => repl::repl(&options),
        args::Command::Annotate(options) => annotate::run(&options, words),
        args::Command::Top(options) => ranking::ranking(&options),
        args::Command::Merge(options) => classic::merge(&options),
        args::Command::Diff(options) => classic::diff(&options),
        args::Command::Syscalls => show(&syscalls::table()),
        args::Command::Presets => show(&presets::table()),
        args::Command::Completions { shell } => show(&generate::completions(shell)),
        args::Command::Man { command } => match generate::man(command.as_deref()) {
            Ok(page) => show(&page),
            Err(message) => complain(&message),
        },
    }
}

/// Writes text that was asked for to standard output. A reader that has seen enough (`| head`) is no error.
fn show(text: &str) -> u8 {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            complain(&format!("standard output: {}", lookup::reason(&error)))
        }
        _ => 0,
    }
}

/// Prints one line about a failure of our own; returns its exit status.
fn complain(message: &str) -> u8 {
    // Nothing is left to tell it to if standard error is closed.
    let _ = writeln!(std::io::stderr(), "cgemu: {message}");
    OWN_FAILURE
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
