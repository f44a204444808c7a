//! From decoded instructions to counts: `count` says what each instruction costs, `plan` puts a block
//! together, the trace carries what happened, and `consumer` turns it into cache and branch outcomes.

pub mod accounts;
mod branches;
mod caches;
pub mod consumer;
pub mod fault;
mod ledger;
pub mod plan;
mod references;
pub mod ring;
pub mod tally;
pub mod trace;
pub mod valgrind;
mod watch;
