//! The calls about time: `calls` reads clocks and sleeps, `timer_calls` arms timers.

mod calls;
mod timer_calls;

pub(super) use calls::ROWS;
pub(super) use timer_calls::ROWS as TIMER_ROWS;
