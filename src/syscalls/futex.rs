//! futex(2). A wait ends by its timeout or by a signal, or is a deadlock.

use crate::abi::errno::Errno;
use crate::abi::futex::*;
use crate::kernel::clock::ClockId;
use crate::kernel::futex::{Futex, Key};
use crate::kernel::sched::Wake;
use crate::kernel::signal::state::Restart;
use crate::kernel::uaccess::get_timespec;
use crate::syscalls::context::{Ctx, SysResult};
use crate::syscalls::row::{Row, partial, refused};

/// Futex calls.
pub(super) const ROWS: &[Row] = &[
    partial(202, "futex", futex, "for one task; a wait that nothing can end stops the run"),
    refused(449, "futex_waitv", absent, "ENOSYS"),
    refused(454, "futex_wake", absent, "ENOSYS"),
    refused(455, "futex_wait", absent, "ENOSYS"),
    refused(456, "futex_requeue", absent, "ENOSYS"),
];

fn absent(_: &mut Ctx, _: [u64; 6]) -> SysResult {
    Err(Errno::ENOSYS.into())
}

/// futex(2).
fn futex(ctx: &mut Ctx, [addr, op, value, timeout, addr2, value3]: [u64; 6]) -> SysResult {
    let command = op as u32 & !(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    let realtime = op as u32 & FUTEX_CLOCK_REALTIME != 0;
    let private = op as u32 & FUTEX_PRIVATE_FLAG != 0;
    let (read, written) =
        if private { (Key::Private, Key::Private) } else { (Key::Shared, Key::SharedWritten) };
    let timed = matches!(
        command,
        FUTEX_WAIT | FUTEX_WAIT_BITSET | FUTEX_WAIT_REQUEUE_PI | FUTEX_LOCK_PI | FUTEX_LOCK_PI2
    );
    let timeout_ns = if timed && timeout != 0 { Some(get_timespec(ctx.mem, timeout)?) } else { None };
    if realtime && !matches!(command, FUTEX_WAIT_BITSET | FUTEX_WAIT_REQUEUE_PI | FUTEX_LOCK_PI2) {
        return Err(Errno::ENOSYS.into());
    }
    let clock = if realtime { ClockId::Realtime } else { ClockId::Monotonic };
    let tid = ctx.kernel.task().tid as u32;
    let (value, value3) = (value as u32, value3 as u32);
    match command {
        FUTEX_WAIT => {
            let deadline = timeout_ns.map(|ns| ctx.deadline(ns));
            return futex_wait(ctx, addr, read, value, deadline);
        }
        FUTEX_WAIT_BITSET | FUTEX_WAKE_BITSET | FUTEX_WAIT_REQUEUE_PI if value3 == 0 => {
            return Err(Errno::EINVAL.into());
        }
        FUTEX_WAIT_REQUEUE_PI if addr == addr2 => return Err(Errno::EINVAL.into()),
        FUTEX_WAIT_BITSET | FUTEX_WAIT_REQUEUE_PI => {
            if command == FUTEX_WAIT_REQUEUE_PI {
                Futex::at(ctx.mem, addr2, written)?;
            }
            let deadline = timeout_ns.map(|ns| ns.saturating_sub(ctx.kernel.clock.start(clock)));
            return futex_wait(ctx, addr, read, value, deadline);
        }
        FUTEX_WAKE | FUTEX_WAKE_BITSET => {
            Futex::at(ctx.mem, addr, read)?;
        }
        FUTEX_CMP_REQUEUE_PI if addr == addr2 || value != 1 => return Err(Errno::EINVAL.into()),
        FUTEX_REQUEUE | FUTEX_CMP_REQUEUE | FUTEX_CMP_REQUEUE_PI => {
            if (value as i32) < 0 || (timeout as i32) < 0 {
                return Err(Errno::EINVAL.into());
            }
            let from = Futex::at(ctx.mem, addr, read)?;
            let target = if command == FUTEX_CMP_REQUEUE_PI { written } else { read };
            Futex::at(ctx.mem, addr2, target)?;
            if command != FUTEX_REQUEUE {
                from.expect(ctx.mem, value3)?;
            }
        }
        FUTEX_WAKE_OP => {
            Futex::at(ctx.mem, addr, read)?;
            Futex::at(ctx.mem, addr2, written)?.apply(ctx.mem, value3)?;
        }
        FUTEX_LOCK_PI | FUTEX_LOCK_PI2 | FUTEX_TRYLOCK_PI => {
            Futex::at(ctx.mem, addr, written)?.lock_pi(ctx.mem, tid)?;
        }
        FUTEX_UNLOCK_PI => Futex::at(ctx.mem, addr, written)?.unlock_pi(ctx.mem, tid)?,
        other => {
            ctx.kernel.notices.count("futex: operation ", &format!("{other} is refused with ENOSYS"));
            return Err(Errno::ENOSYS.into());
        }
    }
    Ok(0)
}

/// Waits, if the word has the value.
fn futex_wait(ctx: &mut Ctx, addr: u64, key: Key, value: u32, deadline: Option<u64>) -> SysResult {
    Futex::at(ctx.mem, addr, key)?.expect(ctx.mem, value)?;
    match ctx.sleep(format!("futex: a wait at {addr:#x}"), &[], deadline)? {
        Wake::Timeout => Err(Errno::ETIMEDOUT.into()),
        Wake::Signal if deadline.is_none() => Err(ctx.interrupted(Restart::WithFlag)),
        Wake::Signal => Err(ctx.interrupted(Restart::Never)),
        Wake::Event => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::process::PID;
    use crate::syscalls::context::Action;
    use crate::syscalls::testing::{DATA, Machine};

    const FUTEX: u64 = 202;
    const EPERM: i64 = -1;
    const ESRCH: i64 = -3;
    const EAGAIN: i64 = -11;
    const EFAULT: i64 = -14;
    const EINVAL: i64 = -22;
    const EDEADLK: i64 = -35;
    const ENOSYS: i64 = -38;
    const ETIMEDOUT: i64 = -110;

    /// The word at DATA is 5; a timeout of 1 us is at DATA + 64, a bad one at DATA + 80.
    #[test]
    fn answers_of_a_native_linux() {
        let mut machine = Machine::new();
        machine.put_words(DATA, &[5]);
        machine.put_words(DATA + 64, &[0, 1000, 0, 1_000_000_000]);
        let (soon, bad) = (DATA + 64, DATA + 80);
        for (args, expected) in [
            ([DATA + 1, 0, 0, 0, 0, 0], EINVAL),
            ([8, 0, 0, 0, 0, 0], EFAULT),
            ([DATA, 99, 0, 0, 0, 0], ENOSYS),
            ([DATA, 0, 6, 0, 0, 0], EAGAIN),
            ([DATA, 9, 5, 0, 0, 0], EINVAL),
            ([DATA, 10, 5, 0, 0, 0], EINVAL),
            ([DATA, 1, 1, 0, 0, 0], 0),
            ([DATA, 256, 5, soon, 0, 0], ENOSYS),
            ([DATA, 0, 5, bad, 0, 0], EINVAL),
            ([DATA, 128, 5, soon, 0, 0], ETIMEDOUT),
            ([DATA, 256 | 9, 5, soon, 0, u64::MAX], ETIMEDOUT),
            ([DATA, 3, 1, 1, DATA + 8, 0], 0),
            ([DATA, 4, 1, 1, DATA + 8, 6], EAGAIN),
            ([DATA, 4, 1, 1, DATA + 8, 5], 0),
            ([DATA, 4, u64::MAX, 1, DATA + 8, 5], EINVAL),
        ] {
            assert_eq!(machine.call(FUTEX, &args), expected, "{args:x?}");
        }
        let action = machine.action(FUTEX, &[DATA, 0, 5, 0]);
        assert!(matches!(action, Action::Refuse(_)), "{action:?}");
    }

    #[test]
    fn wake_op_changes_the_second_word() {
        let mut machine = Machine::new();
        machine.put_words(DATA + 8, &[7]);
        let mut op = |code: u64, operand: u64| {
            machine.call(FUTEX, &[DATA, 5, 1, 1, DATA + 8, code << 28 | operand << 12]);
            machine.word(DATA + 8)
        };
        assert_eq!(op(1, 3), 10);
        assert_eq!(op(1, 0xfff), 9, "operands are signed");
        assert_eq!(op(2, 6), 15);
        assert_eq!(op(3, 1), 14);
        assert_eq!(op(4, 2), 12);
        assert_eq!(op(8, 5), 32, "an operand that is a shift");
        assert_eq!(op(7, 0), 32);
    }

    #[test]
    fn a_lock_has_one_owner() {
        let mut machine = Machine::new();
        assert_eq!(machine.call(FUTEX, &[DATA, 6]), 0);
        assert_eq!(machine.word(DATA), PID as u64);
        assert_eq!(machine.call(FUTEX, &[DATA, 6]), EDEADLK);
        assert_eq!(machine.call(FUTEX, &[DATA, 8]), EDEADLK);
        assert_eq!(machine.call(FUTEX, &[DATA, 7]), 0);
        assert_eq!(machine.word(DATA), 0);
        assert_eq!(machine.call(FUTEX, &[DATA, 7]), EPERM);
        machine.put_words(DATA, &[999_999]);
        assert_eq!(machine.call(FUTEX, &[DATA, 6]), ESRCH);
    }
}
