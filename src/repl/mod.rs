//! The `cgemu>` shell: a prompt over a [`crate::debugger::Debugger`], or the same language read
//! from a file.

mod arguments;
mod breakpoints;
mod builtins;
mod caches;
mod counters;
mod error;
mod info;
mod inspect;
mod prompt;
mod reverse;
mod run_control;
mod shell;
mod show;
mod table;

pub use shell::{Output, Printed, Setup, Shell, Target};
pub use table::reference;
