//! The machine as a whole: names, sizes, random bytes; and the calls that are known but not served.

pub(super) mod admin;
pub(super) mod info;
pub(super) mod mount;
pub(super) mod refused;
#[cfg(test)]
mod tests;
