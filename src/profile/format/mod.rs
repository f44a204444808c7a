//! The only code that knows the syntax of profile files.

mod write;

pub use write::{cache_desc, write_cachegrind};
