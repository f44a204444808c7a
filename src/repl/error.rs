//! Errors of commands. Each is one line that names the nearest valid thing.

use std::process::ExitStatus;

use crate::debugger;
use crate::debugger::expr::ExprError;
use crate::profile::Event;

/// A command that was not carried out.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// Words that the command does not take; the text says which it does.
    #[error("{0}")]
    Usage(&'static str),
    /// An argument that is wrong in itself, and the usage of the command.
    #[error("{0}; {1}")]
    WithUsage(Box<Error>, &'static str),
    /// Words after a command that takes none.
    #[error("nothing is to follow, not `{0}`")]
    Trailing(String),
    /// A word that is not one of a list.
    #[error("{question} what? {}{}", known.join(", "), meant(nearest))]
    Choice {
        /// The verb that needs an object.
        question: &'static str,
        /// The list.
        known: &'static [&'static str],
        /// The word of the list that is most like it.
        nearest: Option<String>,
    },
    /// The beginning of several commands.
    #[error("`{word}` could be {}", names.join(", "))]
    Ambiguous {
        /// The word.
        word: String,
        /// The commands.
        names: Vec<&'static str>,
    },
    /// A name that nothing has.
    #[error("no {kind} `{name}`; {}", match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => hint.clone(),
    })]
    Unknown {
        /// Kind of thing that was named.
        kind: &'static str,
        /// The name.
        name: String,
        /// The known name that is most like it.
        nearest: Option<String>,
        /// Advice where no name is like it.
        hint: String,
    },
    /// A name that no event has.
    #[error("no event `{name}`{}; these are: {}", meant(nearest), Event::ALL.map(|event| event.name()).join(", "))]
    Event {
        /// The name.
        name: String,
        /// The event that is most like it.
        nearest: Option<String>,
    },
    /// An event that is not simulated in this run.
    #[error("{} is not counted in this run; start it with {}", .0.name(), simulated_with(*.0))]
    NotCounted(Event),
    /// An event that cannot be caught.
    #[error("{name} is no miss; these are: {}", misses.join(", "))]
    NoMiss {
        /// The event as it was typed.
        name: String,
        /// Events that can be caught.
        misses: Vec<&'static str>,
    },
    /// A name of no function or file with counts.
    #[error("nothing was counted in a function or file `{name}`{}", meant(nearest))]
    NothingCounted {
        /// The name.
        name: String,
        /// The function that is most like it.
        nearest: Option<String>,
    },
    /// A number of no process that is counted.
    #[error("no counts of process {name}; these are counted: {}", list(counted))]
    NoCounts {
        /// The number as it was typed.
        name: String,
        /// The ids of those that are.
        counted: Vec<i32>,
    },
    /// A function that was inlined everywhere, and whose copies did not run.
    #[error("nothing was counted in the copies of `{0}`, which was inlined everywhere")]
    InlinedNotRun(String),
    /// A function that has no code of its own.
    #[error("`{0}` was inlined everywhere: name the function that it is in (`annotate {0}` shows them)")]
    Inlined(String),
    /// A number that no display has.
    #[error("no display {0}; `info display` lists them")]
    NoDisplay(u32),
    /// An address in no function.
    #[error("no function is known at {0:#x}; `disas *{0:#x}` shows the instructions there")]
    NoFunctionAt(u64),
    /// An argument of `run` that asks for more than a program's input.
    #[error(
        "`{0}`: the arguments of `run` are words and `< FILE`; what the program prints is not redirected"
    )]
    Redirection(String),
    /// A quote that is not closed.
    #[error("`{0}`: a quote is not closed")]
    OpenQuote(String),
    /// A range of lines that is empty.
    #[error("no lines {range}; lines are numbered from 1: `{file}:10-20`")]
    EmptyRange {
        /// The file.
        file: String,
        /// The range as it was typed.
        range: String,
    },
    /// A word that is neither cache nor view of one.
    #[error("`{word}` is no cache{}; `cache [I1|D1|LL] [symbols|sets]`", meant(nearest))]
    NoCache {
        /// The word.
        word: String,
        /// The valid word that is most like it.
        nearest: Option<String>,
    },
    /// A text that is no number.
    #[error("`{0}` is no number; write 12, 0x20, 1_000, 10k, 5M or 2G")]
    NoNumber(String),
    /// A text that is no number of a stop.
    #[error("`{0}` is no number of a stop")]
    NoStopNumber(String),
    /// A number that no stop has.
    #[error("no stop {0}; `info breaks` lists them")]
    NoStop(u32),
    /// A number that no frame has.
    #[error("no frame {0}; `where` lists them")]
    NoFrame(usize),
    /// A number that no thread has.
    #[error("no thread {0}; `info threads` lists them")]
    NoThread(String),
    /// A number that no process has, or one without threads.
    #[error("no process {0} that has not ended; `info processes` lists them")]
    NoProcess(String),
    /// A command that would let the program run where only looking is meant.
    #[error("`{0}` lets the program run; `thread apply` takes commands that look at it")]
    NotLooking(&'static str),
    /// A pattern that is none.
    #[error("`{0}` is no regular expression")]
    NoPattern(String),
    /// An expression that cannot be read or computed.
    #[error("`{text}`: {error}")]
    Expression {
        /// The expression.
        text: String,
        /// The error.
        error: ExprError,
    },
    /// A value that is no address.
    #[error("`{text}` is {noun}, not an address")]
    NoAddress {
        /// The expression.
        text: String,
        /// The kind of value.
        noun: &'static str,
    },
    /// A count after `/` that is too large.
    #[error("/{0}: too large a number")]
    LargeCount(String),
    /// A letter after `/` that is no format.
    #[error("/{letters}: no format `{letter}`; x d u o t a c f s i, sizes b h w g")]
    NoFormat {
        /// All letters.
        letters: String,
        /// The one that is no format.
        letter: char,
    },
    /// Arguments of `regs`.
    #[error("`{0}`: write `regs` or `regs -a`")]
    Regs(String),
    /// An address without an instruction.
    #[error("no instruction at {0:#x}")]
    NoInstruction(u64),
    /// An address without memory, where memory was to be shown.
    #[error("no memory at {0:#x}")]
    NoMemory(u64),
    /// An address without memory, where it was to be watched.
    #[error("{0:#x} is not mapped")]
    NotMapped(u64),
    /// A location without line numbers.
    #[error("no source is known for {0}")]
    NoSource(String),
    /// A source file that cannot be read.
    #[error("{file} {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// The reason why it is not shown.
        why: &'static str,
    },
    /// Lines past the end of a source file.
    #[error("{file} has only {lines} lines")]
    PastEnd {
        /// The file.
        file: String,
        /// The number of its lines.
        lines: usize,
    },
    /// A file that cannot be opened.
    #[error("{path}: {reason}; {hint}")]
    File {
        /// The file.
        path: String,
        /// Reason of the system.
        reason: String,
        /// Advice.
        hint: &'static str,
    },
    /// A profile that cannot be written.
    #[error("{0:#}")]
    Profile(anyhow::Error),
    /// A file of commands in which one failed.
    #[error("{0}: its commands after that were not run")]
    Aborted(String),
    /// Files that source each other.
    #[error("{0}: files that source each other")]
    SourceLoop(String),
    /// An alias whose meaning contains itself.
    #[error("alias `{0}` means itself")]
    AliasLoop(String),
    /// A name that no alias has.
    #[error("no alias `{0}`")]
    NoAlias(String),
    /// An alias that would hide a command.
    #[error("`{0}` is a command")]
    IsCommand(String),
    /// A text that is no name of a variable.
    #[error("`${0}` is no name of a variable")]
    NoVariable(String),
    /// A register that was to be set.
    #[error("`${0}` is a register; the program cannot be changed, only looked at")]
    IsRegister(String),
    /// A program of the host that failed.
    #[error("`{command}`: {status}")]
    HostCommand {
        /// Its command line.
        command: String,
        /// The end of it.
        status: ExitStatus,
    },
    /// The shell of the host, which cannot be started.
    #[error("/bin/sh: {0}")]
    HostShell(std::io::Error),
    /// An error of the debugger.
    #[error(transparent)]
    Debugger(#[from] debugger::Error),
}

impl From<&'static str> for Error {
    fn from(usage: &'static str) -> Error {
        Error::Usage(usage)
    }
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

fn list(ids: &[i32]) -> String {
    ids.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

fn simulated_with(event: Event) -> &'static str {
    if matches!(event, Event::Bc | Event::Bcm | Event::Bi | Event::Bim) {
        "--branch-sim=yes"
    } else {
        "--cache-sim=yes"
    }
}
