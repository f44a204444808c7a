//! The programs of Valgrind 3.19 for Cachegrind files: the layouts, rules and exit statuses of
//! `cg_annotate`, `cg_merge` and `cg_diff`. Nothing but the command imports this room, so it can go
//! in one commit.

pub(crate) mod annotate;
pub mod calls;
mod dialect;
pub mod diff;
pub mod failure;
pub mod lenient;
pub mod merge;
mod number;
