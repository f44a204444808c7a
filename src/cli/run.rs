//! `cgemu run`: options to a [`Config`], a run, and its end to the profile, the log and the exit
//! status.

use std::sync::Arc;

use anyhow::{Context as _, Error, anyhow};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::call_options;
use super::control::Server;
use super::lookup::reason;
use super::options::{Files, RunArgs};
use super::output::{ProfileFiles, RunLog, call_file, named_file, outputs, transcript};
use super::progress::{Progress, Shared};
use super::{confinement, exit, signals};
use crate::session::{self, Child, Config, Control, DumpedPart, Recording, Session, TerminalObserver};

/// Runs the program and returns the exit status. All that can go wrong before the first instruction
/// comes before the banner.
///
/// # Errors
/// A run that cannot be started, and a profile that cannot be written.
pub(super) fn run(options: &RunArgs) -> Result<u8, Error> {
    call_options::check(&options.calls, options.counting.separate_threads.on())?;
    let instructions = options.profile.dump_instr.on();
    let side = instructions && options.files == Files::Profile;
    let config = Config {
        machine: options.machine.config()?,
        counting: options.counting.config(options.named(), &options.calls)?,
        recording: Recording {
            positions: options.calls.positions(instructions),
            instructions: side,
            journal: false,
            calls: options.log.strace.is_some(),
            silent_forks: options.log.child_silent_after_fork.on(),
        },
    };
    let interrupt = Arc::default();
    let outputs = outputs(&config.machine.allow_write, &interrupt)?;
    let path = match options.files {
        Files::Profile => Some(named_file("cachegrind-out-file", &options.profile.cachegrind_out_file, 1)?),
        Files::CallGraph | Files::None => None,
    };
    let graph = call_file(options, &outputs)?;
    let files = ProfileFiles::prepare(&outputs, path.as_deref(), side, graph).map_err(Error::msg)?;
    files.check_side().map_err(Error::msg).context("--dump-instr=yes")?;
    let log = RunLog::open(&options.log, true, &outputs)?;
    let shared = if options.log.quiet { None } else { Shared::new() };
    let terminal = shared.clone().map(|shared| shared as Arc<dyn TerminalObserver>);
    let (log_sink, calls) = (Some(log.sink()), transcript(&options.log, &outputs)?);
    let control =
        Arc::new(Control { interrupt, terminal, log: log_sink, transcript: calls, ..Control::default() });
    let mut server = match options.control {
        true => Some(Server::listen().map_err(Error::msg).context("--control")?),
        false => None,
    };
    raise_open_files();
    // Before there are threads.
    let confinement =
        confinement::of_a_run(&config.machine, &files.held(), server.as_ref().map(Server::directory));
    signals::end_the_run(&control.interrupt)
        .map_err(|error| anyhow!(reason(&error)))
        .context("cannot watch for signals")?;
    if let Some(server) = &mut server {
        server.start(&control.interrupt).map_err(|error| anyhow!(reason(&error))).context("--control")?;
    }

    log.begin(&config);
    log.confined(&confinement);
    let progress = shared.map(|shared| Progress::watch(shared, Arc::clone(&control)));
    let mut children = Ok(());
    // Written at once, so that the profiles of many processes are not held together.
    let mut write = |child: &mut Child| {
        let written = files.write_child(child);
        children = std::mem::replace(&mut children, Ok(())).and(written);
        (child.counts, child.threads) = (None, Vec::new());
    };
    let dump = |part: &DumpedPart| files.write_dump(part);
    let obey = |session: &mut Session| server.iter().for_each(|server| server.obey(session, &dump));
    let result = session::run(config, control, obey, &mut write);
    drop(server);
    drop(progress);
    let finished = result?;

    let written = files.write_all(&finished).and(children);
    log.report(&finished, options.files, files.path().filter(|_| written.is_ok()));
    written.and(outputs.whole()).map_err(Error::msg)?;
    Ok(exit::status(&finished.stop))
}

/// Raises the soft limit of open files to the hard one: the program may have as many open as the
/// emulated machine lets it.
pub(super) fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // What is refused leaves fewer descriptors, and a run that needs more says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
