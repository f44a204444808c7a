//! Results of a run: the profile with its side file, and the log. `run` and `repl` write both here.

use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Error, anyhow};

use super::call_file::CallFile;
use super::confinement::Confinement;
use super::log::{Lines, Log};
use super::lookup::reason;
use super::options::{Files, LogArgs, RunArgs};
use super::outputs::{GuestWritable, OutFile, Outputs};
use super::pattern::{Substitutes, expand};
use super::run_top;
use super::view::Names;
use crate::annotate::NameStyle;
use crate::console::one_line;
use crate::profile::{
    CallgrindPart, SIDE_SUFFIX, callgrind_totals, grouped, summary_lines, write_cachegrind,
    write_instructions,
};
use crate::session::{Caches, Child, Config, DumpedPart, Finished, Folded, LogSink, PID, Stop, Thread};

/// The file of a profile, and those of its instructions and of the call graph if they are wanted.
pub(super) struct ProfileFiles {
    profile: Option<OutFile>,
    side: Option<Result<OutFile, String>>,
    graph: Option<CallFile>,
}

impl ProfileFiles {
    /// Checks that a profile can be written to `path`, which is absolute, if there is to be one.
    ///
    /// # Errors
    /// Those of [`Outputs::file`]. [`ProfileFiles::check_side`] has those of the side file.
    pub(super) fn prepare(
        outputs: &Outputs,
        path: Option<&Path>,
        instructions: bool,
        graph: Option<CallFile>,
    ) -> Result<ProfileFiles, String> {
        let profile = path.map(|path| outputs.file(path)).transpose()?;
        let side = profile.as_ref().filter(|_| instructions).map(|profile| profile.beside_it(SIDE_SUFFIX));
        Ok(ProfileFiles { profile, side, graph })
    }

    /// The files of a numbered part of the profile, beside it.
    ///
    /// # Errors
    /// Those of [`OutFile::replacing_beside_it`].
    pub(super) fn part(&self, number: u32) -> Result<ProfileFiles, String> {
        self.beside(&format!(".{number}"))
    }

    /// Files beside these, with this at the end of their names, which the program may have put
    /// there.
    fn beside(&self, end: &str) -> Result<ProfileFiles, String> {
        let beside = |suffix: &str| {
            let profile = self.profile.as_ref();
            profile.map(|profile| profile.replacing_beside_it(&format!("{end}{suffix}")))
        };
        let side = beside(SIDE_SUFFIX).filter(|_| self.side.is_some());
        let graph = self.graph.as_ref().map(|graph| graph.beside(end)).transpose()?;
        Ok(ProfileFiles { profile: beside("").transpose()?, side, graph })
    }

    /// True if there is a side file.
    pub(super) fn has_side(&self) -> bool {
        self.side.is_some()
    }

    /// Path of the file to read first, if it is a regular one.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match (&self.profile, &self.graph) {
            (Some(profile), _) => profile.path(),
            (None, Some(graph)) => graph.path(),
            (None, None) => None,
        }
    }

    /// The descriptors of places that stay writable until the profiles are written.
    pub(super) fn held(&self) -> Vec<BorrowedFd<'_>> {
        let beside = self.side.iter().flatten().chain(&self.profile);
        let graph = self.graph.as_ref().and_then(CallFile::held);
        beside.filter_map(OutFile::held).chain(graph).collect()
    }

    /// Checks that the side file can be written, if it is wanted.
    ///
    /// # Errors
    /// Those of [`OutFile::beside_it`].
    pub(super) fn check_side(&self) -> Result<(), String> {
        match &self.side {
            Some(Err(why)) => Err(why.clone()),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// Writes the profiles of all processes: that of the first as it is named, and beside it those
    /// of the others with their process IDs appended, and those of threads with their numbers.
    ///
    /// # Errors
    /// The first file that cannot be written; the others are written all the same.
    pub(super) fn write_all(&self, finished: &Finished) -> Result<(), String> {
        let first = self.write_process(&finished.counts, &finished.threads, PID);
        let others = self.write_children(finished);
        first.and(others)
    }

    /// Writes the profiles of all processes but the first, and of all threads.
    ///
    /// # Errors
    /// The first file that cannot be written; the others are written all the same.
    pub(super) fn write_children(&self, finished: &Finished) -> Result<(), String> {
        let mut written = self.write_threads(PID, "", &finished.threads);
        for child in &finished.children {
            written = written.and(self.write_child(child));
        }
        written
    }

    /// Writes the profiles of a process that is not the first, and of its threads.
    ///
    /// # Errors
    /// The first file that cannot be written; the others are written all the same.
    pub(super) fn write_child(&self, child: &Child) -> Result<(), String> {
        let end = format!(".{}", child.pid);
        let written = self.write_threads(child.pid, &end, &child.threads);
        let Some(counts) = &child.counts else { return written };
        let files = self.beside(&end);
        written.and(files.and_then(|files| files.write_process(counts, &child.threads, child.pid)))
    }

    /// Writes the profiles of threads, with their numbers appended to `of` as Callgrind does it.
    fn write_threads(&self, pid: i32, of: &str, threads: &[Thread]) -> Result<(), String> {
        let mut written = Ok(());
        for Thread { number, counts } in threads {
            let part = CallgrindPart { pid, thread: Some(*number), number: 1, begins: true };
            let files = self.beside(&format!("{of}-{number:02}"));
            written = written.and(files.and_then(|files| files.write_part(counts, part)));
        }
        written
    }

    /// Writes the files of a process, of which the call graph may have its threads as parts.
    fn write_process(&self, counts: &Folded, threads: &[Thread], pid: i32) -> Result<(), String> {
        let written = self.write(counts);
        match &self.graph {
            Some(graph) => written.and(graph.write_process(counts, threads, pid)),
            None => written,
        }
    }

    /// Writes the call graph of the first process, if there is one.
    ///
    /// # Errors
    /// The first file that cannot be written; the others are written all the same.
    pub(super) fn write_calls(&self, finished: &Finished) -> Result<(), String> {
        let graph = self.graph.as_ref();
        graph.map_or(Ok(()), |graph| graph.write_process(&finished.counts, &finished.threads, PID))
    }

    /// Writes a call graph of a process, if there is one, beside the profile of `beside`. Returns
    /// its path if it is a regular file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_calls_beside(
        &self,
        beside: &ProfileFiles,
        counts: &Folded,
        pid: i32,
    ) -> Result<Option<PathBuf>, String> {
        match (&self.graph, &beside.profile, &counts.calls) {
            (Some(graph), Some(profile), Some(calls)) => graph.write_beside(profile, calls, pid),
            _ => Ok(None),
        }
    }

    /// Writes a part of a call graph that was dumped on the way, if it has a file of its own.
    /// Returns its path if it is a regular file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_dump(&self, dump: &DumpedPart) -> Result<Option<PathBuf>, String> {
        let Some(graph) = &self.graph else { return Ok(None) };
        match dump.pid {
            PID => graph.write_dump(dump),
            pid => graph.beside(&format!(".{pid}"))?.write_dump(dump),
        }
    }

    /// Path of the call graph of the run, if there is one and it is a regular file.
    pub(super) fn calls_path(&self) -> Option<PathBuf> {
        self.graph.as_ref().and_then(CallFile::path)
    }

    /// Writes the files of a thread.
    fn write_part(&self, counts: &Folded, part: CallgrindPart) -> Result<(), String> {
        let written = self.write(counts);
        match &self.graph {
            Some(graph) => written.and(graph.write_thread(counts, part)),
            None => written,
        }
    }

    /// Writes the profile, and the counts by instruction beside it.
    ///
    /// # Errors
    /// The first file that cannot be written; the other is written all the same.
    pub(super) fn write(&self, counts: &Folded) -> Result<(), String> {
        let Some(profile) = &self.profile else { return Ok(()) };
        let written = profile.write(|w| write_cachegrind(&counts.profile, w));
        let (Some(side), Some(instructions)) = (&self.side, &counts.instructions) else { return written };
        let side = side.as_ref().map_err(String::clone);
        written.and(side.and_then(|side| side.write(|w| write_instructions(instructions, w))))
    }
}

/// The outputs of a run whose program may change these directories. `interrupt` is that of the
/// run's [`Control`](crate::session::Control).
///
/// # Errors
/// A directory that is not there.
pub(super) fn outputs(allow_write: &[PathBuf], interrupt: &Arc<AtomicUsize>) -> Result<Outputs, Error> {
    let guest = GuestWritable::new(allow_write)
        .map_err(|error| anyhow!(reason(&error)))
        .context("the directories of --allow-write")?;
    Ok(Outputs::new(guest, Arc::clone(interrupt)))
}

/// The absolute path that a pattern of `--option` names. The guest's current directory has no part
/// in it.
///
/// # Errors
/// Those of [`expand`].
pub(super) fn named_file(option: &str, pattern: &OsStr, sequence: u32) -> Result<PathBuf, Error> {
    let variable = |name: &OsStr| std::env::var_os(name);
    let values = Substitutes { pid: std::process::id(), sequence, variable: &variable };
    expand(pattern, &values)
        .map_err(Error::msg)
        .and_then(|name| std::path::absolute(name).map_err(|error| anyhow!(reason(&error))))
        .with_context(|| format!("--{option}={}", pattern.display()))
}

/// The file of the call graph, if calls are followed.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn call_file(options: &RunArgs, outputs: &Outputs) -> Result<Option<CallFile>, Error> {
    if !options.calls.callgraph.on() {
        return Ok(None);
    }
    // The fourth file of this process, after the transcript: what %n says.
    let path = named_file("callgrind-out-file", &options.calls.callgrind_out_file, 4)?;
    CallFile::prepare(outputs, options, &path).map(Some)
}

/// The file of `--strace=FILE`; `None` if its lines are not wanted or go to the log.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn transcript(options: &LogArgs, outputs: &Outputs) -> Result<Option<Arc<dyn LogSink>>, Error> {
    let Some(pattern) = options.strace.as_ref().filter(|pattern| !pattern.is_empty()) else {
        return Ok(None);
    };
    // The third file of this process, after profile and log: what %n says.
    let file = Lines::to_file(&named_file("strace", pattern, 3)?, outputs).map_err(Error::msg)?;
    Ok(Some(Arc::new(Mutex::new(file))))
}

/// The log of a run: what begins it, and what is reported at its end.
pub(super) struct RunLog {
    log: Arc<Mutex<Log>>,
    /// Banner, notices, end and summary are wanted, and not only the ranking.
    complete: bool,
    verbose: bool,
    /// Functions of the ranking; 0 for none.
    listed: usize,
    /// The form of their names.
    names: Option<NameStyle>,
}

impl RunLog {
    /// Opens the log that the options name.
    ///
    /// # Errors
    /// A file or descriptor that cannot be written.
    pub(super) fn open(options: &LogArgs, complete: bool, outputs: &Outputs) -> Result<RunLog, Error> {
        let (pid, quiet) = (std::process::id(), options.quiet);
        let log = match (&options.log_file, options.log_fd) {
            // The second file of this process, after the profile: what %n says.
            (Some(pattern), _) => Log::to_file(&named_file("log-file", pattern, 2)?, outputs, pid, quiet),
            (None, Some(number)) => Log::to_descriptor(number, outputs, pid, quiet),
            (None, None) => Ok(Log::to_stderr(outputs, pid, quiet)),
        };
        let log = Arc::new(Mutex::new(log.map_err(Error::msg)?));
        let names = options.names.map(Names::style);
        Ok(RunLog { log, complete, verbose: options.verbose, listed: options.listed(), names })
    }

    /// The log for what the program says while it runs.
    pub(super) fn sink(&self) -> Arc<dyn LogSink> {
        Arc::clone(&self.log) as Arc<dyn LogSink>
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the log: what runs, and with -v the caches.
    pub(super) fn begin(&self, config: &Config) {
        if !self.complete {
            return;
        }
        let mut log = self.lock();
        log.banner(&config.machine.argv);
        if self.verbose {
            cache_lines(config.counting.caches.as_ref()).iter().for_each(|line| log.line(line));
        }
    }

    /// Says what of the host cgemu has given up: with -v what holds, in any case but -q what the
    /// host lacks.
    pub(super) fn confined(&self, confinement: &Confinement) {
        if !self.complete {
            return;
        }
        let mut log = self.lock();
        if self.verbose && !confinement.holds.is_empty() {
            log.line(&format!("Confined by {}", confinement.holds.join(" and ")));
        }
        confinement.lacks.iter().for_each(|line| log.line(line));
    }

    /// Reports a failure at the end.
    pub(super) fn failed(&self, why: &str) {
        self.lock().always(&one_line(why));
    }

    /// Reports notices, how the run ended, the summary, the file of the profile if it can be read,
    /// and the ranking if it is wanted.
    pub(super) fn report(&self, finished: &Finished, files: Files, first: Option<PathBuf>) {
        let mut log = self.lock();
        if self.complete {
            finished.notices.iter().for_each(|notice| log.line(&one_line(notice)));
            report_stop(&mut log, &finished.stop);
            log.line("");
            if files == Files::CallGraph {
                callgrind_totals(&finished.counts.profile).iter().for_each(|line| log.line(line));
            }
            if files != Files::None {
                summary_lines(&finished.counts.profile).iter().for_each(|line| log.line(line));
                report_children(&mut log, finished);
            }
            if let Some(name) = first.as_deref().map(typed) {
                let (what, option) = match files {
                    Files::CallGraph => ("Call graph", "--inclusive "),
                    Files::Profile | Files::None => ("Profile", ""),
                };
                log.line("");
                log.line(&format!("{what}: {name}; to read it: cgemu annotate {option}{name}"));
            }
        }
        if self.listed > 0 {
            log.line("");
            for line in run_top::lines(&finished.counts.profile, self.listed, self.names) {
                // Asked for by name, so -q does not take it away.
                log.always(&line);
            }
        }
    }
}

/// Processes that the log lists; a bomb has thousands, and its end would be lost among them.
const LISTED: usize = 100;

/// The processes that were counted beside the first, a line each.
fn report_children(log: &mut Log, finished: &Finished) {
    let heard: Vec<&Child> = finished.children.iter().filter(|child| !child.silent).collect();
    if heard.is_empty() {
        return;
    }
    let apart = finished.children.iter().any(|child| child.apart);
    log.line("");
    log.line(if apart {
        "Other processes, each with its own profile:"
    } else {
        "Other processes, counted above:"
    });
    for Child { pid, ppid, command, instructions, .. } in heard.iter().take(LISTED) {
        let command = one_line(&String::from_utf8_lossy(command)).into_owned();
        log.line(&format!("  {pid} (of {ppid}): {} instructions: {command}", grouped(*instructions)));
    }
    if heard.len() > LISTED {
        log.line(&format!("  and {} more", grouped((heard.len() - LISTED) as u64)));
    }
}

/// A path as it is typed after `cgemu annotate`: from the working directory if it is below, quoted
/// if a shell would not take it as it stands.
fn typed(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    let name = short.as_deref().unwrap_or(path).display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._+%@:,=-".contains(c);
    match name {
        name if name.starts_with('-') => typed_as_is(&format!("./{name}")),
        name if name.chars().all(plain) => name,
        name => typed_as_is(&name),
    }
}

fn typed_as_is(name: &str) -> String {
    format!("'{}'", name.replace('\'', "'\\''"))
}

fn report_stop(log: &mut Log, stop: &Stop) {
    match stop {
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
    fn paths_can_be_pasted() {
        let here = std::env::current_dir().expect("a directory");
        for (name, pasted) in [("out.1", "out.1"), ("a b/it's", "'a b/it'\\''s'"), ("-x", "'./-x'")] {
            assert_eq!(typed(&here.join(name)), pasted);
        }
        assert_eq!(typed(Path::new("/nowhere/x")), "/nowhere/x");
    }

    #[test]
    fn signal_names() {
        assert_eq!(named_signal(11), "11 (SIGSEGV)");
        assert_eq!(named_signal(15), "15 (SIGTERM)");
        assert_eq!(named_signal(64), "64");
    }

    #[test]
    fn names_are_absolute() {
        let path = named_file("log-file", OsStr::new("a/%%.%n"), 2).expect("fine");
        assert!(path.is_absolute() && path.ends_with("a/%.2"), "{}", path.display());
        let error = named_file("log-file", OsStr::new("%x"), 1).expect_err("unknown");
        let error = format!("{error:#}");
        assert!(error.starts_with("--log-file=%x: "), "{error}");
    }
}
