//! Counts beside Cachegrind.

#[path = "../common/mod.rs"]
mod common;

mod attribution;
mod callgraph;
mod exact;
mod processes;
mod producers;
mod random;
mod requests;
mod whole;
