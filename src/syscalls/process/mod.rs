//! The calls about processes and tasks: `task` starts, ends and waits for them, `ids` says who they
//! are, `prctl`, `limits` and `caps` are their settings.

mod caps;
mod ids;
mod limits;
mod prctl;
mod task;

pub(super) use caps::ROWS as CAPS_ROWS;
pub(super) use ids::ROWS as IDS_ROWS;
pub(super) use limits::ROWS as LIMITS_ROWS;
pub(super) use prctl::ROWS as PRCTL_ROWS;
pub(super) use task::ROWS;
