//! Errors of the debugger. Each is one line: what failed, and what to do.

use super::expr::ExprError;
use crate::session::{EngineError, Irreversible, StartError};

/// An operation of the debugger that was not carried out, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program has ended, and was to go on.
    #[error("the program has ended; `run` starts it again, `restore` and `reverse-step` go back")]
    Ended,
    /// The program ends before the moment that it was to reach.
    #[error("the program ends before that")]
    EndsBefore,
    /// The user interrupted the run before it reached its goal.
    #[error("interrupted on the way")]
    Interrupted,
    /// A step back of a thread that has executed nothing.
    #[error("this is the beginning of the thread; `reverse-continue` goes further back")]
    ThreadBegins,
    /// No checkpoint leads to a moment: what is counted was changed after it.
    #[error("no way leads there: what is counted was changed (`zero`, `instr`) on another one")]
    Unreachable,
    /// The condition of a stop cannot be computed.
    #[error("stop {stop}: its condition `{condition}`: {error}")]
    Condition {
        /// Number of the stop.
        stop: u32,
        /// The condition as it was typed.
        condition: String,
        /// The error of its evaluation.
        error: ExprError,
    },
    /// A step by lines where the code has none.
    #[error(
        "no line numbers are known here; `finish` leaves the function, `step` and `next` go by instructions"
    )]
    NoLines,
    /// The return address of the function that was just entered cannot be read.
    #[error("the way back from here is not known")]
    NoReturnAddress,
    /// `finish` in the outermost frame.
    #[error("nobody has called the outermost function; `continue` goes on")]
    Outermost,
    /// A location that does not exist.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// A run that cannot go back.
    #[error(transparent)]
    Irreversible(#[from] Irreversible),
    /// A program that cannot be started again.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A failure of the engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A location such as `FUNCTION` or `FILE:LINE` that means no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// Nothing was given.
    #[error("no place: give a function, FILE:LINE or *ADDRESS")]
    Empty,
    /// A bare line number where no file is known.
    #[error("line {line} of which file? FILE:{line} names one")]
    NoFile {
        /// The line.
        line: u32,
    },
    /// An unknown function.
    #[error("no function `{name}`; {}", match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "libraries are there once the program has started (`start`)".to_owned(),
    })]
    Function {
        /// Its name.
        name: String,
        /// The known name that is most like it.
        nearest: Option<String>,
    },
    /// No file has line numbers.
    #[error("no line numbers are known for {file}:{line}; build the program with -g")]
    NoLines {
        /// The file.
        file: String,
        /// The line.
        line: u32,
    },
    /// A line behind the last that has code.
    #[error("{file} has no code at or after line {line}")]
    NoCode {
        /// The file.
        file: String,
        /// The line.
        line: u32,
    },
    /// An unknown source file.
    #[error("no source file `{file}`{}", match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => String::new(),
    })]
    SourceFile {
        /// Its name.
        file: String,
        /// The known name that is most like it.
        nearest: Option<String>,
    },
}
