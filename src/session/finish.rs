//! The end of a run: its counts, folded to a profile, and what is to be said about it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::abi::signal::signo::SIGKILL;
use crate::emu::memory::space::AddressSpace;
use crate::hooks::control::AccountId;
use crate::hooks::tally::Tally;
use crate::profile::Profile;
use crate::session::attribute::{self, Subject};
use crate::session::config::Config;
use crate::session::control::{Control, PAUSE};
use crate::session::guest::{Guest, StopConditions};
use crate::session::modules::Modules;
use crate::session::outcome::{Ending, Finished, Folded, Stop};
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
        let Session { config, mut machine, mut guest, .. } = self;
        // It ends: there is no pause any more.
        let _ = guest.control.interrupt.compare_exchange(PAUSE, 0, Relaxed, Relaxed);
        write_back(&mut guest, machine.memory());
        let code = config.recording.instructions.then(|| machine.code_in_no_file());
        let tally = Tally::of(AccountId::FIRST, machine.finish().iter());
        let ending = guest.ending.take().unwrap_or(Ending::Stop(Stop::Interrupted(SIGKILL)));
        let counts = fold(&config, &tally, &mut guest.modules, code).unwrap_or_else(|| Folded {
            // It is given up only for a pause.
            profile: Profile::new(&config.machine.command_line(), config.counting.events()),
            instructions: None,
        });
        conclude(ending, &mut guest, counts)
    }

    /// The results of a program that has ended, and could be taken back; `None` while it has not,
    /// or if [`Control::interrupt`] asks for a pause before they are put together.
    pub fn finished(&mut self) -> Option<Finished> {
        let ending = self.guest.ending.clone()?;
        write_back(&mut self.guest, self.machine.memory());
        let code = self.config.recording.instructions.then(|| self.machine.code_in_no_file());
        let tally = self.tally();
        let counts = fold(&self.config, &tally, &mut self.guest.modules, code)?;
        Some(conclude(ending, &mut self.guest, counts))
    }

    /// The counts so far; `None` if [`Control::interrupt`] asks for a pause before they are put
    /// together.
    pub fn profile(&mut self) -> Option<Folded> {
        let code = self.config.recording.instructions.then(|| self.machine.code_in_no_file());
        let tally = self.tally();
        fold(&self.config, &tally, &mut self.guest.modules, code)
    }

    /// The counts so far, by instruction.
    pub(super) fn tally(&mut self) -> Tally {
        let mut tally = Tally::default();
        self.machine.visit_consumers(|consumer| tally.add(consumer, consumer.current()));
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

fn conclude(ending: Ending, guest: &mut Guest, counts: Folded) -> Finished {
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
    Finished { stop, counts, notices }
}

fn fold(
    config: &Config,
    tally: &Tally,
    modules: &mut Modules,
    code: Option<BTreeMap<u64, Vec<u8>>>,
) -> Option<Folded> {
    let command = config.machine.command_line();
    let subject = Subject { command: &command, counting: &config.counting, code };
    attribute::fold_run(tally, modules, subject)
}
