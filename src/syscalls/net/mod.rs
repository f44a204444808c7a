//! Sockets: socket(7) and its families. From the bottom up: `address` (descriptors and addresses of
//! calls), `setup` (making, naming and connecting), `control` (ancillary data), `message` (sending
//! and receiving) and `options`.

mod address;
mod control;
pub(super) mod message;
pub(super) mod options;
pub(super) mod setup;
