//! `cgemu run`: options to a [`Config`], a run, and what is left of it to the profile, the log and the exit
//! status.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::args::RunArgs;
use super::log::Log;
use super::lookup::{self, reason};
use super::outfile::OutFile;
use super::pattern::{Values, expand};
use super::progress::{Progress, Shared};
use super::{OWN_FAILURE, complain, environment, top};
use crate::profile::{SIDE_SUFFIX, grouped, summary_lines, write_cachegrind, write_instructions};
use crate::session::{
    self, Caches, Config, Control, Finished, Limits, LogSink, StartError, Stop, TerminalObserver,
};
use crate::sim::preset;

/// Exit status of a run that a limit ended, as with timeout(1).
const LIMIT_REACHED: u8 = 124;
/// Exit status where the program cannot be executed, as in the shell.
const NOT_EXECUTABLE: u8 = 126;
/// Exit status where there is no such program, as in the shell.
const NOT_FOUND: u8 = 127;

/// Runs the program and returns the exit status.
pub fn run(options: &RunArgs) -> u8 {
    match attempt(options) {
        Ok(status) => status,
        Err(error) => {
            complain(&error.to_string());
            exit_status(&error)
        }
    }
}

/// The exit status where a program could not be started.
pub(super) fn exit_status(error: &StartError) -> u8 {
    match error {
        StartError::NotFound(_) => NOT_FOUND,
        StartError::NotExecutable(_) => NOT_EXECUTABLE,
        StartError::Other(_) => OWN_FAILURE,
    }
}

/// All that can go wrong before the first instruction comes before the banner.
fn attempt(options: &RunArgs) -> Result<u8, StartError> {
    let pid = std::process::id();
    let out = named_file("cachegrind-out-file", &options.cachegrind_out_file, 1)?;
    let out = OutFile::prepare(&out).map_err(StartError::Other)?;
    let side = options.dump_instr.on().then(|| out.beside_it(SIDE_SUFFIX)).transpose();
    let side = side.map_err(|why| StartError::Other(format!("--dump-instr=yes: {why}")))?;
    let config = configuration(options)?;
    let log = Arc::new(Mutex::new(open_log(options, pid)?));
    let shared = if options.quiet { None } else { Shared::new() };
    let terminal = shared.clone().map(|shared| shared as Arc<dyn TerminalObserver>);
    let said = Arc::clone(&log) as Arc<dyn LogSink>;
    let control = Arc::new(Control { terminal, log: Some(said), ..Control::default() });
    obey_signals(&control)
        .map_err(|error| StartError::Other(format!("cannot watch for signals: {}", reason(&error))))?;

    let own = || log.lock().unwrap_or_else(PoisonError::into_inner);
    own().banner(&config.argv);
    if options.verbose {
        cache_lines(config.caches.as_ref()).iter().for_each(|line| own().line(line));
    }
    let progress = shared.map(|shared| Progress::watch(shared, Arc::clone(&control)));
    let result = session::run(config, control);
    drop(progress);
    let finished = result?;

    let mut written = out.write(|w| write_cachegrind(&finished.profile, w));
    if let (Some(side), Some(instructions)) = (side, &finished.instructions) {
        written = written.and(side.write(|w| write_instructions(instructions, w)));
    }
    report(&mut own(), &finished, options.listed());
    Ok(match written {
        Ok(()) => status(&finished.stop),
        Err(message) => complain(&message),
    })
}

/// What the options say, checked as far as that goes without the program.
pub(super) fn configuration(options: &RunArgs) -> Result<Config, StartError> {
    let env = environment::build(&options.env, |name| std::env::var_os(name));
    let path = env.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(""), |(_, value)| value);
    Ok(Config {
        program: lookup::find(options.program(), path)?,
        argv: options.command.clone(),
        caches: caches(options)?,
        branch_sim: options.branch_sim.on(),
        count_model: options.count_model,
        layout: options.layout,
        instr_at_start: options.instr_at_start.on(),
        producer: options.hooks,
        limits: Limits {
            instructions: options.max_instructions,
            memory: options.max_memory,
            time: options.timeout,
        },
        allow_write: options.allow_write.iter().map(directory).collect::<Result<_, _>>()?,
        seed: options.seed,
        instructions: options.dump_instr.on(),
        input: None,
        journal: false,
        env,
    })
}

/// The preset, with the caches that were given one by one in place of its own.
fn caches(options: &RunArgs) -> Result<Option<Caches>, StartError> {
    if !options.cache_sim.on() {
        return Ok(None);
    }
    let named = preset(&options.cache).ok_or_else(|| {
        StartError::Other(format!("--cache={}: no such preset; cgemu presets lists them", options.cache))
    })?;
    Ok(Some(Caches {
        i1: options.i1.unwrap_or(named.i1),
        d1: options.d1.unwrap_or(named.d1),
        ll: options.ll.unwrap_or(named.ll),
    }))
}

/// A directory of `--allow-write`, without links, so that the kernel compares like with like.
fn directory(name: &PathBuf) -> Result<PathBuf, StartError> {
    let fail = |why: &str| {
        StartError::Other(format!("--allow-write={}: {why}; name a directory that exists", name.display()))
    };
    let path = std::fs::canonicalize(name).map_err(|error| fail(&reason(&error)))?;
    if path.is_dir() { Ok(path) } else { Err(fail("is no directory")) }
}

/// The absolute path that a pattern names. The guest's own idea of a current directory has no part in it.
pub(super) fn named_file(option: &str, pattern: &OsStr, sequence: u32) -> Result<PathBuf, StartError> {
    let fail = |why: &str| StartError::Other(format!("--{option}={}: {why}", pattern.display()));
    let variable = |name: &OsStr| std::env::var_os(name);
    let values = Values { pid: std::process::id(), sequence, variable: &variable };
    let name = expand(pattern, &values).map_err(|why| fail(&why))?;
    std::path::absolute(name).map_err(|error| fail(&reason(&error)))
}

fn open_log(options: &RunArgs, pid: u32) -> Result<Log, StartError> {
    let log = match (&options.log_file, options.log_fd) {
        // The second file of this process, after the profile: what %n says.
        (Some(pattern), _) => Log::to_file(&named_file("log-file", pattern, 2)?, pid, options.quiet),
        (None, Some(number)) => Log::to_descriptor(number, pid, options.quiet),
        (None, None) => Ok(Log::to_stderr(pid, options.quiet)),
    };
    log.map_err(StartError::Other)
}

/// SIGINT and SIGTERM ask the run to end, so that the profile is written; a second one ends cgemu at once.
fn obey_signals(control: &Arc<Control>) -> io::Result<()> {
    let asked_before = Arc::new(AtomicBool::new(false));
    for (signal, number) in [(SIGINT, 2), (SIGTERM, 15)] {
        // In this order: the first signal finds the flag down and only then raises it.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked_before))?;
        flag::register(signal, Arc::clone(&asked_before))?;
        flag::register_usize(signal, Arc::clone(&control.interrupt), number)?;
    }
    Ok(())
}

/// The simulated caches as `valgrind -v` prints them; nothing if there are none.
fn cache_lines(caches: Option<&Caches>) -> Vec<String> {
    let Some(caches) = caches else { return Vec::new() };
    let mut lines = vec!["Cache configuration used:".to_owned()];
    for (name, cache) in [("I1", caches.i1), ("D1", caches.d1), ("LL", caches.ll)] {
        let ways = match cache.assoc() {
            1 => "direct-mapped".to_owned(),
            ways => format!("{ways}-way"),
        };
        lines.push(format!("  {name}: {} B, {ways}, {} B lines", grouped(cache.size()), cache.line()));
    }
    lines.push(String::new());
    lines
}

/// Notices, how the run ended, the summary, and the functions if wanted.
fn report(log: &mut Log, finished: &Finished, listed: usize) {
    for notice in &finished.notices {
        log.line(notice);
    }
    match &finished.stop {
        Stop::Exited(_) => {}
        Stop::Killed(signal) => {
            log.line(&format!("Process terminating with default action of signal {}", named_signal(*signal)));
        }
        Stop::Interrupted(signal) => {
            log.line(&format!(
                "Ended by signal {}; the profile is complete up to here",
                named_signal(*signal)
            ));
        }
        Stop::Limit(text) | Stop::Refused(text) => log.always(text),
    }
    log.line("");
    for line in summary_lines(&finished.profile) {
        log.line(&line);
    }
    if listed > 0 {
        log.line("");
        for line in top::lines(&finished.profile, listed) {
            // Asked for by name, so -q does not take it away.
            log.always(&line);
        }
    }
}

/// The exit status that tells how the run ended.
fn status(stop: &Stop) -> u8 {
    match stop {
        // What wait(2) keeps of it: the low eight bits.
        Stop::Exited(status) => status.to_le_bytes()[0],
        Stop::Killed(signal) | Stop::Interrupted(signal) => 128u8.wrapping_add(signal.to_le_bytes()[0]),
        Stop::Limit(_) => LIMIT_REACHED,
        Stop::Refused(_) => OWN_FAILURE,
    }
}

/// `11 (SIGSEGV)`, as Valgrind has it.
fn named_signal(number: i32) -> String {
    match signal_hook::low_level::signal_name(number) {
        Some(name) => format!("{number} ({name})"),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        for (stop, expected) in [
            (Stop::Exited(0), 0),
            (Stop::Exited(42), 42),
            (Stop::Exited(256 + 3), 3),
            (Stop::Exited(-1), 255),
            (Stop::Killed(11), 139),
            (Stop::Killed(64), 192),
            (Stop::Interrupted(2), 130),
            (Stop::Interrupted(15), 143),
            (Stop::Limit(String::new()), 124),
            (Stop::Refused(String::new()), 125),
        ] {
            assert_eq!(status(&stop), expected, "{stop:?}");
        }
    }

    #[test]
    fn caches_as_valgrind_shows_them() {
        let geometry = |text: &str| text.parse().expect("valid");
        let caches =
            Caches { i1: geometry("65536,16,64"), d1: geometry("4096,1,32"), ll: geometry("8388608,16,64") };
        assert_eq!(
            cache_lines(Some(&caches)),
            [
                "Cache configuration used:",
                "  I1: 65,536 B, 16-way, 64 B lines",
                "  D1: 4,096 B, direct-mapped, 32 B lines",
                "  LL: 8,388,608 B, 16-way, 64 B lines",
                "",
            ]
        );
        assert!(cache_lines(None).is_empty());
    }

    #[test]
    fn signal_names() {
        assert_eq!(named_signal(11), "11 (SIGSEGV)");
        assert_eq!(named_signal(15), "15 (SIGTERM)");
        assert_eq!(named_signal(64), "64");
    }

    #[test]
    fn writable_directories_must_be_there() {
        let dir = tempfile::tempdir().expect("dir");
        let real = dir.path().canonicalize().expect("real");
        std::os::unix::fs::symlink(&real, dir.path().join("link")).expect("symlink");
        std::fs::write(dir.path().join("file"), b"").expect("write");
        assert_eq!(directory(&dir.path().join("link")).expect("there"), real);
        for name in ["none", "file"] {
            let error = directory(&dir.path().join(name)).expect_err(name).to_string();
            assert!(error.contains("--allow-write="), "{error}");
        }
    }

    #[test]
    fn names_are_absolute() {
        let path = named_file("log-file", OsStr::new("a/%%.%n"), 2).expect("fine");
        assert!(path.is_absolute() && path.ends_with("a/%.2"), "{}", path.display());
        let error = named_file("log-file", OsStr::new("%x"), 1).expect_err("unknown").to_string();
        assert!(error.starts_with("--log-file=%x: "), "{error}");
    }
}
