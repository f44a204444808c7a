//! Facts about x86-64 instructions: which of them run, which data they access and at which
//! addresses, and how Cachegrind counts them. `cost` has the rules of counting; `request` knows
//! Valgrind's client requests.

pub(crate) mod address;
pub(crate) mod cost;
pub mod decode;
pub(crate) mod far;
pub(crate) mod request;
