//! The options of a run, in groups by what honours them. `display_order` keeps the order of the
//! help.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, ValueEnum};

use super::call_options::{CallArgs, patterns};
use super::environment::{self, Addition};
use super::pattern;
use super::switch::Switch;
use super::values;
use super::view::Names;
use super::{lookup, network, policy};
use crate::session::{
    Caches, Children, CountConfig, CountModel, FunctionPatterns, Layout, Limits, MachineConfig, Producer,
    Schedule, Skip, StartError, User,
};
use crate::sim::{Geometry, PRESETS, preset};

/// Options of the machine and its program.
#[derive(Args, Debug)]
pub(super) struct MachineArgs {
    /// Let the program change files under this directory of the host, and read all of them; may be
    /// repeated. Other writes stay in memory and are dropped at the end
    #[arg(long, value_name = "DIR", action = ArgAction::Append, display_order = 25)]
    pub allow_write: Vec<PathBuf>,

    /// Let the program read this file or all of this directory of the host; may be repeated. It may
    /// read the system's public files, the working directory and what the command line names in any
    /// case
    #[arg(long, value_name = "PATH", action = ArgAction::Append, display_order = 25)]
    pub allow_read: Vec<PathBuf>,

    /// Hide this file or directory of the host from the program; may be repeated. The longest path
    /// of --allow-read, --allow-write and --deny counts
    #[arg(long, value_name = "PATH", action = ArgAction::Append, display_order = 25)]
    pub deny: Vec<PathBuf>,

    /// Let the program connect to this port of a host outside; may be repeated. The host is looked
    /// up once, before the program starts. The run depends on what comes from there, and the
    /// profile says so
    #[arg(long, value_name = "HOST:PORT", action = ArgAction::Append, display_order = 25)]
    pub allow_net: Vec<String>,

    /// Run the program with this directory of the host as its root, and nothing else of the host:
    /// the tree of a container image, for one. The program's name is looked up in there
    #[arg(long, value_name = "DIR", display_order = 25)]
    pub root: Option<PathBuf>,

    /// Add a variable to the program's small fixed environment; may be repeated. NAME alone takes
    /// the value that cgemu finds, if there is one: the profile may then depend on it
    #[arg(long, value_name = "NAME[=VALUE]", action = ArgAction::Append, display_order = 26)]
    #[arg(value_parser = OsStringValueParser::new().try_map(|text| environment::parse(&text)))]
    pub env: Vec<Addition>,

    /// The variables of `env` are all that there are.
    #[arg(skip)]
    pub only_env: bool,

    /// User and group as whom the program runs in the emulated machine; the files of the host
    /// belong to them there. 0 is root, who may do there what root may do. The group is the user's
    /// number if it is not given
    #[arg(long, value_name = "UID[:GID]", default_value = "1000", value_parser = values::user)]
    #[arg(display_order = 26)]
    pub user: User,

    /// Seed of the random bytes that the program sees
    #[arg(long, value_name = "N", default_value = "0", value_parser = values::seed, display_order = 27)]
    pub seed: u64,

    /// Stop after this many instructions: 1_000, 10M, 2G
    #[arg(long, value_name = "N", value_parser = values::count, display_order = 28)]
    pub max_instructions: Option<u64>,

    /// Stop when the program needs more memory than this many bytes: 512M, 2G
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, display_order = 29)]
    pub max_memory: Option<u64>,

    /// Stop after this time: 10s, 5m
    #[arg(long, value_name = "TIME", value_parser = values::duration, display_order = 30)]
    pub timeout: Option<Duration>,

    /// Stop at more processes and threads than this at a time
    #[arg(long, value_name = "N", value_parser = values::count, display_order = 30)]
    pub max_processes: Option<u64>,

    /// Stop when the program has made and opened more files than this at a time
    #[arg(long, value_name = "N", value_parser = values::count, display_order = 30)]
    pub max_files: Option<u64>,

    /// Stop when the program writes more than this many bytes to standard output and error and to
    /// files under --allow-write: 10M, 1G
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, display_order = 30)]
    pub max_output: Option<u64>,

    /// Instructions after which another process or thread has its turn; after the first 64 turns
    /// half to one and a half of it, so that no loop stays in step with them
    #[arg(long, value_name = "N", default_value = "100_000", value_parser = values::quantum)]
    #[arg(hide_short_help = true, display_order = 31)]
    pub quantum: u64,

    /// Draw the order and the length of turns from this seed, to try other orders; without it
    /// processes and threads take their turns as they come
    #[arg(long, value_name = "N", value_parser = values::seed, display_order = 31)]
    #[arg(hide_short_help = true)]
    pub schedule_seed: Option<u64>,

    /// Where program, libraries, heap and stack go: where Linux puts them without randomization, or
    /// where Valgrind 3.19 does, to compare the two (valgrind). CPUID then too answers as under
    /// Valgrind, if GLIBC_TUNABLES keeps the program's C library from AVX code;
    /// docs/whole-programs.md says how
    #[arg(long, value_name = "linux|valgrind", default_value = "linux", value_parser = layout)]
    #[arg(hide_short_help = true, display_order = 32)]
    pub layout: Layout,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    #[arg(value_hint = clap::ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Options of what is counted and simulated.
#[derive(Args, Debug)]
pub(super) struct CountArgs {
    /// Simulate the caches
    #[arg(long, default_value = "yes", display_order = 10)]
    #[arg(help_heading = "Cachegrind's options")]
    pub cache_sim: Switch,

    /// Simulate the branch predictors
    #[arg(long, default_value = "no", display_order = 11)]
    #[arg(help_heading = "Cachegrind's options")]
    pub branch_sim: Switch,

    /// First-level instruction cache, in bytes; overrides that of --cache
    #[arg(long = "I1", value_name = "size,assoc,line", value_parser = str::parse::<Geometry>)]
    #[arg(display_order = 12)]
    #[arg(help_heading = "Cachegrind's options")]
    pub i1: Option<Geometry>,

    /// First-level data cache, likewise
    #[arg(long = "D1", value_name = "size,assoc,line", value_parser = str::parse::<Geometry>)]
    #[arg(display_order = 13)]
    #[arg(help_heading = "Cachegrind's options")]
    pub d1: Option<Geometry>,

    /// Last-level cache, likewise
    #[arg(long = "LL", visible_alias = "L2", value_name = "size,assoc,line", display_order = 14)]
    #[arg(value_parser = str::parse::<Geometry>, help_heading = "Cachegrind's options")]
    pub ll: Option<Geometry>,

    /// Count from the first instruction on; with no, from the program's
    /// CACHEGRIND_START_INSTRUMENTATION on
    #[arg(long, default_value = "yes", display_order = 16)]
    #[arg(help_heading = "Cachegrind's options")]
    pub instr_at_start: Switch,

    /// Count a program only from the first entry of this function on, as from main, to leave out
    /// loader and start-up; ? and * stand for any character and any text. May be repeated: the one
    /// that is entered first counts. Caches and predictors are empty then
    #[arg(long, value_name = "FUNCTION", action = ArgAction::Append, display_order = 23)]
    #[arg(hide_short_help = true)]
    pub count_from: Vec<OsString>,

    /// Also count the programs that the first one executes in other processes; a child of fork(2)
    /// is counted in any case until it executes one
    #[arg(long, default_value = "no", display_order = 19)]
    #[arg(help_heading = "Cachegrind's options")]
    pub trace_children: Switch,

    /// Programs that are not counted although children are: patterns of their names as execve(2) is
    /// given them, with ? and *. What they start is not counted either
    #[arg(
        long,
        value_name = "patt1,patt2,...",
        default_value = "",
        hide_default_value = true,
        overrides_with = "trace_children_skip",
        hide_short_help = true,
        display_order = 19
    )]
    #[arg(help_heading = "Cachegrind's options")]
    pub trace_children_skip: OsString,

    /// Likewise, by patterns of their arguments
    #[arg(
        long,
        value_name = "patt1,patt2,...",
        default_value = "",
        hide_default_value = true,
        overrides_with = "trace_children_skip_by_arg",
        hide_short_help = true,
        display_order = 19
    )]
    #[arg(help_heading = "Cachegrind's options")]
    pub trace_children_skip_by_arg: OsString,

    /// Also count each thread by itself, in files of their own beside the profile of the process;
    /// caches and predictors stay those of the process
    #[arg(long, default_value = "no", display_order = 32)]
    pub separate_threads: Switch,

    /// Counts with which a child of fork(2) begins: its parent's, as in Cachegrind, or none
    #[arg(
        long,
        value_name = "inherit|zero",
        default_value = "inherit",
        hide_possible_values = true,
        hide_short_help = true,
        display_order = 32
    )]
    pub fork_counts: ForkCounts,

    /// Named caches; `cgemu presets` lists them
    #[arg(
        long,
        value_name = "PRESET",
        default_value = "default",
        hide_possible_values = true,
        display_order = 23
    )]
    #[arg(value_parser = PossibleValuesParser::new(PRESETS.iter().map(|p| p.name)))]
    pub cache: String,

    /// What is counted: what the program executes (arch), or what an unmodified Valgrind prints,
    /// which counts in translated superblocks (valgrind)
    #[arg(long, value_name = "arch|valgrind", default_value = "arch", value_parser = count_model)]
    #[arg(display_order = 31)]
    pub count_model: CountModel,

    /// How events are gathered: by code added to the translation (tap), or by the engine's public
    /// hooks (api), slow, for cross-checks. The profile is the same
    #[arg(long, value_name = "tap|api", default_value = "tap", value_parser = producer, display_order = 33)]
    #[arg(hide_short_help = true)]
    pub hooks: Producer,

    /// CPUs of the host to use, at most those that this process may use, which is the default. The
    /// profile is the same
    #[arg(long, value_name = "N", display_order = 34, hide_short_help = true)]
    pub cpus: Option<NonZeroUsize>,
}

/// Counts with which a child of fork(2) begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ForkCounts {
    /// Those of its parent.
    Inherit,
    /// None.
    Zero,
}

/// Options of the profile.
#[derive(Args, Debug)]
pub(super) struct ProfileArgs {
    /// Where the profile goes; %p is the process ID, %q{VAR} a variable, %n a number, %% a percent
    /// sign. With %p, further processes have profiles of their own, with their process IDs
    /// appended; without, there is one of all
    #[arg(long, value_name = "FILE", default_value = "cachegrind.out.%p", display_order = 15)]
    #[arg(help_heading = "Cachegrind's options")]
    pub cachegrind_out_file: OsString,

    /// Also write the counts of each instruction, beside the profile to FILE.instr, in Callgrind's
    /// format
    #[arg(long, default_value = "no", display_order = 17)]
    pub dump_instr: Switch,
}

/// Options of the log.
#[derive(Args, Debug)]
pub(super) struct LogArgs {
    /// Write the log to this file instead of standard error; the same % patterns
    #[arg(long, value_name = "FILE", help_heading = "Cachegrind's options", display_order = 18)]
    pub log_file: Option<OsString>,

    /// Write the log to this open file descriptor
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "log_file",
        help_heading = "Cachegrind's options",
        display_order = 19
    )]
    pub log_fd: Option<u32>,

    /// Write nothing to the log about a child of fork(2) until it executes a program
    #[arg(long, hide_short_help = true, default_value = "no", display_order = 19)]
    #[arg(help_heading = "Cachegrind's options")]
    pub child_silent_after_fork: Switch,

    /// Print neither banner nor summary
    #[arg(
        short,
        long,
        overrides_with = "verbose",
        help_heading = "Cachegrind's options",
        display_order = 20
    )]
    pub quiet: bool,

    /// Also print the caches and the functions with the most instructions; as --top=10
    #[arg(short, long, overrides_with = "quiet", help_heading = "Cachegrind's options", display_order = 21)]
    pub verbose: bool,

    /// Write calls and signals, as strace(1) does, to the log or FILE
    ///
    /// Each line has the number of the task and the program's own time in seconds. FILE may have
    /// the % patterns of the other files.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", display_order = 24)]
    pub strace: Option<OsString>,

    /// Print the N functions with the most instructions
    #[arg(long, value_name = "N", display_order = 24)]
    pub top: Option<usize>,

    /// Write C++ and Rust names of --top and -v in full or in short; functions of the same short
    /// name are added up
    #[arg(long, value_name = "full|short", hide_possible_values = true, display_order = 24)]
    pub names: Option<Names>,
}

/// The files that a run writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Files {
    /// The profile, and the call graph if it is asked for.
    #[default]
    Profile,
    /// The call graph alone, as Callgrind.
    CallGraph,
    /// None.
    None,
}

/// All options of a run, under a prompt or not.
#[derive(Args, Debug)]
#[command(next_display_order = 100)]
pub(super) struct RunArgs {
    /// The files, which no option of its own decides.
    #[arg(skip)]
    pub files: Files,

    #[command(flatten)]
    pub counting: CountArgs,

    #[command(flatten)]
    pub profile: ProfileArgs,

    #[command(flatten)]
    pub calls: CallArgs,

    #[command(flatten)]
    pub log: LogArgs,

    /// Run under a prompt, as `cgemu repl` does
    #[arg(short, long, display_order = 22)]
    pub interactive: bool,

    /// Take orders of `cgemu control` while the program runs, through a socket that only this user
    /// reaches: status, calls, counts, dumps, counting on and off
    #[arg(long, display_order = 33)]
    #[arg(hide_short_help = true)]
    pub control: bool,

    #[command(flatten)]
    pub machine: MachineArgs,
}

impl RunArgs {
    /// The name of the file that is written first.
    pub(super) fn named(&self) -> &OsStr {
        match self.files {
            Files::Profile | Files::None => &self.profile.cachegrind_out_file,
            Files::CallGraph => &self.calls.callgrind_out_file,
        }
    }
}

impl MachineArgs {
    /// The program as typed; clap sees to it that there is one.
    fn program(&self) -> &OsStr {
        self.command.first().map_or(OsStr::new(""), OsString::as_os_str)
    }

    /// The machine that the options describe, checked as far as that goes without the program.
    ///
    /// # Errors
    /// A program that is not found, and paths of options that are not there.
    pub(super) fn config(&self) -> Result<MachineConfig, StartError> {
        let env = environment::build(!self.only_env, &self.env, |name| std::env::var_os(name));
        let path = env.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(""), |(_, value)| value);
        let root = self.root.as_ref().map(|root| policy::directory("root", root)).transpose()?;
        let program = match &root {
            Some(root) => lookup::find_in(root, self.program(), path)?,
            None => lookup::find(self.program(), path)?,
        };
        let allow_write = self.allow_write.iter().map(|dir| policy::directory("allow-write", dir));
        let allow_write = allow_write.collect::<Result<Vec<_>, _>>()?;
        let options = policy::Options {
            root: root.as_deref(),
            read: &self.allow_read,
            write: &allow_write,
            deny: &self.deny,
        };
        Ok(MachineConfig {
            policy: policy::build(&options, &program, &self.command, &env)?,
            program,
            argv: self.command.clone(),
            outside: self.allow_net.iter().map(|name| network::resolve(name)).collect::<Result<_, _>>()?,
            stdin: None,
            layout: self.layout,
            limits: Limits {
                instructions: self.max_instructions,
                memory: self.max_memory,
                time: self.timeout,
                processes: self.max_processes.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
                files: self.max_files,
                output: self.max_output,
            },
            schedule: Schedule { quantum: self.quantum, seed: self.schedule_seed },
            allow_write,
            seed: self.seed,
            user: self.user,
            env,
        })
    }
}

impl CountArgs {
    /// The counting that the options describe. Processes have files of their own if the name of
    /// `file` has their ID in it.
    ///
    /// # Errors
    /// A name that is no preset.
    pub(super) fn config(&self, file: &OsStr, calls: &CallArgs) -> Result<CountConfig, StartError> {
        Ok(CountConfig {
            caches: self.caches()?,
            branch_sim: self.branch_sim.on(),
            model: self.count_model,
            calls: calls.rules(),
            functions: FunctionPatterns { count_from: patterns(&self.count_from), ..calls.functions() },
            at_start: self.instr_at_start.on(),
            producer: self.hooks,
            cpus: self.cpus,
            children: Children {
                trace: self.trace_children.on(),
                inherit: self.fork_counts == ForkCounts::Inherit,
                merged: !pattern::names_process(file),
                threads: self.separate_threads.on(),
            },
            skip: Skip::new(self.trace_children_skip.as_bytes(), self.trace_children_skip_by_arg.as_bytes()),
        })
    }

    /// The preset, with the caches that were given one by one in place of its own.
    fn caches(&self) -> Result<Option<Caches>, StartError> {
        if !self.cache_sim.on() {
            return Ok(None);
        }
        let named = preset(&self.cache).ok_or_else(|| {
            StartError::Other(format!("--cache={}: no such preset; cgemu presets lists them", self.cache))
        })?;
        Ok(Some(Caches {
            i1: self.i1.unwrap_or(named.i1),
            d1: self.d1.unwrap_or(named.d1),
            ll: self.ll.unwrap_or(named.ll),
        }))
    }
}

impl LogArgs {
    /// Number of functions to list; 0 for none.
    pub(super) fn listed(&self) -> usize {
        self.top.unwrap_or(if self.verbose { 10 } else { 0 })
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
    use super::super::args::{Cli, Command};
    use super::*;
    use clap::Parser as _;

    fn run(words: &[&str]) -> Result<RunArgs, String> {
        let words = ["cgemu", "run"].iter().chain(words);
        match Cli::try_parse_from(words).map_err(|e| e.to_string())?.command {
            Command::Run(options) => Ok(*options),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = run(&["prog"]).expect("valid");
        assert!(
            options.counting.cache_sim.on()
                && !options.counting.branch_sim.on()
                && options.counting.instr_at_start.on()
        );
        assert_eq!(options.profile.cachegrind_out_file, "cachegrind.out.%p");
        assert_eq!(options.counting.count_model, CountModel::Arch);
        assert_eq!(
            (options.machine.seed, options.counting.hooks, options.log.listed()),
            (0, Producer::Tap, 0)
        );
        assert_eq!(options.counting.cache, PRESETS[0].name);
    }

    #[test]
    fn everything_after_the_program_is_the_programs() {
        for words in [
            &["-q", "prog", "-q", "--seed=1", "--", "--bogus", "-"][..],
            &["-q", "--", "prog", "-q", "--seed=1", "--", "--bogus", "-"][..],
        ] {
            let options = run(words).expect("valid");
            assert_eq!(options.machine.command, ["prog", "-q", "--seed=1", "--", "--bogus", "-"]);
            assert_eq!(options.machine.seed, 0);
        }
        assert_eq!(run(&["--", "-prog"]).expect("valid").machine.command, ["-prog"]);
    }

    #[test]
    fn values_with_and_without_equals_sign() {
        let options =
            run(&["--allow-write", ".", "--allow-write=/tmp", "--env", "A=b", "--L2=128,2,64", "p"]);
        let options = options.expect("valid");
        assert_eq!(options.machine.allow_write, [PathBuf::from("."), PathBuf::from("/tmp")]);
        assert_eq!(options.machine.env.len(), 1);
        assert_eq!(options.counting.ll.map(|g| g.to_string()).as_deref(), Some("128,2,64"));
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
            (&["--user=me", "p"], "--user"),
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
}
