//! Copies between the memory of processes: process_vm_readv(2), process_vm_writev(2).

use crate::abi::errno::Errno;
use crate::guest::{PAGE_SIZE, page_down};
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::iovec::{IOV_MAX, access_ok, get_iovec, get_remote_iovec};
use crate::syscalls::row::{Row, full};

/// Calls that copy.
pub(crate) const ROWS: &[Row] =
    &[full(310, "process_vm_readv", process_vm_readv), full(311, "process_vm_writev", process_vm_writev)];

/// Pieces of memory that are walked through together.
struct Cursor {
    pieces: std::vec::IntoIter<(u64, u64)>,
    piece: (u64, u64),
}

impl Cursor {
    fn new(pieces: Vec<(u64, u64)>) -> Cursor {
        Cursor { pieces: pieces.into_iter(), piece: (0, 0) }
    }

    /// The rest of the present piece, up to the end of its page: its address and length.
    fn rest(&mut self) -> Option<(u64, u64)> {
        while self.piece.1 == 0 {
            self.piece = self.pieces.next()?;
        }
        let (at, len) = self.piece;
        Some((at, len.min(page_down(at).saturating_add(PAGE_SIZE).saturating_sub(at)).max(1)))
    }

    fn advance(&mut self, by: u64) {
        self.piece = (self.piece.0.wrapping_add(by), self.piece.1 - by);
    }

    /// Goes behind what was copied before the call was broken off.
    fn skip(&mut self, mut by: u64) {
        while by > 0 && self.rest().is_some() {
            let step = self.piece.1.min(by);
            self.advance(step);
            by -= step;
        }
    }
}

type Pieces = Vec<(u64, u64)>;

/// The pieces on both sides, from addresses and counts; `None` if nothing is to be copied. They are
/// not read again when the call is made again, since the words may be among what was stored to.
fn vectors(ctx: &mut Ctx, local: (u64, u64), remote: (u64, u64)) -> Result<Option<(Pieces, Pieces)>, Errno> {
    let pairs = |words: &[u64]| words.as_chunks().0.iter().map(|[addr, len]| (*addr, *len)).collect();
    if let [locals, words @ ..] = &ctx.kernel.task().call.decided[..] {
        let (local, remote) = words.split_at(2 * *locals as usize);
        return Ok(Some((pairs(local), pairs(remote))));
    }
    let local = get_iovec(ctx.mem, local.0, local.1)?;
    access_ok(&local)?;
    if local.iter().all(|(_, len)| *len == 0) {
        return Ok(None);
    }
    if remote.1 > IOV_MAX {
        return Err(Errno::EINVAL);
    }
    let remote = get_remote_iovec(ctx.mem, remote.0, remote.1)?;
    if remote.iter().all(|(_, len)| *len == 0) {
        return Ok(None);
    }
    let words = local.iter().chain(&remote).flat_map(|(addr, len)| [*addr, *len]);
    ctx.kernel.task_mut().call.decided = std::iter::once(local.len() as u64).chain(words).collect();
    Ok(Some((local, remote)))
}

/// Copies between the caller's pieces and those of another process.
fn transfer(
    ctx: &mut Ctx,
    [pid, local, local_count, remote, remote_count, flags]: [u64; 6],
    read: bool,
) -> SysResult {
    if flags != 0 {
        return Err(Errno::EINVAL.into());
    }
    let Some((local, remote)) = vectors(ctx, (local, local_count), (remote, remote_count))? else {
        return Ok(0);
    };
    let task = ctx.kernel.named_task(pid as i32).ok_or(Errno::ESRCH)?;
    ctx.kernel.may_look_into(task)?;
    if !ctx.kernel.is_alive(task) {
        return Err(Errno::ESRCH.into());
    }
    let space = ctx.kernel.space_of_task(task);
    let (mut local, mut remote) = (Cursor::new(local), Cursor::new(remote));
    let before = ctx.kernel.task().call.done;
    local.skip(before);
    remote.skip(before);
    let mut done = before;
    while let (Some((here, room)), Some((there, more))) = (local.rest(), remote.rest()) {
        if done > before {
            ctx.pause_if_asked(done)?;
        }
        let len = room.min(more);
        let mut bytes = vec![0; len as usize];
        let mut result = Err(0);
        let copied = if read {
            ctx.mem.in_space(space, &mut |mem| result = mem.read(there, &mut bytes));
            result.and_then(|()| ctx.mem.write(here, &bytes))
        } else {
            result = ctx.mem.read(here, &mut bytes);
            if result.is_ok() {
                ctx.mem.in_space(space, &mut |mem| result = mem.write(there, &bytes));
            } else {
                result = Err(0);
            }
            result
        };
        let copied = copied.err().map_or(len, |copied| copied as u64);
        done += copied;
        if copied < len {
            return if done == 0 { Err(Errno::EFAULT.into()) } else { Ok(done) };
        }
        local.advance(len);
        remote.advance(len);
    }
    Ok(done)
}

/// process_vm_readv(2).
fn process_vm_readv(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    transfer(ctx, args, true)
}

/// process_vm_writev(2).
fn process_vm_writev(ctx: &mut Ctx, args: [u64; 6]) -> SysResult {
    transfer(ctx, args, false)
}
