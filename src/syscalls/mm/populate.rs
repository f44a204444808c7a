//! Makes pages present, in pieces between which the user may interrupt.

use crate::guest::{MemError, PAGE_SIZE};
use crate::syscalls::context::{Break, Ctx};

/// Bytes that are made present at a time.
const PIECE: u64 = 1024 * PAGE_SIZE;

/// Makes the pages of a range present, but for those that were before the call was broken off: so
/// many bytes from `base` on, where the first of its ranges begins.
///
/// # Errors
/// `Ok(Err(_))` where a page cannot be had; `Break::Pause`.
pub(super) fn populate(
    ctx: &mut Ctx,
    base: u64,
    (start, end): (u64, u64),
    write: bool,
) -> Result<Result<(), MemError>, Break> {
    let before = ctx.kernel.task().call.done;
    let mut at = start.max(base.saturating_add(before)).min(end);
    while end - at > PIECE {
        if let Err(error) = ctx.mem.populate(at, PIECE, write) {
            return Ok(Err(error));
        }
        at += PIECE;
        ctx.pause_if_asked(at - base)?;
    }
    Ok(ctx.mem.populate(at, end - at, write))
}
