//! Sockets: socket(7) and its families. From the bottom up: `address` (descriptors and addresses of
//! calls), `setup` (making, naming and connecting), `control` (ancillary data), `message` (sending
//! and receiving), `option_value`, `multicast`, `ip_options`, `tcp_options` and `options`.

mod address;
mod control;
mod ip_options;
pub(super) mod message;
mod multicast;
mod option_value;
pub(super) mod options;
pub(super) mod setup;
mod tcp_options;
