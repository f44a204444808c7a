//! The calls about signals: `calls` sets actions, masks and waits, `kill` sends.

mod calls;
mod kill;
#[cfg(test)]
mod tests;

pub(super) use calls::ROWS;
pub(super) use kill::ROWS as KILL_ROWS;
