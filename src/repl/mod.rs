//! The `cgemu>` shell: a prompt over a [`Debugger`], or the same language read from a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use crate::debugger::Debugger;
use crate::profile::reason;
use crate::session::{Finished, Folded, TerminalObserver};

mod breakpoints;
mod builtins;
mod caches;
mod counters;
mod info;
mod inspect;
mod prompt;
mod reverse;
mod run_control;
mod show;
mod table;

pub use table::reference;

/// The profiles and the log of a session.
pub trait Output {
    /// Writes a profile, and gives back where.
    ///
    /// # Errors
    /// One line that says which file cannot be written, and why.
    fn write(&mut self, counts: &Folded, target: Target<'_>) -> Result<PathBuf, String>;
    /// Reports the end of the program in the log.
    fn report(&mut self, finished: &Finished);
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

/// What the shell is given.
pub struct Setup {
    /// Takes profiles and the report.
    pub output: Box<dyn Output>,
    /// The file with commands, if there is one.
    pub commands: Option<PathBuf>,
    /// No other programs are started and no files written but profiles.
    pub sandboxed: bool,
    /// The file with the commands of earlier sessions.
    pub history: Option<PathBuf>,
    /// What the guest has printed.
    pub printed: Arc<Printed>,
}

/// Follows what the guest prints, so that the prompt begins on a line of its own.
#[derive(Debug, Default)]
pub struct Printed {
    /// The last byte.
    last: AtomicU8,
    any: AtomicBool,
}

impl TerminalObserver for Printed {
    fn reading(&self, _stream: u8) {}

    fn writing(&self, _stream: u8, bytes: &[u8]) {
        if let Some(&byte) = bytes.last() {
            self.last.store(byte, Relaxed);
            self.any.store(true, Relaxed);
        }
    }
}

impl Printed {
    /// Whether the cursor is in the middle of a line; it is asked once.
    fn in_line(&self) -> bool {
        self.any.swap(false, Relaxed) && self.last.load(Relaxed) != b'\n'
    }
}

/// What a command gives back.
type Reply = Result<(), String>;

/// The exit status if a command of a script fails.
const FAILED: u8 = 1;

/// Aliases in aliases and files in files, at most.
const DEEPEST: usize = 16;

/// The shell.
pub struct Shell {
    debugger: Debugger,
    setup: Setup,
    log: Option<File>,
    aliases: BTreeMap<String, String>,
    /// The program was let run.
    started: bool,
    /// Its end was told.
    told: bool,
    /// The file and line that `list` shows next.
    listed: Option<(String, u32)>,
    /// The address that `x` shows next.
    examined: u64,
    dumps: u32,
    values: u32,
    depth: usize,
    quit: bool,
    context: u64,
}

impl Shell {
    /// A shell over a program that has been loaded.
    pub fn new(debugger: Debugger, setup: Setup) -> Shell {
        Shell {
            debugger,
            setup,
            log: None,
            aliases: BTreeMap::new(),
            started: false,
            told: false,
            listed: None,
            examined: 0,
            dumps: 0,
            values: 0,
            depth: 0,
            quit: false,
            context: 8,
        }
    }

    /// Reads commands until there are no more; the exit status.
    pub fn run(mut self) -> u8 {
        if let Some(path) = self.setup.commands.clone() {
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) => {
                    self.complain(&format!(
                        "{}: {}; name a file with commands",
                        path.display(),
                        reason(&error)
                    ));
                    return FAILED;
                }
            };
            return self.script(BufReader::new(file), &path.display().to_string());
        }
        if std::io::stdin().is_terminal() {
            return self.interactive();
        }
        self.script(std::io::stdin().lock(), "standard input")
    }

    /// Runs each line; stops at the first that fails.
    fn script(&mut self, mut lines: impl BufRead, name: &str) -> u8 {
        let mut number = 0u64;
        let mut line = Vec::new();
        while !self.quit {
            line.clear();
            number += 1;
            match lines.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    self.complain(&format!("{name}: {error}"));
                    return FAILED;
                }
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if let Err(why) = self.execute(&text) {
                self.complain(&format!("{name}:{number}: {why}"));
                return FAILED;
            }
        }
        0
    }

    /// Runs one line.
    fn execute(&mut self, line: &str) -> Reply {
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
                return Err(format!("alias `{word}` means itself"));
            }
            self.depth += 1;
            let result = self.execute(&format!("{meaning}{rest}"));
            self.depth -= 1;
            return result;
        }
        let command = table::find(word)?;
        let result = (command.run)(self, rest.trim());
        if result.is_ok() && command.resumes {
            self.after_move()?;
        }
        result
    }

    /// A line for the user, and for the log.
    fn say(&mut self, text: &str) {
        if self.setup.printed.in_line() {
            println!();
        }
        println!("{text}");
        if let Some(log) = &mut self.log {
            // A log that cannot be written is not worth the session.
            let _ = writeln!(log, "{text}");
        }
    }

    /// A line about something that went wrong.
    fn complain(&mut self, text: &str) {
        if self.setup.printed.in_line() {
            eprintln!();
        }
        let _ = std::io::stdout().flush();
        eprintln!("cgemu: {text}");
        if let Some(log) = &mut self.log {
            let _ = writeln!(log, "cgemu: {text}");
        }
    }
}
