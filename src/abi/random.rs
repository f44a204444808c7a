//! Numbers of getrandom(2).
#![allow(missing_docs)]

pub const GRND_NONBLOCK: u32 = 1;
pub const GRND_RANDOM: u32 = 2;
pub const GRND_INSECURE: u32 = 4;
