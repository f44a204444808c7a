//! The debugger's logic, without a terminal: what commands need to stop, step, look and go back.
//!
//! Expressions: [`expr`] reads them, [`evaluate`] computes them over a [`evaluate::Scope`], [`value`] is what comes out
//! and [`mod@format`] how it is shown.

pub mod evaluate;
pub mod expr;
pub mod format;
mod lexer;
pub mod registers;
pub mod suggest;
pub mod value;
