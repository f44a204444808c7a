//! From translated blocks to counts. A [`plan`] has the events of a block, a [`record`] the
//! addresses of one execution of it. The [`recorder`] collects the records, a filter rewrites them
//! where Valgrind's superblocks count otherwise, and each [`consumer`] drives a simulator with them
//! on a [`worker`] thread. [`counts`] are kept per instruction.

mod account;
mod buffer;
pub(crate) mod callgraph;
pub(crate) mod consumer;
pub(crate) mod control;
pub(crate) mod counts;
pub(crate) mod data_table;
mod deferred;
pub(crate) mod executions;
pub(crate) mod fault;
pub(crate) mod fetch_table;
mod filter;
pub(crate) mod inline_caches;
pub(crate) mod inline_predictors;
mod last_level;
mod lookout;
mod misses_below;
mod numbering;
mod part;
pub(crate) mod plan;
mod plan_index;
pub(crate) mod plan_table;
pub(crate) mod predictors;
pub(crate) mod private_code;
pub(crate) mod record;
pub(crate) mod recorder;
mod saved_caches;
mod sparse;
pub(crate) mod successors;
mod superblock_filter;
mod superblock_table;
pub(crate) mod tally;
mod transitions;
mod walk;
pub(crate) mod worker;
