//! Call graphs by Callgrind's rules: a shadow stack for each thread, which the consumers keep up to
//! date block by block. [`facts`] has what a plan says of calls, [`stack_pointer`] finds the stack
//! pointer in a record, [`flow`] follows the records of a [`batch`] with a [`walker`] on the stack,
//! which knows calls that come again by their [`summaries`], [`ledger`] has the references that
//! follow it in the [`sums`] of arcs, [`misses`] what the simulators add in a [`simulation`],
//! [`tracker`] the stacks of an account, [`graph`] contexts, arcs, and blocks with what each record
//! needs of them ([`step`]), [`costs`] what is taken out of it, and [`dumps`] the parts that were
//! made of that.

pub(crate) mod batch;
pub(crate) mod costs;
pub(crate) mod dumps;
pub(crate) mod facts;
pub(crate) mod flow;
pub(crate) mod graph;
pub(crate) mod ledger;
pub(crate) mod misses;
pub(crate) mod simulation;
pub(crate) mod stack_pointer;
pub(crate) mod step;
pub(crate) mod summaries;
pub(crate) mod sums;
pub(crate) mod tracker;
pub(crate) mod walker;

#[cfg(test)]
mod tests;
