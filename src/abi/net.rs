//! Numbers of the socket calls: socket(2).
#![allow(missing_docs)]

pub(crate) const AF_UNIX: u64 = 1;

pub(crate) const SOCK_STREAM: u32 = 1;
pub(crate) const SOCK_DGRAM: u32 = 2;
pub(crate) const SOCK_RAW: u32 = 3;
pub(crate) const SOCK_RDM: u32 = 4;
pub(crate) const SOCK_SEQPACKET: u32 = 5;
pub(crate) const SOCK_DCCP: u32 = 6;
pub(crate) const SOCK_PACKET: u32 = 10;
