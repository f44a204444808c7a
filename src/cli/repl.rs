//! `cgemu repl`, and `cgemu run -i`: the options of a run, and those of the shell.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context as _, Error, anyhow, bail};
use clap::Args;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::call_options;
use super::code::RootArgs;
use super::lookup::reason;
use super::options::{Files, RunArgs};
use super::output::{ProfileFiles, RunLog, call_file, named_file, outputs, transcript};
use super::outputs::Outputs;
use super::progress::{Progress, Shared};
use super::run::raise_open_files;
use super::{confinement, exit, signals};
use crate::annotate::Places;
use crate::debugger::Debugger;
use crate::profile::grouped;
use crate::repl::{Left, Output, Printed, Setup, Shell, Target, Working, Written};
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

    /// The source files that may be shown.
    #[command(flatten)]
    pub roots: RootArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Loads the program, and hands it to the shell; the exit status.
///
/// # Errors
/// A program that cannot be started, and files that cannot be used.
pub(super) fn repl(options: &ReplArgs) -> Result<u8, Error> {
    let places = Places { reach: options.roots.reach().map_err(Error::msg)?, ..Places::default() };
    shell(&options.run, options.commands.clone(), options.stdin.as_deref(), options.sandbox, places)
}

/// Runs `cgemu run -i`.
///
/// # Errors
/// Those of [`repl`].
pub(super) fn interactive(options: &RunArgs) -> Result<u8, Error> {
    shell(options, None, None, false, Places::default())
}

fn shell(
    options: &RunArgs,
    commands: Option<PathBuf>,
    stdin: Option<&Path>,
    sandboxed: bool,
    places: Places,
) -> Result<u8, Error> {
    call_options::check(&options.calls, options.counting.separate_threads.on())?;
    if options.control {
        bail!("--control: the prompt controls the run; use cgemu run without -i");
    }
    let mut machine = options.machine.config()?;
    let interrupt = Arc::default();
    let outputs = outputs(&machine.allow_write, &interrupt)?;
    let path = named_file("cachegrind-out-file", &options.profile.cachegrind_out_file, 1)?;
    let side = options.profile.dump_instr.on();
    let graph = call_file(options, &outputs)?;
    let files = ProfileFiles::prepare(&outputs, Some(&path), side, graph).map_err(Error::msg)?;
    files.check_side().map_err(Error::msg).context("--dump-instr=yes")?;
    machine.stdin = guest_stdin(stdin, commands.is_some())?;
    let config = Config {
        machine,
        counting: options.counting.config(&options.profile.cachegrind_out_file, &options.calls)?,
        // `annotate --asm` and `top instructions` need the costs of instructions in any case.
        recording: Recording {
            positions: options.calls.positions(side),
            instructions: true,
            journal: true,
            calls: options.log.strace.is_some(),
            silent_forks: options.log.child_silent_after_fork.on(),
        },
    };
    // The shell itself says on the terminal what the log of a run says, so that is only complete if
    // asked for.
    let complete = options.log.log_file.is_some() || options.log.log_fd.is_some() || options.log.verbose;
    let log = RunLog::open(&options.log, complete, &outputs)?;
    let printed = Arc::new(Printed::default());
    let shared = Shared::new();
    let observer = Observer { printed: Arc::clone(&printed), shared: shared.clone() };
    let control = Arc::new(Control {
        interrupt,
        resting: Arc::new(AtomicBool::new(true)),
        terminal: Some(Arc::new(observer)),
        log: Some(log.sink()),
        transcript: transcript(&options.log, &outputs)?,
        ..Control::default()
    });
    flag::register_usize(SIGINT, Arc::clone(&control.interrupt), PAUSE)
        .and_then(|_| signals::end_the_command(&control.interrupt, &control.resting))
        .map_err(|error| anyhow!(reason(&error)))
        .context("cannot watch for signals")?;
    raise_open_files();
    log.begin(&config);
    log.confined(&confinement::of_the_shell());
    let working = shared.map(|shared| {
        let (progress, steps) = (RefCell::default(), Arc::default());
        Box::new(Worker { shared, control: Arc::clone(&control), progress, steps }) as Box<dyn Working>
    });
    let debugger = Debugger::start(config, control)?;
    // A file that the program may exchange is not written where it leads.
    let history = history().filter(|path| !outputs.is_guest_writable(path));
    let files = SessionFiles { path, files, outputs: outputs.clone(), log };
    let setup = Setup { output: Box::new(files), commands, sandboxed, places, history, printed, working };
    let status = match Shell::new(debugger, setup).run() {
        Left::Status(status) => status,
        Left::Stopped(stop) => exit::status(&stop),
    };
    outputs.whole().map_err(Error::msg)?;
    Ok(status)
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

/// Both who follow what the guest prints.
#[derive(Debug)]
struct Observer {
    printed: Arc<Printed>,
    shared: Option<Arc<Shared>>,
}

impl TerminalObserver for Observer {
    fn reading(&self, stream: u8) {
        self.printed.reading(stream);
        self.shared.iter().for_each(|shared| shared.reading(stream));
    }

    fn writing(&self, stream: u8, bytes: &[u8]) {
        self.printed.writing(stream, bytes);
        self.shared.iter().for_each(|shared| shared.writing(stream, bytes));
    }

    fn take_typed(&self, most: usize) -> Option<Vec<u8>> {
        self.printed.take_typed(most)
    }

    fn typed(&self) -> usize {
        self.printed.typed()
    }
}

/// The progress line of a command of the shell.
struct Worker {
    shared: Arc<Shared>,
    control: Arc<Control>,
    progress: RefCell<Option<Progress>>,
    /// Steps done, and all.
    steps: Arc<[AtomicU64; 2]>,
}

impl Working for Worker {
    fn begin(&self, command: &str) {
        self.shared.clear();
        self.steps.iter().for_each(|steps| steps.store(0, Relaxed));
        let (command, control, steps) =
            (command.to_owned(), Arc::clone(&self.control), Arc::clone(&self.steps));
        let text = move |elapsed: Duration| {
            let [done, all] = [0, 1].map(|at: usize| steps.get(at).map_or(0, |steps| steps.load(Relaxed)));
            let steps =
                if all > 0 { format!(" {} of {},", grouped(done), grouped(all)) } else { String::new() };
            let now = grouped(control.instructions.load(Relaxed) / 1_000_000);
            format!("{command}:{steps} at {now} M instructions, {} s; Ctrl-C stops it", elapsed.as_secs())
        };
        *self.progress.borrow_mut() = Some(Progress::follow(Arc::clone(&self.shared), text));
    }

    fn reached(&self, done: u64, all: u64) {
        let [of_done, of_all] = &*self.steps;
        of_done.store(done, Relaxed);
        of_all.store(all, Relaxed);
    }

    fn stand_back(&self) {
        self.shared.clear();
    }

    fn end(&self) {
        *self.progress.borrow_mut() = None;
    }
}

/// The profiles and the log of a session.
struct SessionFiles {
    /// The profile of the whole run, as the user named it.
    path: PathBuf,
    files: ProfileFiles,
    outputs: Outputs,
    log: RunLog,
}

impl Output for SessionFiles {
    fn write(&mut self, counts: &Folded, pid: i32, target: Target<'_>) -> Result<Written, Error> {
        let files;
        let (files, path) = match target {
            Target::Whole => (&self.files, self.path.clone()),
            Target::Part(number) => {
                files = self.files.part(number).map_err(Error::msg)?;
                (&files, self.path.clone())
            }
            Target::Named(named) => {
                let path = absolute(named)?;
                let side = self.files.has_side();
                files = ProfileFiles::prepare(&self.outputs, Some(&path), side, None).map_err(Error::msg)?;
                (&files, path)
            }
        };
        files.write(counts).map_err(Error::msg)?;
        let graph = match target {
            Target::Whole => self.files.calls_path(),
            _ => self.files.write_calls_beside(files, counts, pid).map_err(Error::msg)?,
        };
        Ok(Written { profile: files.path().unwrap_or(path), graph })
    }

    fn open(&mut self, path: &Path) -> Result<Box<dyn Write>, Error> {
        let stream = self.outputs.stream(&absolute(path)?).map_err(|error| anyhow!(reason(&error)))?;
        Ok(Box::new(stream))
    }

    fn is_guest_writable(&self, path: &Path) -> bool {
        // The file itself may be a link that somebody put elsewhere before.
        let real = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        real.map_or(true, |path| self.outputs.is_guest_writable(&path))
    }

    fn report(&mut self, finished: &Finished) {
        self.log.report(finished, Files::Profile, self.files.path());
        for written in [self.files.write_calls(finished), self.files.write_children(finished)] {
            if let Err(why) = written {
                self.log.failed(&why);
            }
        }
    }
}

fn absolute(named: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(named)
        .map_err(|error| anyhow!(reason(&error)))
        .with_context(|| named.display().to_string())
}

/// The file with the commands of earlier sessions: the XDG base directory for state.
fn history() -> Option<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()) {
        Some(state) => PathBuf::from(state),
        None => PathBuf::from(std::env::var_os("HOME").filter(|path| !path.is_empty())?).join(".local/state"),
    };
    Some(state.join("cgemu/history"))
}
