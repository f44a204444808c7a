//! The debugger's logic, without a terminal: what commands need to stop, step, look and go back.
//!
//! [`Debugger`] is what a front end holds. Expressions: [`expr`] has their form, the parser reads
//! them, [`evaluate`] computes them over a [`evaluate::Scope`]; [`value`] is what comes out and
//! [`mod@format`] how it is shown.

mod ahead;
pub mod control;
pub mod error;
pub mod evaluate;
pub mod expr;
pub mod follow;
pub mod format;
mod history;
pub(crate) mod lexer;
mod parser;
mod places;
pub mod program;
mod programs;
pub mod registers;
mod reverse;
mod scope;
pub mod stack;
mod state;
pub mod step;
pub mod stops;
pub mod suggest;
mod tasks;
pub mod value;

pub use error::{Error, LocationError};
pub use state::Debugger;
