//! Valgrind's client requests: what a program that was compiled with `valgrind.h`, `cachegrind.h`
//! or `callgrind.h` asks the tool it runs under. `table` has a row per request; codes and answers
//! are those of Valgrind, and `docs/counting.md` lists them.

mod call;
mod control;
mod core;
mod format;
mod host;
mod print;
mod state;
mod table;

pub(crate) use host::{Answer, CodePlace, Host, Voice};
pub(crate) use state::{Client, Reasons, Requests};
