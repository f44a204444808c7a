//! Sockets, socket(7). The machine has one interface, its loopback: what a socket sends reaches the
//! machine's own sockets or nobody, and the host's network only where that is open.
//!
//! From the bottom up: `loopback` (the one interface of each namespace), `addr`, `far_end` (what is
//! known of the host's network), `lingering` (what is left of connections), `queue` (the messages
//! that a socket has received), `option_rows` and
//! `options`, `sock`, `table` (every socket), `stream` and `datagram`
//! (sending and receiving), `port`, `unix` and `inet` (names, connections and their ends),
//! `time_wait`, `outside` (connections to the host's network), `interface`, `netlink` and `diag`,
//! `event` (what is common to all).

pub(crate) mod addr;
mod datagram;
mod diag;
pub(crate) mod event;
pub(crate) mod far_end;
mod inet;
pub(crate) mod interface;
pub(crate) mod lingering;
pub(crate) mod loopback;
mod netlink;
mod option_rows;
pub(crate) mod options;
mod outside;
pub(crate) mod port;
pub(crate) mod queue;
pub(crate) mod sock;
pub(crate) mod stream;
pub(crate) mod table;
mod time_wait;
mod unix;
