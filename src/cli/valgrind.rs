//! `cgemu valgrind`: the command line of Valgrind 3.19, for scripts and harnesses that call it. Its
//! words become those of `cgemu run`; what cannot be honoured is refused by name.

mod rules;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, Error, anyhow, bail};
use clap::FromArgMatches as _;

use super::args::{self, Cli, Command};
use super::lookup::reason;
use super::options::RunArgs;
use super::{call_options, environment};
use rules::{Rule, Tool};

/// The name by which cgemu is Valgrind, and the command.
const NAME: &str = "valgrind";

/// The answer to `--version`, by which scripts know what they may ask for.
const VERSION: &str = concat!("valgrind-3.19.0 (cgemu ", env!("CARGO_PKG_VERSION"), ")\n");

/// Most bytes of a file of options.
const MOST_OPTIONS: u64 = 1 << 20;

/// Request of a command line.
enum Asked {
    Version,
    Help,
    Run(Box<RunArgs>),
}

/// The words for Valgrind: all if cgemu is called by that name, or those after the command.
pub(super) fn words(arguments: &[OsString]) -> Option<&[OsString]> {
    let (called, words) = arguments.split_first()?;
    if Path::new(called).file_name() == Some(OsStr::new(NAME)) {
        return Some(words);
    }
    words.split_first().filter(|(command, _)| *command == NAME).map(|(_, words)| words)
}

/// Carries out a command line of Valgrind; its exit status. `show` prints text that was asked for,
/// and `run` runs a program.
///
/// # Errors
/// Options that are not known or cannot be honoured, and those of `show` and `run`.
pub(super) fn valgrind(
    words: &[OsString],
    show: impl FnOnce(&str) -> Result<u8, Error>,
    run: impl FnOnce(&RunArgs) -> Result<u8, Error>,
) -> Result<u8, Error> {
    match asked(words, options_of_files()?).context(NAME)? {
        Asked::Version => show(VERSION),
        Asked::Help => {
            let mut all = args::definition();
            let own = all.find_subcommand_mut(NAME).ok_or_else(|| anyhow!("no help"))?;
            show(&own.render_long_help().to_string())
        }
        Asked::Run(options) => run(&options),
    }
}

/// Options from `~/.valgrindrc`, `$VALGRIND_OPTS` and `./.valgrindrc`, in this order.
///
/// # Errors
/// A file that cannot be read.
fn options_of_files() -> Result<Vec<OsString>, Error> {
    let mut text = Vec::new();
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".valgrindrc"));
    let here = Path::new(".valgrindrc");
    let same = |home: &Path| fs::canonicalize(home).ok() == fs::canonicalize(here).ok();
    if let Some(home) = home.filter(|home| !same(home)) {
        read_options(&home, &mut text)?;
    }
    text.push(b' ');
    text.extend(std::env::var_os("VALGRIND_OPTS").unwrap_or_default().into_vec());
    text.push(b' ');
    read_options(here, &mut text)?;
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    Ok(words.map(|word| OsStr::from_bytes(word).to_owned()).collect())
}

/// Appends the text of a file of options, unless somebody else could have written it, as Valgrind
/// does.
fn read_options(path: &Path, text: &mut Vec<u8>) -> Result<(), Error> {
    let safe = |file: &fs::Metadata| {
        file.is_file() && file.mode() & 0o002 == 0 && file.uid() == rustix::process::geteuid().as_raw()
    };
    if !fs::metadata(path).is_ok_and(|file| safe(&file)) {
        return Ok(());
    }
    File::open(path)
        .and_then(|file| file.take(MOST_OPTIONS).read_to_end(text))
        .map(drop)
        .map_err(|error| anyhow!("{}: {}", path.display(), reason(&error)))
}

/// Reads a command line of Valgrind, ahead of which `before` are read.
fn asked(words: &[OsString], before: Vec<OsString>) -> Result<Asked, Error> {
    let is_option = |word: &&OsString| word.len() > 1 && word.as_bytes().starts_with(b"-") && *word != "--";
    let own: Vec<OsString> = words.iter().take_while(is_option).cloned().collect();
    let command = words.get(own.len()..).unwrap_or_default();
    let command = command.strip_prefix(&[OsString::from("--")]).unwrap_or(command);
    let only_own = own.iter().any(|word| word == "--command-line-only=yes");
    let mut options = if only_own { Vec::new() } else { before };
    options.extend(own);
    for word in &options {
        match word.as_bytes() {
            b"--version" => return Ok(Asked::Version),
            b"-h" | b"--help" | b"--help-debug" | b"--help-dyn-options" => return Ok(Asked::Help),
            _ => {}
        }
    }
    let tool = options.iter().rev().find_map(|word| word.as_bytes().strip_prefix(b"--tool="));
    let tool = OsStr::from_bytes(tool.unwrap_or(b"memcheck"));
    let Some(tool) = Tool::ALL.into_iter().find(|known| tool == known.name()) else {
        bail!("--tool={}: not here; say --tool=cachegrind, callgrind or none", tool.display());
    };
    if command.is_empty() {
        bail!("no program specified; cgemu help valgrind says how");
    }
    let all = args::definition();
    let mut words = translate(tool, &options, &all)?;
    words.push("--".into());
    words.extend(command.iter().cloned());
    let words = ["cgemu".into(), "run".into()].into_iter().chain(words).collect();
    let cli = args::parse(words).and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| {
        let text = error.render().to_string();
        let line = text.lines().next().unwrap_or_default();
        anyhow!(line.strip_prefix("error: ").unwrap_or(line).to_owned())
    })?;
    let Command::Run(mut options) = cli.command else { bail!("not a run") };
    options.files = tool.files();
    // As under Valgrind, the program gets the environment that the command has.
    let names = std::env::vars_os().filter_map(|(name, _)| environment::parse(&name).ok());
    options.machine.env.splice(0..0, names);
    options.machine.only_env = true;
    Ok(Asked::Run(options))
}

/// The words of `cgemu run` for options of Valgrind. Of several that set the same thing the last
/// one counts, but for those that `cgemu run` takes several times.
fn translate(tool: Tool, options: &[OsString], all: &clap::Command) -> Result<Vec<OsString>, Error> {
    let run = all.find_subcommand("run").ok_or_else(|| anyhow!("no run"))?;
    let repeats = |name: &str| {
        let known = run.get_arguments().find(|arg| arg.get_long() == Some(name));
        known.map(|arg| matches!(arg.get_action(), clap::ArgAction::Append))
    };
    let mut set: Vec<(String, OsString)> =
        tool.defaults().iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
    let mut translation = None;
    let mut flags: Vec<OsString> = Vec::new();
    for word in options {
        let shown = word.display();
        let text = match word.as_bytes() {
            b"-q" | b"--quiet" | b"-v" | b"--verbose" => {
                flags = vec![word.clone()];
                continue;
            }
            b"-s" => continue,
            text => text.strip_prefix(b"--").ok_or_else(|| anyhow!("unknown option {shown}"))?,
        };
        let (name, value) = match text.iter().position(|&byte| byte == b'=') {
            Some(at) => (&text[..at], Some(OsStr::from_bytes(&text[at + 1..]))),
            None => (text, None),
        };
        let name = std::str::from_utf8(name).map_err(|_| anyhow!("unknown option {shown}"))?;
        // Options in files say which tool they are for.
        let name = match name.split_once(':') {
            Some((of, _)) if of != tool.name() => continue,
            Some((_, name)) => name,
            None => name,
        };
        if matches!(name, "tool" | "command-line-only") {
            continue;
        }
        let rule = tool.rule(name);
        // An option with a number in its name is about the functions of one name.
        let is_numbered = |name: &str| {
            let word = OsString::from(format!("--{name}="));
            tool == Tool::Callgrind && call_options::of_one_function(&word).is_some()
        };
        let known = if is_numbered(name) { Some(true) } else { repeats(name) };
        let to = match rule {
            Some(Rule::Run(to)) => to,
            Some(Rule::Idle) => continue,
            Some(Rule::Only(values)) if value.is_some_and(|value| values.iter().any(|one| value == *one)) => {
                continue;
            }
            Some(Rule::Only(values)) => bail!("{}", refusal(name, value, values)),
            Some(Rule::Translation) => {
                translation = Some(name.to_owned());
                continue;
            }
            None if known.is_some() && !is_of_a_tool(name) => name,
            None => bail!(
                "unknown option {shown} of --tool={}; cgemu help valgrind says what there is",
                tool.name()
            ),
        };
        let Some(value) = value else { bail!("{shown}: write --{name}=VALUE") };
        if !known.unwrap_or(false) {
            set.retain(|(before, _)| before != to);
        }
        set.push((to.to_owned(), value.to_owned()));
    }
    let models = set.iter().any(|(name, value)| name == "count-model" && value == NAME);
    if let Some(name) = translation.filter(|_| models) {
        bail!("--{name}: --count-model=valgrind counts as Valgrind does without it; leave one of them out");
    }
    let words = set.into_iter().map(|(name, value)| {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        word
    });
    Ok(flags.into_iter().chain(words).collect())
}

/// True if a tool has an option of this name, which `cgemu run` has too.
fn is_of_a_tool(name: &str) -> bool {
    Tool::ALL.into_iter().any(|tool| tool.rule(name).is_some())
}

fn refusal(name: &str, value: Option<&OsStr>, values: &[&str]) -> String {
    let given = value.map(|value| format!("={}", value.display())).unwrap_or_default();
    let advice = match values {
        [] => "leave it out".to_owned(),
        [one, ..] => format!("only {one} is"),
    };
    format!("--{name}{given}: not supported; {advice}")
}

#[cfg(test)]
mod tests {
    use super::super::options::Files;
    use super::rules::{CACHEGRIND, CALLGRIND, CORE, SIMULATORS};
    use super::*;

    fn of(words: &[&str], before: &[&str]) -> Result<RunArgs, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        match asked(&words, before.iter().map(OsString::from).collect()) {
            Ok(Asked::Run(options)) => Ok(*options),
            Ok(Asked::Version) => Err("version".to_owned()),
            Ok(Asked::Help) => Err("help".to_owned()),
            Err(error) => Err(format!("{error:#}")),
        }
    }

    /// The words that gungraun 0.20 passes for its two tools.
    #[test]
    fn the_words_of_harnesses_are_taken() {
        let common = "--error-exitcode=0 --trace-children=yes --fair-sched=try --vgdb=no --I1=32768,8,64 \
            --D1=32768,8,64 --LL=8388608,16,64 --cache-sim=yes --log-file=a.log.#%p";
        let words = format!("--tool=cachegrind {common} --cachegrind-out-file=a.out.#%p exe -x --y");
        let words: Vec<&str> = words.split_whitespace().collect();
        let options = of(&words, &[]).expect("taken");
        assert!(options.counting.cache_sim.on() && options.counting.trace_children.on());
        assert_eq!(options.files, Files::Profile);
        assert_eq!(options.profile.cachegrind_out_file, "a.out.#%p");
        assert_eq!(options.machine.command, ["exe", "-x", "--y"]);
        let words = format!(
            "--tool=callgrind {common} --compress-strings=no --compress-pos=no --dump-line=yes --dump-instr=no \
             --combine-dumps=no --separate-threads=yes --toggle-collect=*::m::* --callgrind-out-file=b exe"
        );
        let words: Vec<&str> = words.split_whitespace().collect();
        let options = of(&words, &[]).expect("taken");
        assert!(options.calls.callgraph.on() && !options.calls.compress_strings.on());
        assert!(options.calls.rules().is_some_and(|rules| !rules.collect_at_start));
        assert_eq!((options.files, options.calls.callgrind_out_file), (Files::CallGraph, "b".into()));
    }

    #[test]
    fn the_last_option_counts() {
        let before = [
            "--tool=callgrind",
            "--cachegrind:cache-sim=no",
            "--branch-sim=yes",
            "--callgrind:cache-sim=yes",
        ];
        let options = of(&["p"], &before).expect("taken");
        assert!(options.calls.callgraph.on() && options.counting.cache_sim.on());
        assert!(options.counting.branch_sim.on() && options.calls.compress_strings.on());
        let options = of(&["--tool=cachegrind", "--branch-sim=no", "-v", "-q", "p"], &before).expect("taken");
        assert!(!options.calls.callgraph.on() && !options.counting.branch_sim.on());
        assert!(!options.counting.cache_sim.on() && options.log.quiet && !options.log.verbose);
        let options =
            of(&["--tool=none", "--command-line-only=yes", "--", "-p"], &["--bogus"]).expect("taken");
        assert_eq!((options.files, options.machine.command), (Files::None, vec!["-p".into()]));
        let words = ["--tool=none", "--allow-read=/a", "--allow-read=/b", "--seed=1", "--seed=2", "p"];
        let options = of(&words, &[]).expect("taken");
        assert_eq!((options.machine.allow_read.len(), options.machine.seed), (2, 2));
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_by_name() {
        for (words, message) in [
            (&["p"][..], "--tool=memcheck: not here; say --tool=cachegrind, callgrind or none"),
            (&["--tool=massif", "p"], "--tool=massif: not here"),
            (&["--tool=none"], "no program specified"),
            (&["--tool=none", "--cache-sim=no", "p"], "unknown option --cache-sim=no of --tool=none"),
            (&["--tool=cachegrind", "--bogus", "p"], "unknown option --bogus"),
            (&["--tool=cachegrind", "-d", "p"], "unknown option -d"),
            (&["--tool=cachegrind", "--branch-sim", "p"], "--branch-sim: write --branch-sim=VALUE"),
            (&["--tool=cachegrind", "--branch-sim=maybe", "p"], "'maybe' for '--branch-sim"),
            (&["--tool=cachegrind", "--xml=yes", "p"], "--xml=yes: not supported; only no is"),
            (&["--tool=callgrind", "--fn-skip=f", "p"], "--fn-skip=f: not supported; leave it out"),
            (&["--tool=callgrind", "--collect-bus=yes", "p"], "--collect-bus=yes: not supported; only no is"),
            (
                &["--tool=cachegrind", "--vex-guest-chase=no", "--count-model=valgrind", "p"],
                "--vex-guest-chase: --count-model=valgrind counts as Valgrind does without it",
            ),
            (&["--tool=cachegrind", "--version"], "version"),
            (&["--help"], "help"),
        ] {
            let error = of(words, &[]).expect_err("refused");
            assert!(error.contains(message) && !error.contains('\n'), "{words:?}: {error}");
        }
        assert!(of(&["--tool=cachegrind", "--vex-guest-chase=no", "p"], &[]).is_ok());
    }

    /// Every option that `cgemu run` is to be given is one of its.
    #[test]
    fn rules_name_options_that_there_are() {
        let all = args::definition();
        let run = all.find_subcommand("run").expect("a command");
        for (name, rule) in [CORE, SIMULATORS, CACHEGRIND, CALLGRIND].into_iter().flatten() {
            if let Rule::Run(to) = rule {
                assert!(run.get_arguments().any(|arg| arg.get_long() == Some(to)), "{name}");
            }
        }
    }

    #[test]
    fn the_documentation_names_every_option() {
        let text = include_str!("../../docs/valgrind.md");
        for (name, rule) in [CORE, SIMULATORS, CACHEGRIND, CALLGRIND].into_iter().flatten() {
            let value = match rule {
                Rule::Only([value, ..]) => format!("={value}"),
                _ => String::new(),
            };
            assert!(*name == "L2" || text.contains(&format!("`--{name}{value}`")), "{name}");
        }
    }

    #[test]
    fn the_name_of_the_command_decides() {
        let of = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(words(&of(&["/usr/bin/valgrind", "a"])), Some(&of(&["a"])[..]));
        assert_eq!(words(&of(&["cgemu", "valgrind", "a"])), Some(&of(&["a"])[..]));
        assert_eq!(words(&of(&["cgemu", "run", "valgrind"])), None);
        assert_eq!(words(&of(&["cgemu"])), None);
    }
}
