//! The end of a run: its counts, folded to a profile, and what is to be said about it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::abi::signal::signo::SIGKILL;
use crate::emu::memory::space::AddressSpace;
use crate::hooks::control::AccountId;
use crate::hooks::plan::MappingId;
use crate::hooks::tally::Tally;
use crate::profile::Profile;
use crate::session::accounts::Counted;
use crate::session::attribute::{self, Subject};
use crate::session::config::Config;
use crate::session::control::{Control, PAUSE};
use crate::session::guest::{Guest, StopConditions};
use crate::session::modules::Modules;
use crate::session::outcome::{Child, Ending, Finished, Folded, Stop};
use crate::session::run::{Session, StartError};

/// Runs a program to its end and gives back what it cost.
///
/// # Errors
/// When it cannot be started; once it runs, whatever ends it still yields a profile.
pub fn run(config: Config, control: Arc<Control>) -> Result<Finished, StartError> {
    let mut session = Session::start(config, control)?;
    session.resume(StopConditions::default());
    Ok(session.finish())
}

impl Session {
    /// Ends the run and gives back what it cost.
    pub fn finish(self) -> Finished {
        let Session { config, mut machine, mut guest, accounts, .. } = self;
        // It ends: there is no pause any more.
        let _ = guest.control.interrupt.compare_exchange(PAUSE, 0, Relaxed, Relaxed);
        guest.end_transcript();
        write_back(&mut guest, machine.memory());
        let code = config.recording.instructions.then(|| machine.code_in_no_file());
        let consumers = machine.finish();
        let ending = guest.ending.take().unwrap_or(Ending::Stop(Stop::Interrupted(SIGKILL)));
        let counted = accounts.counted();
        let mut tally = |at: usize| match counted.get(at) {
            Some(counted) => Tally::of(counted.account, consumers.iter()),
            None => Tally::default(),
        };
        let folded = fold_all(&config, counted, &mut tally, &mut guest.modules, code);
        let (counts, children) = folded.unwrap_or_else(|| {
            // It is given up only for a pause.
            let profile = Profile::new(config.machine.command_line(), config.counting.events());
            (Folded { profile, instructions: None }, Vec::new())
        });
        conclude(ending, &mut guest, counts, children)
    }

    /// The results of a program that has ended, and could be taken back; `None` while it has not,
    /// or if [`Control::interrupt`] asks for a pause before they are put together.
    pub fn finished(&mut self) -> Option<Finished> {
        let ending = self.guest.ending.clone()?;
        self.guest.end_transcript();
        write_back(&mut self.guest, self.machine.memory());
        let code = self.config.recording.instructions.then(|| self.machine.code_in_no_file());
        let counted = self.accounts.counted();
        let mut tallies = vec![Tally::default(); counted.len()];
        self.machine.visit_consumers(|consumer| {
            for (tally, counted) in tallies.iter_mut().zip(counted) {
                tally.add(consumer, counted.account);
            }
        });
        let mut tally = |at: usize| tallies.get(at).cloned().unwrap_or_default();
        let (counts, children) = fold_all(&self.config, counted, &mut tally, &mut self.guest.modules, code)?;
        Some(conclude(ending, &mut self.guest, counts, children))
    }

    /// The counts so far; `None` if [`Control::interrupt`] asks for a pause before they are put
    /// together.
    pub fn profile(&mut self) -> Option<Folded> {
        let code = self.config.recording.instructions.then(|| self.machine.code_in_no_file());
        let tally = self.tally();
        let command = self.accounts.counted().first().map(|first| first.command.clone());
        fold(&self.config, &command.unwrap_or_default(), &tally, &mut self.guest.modules, code)
    }

    /// The counts of the first process so far, by instruction.
    pub(super) fn tally(&mut self) -> Tally {
        let mut tally = Tally::default();
        self.machine.visit_consumers(|consumer| tally.add(consumer, AccountId::FIRST));
        tally
    }

    /// The end of the program, and a line about it if there is something to explain; `None` while
    /// it goes on.
    pub fn ending(&mut self) -> Option<(Stop, Option<String>)> {
        let ending = self.guest.ending.clone()?;
        Some(attribute::explain(ending, &mut self.guest.modules))
    }
}

/// Writes what was stored in shared mappings to the files of the host.
fn write_back(guest: &mut Guest, mem: &mut AddressSpace) {
    if let Err(errno) = guest.kernel.fs.write_back(mem) {
        let error = io::Error::from_raw_os_error(errno.0.into());
        guest
            .kernel
            .notices
            .once(format!("what was stored in a shared mapping of a file is not all in it: {error}"));
    }
}

fn conclude(ending: Ending, guest: &mut Guest, counts: Folded, children: Vec<Child>) -> Finished {
    let (stop, line) = attribute::explain(ending, &mut guest.modules);
    let mut notices = guest.kernel.notices.lines();
    notices.extend(line);
    let dropped = guest.kernel.fs.dropped();
    if dropped > 0 {
        let files = if dropped == 1 { "1 file is".to_owned() } else { format!("{dropped} files are") };
        notices.push(format!(
            "{files} dropped that the program wrote, changed or removed; --allow-write=DIR keeps what is in DIR"
        ));
    }
    Finished { stop, counts, children, notices }
}

/// Folds the counts of the first process; `None` if that is given up.
fn fold(
    config: &Config,
    command: &[u8],
    tally: &Tally,
    modules: &mut Modules,
    code: Option<BTreeMap<u64, Vec<u8>>>,
) -> Option<Folded> {
    let wanted: Vec<(MappingId, u64)> = tally.iter().map(|(pc, mapping, _)| (mapping, pc)).collect();
    modules.read_debug_info(&wanted);
    attribute::fold_run(tally, modules, Subject { command, counting: &config.counting, code })
}

/// Folds the counts of all processes; `None` if that is given up. `tally` gives those of one, since
/// many would take much memory at once.
fn fold_all(
    config: &Config,
    counted: &[Counted],
    tally: &mut dyn FnMut(usize) -> Tally,
    modules: &mut Modules,
    code: Option<BTreeMap<u64, Vec<u8>>>,
) -> Option<(Folded, Vec<Child>)> {
    let command = counted.first().map(|first| first.command.clone()).unwrap_or_default();
    let mut whole = tally(0);
    let mut children: Vec<Child> = Vec::new();
    let mut wanted: BTreeSet<(MappingId, u64)> = BTreeSet::new();
    for (at, child) in counted.iter().enumerate().skip(1) {
        let own = tally(at);
        children.push(Child {
            pid: child.pid,
            ppid: child.ppid,
            command: child.command.clone(),
            instructions: own.instructions(),
            counts: None,
        });
        if config.counting.children.merged {
            whole.append(own);
        } else {
            wanted.extend(own.iter().map(|(pc, mapping, _)| (mapping, pc)));
        }
    }
    // The debug information of a file is read once for all processes.
    wanted.extend(whole.iter().map(|(pc, mapping, _)| (mapping, pc)));
    modules.read_debug_info(&wanted.into_iter().collect::<Vec<_>>());
    let counting = &config.counting;
    let mut fold = |tally: &Tally, command: &[u8]| {
        attribute::fold_run(tally, modules, Subject { command, counting, code: code.clone() })
    };
    let first = fold(&whole, &command)?;
    if !counting.children.merged {
        for (at, child) in children.iter_mut().enumerate() {
            child.counts = Some(fold(&tally(at + 1), &child.command)?);
        }
    }
    Some((first, children))
}
