//! The calls about memory: `map` makes and changes mappings, `advice` is what a program says about
//! them, `policy` the calls that one node of memory makes trivial, `populate` makes pages
//! present, `remote` copies between processes, `userfault` has pages that the
//! program gives itself, and `limits` is what a process may have.

pub(super) mod advice;
pub(super) mod limits;
pub(super) mod map;
pub(super) mod policy;
mod populate;
pub(super) mod remote;
#[cfg(test)]
mod tests;
pub(super) mod userfault;
