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
pub mod format;
mod history;
pub(crate) mod lexer;
mod parser;
pub mod program;
pub mod registers;
mod reverse;
mod scope;
pub mod stack;
mod state;
pub mod step;
pub mod stops;
pub mod suggest;
pub mod value;

pub use error::{Error, LocationError};
pub use state::Debugger;
