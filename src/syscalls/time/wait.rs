//! Waiting. With one process nothing happens while it waits but timers, so a wait is a step of the clock.

use crate::syscalls::kernel::Ctx;
use crate::syscalls::signal::bit;

use super::{now, timers};

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The deadline came; the clock stands there.
    Timeout,
    /// A signal is pending that interrupts the call, or one of those asked for. The caller returns
    /// `signal::interrupted`.
    Signal,
    /// There is no deadline and nothing that could end the wait; the clock did not move. The caller refuses.
    Never,
}

/// Lets time pass until `deadline` (nanoseconds since the program's start, see `now`) or until a signal
/// interrupts; `also` are blocked signals that end the wait too (sigtimedwait). Nothing else can happen in
/// that time, so a caller that waits for an event of its own (a timerfd, say) passes the earlier deadline.
pub fn wait(ctx: &mut Ctx, deadline: Option<u64>, also: u64) -> Wake {
    timers::expire(ctx);
    let signals = &ctx.kernel.signals;
    if signals.interrupt_pending() || signals.pending() & also != 0 {
        return Wake::Signal;
    }
    let ends = |signo| signals.interrupts(signo) || bit(signo) & also & signals.task.blocked != 0;
    let alarm = ctx.kernel.clock.timers.next_wake(ends);
    let until = match (alarm, deadline) {
        (None, None) => return Wake::Never,
        (Some(alarm), Some(deadline)) => alarm.min(deadline),
        (Some(at), None) | (None, Some(at)) => at,
    };
    let left = until.saturating_sub(now(ctx));
    ctx.kernel.clock.advance(left);
    timers::expire(ctx);
    let signals = &ctx.kernel.signals;
    if signals.interrupt_pending() || signals.pending() & also != 0 { Wake::Signal } else { Wake::Timeout }
}
