//! Call graphs by Callgrind's rules: a shadow stack for each thread, which the consumers keep up to
//! date block by block. [`facts`] has what a plan says of calls, [`stack_pointer`] finds the stack
//! pointer in a record, [`walker`] follows control, [`tracker`] has the stacks of an account, and
//! [`graph`] holds contexts, arcs and costs, and [`dumps`] the parts that were made of them.

pub(crate) mod dumps;
pub(crate) mod facts;
pub(crate) mod graph;
pub(crate) mod stack_pointer;
pub(crate) mod tracker;
pub(crate) mod walker;

#[cfg(test)]
mod tests;
