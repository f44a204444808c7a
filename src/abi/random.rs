//! Numbers of getrandom(2).
#![allow(missing_docs)]

pub(crate) const GRND_NONBLOCK: u32 = 1;
pub(crate) const GRND_RANDOM: u32 = 2;
pub(crate) const GRND_INSECURE: u32 = 4;

pub(crate) const RNDGETENTCNT: u64 = 0x8004_5200;
pub(crate) const RNDADDTOENTCNT: u64 = 0x4004_5201;
pub(crate) const RNDADDENTROPY: u64 = 0x4008_5203;
pub(crate) const RNDZAPENTCNT: u64 = 0x5204;
pub(crate) const RNDCLEARPOOL: u64 = 0x5206;
pub(crate) const RNDRESEEDCRNG: u64 = 0x5207;
