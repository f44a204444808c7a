//! The machine as a whole: names, sizes, random bytes; and the calls that are known but not served.

mod info;
mod refused;
#[cfg(test)]
mod tests;

pub(super) use info::ROWS;
pub(super) use refused::ROWS as REFUSED_ROWS;
