//! Signals.
use crate::emu::guest::Fault;
use crate::syscalls::kernel::{Action, Ctx};
use crate::syscalls::table::Row;

/// State of signals.
#[derive(Clone, Debug, Default)]
pub struct Signals {}

impl Signals {
    /// Nothing handled, nothing blocked, nothing pending.
    pub fn new() -> Signals {
        Signals {}
    }

    /// Sends a signal of the kernel's own (SIGPIPE and the like) to the running task.
    pub fn raise(&mut self, signo: i32) {
        let _ = signo;
    }
}

/// Delivers.
pub fn deliver_pending(_ctx: &mut Ctx) -> Action {
    Action::Continue
}

/// Delivers a fault.
pub fn deliver_fault(_ctx: &mut Ctx, _fault: Fault) -> Action {
    Action::Killed(11)
}

/// Rows.
pub const ROWS: &[Row] = &[];
