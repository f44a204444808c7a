//! io_uring(7). From the bottom up: `setup` makes rings, `register` what is registered with them,
//! `check` looks at entries, `operations` does what they ask for, `submit` takes them, and
//! `enter` is the call for it.

mod check;
pub(super) mod enter;
mod operations;
pub(super) mod register;
pub(super) mod setup;
pub(super) mod submit;
