//! The shell's state, and how a line becomes a command.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::error::Error;
use super::sources::Texts;
use super::typed_ahead::TypedAhead;
use crate::annotate::{Places, Syntax};
use crate::console::{self, Console, one_line};
use crate::debugger::suggest::nearest;
use crate::debugger::{self, Debugger};
use crate::session::{Finished, Folded, Stop, TerminalObserver};

/// The profiles and the log of a session.
pub trait Output {
    /// Writes the profile of a process, and with it the call graph if there is one, and gives back
    /// where. The call graph of the whole run is written by [`Output::report`].
    ///
    /// # Errors
    /// One line that says which file cannot be written, and why.
    fn write(&mut self, counts: &Folded, pid: i32, target: Target<'_>) -> anyhow::Result<Written>;
    /// Opens a file for text, empty.
    ///
    /// # Errors
    /// The reason why it cannot be written.
    fn open(&mut self, path: &Path) -> anyhow::Result<Box<dyn Write>>;
    /// True if the program may change the directory of a file, or if that cannot be told.
    fn is_guest_writable(&self, path: &Path) -> bool;
    /// Reports the end of the program in the log.
    fn report(&mut self, finished: &Finished);
}

/// Files that were written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The profile.
    pub profile: PathBuf,
    /// The call graph, if there is one and it is a regular file.
    pub graph: Option<PathBuf>,
}

/// Files that a profile is written to.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// The file of the run.
    Whole,
    /// A file beside it, with a number.
    Part(u32),
    /// A file that was named.
    Named(&'a Path),
}

/// The outside of a shell.
pub struct Setup {
    /// Takes profiles and the report.
    pub output: Box<dyn Output>,
    /// The file with commands, if there is one.
    pub commands: Option<PathBuf>,
    /// Start no other programs, and write no files but profiles.
    pub sandboxed: bool,
    /// The places of source files.
    pub(crate) places: Places,
    /// The file with the commands of earlier sessions.
    pub history: Option<PathBuf>,
    /// Follows what the guest prints.
    pub printed: Arc<Printed>,
    /// Tells on the terminal, if there is one, that a command takes its time.
    pub working: Option<Box<dyn Working>>,
}

/// A sign on the terminal that a command takes its time.
pub trait Working {
    /// The command begins.
    fn begin(&self, command: &str);
    /// It has come so far: `done` of `all` stops or steps.
    fn reached(&self, done: u64, all: u64);
    /// Something is about to be printed.
    fn stand_back(&self);
    /// The command has ended.
    fn end(&self);
}

/// Follows what the guest prints, so that the prompt begins on a line of its own, and has for it
/// what was typed too early.
#[derive(Debug, Default)]
pub struct Printed {
    /// The last byte.
    last: AtomicU8,
    any: AtomicBool,
    /// Lines that the editor has read, and that the program may read in its place.
    pub(super) typed: TypedAhead,
}

impl TerminalObserver for Printed {
    fn reading(&self, _stream: u8) {}

    fn writing(&self, _stream: u8, bytes: &[u8]) {
        if let Some(&byte) = bytes.last() {
            self.last.store(byte, Relaxed);
            self.any.store(true, Relaxed);
        }
    }

    fn take_typed(&self, most: usize) -> Option<Vec<u8>> {
        self.typed.take_bytes(most)
    }

    fn typed(&self) -> usize {
        self.typed.bytes()
    }
}

impl Printed {
    /// True if the cursor is in the middle of a line; only the first time after output.
    pub(super) fn in_line(&self) -> bool {
        self.any.swap(false, Relaxed) && self.last.load(Relaxed) != b'\n'
    }
}

/// An expression that is shown at every stop.
#[derive(Clone, Debug)]
pub(super) struct Display {
    /// Its number, by which commands name it.
    pub(super) number: u32,
    /// The expression, with its format before it.
    pub(super) text: String,
}

/// The end of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// With this exit status.
    Status(u8),
    /// At the end of a script whose program did not come to an end of its own.
    Stopped(Stop),
}

/// Time that a standard output which takes nothing has to take what is said of an interrupted
/// command.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// Result of a command.
pub(super) type Reply = Result<(), Error>;

/// Deepest nesting of aliases in aliases and files in files.
pub(super) const DEEPEST: usize = 16;

/// Completion of the words after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing that could be completed.
    Nothing,
    /// Functions and source files.
    Location,
    /// Symbols, registers, counters.
    Expression,
    /// Names of files.
    File,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A command.
    Command,
    /// A named checkpoint.
    Checkpoint,
}

/// A command.
pub(super) struct Command {
    /// Its name.
    pub(super) name: &'static str,
    /// Shorter names.
    pub(super) short: &'static [&'static str],
    /// Its arguments.
    pub(super) usage: &'static str,
    /// Its effect.
    pub(super) help: &'static str,
    /// A command line that works.
    pub(super) example: &'static str,
    /// The words that Tab completes.
    pub(super) takes: Takes,
    /// The program may have moved afterwards.
    pub(super) resumes: bool,
    /// Carries it out with what follows its name.
    pub(super) run: fn(&mut Shell, &str) -> Reply,
}

/// The commands, in groups with titles.
#[derive(Clone, Copy, Default)]
pub(super) struct Commands(pub(super) &'static [(&'static str, &'static [Command])]);

impl Commands {
    /// All commands, in the order of the table.
    pub(super) fn all(self) -> impl Iterator<Item = &'static Command> {
        self.0.iter().flat_map(|(_, commands)| commands.iter())
    }

    /// The command that a word means: its name, a short name, or the beginning of one name only.
    ///
    /// # Errors
    /// A line with what it could mean.
    pub(super) fn find(self, word: &str) -> Result<&'static Command, Error> {
        if let Some(exact) = self.all().find(|command| command.name == word || command.short.contains(&word))
        {
            return Ok(exact);
        }
        let begun: Vec<&Command> =
            self.all().filter(|command| !word.is_empty() && command.name.starts_with(word)).collect();
        match begun.as_slice() {
            [only] => Ok(only),
            [] => Err(Error::Unknown {
                kind: "command",
                name: word.to_owned(),
                nearest: nearest(word, self.all().map(|command| command.name)),
                hint: "`help` lists them".to_owned(),
            }),
            several => {
                let names = several.iter().map(|command| command.name).collect();
                Err(Error::Ambiguous { word: word.to_owned(), names })
            }
        }
    }
}

/// The shell.
pub struct Shell {
    pub(super) debugger: Debugger,
    pub(super) setup: Setup,
    pub(super) commands: Commands,
    /// A copy of what the shell prints.
    pub(super) log: Option<Box<dyn Write>>,
    pub(super) aliases: BTreeMap<String, String>,
    /// The program was let run.
    pub(super) started: bool,
    /// The next run has other arguments than the one that is there.
    pub(super) other_arguments: bool,
    /// Its end was told.
    pub(super) told: bool,
    /// Ids of the thread and the process of which it was said where they are.
    pub(super) task: (i32, i32),
    /// Names that the user has given to threads, by their ids.
    pub(super) thread_names: BTreeMap<i32, String>,
    /// The file that `list` has shown last, its first line and the one behind its last.
    pub(super) listed: Option<(String, u32, u32)>,
    /// The text of source files.
    pub(super) sources: Texts,
    /// Expressions that are shown at every stop.
    pub(super) displays: Vec<Display>,
    /// The syntax of instructions.
    pub(super) flavor: Syntax,
    /// The address that `x` shows next.
    pub(super) examined: u64,
    /// Numbered parts of the profile that were written.
    pub(super) dumps: u32,
    /// Values that `print` has numbered.
    pub(super) values: u32,
    /// Nesting of aliases and files.
    pub(super) depth: usize,
    pub(super) quit: bool,
    /// The last command was interrupted.
    pub(super) interrupted: bool,
    /// The status that `quit` named.
    pub(super) status: Option<u8>,
    /// Lines shown around those with counts.
    pub(super) context: u64,
}

impl Shell {
    /// A shell with these commands over a program that has been loaded.
    pub(super) fn with_commands(debugger: Debugger, setup: Setup, commands: Commands) -> Shell {
        let sources = Texts::new(&setup.places);
        Shell {
            debugger,
            setup,
            commands,
            log: None,
            aliases: BTreeMap::new(),
            started: false,
            other_arguments: false,
            told: false,
            task: (1000, 1000),
            thread_names: BTreeMap::new(),
            listed: None,
            sources,
            displays: Vec::new(),
            flavor: Syntax::default(),
            examined: 0,
            dumps: 0,
            values: 0,
            depth: 0,
            quit: false,
            interrupted: false,
            status: None,
            context: 8,
        }
    }

    /// Runs one line.
    pub(super) fn execute(&mut self, line: &str) -> Reply {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if let Some(command) = line.strip_prefix('!') {
            return self.host_command(command);
        }
        let split = line.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).unwrap_or(line.len());
        let (word, rest) = line.split_at(split);
        if let Some(meaning) = self.aliases.get(word).cloned() {
            if self.depth >= DEEPEST {
                return Err(Error::AliasLoop(word.to_owned()));
            }
            return self.within(&format!("{meaning}{rest}"));
        }
        let command = self.commands.find(word)?;
        // A wish from before is none about this command.
        self.debugger.take_interrupt();
        self.interrupted = false;
        if let Some(working) = self.setup.working.as_ref().filter(|_| self.depth == 0) {
            working.begin(command.name);
        }
        let outermost = self.depth == 0;
        if outermost {
            // What was interrupted while it read symbols is made up for.
            self.debugger.refresh();
        }
        let mut result = (command.run)(self, rest.trim());
        if result.is_err() && self.debugger.is_interrupted() {
            // What is not known may only not have been read.
            result = Err(debugger::Error::Interrupted.into());
        }
        self.heed_signal();
        if let Some(working) = self.setup.working.as_ref().filter(|_| self.depth == 0) {
            working.end();
        }
        if self.interrupted && self.debugger.take_interrupt() {
            self.say("interrupted");
        }
        self.interrupted |= matches!(result, Err(Error::Debugger(debugger::Error::Interrupted)));
        if result.is_ok() && command.resumes {
            self.after_move()?;
        }
        result
    }

    /// Runs a line that is a part of another one.
    pub(super) fn within(&mut self, line: &str) -> Reply {
        self.depth += 1;
        let result = self.execute(line);
        self.depth -= 1;
        result
    }

    /// Text for the user, and for the log. Once the user has interrupted the command, nothing more
    /// of it is printed.
    pub(super) fn say(&mut self, text: &str) {
        if self.debugger.is_interrupted() {
            self.interrupted = true;
            return;
        }
        self.begin_line();
        // Nobody is left to tell if standard output is closed, or if it was already interrupted
        // because nobody reads it.
        let (interrupted, since) = (self.interrupted, Instant::now());
        let given_up = || self.debugger.is_interrupted() || (interrupted && since.elapsed() > LAST_WORDS);
        let _ = writeln!(console::patient_output(given_up), "{text}");
        self.note(text);
    }

    /// A line about something that went wrong.
    pub(super) fn complain(&mut self, text: &str) {
        self.stand_back();
        if self.setup.printed.in_line() {
            let _ = writeln!(console::errors());
        }
        let text = format!("cgemu: {}", one_line(text));
        let _ = writeln!(console::errors(), "{text}");
        self.note(&text);
    }

    /// Ends the line that the guest has begun.
    pub(super) fn begin_line(&mut self) {
        self.stand_back();
        if self.setup.printed.in_line() {
            let _ = writeln!(console::patient_output(|| self.debugger.is_interrupted()));
        }
    }

    fn stand_back(&self) {
        if let Some(working) = &self.setup.working {
            working.stand_back();
        }
    }

    /// A line for the log alone.
    pub(super) fn note(&mut self, text: &str) {
        if let Some(log) = &mut self.log {
            // A log that cannot be written is not worth the session.
            let _ = writeln!(Console::new(log), "{text}");
        }
    }
}
