//! Signals: `info` and `queue` are what is pending, `queued` how many for each user, `handlers` the
//! table of actions, `state` sends and takes signals, `frame` lays out the stack as Linux does,
//! `deliver` runs handlers.

pub(crate) mod deliver;
pub(super) mod frame;
pub(crate) mod handlers;
pub(crate) mod info;
pub(crate) mod queue;
pub(super) mod queued;
pub(crate) mod state;
