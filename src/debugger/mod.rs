//! The debugger's logic, without a terminal: what commands need to stop, step, look and go back.
//!
//! [`Debugger`] is what a front end holds. Expressions: [`expr`] reads them, [`evaluate`] computes them over a
//! [`evaluate::Scope`], [`value`] is what comes out and [`mod@format`] how it is shown.

use std::collections::BTreeMap;
use std::io::Seek as _;
use std::sync::Arc;

use crate::profile::Profile;
use crate::session::{Config, Control, Session, StartError};

pub mod control;
mod detect;
pub mod evaluate;
pub mod expr;
pub mod format;
mod history;
mod lexer;
pub mod names;
mod parser;
mod problem;
pub mod program;
pub mod registers;
mod scope;
pub mod stack;
pub mod step;
pub mod stops;
pub mod suggest;
pub mod value;

use history::History;
use program::Program;
use stops::Stops;
use value::Value;

/// What a command gives back: something, or one line that says why not.
pub type Answer<T> = Result<T, String>;

/// A run with everything that is known and wanted of it.
pub struct Debugger {
    config: Config,
    control: Arc<Control>,
    session: Session,
    program: Program,
    history: History,
    /// The list of stops.
    pub stops: Stops,
    /// Variables of expressions, without their `$`.
    pub variables: BTreeMap<String, Value>,
    marks: BTreeMap<String, Profile>,
    /// The place and moment at which breakpoints have been dealt with.
    considered: Option<(u64, u64)>,
    /// The frame that is looked at; 0 is the innermost.
    frame: usize,
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
            stops: Stops::default(),
            variables: BTreeMap::new(),
            marks: BTreeMap::new(),
            considered: None,
            frame: 0,
        };
        debugger.begin().map_err(StartError::Other)?;
        Ok(debugger)
    }

    fn begin(&mut self) -> Answer<()> {
        self.program.refresh(&mut self.session);
        self.considered = None;
        self.frame = 0;
        self.history.keep(&mut self.session, false)
    }

    /// Starts the program again, with the stops and variables there are.
    ///
    /// # Errors
    /// When it cannot be started any more; the old run is still there then.
    pub fn restart(&mut self) -> Answer<()> {
        if let Some(mut input) = self.config.machine.stdin.as_deref() {
            // What has no beginning to go back to goes on where it was.
            let _ = input.rewind();
        }
        let session = Session::start(self.config.clone(), Arc::clone(&self.control))
            .map_err(|error| error.to_string())?;
        self.history = History::default();
        self.marks.clear();
        self.session = session;
        self.begin()
    }

    /// Ends the debugging and gives the run back.
    pub fn into_session(self) -> Session {
        self.session
    }

    /// The run.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The program's files and names.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Makes a checkpoint with a name.
    ///
    /// # Errors
    /// The engine's.
    pub fn checkpoint(&mut self, name: &str) -> Answer<()> {
        self.history.name(&mut self.session, name)
    }

    /// Goes back to a checkpoint with a name; false if there is none.
    ///
    /// # Errors
    /// The engine's.
    pub fn restore(&mut self, name: &str) -> Answer<bool> {
        let found = self.history.restore(&mut self.session, name)?;
        self.program.refresh(&mut self.session);
        self.considered = None;
        self.frame = 0;
        Ok(found)
    }

    /// The named checkpoints and their moments.
    pub fn checkpoints(&self) -> impl Iterator<Item = (&str, u64)> {
        self.history.names()
    }

    /// Changes what is counted from here on; there is no way back past this moment that keeps the change.
    ///
    /// # Errors
    /// The engine's.
    pub fn turn(&mut self, change: impl FnOnce(&mut Session)) -> Answer<()> {
        change(&mut self.session);
        self.history.keep(&mut self.session, true)
    }

    /// Keeps the counts as they are now under a name.
    pub fn mark(&mut self, name: &str) {
        let profile = self.session.profile().profile;
        self.marks.insert(name.to_owned(), profile);
    }

    /// The counts that were kept under a name.
    pub fn marked(&self, name: &str) -> Option<&Profile> {
        self.marks.get(name)
    }

    /// The names under which counts are kept.
    pub fn mark_names(&self) -> impl Iterator<Item = &str> {
        self.marks.keys().map(|name| &**name)
    }
}
