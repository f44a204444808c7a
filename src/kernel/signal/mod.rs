//! Signals: `info` and `queue` are what is pending, `handlers` the table of actions, `state` sends
//! and takes signals, `frame` lays out the stack as Linux does, `deliver` runs handlers.

pub mod deliver;
pub(super) mod frame;
pub mod handlers;
pub mod info;
pub mod queue;
pub mod state;
