//! ptrace(2): `tracee` is what a task has of its tracer and of the stop it is in, `registers` what
//! is seen and set there; `attach` begins and ends tracing, `stop` stops tasks and lets them go on,
//! `news` is what tracers wait for.

pub(crate) mod attach;
pub(crate) mod news;
pub(crate) mod registers;
pub(crate) mod stop;
pub(crate) mod tracee;
