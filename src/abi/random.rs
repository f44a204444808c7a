//! Numbers of getrandom(2).
#![allow(missing_docs)]

pub(crate) const GRND_NONBLOCK: u32 = 1;
pub(crate) const GRND_RANDOM: u32 = 2;
pub(crate) const GRND_INSECURE: u32 = 4;
