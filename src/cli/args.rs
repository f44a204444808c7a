//! The command line: the subcommands of cgemu. Options that Cachegrind has keep its names and
//! meanings.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use clap::builder::{PossibleValue, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum as _};

use super::annotate::AnnotateArgs;
use super::call_options;
use super::classic::{DiffArgs, MergeArgs};
use super::control::ControlArgs;
use super::examples;
use super::flame::FlameArgs;
use super::options::RunArgs;
use super::repl::ReplArgs;
use super::switch::Switch;
use super::top::TopArgs;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "cgemu", version, about, after_help = examples::ALL, subcommand_required = true)]
#[command(arg_required_else_help = true)]
pub(super) struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a program and count its instructions, cache misses and branch mispredictions
    #[command(after_help = examples::RUN, override_usage = "cgemu run [OPTIONS] [--] PROGRAM [ARGUMENT]...")]
    Run(Box<RunArgs>),
    /// Run a program under a prompt: pause it, look at it and its counts, go on, go back
    #[command(after_help = examples::REPL, override_usage = "cgemu repl [OPTIONS] [--] PROGRAM [ARGUMENT]...")]
    Repl(Box<ReplArgs>),
    /// Give orders to runs that go on: status, calls, counts, dump, zero, counting on and off, end
    #[command(after_help = examples::CONTROL)]
    Control(ControlArgs),
    /// Print the counts of files of Cachegrind or Callgrind: by function, and beside the source
    #[command(after_help = examples::ANNOTATE, args_override_self = true, infer_long_args = true, version)]
    Annotate(Box<AnnotateArgs>),
    /// Print the functions, files or lines with the highest counts
    #[command(after_help = examples::TOP, args_override_self = true)]
    Top(Box<TopArgs>),
    /// Write a flame graph of a Callgrind file as SVG, or its stacks as text
    #[command(after_help = examples::FLAME)]
    Flame(Box<FlameArgs>),
    /// Add Cachegrind files up, as cg_merge does, or Callgrind files with their calls
    #[command(after_help = examples::MERGE)]
    Merge(MergeArgs),
    /// Print what changed from one file to another, by function, as cg_diff does
    #[command(after_help = examples::DIFF)]
    Diff(Box<DiffArgs>),
    /// Run a program by Valgrind's command line, as a link of that name to cgemu does
    #[command(after_help = examples::VALGRIND, disable_help_flag = true)]
    #[command(override_usage = "cgemu valgrind --tool=TOOL [OPTION]... PROGRAM [ARGUMENT]...")]
    Valgrind {
        /// Valgrind's options, and those of `cgemu run`; then the program and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION|PROGRAM")]
        words: Vec<OsString>,
    },
    /// List the system calls that the emulated kernel serves
    #[command(after_help = examples::SYSCALLS)]
    Syscalls,
    /// List the named caches of `run --cache`
    #[command(after_help = examples::PRESETS)]
    Presets,
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in man(7) form
    #[command(after_help = examples::MAN)]
    Man {
        /// A command with a page of its own, such as `run`
        command: Option<String>,
    },
}

/// Reads a command line. Options with a number in their names are known by another one.
///
/// # Errors
/// Those of clap, or a request for help.
pub(super) fn parse(mut words: Vec<OsString>) -> Result<clap::ArgMatches, clap::Error> {
    loop {
        let error = match definition().try_get_matches_from(&words) {
            Err(error) if error.kind() == ErrorKind::UnknownArgument => error,
            parsed => return parsed,
        };
        let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
            return Err(error);
        };
        // It stands before the words of the program, which may be the same.
        let begins = |word: &&mut OsString| word.as_bytes().starts_with(unknown.as_bytes());
        let Some(word) = words.iter_mut().find(begins) else { return Err(error) };
        let Some(known) = call_options::of_one_function(word) else { return Err(error) };
        *word = known;
    }
}

/// Length of a help text that `-h` shows whole, in characters.
const SHORT: usize = 64;

/// The definition of the command line. `-h` has a line or two for each option, `--help` all there
/// is to say, examples and exit statuses with it.
pub(super) fn definition() -> clap::Command {
    both_helps(Cli::command())
}

fn both_helps(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let arg = if is_switch(&arg) { arg.value_name("yes|no").hide_possible_values(true) } else { arg };
        let Some(text) = arg.get_help().map(StyledStr::to_string) else { return arg };
        let short = clause(&text).to_owned();
        let full = arg.get_long_help().map_or(text, StyledStr::to_string);
        arg.help(short).long_help(full)
    });
    let command = match command.get_after_help().map(StyledStr::to_string) {
        Some(text) => {
            let name = command.get_name();
            let of = if name == "cgemu" { String::new() } else { format!("{name} ") };
            let more = format!("`cgemu {of}--help` says more about them, and has examples.");
            command.after_help(more).after_long_help(text)
        }
        None => command,
    };
    command.mut_subcommands(both_helps)
}

/// Tells if an option takes the words of a [`Switch`], which are shown in place of a name for its
/// value.
fn is_switch(arg: &clap::Arg) -> bool {
    let words: Vec<PossibleValue> =
        Switch::value_variants().iter().filter_map(Switch::to_possible_value).collect();
    arg.get_possible_values() == words
}

/// A text that is short, or its beginning up to the first stop.
fn clause(text: &str) -> &str {
    if text.chars().count() <= SHORT {
        return text;
    }
    let end = [". ", "; ", ": "].iter().filter_map(|stop| text.find(stop)).min();
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_is_short() {
        for (text, short) in [
            ("Stop after this time: 10s, 5m", "Stop after this time: 10s, 5m"),
            (
                "Let the program change files under this directory of the host; may be repeated",
                "Let the program change files under this directory of the host",
            ),
        ] {
            assert_eq!(clause(text), short);
        }
        let mut all = definition();
        let run = all.find_subcommand_mut("run").expect("a command");
        let lines = |text: StyledStr| text.to_string().lines().count();
        let (short, long) = (lines(run.render_help()), lines(run.render_long_help()));
        assert!(short * 2 < long && short < 60, "{short} and {long} lines");
    }

    #[test]
    fn definition_is_sound() {
        definition().debug_assert();
    }

    /// Each command of the examples, here and in README.md, must be understood.
    #[test]
    fn examples_parse() {
        let readme = include_str!("../../README.md").split("```sh\n").skip(1);
        let readme = readme.filter_map(|rest| rest.split("```").next()).flat_map(str::lines);
        let readme = readme.filter_map(|line| line.strip_prefix("cgemu "));
        let mut command = definition();
        command.build();
        let all = std::iter::once(&command).chain(command.get_subcommands());
        let all = all.filter(|command| command.get_name() != "help");
        let helps: Vec<String> = all
            .map(|command| {
                let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Examples:\n  cgemu"), "{}: no examples", command.get_name());
                assert!(help.contains("\n\nExit status"), "{}: no exit status", command.get_name());
                let long = help.lines().find(|line| line.len() > 100);
                assert_eq!(long, None, "{}: it would be broken", command.get_name());
                help
            })
            .collect();
        let helps = helps.iter().flat_map(|help| help.lines());
        let helps = helps.filter_map(|line| line.strip_prefix("  cgemu"));
        let mut seen = 0;
        for line in helps.chain(readme) {
            // Two blanks begin a remark; the rest is the shell's.
            let command =
                ["  ", " | ", " > "].iter().fold(line, |rest, end| rest.split(end).next().unwrap_or(""));
            let words = std::iter::once("cgemu").chain(command.split_whitespace());
            if let Err(error) = Cli::try_parse_from(words)
                && error.use_stderr()
            {
                panic!("{line}: {error}");
            }
            seen += 1;
        }
        assert!(seen >= 16, "{seen}");
    }
}
