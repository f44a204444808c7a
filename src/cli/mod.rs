//! The `cgemu` command: reads the options, starts a run and says how it ended. Everything it prints
//! of its own goes to standard error or the log; standard output belongs to the program that is
//! profiled.

mod annotate;
mod args;
mod call_file;
mod call_options;
mod classic;
mod code;
mod command;
mod confinement;
mod control;
mod environment;
mod examples;
mod exit;
mod flame;
mod generate;
mod lists;
mod log;
mod lookup;
mod network;
mod options;
mod output;
mod outputs;
mod pager;
mod pattern;
mod policy;
mod progress;
mod repl;
mod run;
mod run_top;
mod signals;
mod switch;
mod top;
mod valgrind;
mod values;
mod view;

pub use command::main;
pub use confinement::{Doors, allows_in_a_run};
