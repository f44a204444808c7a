//! The command line. Options that Cachegrind has keep Cachegrind's names and meanings.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use super::annotate::AnnotateArgs;

use super::classic::{DiffArgs, MergeArgs};
use super::environment::{self, Addition};
use super::examples;
use super::ranking::RankingArgs;
use super::repl::ReplArgs;
use super::values;
use crate::session::{CountModel, Layout, Producer};
use crate::sim::{Geometry, PRESETS};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "cgemu", version, about, after_help = examples::ALL, subcommand_required = true)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What cgemu can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program and count its instructions, cache misses and branch mispredictions
    #[command(after_help = examples::RUN, override_usage = "cgemu run [OPTIONS] [--] PROGRAM [ARGUMENT]...")]
    Run(Box<RunArgs>),
    /// Run a program under a prompt: pause it, look at it and its counts, go on, go back
    #[command(after_help = examples::REPL, override_usage = "cgemu repl [OPTIONS] [--] PROGRAM [ARGUMENT]...")]
    Repl(Box<ReplArgs>),
    /// Print the counts of files of Cachegrind or Callgrind: by function, and beside the source
    #[command(after_help = examples::ANNOTATE, args_override_self = true, infer_long_args = true, version)]
    Annotate(Box<AnnotateArgs>),
    /// Print the functions, files or lines with the highest counts
    #[command(after_help = examples::TOP, args_override_self = true)]
    Top(Box<RankingArgs>),
    /// Add Cachegrind files up, as cg_merge does
    #[command(after_help = examples::MERGE)]
    Merge(MergeArgs),
    /// Print what changed from one Cachegrind file to another, by function, as cg_diff does
    #[command(after_help = examples::DIFF)]
    Diff(Box<DiffArgs>),
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

/// `yes` or `no`, the only words Cachegrind's switches take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    Yes,
    /// Off.
    No,
}

impl Switch {
    /// Whether it is on.
    pub fn on(self) -> bool {
        self == Switch::Yes
    }
}

/// The options of `cgemu run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Simulate the caches
    #[arg(long, value_name = "yes|no", default_value = "yes", hide_possible_values = true)]
    #[arg(help_heading = "Cachegrind's options")]
    pub cache_sim: Switch,

    /// Simulate the branch predictors
    #[arg(long, value_name = "yes|no", default_value = "no", hide_possible_values = true)]
    #[arg(help_heading = "Cachegrind's options")]
    pub branch_sim: Switch,

    /// First-level instruction cache, in bytes; overrides that of --cache
    #[arg(long = "I1", value_name = "size,assoc,line", value_parser = str::parse::<Geometry>)]
    #[arg(help_heading = "Cachegrind's options")]
    pub i1: Option<Geometry>,

    /// First-level data cache, likewise
    #[arg(long = "D1", value_name = "size,assoc,line", value_parser = str::parse::<Geometry>)]
    #[arg(help_heading = "Cachegrind's options")]
    pub d1: Option<Geometry>,

    /// Last-level cache, likewise
    #[arg(long = "LL", visible_alias = "L2", value_name = "size,assoc,line")]
    #[arg(value_parser = str::parse::<Geometry>, help_heading = "Cachegrind's options")]
    pub ll: Option<Geometry>,

    /// Where the profile goes; %p is the process ID, %q{VAR} a variable, %n a number, %% a percent sign
    #[arg(long, value_name = "FILE", default_value = "cachegrind.out.%p")]
    #[arg(help_heading = "Cachegrind's options")]
    pub cachegrind_out_file: OsString,

    /// Count from the first instruction on; with no, from the program's CACHEGRIND_START_INSTRUMENTATION on
    #[arg(long, value_name = "yes|no", default_value = "yes", hide_possible_values = true)]
    #[arg(help_heading = "Cachegrind's options")]
    pub instr_at_start: Switch,

    /// Also write the counts of each instruction, beside the profile to FILE.instr, in Callgrind's format
    #[arg(long, value_name = "yes|no", default_value = "no", hide_possible_values = true)]
    pub dump_instr: Switch,

    /// Write the log to this file instead of standard error; the same % patterns
    #[arg(long, value_name = "FILE", help_heading = "Cachegrind's options")]
    pub log_file: Option<OsString>,

    /// Write the log to this open file descriptor
    #[arg(long, value_name = "N", conflicts_with = "log_file", help_heading = "Cachegrind's options")]
    pub log_fd: Option<u32>,

    /// Print neither banner nor summary
    #[arg(short, long, overrides_with = "verbose", help_heading = "Cachegrind's options")]
    pub quiet: bool,

    /// Also print the caches and the functions with the most instructions; as --top=10
    #[arg(short, long, overrides_with = "quiet", help_heading = "Cachegrind's options")]
    pub verbose: bool,

    /// Run under a prompt, as `cgemu repl` does
    #[arg(short, long)]
    pub interactive: bool,

    /// Named caches; `cgemu presets` lists them
    #[arg(long, value_name = "PRESET", default_value = "default", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(PRESETS.iter().map(|p| p.name)))]
    pub cache: String,

    /// Print the N functions with the most instructions
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// Let the program change files under this directory of the host; may be repeated. Other writes stay in
    /// memory and are dropped at the end
    #[arg(long, value_name = "DIR", action = ArgAction::Append)]
    pub allow_write: Vec<PathBuf>,

    /// Add a variable to the program's small fixed environment; may be repeated. NAME alone takes the value
    /// that cgemu finds, if there is one: the profile may then depend on it
    #[arg(long, value_name = "NAME[=VALUE]", action = ArgAction::Append)]
    #[arg(value_parser = OsStringValueParser::new().try_map(|text| environment::parse(&text)))]
    pub env: Vec<Addition>,

    /// Seed of the random bytes that the program sees
    #[arg(long, value_name = "N", default_value = "0", value_parser = values::seed)]
    pub seed: u64,

    /// Stop after this many instructions: 1_000, 10M, 2G
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub max_instructions: Option<u64>,

    /// Stop when the program needs more memory than this many bytes: 512M, 2G
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub max_memory: Option<u64>,

    /// Stop after this time: 10s, 5m
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub timeout: Option<Duration>,

    /// What is counted: what the program executes (arch), or what an unmodified Valgrind prints, which counts in
    /// translated superblocks (valgrind)
    #[arg(long, value_name = "arch|valgrind", default_value = "arch", value_parser = count_model)]
    pub count_model: CountModel,

    /// Where program, libraries, heap and stack go: where Linux puts them without randomization, or where Valgrind 3.19
    /// does, to compare the two (valgrind). CPUID then too answers as under Valgrind, if GLIBC_TUNABLES keeps the
    /// program's C library from AVX code; docs/whole-programs.md says how
    #[arg(long, value_name = "linux|valgrind", default_value = "linux", value_parser = layout)]
    pub layout: Layout,

    /// How events are gathered: by code added to the translation (tap), or by the engine's public hooks (api),
    /// slow, for cross-checks. The profile is the same
    #[arg(long, value_name = "tap|api", default_value = "tap", value_parser = producer)]
    pub hooks: Producer,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl RunArgs {
    /// How many functions to list; 0 for none.
    pub fn listed(&self) -> usize {
        self.top.unwrap_or(if self.verbose { 10 } else { 0 })
    }

    /// The program as typed; clap sees to it that there is one.
    pub fn program(&self) -> &OsStr {
        self.command.first().map_or(OsStr::new(""), OsString::as_os_str)
    }
}

fn count_model(text: &str) -> Result<CountModel, String> {
    match text {
        "arch" => Ok(CountModel::Arch),
        "valgrind" => Ok(CountModel::Valgrind),
        _ => Err("say arch or valgrind".to_owned()),
    }
}

fn layout(text: &str) -> Result<Layout, String> {
    match text {
        "linux" => Ok(Layout::LINUX),
        "valgrind" => Ok(Layout::VALGRIND),
        _ => Err("say linux or valgrind".to_owned()),
    }
}

fn producer(text: &str) -> Result<Producer, String> {
    match text {
        "tap" => Ok(Producer::Tap),
        "api" => Ok(Producer::Api),
        _ => Err("say tap or api".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn run(words: &[&str]) -> Result<RunArgs, String> {
        let words = ["cgemu", "run"].iter().chain(words);
        match Cli::try_parse_from(words).map_err(|e| e.to_string())?.command {
            Command::Run(options) => Ok(*options),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = run(&["prog"]).expect("valid");
        assert!(options.cache_sim.on() && !options.branch_sim.on() && options.instr_at_start.on());
        assert_eq!(options.cachegrind_out_file, "cachegrind.out.%p");
        assert_eq!(options.count_model, CountModel::Arch);
        assert_eq!((options.seed, options.hooks, options.listed()), (0, Producer::Tap, 0));
        assert_eq!(options.cache, PRESETS[0].name);
    }

    #[test]
    fn everything_after_the_program_is_the_programs() {
        for words in [
            &["-q", "prog", "-q", "--seed=1", "--", "--bogus", "-"][..],
            &["-q", "--", "prog", "-q", "--seed=1", "--", "--bogus", "-"][..],
        ] {
            let options = run(words).expect("valid");
            assert_eq!(options.command, ["prog", "-q", "--seed=1", "--", "--bogus", "-"]);
            assert_eq!(options.seed, 0);
        }
        assert_eq!(run(&["--", "-prog"]).expect("valid").command, ["-prog"]);
    }

    #[test]
    fn values_with_and_without_equals_sign() {
        let options =
            run(&["--allow-write", ".", "--allow-write=/tmp", "--env", "A=b", "--L2=128,2,64", "p"]);
        let options = options.expect("valid");
        assert_eq!(options.allow_write, [PathBuf::from("."), PathBuf::from("/tmp")]);
        assert_eq!(options.env.len(), 1);
        assert_eq!(options.ll.map(|g| g.to_string()).as_deref(), Some("128,2,64"));
    }

    #[test]
    fn bad_options_are_named() {
        for (words, part) in [
            (&["--bogus", "p"][..], "--bogus"),
            (&["--cache-sim=maybe", "p"], "--cache-sim"),
            (&["--cache-sim=true", "p"], "--cache-sim"),
            (&["--branch-sim", "p"], "--branch-sim"),
            (&["--I1=32768,8", "p"], "--I1"),
            (&["--D1=32768,3,64", "p"], "Cache set count is not a power of two"),
            (&["--LL=32768,0,64", "p"], "--LL"),
            (&["--cache=host", "p"], "--cache"),
            (&["--hooks=none", "p"], "--hooks"),
            (&["--count-model=ir", "p"], "--count-model"),
            (&["--layout=random", "p"], "--layout"),
            (&["--env", "=1", "p"], "--env"),
            (&["--max-instructions=many", "p"], "--max-instructions"),
            (&["--timeout=0", "p"], "--timeout"),
            (&["--log-file=a", "--log-fd=2", "p"], "--log-fd"),
            (&["-q"], "PROGRAM"),
            (&["--"], "PROGRAM"),
        ] {
            let error = run(words).err().unwrap_or_default();
            assert!(error.contains(part), "{words:?}: {error}");
        }
    }

    /// Each command of the examples, here and in README.md, must be understood.
    #[test]
    fn examples_parse() {
        let readme = include_str!("../../README.md").lines();
        let readme = readme.filter_map(|line| line.strip_prefix("target/release/cgemu"));
        let mut command = <Cli as clap::CommandFactory>::command();
        command.build();
        let all = std::iter::once(&command).chain(command.get_subcommands());
        let helps: Vec<String> = all
            .map(|command| {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Examples:\n  cgemu"), "{}: no examples", command.get_name());
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
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{line}: {error}");
            }
            seen += 1;
        }
        assert!(seen >= 16, "{seen}");
    }
}
