//! The debugger's state, and what it does apart from running the program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Seek as _;
use std::sync::Arc;

use super::ahead::Ahead;
use super::error::Error;
use super::follow::Followed;
use super::history::{History, Point};
use super::places::Places;
use super::program::Program;
use super::stops::Stops;
use super::value::Value;
use crate::profile::Profile;
use crate::session::{Config, Control, Folded, Session, StartError, Whose};

/// A run under the debugger: with its program, its past, and the stops that are set.
pub struct Debugger {
    config: Config,
    pub(super) control: Arc<Control>,
    pub(super) session: Session,
    pub(super) program: Program,
    pub(super) history: History,
    pub(super) ahead: Ahead,
    pub(super) places: Places,
    pub(super) followed: Followed,
    /// The list of stops.
    pub stops: Stops,
    /// Variables of expressions, without their `$`.
    pub variables: BTreeMap<String, Value>,
    marks: BTreeMap<String, (Whose, Profile)>,
    /// Point at which the run has already stopped at breakpoints.
    pub(super) considered: Option<Point>,
    /// The selected frame; 0 is the innermost.
    pub(super) frame: usize,
}

impl Debugger {
    /// Loads a program; its first instruction is next.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(config: Config, control: Arc<Control>) -> Result<Debugger, StartError> {
        let session = Session::start(config.clone(), Arc::clone(&control))?;
        let mut debugger = Debugger {
            config,
            control,
            session,
            program: Program::default(),
            history: History::default(),
            ahead: Ahead::default(),
            places: Places::default(),
            followed: Followed::default(),
            stops: Stops::default(),
            variables: BTreeMap::new(),
            marks: BTreeMap::new(),
            considered: None,
            frame: 0,
        };
        debugger.begin().map_err(|error| StartError::Other(error.to_string()))?;
        Ok(debugger)
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.program.refresh(&mut self.session);
        self.considered = None;
        self.frame = 0;
        self.places.forget();
        self.set_follow(self.follow());
        self.history.keep(&mut self.session, false)
    }

    /// The program's arguments from now on: those of the next [`Debugger::restart`].
    pub fn set_arguments(&mut self, arguments: Vec<OsString>) {
        let argv = &mut self.config.machine.argv;
        argv.truncate(1);
        argv.extend(arguments);
    }

    /// The arguments of the next [`Debugger::restart`].
    pub fn arguments(&self) -> &[OsString] {
        self.config.machine.argv.get(1..).unwrap_or_default()
    }

    /// The program's standard input from now on, as [`Debugger::set_arguments`].
    pub fn set_input(&mut self, input: File) {
        self.config.machine.stdin = Some(Arc::new(input));
    }

    /// Starts the program again, with the stops and variables there are.
    ///
    /// # Errors
    /// When it cannot be started any more; the old run is still there then.
    pub fn restart(&mut self) -> Result<(), Error> {
        if let Some(mut input) = self.config.machine.stdin.as_deref() {
            // A pipe cannot be rewound: the new run reads on where the old one was.
            let _ = input.rewind();
        }
        let session = Session::start(self.config.clone(), Arc::clone(&self.control))?;
        self.history = History::default();
        self.ahead = Ahead::default();
        self.marks.clear();
        self.session = session;
        self.begin()
    }

    /// Looks at the program's files again, if they are not all known.
    pub fn refresh(&mut self) {
        self.program.refresh(&mut self.session);
    }

    /// Ends the debugging and gives the run back.
    pub fn into_session(self) -> Session {
        self.session
    }

    /// The run.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The wishes of the user and of signals.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// The program's files and names.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Makes a checkpoint with a name.
    ///
    /// # Errors
    /// The engine's.
    pub fn checkpoint(&mut self, name: &str) -> Result<(), Error> {
        self.history.name(&mut self.session, name, self.considered)
    }

    /// Goes back to a checkpoint with a name; false if there is none.
    ///
    /// # Errors
    /// The engine's.
    pub fn restore(&mut self, name: &str) -> Result<bool, Error> {
        let found = self.history.restore(&mut self.session, name)?;
        self.places.forget();
        self.program.refresh(&mut self.session);
        if found {
            // It goes on as it would have gone on then: not with the stop that it was at.
            self.considered = self.history.considered(name);
        }
        self.frame = 0;
        Ok(found)
    }

    /// The named checkpoints and their moments.
    pub fn checkpoints(&self) -> impl Iterator<Item = (&str, u64)> {
        self.history.names()
    }

    /// Changes what is counted from here on. Going back past this moment undoes the change.
    ///
    /// # Errors
    /// The engine's.
    pub fn turn(&mut self, change: impl FnOnce(&mut Session)) -> Result<(), Error> {
        change(&mut self.session);
        self.history.keep(&mut self.session, true)
    }

    /// Keeps the counts as they are now under a name.
    ///
    /// # Errors
    /// If the user interrupts it.
    pub fn mark(&mut self, name: &str, whose: Whose) -> Result<(), Error> {
        let profile = self.profile(whose)?.profile;
        let whose = self.session.meant(whose).map_or(Whose::All, Whose::Process);
        self.marks.insert(name.to_owned(), (whose, profile));
        Ok(())
    }

    /// The counts so far.
    ///
    /// # Errors
    /// If the user interrupts it.
    pub fn profile(&mut self, whose: Whose) -> Result<Folded, Error> {
        self.session.profile(whose, false).ok_or(Error::Interrupted)
    }

    /// The same with the call graph, if calls are followed.
    ///
    /// # Errors
    /// If the user interrupts it.
    pub fn profile_with_calls(&mut self, whose: Whose) -> Result<Folded, Error> {
        self.session.profile(whose, true).ok_or(Error::Interrupted)
    }

    /// The counts that were kept under a name, and whose they are.
    pub fn marked(&self, name: &str) -> Option<(Whose, &Profile)> {
        self.marks.get(name).map(|(whose, profile)| (*whose, profile))
    }

    /// The names under which counts are kept.
    pub fn mark_names(&self) -> impl Iterator<Item = &str> {
        self.marks.keys().map(|name| &**name)
    }
}
