//! Operations on a paused run: looking at it, taking it back to an earlier moment, and changing
//! what is counted.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::emu::unicorn::{EngineError, SavedMachine, TaskCpu};
use crate::guest::GuestCpu;
use crate::hooks::consumer::{Sighting, Target};
use crate::hooks::counts::Counts;
use crate::kernel::Kernel;
use crate::kernel::arena::TaskId;
use crate::kernel::random::Random;
use crate::kernel::streams::JOURNAL;
use crate::profile::Costs;
use crate::requests::Requests;
use crate::session::accounts::Accounts;
use crate::session::config::Config;
use crate::session::costs::costs;
use crate::session::guest::Turn;
use crate::session::kernel_stores::KernelStores;
use crate::session::outcome::{Ending, Pause, Whose};
use crate::session::run::Session;
use crate::sim::Hierarchy;
use crate::symbols::give_up::GiveUp;

/// A run as it was. It has to be given back to [`Session::forget`].
pub struct Saved {
    machine: SavedMachine,
    kernel: Kernel,
    random: Random,
    requests: Requests,
    cpus: BTreeMap<TaskId, TaskCpu>,
    accounts: Accounts,
    turn: Option<Turn>,
    ending: Option<Ending>,
    first_end: Option<Ending>,
    syscall_paused_at: Option<u64>,
    owed: Option<Pause>,
}

impl Saved {
    /// Bytes that call graphs take in it, roughly; all else is shared or small.
    pub fn call_bytes(&self) -> u64 {
        self.machine.call_bytes()
    }

    /// Instructions that had been executed.
    pub fn instructions(&self) -> u64 {
        self.machine.instructions()
    }
}

/// Reason why a run cannot go back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Irreversible {
    /// The guest may change files of the host.
    #[error("files under --allow-write do not go back, so the run cannot; start it without")]
    AllowWrite,
    /// A file has changed since the guest opened it.
    #[error("{0} has changed since the program opened it, so the run would not be the same again")]
    Changed(String),
    /// The host's answers at the standard streams were too many to be kept.
    #[error(
        "more than {} MiB were needed to remember what passed the program's standard streams, so the run goes \
         on but not back; what the program opens itself need not be remembered",
        JOURNAL >> 20
    )]
    Forgotten,
    /// Too many of the host's files were opened.
    #[error(
        "the program has opened too many files to watch them for changes, so the run goes on but not back"
    )]
    Unwatched,
}

impl Session {
    /// Instructions executed so far.
    pub fn instructions(&mut self) -> u64 {
        self.machine.cpu().instructions()
    }

    /// The run as it is now.
    ///
    /// # Errors
    /// When the engine has no memory.
    pub fn save(&mut self) -> Result<Saved, EngineError> {
        Ok(Saved {
            machine: self.machine.save()?,
            kernel: self.guest.kernel.clone(),
            random: self.guest.random.clone(),
            requests: self.guest.requests.clone(),
            cpus: self.cpus.clone(),
            accounts: self.accounts.clone(),
            turn: self.guest.turn,
            ending: self.guest.ending.clone(),
            first_end: self.guest.first_end.clone(),
            syscall_paused_at: self.guest.syscall_paused_at,
            owed: self.guest.owed,
        })
    }

    /// Checks that the run can go back to a moment before: that what it has had from the host would
    /// be the same again.
    ///
    /// # Errors
    /// The reason why it cannot.
    pub fn check_reversible(&self) -> Result<(), Irreversible> {
        if !self.config.machine.allow_write.is_empty() {
            return Err(Irreversible::AllowWrite);
        }
        if self.guest.kernel.streams.is_forgotten() {
            return Err(Irreversible::Forgotten);
        }
        let Some(print) = &self.guest.kernel.fs.fingerprint else { return Ok(()) };
        match print.changed() {
            Some(file) => Err(Irreversible::Changed(file)),
            None if print.is_forgotten() => Err(Irreversible::Unwatched),
            None => Ok(()),
        }
    }

    /// Makes the run what it was when `saved` was made of it. See [`Session::check_reversible`].
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), EngineError> {
        self.machine.restore(&saved.machine)?;
        self.guest.kernel = saved.kernel.clone();
        self.guest.random = saved.random.clone();
        self.guest.requests = saved.requests.clone();
        self.cpus.clone_from(&saved.cpus);
        self.accounts.clone_from(&saved.accounts);
        self.guest.turn = saved.turn;
        self.guest.ending = saved.ending.clone();
        self.guest.first_end = saved.first_end.clone();
        self.guest.syscall_paused_at = saved.syscall_paused_at;
        self.guest.owed = saved.owed;
        self.guest.paused = None;
        self.guest.exec = None;
        self.guest.lookout = KernelStores::default();
        self.looked_at = None;
        Ok(())
    }

    /// Gives up what `saved` holds.
    pub fn forget(&mut self, saved: Saved) {
        self.machine.forget(saved.machine);
    }

    /// The sum of everything counted so far.
    pub fn counts(&mut self, whose: Whose) -> Costs {
        let mut sum = Counts::default();
        self.tally(whose).iter().for_each(|insn| sum.add(&insn.counts));
        costs(&sum)
    }

    /// Forgets what was counted. Caches and predictors stay as they are.
    pub fn zero(&mut self, whose: Whose) {
        let accounts = self.accounts_of(whose);
        self.machine.recorder().zero(&accounts);
    }

    /// Switches counting of what runs from here on. Nothing that is not counted touches caches and
    /// predictors.
    pub fn set_counting(&mut self, counting: bool) {
        self.machine.set_counting(counting);
    }

    /// The caches as they are, if they are simulated.
    pub fn caches(&mut self) -> Option<Hierarchy> {
        let mut caches = None;
        self.machine
            .visit_consumers(|consumer| caches = caches.take().or_else(|| consumer.caches().cloned()));
        self.machine.recorder().current_caches(caches)
    }

    /// Looks out for these targets, and for no others, from here on. [`Session::restore`] ends it.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn look_out(&mut self, targets: &[Target]) -> Result<(), EngineError> {
        self.machine.look_out(targets)?;
        self.guest.lookout = KernelStores::watch(targets, self.machine.memory());
        Ok(())
    }

    /// The sightings since [`Session::look_out`], in order of moments, and the moment until which
    /// everything is known. A moment is the number of instructions executed until then, the one
    /// that was looked out for included.
    pub fn sightings(&mut self) -> (Vec<Sighting>, u64) {
        let (mut seen, known) = self.machine.sightings();
        // What the kernel has stored at this moment is seen after the next instruction.
        let complete = known >= self.instructions();
        let stores = self.guest.lookout.seen().iter();
        seen.extend(stores.filter(|sighting| complete || sighting.moment <= known));
        seen.sort_unstable();
        seen.dedup();
        (seen, known)
    }

    /// Makes the run pause before the instructions at these addresses, and at no others.
    pub fn set_breakpoints(&mut self, addresses: FxHashSet<u64>) {
        self.machine.set_breakpoints(addresses);
    }

    /// The registers of the running task.
    pub fn cpu(&mut self) -> impl GuestCpu + '_ {
        self.machine.cpu()
    }

    /// The wish of a front end that the reading of debug information be given up.
    pub fn give_up(&mut self) -> GiveUp {
        self.guest.modules.symboliser().give_up().clone()
    }

    /// The kernel, to look at.
    pub fn kernel(&self) -> &Kernel {
        &self.guest.kernel
    }

    /// The configuration that the run was started with.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
