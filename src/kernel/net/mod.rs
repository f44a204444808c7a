//! Sockets, socket(7). The machine has one interface, its loopback: what a socket sends reaches the
//! machine's own sockets or nobody, and never the host.
//!
//! From the bottom up: `loopback` (the one interface of each namespace), `addr`, `queue` (the
//! messages that a socket has received), `options`, `sock`, `table` (every socket), `stream` and
//! `datagram` (sending and receiving), `port`, `unix` and `inet` (names, connections and their
//! ends), `interface`, `netlink` and `diag`, `event` (what is common to all).

pub(crate) mod addr;
mod datagram;
mod diag;
pub(crate) mod event;
mod inet;
pub(crate) mod interface;
pub(crate) mod loopback;
mod netlink;
pub(crate) mod options;
pub(crate) mod port;
pub(crate) mod queue;
pub(crate) mod sock;
pub(crate) mod stream;
pub(crate) mod table;
mod unix;
