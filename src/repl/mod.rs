//! The `cgemu>` shell: a prompt over a [`crate::debugger::Debugger`], or the same language read
//! from a file.

mod annotate;
mod arguments;
mod breakpoints;
mod builtins;
mod caches;
mod calls;
mod code;
mod counters;
mod display;
mod error;
mod frames;
mod info;
mod inspect;
mod line_reader;
mod listing;
mod prompt;
mod registers;
mod reverse;
mod run_control;
mod script;
mod shell;
mod show;
mod signal_keys;
mod sources;
mod table;
mod tasks;
mod typed_ahead;
mod whose;

pub use shell::{Left, Output, Printed, Setup, Shell, Target, Working, Written};
pub use table::reference;
