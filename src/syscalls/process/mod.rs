//! The calls about processes and tasks: `task` starts, ends and waits for them, `cred` says who they
//! are, `prctl` and `limits` are their settings.

pub(super) mod cred;
pub(super) mod limits;
pub(super) mod prctl;
pub(super) mod task;
